// What one literal needs and gives: the table in order.h as code.
#pragma once

#include <vector>

#include "logic/analysis.h"

namespace xlog::logic {

struct Binding {
  // Sets of variables, possibly with repetitions. The literal can be evaluated when all variables
  // of one set are bound.
  std::vector<std::vector<lang::VarId>> ways;
  std::vector<lang::VarId> outputs;  // bound once it has been evaluated
  std::vector<lang::VarId> names;    // when all of these are bound it only filters
  bool generates = false;            // enumerates the rows of a predicate
  bool believes = false;             // a modal literal over the rule's own recursion, which binds
  bool compares = false;             // a comparison, which does not choose the bits of floats
  bool anchored = false;             // an atom with a constant among its arguments
};

// Where a literal stands.
struct Scope {
  const lang::Program& program;
  const lang::Rule& rule;
  const std::vector<uint32_t>& component_of;
  // By variable: how often it occurs in the rule outside the braces of the aggregates and findalls
  // that do not enclose this scope. A variable inside braces groups when it is visible outside
  // them, and is local otherwise.
  std::vector<uint32_t> visible;
};

// Of the body of a rule as a whole.
std::vector<uint32_t> visible_in_body(const lang::Rule& rule);

Binding binding_of(const lang::Literal& literal, const Scope& scope);

// A positive modal literal over the component of the head binds only where it must be founded:
// elsewhere a guess could make it true of anything. It binds what nothing else does.
bool modal_binds(const lang::Literal& literal, const Scope& scope);

// Calls of the two halves of a literal: what stands outside braces, and what stands inside (the
// variables of nested braces not included in either).
void collect_outside(const lang::Literal& literal, std::vector<lang::VarId>& out);
void collect_inside(const lang::Literal& literal, std::vector<lang::VarId>& out);
bool has_braces(const lang::Literal& literal);

// The term whose values an aggregate or findall collects; null for a plain count.
const lang::Term* collected_term(const lang::Literal& literal);

}  // namespace xlog::logic
