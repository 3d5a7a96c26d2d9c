// What each module gives to the program. Public predicates and functions are global by name and
// arity; `use m::{x}.` takes only the clauses of what it names; private items belong to their
// module alone. After apply_imports the units can be lowered one after the other as if they were
// one file: clauses that nobody imports are gone, and a private item has a name of its own that no
// source text can spell.
#pragma once

#include <unordered_map>

#include "lang/load.h"

namespace xlog::lang {

struct PrivateItem {
  Symbol name;  // as written
  uint32_t unit;
};

// A predicate of a module that the rest of the program does not see, for hints.
struct HiddenPredicate {
  Symbol name;
  uint32_t arity;
  uint32_t unit;
  bool is_private;  // false: it was not selected
  Span span;
};

struct Imports {
  std::unordered_map<Symbol, PrivateItem> private_items;  // by the name that replaced theirs
  std::vector<HiddenPredicate> hidden;                    // in order of units and statements
};

// The name in the first fact of a run, for messages about its predicate. The run itself may be
// megabytes long.
inline Span first_name(Span run, const FactTable& table, std::string_view name) {
  const size_t length = name.size() + (table.strong_negation ? 1 : 0);
  return {run.begin, run.begin + static_cast<uint32_t>(length)};
}

// Reports everything that is wrong with imports (E0402 to E0406, E0410, E0411, W0510).
Imports apply_imports(LinkedModules& modules, Session& session);

}  // namespace xlog::lang
