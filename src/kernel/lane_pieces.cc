#include "kernel/lane_pieces.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "kernel/place.h"

namespace xlog::kernel {

namespace {

bool is_collective(Op op) { return op == Op::GScan || op == Op::GReduce; }

}  // namespace

LanePieces::LanePieces(const Graph& graph, Id kernel)
    : graph_(graph),
      synchronises_(graph.size(), false),
      varies_(graph.size(), false),
      hoistable_(graph.size(), false),
      piece_of_(graph.size(), kNoPiece) {
  find_synchronising(graph.body(kernel));
  find_uniform(reachable(graph, kernel));
  steps_ = cut(graph.body(kernel), Id{});
}

// Marks the effects that hold a barrier or collective, and the loads that stand beside them: those
// are reached by all lanes.
bool LanePieces::find_synchronising(Id block) {
  bool any = false;
  for (Id effect : graph_.operands(block)) {
    const Op op = graph_.op(effect);
    bool here = op == Op::Barrier || is_collective(op);
    for (Id operand : graph_.operands(effect)) {
      if (graph_.op(operand) == Op::Block) here |= find_synchronising(operand);
    }
    synchronises_[effect.index] = here;
    any |= here;
    if (here && is_loop(op)) {
      const uint32_t tag = graph_.tag(effect);
      if (loop_of_tag_.size() <= tag) {
        loop_of_tag_.resize(tag + 1);
        carried_varies_.resize(tag + 1);
      }
      loop_of_tag_[tag] = effect;
      carried_varies_[tag].resize(graph_.inits(effect).size(), false);
      sync_loops_.push_back(effect);
    }
  }
  return any;
}

bool LanePieces::carries_uniform(Id loop, uint32_t k) const {
  return !carried_varies_[graph_.tag(loop)][k];
}

bool LanePieces::varies(Id id) const {
  const Op op = graph_.op(id);
  switch (op) {
    case Op::Lane:
      return true;
    case Op::GReduce:
      return false;
    case Op::Arg: {
      const uint32_t tag = graph_.tag(id), k = graph_.arg_index(id);
      if (tag >= loop_of_tag_.size() || !loop_of_tag_[tag].valid()) return true;
      return k > 0 && carried_varies_[tag][k - 1];
    }
    case Op::Proj: {
      const Id loop = graph_.operand(id, 0);
      if (!synchronises_[loop.index]) return true;
      const uint32_t k = graph_.result_index(id);
      const auto& carried = carried_varies_[graph_.tag(loop)];
      return k < carried.size() && carried[k];  // the flag of a Loop is control: uniform
    }
    default:
      break;
  }
  if (is_effect(op) && !hoistable_[id.index]) return true;
  for (Id operand : graph_.operands(id)) {
    if (varies_[operand.index]) return true;
  }
  return false;
}

// Begins with "every carried value is uniform" and takes back what does not hold, until it does.
void LanePieces::find_uniform(const std::vector<Id>& nodes) {
  std::vector<Id> blocks;
  for (Id id : nodes) {
    if (graph_.op(id) == Op::Kernel) blocks.push_back(graph_.body(id));
    if (!synchronises_[id.index]) continue;
    for (Id operand : graph_.operands(id)) {
      if (graph_.op(operand) == Op::Block) blocks.push_back(operand);
    }
  }
  for (Id block : blocks) {
    for (Id effect : graph_.operands(block)) {
      if (graph_.op(effect) != Op::Load) continue;
      const Id buffer = graph_.operand(effect, 0);
      hoistable_[effect.index] = graph_.op(buffer) == Op::Param && graph_.mode(buffer) == Mode::In;
    }
  }
  bool changed = true;
  while (changed) {
    changed = false;
    for (Id id : nodes) varies_[id.index] = varies(id);
    for (Id loop : sync_loops_) {
      auto& carried = carried_varies_[graph_.tag(loop)];
      if (carried.empty()) continue;
      const Id yield = graph_.operands(graph_.body(loop)).back();
      const uint32_t flag = graph_.op(loop) == Op::Loop ? 1 : 0;
      for (uint32_t k = 0; k < carried.size(); ++k) {
        const bool now =
            varies_[graph_.inits(loop)[k].index] || varies_[graph_.operand(yield, k + flag).index];
        if (!now || carried[k]) continue;
        carried[k] = true;
        changed = true;
      }
    }
  }
}

void LanePieces::own(Id effect, uint32_t piece) {
  piece_of_[effect.index] = piece;
  for (Id operand : graph_.operands(effect)) {
    if (graph_.op(operand) != Op::Block) continue;
    for (Id inner : graph_.operands(operand)) own(inner, piece);
  }
}

void LanePieces::flush(std::vector<Step>& steps, Piece& open) {
  if (!open.empty()) steps.emplace_back(std::move(open));
  open = Piece{};
  open.number = next_piece_++;
}

std::vector<Step> LanePieces::cut(Id block, Id loop) {
  std::vector<Step> steps;
  Piece open;
  open.number = next_piece_++;
  for (Id effect : graph_.operands(block)) {
    const Op op = graph_.op(effect);
    if (op == Op::Yield && loop.valid()) break;  // cut_loop looks at it
    if (is_collective(op)) {
      add_collective(effect, steps, open);
      continue;
    }
    if (!synchronises(effect)) {
      if (!open.collectives.empty()) flush(steps, open);
      own(effect, open.number);
      open.effects.push_back(effect);
      continue;
    }
    if (is_loop(op)) {
      cut_loop(effect, steps, open);
      continue;
    }
    flush(steps, open);
    if (op == Op::Barrier) continue;
    Step step(effect);
    step.first = cut(graph_.operand(effect, 1), Id{});
    if (graph_.operands(effect).size() > 2) step.second = cut(graph_.operand(effect, 2), Id{});
    steps.push_back(std::move(step));
  }
  flush(steps, open);
  return steps;
}

// Collectives that follow each other share one pass over the lanes, unless one needs what another
// has only at the end of it.
void LanePieces::add_collective(Id collective, std::vector<Step>& steps, Piece& open) {
  const Id value[] = {graph_.operand(collective, 0)};
  if (depends_on_reduces(value, open)) flush(steps, open);
  piece_of_[collective.index] = open.number;
  open.collectives.push_back(collective);
}

bool LanePieces::depends_on_reduces(std::span<const Id> values, const Piece& piece) const {
  for (Id leaf : leaves(values, nullptr)) {
    if (graph_.op(leaf) == Op::GReduce && piece_of_[leaf.index] == piece.number) return true;
  }
  return false;
}

void LanePieces::cut_loop(Id loop, std::vector<Step>& steps, Piece& open) {
  std::vector<Carry> begin, next;
  const auto inits = graph_.inits(loop);
  const bool has_flag = graph_.op(loop) == Op::Loop;
  const auto body = graph_.operands(graph_.body(loop));
  const bool yields = has_flag || !inits.empty();
  std::vector<Id> control;  // what is computed between two iterations, outside of the pieces
  if (has_flag) control.push_back(graph_.operand(body.back(), 0));
  for (uint32_t k = 0; k < inits.size(); ++k) {
    const Id value = graph_.operand(body.back(), k + (has_flag ? 1 : 0));
    if (carries_uniform(loop, k)) {
      control.push_back(value);
      continue;
    }
    begin.push_back({loop, k, inits[k]});
    next.push_back({loop, k, value});
  }

  auto keep = [&](std::vector<Carry> carries, std::vector<Step>& into, Piece& last) {
    std::vector<Id> values;
    for (const Carry& carry : carries) values.push_back(carry.value);
    if (depends_on_reduces(values, last)) flush(into, last);
    last.carries.insert(last.carries.end(), carries.begin(), carries.end());
  };
  keep(begin, steps, open);
  flush(steps, open);

  Step step(loop);
  step.first = cut(graph_.body(loop), yields ? loop : Id{});
  // Storing the next values overwrites the ones of this iteration: where the flag still reads those
  // it comes first.
  bool reads_old = false;
  for (Id leaf : leaves(control, nullptr)) {
    reads_old |=
        graph_.op(leaf) == Op::Arg && graph_.tag(leaf) == graph_.tag(loop) && !is_uniform(leaf);
  }
  const bool joins = !reads_old && !step.first.empty() && !step.first.back().control.valid();
  if (joins) {
    Piece last = std::move(step.first.back().piece);
    step.first.pop_back();
    keep(next, step.first, last);
    if (!last.empty()) step.first.emplace_back(std::move(last));
  } else {
    step.late.number = next_piece_++;
    step.late.carries = next;
  }
  steps.push_back(std::move(step));
}

std::vector<Id> LanePieces::leaves(std::span<const Id> values, const Piece* within) const {
  std::vector<bool> seen(graph_.size(), false);
  std::vector<Id> stack, found;
  auto visit = [&](Id id) {
    if (seen[id.index]) return;
    seen[id.index] = true;
    stack.push_back(id);
  };
  for (Id value : values) visit(value);
  while (!stack.empty()) {
    const Id id = stack.back();
    stack.pop_back();
    const Op op = graph_.op(id);
    const Id effect = op == Op::Proj ? graph_.operand(id, 0) : id;
    if (is_effect(graph_.op(effect))) {
      const bool inside = within != nullptr && piece_of_[effect.index] == within->number;
      if (!inside) found.push_back(id);
      continue;
    }
    if (op == Op::Arg) {
      const uint32_t tag = graph_.tag(id);
      if (tag < loop_of_tag_.size() && loop_of_tag_[tag].valid()) found.push_back(id);
      continue;
    }
    for (Id operand : graph_.operands(id)) visit(operand);
  }
  std::ranges::sort(found);
  return found;
}

void LanePieces::used_by(Id effect, std::vector<Id>& values) const {
  for (Id operand : graph_.operands(effect)) {
    if (graph_.op(operand) != Op::Block) {
      values.push_back(operand);
      continue;
    }
    for (Id inner : graph_.operands(operand)) used_by(inner, values);
  }
}

std::vector<Id> LanePieces::needs(const Piece& piece) const {
  std::vector<Id> values;
  for (Id effect : piece.effects) {
    if (!is_hoisted(effect)) used_by(effect, values);
  }
  for (Id collective : piece.collectives) values.push_back(graph_.operand(collective, 0));
  for (const Carry& carry : piece.carries) values.push_back(carry.value);
  std::vector<Id> found = leaves(values, &piece);
  // A load that is done once for the group comes from outside, though it stands in this piece.
  for (Id effect : piece.effects) {
    if (is_hoisted(effect)) found.push_back(effect);
  }
  return found;
}

}  // namespace xlog::kernel
