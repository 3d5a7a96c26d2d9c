#include "epistemic/solve_unit.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>

#include "base/check.h"
#include "epistemic/counterexamples.h"
#include "epistemic/foundedness.h"
#include "epistemic/solver_limits.h"
#include "epistemic/translate.h"
#include "solve/stable_models.h"

namespace xlog::epistemic {

using oracle::AtomId;
using oracle::Interpretation;
using solve::Atom;
using solve::Literal;
using solve::Outcome;
using solve::StableModels;

namespace {

constexpr uint64_t kLeastCopiesAtOnce = 8;
constexpr uint64_t kMostCopiesAtOnce = 64;

class UnitSolver {
 public:
  UnitSolver(const oracle::GroundProgram& unit, oracle::Context& context, SearchCounts& counts)
      : unit_(unit),
        context_(context),
        counts_(counts),
        translation_(unit, context.names()),
        foundedness_(unit, context, counts) {
    if (questions().empty()) {
      start(tester_, translation_.take());
      return;
    }
    // Programs can be large: there is one for each solver, and no further copy.
    solve::GroundProgram guesses = translation_.take();
    const size_t rules = guesses.rules();
    violated_ = guesses.new_atom();
    for (const Question& q : questions()) {
      const Atom asked = Translation::atom(q.atom);
      const Literal yes = q.proposition;
      guesses.add_rule(solve::HeadKind::Disjunction, {violated_},
                       {q.all ? yes : -yes, q.all ? -asked : asked});
    }
    start(tester_, guesses);
    guesses.add_rule(solve::HeadKind::Disjunction, {}, {violated_});
    forbid_known_but_impossible(guesses);
    start(generator_.emplace(), std::move(guesses));
    counterexamples_.emplace(tester_.program(), rules, questions());
  }

  Solution run(uint64_t most) {
    Solution solution;
    std::vector<View>& views = solution.views;
    if (questions().empty()) {
      if (solve(tester_) == Outcome::Sat) views.push_back(view());
      return solution;
    }
    while (solve(*generator_) == Outcome::Sat) {
      take_guess();
      if (!test()) continue;
      if (foundedness_.is_founded(translation_, guess_, tester_)) {
        ++counts_.accepted;
        views.push_back(view());
      } else {
        ++counts_.unfounded;
      }
      generator_->forbid(guess_);
      if (most == 0 || views.size() < most) continue;
      solution.all_found = false;
      break;
    }
    std::ranges::sort(views, [](const View& a, const View& b) { return a.status < b.status; });
    return solution;
  }

  GuessTest test_one(AtomId atom, bool all, bool answer) {
    for (const Question& q : questions()) {
      if (q.atom != atom || q.all != all) continue;
      generator_->assume(answer ? q.proposition : -q.proposition);
    }
    if (questions().empty() || solve(*generator_) != Outcome::Sat) return {};
    take_guess();
    if (!test()) return failed_;
    if (foundedness_.is_founded(translation_, guess_, tester_))
      return {Verdict::Accepted, atom, {}};
    return {Verdict::Unfounded, atom, {}};
  }

 private:
  // The generator's.
  void take_guess() {
    ++counts_.candidates;
    context_.count_candidate();
    guess_.clear();
    for (const Question& q : questions()) {
      guess_.push_back(generator_->holds(q.proposition) ? q.proposition : -q.proposition);
    }
    seen_true_.assign(unit_.atom_count, false);
    seen_false_.assign(unit_.atom_count, false);
    note_world(*generator_);
    tester_.retract_all();
    for (const Literal answer : guess_) tester_.assume(answer);
  }

  const std::vector<Question>& questions() const { return translation_.questions(); }

  void start(StableModels& solver, solve::GroundProgram program) {
    const Status added = solver.add(std::move(program));
    XLOG_CHECK(added.ok(), "a translated unit is a program");
  }

  Outcome solve(StableModels& solver) {
    ++counts_.solver_calls;
    return settled(solver.solve(limits_of(context_, counts_)), context_);
  }

  // What the tester's worlds demand of guesses. The more were needed, the more are looked for at
  // once, unless each can be made to demand more.
  void copy_worlds() {
    const uint64_t most = counterexamples_->strengthens()
                              ? kLeastCopiesAtOnce
                              : std::clamp(copies_, kLeastCopiesAtOnce, kMostCopiesAtOnce);
    copies_ += most;
    std::vector<std::vector<bool>> worlds;
    std::vector<bool> first;  // by atom
    tester_.project(counterexamples_->choices());
    ++counts_.solver_calls;
    const solve::Enumeration found =
        tester_.enumerate(limits_of(context_, counts_), [&](const StableModels& solver) {
          std::vector<bool>& made = worlds.emplace_back();
          for (const Atom a : counterexamples_->choices()) made.push_back(solver.holds(a));
          if (first.empty()) {
            for (Atom a = 0; a <= solver.program().atoms(); ++a) {
              first.push_back(a > 0 && solver.holds(a));
            }
          }
          return worlds.size() < most;
        });
    settled(found.outcome, context_);
    tester_.project(std::nullopt);
    solve::GroundProgram more;
    more.need_atoms(generator_->program().atoms());
    counterexamples_->add_copies(
        std::move(worlds), [&](Atom a) { return first[static_cast<size_t>(a)]; }, guess_, more);
    const Status extended = generator_->extend(more);
    XLOG_CHECK(extended.ok(), "copied rules are like those of the unit");
  }

  // What holds in all of some worlds holds in one of them.
  void forbid_known_but_impossible(solve::GroundProgram& guesses) const {
    for (const Question& all : questions()) {
      if (!all.all) continue;
      const std::optional<size_t> some = translation_.question(all.atom, false);
      if (!some) continue;
      guesses.add_rule(solve::HeadKind::Disjunction, {},
                       {all.proposition, -questions()[*some].proposition});
    }
  }

  void note_world(const StableModels& solver) {
    for (AtomId a = 0; a < unit_.atom_count; ++a) {
      (solver.holds(Translation::atom(a)) ? seen_true_ : seen_false_)[a] = true;
    }
  }

  Interpretation world_of(const StableModels& solver) const {
    Interpretation world(unit_.atom_count, false);
    for (AtomId a = 0; a < unit_.atom_count; ++a) world[a] = solver.holds(Translation::atom(a));
    return world;
  }

  // Whether the worlds under the guess give every question the answer that was guessed.
  bool test() {
    tester_.assume(violated_);
    const bool has_counterexample = solve(tester_) == Outcome::Sat;
    if (has_counterexample) learn_from_world();
    tester_.retract(violated_);
    if (has_counterexample) return false;
    for (size_t q = 0; q < questions().size(); ++q) {
      const Question& question = questions()[q];
      const bool yes = guess_[q] > 0;
      // All worlds say yes to the one, and no world to the other: that was looked at above.
      if (question.all == yes) continue;
      const bool wants_true = !question.all;
      if ((wants_true ? seen_true_ : seen_false_)[question.atom]) continue;
      const Literal wanted =
          wants_true ? Translation::atom(question.atom) : -Translation::atom(question.atom);
      tester_.assume(wanted);
      const bool found = solve(tester_) == Outcome::Sat;
      if (found) note_world(tester_);
      tester_.retract(wanted);
      if (found) continue;
      ++(question.all ? counts_.not_open : counts_.not_possible);
      failed_ = {question.all ? Verdict::NotOpen : Verdict::NotPossible, question.atom, {}};
      learn_from_absence(q);
      return false;
    }
    return true;
  }

  // The tester's world contradicts an answer, and would under every guess that gives the same
  // answers to the questions on which it rests.
  void learn_from_world() {
    const Interpretation world = world_of(tester_);
    const std::vector<bool> relevant = translation_.relevant_questions(world);
    for (size_t q = 0; q < questions().size(); ++q) {
      const Question& question = questions()[q];
      const bool yes = guess_[q] > 0;
      const bool holds = world[question.atom];
      const bool contradicts = question.all ? yes && !holds : !yes && holds;
      if (!contradicts) continue;
      ++(question.all ? counts_.not_known : counts_.not_open);
      failed_ = {question.all ? Verdict::NotKnown : Verdict::NotOpen, question.atom,
                 true_atoms(world)};
      std::vector<Literal> nogood = {guess_[q]};
      for (size_t other = 0; other < questions().size(); ++other) {
        if (relevant[other] && other != q) nogood.push_back(guess_[other]);
      }
      if (counterexamples_->can_copy()) {
        copy_worlds();
      } else {
        generator_->forbid(nogood);
      }
      return;
    }
    XLOG_UNREACHABLE("a counterexample contradicts some answer");
  }

  // No world has what the answer promises: as long as the answers stay that the solver used.
  void learn_from_absence(size_t q) {
    std::vector<Literal> nogood = {guess_[q]};
    for (const Literal literal : tester_.failed()) {
      if (is_answer(literal) && literal != guess_[q]) nogood.push_back(literal);
    }
    generator_->forbid(nogood);
  }

  // Whether it is what was guessed of a question; their propositions stand one behind another.
  bool is_answer(Literal literal) const {
    const int64_t q = int64_t{solve::variable_of(literal)} - questions().front().proposition;
    return q >= 0 && q < std::ssize(guess_) && guess_[static_cast<size_t>(q)] == literal;
  }

  // The view under what the tester assumes.
  View view() {
    View view;
    std::vector<Atom> atoms;
    for (AtomId a = 0; a < unit_.atom_count; ++a) atoms.push_back(Translation::atom(a));
    view.status.assign(unit_.atom_count, AtomStatus::Never);
    if (!atoms.empty()) {
      counts_.solver_calls += 2;
      const solve::Limits limits = limits_of(context_, counts_);
      const solve::Consequences some = tester_.brave(limits, atoms);
      settled(some.outcome, context_);
      for (const Atom a : some.atoms)
        view.status[static_cast<size_t>(a) - 1] = AtomStatus::Sometimes;
      const solve::Consequences all = tester_.cautious(limits, atoms);
      settled(all.outcome, context_);
      for (const Atom a : all.atoms) view.status[static_cast<size_t>(a) - 1] = AtomStatus::Always;
    }
    const solve::ModelCount count = tester_.count(limits_of(context_, counts_));
    settled(count.outcome, context_);
    view.worlds = count.models;
    list_worlds(view);
    return view;
  }

  void list_worlds(View& view) {
    const uint64_t most = context_.options.max_worlds;
    if (most == 0) return;
    std::vector<Interpretation> worlds;
    const solve::Enumeration listed =
        tester_.enumerate(limits_of(context_, counts_), [&](const StableModels& solver) {
          worlds.push_back(world_of(solver));
          return worlds.size() < most;
        });
    settled(listed.outcome, context_);
    std::ranges::sort(worlds);
    for (const Interpretation& world : worlds) {
      context_.tick();
      view.listed.push_back(true_atoms(world));
    }
  }

  static std::vector<AtomId> true_atoms(const Interpretation& world) {
    std::vector<AtomId> atoms;
    for (AtomId a = 0; a < world.size(); ++a) {
      if (world[a]) atoms.push_back(a);
    }
    return atoms;
  }

  const oracle::GroundProgram& unit_;
  oracle::Context& context_;
  SearchCounts& counts_;
  Translation translation_;
  Foundedness foundedness_;
  StableModels tester_;
  std::optional<StableModels> generator_;
  std::optional<Counterexamples> counterexamples_;
  uint64_t copies_ = 0;         // of counterexamples that were asked for
  Atom violated_ = 0;           // an answer "in all" or "in none" is wrong in this world
  std::vector<Literal> guess_;  // by question
  std::vector<bool> seen_true_, seen_false_;  // by atom, in worlds under the guess
  GuessTest failed_;                          // how the last test did
};

}  // namespace

Solution solve_unit(const oracle::GroundProgram& unit, uint64_t most, oracle::Context& context,
                    SearchCounts& counts) {
  ++counts.units;
  show_progress(context, counts);
  return UnitSolver(unit, context, counts).run(most);
}

GuessTest test_guess(const oracle::GroundProgram& unit, AtomId atom, bool all, bool answer,
                     oracle::Context& context) {
  SearchCounts counts;
  return UnitSolver(unit, context, counts).test_one(atom, all, answer);
}

}  // namespace xlog::epistemic
