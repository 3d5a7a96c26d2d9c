// Rules that carry columns along.
//
//   reach(X, Y) :- reach(X, Z), edge(Z, Y).
//
// What follows from a row of reach does not depend on its X: all rows with the same Z go the same
// way. In a set of bits with the carried columns innermost, the rows that agree in the others, a
// *node*, are a line of bits, and a line goes through the rule in words instead of row by row:
// what is new in a word of node Z goes to the same word of every node Y that the steps find.
//
// An instance has a block of words of all lines to itself, and a queue of the nodes at which
// something new waits: what comes to a node that is in the queue goes along with what is there.
//
// GPUs take rows one by one (group_kernel.h): a round finds few bits of a word at a time, and words
// in rounds were slower on half of the graphs that were measured.
#pragma once

#include <optional>
#include <vector>

#include "relation/pipeline_code.h"

namespace xlog::relation {

// The columns of relation `into` that a pipeline only passes on from its driver to its head. Empty
// where it does more than to look up what follows: a value that is computed may not exist, and that
// is counted by rows.
std::vector<uint32_t> carried_columns(const plan::Pipeline& pipeline,
                                      const std::vector<lang::Term>& head, lang::PredId into);

constexpr uint32_t kBlockWords = 16;

// Of one block that an instance works at.
enum QueueState : uint32_t { kSeeded, kFirst, kWaiting, kAdded, kQueueState };

// Parameters: blocks (of this launch), the first of them, nodes, line (words of one), most (nodes
// that an instance takes in a launch), state, waiting (bits, by block and node), queue (of nodes,
// by block), the set, and what the pipeline reads.
class CarryKernel {
 public:
  CarryKernel(kernel::Graph& graph, const lang::Program& program, const plan::Pipeline& pipeline,
              const std::vector<lang::Term>& head, const RelationOf& relation_of, lang::PredId into,
              const Marks& marks);
  kernel::Id build();

 private:
  // What the steps see of a node: of the carried columns nothing.
  Values row_of_node(Value node);
  Value node_of_head(const Slots& slots);
  void seed();
  void take(Value node);
  void give(Value node);
  void enqueue(Value node);

  kernel::KernelBuilder k_;
  const std::vector<lang::Term>& head_;
  std::vector<uint32_t> moving_;  // the columns that make a node, the outermost first
  Value blocks_, first_block_, nodes_, line_, most_;
  kernel::Buffer state_, waiting_, queue_;
  ClaimedSet set_;
  std::optional<PipelineCode> code_;

  // Of the instance.
  Value instance_, in_line_, zero_;
  kernel::Buffer first_, count_, added_;  // one cell each
  kernel::Buffer moves_, fresh_;          // words of a block
};

}  // namespace xlog::relation
