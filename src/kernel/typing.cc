// The type rules of op.def, for one node.
#include <fmt/format.h>

#include "base/check.h"
#include "kernel/graph.h"

namespace xlog::kernel {

namespace {

std::string domain_text(Domain domain) {
  switch (domain) {
    case Domain::Any:
      return "a value";
    case Domain::Num:
      return "an integer or a float";
    case Domain::Int:
      return "an integer";
    case Domain::Bits:
      return "an integer or a bool";
    case Domain::Float:
      return "a float";
  }
  return "";
}

std::string memory_problem(const Graph& graph, Op op, std::span<const Id> operands) {
  if (!is_buffer(graph, operands[0])) {
    return fmt::format("{} needs a buffer first", spelling(op));
  }
  if (operands.size() > 1 && graph.type(operands[1]) != Type::U32) {
    return fmt::format("an index is u32, this one is {}", spelling(graph.type(operands[1])));
  }
  for (size_t k = 2; k < operands.size(); ++k) {
    if (graph.type(operands[k]) != graph.type(operands[0])) {
      return fmt::format("the buffer holds {}, the value is {}", spelling(graph.type(operands[0])),
                         spelling(graph.type(operands[k])));
    }
  }
  return "";
}

}  // namespace

std::string type_problem(const Graph& graph, Op op, std::span<const Id> operands) {
  const OpInfo& facts = info(op);
  if (facts.operands != kMany && operands.size() != static_cast<size_t>(facts.operands)) {
    return fmt::format("{} takes {} operand{}, {} given", facts.text, facts.operands,
                       facts.operands == 1 ? "" : "s", operands.size());
  }
  switch (op) {
    case Op::Load:
    case Op::Store:
    case Op::Prefetch:
    case Op::Atomic:
    case Op::Cas:
    case Op::Read:
      return memory_problem(graph, op, operands);
    case Op::Len:
      return is_buffer(graph, operands[0]) ? "" : "len needs a buffer";
    default:
      break;
  }
  if (!is_arithmetic(op) && op != Op::GScan && op != Op::GReduce && op != Op::Check &&
      op != Op::Grid && op != Op::Group) {
    return "";
  }
  for (Id operand : operands) {
    if (is_buffer(graph, operand)) {
      return fmt::format("{} works on values, a buffer needs load", facts.text);
    }
  }
  if (op == Op::Check) {
    return is_bool(graph.type(operands[0])) ? "" : "check needs a bool";
  }
  if (op == Op::Grid || op == Op::Group) {
    return graph.type(operands[0]) == Type::U32 ? "" : "the number of instances is u32";
  }
  size_t first = 0;
  if (facts.result == ResultRule::Pick) {
    if (!is_bool(graph.type(operands[0]))) return "select needs a bool first";
    first = 1;
  }
  const Type type = graph.type(operands[first]);
  for (size_t k = first; k < operands.size(); ++k) {
    const Type other = graph.type(operands[k]);
    if (!in_domain(facts.domain, other)) {
      return fmt::format("{} needs {}, operand {} is {}", facts.text, domain_text(facts.domain),
                         k + 1, spelling(other));
    }
    if (other != type) {
      return fmt::format("{} needs operands of one type, these are {} and {}", facts.text,
                         spelling(type), spelling(other));
    }
  }
  return "";
}

Type result_type(const Graph& graph, Op op, std::span<const Id> operands, Type given) {
  switch (info(op).result) {
    case ResultRule::Same:
      return graph.type(operands[0]);
    case ResultRule::Bool:
      return Type::Bool;
    case ResultRule::Count:
    case ResultRule::Index:
      return Type::U32;
    case ResultRule::Pick:
      return graph.type(operands[1]);
    case ResultRule::Elem:
      return graph.type(operands[0]);
    case ResultRule::Given:
      return given;
    case ResultRule::None:
      return Type::Void;
  }
  XLOG_UNREACHABLE("unknown result rule");
}

std::string cast_problem(Op op, Type from, Type to) {
  if (to == Type::Void || from == Type::Void) return "there is no cast from or to void";
  if (op == Op::Bitcast) {
    if (is_bool(from) || is_bool(to)) return "bool has no bits to reinterpret; use cast";
    if (size_of(from) != size_of(to)) {
      return fmt::format("bitcast keeps the width: {} has {} bits, {} has {}", spelling(from),
                         bits_of(from), spelling(to), bits_of(to));
    }
  }
  return "";
}

}  // namespace xlog::kernel
