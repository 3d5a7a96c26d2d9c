#include "lang/arith.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <compare>
#include <limits>
#include <type_traits>
#include <vector>

#include "base/check.h"

namespace xlog::lang {

namespace {

template <typename T>
T number(const Value& v) {
  if constexpr (std::is_same_v<T, float>) {
    return std::bit_cast<float>(static_cast<uint32_t>(v.bits));
  } else if constexpr (std::is_same_v<T, double>) {
    return std::bit_cast<double>(v.bits);
  } else {
    return static_cast<T>(v.bits);
  }
}

Value make(uint32_t v) { return Value::u32(v); }
Value make(uint64_t v) { return Value::u64(v); }
Value make(int32_t v) { return Value::i32(v); }
Value make(int64_t v) { return Value::i64(v); }
Value make(float v) { return Value::f32(v); }
Value make(double v) { return Value::f64(v); }

// Signed overflow wraps: computed on the unsigned type of the same width.
template <typename T>
std::optional<Value> integer_op(ArithOp op, T a, T b) {
  using U = std::make_unsigned_t<T>;
  const U ua = static_cast<U>(a);
  const U ub = static_cast<U>(b);
  switch (op) {
    case ArithOp::Neg:
      return make(static_cast<T>(U{0} - ua));
    case ArithOp::Add:
      return make(static_cast<T>(ua + ub));
    case ArithOp::Sub:
      return make(static_cast<T>(ua - ub));
    case ArithOp::Mul:
      return make(static_cast<T>(ua * ub));
    case ArithOp::Div:
      if (b == 0) return std::nullopt;
      if (std::is_signed_v<T> && ub == static_cast<U>(-1)) return make(static_cast<T>(U{0} - ua));
      return make(static_cast<T>(a / b));
    case ArithOp::Mod:
      if (b == 0) return std::nullopt;
      if (std::is_signed_v<T> && ub == static_cast<U>(-1)) return make(T{0});
      return make(static_cast<T>(a % b));
    case ArithOp::Abs:
      return make(a < 0 ? static_cast<T>(U{0} - ua) : a);
    case ArithOp::Min:
      return make(a < b ? a : b);
    case ArithOp::Max:
      return make(a > b ? a : b);
    default:
      XLOG_UNREACHABLE("not an integer operation");
  }
}

template <typename T>
std::optional<Value> float_op(ArithOp op, T a, T b) {
  switch (op) {
    case ArithOp::Neg:
      return make(-a);
    case ArithOp::Add:
      return make(a + b);
    case ArithOp::Sub:
      return make(a - b);
    case ArithOp::Mul:
      return make(a * b);
    case ArithOp::Div:
      return make(a / b);
    case ArithOp::Abs:
      return make(std::fabs(a));
    case ArithOp::Min:
      return make(std::strong_order(a, b) < 0 ? a : b);
    case ArithOp::Max:
      return make(std::strong_order(a, b) > 0 ? a : b);
    default:
      XLOG_UNREACHABLE("not a float operation");
  }
}

template <typename T>
std::optional<Value> typed_op(ArithOp op, std::span<const Value> operands) {
  const T a = number<T>(operands.front());
  const T b = number<T>(operands.back());
  if constexpr (std::is_floating_point_v<T>) {
    return float_op(op, a, b);
  } else {
    return integer_op(op, a, b);
  }
}

}  // namespace

std::optional<Value> evaluate(ArithOp op, const Type& result, std::span<const Value> operands) {
  XLOG_CHECK(!operands.empty(), "an operation without operands");
  if (op == ArithOp::Pow) {
    return Value::f64(std::pow(operands.front().as_double(), operands.back().as_double()));
  }
  switch (result.kind) {
    case TypeKind::U32:
      return typed_op<uint32_t>(op, operands);
    case TypeKind::U64:
      return typed_op<uint64_t>(op, operands);
    case TypeKind::I32:
      return typed_op<int32_t>(op, operands);
    case TypeKind::I64:
      return typed_op<int64_t>(op, operands);
    case TypeKind::F32:
      return typed_op<float>(op, operands);
    case TypeKind::F64:
      return typed_op<double>(op, operands);
    default:
      XLOG_UNREACHABLE("arithmetic on a type that is not numeric");
  }
}

// ---- Casts ----

namespace {

// A float becomes an integer by way of i64 (or u64 past it) and then wraps to the width. The bounds
// are powers of two, so they are exact in f64.
template <typename T>
std::optional<Value> float_to_integer(double number) {
  constexpr double kHalf = static_cast<double>(uint64_t{1} << 63);
  const double whole = std::trunc(number);
  if (whole >= -kHalf && whole < kHalf) return make(static_cast<T>(static_cast<int64_t>(whole)));
  if (std::is_same_v<T, uint64_t> && whole >= kHalf && whole < kHalf * 2) {
    return make(static_cast<T>(static_cast<uint64_t>(whole)));
  }
  return std::nullopt;
}

template <typename T>
std::optional<Value> to_integer(const Value& value) {
  if (is_float(value.kind)) return float_to_integer<T>(value.as_double());
  return make(static_cast<T>(value.bits));
}

double to_double(const Value& value) {
  return value.kind == TypeKind::Bool ? static_cast<double>(value.bits) : value.as_double();
}

// Straight from the integer, because rounding through f64 first would round twice.
Value to_float(const Value& value) {
  if (value.kind == TypeKind::F64) return Value::f32(static_cast<float>(value.as_double()));
  if (type_class(value.kind) == TypeClass::Signed) {
    return Value::f32(static_cast<float>(value.as_signed()));
  }
  return Value::f32(static_cast<float>(value.bits));
}

}  // namespace

std::optional<Value> evaluate_cast(const Value& value, const Type& from, const Type& to,
                                   Names& names) {
  if (to.kind == TypeKind::Term) return to_term(value, from, names);
  if (from.kind == TypeKind::Term) return from_term(value, to, names);
  if (value.kind == to.kind) return value;
  switch (to.kind) {
    case TypeKind::U32:
      return to_integer<uint32_t>(value);
    case TypeKind::U64:
      return to_integer<uint64_t>(value);
    case TypeKind::I32:
      return to_integer<int32_t>(value);
    case TypeKind::I64:
      return to_integer<int64_t>(value);
    case TypeKind::F32:
      return to_float(value);
    case TypeKind::F64:
      return Value::f64(to_double(value));
    case TypeKind::Bool:
      return Value::boolean(to_double(value) != 0);
    default:
      XLOG_UNREACHABLE("a cast to a type that is not numeric");
  }
}

Value to_term(const Value& value, const Type& from, Names& names) {
  switch (from.kind) {
    case TypeKind::U32:
    case TypeKind::I32:
    case TypeKind::I64:
      return {TypeKind::I64, value.bits};
    case TypeKind::U64:
      return value.as_signed() >= 0 ? Value{TypeKind::I64, value.bits} : value;
    case TypeKind::F32:
      return Value::f64(value.as_double());
    case TypeKind::Bool:
      return Value::symbol(names.symbols.intern(value.bits != 0 ? "true" : "false"));
    case TypeKind::PredRef:
      return Value::symbol(value.as_symbol());
    case TypeKind::List: {
      const auto elements = names.terms.elements(value);
      std::vector<Value> parts(elements.begin(), elements.end());
      for (Value& part : parts) part = to_term(part, *from.element, names);
      return names.terms.list(parts);
    }
    case TypeKind::F64:
    case TypeKind::Symbol:
    case TypeKind::Compound:
    case TypeKind::Term:
      return value;
  }
  XLOG_UNREACHABLE("an unknown type");
}

std::optional<Value> from_term(const Value& value, const Type& to, Names& names) {
  Value result = value;
  switch (to.kind) {
    case TypeKind::F64:
      if (value.kind != TypeKind::F64) return std::nullopt;
      return value;
    case TypeKind::F32: {
      if (value.kind != TypeKind::F64) return std::nullopt;
      const auto narrow = Value::f32(static_cast<float>(value.as_double()));
      if (Value::f64(narrow.as_double()) != value) return std::nullopt;
      return narrow;
    }
    case TypeKind::Bool:
      if (value.kind != TypeKind::Symbol || !convert_literal(result, to, names))
        return std::nullopt;
      return result;
    case TypeKind::List: {
      if (value.kind != TypeKind::List) return std::nullopt;
      const auto elements = names.terms.elements(value);
      std::vector<Value> parts(elements.begin(), elements.end());
      for (Value& part : parts) {
        const auto converted = from_term(part, *to.element, names);
        if (!converted) return std::nullopt;
        part = *converted;
      }
      return names.terms.list(parts);
    }
    default:
      if (!convert_literal(result, to, names)) return std::nullopt;
      return result;
  }
}

// ---- Comparison ----

namespace {

bool holds(CompareOp op, std::partial_ordering order) {
  switch (op) {
    case CompareOp::Eq:
      return order == 0;
    case CompareOp::Ne:
      return order != 0;
    case CompareOp::Lt:
      return order < 0;
    case CompareOp::Le:
      return order <= 0;
    case CompareOp::Gt:
      return order > 0;
    case CompareOp::Ge:
      return order >= 0;
  }
  XLOG_UNREACHABLE("an unknown comparison");
}

}  // namespace

bool compare_values(CompareOp op, const Value& a, const Value& b, const Names& names) {
  const bool equality = op == CompareOp::Eq || op == CompareOp::Ne;
  if (equality && is_float(a.kind) && a.kind == b.kind) {
    return holds(op, a.as_double() <=> b.as_double());
  }
  if (equality) return (a == b) == (op == CompareOp::Eq);
  return holds(op, compare(a, b, names));
}

// ---- Whole terms ----

namespace {

std::optional<Value> evaluate_list(const Term& term, const VariableLookup& variable, Names& names) {
  std::vector<Value> parts;
  parts.reserve(term.args.size());
  const size_t leading = term.args.size() - (term.has_tail ? 1 : 0);
  for (size_t i = 0; i < leading; ++i) {
    const auto part = evaluate(term.args[i], variable, names);
    if (!part) return std::nullopt;
    parts.push_back(*part);
  }
  if (term.has_tail) {
    const auto tail = evaluate(term.args.back(), variable, names);
    if (!tail || tail->kind != TypeKind::List) return std::nullopt;
    const auto rest = names.terms.elements(*tail);
    parts.insert(parts.end(), rest.begin(), rest.end());
  }
  return names.terms.list(parts);
}

std::optional<Value> evaluate_condition(const Term& term, const VariableLookup& variable,
                                        Names& names) {
  const auto lhs = evaluate(term.args[0], variable, names);
  const auto rhs = evaluate(term.args[1], variable, names);
  if (!lhs || !rhs) return std::nullopt;
  const bool taken = compare_values(term.compare, *lhs, *rhs, names);
  return evaluate(term.args[taken ? 2 : 3], variable, names);
}

}  // namespace

// Recursion follows the term, whose nesting the parser limits.
std::optional<Value> evaluate(const Term& term, const VariableLookup& variable, Names& names) {
  switch (term.kind) {
    case TermKind::Variable:
      return variable(term.var);
    case TermKind::Constant:
      return term.value;
    case TermKind::List:
      return evaluate_list(term, variable, names);
    case TermKind::Compound:
    case TermKind::Arith:
      break;
  }
  if (term.kind == TermKind::Arith && term.op == ArithOp::If) {
    return evaluate_condition(term, variable, names);
  }
  std::vector<Value> operands;
  operands.reserve(term.args.size());
  for (const Term& arg : term.args) {
    const auto operand = evaluate(arg, variable, names);
    if (!operand) return std::nullopt;
    operands.push_back(*operand);
  }
  if (term.kind == TermKind::Compound) return names.terms.compound(term.functor, operands);
  if (term.op == ArithOp::Cast) {
    return evaluate_cast(operands[0], term.args[0].type, term.type, names);
  }
  return evaluate(term.op, term.type, operands);
}

}  // namespace xlog::lang
