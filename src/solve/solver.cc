#include "solve/solver.h"

#include <algorithm>

#include "base/check.h"

namespace xlog::solve {

std::string_view name_of(Outcome outcome) {
  switch (outcome) {
    case Outcome::Sat:
      return "sat";
    case Outcome::Unsat:
      return "unsat";
    case Outcome::Optimal:
      return "optimal";
    case Outcome::Unknown:
      return "unknown";
    case Outcome::Timeout:
      return "timeout";
  }
  XLOG_UNREACHABLE("all outcomes are covered");
}

void Solver::add(std::span<const Literal> clause) {
  clauses_.add(clause);
  add_clause(clause);
}

void Solver::add(const Cnf& cnf) {
  for (size_t i = 0; i < cnf.size(); ++i) add(cnf[i]);
  need_variables(cnf.variables());
}

void Solver::assume(Literal literal) {
  need_variables(variable_of(literal));
  if (std::ranges::find(assumptions_, literal) == assumptions_.end()) {
    assumptions_.push_back(literal);
  }
}

void Solver::retract(Literal literal) { std::erase(assumptions_, literal); }

Outcome Solver::solve(const Limits& limits) {
  failed_.clear();
  const Outcome outcome = search(limits);
  if (outcome != Outcome::Sat) return outcome;
  XLOG_CHECK(model_.variables() >= variables(), "a model has a value for each variable");
  XLOG_CHECK(model_.satisfies(clauses_), "a model satisfies the clauses");
  for (const Literal literal : assumptions_) {
    XLOG_CHECK(model_.holds(literal), "a model keeps to the assumptions");
  }
  return outcome;
}

}  // namespace xlog::solve
