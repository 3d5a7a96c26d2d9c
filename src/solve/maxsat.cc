#include "solve/maxsat.h"

#include <algorithm>

#include "solve/core_guided.h"

namespace xlog::solve {
namespace {

// A formula may name variable two thousand million and few others. The search keeps something for
// every variable up to the last, so such a formula is solved with its variables numbered anew.
class Renumbered {
 public:
  explicit Renumbered(const WeightedCnf& formula) : variables_(formula.variables()) {
    for (const Cnf* cnf : {&formula.hard, &formula.soft}) {
      for (size_t i = 0; i < cnf->size(); ++i) {
        for (const Literal literal : (*cnf)[i]) used_.push_back(variable_of(literal));
      }
    }
    std::ranges::sort(used_);
    used_.erase(std::unique(used_.begin(), used_.end()), used_.end());
    copy(formula.hard, formula_.hard);
    copy(formula.soft, formula_.soft);
    formula_.weights = formula.weights;
  }

  const WeightedCnf& formula() const { return formula_; }

  Model original(const Model& model) const {
    Model result(variables_);
    for (size_t i = 0; i < used_.size(); ++i) {
      if (model.holds(static_cast<Literal>(i + 1))) result.set(used_[i]);
    }
    return result;
  }

 private:
  void copy(const Cnf& from, Cnf& to) const {
    std::vector<Literal> clause;
    for (size_t i = 0; i < from.size(); ++i) {
      clause.clear();
      for (const Literal literal : from[i]) {
        const auto place = std::ranges::lower_bound(used_, variable_of(literal)) - used_.begin();
        const auto number = static_cast<Literal>(place + 1);
        clause.push_back(literal > 0 ? number : -number);
      }
      to.add(clause);
    }
  }

  int32_t variables_;
  std::vector<int32_t> used_;  // ascending; the new number is the place, from 1
  WeightedCnf formula_;
};

bool has_few_variables_of_many(const WeightedCnf& formula) {
  constexpr size_t kFew = 1'000'000;
  return static_cast<size_t>(formula.variables()) >
         kFew + formula.hard.literals() + formula.soft.literals();
}

}  // namespace

uint64_t cost_of(const WeightedCnf& formula, const Model& model) {
  uint64_t cost = 0;
  for (size_t i = 0; i < formula.soft.size(); ++i) {
    if (!model.satisfies(formula.soft[i])) cost += formula.weights[i];
  }
  return cost;
}

MaxsatResult solve_maxsat(const WeightedCnf& formula, const Limits& limits,
                          const MaxsatOptions& options) {
  if (!has_few_variables_of_many(formula)) return CoreGuided(formula, limits, options).run();
  const Renumbered renumbered(formula);
  MaxsatOptions inner;
  Model best;
  if (options.progress) {
    inner.progress = [&](MaxsatProgress progress) {
      if (progress.better_model) best = renumbered.original(*progress.model);
      if (progress.model != nullptr) progress.model = &best;
      options.progress(progress);
    };
  }
  MaxsatResult result = CoreGuided(renumbered.formula(), limits, inner).run();
  if (result.outcome == Outcome::Optimal || result.outcome == Outcome::Sat) {
    result.model = renumbered.original(result.model);
  }
  return result;
}

}  // namespace xlog::solve
