// The assignment under a model counter: decisions in levels, unit propagation over clauses and
// sums, and clauses learned from conflicts. Unlike a solver, a counter looks at both values of each
// decision, so a conflict never jumps back over several levels: it ends the branch it is in. What
// it taught is asserted again in every later branch in which it is still unit (`late_`).
//
//   trail.decide(literal);
//   if (!trail.propagate()) trail.learn();
//   trail.backtrack(trail.level() - 1);
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "solve/count_formula.h"
#include "solve/watched_clauses.h"
#include "solve/weight_constraints.h"

namespace xlog::solve {

class CountTrail {
 public:
  // The formula stays with the caller. After that `propagate` says whether it has a chance.
  explicit CountTrail(const CountFormula& formula);

  // 1 true, -1 false, 0 open.
  int value(Literal literal) const { return values_[slot(literal)]; }
  int value_at(uint32_t slot) const { return values_[slot]; }
  bool is_open(int32_t variable) const { return value(variable) == 0; }
  uint32_t level() const { return static_cast<uint32_t>(level_begins_.size()); }
  std::span<const Literal> trail() const { return trail_; }

  void decide(Literal literal);
  // False after a conflict: `learn`, then `backtrack`.
  bool propagate();
  void learn();
  void backtrack(uint32_t level);
  // A clause of which all but the first literal are false, and that the problem implies; before
  // the next `propagate`. False where the first is false too: a conflict.
  bool imply(const std::vector<Literal>& clause);

  // The weight of the true terms of a sum, and of those that are not false.
  int64_t reached(size_t sum) const { return sums_[sum].reached; }
  int64_t reachable(size_t sum) const { return sums_[sum].reachable; }

  // How often the variable was part of recent conflicts.
  double activity(int32_t variable) const {
    return activity_[static_cast<size_t>(variable)] / step_;
  }
  uint64_t conflicts() const { return conflicts_; }
  size_t bytes() const { return arena_.size() * sizeof(uint32_t); }

 private:
  friend struct WatchedClauses;

  struct Threshold {
    Literal holds = 0;
    int64_t bound = 0;
    uint32_t sum = 0;
  };
  struct Sum {
    uint32_t terms_begin = 0;  // heaviest first
    uint32_t terms_end = 0;
    uint32_t thresholds_begin = 0;  // lowest bound first
    uint32_t thresholds_end = 0;
    int64_t reached = 0;
    int64_t reachable = 0;
  };
  struct Occurrence {
    uint32_t sum = 0;
    int64_t weight = 0;  // 0: of a threshold
  };
  // A learned clause that was unit below the level at which it was learned.
  struct Late {
    uint32_t level = 0;
    std::vector<Literal> clause;  // what it asserts first
    Reason reason;
  };
  // Clauses lie in one vector: size, number of levels when learned (0: given), last conflict in
  // which it took part, then the literals.
  static constexpr uint32_t kHeader = 3;

  static size_t at(Literal literal) { return static_cast<size_t>(variable_of(literal)); }
  const AssignedVariable& variable(Literal literal) const { return info_[at(literal)]; }
  Literal* literals(uint32_t clause) {
    return reinterpret_cast<Literal*>(&arena_[clause + kHeader]);
  }
  uint32_t size_of(uint32_t clause) const { return arena_[clause]; }

  void add_clause(std::span<const Literal> clause);
  void add_sum(const CountSum& sum);
  void enqueue(Literal literal, Reason reason);
  void watch(Literal literal, Watch watch) { watches_[slot(-literal)].push_back(watch); }
  void assert_late();
  bool propagate_sums();
  bool count_in(Literal literal);
  bool settle(uint32_t sum);
  bool imply(Literal literal, uint32_t threshold);

  // count_learn.cc
  Reason keep_lemma();
  Reason attach(std::span<const Literal> clause, uint32_t levels);
  void explain_sum(Literal literal, uint32_t threshold, uint32_t before,
                   std::vector<Literal>& clause) const;
  void explain(Literal literal, std::vector<Literal>& clause);
  bool analyze(uint32_t top);
  void bump(size_t variable);
  uint32_t count_levels(std::span<const Literal> clause);
  void forget_clauses();

  std::vector<int8_t> values_;  // by slot
  std::vector<AssignedVariable> info_;
  std::vector<Literal> trail_;
  std::vector<size_t> level_begins_;  // on the trail
  size_t clause_head_ = 0;            // the trail up to here has gone through the clauses
  size_t sum_head_ = 0;               // and through the sums
  bool contradictory_ = false;
  std::vector<Literal> conflict_;  // all false
  bool conflict_is_late_ = false;  // it is a clause of late_

  std::vector<std::vector<Watch>> watches_;  // by slot of the literal that becomes true
  std::vector<uint32_t> arena_;
  std::vector<uint32_t> learned_;
  std::vector<Sum> sums_;
  std::vector<WeightedLiteral> terms_;
  std::vector<Threshold> thresholds_;
  std::vector<std::vector<Occurrence>> occurrences_;  // in sums, by slot of the true literal
  std::vector<Late> late_;

  std::vector<double> activity_;
  double step_ = 1;
  uint64_t conflicts_ = 0;
  size_t most_learned_ = 4000;
  std::vector<uint8_t> seen_;
  std::vector<uint32_t> touched_;
  std::vector<uint32_t> pending_;
  std::vector<Literal> lemma_;
  std::vector<Literal> reason_;
  std::vector<uint64_t> level_stamps_;
  uint64_t level_stamp_ = 0;
};

}  // namespace xlog::solve
