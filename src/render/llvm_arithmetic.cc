// Pure ops as LLVM instructions. What LLVM leaves undefined (a shift by the width, a division by
// zero, a float out of range) is guarded here.
#include "base/check.h"
#include "render/llvm_writer.h"

namespace xlog::render {

using kernel::Fold;
using kernel::Graph;
using kernel::Id;
using kernel::Op;
using kernel::Scalar;
using kernel::Type;

namespace {

// The suffix of an overloaded intrinsic: llvm.fma.f32, llvm.ctpop.i64.
std::string_view suffix(Type type) {
  if (type == Type::F32) return "f32";
  if (type == Type::F64) return "f64";
  return llvm_type(type);
}

std::string min_max(LlvmWriter& writer, Op op, Type type, const std::string& a,
                    const std::string& b) {
  const std::string_view word = llvm_type(type);
  const std::string name = fmt::format("llvm.{}{}.{}", is_signed(type) ? 's' : 'u',
                                       op == Op::Min ? "min" : "max", suffix(type));
  return writer.call(word, name, fmt::format("{0}, {0}", word),
                     {fmt::format("{} {}", word, a), fmt::format("{} {}", word, b)});
}

std::string multiply_high(LlvmWriter& writer, Type type, const std::string& a,
                          const std::string& b) {
  const std::string_view word = llvm_type(type);
  const uint32_t bits = bits_of(type);
  const std::string_view extend = is_signed(type) ? "sext" : "zext";
  const std::string wide_a = writer.emit("{} {} {} to i{}", extend, word, a, bits * 2);
  const std::string wide_b = writer.emit("{} {} {} to i{}", extend, word, b, bits * 2);
  const std::string product = writer.emit("mul i{} {}, {}", bits * 2, wide_a, wide_b);
  const std::string high = writer.emit("lshr i{} {}, {}", bits * 2, product, bits);
  return writer.emit("trunc i{} {} to {}", bits * 2, high, word);
}

// Divides by something harmless where the divisor is 0 or -1, and picks the answer afterwards: no
// branch, so that loops stay vectorisable.
std::string divide(LlvmWriter& writer, Id node) {
  const Graph& graph = writer.graph;
  const Type type = graph.type(node);
  const std::string_view word = llvm_type(type);
  const bool is_div = graph.op(node) == Op::Div;
  const std::string_view name =
      is_signed(type) ? (is_div ? "sdiv" : "srem") : (is_div ? "udiv" : "urem");
  const Id divisor = graph.operand(node, 1);
  const std::string a = writer.value(graph.operand(node, 0));
  const std::string b = writer.value(divisor);
  if (graph.is_const(divisor)) {
    const Scalar value = graph.value(divisor);
    if (value.bits != 0 && !(is_signed(type) && value.as_i64() == -1)) {
      return writer.emit("{} {} {}, {}", name, word, a, b);
    }
  }
  const std::string by_zero = writer.emit("icmp eq {} {}, 0", word, b);
  std::string minus_one, harmful = by_zero;
  if (is_signed(type)) {
    minus_one = writer.emit("icmp eq {} {}, -1", word, b);
    harmful = writer.emit("or i1 {}, {}", by_zero, minus_one);
  }
  const std::string safe = writer.emit("select i1 {}, {} 1, {} {}", harmful, word, word, b);
  std::string result = writer.emit("{} {} {}, {}", name, word, a, safe);
  if (is_div && is_signed(type)) {
    const std::string negated = writer.emit("sub {} 0, {}", word, a);
    result = writer.emit("select i1 {}, {} {}, {} {}", minus_one, word, negated, word, result);
  }
  // A remainder by -1 was taken by 1, which gives the same 0.
  return writer.emit("select i1 {}, {} {}, {} {}", by_zero, word, is_div ? "0" : a, word, result);
}

std::string shift(LlvmWriter& writer, Id node) {
  const Type type = writer.graph.type(node);
  const std::string_view word = llvm_type(type);
  const std::string_view name = writer.graph.op(node) == Op::Shl ? "shl"
                                : is_signed(type)                ? "ashr"
                                                                 : "lshr";
  const std::string amount = writer.emit(
      "and {} {}, {}", word, writer.value(writer.graph.operand(node, 1)), bits_of(type) - 1);
  return writer.emit("{} {} {}, {}", name, word, writer.value(writer.graph.operand(node, 0)),
                     amount);
}

std::string count_bits(LlvmWriter& writer, Id node) {
  const Op op = writer.graph.op(node);
  const Id operand = writer.graph.operand(node, 0);
  const Type type = writer.graph.type(operand);
  const std::string_view word = llvm_type(type);
  const std::string argument = writer.typed(operand);
  std::string count;
  if (op == Op::Popc) {
    count = writer.call(word, fmt::format("llvm.ctpop.{}", word), word, {argument});
  } else {
    // `false`: the count of zero is defined, the width.
    count = writer.call(word, fmt::format("llvm.{}.{}", op == Op::Clz ? "ctlz" : "cttz", word),
                        fmt::format("{}, i1", word), {argument, "i1 false"});
  }
  if (type == Type::U8) return writer.emit("zext i8 {} to i32", count);
  if (bits_of(type) == 64) return writer.emit("trunc i64 {} to i32", count);
  return count;
}

std::string compare(LlvmWriter& writer, Id node) {
  const Id a = writer.graph.operand(node, 0), b = writer.graph.operand(node, 1);
  const Type type = writer.graph.type(a);
  const bool equal = writer.graph.op(node) == Op::Eq;
  std::string_view name;
  if (is_float(type)) {
    name = equal ? "fcmp oeq" : "fcmp olt";
  } else {
    name = equal ? "icmp eq" : is_signed(type) ? "icmp slt" : "icmp ult";
  }
  return writer.emit("{} {}, {}", name, writer.typed(a), writer.value(b));
}

std::string float_to_int(LlvmWriter& writer, Type to, Id operand) {
  const Type from = writer.graph.type(operand);
  const std::string name =
      fmt::format("llvm.fpto{}i.sat.{}.{}", is_signed(to) ? 's' : 'u', llvm_type(to), suffix(from));
  return writer.call(llvm_type(to), name, llvm_type(from), {writer.typed(operand)});
}

std::string cast(LlvmWriter& writer, Id node) {
  const Id operand = writer.graph.operand(node, 0);
  const Type from = writer.graph.type(operand), to = writer.graph.type(node);
  const std::string argument = writer.typed(operand);
  if (from == to) return writer.value(operand);
  if (to == Type::Bool) {
    if (is_float(from)) return writer.emit("fcmp une {}, 0.0", argument);
    return writer.emit("icmp ne {}, 0", argument);
  }
  if (is_float(from)) {
    if (is_int(to)) return float_to_int(writer, to, operand);
    return writer.emit("{} {} to {}", to == Type::F64 ? "fpext" : "fptrunc", argument,
                       llvm_type(to));
  }
  if (is_float(to)) {
    return writer.emit("{} {} to {}", is_signed(from) ? "sitofp" : "uitofp", argument,
                       llvm_type(to));
  }
  if (bits_of(from) == bits_of(to)) return writer.value(operand);
  if (bits_of(from) > bits_of(to)) return writer.emit("trunc {} to {}", argument, llvm_type(to));
  return writer.emit("{} {} to {}", is_signed(from) ? "sext" : "zext", argument, llvm_type(to));
}

std::string bitcast(LlvmWriter& writer, Id node) {
  const Id operand = writer.graph.operand(node, 0);
  const std::string_view from = llvm_type(writer.graph.type(operand));
  const std::string_view to = llvm_type(writer.graph.type(node));
  if (from == to) return writer.value(operand);
  return writer.emit("bitcast {} to {}", writer.typed(operand), to);
}

std::string float_call(LlvmWriter& writer, Id node, std::string_view name) {
  const std::string_view word = llvm_type(writer.graph.type(node));
  std::string types, arguments;
  for (Id operand : writer.graph.operands(node)) {
    const std::string_view comma = types.empty() ? "" : ", ";
    types += fmt::format("{}{}", comma, word);
    arguments += fmt::format("{}{}", comma, writer.typed(operand));
  }
  return writer.call(word, fmt::format("llvm.{}.{}", name, suffix(writer.graph.type(node))), types,
                     {arguments});
}

std::string binary(LlvmWriter& writer, Id node, std::string_view int_name,
                   std::string_view float_name) {
  const Type type = writer.graph.type(node);
  return writer.emit("{} {} {}, {}", is_float(type) ? float_name : int_name, llvm_type(type),
                     writer.value(writer.graph.operand(node, 0)),
                     writer.value(writer.graph.operand(node, 1)));
}

std::string compute(LlvmWriter& writer, Id node) {
  const Graph& graph = writer.graph;
  const Type type = graph.type(node);
  switch (graph.op(node)) {
    case Op::Add:
      return binary(writer, node, "add", "fadd");
    case Op::Sub:
      return binary(writer, node, "sub", "fsub");
    case Op::Mul:
      return binary(writer, node, "mul", "fmul");
    case Op::And:
      return binary(writer, node, "and", "");
    case Op::Or:
      return binary(writer, node, "or", "");
    case Op::Xor:
      return binary(writer, node, "xor", "");
    case Op::MulHi:
      return multiply_high(writer, type, writer.value(graph.operand(node, 0)),
                           writer.value(graph.operand(node, 1)));
    case Op::Div:
      if (is_float(type)) return binary(writer, node, "", "fdiv");
      return divide(writer, node);
    case Op::Rem:
      return divide(writer, node);
    case Op::Min:
    case Op::Max:
      XLOG_CHECK(!is_float(type), "float min and max are legalised before rendering");
      return min_max(writer, graph.op(node), type, writer.value(graph.operand(node, 0)),
                     writer.value(graph.operand(node, 1)));
    case Op::Shl:
    case Op::Shr:
      return shift(writer, node);
    case Op::Popc:
    case Op::Clz:
    case Op::Ctz:
      return count_bits(writer, node);
    case Op::Eq:
    case Op::Lt:
      return compare(writer, node);
    case Op::Select:
      return writer.emit("select {}, {}, {}", writer.typed(graph.operand(node, 0)),
                         writer.typed(graph.operand(node, 1)),
                         writer.typed(graph.operand(node, 2)));
    case Op::Cast:
      return cast(writer, node);
    case Op::Bitcast:
      return bitcast(writer, node);
    case Op::Fma:
      return float_call(writer, node, "fma");
    case Op::Sqrt:
      return float_call(writer, node, "sqrt");
    case Op::Floor:
      return float_call(writer, node, "floor");
    default:
      XLOG_UNREACHABLE(
          fmt::format("the LLVM renderer has no text for {}", spelling(graph.op(node))));
  }
}

}  // namespace

void write_arithmetic(LlvmWriter& writer, Id node) {
  writer.set_value(node, compute(writer, node));
}

std::string write_fold_step(LlvmWriter& writer, Fold fold, Type type, const std::string& a,
                            const std::string& b) {
  if (fold == Fold::Min || fold == Fold::Max) {
    return min_max(writer, *step_of(fold), type, a, b);
  }
  return writer.emit("{} {} {}, {}", spelling(fold), llvm_type(type), a, b);
}

}  // namespace xlog::render
