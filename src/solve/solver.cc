#include "solve/solver.h"

#include <algorithm>

#include "base/check.h"

namespace xlog::solve {
namespace {

size_t place_of(Literal literal) {
  return 2 * static_cast<size_t>(variable_of(literal)) + (literal < 0 ? 1 : 0);
}

}  // namespace

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

void Solver::add_implied(std::span<const Literal> clause) {
  for (const Literal literal : clause) {
    XLOG_CHECK(literal != 0 && variable_of(literal) <= variables(),
               "an implied clause is about variables of the formula");
  }
  add_implied_clause(clause);
}

void Solver::assume(Literal literal) {
  XLOG_CHECK(literal != 0 && literal != INT32_MIN, "0 is no literal");
  need_variables(variable_of(literal));
  const size_t place = place_of(literal);
  if (place >= assumed_.size()) assumed_.resize((place | 1023) + 1);
  if (assumed_[place]) return;
  assumed_[place] = true;
  assumptions_.push_back(literal);
}

void Solver::retract(Literal literal) {
  const size_t place = place_of(literal);
  if (place >= assumed_.size() || !assumed_[place]) return;
  assumed_[place] = false;
  // Most often the last one.
  const auto found = std::find(assumptions_.rbegin(), assumptions_.rend(), literal);
  assumptions_.erase(std::next(found).base());
}

void Solver::retract_all() {
  for (const Literal literal : assumptions_) assumed_[place_of(literal)] = false;
  assumptions_.clear();
}

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
