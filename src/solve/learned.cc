#include "solve/learned.h"

namespace xlog::solve {

void LearnedClauses::keep(const Fingerprint& formula, const Cnf& clauses) {
  if (clauses.literals() == 0 || clauses.literals() > most_literals_) return;
  while (literals_ + clauses.literals() > most_literals_) {
    const auto oldest = kept_.find(arrivals_.front());
    literals_ -= oldest->second.literals();
    kept_.erase(oldest);
    arrivals_.pop_front();
  }
  const auto [place, is_new] = kept_.try_emplace(formula);
  if (is_new) arrivals_.push_back(formula);
  for (size_t i = 0; i < clauses.size(); ++i) place->second.add(clauses[i]);
  literals_ += clauses.literals();
}

size_t LearnedClauses::reuse(Solver& solver) const {
  if (kept_.empty()) return 0;
  const auto found = kept_.find(fingerprint(solver.clauses()));
  if (found == kept_.end()) return 0;
  for (size_t i = 0; i < found->second.size(); ++i) solver.add_implied(found->second[i]);
  return found->second.size();
}

}  // namespace xlog::solve
