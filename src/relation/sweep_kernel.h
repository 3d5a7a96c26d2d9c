// Rules that carry columns along (carry_kernel.h), for devices whose lanes run side by side.
//
// Which nodes lead to a node does not change while rows are carried: that is found once
// (StepsKernel). The nodes are put into levels (LevelsKernel), each node behind all that lead to
// it, except where that closes a cycle. Then a group has a block of words of all lines to itself
// and goes from level to level; the lanes take the words of its nodes, and a node gets what those
// that lead to it have (SweepKernel). Without a cycle once is enough; with some, a group goes back
// and forth until nothing changes.
//
// Words in rounds, as rows are taken one by one (group_kernel.h), do not pay: a round finds one or
// two bits of a word. In levels a word has all its bits when it is read.
#pragma once

#include <optional>
#include <vector>

#include "relation/carry_kernel.h"

namespace xlog::relation {

// Finds the steps from node to node, other than those from a node to itself. First how many there
// are; then, with `fills`, the nodes that they come from, by the place of the node that they lead
// to and the rule.
//
// Parameters: instances, nodes; to count: total, sizes (by node and rule), waits (by node); to
// fill: places (by node), ends (where those of a place and rule begin; afterwards where they end),
// sources; then the set, and what the pipelines read.
class StepsKernel {
 public:
  StepsKernel(kernel::Graph& graph, const lang::Program& program,
              const std::vector<CarriedRule>& rules, size_t carried, const RelationOf& relation_of,
              lang::PredId into, bool fills);
  kernel::Id build();

 private:
  kernel::KernelBuilder k_;
  uint32_t rules_;
  bool fills_;
  Value instances_, nodes_;
  kernel::Buffer total_, sizes_, waits_, places_, ends_, sources_;
  std::optional<NodeCode> code_;
};

// What the search for levels keeps: the nodes that have a place, where the level at hand begins,
// its number, the nodes that were met before all that lead to them had a place, how many of those
// and of all nodes were looked at where a cycle had to be broken, how often that was, and whether
// the search has begun.
enum LevelState : uint32_t {
  kPlacedNodes,
  kLevelBegin,
  kLevel,
  kMet,
  kMetTaken,
  kRootTaken,
  kBroken,
  kBegun,
  kLevelState
};

// A node comes as soon as all that lead to it have a place. Where none is left that could, cycles
// are broken at nodes that were met, or at any where none was: at one the first time, then at twice
// as many each time, so that neither one small cycle disturbs the order nor many take long.
//
// Parameters: nodes, most (levels of a launch), state, sizes, waits, order (nodes by place), places
// (by node), met, starts (the first place of each level), the set, and what the pipelines read. One
// group.
class LevelsKernel {
 public:
  LevelsKernel(kernel::Graph& graph, const lang::Program& program,
               const std::vector<CarriedRule>& rules, size_t carried, const RelationOf& relation_of,
               lang::PredId into, uint32_t lanes);
  kernel::Id build();

 private:
  // The code for each number below `count`, which lanes share out.
  void share(Value count, const std::function<void(Value)>& visit);
  void tell();
  void keep(LevelState state, Value value);
  void find_roots();
  void visit_level();
  void meet(Value node);
  void break_cycles();
  void place(Value node);
  void finish_level();

  kernel::KernelBuilder k_;
  uint32_t rules_, lanes_;
  Value nodes_, most_;
  kernel::Buffer state_, sizes_, waits_, order_, places_, met_, starts_;
  std::optional<NodeCode> code_;
  Value lane_, zero_;
  kernel::Buffer now_;  // a LevelState each, the same for all lanes between two tell()
};

constexpr uint32_t kSweepWords = 8;      // of a block: what memory moves at once
constexpr uint32_t kSwept = UINT32_MAX;  // the state of a block that will not change any more

// Parameters: groups (blocks of this launch), the first block, line (words of one), levels, most
// (times that a launch goes through them), state (by block: how often it went), order, starts,
// ends, sources, added (by rule), and the set.
class SweepKernel {
 public:
  SweepKernel(kernel::Graph& graph, size_t rules, const Relation& relation, uint32_t lanes);
  kernel::Id build();

 private:
  void go_through(Value time);
  void take(Value place);

  kernel::KernelBuilder k_;
  uint32_t rules_, lanes_;
  Value groups_, first_block_, line_, levels_, most_;
  kernel::Buffer state_, order_, starts_, ends_, sources_, added_;
  SetCode set_;
  Value lane_, zero_, in_line_;
  kernel::Buffer changed_, found_;  // of the lane: whether a word changed, and new rows by rule
};

}  // namespace xlog::relation
