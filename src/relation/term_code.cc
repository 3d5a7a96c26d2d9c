#include "relation/term_code.h"

#include "base/check.h"
#include "kernel/library.h"

namespace xlog::relation {

using kernel::Type;
using lang::ArithOp;
using lang::CompareOp;
using lang::Term;
using lang::TermKind;
using lang::TypeKind;

namespace {

std::optional<Value> both(std::optional<Value> a, std::optional<Value> b) {
  if (!a || !b) return a ? a : b;
  return *a & *b;
}

Value zero_of(Builder& k, Type type) { return k.number(type, 0); }

// Division by -1 wraps in the language; the kernel's division gives the same.
TermCode divide(Builder& k, ArithOp op, Value a, Value b) {
  if (is_float(a.type())) return {a / b, {}};
  return {op == ArithOp::Div ? a / b : a % b, b != zero_of(k, b.type())};
}

Value negated(Builder& k, Value a) {
  // 0 - a would lose the sign of a zero.
  if (!is_float(a.type())) return zero_of(k, a.type()) - a;
  return a * k.number(a.type(), -1);
}

Value absolute(Builder& k, Value a) {
  switch (a.type()) {
    case Type::U32:
    case Type::U64:
      return a;
    case Type::I32:
    case Type::I64:
      return k.select(a < zero_of(k, a.type()), negated(k, a), a);
    case Type::F32:
      return k.bitcast(Type::F32, k.bitcast(Type::U32, a) & 0x7fffffff);
    default:
      return k.bitcast(Type::F64, k.bitcast(Type::U64, a) & INT64_MAX);
  }
}

// By the total order, where floats have one beside that of IEEE.
Value is_below(Builder& k, Value a, Value b) {
  const bool is_float = a.type() == Type::F32 || a.type() == Type::F64;
  return is_float ? kernel::order_key(k, a) < kernel::order_key(k, b) : a < b;
}

TermCode arithmetic(Builder& k, ArithOp op, Value a, Value b) {
  switch (op) {
    case ArithOp::Neg:
      return {negated(k, a), {}};
    case ArithOp::Add:
      return {a + b, {}};
    case ArithOp::Sub:
      return {a - b, {}};
    case ArithOp::Mul:
      return {a * b, {}};
    case ArithOp::Div:
    case ArithOp::Mod:
      return divide(k, op, a, b);
    case ArithOp::Abs:
      return {absolute(k, a), {}};
    case ArithOp::Min:
      return {k.select(is_below(k, a, b), a, b), {}};
    case ArithOp::Max:
      return {k.select(is_below(k, b, a), a, b), {}};
    default:
      XLOG_UNREACHABLE("the planner lets no other arithmetic through");
  }
}

// A float becomes an integer by way of i64, or u64 past it for u64.
TermCode float_to_integer(Builder& k, Value value, Type to) {
  const Type type = value.type();
  const Value half = k.cast(type, k.constant(kernel::Scalar::u64(uint64_t{1} << 63)));
  const Value low = zero_of(k, type) - half;
  // Just below -2^63 truncates to it; in both widths the next float is a whole number.
  const Value in_signed = (low <= value) & (value < half);
  const Value narrow = k.cast(to, k.cast(Type::I64, value));
  if (to != Type::U64) return {narrow, in_signed};
  const Value in_unsigned = (half <= value) & (value < half + half);
  return {k.select(in_signed, narrow, k.cast(Type::U64, value)), in_signed | in_unsigned};
}

TermCode cast_code(Builder& k, Value value, TypeKind from, TypeKind to) {
  if (from == to) return {value, {}};
  const Type type = column_type(to);
  if (to == TypeKind::Bool) {
    return {k.cast(Type::U32, value != zero_of(k, value.type())), {}};
  }
  if (lang::is_float(from) && lang::is_integer(to)) return float_to_integer(k, value, type);
  if (lang::is_integer(from) && lang::is_integer(to)) {
    // Through 64 bits with the sign of the source.
    const Type wide = lang::type_class(from) == lang::TypeClass::Signed ? Type::I64 : Type::U64;
    return {k.cast(type, k.cast(wide, value)), {}};
  }
  return {k.cast(type, value), {}};
}

}  // namespace

Value compare_code(Builder& k, CompareOp op, TypeKind kind, Value a, Value b) {
  if (op == CompareOp::Eq) return a == b;
  if (op == CompareOp::Ne) return !(a == b);
  if (lang::is_float(kind)) {
    a = kernel::order_key(k, a);
    b = kernel::order_key(k, b);
  }
  switch (op) {
    case CompareOp::Lt:
      return a < b;
    case CompareOp::Le:
      return !(b < a);
    case CompareOp::Gt:
      return b < a;
    default:
      return !(a < b);
  }
}

TermCode term_code(Builder& k, const Term& term, const Slots& slots) {
  switch (term.kind) {
    case TermKind::Variable:
      XLOG_CHECK(slots[term.var.index].has_value(), "a variable is used before it is bound");
      return {*slots[term.var.index], {}};
    case TermKind::Constant:
      return {k.constant(to_scalar(term.value)), {}};
    case TermKind::Arith:
      break;
    default:
      XLOG_UNREACHABLE("the planner lets no patterns through");
  }
  std::vector<TermCode> args;
  for (const Term& arg : term.args) args.push_back(term_code(k, arg, slots));
  if (term.op == ArithOp::Cast) {
    TermCode made = cast_code(k, args[0].value, term.args[0].type.kind, term.type.kind);
    made.exists = both(args[0].exists, made.exists);
    return made;
  }
  if (term.op == ArithOp::If) {
    const Value holds =
        compare_code(k, term.compare, term.args[0].type.kind, args[0].value, args[1].value);
    TermCode made{k.select(holds, args[2].value, args[3].value),
                  both(args[0].exists, args[1].exists)};
    if (args[2].exists || args[3].exists) {
      const Value yes = k.boolean(true);
      made.exists = both(
          made.exists, k.select(holds, args[2].exists.value_or(yes), args[3].exists.value_or(yes)));
    }
    return made;
  }
  TermCode made = arithmetic(k, term.op, args[0].value, args.back().value);
  for (const TermCode& arg : args) made.exists = both(made.exists, arg.exists);
  return made;
}

}  // namespace xlog::relation
