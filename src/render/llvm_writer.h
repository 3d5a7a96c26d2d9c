// The text of one LLVM function as it grows: instructions, basic blocks, the names of values. Used
// by the LLVM renderer alone.
//
//   std::string sum = writer.emit("add i32 {}, {}", a, b);   // "%t3"; a line "  %t3 = add ..."
//   writer.start_block("then.4");                             // the lines that follow belong to it
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kernel/graph.h"

namespace xlog::render {

// How the two forms differ.
struct LlvmForm {
  bool gpu = false;
  std::string_view global;   // address space of buffer parameters
  std::string_view shared;   // of local arrays
  std::string_view in_load;  // what is said of a load from an `in` buffer
};

std::string_view llvm_type(kernel::Type type);         // as a value: bool is i1
std::string_view llvm_memory_type(kernel::Type type);  // in memory: bool is i8
std::string llvm_constant(kernel::Scalar value);

class LlvmWriter {
 public:
  LlvmWriter(const kernel::Graph& kernel_graph, const LlvmForm& target_form)
      : graph(kernel_graph), form(target_form), names_(kernel_graph.size()) {}

  const kernel::Graph& graph;
  const LlvmForm& form;

  // ---- values ----
  std::string value(kernel::Id id) const;  // constants as literals
  std::string typed(kernel::Id id) const {
    return fmt::format("{} {}", llvm_type(graph.type(id)), value(id));
  }
  void set_value(kernel::Id id, std::string name) { names_[id.index] = std::move(name); }

  // The counter and the carried values of a loop are named by its label.
  void name_loop(kernel::Id loop, uint32_t label);

  // ---- lines ----
  template <typename... Parts>
  std::string emit(fmt::format_string<Parts...> format, Parts&&... parts) {
    std::string name = fmt::format("%t{}", next_++);
    fmt::format_to(std::back_inserter(text), "  {} = ", name);
    line_end(format, std::forward<Parts>(parts)...);
    return name;
  }
  template <typename... Parts>
  void line(fmt::format_string<Parts...> format, Parts&&... parts) {
    text += "  ";
    line_end(format, std::forward<Parts>(parts)...);
  }
  // A call of an intrinsic, which gets declared once. `types` are those of the parameters.
  std::string call(std::string_view result, std::string_view name, std::string_view types,
                   std::initializer_list<std::string_view> arguments);
  void call_void(std::string_view name, std::string_view types = "",
                 std::string_view arguments = "");

  // ---- blocks ----
  uint32_t new_label() { return next_label_++; }
  void start_block(std::string label);
  const std::string& block() const { return block_; }

  std::string text;                    // of the function body so far
  std::set<std::string> declarations;  // ordered: they are printed
  std::vector<std::string> globals;
  bool uses_parallel_group = false;

 private:
  template <typename... Parts>
  void line_end(fmt::format_string<Parts...> format, Parts&&... parts) {
    fmt::format_to(std::back_inserter(text), format, std::forward<Parts>(parts)...);
    text += '\n';
  }
  void declare(std::string_view result, std::string_view name, std::string_view types);

  std::vector<std::string> names_;      // by Id
  std::vector<uint32_t> label_of_tag_;  // of the loops named so far
  std::string block_ = "entry";
  uint32_t next_ = 0;
  uint32_t next_label_ = 0;
};

// Arithmetic (llvm_arithmetic.cc): computes a pure node and names its value.
void write_arithmetic(LlvmWriter& writer, kernel::Id node);
// One step of an integer fold on values that are text.
std::string write_fold_step(LlvmWriter& writer, kernel::Fold fold, kernel::Type type,
                            const std::string& a, const std::string& b);

// GScan and GReduce on NVIDIA GPUs (llvm_collectives.cc), for a group of that many lanes.
void write_collective(LlvmWriter& writer, kernel::Id node, uint32_t lanes, const std::string& lane);
// A GReduce of what a GScan before it folded, with no effect between: it left the fold of all
// lanes in memory. False where it did not.
bool write_total_of_scan(LlvmWriter& writer, kernel::Id node, uint32_t lanes);

}  // namespace xlog::render
