// The value of an expression without variables, for facts, constants, probabilities and intervals.
// Values are untyped literals as in lang/facts.h: I64 (U64 past its range), F64, Symbol, or a list
// or compound term of such.
#pragma once

#include <optional>

#include "base/diagnostic.h"
#include "lang/ast.h"
#include "lang/value.h"

namespace xlog::lang {

Value integer_literal(const ast::Expr& expr);  // of ExprKind::Integer

// nullopt when there is none; the reason has been reported: a variable (NotGround), an overflow
// past 64 bits (InvalidNumber), a division by zero or an operand that is no number
// (InvalidArgument), an interval (InvalidInterval). Integers are computed as i64; an integer beside
// a float becomes one. An unknown f(x) is a compound term.
std::optional<Value> fold(const ast::Expr& expr, Names& names, Diagnostics& diagnostics);

// abs/1, min/2, max/2, pow/2, cast/2.
bool is_builtin_function(std::string_view name, size_t arity);
bool is_builtin_function_name(std::string_view name);

// Whether the expression is computed rather than a term: an operator, a condition, or a built-in
// function whose arguments can be numbers, so that max(X, 1) is and the compound term max(a, b) is
// not.
bool is_arithmetic(const ast::Expr& expr, const Interner& names);

}  // namespace xlog::lang
