// Counts how many of some literals hold, in clauses: output k holds when at least k inputs do. A
// balanced tree of unary adders in which outputs come to be only when they are asked for, so that a
// core of a thousand literals of which two must fail costs a few thousand clauses
// (Martins, Joshi, Manquinho, Lynce: Incremental Cardinality Constraints for MaxSAT, 2014).
//
//   Totalizer count(inputs);
//   Literal two = count.at_least(2, sink);   // assume -two: at most one input holds
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "solve/cnf.h"

namespace xlog::solve {

// Where clauses and variables go.
class ClauseSink {
 public:
  virtual ~ClauseSink() = default;
  virtual int32_t new_variable() = 0;
  virtual void add(std::span<const Literal> clause) = 0;
};

class Totalizer {
 public:
  explicit Totalizer(std::span<const Literal> inputs);

  size_t inputs() const { return nodes_.back().inputs; }

  // The literal that follows from any `count` of the inputs, 1 <= count <= inputs(). Only that
  // direction holds: it may be true when fewer inputs are.
  Literal at_least(size_t count, ClauseSink& sink);

 private:
  struct Node {
    size_t left = 0;
    size_t right = 0;
    size_t inputs = 1;
    std::vector<Literal> outputs;  // outputs[k - 1]: at least k; a leaf's is the input
  };

  size_t build(std::span<const Literal> inputs);
  void extend(size_t node, size_t count, ClauseSink& sink);

  std::vector<Node> nodes_;  // children before parents
};

}  // namespace xlog::solve
