#include "kernel/equal.h"

#include <unordered_map>
#include <utility>
#include <vector>

namespace xlog::kernel {

namespace {

// Builds the one-to-one map between the nodes of both sides that equality means, or fails. Kernels
// that a plan launches are matched on their own: kernels of one graph may share nodes and tags, of
// the other not.
class Matcher {
 public:
  Matcher(const Graph& a, Id root_a, const Graph& b, Id root_b) : a_(a), b_(b), root_(root_a) {
    work_.emplace_back(root_a, root_b);
  }

  bool run() {
    while (!work_.empty()) {
      auto [x, y] = work_.back();
      work_.pop_back();
      if (!visit(x, y)) return false;
    }
    return true;
  }

 private:
  template <typename Key>
  static bool pair_up(std::unordered_map<Key, Key>& to, std::unordered_map<Key, Key>& from, Key x,
                      Key y) {
    return to.try_emplace(x, y).first->second == y && from.try_emplace(y, x).first->second == x;
  }

  bool visit(Id x, Id y) {
    const auto known = nodes_.find(x);
    if (known != nodes_.end()) return known->second == y;
    if (!pair_up(nodes_, nodes_back_, x, y) || !same_head(x, y)) return false;
    if (a_.op(x) == Op::Kernel && x != root_) return equal(a_, x, b_, y);
    const auto left = a_.operands(x);
    const auto right = b_.operands(y);
    if (left.size() != right.size()) return false;
    for (size_t k = 0; k < left.size(); ++k) work_.emplace_back(left[k], right[k]);
    return true;
  }

  // Everything about a node but its operands.
  bool same_head(Id x, Id y) {
    const Node& left = a_[x];
    const Node& right = b_[y];
    if (left.op != right.op || left.type != right.type) return false;
    switch (left.op) {
      case Op::Const:
        return a_.value(x) == b_.value(y);
      case Op::Kernel:
      case Op::Plan:
        return a_.kernel_info(x).group == b_.kernel_info(y).group;
      case Op::Arg:
        return a_.arg_index(x) == b_.arg_index(y) && same_tag(x, y);
      case Op::For:
      case Op::Loop:
      case Op::Map:
      case Op::Expand:
      case Op::FlatMap:
        return left.flags == right.flags && same_tag(x, y);
      default:
        return left.flags == right.flags && left.imm == right.imm;
    }
  }

  bool same_tag(Id x, Id y) { return pair_up(tags_, tags_back_, a_.tag(x), b_.tag(y)); }

  const Graph& a_;
  const Graph& b_;
  Id root_;
  std::vector<std::pair<Id, Id>> work_;
  std::unordered_map<Id, Id> nodes_, nodes_back_;
  std::unordered_map<uint32_t, uint32_t> tags_, tags_back_;
};

}  // namespace

bool equal(const Graph& a, Id root_a, const Graph& b, Id root_b) {
  return Matcher(a, root_a, b, root_b).run();
}

}  // namespace xlog::kernel
