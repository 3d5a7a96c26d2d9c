#include "epistemic/foundedness.h"

#include <algorithm>

#include "base/check.h"
#include "epistemic/founded_worlds.h"
#include "epistemic/solver_limits.h"
#include "oracle/well_founded.h"
#include "oracle/world_views.h"

namespace xlog::epistemic {

using oracle::AtomId;
using oracle::GroundKind;
using oracle::GroundLiteral;
using oracle::GroundRule;
using solve::Literal;
using solve::Outcome;

Foundedness::Foundedness(const oracle::GroundProgram& unit, oracle::Context& context,
                         SearchCounts& counts)
    : unit_(unit), context_(context), counts_(counts) {
  for (const GroundRule rule : unit.rules) {
    disjunctive_ |= rule.heads.size() > 1;
    if (rule.heads.empty()) continue;
    for (const GroundLiteral& literal : rule.body) {
      if (literal.kind != GroundKind::Modal) continue;
      if (!oracle::needs_foundation(literal.modal, context.options.mode)) continue;
      to_found_.emplace_back(literal.index, asks_for_all(literal.modal));
    }
  }
}

bool Foundedness::is_founded(const Translation& translation, const std::vector<Literal>& guess,
                             solve::StableModels& worlds) {
  const bool believes = std::ranges::any_of(to_found_, [&](const auto& asked) {
    GroundLiteral literal;
    literal.kind = GroundKind::Modal;
    literal.modal = asked.second ? lang::Modal::Know : lang::Modal::Possible;
    literal.index = asked.first;
    return guess[translation.question(literal)] > 0;
  });
  // A stable model founds its atoms by rules.
  if (!believes) return true;
  return disjunctive_ ? by_worlds(worlds) : by_questions(guess);
}

bool Foundedness::by_worlds(solve::StableModels& worlds) {
  oracle::WorldSet listed;
  const solve::Enumeration all =
      worlds.enumerate(limits_of(context_, counts_), [&](const solve::StableModels& solver) {
        context_.count_candidate();
        oracle::Interpretation& world = listed.emplace_back(unit_.atom_count, false);
        for (AtomId a = 0; a < unit_.atom_count; ++a) world[a] = solver.holds(Translation::atom(a));
        return true;
      });
  settled(all.outcome, context_);
  std::ranges::sort(listed);
  return oracle::is_founded(unit_, listed, context_.options.mode, context_);
}

void Foundedness::start() {
  if (translation_) return;
  translation_.emplace(unit_, context_.names());
  foundation_ = translation_->add_foundation(context_.options.mode);
  const Status added = solver_.add(translation_->take());
  XLOG_CHECK(added.ok(), "a translated unit is a program");
}

// Whether some world has all of these.
bool Foundedness::asks(const std::vector<Literal>& assumptions) {
  solver_.retract_all();
  for (const Literal literal : assumptions) solver_.assume(literal);
  ++counts_.solver_calls;
  return settled(solver_.solve(limits_of(context_, counts_)), context_) == Outcome::Sat;
}

bool Foundedness::by_questions(const std::vector<Literal>& guess) {
  start();
  FoundedWorlds worlds(unit_.atom_count, foundation_, translation_->questions(), guess, context_);
  // Whether some world has this, where only supported questions count.
  const auto has_world = [&](Literal wanted, const std::vector<size_t>& asked) {
    std::vector<Literal> literals = guess;
    for (size_t q = 0; q < guess.size(); ++q) {
      const Literal supported = foundation_.supported[q];
      if (supported == 0) continue;
      const bool is_asked = std::ranges::binary_search(asked, q);
      literals.push_back(worlds.is_supported(q) ? supported : -supported);
      literals.push_back(is_asked ? foundation_.asked[q] : -foundation_.asked[q]);
    }
    literals.push_back(wanted);
    return asks(literals);
  };
  for (bool some_may_be = true;;) {
    const std::vector<size_t> some = some_may_be ? worlds.waiting(false) : std::vector<size_t>();
    if (!some.empty() && has_world(foundation_.answered, some)) {
      worlds.add(solver_);
      XLOG_CHECK(std::ranges::any_of(some, [&](size_t q) { return worlds.is_supported(q); }),
                 "a world in which an atom is founded shows it");
      continue;
    }
    some_may_be = false;
    const std::vector<size_t> all = worlds.waiting(true);
    if (all.empty()) break;
    if (has_world(foundation_.answered, all)) {
      worlds.add(solver_);
      continue;
    }
    for (const size_t q : all) worlds.support(q);
    some_may_be = true;
  }
  return !has_world(foundation_.unfounded, {});
}

}  // namespace xlog::epistemic
