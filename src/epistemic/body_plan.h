// What the literals of a body look up, bind and compare, one after another, where they need no more
// than joins: atoms over variables and constants, and comparisons.
#pragma once

#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "lang/program.h"
#include "logic/analysis.h"

namespace xlog::epistemic {

struct BodyStep {
  // A value that is known when the literal is reached.
  struct Source {
    uint32_t column = 0;
    const lang::Term* term = nullptr;  // a variable or a constant
  };
  const lang::Literal* literal = nullptr;
  uint32_t index = 0;  // of the literal in its body
  std::vector<uint32_t> columns;
  std::vector<Source> known;                             // of these columns
  std::vector<std::pair<uint32_t, lang::VarId>> bound;   // columns that bind a variable
  std::vector<std::pair<uint32_t, lang::VarId>> equals;  // columns that repeat one of these
  std::optional<lang::VarId> assigned;                   // by a comparison, from `value`
  const lang::Term* value = nullptr;

  bool is_atom() const { return literal->kind == lang::LiteralKind::Atom; }
  bool is_positive() const;  // an atom that binds
  bool is_negative() const;  // holds where its atom does not
  // Whether some of the columns are known, not all: there is an index for these.
  bool needs_index() const { return !columns.empty() && columns.size() < literal->args.size(); }
};

struct BodyPlan {
  std::vector<BodyStep> steps;
  std::vector<lang::VarId> binds;  // variables that were not bound before
};

// In the order of the analysis, but for a literal that sees only new rows, which comes first.
// Nothing where the body needs more than joins.
std::optional<BodyPlan> plan_body(const std::vector<lang::Literal>& body,
                                  const logic::BodyOrder& order,
                                  std::optional<uint32_t> new_rows_of,
                                  const std::function<bool(lang::VarId)>& is_bound_before);

}  // namespace xlog::epistemic
