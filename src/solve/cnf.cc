#include "solve/cnf.h"

#include "base/check.h"

namespace xlog::solve {

void Cnf::add(std::span<const Literal> clause) {
  for (const Literal literal : clause) {
    XLOG_CHECK(literal != 0 && literal != INT32_MIN, "0 is no literal");
    need_variables(variable_of(literal));
  }
  literals_.insert(literals_.end(), clause.begin(), clause.end());
  ends_.push_back(literals_.size());
}

bool Model::satisfies(std::span<const Literal> clause) const {
  return std::ranges::any_of(clause, [&](Literal literal) { return holds(literal); });
}

bool Model::satisfies(const Cnf& cnf) const {
  for (size_t i = 0; i < cnf.size(); ++i) {
    if (!satisfies(cnf[i])) return false;
  }
  return true;
}

}  // namespace xlog::solve
