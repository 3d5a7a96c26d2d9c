#include "solve/maxsat.h"

#include "solve/core_guided.h"
#include "solve/renumber.h"

namespace xlog::solve {
namespace {

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
  const Renumbering numbers({&formula.hard, &formula.soft});
  const WeightedCnf small = {numbers.renamed(formula.hard), numbers.renamed(formula.soft),
                             formula.weights};
  MaxsatOptions inner;
  Model best;
  if (options.progress) {
    inner.progress = [&](MaxsatProgress progress) {
      if (progress.better_model) best = numbers.original(*progress.model, formula.variables());
      if (progress.model != nullptr) progress.model = &best;
      options.progress(progress);
    };
  }
  MaxsatResult result = CoreGuided(small, limits, inner).run();
  if (result.outcome == Outcome::Optimal || result.outcome == Outcome::Sat) {
    result.model = numbers.original(result.model, formula.variables());
  }
  return result;
}

}  // namespace xlog::solve
