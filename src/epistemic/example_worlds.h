// Worlds of one unit, in one view of its cluster, as examples for people.
#pragma once

#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "epistemic/findings.h"
#include "epistemic/translate.h"
#include "solve/stable_models.h"

namespace xlog::epistemic {

class ExampleWorlds {
 public:
  ExampleWorlds(const Findings& findings, uint32_t unit, uint32_t cluster_view);

  // An atom, and whether it should hold.
  using Wish = std::pair<oracle::AtomId, bool>;
  // The atoms of a world of the unit in which all wishes come true, ascending. Atoms that it can do
  // without are left out where that is quickly found.
  std::optional<std::vector<oracle::AtomId>> find(std::span<const Wish> wishes);

 private:
  bool solve();
  std::vector<bool> world() const;

  const Findings& findings_;
  uint32_t unit_;
  oracle::GroundProgram program_;
  Translation translation_;
  SearchCounts counts_;
  std::vector<solve::Literal> answers_;  // to the unit's questions
  solve::StableModels solver_;
};

}  // namespace xlog::epistemic
