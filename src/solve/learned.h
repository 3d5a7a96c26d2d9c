// Clauses that solvers learned, kept for the next solve of the same formula. What was learned from
// one formula need not hold in another, so they are handed out by fingerprint.
//
//   Cnf learned;
//   options.on_learned = [&](std::span<const Literal> clause) { learned.add(clause); };
//   ... solve ...
//   memory.keep(fingerprint(solver.clauses()), learned);
//   memory.reuse(another_solver);   // where it has the same clauses
#pragma once

#include <deque>
#include <map>

#include "solve/fingerprint.h"
#include "solve/solver.h"

namespace xlog::solve {

class LearnedClauses {
 public:
  explicit LearnedClauses(size_t most_literals = 10'000'000) : most_literals_(most_literals) {}

  // Adds to what is kept for that formula. Where there is too much, formulas go that came first;
  // what alone is too much is not kept.
  void keep(const Fingerprint& formula, const Cnf& clauses);

  // Gives the solver what is kept for the clauses that it has now. Returns how many clauses.
  size_t reuse(Solver& solver) const;

  size_t formulas() const { return kept_.size(); }
  size_t literals() const { return literals_; }

 private:
  size_t most_literals_;
  size_t literals_ = 0;
  std::map<Fingerprint, Cnf> kept_;
  std::deque<Fingerprint> arrivals_;
};

}  // namespace xlog::solve
