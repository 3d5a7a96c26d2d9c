// Worlds of views as people see them in explanations.
#pragma once

#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "epistemic/example_worlds.h"
#include "epistemic/why.h"

namespace xlog::epistemic {

class ShownWorlds {
 public:
  explicit ShownWorlds(const Findings& findings) : findings_(findings) {}

  // Of the unit that an open atom belongs to, in a view of its cluster.
  ExampleWorlds& of(oracle::AtomId atom, uint32_t view);
  std::optional<std::vector<oracle::AtomId>> find(oracle::AtomId atom, bool holds, uint32_t view);

  // What is in all worlds of the view anyway says nothing and is left out.
  ShownWorld shown(const std::vector<oracle::AtomId>& world, uint32_t view) const;
  // Of a guess that is no view.
  ShownWorld shown(const std::vector<oracle::AtomId>& world) const;

 private:
  const Findings& findings_;
  std::map<std::pair<uint32_t, uint32_t>, std::optional<ExampleWorlds>> examples_;
};

}  // namespace xlog::epistemic
