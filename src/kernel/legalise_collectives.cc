// GScan and GReduce as local arrays and barriers. A step combines kRadix cells instead of two
// (after Hillis and Steele, "Data parallel algorithms", 1986): 256 lanes meet 3 times, 1024 lanes 4
// times, and the loads of one step do not wait for each other.
#include <array>
#include <optional>
#include <vector>

#include "base/check.h"
#include "kernel/pass.h"
#include "kernel/place.h"
#include "kernel/rebuild.h"

namespace xlog::kernel {

namespace {

constexpr uint32_t kRadix = 8;
constexpr uint32_t kBuffers = 3;

// Which buffer each step reads. A step writes the buffer that the next one reads, and nobody writes
// what another lane may still read: so neighbours differ. The last differs from the first too:
// a lane that is fast enough to begin the next collective writes the first buffer while others
// still read the last. One step alone cannot differ from itself and ends with a barrier more.
uint32_t buffer_of(uint32_t step, uint32_t steps) {
  if (step + 1 == steps && steps % 2 == 1 && steps > 1) return 2;
  return step % 2;
}

class LocalCollectives {
 public:
  LocalCollectives(Graph& graph, Id kernel)
      : graph_(graph), lanes_(graph.kernel_info(kernel).group), lane_(graph.make(Op::Lane, {})) {
    for (Id id : reachable(graph, kernel)) {
      if (graph.op(id) == Op::GScan) scans_[static_cast<size_t>(graph.type(id))] = true;
    }
  }

  // The node that users of the collective see; the steps are appended to `out`.
  Id replace(Id collective, std::vector<Id>& out) {
    fold_ = graph_.fold(collective);
    type_ = graph_.type(collective);
    XLOG_CHECK(fold_ != Fold::Exch && is_int(type_), "group collectives fold integers");
    const Id value = graph_.operand(collective, 0);
    const bool is_scan = graph_.op(collective) == Op::GScan;
    if (lanes_ == 1) return is_scan ? identity() : value;
    return is_scan ? scan(value, out) : reduce(value, out);
  }

  // The arrays that all collectives share, to stand at the top of the kernel.
  std::vector<Id> arrays;

 private:
  // Each step folds the windows of kRadix cells of the step before into one window: after step s a
  // lane has the fold of the kRadix^s lanes before it.
  Id scan(Id value, std::vector<Id>& out) {
    uint32_t steps = 1;
    for (uint64_t window = kRadix; window < lanes_ - 1; window *= kRadix) ++steps;
    Id sum = value;
    uint32_t distance = 1;
    for (uint32_t s = 0; s < steps; ++s, distance *= kRadix) {
      const Id from = buffer(buffer_of(s, steps));
      publish(from, sum, lanes_, out);
      // The first step looks at the lanes before this one; later ones at this window and before.
      const uint32_t first = s == 0 ? 1 : 0;
      if (first == 1) sum = Id{};
      for (uint32_t j = first; j < kRadix + first; ++j) {
        const uint64_t back = uint64_t{j} * distance;
        if (back >= lanes_) break;
        if (back == 0) continue;  // its own cell: `sum` already
        sum = fold_in(sum, cell_before(from, static_cast<uint32_t>(back), out));
      }
    }
    if (steps == 1) out.push_back(graph_.make(Op::Barrier, {}));
    return sum;
  }

  // Each step leaves one cell of kRadix; the last few cells are folded by all lanes.
  Id reduce(Id value, std::vector<Id>& out) {
    uint32_t steps = 1;
    for (uint32_t left = lanes_; left > kRadix; left = rows(left)) ++steps;
    Id sum = value;
    uint32_t cells = lanes_;
    for (uint32_t s = 0; s < steps; ++s) {
      const Id from = buffer(buffer_of(s, steps));
      publish(from, sum, cells, out);
      const bool is_last = s + 1 == steps;
      const uint32_t apart = is_last ? 1 : rows(cells);
      sum = Id{};
      for (uint32_t j = 0; j < kRadix && j * apart < cells; ++j) {
        sum = fold_in(
            sum, is_last ? load(from, number(j), out) : cell_after(from, j * apart, cells, out));
      }
      cells = apart;
    }
    if (steps == 1) out.push_back(graph_.make(Op::Barrier, {}));
    return sum;
  }

  static uint32_t rows(uint32_t cells) { return (cells + kRadix - 1) / kRadix; }

  Id number(uint32_t v) { return graph_.constant(Scalar::u32(v)); }
  Id identity() { return graph_.constant(fold_identity(fold_, type_)); }

  Id buffer(uint32_t which) {
    std::optional<Id>& made = buffers_[static_cast<size_t>(type_)][which];
    if (!made) {
      // Only scans have something to say in every lane after the first step.
      const bool full = which == 0 || scans_[static_cast<size_t>(type_)];
      made = graph_.alloc(type_, full ? lanes_ : rows(lanes_), Space::Local);
      arrays.push_back(*made);
    }
    return *made;
  }

  Id fold_in(Id sum, Id value) {
    return sum.valid() ? graph_.make(*step_of(fold_), {sum, value}) : value;
  }

  Id load(Id from, Id index, std::vector<Id>& out) {
    const Id loaded = graph_.make(Op::Load, {from, index});
    out.push_back(loaded);
    return loaded;
  }

  // The first `count` lanes write their values, and all lanes wait.
  void publish(Id to, Id value, uint32_t count, std::vector<Id>& out) {
    Id effect = graph_.make(Op::Store, {to, lane_, value});
    if (count < lanes_) {
      const Id few = graph_.make(Op::Lt, {lane_, number(count)});
      effect = graph_.make(Op::If, {few, graph_.block(std::span(&effect, 1))});
    }
    out.push_back(effect);
    out.push_back(graph_.make(Op::Barrier, {}));
  }

  // The cell `back` lanes before this one, or the identity where there is none. A lane without it
  // loads its own cell and drops the value: a select costs less than a branch.
  Id cell_before(Id from, uint32_t back, std::vector<Id>& out) {
    const Id none = graph_.make(Op::Lt, {lane_, number(back)});
    const Id index =
        graph_.make(Op::Select, {none, lane_, graph_.make(Op::Sub, {lane_, number(back)})});
    return graph_.make(Op::Select, {none, identity(), load(from, index, out)});
  }

  // The cell `ahead` after this lane's; lanes past the end load the first cell and drop it.
  Id cell_after(Id from, uint32_t ahead, uint32_t cells, std::vector<Id>& out) {
    const Id there = graph_.make(Op::Add, {lane_, number(ahead)});
    if (ahead == 0 && cells == lanes_) return load(from, lane_, out);
    const Id exists = graph_.make(Op::Lt, {there, number(cells)});
    const Id index = graph_.make(Op::Select, {exists, there, number(0)});
    return graph_.make(Op::Select, {exists, load(from, index, out), identity()});
  }

  Graph& graph_;
  uint32_t lanes_;
  Id lane_;
  Fold fold_ = Fold::Add;
  Type type_ = Type::Void;
  static constexpr size_t kTypes = kValueTypes.size() + 1;  // and void
  std::array<std::array<std::optional<Id>, kBuffers>, kTypes> buffers_;
  std::array<bool, kTypes> scans_ = {};  // whether a scan of this type occurs
};

}  // namespace

Id collectives_to_local(PassContext& context, Id kernel) {
  Graph& graph = context.graph;
  LocalCollectives local(graph, kernel);
  Rebuild again(graph);
  again.effect = [&](Id node, Id original, std::vector<Id>& out) {
    const Op op = graph.op(node);
    if (op != Op::GScan && op != Op::GReduce) {
      out.push_back(node);
      return node;
    }
    const Id made = local.replace(node, out);
    context.note("collective as local memory", original, made);
    return made;
  };
  const Id made = again.run(kernel);
  if (local.arrays.empty()) return made;

  std::vector<Id> effects = local.arrays;
  const auto body = graph.operands(graph.body(made));
  effects.insert(effects.end(), body.begin(), body.end());
  std::vector<Id> operands = {graph.block(effects)};
  const auto params = graph.params(made);
  operands.insert(operands.end(), params.begin(), params.end());
  return graph.with_operands(made, operands);
}

}  // namespace xlog::kernel
