// Rules that carry columns along.
//
//   reach(X, Y) :- reach(X, Z), edge(Z, Y).
//
// What follows from a row of reach does not depend on its X: all rows with the same Z go the same
// way. In a set of bits with the carried columns innermost, the rows that agree in the others, a
// *node*, are a line of bits, and a line goes through the rule in words instead of row by row:
// what is new in a word of node Z goes to the same word of every node Y that the steps find.
//
// An instance has a block of words of all lines to itself. It goes through the nodes again and
// again, in an order in which a node mostly comes before those that it leads to (OrderKernel), and
// takes those whose block has grown since: without a cycle once is enough, and a cycle closes as
// soon as what has run along it meets itself.
//
// That is for processors; groups of lanes go through levels of nodes together (sweep_kernel.h).
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "relation/pipeline_code.h"

namespace xlog::relation {

// The columns of relation `into` that a pipeline only passes on from its driver to its head. Empty
// where it does more than to look up what follows: a value that is computed may not exist, and that
// is counted by rows.
std::vector<uint32_t> carried_columns(const plan::Pipeline& pipeline,
                                      const std::vector<lang::Term>& head, lang::PredId into);

struct CarriedRule {
  plan::Pipeline pipeline;
  std::vector<lang::Term> head;
  Marks marks;
};

// The columns that all rules carry.
std::vector<uint32_t> carried_columns(const std::vector<CarriedRule>& rules, lang::PredId into);

// Rules in the code of a kernel: which nodes follow from a node.
class NodeCode {
 public:
  // `carried`: columns of relation `into`, whose set has them innermost.
  NodeCode(kernel::KernelBuilder& k, const lang::Program& program,
           const std::vector<CarriedRule>& rules, size_t carried, const RelationOf& relation_of,
           lang::PredId into, kernel::Mode mode);

  const kernel::Buffer& cells() const { return set_.set.cells; }
  // Around the code of an instance.
  void begin(Value instance);
  void end();
  // The code for what follows from a node by each of the rules.
  void follow(Value node, const std::function<void(uint32_t rule, Value node)>& found);

 private:
  Values row(Value node);
  Value of_head(const std::vector<lang::Term>& head, const Slots& slots);

  kernel::KernelBuilder& k_;
  const std::vector<CarriedRule>& rules_;
  ClaimedSet set_;
  std::vector<uint32_t> moving_;  // the columns that make a node, the outermost first
  std::vector<std::unique_ptr<PipelineCode>> code_;  // by rule
};

// Of the one instance that finds the order: the next node to start from, the node that is visited
// (and one more; 0: none), and the nodes that have their place.
enum OrderState : uint32_t { kRoot, kTop, kOrdered, kOrderState };

// How far the search for an order is with a node.
enum class Visit : uint32_t { Unseen, Waiting, Open, Done };

// Numbers of 32 bits for each node that the search for an order keeps.
enum class OrderColumn : uint32_t { Visit, Above, Below, Node, Place, Count };

// Puts the nodes in reverse postorder: depth first, each before those that are found from it,
// except where that closes a cycle.
//
// Nodes that were found wait on a stack, each at most once: one that is found again comes to its
// top, which is where a search that goes down one way at a time would find it. A node stays on the
// stack while what it leads to is visited, and gets the last free place then.
//
// Parameters: nodes, most (steps of a launch), state, what is kept of nodes (an OrderColumn after
// the other), the set, and what the pipelines read. One instance.
class OrderKernel {
 public:
  OrderKernel(kernel::Graph& graph, const lang::Program& program,
              const std::vector<CarriedRule>& rules, size_t carried, const RelationOf& relation_of,
              lang::PredId into);
  kernel::Id build();

 private:
  Value at(OrderColumn column, Value node);
  void keep(OrderColumn column, Value node, Value value);
  void find(Value node);
  void visit(Value node);
  void place(Value node);

  kernel::KernelBuilder k_;
  Value nodes_, most_;
  kernel::Buffer state_, kept_;
  std::optional<NodeCode> code_;
  kernel::Buffer now_;  // an OrderState each
};

constexpr uint32_t kBlockWords = 16;

// Of one block that an instance works at: whether it has begun, the place in the order, the nodes
// that have grown, and the rows that a launch adds by each rule.
enum BlockState : uint32_t { kSeeded, kPlace, kGrown, kAdded };
constexpr uint32_t block_state(size_t rules) { return kAdded + static_cast<uint32_t>(rules); }

// Parameters: blocks (of this launch), the first of them, nodes, line (words of one), most (steps
// that an instance takes in a launch), state, what the order keeps, grown (bits, by block and place
// in the order), the set, and what the pipelines read.
class CarryKernel {
 public:
  CarryKernel(kernel::Graph& graph, const lang::Program& program,
              const std::vector<CarriedRule>& rules, size_t carried, const RelationOf& relation_of,
              lang::PredId into);
  kernel::Id build();

 private:
  void seed();
  void step();
  void take(Value node);
  void give(uint32_t rule, Value node);
  // The word of `grown` with a place in the order.
  Value grown_word(Value place);
  void grow(Value node);

  kernel::KernelBuilder k_;
  Value blocks_, first_block_, nodes_, line_, most_;
  kernel::Buffer state_, order_, grown_;
  uint32_t width_;  // of a block's state
  std::optional<NodeCode> code_;

  // Of the instance.
  Value instance_, in_line_, zero_;
  kernel::Buffer now_;    // a BlockState each
  kernel::Buffer moves_;  // words of a block
};

// Words of the bits for so many nodes.
constexpr uint32_t grown_words(uint32_t nodes) { return (nodes + kWordBits - 1) / kWordBits; }

}  // namespace xlog::relation
