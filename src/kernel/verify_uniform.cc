// Uniform control: a barrier or collective stands only where all lanes of a group come together.
// A value is uniform if all lanes of a group have the same. Lanes, atomics, scans and most loads
// differ; parameters, the group index and reductions do not; everything else follows its operands.
#include <fmt/format.h>

#include <algorithm>

#include "kernel/verify_rules.h"

namespace xlog::kernel {

namespace {

class Uniform {
 public:
  Uniform(const Graph& graph, Id kernel, const Walked& walked, std::vector<Problem>& problems)
      : graph_(graph),
        kernel_(kernel),
        walked_(walked),
        problems_(problems),
        differs_(graph.size(), false) {
    for (Id id : walked.nodes) {
      if (!is_loop(graph.op(id))) continue;
      const uint32_t tag = graph.tag(id);
      if (tag >= loop_of_tag_.size()) loop_of_tag_.resize(tag + 1);
      loop_of_tag_[tag] = id;
    }
  }

  void run() {
    // Carried values depend on what the body yields: repeat until nothing new differs.
    for (bool changed = true; changed;) {
      changed = false;
      for (Id id : walked_.nodes) {
        if (differs_[id.index] || !differs_now(id)) continue;
        differs_[id.index] = true;
        changed = true;
      }
    }
    block(graph_.body(kernel_), true);
  }

 private:
  bool any(std::span<const Id> ids) const {
    return std::ranges::any_of(ids, [&](Id id) { return differs_[id.index]; });
  }

  std::span<const Id> yields(Id loop) const {
    const auto effects = graph_.operands(graph_.body(loop));
    if (effects.empty() || graph_.op(effects.back()) != Op::Yield) return {};
    return graph_.operands(effects.back());
  }

  // Lanes may run the loop a different number of times.
  bool control_differs(Id loop) const {
    const auto list = graph_.operands(loop);
    if (differs_[list[0].index] || differs_[list[1].index]) return true;
    return graph_.op(loop) == Op::Loop && differs_[yields(loop)[0].index];
  }

  // Carried value k: how it starts and how it goes on.
  bool carried_differs(Id loop, uint32_t k) const {
    const size_t flag = graph_.op(loop) == Op::Loop ? 1 : 0;
    return differs_[graph_.inits(loop)[k].index] || differs_[yields(loop)[flag + k].index];
  }

  bool differs_now(Id id) const {
    switch (graph_.op(id)) {
      case Op::Lane:
      case Op::Grid:
        return true;
      case Op::Load: {
        // Between two barriers nobody else writes a cell of a local array that a lane reads.
        const Id buffer = graph_.operand(id, 0);
        const bool shared = graph_.op(buffer) == Op::Alloc ? graph_.space(buffer) == Space::Local
                                                           : graph_.mode(buffer) == Mode::In;
        return !shared || differs_[graph_.operand(id, 1).index];
      }
      case Op::Atomic:
      case Op::Cas:
      case Op::GScan:
        return true;
      case Op::GReduce:
      case Op::Block:
        return false;
      case Op::For:
      case Op::Loop:
        return control_differs(id);
      case Op::Arg: {
        const Id loop = loop_of_tag_[graph_.tag(id)];
        const uint32_t k = graph_.arg_index(id);
        if (k > 0) return carried_differs(loop, k - 1);
        return graph_.op(loop) == Op::For && differs_[graph_.operand(loop, 0).index];
      }
      case Op::Proj: {
        const Id loop = graph_.operand(id, 0);
        const uint32_t k = graph_.result_index(id);
        if (control_differs(loop)) return true;
        return k < graph_.inits(loop).size() && carried_differs(loop, k);
      }
      default:
        return any(graph_.operands(id));
    }
  }

  void block(Id id, bool together) {
    for (Id effect : graph_.operands(id)) {
      const Op op = graph_.op(effect);
      if (!together && (op == Op::Barrier || op == Op::GScan || op == Op::GReduce)) {
        problems_.push_back(
            {effect, fmt::format("{} stands where lanes may part ways: the conditions and loop "
                                 "limits around it must be the same for all lanes; move it out, or "
                                 "make them uniform with greduce",
                                 spelling(op))});
      }
      bool inside = together;
      if (is_loop(op)) inside = together && !control_differs(effect);
      if (op == Op::If) inside = together && !differs_[graph_.operand(effect, 0).index];
      for (Id operand : graph_.operands(effect)) {
        if (graph_.op(operand) == Op::Block) block(operand, inside);
      }
    }
  }

  const Graph& graph_;
  Id kernel_;
  const Walked& walked_;
  std::vector<Problem>& problems_;
  std::vector<bool> differs_;
  std::vector<Id> loop_of_tag_;
};

}  // namespace

void verify_uniform(const Graph& graph, Id kernel, const Walked& walked,
                    std::vector<Problem>& problems) {
  if (graph.kernel_info(kernel).group > 1) Uniform(graph, kernel, walked, problems).run();
}

}  // namespace xlog::kernel
