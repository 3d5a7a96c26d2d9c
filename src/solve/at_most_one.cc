#include "solve/at_most_one.h"

#include <algorithm>
#include <unordered_set>

namespace xlog::solve {
namespace {

constexpr size_t kMostPairs = 20'000'000;  // bounds the memory: 160 MB

}  // namespace

Exclusions::Exclusions(std::span<const Literal> literals, UnitPropagation& propagation,
                       uint64_t steps) {
  const std::unordered_set<Literal> wanted(literals.begin(), literals.end());
  const uint64_t last_step = propagation.steps() + steps;
  size_t pairs = 0;
  for (const Literal literal : literals) {
    if (propagation.steps() > last_step || pairs > kMostPairs) break;
    if (!propagation.probe(literal)) {
      impossible_.push_back(literal);
      continue;
    }
    for (const Literal implied : propagation.implied()) {
      if (implied == literal || !wanted.contains(-implied)) continue;
      excluded_[literal].push_back(-implied);
      excluded_[-implied].push_back(literal);
      ++pairs;
    }
  }
  for (auto& [literal, others] : excluded_) {
    std::ranges::sort(others);
    others.erase(std::unique(others.begin(), others.end()), others.end());
  }
}

bool Exclusions::exclude(Literal a, Literal b) const {
  const auto found = excluded_.find(a);
  return found != excluded_.end() && std::ranges::binary_search(found->second, b);
}

std::vector<std::vector<Literal>> Exclusions::groups(std::span<const Literal> candidates) const {
  std::unordered_map<Literal, size_t> left;  // by candidate: its place
  for (size_t i = 0; i < candidates.size(); ++i) left.emplace(candidates[i], i);
  std::vector<std::vector<Literal>> groups;
  std::vector<std::pair<size_t, Literal>> fitting;
  for (const Literal first : candidates) {
    const auto others = excluded_.find(first);
    if (others == excluded_.end() || !left.contains(first)) continue;
    fitting.clear();
    for (const Literal other : others->second) {
      const auto place = left.find(other);
      if (place != left.end()) fitting.emplace_back(place->second, other);
    }
    std::ranges::sort(fitting);
    std::vector<Literal> group{first};
    for (const auto& [place, other] : fitting) {
      const bool fits = std::ranges::all_of(
          group, [&](Literal member) { return member == first || exclude(member, other); });
      if (fits) group.push_back(other);
    }
    if (group.size() < 2) continue;
    for (const Literal member : group) left.erase(member);
    groups.push_back(std::move(group));
  }
  return groups;
}

}  // namespace xlog::solve
