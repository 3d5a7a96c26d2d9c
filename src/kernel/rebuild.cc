#include "kernel/rebuild.h"

#include <algorithm>

#include "base/check.h"

namespace xlog::kernel {

void Rebuild::set(Id original, Id replacement) {
  if (made_.size() <= original.index) made_.resize(std::max(graph_.size(), original.index + 1));
  made_[original.index] = replacement;
}

Id Rebuild::operator()(Id root) {
  auto known = [&](Id id) { return id.index < made_.size() && made_[id.index].valid(); };
  std::vector<Id> stack = {root};
  std::vector<Id> operands;
  while (!stack.empty()) {
    const Id id = stack.back();
    if (known(id)) {
      stack.pop_back();
      continue;
    }
    XLOG_CHECK(!is_effect(graph_.op(id)), "a value is used before the effect that makes it");
    bool ready = true;
    for (Id operand : graph_.operands(id)) {
      if (known(operand)) continue;
      stack.push_back(operand);
      ready = false;
    }
    if (!ready) continue;
    stack.pop_back();
    operands.clear();
    for (Id operand : graph_.operands(id)) operands.push_back(made_[operand.index]);
    Id node = graph_.with_operands(id, operands);
    set(id, pure ? pure(node, id) : node);
  }
  return made_[root.index];
}

Id Rebuild::block(Id original) {
  std::vector<Id> out;
  effects(graph_.operands(original), out);
  return std::ranges::equal(graph_.operands(original), out) ? original : graph_.block(out);
}

void Rebuild::effects(std::span<const Id> originals, std::vector<Id>& out) {
  std::vector<Id> operands;
  for (Id id : originals) {
    Id replacement;
    if (before && before(id, out, replacement)) {
      if (replacement.valid()) set(id, replacement);
      continue;
    }
    operands.clear();
    for (Id operand : graph_.operands(id)) {
      operands.push_back(graph_.op(operand) == Op::Block ? block(operand) : (*this)(operand));
    }
    Id node = graph_.with_operands(id, operands);
    if (effect) {
      node = effect(node, id, out);
    } else {
      out.push_back(node);
    }
    if (node.valid()) set(id, node);
  }
}

Id Rebuild::run(Id root, const std::vector<Id>* params) {
  made_.assign(graph_.size(), Id{});
  std::vector<Id> operands = {Id{}};
  for (Id param : graph_.params(root)) set(param, param);
  operands[0] = block(graph_.body(root));
  if (params != nullptr) {
    operands.insert(operands.end(), params->begin(), params->end());
  } else {
    auto old = graph_.params(root);
    operands.insert(operands.end(), old.begin(), old.end());
  }
  return graph_.with_operands(root, operands);
}

}  // namespace xlog::kernel
