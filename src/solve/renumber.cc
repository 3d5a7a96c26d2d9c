#include "solve/renumber.h"

#include <algorithm>

namespace xlog::solve {

Renumbering::Renumbering(std::initializer_list<const Cnf*> formulas,
                         std::span<const Literal> also) {
  for (const Cnf* cnf : formulas) {
    for (size_t i = 0; i < cnf->size(); ++i) {
      for (const Literal literal : (*cnf)[i]) used_.push_back(variable_of(literal));
    }
  }
  for (const Literal literal : also) used_.push_back(variable_of(literal));
  std::ranges::sort(used_);
  used_.erase(std::unique(used_.begin(), used_.end()), used_.end());
}

Literal Renumbering::renamed(Literal literal) const {
  const auto place = std::ranges::lower_bound(used_, variable_of(literal)) - used_.begin();
  const auto number = static_cast<Literal>(place + 1);
  return literal > 0 ? number : -number;
}

Cnf Renumbering::renamed(const Cnf& cnf) const {
  Cnf small;
  small.need_variables(static_cast<int32_t>(used_.size()));
  std::vector<Literal> clause;
  for (size_t i = 0; i < cnf.size(); ++i) {
    clause.clear();
    for (const Literal literal : cnf[i]) clause.push_back(renamed(literal));
    small.add(clause);
  }
  return small;
}

Literal Renumbering::original(Literal literal) const {
  const int32_t variable = used_[static_cast<size_t>(variable_of(literal)) - 1];
  return literal > 0 ? variable : -variable;
}

Model Renumbering::original(const Model& model, int32_t variables) const {
  Model result(variables);
  for (size_t i = 0; i < used_.size(); ++i) {
    if (model.holds(static_cast<Literal>(i + 1))) result.set(used_[i]);
  }
  return result;
}

}  // namespace xlog::solve
