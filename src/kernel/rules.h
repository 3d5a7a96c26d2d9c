// The rule sets and the functions that rules may name. The rules themselves: rules_simplify.h,
// rules_facts.h, rules_strength.h.
#pragma once

#include "kernel/rewrite.h"
#include "kernel/rule.h"

namespace xlog::kernel {

// ---- functions that rules name with "!" ----

Id fold_code(Rewriter& rewriter, Id node, std::span<const Id> names);     // constants alone
Id order_code(Rewriter& rewriter, Id node, std::span<const Id> names);    // commutative operands
Id shift_code(Rewriter& rewriter, Id node, std::span<const Id> names);    // amounts below the width
Id bitcast_code(Rewriter& rewriter, Id node, std::span<const Id> names);  // bitcast of bitcast
Id reciprocal_code(Rewriter& rewriter, Id node, std::span<const Id> names);  // float / power of two
Id exact_code(Rewriter& rewriter, Id node, std::span<const Id> names);       // one possible value
Id divide_code(Rewriter& rewriter, Id node, std::span<const Id> names);      // by a constant
Id remainder_code(Rewriter& rewriter, Id node, std::span<const Id> names);   // by a constant

inline constexpr NamedCode kRuleCodes[] = {
    {"fold", fold_code},       {"order", order_code},           {"shift", shift_code},
    {"exact", exact_code},     {"divide", divide_code},         {"remainder", remainder_code},
    {"bitcast", bitcast_code}, {"reciprocal", reciprocal_code},
};

consteval Rule rule(std::string_view name, std::string_view pattern, std::string_view result,
                    std::string_view guard = "") {
  Rule made;
  made.name = name;
  made.pattern = pattern;
  made.result = result;
  made.guard = guard;
  RuleReader(made, kRuleCodes).read();
  return made;
}

// ---- rule sets ----

// Cost first, then size, then ops that others see through less well, then operands out of order.
Weight simplify_measure(const Graph& graph, Id node);

const RuleSet& simplify_rules();  // identities, folding, canonical forms
const RuleSet& facts_rules();     // those, and what intervals and known bits allow
const RuleSet& strength_rules();  // those, and cheaper forms of mul, div and rem by constants

// ---- the passes over them ----

Id simplify(PassContext& context, Id kernel);
Id use_facts(PassContext& context, Id kernel);
Id reduce_strength(PassContext& context, Id kernel);

}  // namespace xlog::kernel
