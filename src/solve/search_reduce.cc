// Forgetting: learned clauses that span many levels and were seldom used, and at level 0 clauses
// that are satisfied for good.
#include <algorithm>
#include <bit>

#include "base/check.h"
#include "solve/search.h"

namespace xlog::solve {

void Search::reduce_learned() {
  ++reductions_;
  reduce_at_ = conflicts_ + 500 + 50 * reductions_;
  std::vector<uint32_t> order = learned_;
  std::ranges::sort(order, [&](uint32_t a, uint32_t b) {
    if (spread(a) != spread(b)) return spread(a) > spread(b);
    const auto used_a = std::bit_cast<float>(arena_[a + 2]);
    const auto used_b = std::bit_cast<float>(arena_[b + 2]);
    return used_a != used_b ? used_a < used_b : a < b;
  });
  order.resize(order.size() / 2);
  std::erase_if(order, [&](uint32_t clause) { return spread(clause) <= 2; });
  forget(order);
}

void Search::simplify() {
  simplified_at_ = trail_.size();
  std::vector<uint32_t> satisfied;
  for (const std::vector<uint32_t>* clauses : {&given_, &learned_}) {
    for (const uint32_t clause : *clauses) {
      const std::span all(literals(clause), size_of(clause));
      if (std::ranges::any_of(all, [&](Literal l) { return value(l) > 0; })) {
        satisfied.push_back(clause);
      }
    }
  }
  for (std::vector<Watch>& list : watches_) {
    std::erase_if(list,
                  [&](const Watch& w) { return w.clause == kBinaryWatch && value(w.blocker) > 0; });
  }
  forget(satisfied);
}

// Reasons stay. The others leave the arena, which is packed anew.
void Search::forget(std::vector<uint32_t>& clauses) {
  constexpr uint32_t kGone = UINT32_MAX;
  std::vector<uint32_t> needed;
  for (const Literal literal : trail_) {
    const Reason reason = variable(literal).reason;
    if (reason.kind() == Reason::Clause) needed.push_back(reason.place());
  }
  for (const Late& entry : late_) {
    if (entry.reason.kind() == Reason::Clause) needed.push_back(entry.reason.place());
  }
  std::ranges::sort(needed);
  std::erase_if(clauses, [&](uint32_t c) { return std::ranges::binary_search(needed, c); });
  if (clauses.empty()) return;

  for (const uint32_t clause : clauses) arena_[clause + 1] |= kGoneBit;
  std::vector<uint32_t> packed;
  packed.reserve(arena_.size());
  // The old arena keeps the new place of each clause in its size.
  for (std::vector<uint32_t>* list : {&given_, &learned_}) {
    size_t kept = 0;
    for (const uint32_t clause : *list) {
      if (arena_[clause + 1] & kGoneBit) {
        arena_[clause] = kGone;
        continue;
      }
      const auto place = static_cast<uint32_t>(packed.size());
      const auto begin = arena_.begin() + clause;
      packed.insert(packed.end(), begin, begin + kHeader + arena_[clause]);
      arena_[clause] = place;
      (*list)[kept++] = place;
    }
    list->resize(kept);
  }
  for (std::vector<Watch>& list : watches_) {
    size_t kept = 0;
    for (const Watch& w : list) {
      if (w.clause == kBinaryWatch) {
        list[kept++] = w;
      } else if (arena_[w.clause] != kGone) {
        list[kept++] = {w.blocker, arena_[w.clause]};
      }
    }
    list.resize(kept);
  }
  const auto moved = [&](Reason reason) {
    if (reason.kind() != Reason::Clause) return reason;
    return Reason(Reason::Clause, arena_[reason.place()]);
  };
  for (const Literal literal : trail_) {
    AssignedVariable& v = info_[static_cast<size_t>(variable_of(literal))];
    v.reason = moved(v.reason);
  }
  for (Late& entry : late_) entry.reason = moved(entry.reason);
  arena_ = std::move(packed);
}

}  // namespace xlog::solve
