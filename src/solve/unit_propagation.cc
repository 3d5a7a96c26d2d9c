#include "solve/unit_propagation.h"

#include <algorithm>

namespace xlog::solve {

void UnitPropagation::need_variables(int32_t count) {
  const size_t needed = 2 * (static_cast<size_t>(count) + 1);
  if (values_.size() >= needed) return;
  values_.resize(needed, 0);
  watches_.resize(needed);
}

void UnitPropagation::add(std::span<const Literal> clause) {
  const size_t begin = literals_.size();
  for (const Literal literal : clause) {
    need_variables(variable_of(literal));
    if (value(literal) == 1) {
      literals_.resize(begin);
      return;
    }
    const auto repeated =
        std::find(literals_.begin() + static_cast<ptrdiff_t>(begin), literals_.end(), literal);
    if (value(literal) == 0 && repeated == literals_.end()) literals_.push_back(literal);
  }
  const size_t size = literals_.size() - begin;
  if (size >= 2) {
    const auto number = static_cast<uint32_t>(clauses_.size());
    clauses_.emplace_back(begin, literals_.size());
    watches_[index(literals_[begin])].push_back({number, literals_[begin + 1]});
    watches_[index(literals_[begin + 1])].push_back({number, literals_[begin]});
    return;
  }
  if (size == 1) assign(literals_[begin]);
  literals_.resize(begin);
  if (size == 0 || !propagate()) contradiction_ = true;
}

void UnitPropagation::assign(Literal literal) {
  values_[index(literal)] = 1;
  values_[index(-literal)] = -1;
  trail_.push_back(literal);
}

bool UnitPropagation::propagate() {
  while (propagated_ < trail_.size()) {
    const Literal no = -trail_[propagated_++];
    std::vector<Watch>& watches = watches_[index(no)];
    size_t kept = 0;
    for (size_t i = 0; i < watches.size(); ++i) {
      ++steps_;
      const Watch watch = watches[i];
      watches[kept++] = watch;
      if (value(watch.other) == 1) continue;
      const auto [begin, end] = clauses_[watch.clause];
      if (literals_[begin] == no) std::swap(literals_[begin], literals_[begin + 1]);
      const Literal first = literals_[begin];
      if (value(first) == 1) {
        watches[kept - 1].other = first;
        continue;
      }
      size_t next = begin + 2;
      while (next < end && value(literals_[next]) == -1) ++next;
      if (next < end) {
        std::swap(literals_[begin + 1], literals_[next]);
        watches_[index(literals_[begin + 1])].push_back({watch.clause, first});
        --kept;
      } else if (value(first) == 0) {
        assign(first);
      } else {
        while (++i < watches.size()) watches[kept++] = watches[i];
        watches.resize(kept);
        return false;
      }
    }
    watches.resize(kept);
  }
  return true;
}

bool UnitPropagation::probe(Literal literal) {
  implied_.clear();
  if (contradiction_ || value(literal) == -1) return false;
  if (value(literal) == 1) {
    implied_.push_back(literal);
    return true;
  }
  const size_t level = trail_.size();
  assign(literal);
  const bool consistent = propagate();
  implied_.assign(trail_.begin() + static_cast<ptrdiff_t>(level), trail_.end());
  for (const Literal undone : implied_) {
    values_[index(undone)] = 0;
    values_[index(-undone)] = 0;
  }
  trail_.resize(level);
  propagated_ = level;
  return consistent;
}

}  // namespace xlog::solve
