#include "epistemic/failed_rules.h"

#include <fmt/format.h>

#include <algorithm>

#include "engine/proof_print.h"
#include "epistemic/bounds.h"
#include "epistemic/solve_unit.h"
#include "epistemic/translate.h"
#include "logic/binding.h"

namespace xlog::epistemic {

using lang::Value;
using oracle::AtomId;
using oracle::GroundKind;
using oracle::GroundLiteral;
using oracle::GroundRule;
using oracle::Truth;

namespace {

constexpr size_t kMostInstances = 3;     // of a rule
constexpr uint64_t kMostTried = 10'000;  // that are counted
constexpr const char* kUnfounded =
    "guessing it: reproduced but unfounded, something would hold only because it is believed";

// Whether a rule of the unit asks this about one of its own atoms.
bool asks(const oracle::GroundProgram& unit, AtomId atom, bool all) {
  return std::ranges::any_of(unit.rules, [&](const GroundRule& rule) {
    return std::ranges::any_of(rule.body, [&](const GroundLiteral& literal) {
      return literal.kind == GroundKind::Modal && literal.index == atom &&
             asks_for_all(literal.modal) == all;
    });
  });
}

}  // namespace

FailedInstance FailedRules::named(uint32_t r) const {
  const oracle::Context& context = findings_.context();
  FailedInstance made;
  made.rule = engine::rule_text(context.program.rules[r], context.program, context.session);
  made.rule_span = context.program.rules[r].span;
  return made;
}

FailedInstance FailedRules::without_instance(uint32_t rule, lang::PredId pred,
                                             const std::vector<std::optional<Value>>& row) {
  const FailedRule failed = instances_.furthest(rule, pred, row);
  FailedInstance made = named(rule);
  made.head_fits = failed.head_fits;
  made.holds = failed.holds;
  made.fails = failed.fails;
  return made;
}

std::vector<FailedInstance> FailedRules::explain_missing(
    lang::PredId pred, const std::vector<std::optional<Value>>& row) {
  std::vector<FailedInstance> failed;
  for (const uint32_t r : findings_.context().program[pred].rules) {
    failed.push_back(without_instance(r, pred, row));
  }
  return failed;
}

std::vector<FailedInstance> FailedRules::explain(AtomId atom, const Scope& scope) {
  const oracle::Database& database = findings_.instance().database;
  const oracle::Database::Atom at = database.atoms[atom];
  const std::span<const Value> row = database.relations[at.pred.index].row(at.row);
  std::vector<FailedInstance> failed;
  for (const uint32_t r : findings_.context().program[at.pred].rules) {
    size_t shown = 0;
    uint64_t others = 0;
    instances_.for_each(r, at.pred, row, [&](const RuleInstance& instance) {
      if (shown < kMostInstances) {
        failed.push_back(failed_instance(instance, scope));
        ++shown;
      } else {
        ++others;
      }
      return shown + others < kMostTried;
    });
    if (shown > 0) {
      failed.back().others = others;
    } else {
      failed.push_back(without_instance(r, at.pred, {row.begin(), row.end()}));
    }
  }
  return failed;
}

FailedInstance FailedRules::failed_instance(const RuleInstance& instance, const Scope& scope) {
  FailedInstance made = named(instance.rule);
  const InstanceLiteral* failing = nullptr;
  const InstanceLiteral* folding = nullptr;  // over rows that are not as the instance has them
  const bool folds_others = std::ranges::any_of(
      instance.aggregates, [&](const auto& fold) { return scope.truth(fold) != Truth::True; });
  for (const InstanceLiteral& literal : instance.body) {
    if (folds_others && logic::has_braces(*literal.literal)) {
      if (folding == nullptr) folding = &literal;
      continue;
    }
    const Truth truth = literal.open ? scope.truth(*literal.open) : Truth::True;
    if (truth == Truth::True) made.holds.push_back(literal.text);
    if (truth != Truth::False) continue;
    // A question says more than the atoms that rest on it.
    const bool is_question = literal.open->kind == GroundKind::Modal;
    const bool is_first = failing == nullptr;
    if (is_first || (is_question && failing->open->kind != GroundKind::Modal)) failing = &literal;
  }
  if (failing != nullptr) {
    say_why(*failing, scope, made);
    return made;
  }
  if (folding != nullptr) {
    made.fails =
        folding->text + (scope.is_one_world() ? ": another value in this world"
                                              : ": another value, at least in some worlds");
    return made;
  }
  const lang::HeadKind head = findings_.context().program.rules[instance.rule].head_kind;
  made.fails = head == lang::HeadKind::Choice        ? "it is not chosen"
               : head == lang::HeadKind::Disjunction ? "another atom of the head holds"
                                                     : "what it folds gives other rows";
  if (head == lang::HeadKind::Choice && !scope.is_one_world()) {
    made.fails = "it is never chosen: other rules or constraints leave no world with it";
  }
  return made;
}

void FailedRules::say_why(const InstanceLiteral& literal, const Scope& scope,
                          FailedInstance& made) {
  const AtomId atom = literal.open->index;
  const uint32_t view = scope.cluster_view();
  const AtomStatus status = findings_.status(atom, view);
  made.fails = literal.text + ": ";
  if (literal.open->kind != GroundKind::Modal) {
    const bool is_absent = literal.open->kind != GroundKind::Neg;
    made.fails +=
        is_absent ? (status == AtomStatus::Never ? "in no world" : "not in this world")
                  : (status == AtomStatus::Always ? "it is in every world" : "it is in this world");
    return;
  }
  made.fails += status == AtomStatus::Always  ? "it is in every world"
                : status == AtomStatus::Never ? "it is in no world"
                                              : "it is in some worlds, but not in all";
  if (findings_.decided(atom)) {
    if (status == AtomStatus::Never && is_only_believed(*literal.open)) made.note = kUnfounded;
    return;
  }
  if (status == AtomStatus::Sometimes) {
    const bool wants_all = asks_for_all(literal.open->modal);
    if (const auto found = worlds_.find(atom, !wants_all, view))
      made.world = worlds_.shown(*found, view);
  }
  say_what_if(*literal.open, view, made);
}

// Whether the bounds exclude an atom because nothing founds it, though it reproduces itself.
bool FailedRules::is_only_believed(const GroundLiteral& literal) {
  oracle::Context& context = findings_.context();
  if (!oracle::needs_foundation(literal.modal, context.options.mode)) return false;
  if (!unfounded_) {
    unfounded_ =
        epistemic::well_founded_bounds(findings_.instance().ground, logic::Mode::G91, context);
  }
  return unfounded_->upper[literal.index];
}

// The test that keeps the literal from being guessed true.
void FailedRules::say_what_if(const GroundLiteral& literal, uint32_t view, FailedInstance& made) {
  const Units& units = findings_.views().units();
  const uint32_t unit = units.unit_of(literal.index);
  const bool all = asks_for_all(literal.modal);
  const bool answer = !is_negated(literal.modal);
  const GuessTest test =
      test_guess(findings_.views().unit_program(unit, view), units.place_of(literal.index), all,
                 answer, findings_.context());
  const auto name = [&] { return findings_.text(units.atoms(unit)[test.atom]); };
  const std::string guess =
      fmt::format("guessing that it is {}{}: ", answer ? "" : "not ", all ? "known" : "possible");
  switch (test.verdict) {
    case Verdict::Accepted:
      return;
    case Verdict::NoWorld:
      // Nothing asks the question in this unit, or no world fits.
      if (asks(findings_.views().unit_program(unit, view), units.place_of(literal.index), all)) {
        made.note = guess + "no world agrees with that";
      }
      return;
    case Verdict::NotKnown:
      made.note = fmt::format("{}not reproduced, a world lacks {}", guess, name());
      break;
    case Verdict::NotPossible:
      made.note = fmt::format("{}not reproduced, no world has {}", guess, name());
      break;
    case Verdict::NotOpen:
      made.note = fmt::format("{}not reproduced, {} contradicts it", guess, name());
      break;
    case Verdict::Unfounded:
      made.note = kUnfounded;
      break;
  }
  if (test.world.empty()) return;
  std::vector<AtomId> world;
  for (const AtomId place : test.world) world.push_back(units.atoms(unit)[place]);
  made.world = worlds_.shown(world);
}

}  // namespace xlog::epistemic
