// A conflict-driven clause-learning search that can stop at every model and go on from there. The
// stable-model solver needs what a SAT solver behind an interface does not give: propagators that
// add clauses while it searches, and enumeration by backtracking, without a clause a model.
//
//   Search search;
//   const int32_t a = search.new_variable(), b = search.new_variable();
//   search.add({a, b});
//   search.set_assumptions({-a});
//   if (search.solve({}) == Outcome::Sat) use(search.value(b));
//   search.start_enumeration();
//   while (search.next({}) == Outcome::Sat) ...;
//
// Enumeration follows "Conflict-Driven Answer Set Enumeration" (Gebser, Kaufmann, Neumann, Schaub
// 2007): after a model the last decision is flipped, and conflicts jump back no further than to the
// deepest level that still has an unexplored side (`floor_`).
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "solve/solver.h"
#include "solve/variable_heap.h"
#include "solve/watched_clauses.h"
#include "solve/weight_constraints.h"

namespace xlog::solve {

// What a clause added during the search did.
enum class Learned : uint8_t {
  Quiet,     // nothing for now
  Implied,   // assigned a literal, perhaps after going back some levels
  Conflict,  // contradicts the assignment; the propagator returns at once
  Stopped,   // only from Propagator::check: a limit came before the answer
};

// Sees the assignment when unit propagation has nothing more to say, and adds clauses to it with
// Search::learn. After anything but Quiet it returns, and is asked again later.
class Propagator {
 public:
  virtual ~Propagator() = default;
  // Looks at what was assigned since last time.
  virtual Learned propagate(Search& search) = 0;
  // Looks at a total assignment: Quiet accepts it as a model.
  virtual Learned check(Search& search) = 0;
  // Levels above `level` are about to go; what is on the trail from `trail_size` is unassigned.
  virtual void undo(const Search& search, uint32_t level, size_t trail_size) = 0;
};

class Search {
 public:
  Search() : weights_(*this) { need_variables(0); }
  Search(const Search&) = delete;
  Search& operator=(const Search&) = delete;

  int32_t variables() const { return variables_; }
  int32_t new_variable();
  void need_variables(int32_t count);
  // The value a decision tries first.
  void set_phase(Literal literal) {
    phases_[static_cast<size_t>(variable_of(literal))] = literal > 0;
  }
  // Whether decisions try the last value first, rather than the phase that was set. That is good
  // for problems where each answer resembles the last, such as ever better models; otherwise only
  // far jumps back keep what they undo.
  void keep_phases(bool keep) { keep_phases_ = keep; }
  // Decisions start again from the order of the variables: what one question made important can
  // mislead the next.
  void forget_activity();
  // Decided before all others, and models that agree on these variables are one to `next`.
  void prefer(std::span<const int32_t> variables);
  void prefer_nothing();

  // Clauses and constraints that stay. Ends an enumeration.
  void add(std::span<const Literal> clause);
  void add(std::initializer_list<Literal> clause) { add(std::span(clause.begin(), clause.size())); }
  // `holds <-> weight of the true terms >= bound`; without `both` only the way to the right.
  uint32_t add_weight_constraint(Literal holds, int64_t bound, std::vector<WeightedLiteral> terms,
                                 bool both = true);
  // The same for any literals, a variable twice too, as clauses where these are as good.
  void add_weighted_sum(Literal holds, int64_t bound, std::vector<WeightedLiteral> terms);
  // Of a constraint that is not `both`.
  void raise_bound(uint32_t constraint, int64_t bound);
  // What was learned from it stays: its `holds` must be false from now on.
  void remove_weight_constraint(uint32_t constraint);
  // In the order in which they are to run; they live as long as the search is used.
  void add_propagator(Propagator* propagator) { propagators_.push_back(propagator); }

  void set_assumptions(std::span<const Literal> assumptions);
  void set_assumptions(std::initializer_list<Literal> a) {
    set_assumptions(std::span(a.begin(), a.size()));
  }

  // Sat, Unsat, Unknown or Timeout. The assignment stays readable until the next call.
  Outcome solve(const Limits& limits);
  // After Unsat of `solve`, or of the first `next`: assumptions that cannot all hold.
  const std::vector<Literal>& failed() const { return failed_; }

  // Each `next` after it finds another model; Unsat: there are no more.
  void start_enumeration();
  Outcome next(const Limits& limits);

  // 1 true, -1 false, 0 open.
  int value(Literal literal) const { return values_[slot(literal)]; }
  uint32_t level_of(Literal literal) const { return variable(literal).level; }
  uint32_t level() const { return static_cast<uint32_t>(levels_.size()); }
  std::span<const Literal> trail() const { return trail_; }
  uint32_t position(Literal literal) const { return variable(literal).position; }
  // Forced by the clauses alone: 1 true, -1 false, 0 neither as far as is known.
  int fixed_value(Literal literal) const { return level_of(literal) == 0 ? value(literal) : 0; }
  // The same for the clauses with the assumptions of the last answer.
  int implied_value(Literal literal) const {
    return level_of(literal) <= assumptions_.size() ? value(literal) : 0;
  }
  // Propagates what there is at level 0; false when that is a contradiction.
  bool propagate_facts();
  uint64_t conflicts() const { return conflicts_; }
  // Of the solve under way, for what propagators solve themselves.
  const Limits& limits() const { return limits_; }

  // For propagators: a clause that follows from the problem. No literal twice.
  Learned learn(std::span<const Literal> clause);

 private:
  friend class WeightConstraints;
  friend struct WatchedClauses;

  struct Level {
    size_t trail_begin = 0;
    Literal decision = 0;  // 0: an assumption that held already, or the root of an enumeration
    bool preferred = false;
  };
  // A literal implied at a lower level than the one it stands on; going back asserts it again.
  struct Late {
    Literal literal = 0;
    Reason reason;
    uint32_t level = 0;
  };
  // Clauses lie in one vector: size, the number of levels when learned (0: given), activity, then
  // the literals.
  static constexpr uint32_t kHeader = 3;
  static constexpr uint32_t kMostClauseWords = (1u << 30) - 1;
  static constexpr uint32_t kGoneBit = 1u << 31;  // with the number of levels: about to be removed

  const AssignedVariable& variable(Literal literal) const {
    return info_[static_cast<size_t>(variable_of(literal))];
  }
  Literal* literals(uint32_t clause) {
    return reinterpret_cast<Literal*>(&arena_[clause + kHeader]);
  }
  const Literal* literals(uint32_t clause) const {
    return reinterpret_cast<const Literal*>(&arena_[clause + kHeader]);
  }
  uint32_t size_of(uint32_t clause) const { return arena_[clause]; }
  uint32_t& spread(uint32_t clause) { return arena_[clause + 1]; }

  // search.cc
  Outcome run(const Limits& limits);
  static bool interrupted(const Limits& limits);
  bool out_of(const Limits& limits, Outcome& outcome);
  enum class Step : uint8_t { Decided, Failed, Total };
  Step decide();
  uint32_t pick(bool& preferred);
  void new_level(Literal decision, bool preferred);
  void backtrack(uint32_t level);
  void leave_enumeration();
  bool close(uint32_t level);  // nothing is left below it; false: nor anywhere else
  bool restart_due();
  uint32_t root() const { return static_cast<uint32_t>(assumptions_.size()) + 1; }

  // search_propagate.cc
  bool propagate();
  bool propagate_weights();
  void enqueue(Literal literal, Reason reason);
  bool imply(Literal literal, Reason reason);  // false: it is false, a conflict
  void assert_late();
  Reason binary_or_clause(std::span<const Literal> clause, uint32_t spread);
  uint32_t store(std::span<const Literal> clause, uint32_t spread);
  void watch(Literal literal, Watch watch) { watches_[slot(-literal)].push_back(watch); }

  // search_analyze.cc
  bool resolve_conflict();           // false: no more to search
  uint32_t analyze();                // to lemma_; the level to go back to
  bool learn_lemma(uint32_t level);  // false: it contradicts what is left
  void explain(Literal literal, std::vector<Literal>& clause);
  void find_failed(std::span<const Literal> false_literals);
  uint32_t count_levels(std::span<const Literal> clause);
  void bump(uint32_t variable);
  void bump_clause(uint32_t clause);

  // search_reduce.cc
  void reduce_learned();
  void simplify();
  void forget(std::vector<uint32_t>& clauses);

  int32_t variables_ = 0;
  bool contradictory_ = false;  // at level 0
  std::vector<int8_t> values_;  // by slot
  std::vector<AssignedVariable> info_;
  std::vector<bool> phases_;
  std::vector<std::vector<Watch>> watches_;  // by slot of the literal that becomes true
  std::vector<uint32_t> arena_;
  std::vector<uint32_t> given_;    // clauses
  std::vector<uint32_t> learned_;  // clauses
  size_t simplified_at_ = 0;       // how much of the trail was fixed when clauses were last swept

  std::vector<Literal> trail_;
  std::vector<Level> levels_;
  size_t clause_head_ = 0;  // the trail up to here has gone through the clauses
  size_t weight_head_ = 0;  // and through the weight constraints
  std::vector<Late> late_;
  std::vector<Propagator*> propagators_;
  WeightConstraints weights_;
  std::vector<uint32_t> unsettled_;  // weight constraints to look at again

  std::vector<double> activity_;
  double activity_step_ = 1;
  float clause_step_ = 1;
  VariableHeap heap_{activity_};
  VariableHeap preferred_heap_{activity_};
  std::vector<bool> is_preferred_;
  bool projecting_ = false;
  bool keep_phases_ = false;

  std::vector<Literal> assumptions_;
  std::vector<Literal> failed_;
  std::vector<Literal> open_;  // of a clause that is added
  bool enumerating_ = false;
  bool exhausted_ = false;
  bool at_model_ = false;
  bool any_model_ = false;  // since the enumeration started
  uint32_t floor_ = 0;      // conflicts go back no further

  std::vector<Literal> conflict_;  // all false
  std::vector<Literal> lemma_;     // the clause that analyze() makes, asserting literal first
  std::vector<uint8_t> seen_;
  std::vector<uint32_t> touched_;  // variables whose seen_ is to be cleared
  std::vector<uint32_t> pending_;  // of WatchedClauses::is_redundant
  std::vector<Literal> reason_;    // of explain()
  std::vector<uint64_t> level_stamps_;
  uint64_t level_stamp_ = 0;

  // Memory and progress have their turn so often: both take microseconds.
  static constexpr std::chrono::milliseconds kBetweenLooks{50};
  Limits limits_;
  std::chrono::steady_clock::time_point next_look_{};
  uint64_t conflicts_ = 0;
  uint64_t steps_ = 0;  // decisions and conflicts, to look at the clock now and then
  uint64_t restarts_ = 0;
  uint64_t restart_at_ = 0;
  uint64_t reduce_at_ = 500;
  uint64_t reductions_ = 0;
};

}  // namespace xlog::solve
