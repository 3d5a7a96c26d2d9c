// Core-guided search for the optimum (OLL; Morgado, Dodaro, Marques-Silva: Core-Guided MaxSAT with
// Soft Cardinality Constraints, 2014; with the refinements of RC2, Ignatiev et al. 2019).
//
// The search assumes that all soft literals hold. A core, assumptions that cannot all hold, proves
// that every model pays at least the core's lightest weight: it is taken off all of the core's
// literals, added to the lower bound, and given to a new soft literal "at most one of the core
// fails". When no core is left, the model's cost is the lower bound.
//
//   stratification   heavy literals first: models come early, and cores weigh more
//   hardening        a literal heavier than the gap between the bounds must hold
//   delayed sums     new soft literals join only when no core is left among the old ones
//                    (Berg, Jarvisalo: Weight-Aware Core Extraction, 2017)
//   exhaustion       raise the bound of a new sum while it alone is a core
//   at most one      literals that exclude each other in pairs are paid for without cores
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "solve/at_most_one.h"
#include "solve/core_oracle.h"
#include "solve/maxsat.h"
#include "solve/soft_literals.h"
#include "solve/totalizer.h"

namespace xlog::solve {

class CoreGuided {
 public:
  CoreGuided(const WeightedCnf& formula, const Limits& limits, const MaxsatOptions& options);

  MaxsatResult run();

 private:
  // An output of a totalizer, by its negation as a soft literal: "fewer than `count` fail".
  struct SumBound {
    size_t totalizer = 0;
    size_t count = 0;
  };

  Outcome search();
  Outcome relax_cores(uint64_t least_weight);

  uint64_t next_stratum(uint64_t above) const;
  std::vector<Literal> assumptions(uint64_t least_weight);

  void pay_exclusions(uint64_t least_weight);
  void pay_group(std::vector<Literal> group);
  std::vector<Literal> core_of(const std::vector<Literal>& assumed) const;
  void shrink(std::vector<Literal>& core);
  void relax(const std::vector<Literal>& core);
  void exclude(Literal literal);
  void raise_sum_of(Literal literal, uint64_t weight);
  void polish();
  void harden();
  void activate_delayed();

  uint64_t& weight_of(Literal literal);
  uint64_t weight_of(Literal literal) const;
  void give(Literal literal, uint64_t weight, bool delayed);
  void take(Literal literal, uint64_t weight);

  void pay(uint64_t weight);
  void take_model();
  bool closed() const { return has_model_ && result_.lower_bound >= result_.cost; }
  uint64_t gap() const { return result_.cost - result_.lower_bound; }
  void report(bool better_model) const;

  const WeightedCnf& formula_;
  const MaxsatOptions& options_;
  SoftLiterals soft_;
  CoreOracle oracle_;
  UnitPropagation propagation_;
  Exclusions exclusions_;
  MaxsatResult result_;
  bool has_model_ = false;

  std::vector<uint64_t> weights_;  // by literal
  std::vector<bool> listed_;       // by literal: stands in active_ or delayed_
  std::vector<Literal> active_;    // soft literals, and some of weight 0 not yet dropped
  std::vector<Literal> delayed_;   // soft literals that wait until no core is left
  std::vector<Totalizer> totalizers_;
  std::unordered_map<Literal, SumBound> sums_;
};

}  // namespace xlog::solve
