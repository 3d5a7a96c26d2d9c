// What a `host` line of RIR text asks is a literal of one of the program's rules, found by its
// text: types, and which variables stand only in braces, are known there.
#pragma once

#include <functional>
#include <string_view>
#include <vector>

#include "lang/program.h"

namespace xlog::plan {

// What the lines of a plan say of its rule.
struct RirSketch {
  std::vector<std::string_view> asked;  // literals of the host
  std::vector<std::string_view> read;   // names of predicates
  std::string_view head;                // "" for a constraint
};

// The first rule that has all that is asked and reads all that is read; one of the same head where
// there is one. Null where there is none.
const lang::Rule* find_rule(const RirSketch& sketch, const lang::Program& program,
                            const lang::Names& names);

struct HostLiteral {
  lang::Literal literal;
  std::vector<lang::VarId> outputs;  // that have values afterwards
};

// The literal of a rule that is written so, with other variables: `variable` gives them, from those
// of the rule and their numbers as helpers, or 0.
HostLiteral host_literal(
    const lang::Rule& rule, std::string_view text, const lang::Program& program,
    const lang::Names& names,
    const std::function<lang::VarId(const lang::Variable& known, uint32_t helper)>& variable);

}  // namespace xlog::plan
