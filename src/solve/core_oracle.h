// The SAT solver as the search for cores uses it: one CaDiCaL that keeps all clauses and takes
// other assumptions at each call. Leaner than the solver service: tens of thousands of assumptions
// a call, and no check of models, which the search does itself against the clauses it was given.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "solve/cnf.h"
#include "solve/solver.h"
#include "solve/totalizer.h"

namespace xlog::solve {

class CoreOracle final : public ClauseSink {
 public:
  // The limits hold for all calls together.
  CoreOracle(int32_t variables, const Limits& limits);
  ~CoreOracle() override;
  CoreOracle(const CoreOracle&) = delete;
  CoreOracle& operator=(const CoreOracle&) = delete;

  int32_t new_variable() override;
  void add(std::span<const Literal> clause) override;
  void add(std::initializer_list<Literal> clause) { add(std::span(clause.begin(), clause.size())); }

  // Unknown also when this call's own conflicts are used up; stopped() says whether it is over for
  // good.
  Outcome solve(std::span<const Literal> assumptions, std::optional<uint64_t> conflicts = {});
  // Unknown or Timeout once a limit was met.
  std::optional<Outcome> stopped() const;

  // After Sat.
  bool holds(Literal literal) const;
  // After Unsat: whether the assumption is one of those that cannot all hold.
  bool failed(Literal assumption) const;

 private:
  class Engine;
  std::unique_ptr<Engine> engine_;
};

}  // namespace xlog::solve
