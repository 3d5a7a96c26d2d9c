// What a conflict teaches: the first unique implication point, shortened by clauses that imply its
// literals from one another; and which assumptions a failure came from.
#include <algorithm>
#include <bit>

#include "base/check.h"
#include "solve/search.h"

namespace xlog::solve {

bool Search::resolve_conflict() {
  ++conflicts_;
  for (;;) {
    uint32_t top = 0;
    for (const Literal literal : conflict_) top = std::max(top, level_of(literal));
    if (top == 0) {
      contradictory_ = true;
      exhausted_ = true;
      return false;
    }
    if (floor_ > 0 && top <= floor_) {
      if (close(top)) return true;
      if (!any_model_) find_failed(conflict_);
      return false;
    }
    backtrack(top);
    const uint32_t level = analyze();
    if (learn_lemma(level)) return true;
    conflict_ = lemma_;
  }
}

void Search::explain(Literal literal, std::vector<Literal>& clause) {
  const Reason reason = variable(literal).reason;
  switch (reason.kind()) {
    case Reason::None:
      XLOG_UNREACHABLE("decisions have no reason");
    case Reason::Binary:
      clause.assign({literal, reason.other()});
      return;
    case Reason::Clause: {
      const Literal* begin = literals(reason.place());
      clause.assign(begin, begin + size_of(reason.place()));
      return;
    }
    case Reason::Constraint:
      weights_.explain(reason.place(), literal, clause);
      return;
  }
}

uint32_t Search::analyze() {
  const uint32_t top = level();
  lemma_.assign(1, 0);
  touched_.clear();
  size_t index = trail_.size();
  uint32_t open = 0;
  Literal implied = 0;
  reason_ = conflict_;
  for (;;) {
    for (const Literal literal : reason_) {
      const auto v = static_cast<uint32_t>(variable_of(literal));
      if (literal == implied || seen_[v] != 0 || info_[v].level == 0) continue;
      seen_[v] = kSource;
      touched_.push_back(v);
      bump(v);
      if (info_[v].level == top) {
        ++open;
      } else {
        lemma_.push_back(literal);
      }
    }
    do {
      implied = trail_[--index];
    } while (seen_[static_cast<size_t>(variable_of(implied))] == 0);
    if (--open == 0) break;
    const Reason reason = variable(implied).reason;
    if (reason.kind() == Reason::Clause) bump_clause(reason.place());
    explain(implied, reason_);
  }
  lemma_[0] = -implied;

  ++level_stamp_;
  for (const Literal literal : lemma_) level_stamps_[level_of(literal)] = level_stamp_;
  size_t kept = 1;
  for (size_t i = 1; i < lemma_.size(); ++i) {
    if (!WatchedClauses::is_redundant(*this, lemma_[i])) lemma_[kept++] = lemma_[i];
  }
  lemma_.resize(kept);
  for (const uint32_t v : touched_) seen_[v] = 0;

  if (lemma_.size() == 1) return 0;
  size_t highest = 1;
  for (size_t i = 2; i < lemma_.size(); ++i) {
    if (level_of(lemma_[i]) > level_of(lemma_[highest])) highest = i;
  }
  std::swap(lemma_[1], lemma_[highest]);
  return level_of(lemma_[1]);
}

bool Search::learn_lemma(uint32_t level) {
  const uint32_t spread = count_levels(lemma_);
  activity_step_ /= 0.92;
  clause_step_ /= 0.999f;

  backtrack(std::max(level, floor_));
  const Reason reason =
      lemma_.size() == 1 ? Reason() : binary_or_clause(lemma_, std::max(1u, spread));
  const Literal asserted = lemma_[0];
  if (value(asserted) < 0) return false;
  if (value(asserted) == 0) enqueue(asserted, reason);
  if (level < this->level()) late_.push_back({asserted, reason, level});
  return true;
}

uint32_t Search::count_levels(std::span<const Literal> clause) {
  ++level_stamp_;
  uint32_t count = 0;
  for (const Literal literal : clause) {
    if (value(literal) == 0) continue;
    uint64_t& stamp = level_stamps_[level_of(literal)];
    count += stamp != level_stamp_;
    stamp = level_stamp_;
  }
  return count;
}

void Search::find_failed(std::span<const Literal> false_literals) {
  failed_.clear();
  touched_.clear();
  const auto mark = [&](Literal literal) {
    const auto v = static_cast<uint32_t>(variable_of(literal));
    if (info_[v].level == 0 || seen_[v] != 0) return;
    seen_[v] = kSource;
    touched_.push_back(v);
  };
  for (const Literal literal : false_literals) mark(literal);
  for (size_t i = trail_.size(); i-- > 0;) {
    const Literal literal = trail_[i];
    if (seen_[static_cast<size_t>(variable_of(literal))] == 0) continue;
    if (variable(literal).reason.kind() != Reason::None) {
      explain(literal, reason_);
      for (const Literal l : reason_) mark(l);
    } else if (levels_[level_of(literal) - 1].decision == literal) {
      failed_.push_back(literal);
    }
  }
  for (const uint32_t v : touched_) seen_[v] = 0;
}

void Search::bump(uint32_t v) {
  activity_[v] += activity_step_;
  if (activity_[v] > 1e100) {
    for (double& activity : activity_) activity *= 1e-100;
    activity_step_ *= 1e-100;
  }
  (is_preferred_[v] ? preferred_heap_ : heap_).raised(v);
}

void Search::bump_clause(uint32_t clause) {
  if (arena_[clause + 1] == 0) return;
  float activity = std::bit_cast<float>(arena_[clause + 2]) + clause_step_;
  arena_[clause + 2] = std::bit_cast<uint32_t>(activity);
  if (activity <= 1e20f) return;
  for (const uint32_t c : learned_) {
    activity = std::bit_cast<float>(arena_[c + 2]) * 1e-20f;
    arena_[c + 2] = std::bit_cast<uint32_t>(activity);
  }
  clause_step_ *= 1e-20f;
}

}  // namespace xlog::solve
