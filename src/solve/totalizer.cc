#include "solve/totalizer.h"

#include <algorithm>

#include "base/check.h"

namespace xlog::solve {

Totalizer::Totalizer(std::span<const Literal> inputs) {
  XLOG_CHECK(!inputs.empty(), "there is something to count");
  nodes_.reserve(2 * inputs.size());
  build(inputs);
}

size_t Totalizer::build(std::span<const Literal> inputs) {
  Node node;
  if (inputs.size() == 1) {
    node.outputs.push_back(inputs[0]);
  } else {
    const size_t half = inputs.size() / 2;
    node.left = build(inputs.first(half));
    node.right = build(inputs.subspan(half));
    node.inputs = inputs.size();
  }
  nodes_.push_back(std::move(node));
  return nodes_.size() - 1;
}

Literal Totalizer::at_least(size_t count, ClauseSink& sink) {
  XLOG_CHECK(count >= 1 && count <= inputs(), "a count between 1 and the number of inputs");
  extend(nodes_.size() - 1, count, sink);
  return nodes_.back().outputs[count - 1];
}

void Totalizer::extend(size_t index, size_t count, ClauseSink& sink) {
  Node& node = nodes_[index];
  count = std::min(count, node.inputs);
  const size_t known = node.outputs.size();
  if (count <= known) return;
  extend(node.left, count, sink);
  extend(node.right, count, sink);
  for (size_t k = known; k < count; ++k) {
    node.outputs.push_back(sink.new_variable());
    if (k > 0) sink.add(std::vector<Literal>{-node.outputs[k], node.outputs[k - 1]});
  }
  const std::vector<Literal>& left = nodes_[node.left].outputs;
  const std::vector<Literal>& right = nodes_[node.right].outputs;
  std::vector<Literal> clause;
  for (size_t i = 0; i <= std::min(left.size(), count); ++i) {
    for (size_t j = known + 1 > i ? known + 1 - i : 0; j <= right.size() && i + j <= count; ++j) {
      clause.clear();
      if (i > 0) clause.push_back(-left[i - 1]);
      if (j > 0) clause.push_back(-right[j - 1]);
      clause.push_back(node.outputs[i + j - 1]);
      sink.add(clause);
    }
  }
}

}  // namespace xlog::solve
