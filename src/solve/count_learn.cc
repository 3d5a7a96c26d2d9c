// What a conflict teaches a counter: the clause of the first unique implication point, shortened.
// Clauses that long took part in no conflict, or span many levels, are forgotten.
#include <algorithm>

#include "base/check.h"
#include "solve/count_trail.h"

namespace xlog::solve {
namespace {

constexpr uint32_t kGone = UINT32_MAX;
constexpr size_t kMostLate = 512;

}  // namespace

Reason CountTrail::attach(std::span<const Literal> clause, uint32_t levels) {
  if (clause.size() == 2) {
    watch(clause[0], {clause[1], kBinaryWatch});
    watch(clause[1], {clause[0], kBinaryWatch});
    return Reason::binary(clause[1]);
  }
  XLOG_CHECK(arena_.size() + clause.size() < (1u << 30) - kHeader, "clauses take more than 4 GiB");
  const auto place = static_cast<uint32_t>(arena_.size());
  arena_.push_back(static_cast<uint32_t>(clause.size()));
  arena_.push_back(levels);
  arena_.push_back(static_cast<uint32_t>(conflicts_));
  for (const Literal l : clause) arena_.push_back(static_cast<uint32_t>(l));
  if (levels > 0) learned_.push_back(place);
  watch(clause[0], {clause[1], place});
  watch(clause[1], {clause[0], place});
  return {Reason::Clause, place};
}

// The clause by which the threshold implied `literal`, from what was assigned before.
void CountTrail::explain_sum(Literal literal, uint32_t threshold, uint32_t before,
                             std::vector<Literal>& clause) const {
  const Threshold& t = thresholds_[threshold];
  const Sum& sum = sums_[t.sum];
  clause.assign(1, literal);
  const bool is_threshold = variable_of(literal) == variable_of(t.holds);
  // The true terms reach the bound, or the false ones keep the others below it.
  const bool by_true = is_threshold ? literal == t.holds : value(t.holds) < 0;
  if (!is_threshold) clause.push_back(by_true ? t.holds : -t.holds);
  for (uint32_t i = sum.terms_begin; i < sum.terms_end; ++i) {
    const Literal term = terms_[i].literal;
    if (term == literal || term == -literal || value(term) != (by_true ? 1 : -1)) continue;
    if (variable(term).position < before) clause.push_back(by_true ? -term : term);
  }
}

void CountTrail::explain(Literal literal, std::vector<Literal>& clause) {
  const Reason reason = variable(literal).reason;
  switch (reason.kind()) {
    case Reason::None:
      XLOG_UNREACHABLE("decisions have no reason");
    case Reason::Binary:
      clause.assign({literal, reason.other()});
      return;
    case Reason::Clause:
      clause.assign(literals(reason.place()), literals(reason.place()) + size_of(reason.place()));
      if (arena_[reason.place() + 1] > 0) {
        arena_[reason.place() + 2] = static_cast<uint32_t>(conflicts_);
      }
      return;
    case Reason::Constraint:
      explain_sum(literal, reason.place(), variable(literal).position, clause);
      return;
  }
}

void CountTrail::bump(size_t variable) {
  activity_[variable] += step_;
  if (activity_[variable] <= 1e100) return;
  for (double& activity : activity_) activity *= 1e-100;
  step_ *= 1e-100;
}

uint32_t CountTrail::count_levels(std::span<const Literal> clause) {
  ++level_stamp_;
  uint32_t count = 0;
  for (const Literal literal : clause) {
    uint64_t& stamp = level_stamps_[variable(literal).level];
    count += stamp != level_stamp_;
    stamp = level_stamp_;
  }
  return count;
}

void CountTrail::learn() {
  ++conflicts_;
  uint32_t top = 0;
  for (const Literal l : conflict_) top = std::max(top, variable(l).level);
  if (top == 0) contradictory_ = true;
  if (contradictory_) return;
  if (!analyze(top)) return;
  step_ /= 0.95;
  keep_lemma();
  if (learned_.size() > most_learned_) forget_clauses();
}

// Its first literal follows from the others.
Reason CountTrail::keep_lemma() {
  for (size_t i = 2; i < lemma_.size(); ++i) {
    if (variable(lemma_[i]).level > variable(lemma_[1]).level) std::swap(lemma_[1], lemma_[i]);
  }
  const uint32_t levels = std::max(1u, count_levels(std::span(lemma_).subspan(1)));
  const Reason reason = lemma_.size() == 1 ? Reason() : attach(lemma_, levels);
  late_.push_back({lemma_.size() == 1 ? 0 : variable(lemma_[1]).level, lemma_, reason});
  // They only save work; a branch should not have to look at thousands of them.
  if (late_.size() > kMostLate) {
    const auto middle = late_.begin() + static_cast<ptrdiff_t>(kMostLate / 2);
    const auto kept = std::remove_if(late_.begin(), middle,
                                     [](const Late& late) { return late.clause.size() > 1; });
    late_.erase(kept, middle);
  }
  return reason;
}

bool CountTrail::imply(const std::vector<Literal>& clause) {
  if (value(clause[0]) < 0) {
    conflict_ = clause;
    return false;
  }
  if (value(clause[0]) > 0) return true;
  lemma_ = clause;
  enqueue(clause[0], keep_lemma());
  if (clause.size() == 1) info_[at(clause[0])].level = 0;
  return true;
}

// To lemma_; false where that is the late clause that was violated.
bool CountTrail::analyze(uint32_t top) {
  bool is_new = !conflict_is_late_;
  lemma_.assign(1, 0);
  touched_.clear();
  size_t index = trail_.size();
  uint32_t open = 0;
  Literal implied = 0;
  reason_ = conflict_;
  for (;;) {
    for (const Literal literal : reason_) {
      const size_t v = at(literal);
      if (literal == implied || seen_[v] != 0 || info_[v].level == 0) continue;
      seen_[v] = kSource;
      touched_.push_back(static_cast<uint32_t>(v));
      bump(v);
      if (info_[v].level == top) {
        ++open;
      } else {
        lemma_.push_back(literal);
      }
    }
    do {
      implied = trail_[--index];
    } while (seen_[at(implied)] == 0 || variable(implied).level != top);
    if (--open == 0) break;
    is_new = true;
    explain(implied, reason_);
  }
  lemma_[0] = -implied;
  count_levels(lemma_);  // stamps their levels
  size_t kept = 1;
  for (size_t i = 1; i < lemma_.size(); ++i) {
    if (!WatchedClauses::is_redundant(*this, lemma_[i])) lemma_[kept++] = lemma_[i];
  }
  lemma_.resize(kept);
  for (const uint32_t v : touched_) seen_[v] = 0;
  return is_new || lemma_.size() < conflict_.size();
}

// Half of the learned clauses go, and the others move together.
void CountTrail::forget_clauses() {
  std::vector<uint32_t> candidates;
  std::vector<bool> needed(arena_.size(), false);
  for (const Literal l : trail_) {
    const Reason reason = variable(l).reason;
    if (reason.kind() == Reason::Clause) needed[reason.place()] = true;
  }
  for (const Late& late : late_) {
    if (late.reason.kind() == Reason::Clause) needed[late.reason.place()] = true;
  }
  for (const uint32_t c : learned_) {
    if (!needed[c] && arena_[c + 1] > 2) candidates.push_back(c);
  }
  const auto worse = [&](uint32_t a, uint32_t b) {
    const auto rank = [&](uint32_t c) {
      return std::pair(arena_[c + 2], UINT32_MAX - arena_[c + 1]);
    };
    return rank(a) < rank(b);
  };
  std::ranges::sort(candidates, worse);
  candidates.resize(candidates.size() / 2);
  for (const uint32_t c : candidates) arena_[c + 1] = kGone;
  std::vector<uint32_t> moved_to(arena_.size(), kGone);
  uint32_t to = 0;
  for (uint32_t from = 0; from < arena_.size();) {
    const uint32_t words = kHeader + arena_[from];
    if (arena_[from + 1] != kGone) {
      moved_to[from] = to;
      std::copy_n(arena_.begin() + from, words, arena_.begin() + to);
      to += words;
    }
    from += words;
  }
  arena_.resize(to);
  std::erase_if(learned_, [&](uint32_t c) { return moved_to[c] == kGone; });
  for (uint32_t& c : learned_) c = moved_to[c];
  for (std::vector<Watch>& list : watches_) {
    std::erase_if(list, [&](const Watch& w) {
      return w.clause != kBinaryWatch && moved_to[w.clause] == kGone;
    });
    for (Watch& w : list) {
      if (w.clause != kBinaryWatch) w.clause = moved_to[w.clause];
    }
  }
  const auto follow = [&](Reason& reason) {
    if (reason.kind() == Reason::Clause) reason = {Reason::Clause, moved_to[reason.place()]};
  };
  for (const Literal l : trail_) follow(info_[at(l)].reason);
  for (Late& late : late_) follow(late.reason);
  most_learned_ += most_learned_ / 10;
}

}  // namespace xlog::solve
