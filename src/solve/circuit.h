// The models of a formula as a circuit (smooth d-DNNF): the parts of a conjunction share no
// variable, the two sides of a choice share no model and speak about the same variables. So counts,
// weights, and the weight of each literal take one pass or two (Darwiche 2001, 2003).
//
//   const Circuit circuit = ...;                        // from compile.h
//   mpz_class models = circuit.value<mpz_class>(ones);  // ones: a 1 for each literal
//   for (literal) circuit.by_literal<mpz_class>(ones)[slot(literal)];   // models in which it holds
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "solve/weight_constraints.h"

namespace xlog::solve {

class Circuit {
 public:
  // Nodes refer to nodes before them.
  using Node = uint32_t;
  static constexpr Node kFalse = 0;

  explicit Circuit(int32_t variables) : variables_(variables), nodes_(1) {}

  int32_t variables() const { return variables_; }
  size_t nodes() const { return nodes_.size(); }
  size_t edges() const { return children_.size() + literals_.size() + free_.size(); }
  Node root() const { return root_; }
  void set_root(Node root) { root_ = root; }

  // The literals hold, the free variables have any value, and all children hold; none is kFalse.
  Node add_all(std::span<const Literal> literals, std::span<const int32_t> free,
               std::span<const Node> children);
  // One of two nodes, neither of which is kFalse.
  Node add_either(Node a, Node b);

  // The sum over all models of the product of the weights of their literals. Weights are by slot,
  // none is negative.
  template <typename Number>
  Number value(std::span<const Number> weights) const {
    return values(weights)[root_];
  }
  // By slot: the same sum over the models in which the literal holds.
  template <typename Number>
  std::vector<Number> by_literal(std::span<const Number> weights) const;

 private:
  // Ends of its lists; they begin where those of the node before end.
  struct Ends {
    bool either = false;
    size_t literals = 0;
    size_t free = 0;
    size_t children = 0;
  };
  std::span<const Literal> literals(Node n) const {
    return std::span(literals_).subspan(nodes_[n - 1].literals,
                                        nodes_[n].literals - nodes_[n - 1].literals);
  }
  std::span<const int32_t> free(Node n) const {
    return std::span(free_).subspan(nodes_[n - 1].free, nodes_[n].free - nodes_[n - 1].free);
  }
  std::span<const Node> children(Node n) const {
    return std::span(children_).subspan(nodes_[n - 1].children,
                                        nodes_[n].children - nodes_[n - 1].children);
  }
  Node close(bool either);

  template <typename Number>
  std::vector<Number> values(std::span<const Number> weights) const;
  // Of a conjunction without its children.
  template <typename Number>
  Number own_value(Node n, std::span<const Number> weights) const {
    Number product(1);
    for (const Literal l : literals(n)) product *= weights[slot(l)];
    for (const int32_t v : free(n)) product *= Number(weights[slot(v)] + weights[slot(-v)]);
    return product;
  }

  int32_t variables_ = 0;
  Node root_ = kFalse;
  std::vector<Ends> nodes_;
  std::vector<Literal> literals_;
  std::vector<int32_t> free_;
  std::vector<Node> children_;
};

template <typename Number>
std::vector<Number> Circuit::values(std::span<const Number> weights) const {
  std::vector<Number> values(nodes_.size(), Number(0));
  for (Node n = 1; n < nodes_.size(); ++n) {
    if (nodes_[n].either) {
      for (const Node child : children(n)) values[n] += values[child];
      continue;
    }
    values[n] = own_value(n, weights);
    for (const Node child : children(n)) values[n] *= values[child];
  }
  return values;
}

template <typename Number>
std::vector<Number> Circuit::by_literal(std::span<const Number> weights) const {
  const std::vector<Number> values = this->values(weights);
  std::vector<Number> sums(2 * (static_cast<size_t>(variables_) + 1), Number(0));
  // What a model of the node is worth to the whole: the derivative by its value.
  std::vector<Number> factors(nodes_.size(), Number(0));
  if (root_ != kFalse) factors[root_] = Number(1);
  std::vector<Number> before;
  for (Node n = root_; n > kFalse; --n) {
    if (factors[n] == 0) continue;
    const std::span<const Node> parts = children(n);
    if (nodes_[n].either) {
      for (const Node child : parts) factors[child] += factors[n];
      continue;
    }
    // Each child times all others: those before it, and those behind it.
    Number rest = factors[n] * own_value(n, weights);
    before.clear();
    for (const Node child : parts) {
      before.push_back(rest);
      rest *= values[child];
    }
    for (const Literal l : literals(n)) sums[slot(l)] += rest;
    for (const int32_t v : free(n)) {
      const Number both = weights[slot(v)] + weights[slot(-v)];
      if (both == 0) continue;
      sums[slot(v)] += rest * weights[slot(v)] / both;
      sums[slot(-v)] += rest * weights[slot(-v)] / both;
    }
    Number behind(1);
    for (size_t i = parts.size(); i-- > 0;) {
      factors[parts[i]] += before[i] * behind;
      behind *= values[parts[i]];
    }
  }
  return sums;
}

}  // namespace xlog::solve
