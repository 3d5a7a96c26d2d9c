// A join of a rule as a rule of its own, whose head is a helper predicate that rules read instead.
#pragma once

#include <string_view>
#include <vector>

#include "lang/load.h"
#include "lang/program.h"
#include "plan/pipeline.h"

namespace xlog::plan {

// Literals of a body, in order, and the variables of the rule that the columns of the helper are.
struct JoinPlace {
  std::vector<uint32_t> literals;
  std::vector<VarId> columns;
};

// Instances without a value are counted, so nobody changes how many there are.
bool computes(const lang::Literal& literal);

// Adds a helper, the last predicate, with its rule, the last rule. Its name is the prefix and the
// number of the predicate.
PredId add_helper(lang::Program& program, lang::Session& session, std::string_view prefix,
                  uint32_t rule, const JoinPlace& join);
void remove_last_helper(lang::Program& program);

// Has a rule read the helper in all these places.
void read_helper(lang::Rule& rule, PredId helper, const std::vector<JoinPlace>& places);

// "__xlog_shared_7(X, Z)", as the head of its rule.
std::string helper_text(const lang::Program& program, PredId helper, const lang::Names& names);
// "likes(X, Y), likes(Z, Y)"
std::string join_text(const lang::Program& program, const lang::Rule& rule,
                      const std::vector<uint32_t>& literals, const lang::Names& names);

// Whether a multiway join of some version of the rule would lose some of its atoms: those that it
// takes at once, and those that bind what it looks up.
bool breaks_meet(const lang::Rule& rule, const std::vector<uint32_t>& literals,
                 const std::vector<Pipeline>& versions);

}  // namespace xlog::plan
