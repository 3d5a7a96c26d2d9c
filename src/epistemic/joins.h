// The solutions of bodies that need no more than joins: atoms over variables and constants, and
// comparisons. They are enumerated as oracle/matcher.h says, in the same order but for a literal
// that sees only new rows, which comes first. What a literal looks up, binds and compares is worked
// out once for each body.
#pragma once

#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "oracle/instantiate.h"
#include "oracle/matcher.h"

namespace xlog::epistemic {

class Joins {
 public:
  explicit Joins(oracle::Context& context) : context_(context) {}

  // False where the body needs more than joins; then nothing was visited.
  bool solve(const oracle::BodyTask& task);

 private:
  // A value that is known when a literal is reached.
  struct Source {
    uint32_t column = 0;
    const lang::Term* term = nullptr;  // a variable or a constant
  };
  struct Step {
    const lang::Literal* literal = nullptr;
    uint32_t index = 0;  // of the literal in its body
    std::vector<uint32_t> columns;
    std::vector<Source> known;                             // of these columns
    std::vector<std::pair<uint32_t, lang::VarId>> bound;   // columns that bind a variable
    std::vector<std::pair<uint32_t, lang::VarId>> equals;  // columns that repeat one of these
    std::optional<lang::VarId> assigned;                   // by a comparison, from `value`
    const lang::Term* value = nullptr;
  };
  struct Plan {
    bool is_join = true;
    std::vector<Step> steps;
  };
  class Compiler;
  class Run;

  const Plan& plan_of(const oracle::BodyTask& task);

  oracle::Context& context_;
  // By body and the literal that sees new rows. The variables that are bound before are the same
  // for all tasks with a body.
  std::map<std::pair<const void*, uint32_t>, Plan> plans_;
};

// oracle::instantiate with joins for the bodies that need no more.
oracle::Instantiation instantiate_by_joins(oracle::Context& context);

}  // namespace xlog::epistemic
