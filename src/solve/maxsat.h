// Weighted MaxSAT: a model of the hard clauses whose violated soft clauses weigh the least.
//
//   MaxsatResult best = solve_maxsat(formula, {.deadline = soon});
//   if (best.outcome == Outcome::Optimal) use(best.model, best.cost);
//
// The search proves lower bounds from cores (core_guided.h) and takes upper bounds from every model
// it meets; when it is stopped, it gives the best model so far and both bounds.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "solve/cnf.h"
#include "solve/solver.h"

namespace xlog::solve {

struct MaxsatProgress {
  uint64_t lower_bound = 0;
  const Model* model = nullptr;  // the best so far, if there is one, and
  uint64_t cost = 0;             // its cost
  bool better_model = false;     // whether the model is what changed
};

struct MaxsatOptions {
  // Told of each better model and bound, from the thread that solves.
  std::function<void(const MaxsatProgress&)> progress;
};

struct MaxsatResult {
  // Optimal; Unsat: the hard clauses cannot hold; Sat: stopped with a model that may not be the
  // best; Unknown, Timeout: stopped without a model.
  Outcome outcome = Outcome::Unknown;
  Model model;               // with Optimal and Sat; checked against the hard clauses
  uint64_t cost = 0;         // of the model
  uint64_t lower_bound = 0;  // no model costs less
};

MaxsatResult solve_maxsat(const WeightedCnf& formula, const Limits& limits,
                          const MaxsatOptions& options = {});

// The weight of the soft clauses that the model violates.
uint64_t cost_of(const WeightedCnf& formula, const Model& model);

}  // namespace xlog::solve
