#include "lang/fold.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace xlog::lang {

namespace {

using ast::BinaryOp;
using ast::Expr;
using ast::ExprKind;

bool is_integer_value(const Value& v) { return v.kind == TypeKind::I64 || v.kind == TypeKind::U64; }
bool is_number(const Value& v) { return is_integer_value(v) || v.kind == TypeKind::F64; }

struct Folder {
  Names& names;
  Diagnostics& diagnostics;

  std::nullopt_t refuse(Code code, Span span, std::string message) {
    diagnostics.report(code, span, std::move(message));
    return std::nullopt;
  }

  std::nullopt_t overflow(Span span) {
    return refuse(Code::InvalidNumber, span, "this constant does not fit in 64 bits");
  }

  std::optional<Value> number(const Expr& e) {
    std::optional<Value> value = any(e);
    if (value && !is_number(*value)) {
      return refuse(Code::InvalidArgument, e.span, "arithmetic needs a number here");
    }
    return value;
  }

  std::optional<Value> any(const Expr& e) {
    switch (e.kind) {
      case ExprKind::Variable:
      case ExprKind::Anonymous:
        return refuse(Code::NotGround, e.span,
                      e.kind == ExprKind::Anonymous
                          ? std::string("`_` stands for any value; a constant is needed here")
                          : fmt::format("`{}` is a variable; a constant is needed here",
                                        names.symbols.text(e.name)));
      case ExprKind::Integer:
        return integer_literal(e);
      case ExprKind::Float:
        return Value::f64(e.number);
      case ExprKind::String:
        return Value::symbol(e.name);
      case ExprKind::Name:
        return name(e);
      case ExprKind::List:
        return list(e);
      case ExprKind::Negate:
        return negate(e);
      case ExprKind::Binary:
        return binary(e);
      case ExprKind::Conditional:
        return conditional(e);
      case ExprKind::Interval:
        return refuse(Code::InvalidInterval, e.span,
                      "an interval must be a whole argument, not part of a term");
      case ExprKind::Aggregate:
        return refuse(Code::InvalidArgument, e.span, "an aggregate is not a constant");
    }
    return std::nullopt;
  }

  std::optional<Value> name(const Expr& e) {
    if (!e.has_parens) return Value::symbol(e.name);
    if (is_arithmetic(e, names.symbols)) return builtin(e);
    std::optional<std::vector<Value>> parts = values(e.args, e.args.size());
    if (!parts) return std::nullopt;
    return names.terms.compound(e.name, *parts);
  }

  std::optional<std::vector<Value>> values(const std::vector<Expr>& exprs, size_t count) {
    std::vector<Value> out;
    out.reserve(count);
    for (size_t i = 0; i < count; ++i) {
      const std::optional<Value> value = any(exprs[i]);
      if (!value) return std::nullopt;
      out.push_back(*value);
    }
    return out;
  }

  std::optional<Value> list(const Expr& e) {
    std::optional<std::vector<Value>> parts = values(e.args, e.args.size() - (e.has_tail ? 1 : 0));
    if (!parts) return std::nullopt;
    if (e.has_tail) {
      const std::optional<Value> tail = any(e.args.back());
      if (!tail) return std::nullopt;
      if (tail->kind != TypeKind::List) {
        return refuse(Code::InvalidArgument, e.args.back().span, "the tail of a list is a list");
      }
      const auto rest = names.terms.elements(*tail);
      parts->insert(parts->end(), rest.begin(), rest.end());
    }
    return names.terms.list(*parts);
  }

  std::optional<Value> negate(const Expr& e) {
    const std::optional<Value> x = number(e.args[0]);
    if (!x) return std::nullopt;
    if (x->kind == TypeKind::F64) return Value::f64(-x->as_double());
    int64_t result = 0;
    if (x->kind == TypeKind::U64 || __builtin_sub_overflow(int64_t{0}, x->as_signed(), &result)) {
      return overflow(e.span);
    }
    return Value::i64(result);
  }

  std::optional<Value> binary(const Expr& e) {
    const std::optional<Value> l = number(e.args[0]);
    const std::optional<Value> r = number(e.args[1]);
    if (!l || !r) return std::nullopt;
    if (l->kind == TypeKind::F64 || r->kind == TypeKind::F64) {
      return floats(e, l->as_double(), r->as_double());
    }
    if (l->kind == TypeKind::U64 || r->kind == TypeKind::U64) return overflow(e.span);
    return integers(e, l->as_signed(), r->as_signed());
  }

  std::optional<Value> floats(const Expr& e, double l, double r) {
    switch (e.binary_op) {
      case BinaryOp::Add:
        return Value::f64(l + r);
      case BinaryOp::Sub:
        return Value::f64(l - r);
      case BinaryOp::Mul:
        return Value::f64(l * r);
      case BinaryOp::Div:
        return Value::f64(l / r);
      case BinaryOp::Mod:
        break;
    }
    return refuse(Code::InvalidArgument, e.span, "`%` takes integers");
  }

  std::optional<Value> integers(const Expr& e, int64_t l, int64_t r) {
    int64_t result = 0;
    bool too_large = false;
    switch (e.binary_op) {
      case BinaryOp::Add:
        too_large = __builtin_add_overflow(l, r, &result);
        break;
      case BinaryOp::Sub:
        too_large = __builtin_sub_overflow(l, r, &result);
        break;
      case BinaryOp::Mul:
        too_large = __builtin_mul_overflow(l, r, &result);
        break;
      case BinaryOp::Div:
      case BinaryOp::Mod:
        if (r == 0) return refuse(Code::InvalidArgument, e.span, "division by zero");
        too_large = l == INT64_MIN && r == -1;
        if (!too_large) result = e.binary_op == BinaryOp::Div ? l / r : l % r;
        break;
    }
    if (too_large) return overflow(e.span);
    return Value::i64(result);
  }

  std::optional<Value> builtin(const Expr& e) {
    const std::string_view fn = names.symbols.text(e.name);
    if (fn == "cast") {
      return refuse(Code::InvalidArgument, e.span, "`cast` has no place in a constant");
    }
    const std::optional<Value> x = number(e.args[0]);
    if (!x) return std::nullopt;
    if (fn == "abs") {
      if (x->kind == TypeKind::F64) return Value::f64(std::fabs(x->as_double()));
      if (x->kind == TypeKind::U64 || x->as_signed() >= 0) return x;
      if (x->as_signed() == INT64_MIN) return overflow(e.span);
      return Value::i64(-x->as_signed());
    }
    const std::optional<Value> y = number(e.args[1]);
    if (!y) return std::nullopt;
    if (fn == "pow") return Value::f64(std::pow(x->as_double(), y->as_double()));
    const bool first = fn == "min" ? less(*x, *y) : less(*y, *x);
    const Value chosen = first ? *x : *y;
    const bool to_float = x->kind == TypeKind::F64 || y->kind == TypeKind::F64;
    return to_float ? Value::f64(chosen.as_double()) : chosen;
  }

  static bool less(const Value& a, const Value& b) {
    if (a.kind == TypeKind::F64 || b.kind == TypeKind::F64) return a.as_double() < b.as_double();
    if (a.kind != b.kind) return b.kind == TypeKind::U64;  // U64 only past the range of I64
    return a.kind == TypeKind::U64 ? a.bits < b.bits : a.as_signed() < b.as_signed();
  }

  std::optional<Value> conditional(const Expr& e) {
    const std::optional<Value> l = any(e.args[0]);
    const std::optional<Value> r = any(e.args[1]);
    if (!l || !r) return std::nullopt;
    bool lt = false;
    bool eq = false;
    if (is_number(*l) && is_number(*r)) {
      lt = less(*l, *r);
      eq = !lt && !less(*r, *l);
    } else {
      const auto order = compare(*l, *r, names);
      lt = order < 0;
      eq = order == 0;
    }
    return any(e.args[holds(e.compare_op, lt, eq) ? 2 : 3]);
  }

  static bool holds(ast::CompareOp op, bool lt, bool eq) {
    switch (op) {
      case ast::CompareOp::Eq:
        return eq;
      case ast::CompareOp::Ne:
        return !eq;
      case ast::CompareOp::Lt:
        return lt;
      case ast::CompareOp::Le:
        return lt || eq;
      case ast::CompareOp::Gt:
        return !lt && !eq;
      case ast::CompareOp::Ge:
        return !lt;
    }
    return false;
  }
};

bool can_be_number(const Expr& e) {
  switch (e.kind) {
    case ExprKind::String:
    case ExprKind::List:
      return false;
    case ExprKind::Name:
      return e.has_parens;
    default:
      return true;
  }
}

}  // namespace

Value integer_literal(const Expr& expr) {
  if (expr.negative) return {TypeKind::I64, uint64_t{0} - expr.magnitude};
  if (expr.magnitude <= static_cast<uint64_t>(INT64_MAX)) {
    return Value::i64(static_cast<int64_t>(expr.magnitude));
  }
  return Value::u64(expr.magnitude);
}

std::optional<Value> fold(const Expr& expr, Names& names, Diagnostics& diagnostics) {
  return Folder{names, diagnostics}.any(expr);
}

bool is_builtin_function(std::string_view name, size_t arity) {
  if (name == "abs") return arity == 1;
  return arity == 2 && is_builtin_function_name(name);
}

bool is_builtin_function_name(std::string_view name) {
  return name == "abs" || name == "min" || name == "max" || name == "pow" || name == "cast";
}

bool is_arithmetic(const Expr& expr, const Interner& names) {
  switch (expr.kind) {
    case ExprKind::Binary:
    case ExprKind::Negate:
    case ExprKind::Conditional:
      return true;
    case ExprKind::Name: {
      if (!expr.has_parens || !is_builtin_function(names.text(expr.name), expr.args.size())) {
        return false;
      }
      if (names.text(expr.name) == "cast") {
        return expr.args[1].kind == ExprKind::Name && !expr.args[1].has_parens;
      }
      return std::all_of(expr.args.begin(), expr.args.end(), can_be_number);
    }
    default:
      return false;
  }
}

}  // namespace xlog::lang
