// Where values are used last. A value lives in the block that computes it; a use further in counts
// as a use by the statement of that block that contains it, so that whatever a loop reads lives
// through all of its iterations.
#include "base/check.h"
#include "render/chunked_compiler.h"

namespace xlog::render {

using kernel::Op;

bool ChunkedCompiler::is_uniform(Id value) const {
  switch (graph_.op(value)) {
    case Op::Const:
      return true;
    case Op::Param:
      return graph_.mode(value) == kernel::Mode::Val;
    default:
      return uniform_[value.index];
  }
}

void ChunkedCompiler::find_lifetimes() {
  uniform_.assign(graph_.size(), false);
  home_.assign(graph_.size(), {});
  last_use_.assign(graph_.size(), kNowhere);
  deaths_.resize(lowered_.placement.blocks.size());
  std::vector<std::pair<Id, uint32_t>> path;
  walk(graph_.body(lowered_.kernel), path);
  for (size_t b = 0; b < deaths_.size(); ++b) {
    const auto& list = lowered_.placement.lists[b];
    deaths_[b].resize(list.size());
    for (Id id : list) deaths_[b][last_use_[id.index]].push_back(id);
  }
}

void ChunkedCompiler::walk(Id block, std::vector<std::pair<Id, uint32_t>>& path) {
  path.emplace_back(block, 0);
  const size_t level = path.size() - 1;
  for (Id id : lowered_.placement.in(block)) {
    home_[id.index] = block;
    last_use_[id.index] = path[level].second;
    bool all_uniform = is_arithmetic(graph_.op(id));
    for (Id operand : graph_.operands(id)) {
      if (graph_.op(operand) == Op::Block) {
        walk(operand, path);
      } else {
        use(operand, path);
        all_uniform = all_uniform && is_uniform(operand);
      }
    }
    uniform_[id.index] = all_uniform;
    ++path[level].second;
  }
  path.pop_back();
}

void ChunkedCompiler::use(Id value, const std::vector<std::pair<Id, uint32_t>>& path) {
  // The results of a loop are its registers.
  if (graph_.op(value) == Op::Proj) value = graph_.operand(value, 0);
  const Id home = home_[value.index];
  if (!home.valid()) return;  // parameters, constants, loop arguments: they stay
  for (const auto& [block, position] : path) {
    if (block == home) last_use_[value.index] = position;
  }
}

}  // namespace xlog::render
