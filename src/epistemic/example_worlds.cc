#include "epistemic/example_worlds.h"

#include <algorithm>

#include "base/check.h"
#include "epistemic/solver_limits.h"

namespace xlog::epistemic {

using oracle::AtomId;
using solve::Literal;

namespace {

constexpr int kMostAttempts = 40;  // to do without an atom

}  // namespace

ExampleWorlds::ExampleWorlds(const Findings& findings, uint32_t unit, uint32_t cluster_view)
    : findings_(findings),
      unit_(unit),
      program_(findings.views().unit_program(unit, cluster_view)),
      translation_(program_, findings.context().names()) {
  const View& view = findings.views().view(unit, cluster_view);
  for (const Question& question : translation_.questions()) {
    const AtomStatus status = view.status[question.atom];
    const bool yes = question.all ? status == AtomStatus::Always : status != AtomStatus::Never;
    answers_.push_back(yes ? question.proposition : -question.proposition);
  }
  const Status added = solver_.add(translation_.take());
  XLOG_CHECK(added.ok(), "a translated unit is a program");
}

bool ExampleWorlds::solve() {
  const solve::Limits limits = limits_of(findings_.context(), counts_);
  return settled(solver_.solve(limits), findings_.context()) == solve::Outcome::Sat;
}

std::vector<bool> ExampleWorlds::world() const {
  std::vector<bool> atoms(program_.atom_count, false);
  for (AtomId a = 0; a < program_.atom_count; ++a) atoms[a] = solver_.holds(Translation::atom(a));
  return atoms;
}

std::optional<std::vector<AtomId>> ExampleWorlds::find(std::span<const Wish> wishes) {
  const Units& units = findings_.views().units();
  solver_.retract_all();
  for (const Literal answer : answers_) solver_.assume(answer);
  std::vector<bool> wished(program_.atom_count, false);
  for (const auto& [atom, holds] : wishes) {
    const uint32_t place = units.place_of(atom);
    wished[place] = true;
    solver_.assume(holds ? Translation::atom(place) : -Translation::atom(place));
  }
  if (!solve()) return std::nullopt;
  std::vector<bool> best = world();
  int attempts = 0;
  for (AtomId a = 0; a < program_.atom_count && attempts < kMostAttempts; ++a) {
    if (!best[a] || wished[a]) continue;
    ++attempts;
    const Literal without = -Translation::atom(a);
    solver_.assume(without);
    if (solve()) {
      const std::vector<bool> other = world();
      if (std::ranges::count(other, true) < std::ranges::count(best, true)) {
        best = other;
        continue;
      }
    }
    solver_.retract(without);
  }
  std::vector<AtomId> atoms;
  for (AtomId a = 0; a < program_.atom_count; ++a) {
    if (best[a]) atoms.push_back(units.atoms(unit_)[a]);
  }
  return atoms;
}

}  // namespace xlog::epistemic
