#include "epistemic/shown_worlds.h"

#include <algorithm>

namespace xlog::epistemic {

using oracle::AtomId;

namespace {

constexpr size_t kMostAtomsShown = 24;

}  // namespace

ExampleWorlds& ShownWorlds::of(AtomId atom, uint32_t view) {
  const uint32_t unit = findings_.views().units().unit_of(atom);
  std::optional<ExampleWorlds>& made = examples_[{unit, view}];
  if (!made) made.emplace(findings_, unit, view);
  return *made;
}

std::optional<std::vector<AtomId>> ShownWorlds::find(AtomId atom, bool holds, uint32_t view) {
  const ExampleWorlds::Wish wish{atom, holds};
  return of(atom, view).find(std::span(&wish, 1));
}

ShownWorld ShownWorlds::shown(const std::vector<AtomId>& world, uint32_t view) const {
  std::vector<AtomId> open;
  std::ranges::copy_if(world, std::back_inserter(open), [&](AtomId atom) {
    return findings_.status(atom, view) != AtomStatus::Always;
  });
  return shown(open);
}

ShownWorld ShownWorlds::shown(const std::vector<AtomId>& world) const {
  ShownWorld made;
  for (const AtomId atom : world) {
    if (!findings_.is_shown(atom)) continue;
    if (made.atoms.size() < kMostAtomsShown) {
      made.atoms.push_back(findings_.text(atom));
    } else {
      ++made.left_out;
    }
  }
  std::ranges::sort(made.atoms);
  return made;
}

}  // namespace xlog::epistemic
