#include "render/llvm_writer.h"

#include <bit>

#include "base/check.h"

namespace xlog::render {

using kernel::Id;
using kernel::Op;
using kernel::Scalar;
using kernel::Type;

std::string_view llvm_type(Type type) {
  constexpr std::string_view names[] = {"void", "i1",  "i8",    "i32",   "i64",
                                        "i32",  "i64", "float", "double"};
  return names[static_cast<int>(type)];
}

std::string_view llvm_memory_type(Type type) { return type == Type::Bool ? "i8" : llvm_type(type); }

std::string llvm_constant(Scalar value) {
  if (value.type == Type::Bool) return value.as_bool() ? "true" : "false";
  // LLVM writes a float literal with the bits of a double; the payload of a NaN would be lost.
  if (is_float(value.type)) {
    if (value.is_nan()) {
      return fmt::format("bitcast ({} {} to {})", value.type == Type::F32 ? "i32" : "i64",
                         value.bits, llvm_type(value.type));
    }
    return fmt::format("0x{:016X}", std::bit_cast<uint64_t>(value.as_f64()));
  }
  return std::to_string(value.bits);
}

std::string LlvmWriter::value(Id id) const {
  if (graph.is_const(id)) return llvm_constant(graph.value(id));
  if (graph.op(id) == Op::Arg) {
    const uint32_t label = label_of_tag_[graph.tag(id)];
    const uint32_t k = graph.arg_index(id);
    return k == 0 ? fmt::format("%count.{}", label) : fmt::format("%carry.{}.{}", label, k - 1);
  }
  if (graph.op(id) == Op::Proj) {
    const Id loop = graph.operand(id, 0);
    const uint32_t label = label_of_tag_[graph.tag(loop)];
    const uint32_t k = graph.result_index(id);
    // After its carried values a Loop says whether its bound stopped it.
    if (k == graph.inits(loop).size()) return fmt::format("%stopped.{}", label);
    return fmt::format("%carry.{}.{}", label, k);
  }
  const std::string& name = names_[id.index];
  XLOG_CHECK(!name.empty(), "a value is used before the LLVM renderer computed it");
  return name;
}

void LlvmWriter::name_loop(Id loop, uint32_t label) {
  const uint32_t tag = graph.tag(loop);
  if (tag >= label_of_tag_.size()) label_of_tag_.resize(tag + 1);
  label_of_tag_[tag] = label;
}

void LlvmWriter::declare(std::string_view result, std::string_view name, std::string_view types) {
  declarations.insert(fmt::format("declare {} @{}({})", result, name, types));
}

std::string LlvmWriter::call(std::string_view result, std::string_view name, std::string_view types,
                             std::initializer_list<std::string_view> arguments) {
  declare(result, name, types);
  std::string list;
  for (std::string_view argument : arguments) {
    if (!list.empty()) list += ", ";
    list += argument;
  }
  return emit("call {} @{}({})", result, name, list);
}

void LlvmWriter::call_void(std::string_view name, std::string_view types,
                           std::string_view arguments) {
  declare("void", name, types);
  line("call void @{}({})", name, arguments);
}

void LlvmWriter::start_block(std::string label) {
  text += label;
  text += ":\n";
  block_ = std::move(label);
}

}  // namespace xlog::render
