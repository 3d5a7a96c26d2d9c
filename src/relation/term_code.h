// Terms of the language as kernel code. Every operation gives the bits that lang/arith.h defines.
#pragma once

#include <optional>
#include <vector>

#include "lang/program.h"
#include "relation/row_code.h"

namespace xlog::relation {

// The values of a rule's variables, by number; those that no step has bound are empty.
using Slots = std::vector<std::optional<Value>>;

struct TermCode {
  Value value;
  std::optional<Value> exists;  // whether it has a value; nothing: it always has
};
TermCode term_code(Builder& k, const lang::Term& term, const Slots& slots);

// Comparison of two values of one type, as lang::compare_values has it.
Value compare_code(Builder& k, lang::CompareOp op, lang::TypeKind kind, Value a, Value b);

}  // namespace xlog::relation
