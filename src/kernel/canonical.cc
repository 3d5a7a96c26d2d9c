#include "kernel/canonical.h"

#include <unordered_map>
#include <utility>
#include <vector>

namespace xlog::kernel {

namespace {

// Nodes and tags get numbers in the order in which a walk from the root meets them: operands before
// users, so that only what a kernel is made of decides, and not when it was made.
class Writer {
 public:
  Writer(const Graph& graph, Id root)
      : graph_(graph), root_(root), numbers_(root.index + 1, kUnmet) {}

  std::string run() {
    std::vector<std::pair<Id, uint32_t>> walk = {{root_, 0}};  // with the next operand to look at
    numbers_[root_.index] = kMet;
    while (!walk.empty()) {
      auto& [id, next] = walk.back();
      const auto operands = operands_of(id);
      if (next == operands.size()) {
        write(id, operands);
        walk.pop_back();
        continue;
      }
      const Id operand = operands[next++];
      if (numbers_[operand.index] != kUnmet) continue;
      numbers_[operand.index] = kMet;
      walk.emplace_back(operand, 0);
    }
    return std::move(out_);
  }

 private:
  static constexpr uint32_t kUnmet = UINT32_MAX, kMet = UINT32_MAX - 1;

  // Kernels that a plan launches stand on their own: those of one graph may share nodes and tags.
  bool is_launched(Id id) const { return graph_.op(id) == Op::Kernel && id != root_; }
  std::span<const Id> operands_of(Id id) const {
    return is_launched(id) ? std::span<const Id>() : graph_.operands(id);
  }

  void write(Id id, std::span<const Id> operands) {
    numbers_[id.index] = next_number_++;
    const Node& node = graph_[id];
    put(uint32_t{static_cast<uint8_t>(node.op)} | uint32_t{static_cast<uint8_t>(node.type)} << 8);
    switch (node.op) {
      case Op::Const: {
        const uint64_t bits = graph_.value(id).bits;
        put(static_cast<uint32_t>(bits));
        put(static_cast<uint32_t>(bits >> 32));
        break;
      }
      case Op::Kernel:
      case Op::Plan:
        put(graph_.kernel_info(id).group);
        break;
      case Op::Arg:
        put(graph_.arg_index(id));
        put(tag_number(id));
        break;
      case Op::For:
      case Op::Loop:
      case Op::Map:
      case Op::Expand:
      case Op::FlatMap:
        put(node.flags);
        put(tag_number(id));
        break;
      default:
        put(node.flags);
        put(node.imm);
        break;
    }
    put(static_cast<uint32_t>(operands.size()));
    for (Id operand : operands) put(numbers_[operand.index]);
    if (!is_launched(id)) return;
    const std::string launched = canonical_bytes(graph_, id);
    put(static_cast<uint32_t>(launched.size()));
    out_ += launched;
  }

  uint32_t tag_number(Id id) {
    return tags_.try_emplace(graph_.tag(id), static_cast<uint32_t>(tags_.size())).first->second;
  }

  void put(uint32_t word) { out_.append(reinterpret_cast<const char*>(&word), sizeof(word)); }

  const Graph& graph_;
  const Id root_;
  std::vector<uint32_t> numbers_;  // by Id; operands have smaller ids than the root
  uint32_t next_number_ = 0;
  std::unordered_map<uint32_t, uint32_t> tags_;
  std::string out_;
};

}  // namespace

std::string canonical_bytes(const Graph& graph, Id kernel_or_plan) {
  return Writer(graph, kernel_or_plan).run();
}

}  // namespace xlog::kernel
