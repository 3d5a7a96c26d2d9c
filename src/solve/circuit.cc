#include "solve/circuit.h"

#include "base/check.h"

namespace xlog::solve {

Circuit::Node Circuit::close(bool either) {
  XLOG_CHECK(nodes_.size() < UINT32_MAX, "a circuit has fewer than 2^32 nodes");
  nodes_.push_back({either, literals_.size(), free_.size(), children_.size()});
  return static_cast<Node>(nodes_.size() - 1);
}

Circuit::Node Circuit::add_all(std::span<const Literal> literals, std::span<const int32_t> free,
                               std::span<const Node> children) {
  if (literals.empty() && free.empty() && children.size() == 1) return children[0];
  literals_.insert(literals_.end(), literals.begin(), literals.end());
  free_.insert(free_.end(), free.begin(), free.end());
  children_.insert(children_.end(), children.begin(), children.end());
  return close(false);
}

Circuit::Node Circuit::add_either(Node a, Node b) {
  children_.insert(children_.end(), {a, b});
  return close(true);
}

}  // namespace xlog::solve
