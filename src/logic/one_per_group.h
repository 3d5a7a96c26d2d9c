// Constraints that forbid a second row where one may be: `:- at(X, T), at(Y, T), X != Y`. A body
// that says the same of X and of Y, with variables that both share, and compares X with Y, holds
// exactly where some group of shared values has two values of X. So "at most one" for each group
// says as much as all the pairs do, of which there are as many as the square of a group's size.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "logic/analysis.h"

namespace xlog::logic {

struct OnePerGroup {
  std::vector<lang::Literal> body;  // what is said of one value, and of the group
  BodyOrder order;
  std::vector<lang::VarId> group;
  lang::VarId value;  // a group has at most one for which the body holds
};

// Nothing where a rule is no such constraint, or not one of atoms over variables and constants,
// whatever their modal operators, and comparisons of these.
std::optional<OnePerGroup> one_per_group(const lang::Program& program, uint32_t rule,
                                         const std::vector<uint32_t>& component_of);

}  // namespace xlog::logic
