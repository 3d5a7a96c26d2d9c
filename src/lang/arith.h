// What arithmetic, casts and comparisons mean, for constant folding and the reference evaluator;
// every other evaluator must agree bit by bit.
//
// Integers wrap at their width. Division and remainder by zero have no value; INT_MIN / -1 wraps;
// division truncates toward zero and `%` has the sign of the dividend. Floats follow IEEE 754 in
// their own width and give the one canonical NaN. min and max go by the total order, as the
// comparisons < <= > >= do: -0.0 is below 0.0 and NaN above all, whichever operand comes first. pow
// works in f64.
#pragma once

#include <functional>
#include <optional>
#include <span>

#include "lang/program.h"
#include "lang/value.h"

namespace xlog::lang {

// One operation on values of its operand types; every operator but Cast and If. nullopt: no value.
std::optional<Value> evaluate(ArithOp op, const Type& result, std::span<const Value> operands);

// cast(value, to) of a value of static type `from`. Between numbers and bool: integers wrap through
// 64 bits; a float is truncated to 64 bits, where NaN and what is out of range has no value;
// bool is `!= 0`, and 0 or 1 as a number. To and from `term` (made by inference, not written by
// users) the value stays the same: to_term and from_term.
std::optional<Value> evaluate_cast(const Value& value, const Type& from, const Type& to,
                                   Names& names);

// Inside terms a value has one form whatever column it came from: integers are i64 (u64 past its
// range), floats f64, bools the symbols true and false, predicate references symbols. So f(X) is
// the same term for X of u32 and of i64.
Value to_term(const Value& value, const Type& from, Names& names);
// The inverse. nullopt when the term holds no value of that type.
std::optional<Value> from_term(const Value& value, const Type& to, Names& names);

// `=` and `!=` on floats are IEEE, `< <= > >=` their total order. Everything else: the canonical
// order of values.
bool compare_values(CompareOp op, const Value& a, const Value& b, const Names& names);

// The value of a typed term: builds lists and compound terms, evaluates arithmetic; of a condition
// only the branch that is taken.
using VariableLookup = std::function<Value(VarId)>;
std::optional<Value> evaluate(const Term& term, const VariableLookup& variable, Names& names);

}  // namespace xlog::lang
