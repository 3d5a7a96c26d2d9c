// The values of a rule's variables while its body is enumerated, and how a pattern binds them.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "lang/program.h"

namespace xlog::oracle {

using lang::Value;

// Bindings of the variables of one rule.
class Bindings {
 public:
  explicit Bindings(size_t variables) : values_(variables), bound_(variables, false) {}
  bool bound(lang::VarId v) const { return bound_[v.index]; }
  const Value& operator[](lang::VarId v) const { return values_[v.index]; }
  void bind(lang::VarId v, Value value) {
    values_[v.index] = value;
    bound_[v.index] = true;
    trail_.push_back(v.index);
  }
  size_t mark() const { return trail_.size(); }
  void undo(size_t mark) {
    while (trail_.size() > mark) {
      bound_[trail_.back()] = false;
      trail_.pop_back();
    }
  }

 private:
  std::vector<Value> values_;
  std::vector<bool> bound_;
  std::vector<uint32_t> trail_;
};

bool is_bound(const lang::Term& term, const Bindings& bindings);

// Whether `value` has the form of `pattern`; binds its free variables, also where the answer is no.
// `value_of` gives the value of arithmetic, if it has one.
using ValueOf = std::function<std::optional<Value>(const lang::Term&)>;
bool match_pattern(const lang::Term& pattern, const Value& value, Bindings& bindings,
                   lang::Names& names, const ValueOf& value_of);
// The same of an argument of a built-in. What stood inside a term has its general form there; one
// that is no value of the argument's type does not match.
bool match_argument(const lang::Term& argument, const Value& value, Bindings& bindings,
                    lang::Names& names, const ValueOf& value_of);

}  // namespace xlog::oracle
