// Safety and the order of evaluation. A body is ordered by taking again and again the best literal
// that can be evaluated with what is bound so far: first what only filters, then what computes,
// then atoms that share a variable with what is bound, then other atoms; ties go to the one written
// first. What is never ready is unsafe and reported.
//
// Who binds what:
// - `p(X)` binds all its variables, those inside list and compound patterns too.
// - `know p(X)`, `possible p(X)` bind X when p lies in another component than the head (so below
//   it), in constraints, and where they must be founded: in the rule's own recursion only what
//   nothing else binds.
// - `not p(X)`, `not not p(X)` and the other modal forms bind nothing: what they name must be bound
//   before, and `_` means "some value".
// - `X = e`, `e = X`, `X is e` bind X (or the variables of a list or compound pattern) when e is
//   bound; `X < e`, ... bind nothing.
// - Built-ins bind by their modes (lang/builtins.def).
// - `N = count : { body }` binds N; variables that occur outside the braces too must have a value.
// - `findall(T, goal, L)` binds L; the same for the variables of T and goal.
#pragma once

#include <vector>

#include "logic/analysis.h"

namespace xlog::logic {

// The orders of one rule: its body, then the conditions of its choice elements with the body's
// variables bound. Reports what is unsafe; the order is then complete but not to be used.
RuleOrder order_rule(const lang::Program& program, uint32_t rule,
                     const std::vector<uint32_t>& component_of, lang::Session& session);

// The order of a safe rule's body when `bound` variables have values before it starts.
BodyOrder order_body_given(const lang::Program& program, const lang::Rule& rule,
                           const std::vector<uint32_t>& component_of,
                           const std::vector<lang::VarId>& bound);

// Whether the literal, in its turn, binds a variable that nothing before it has bound.
bool binds_in_turn(const lang::Rule& rule, const BodyOrder& order, uint32_t literal);

// Appends the variables that have a value once the literal has been evaluated in its turn.
void collect_bound_by(const lang::Literal& literal, std::vector<lang::VarId>& out);

}  // namespace xlog::logic
