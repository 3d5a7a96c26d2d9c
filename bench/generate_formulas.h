// Formulas to measure solvers with, of families that differ: random, combinatorial, graphs,
// circuits. The same arguments give the same formula.
#pragma once

#include <random>
#include <set>
#include <utility>
#include <vector>

#include "solve/cnf.h"

namespace bench {

using xlog::solve::Cnf;
using xlog::solve::Literal;

class FormulaRandom {
 public:
  explicit FormulaRandom(uint64_t seed) : engine_(seed) {}
  int32_t below(int32_t count) {
    return static_cast<int32_t>(engine_() % static_cast<uint64_t>(count));
  }
  Literal literal(int32_t variables) {
    const Literal variable = 1 + below(variables);
    return below(2) == 0 ? variable : -variable;
  }

 private:
  std::mt19937_64 engine_;
};

// Three different variables a clause. At 4.26 clauses a variable half of the formulas have a model,
// and all are hard.
inline Cnf random_3sat(int32_t variables, double clauses_a_variable, uint64_t seed) {
  FormulaRandom random(seed);
  Cnf cnf;
  cnf.need_variables(variables);
  const auto clauses = static_cast<size_t>(variables * clauses_a_variable);
  while (cnf.size() < clauses) {
    const Literal a = random.literal(variables), b = random.literal(variables),
                  c = random.literal(variables);
    if (std::abs(a) == std::abs(b) || std::abs(a) == std::abs(c) || std::abs(b) == std::abs(c)) {
      continue;
    }
    cnf.add({a, b, c});
  }
  return cnf;
}

// More pigeons than holes by one.
inline Cnf pigeon_holes(int32_t holes) {
  Cnf cnf;
  const auto sits = [holes](int32_t pigeon, int32_t hole) { return pigeon * holes + hole + 1; };
  for (int32_t pigeon = 0; pigeon <= holes; ++pigeon) {
    std::vector<Literal> somewhere;
    for (int32_t hole = 0; hole < holes; ++hole) somewhere.push_back(sits(pigeon, hole));
    cnf.add(somewhere);
  }
  for (int32_t hole = 0; hole < holes; ++hole) {
    for (int32_t a = 0; a <= holes; ++a) {
      for (int32_t b = 0; b < a; ++b) cnf.add({-sits(a, hole), -sits(b, hole)});
    }
  }
  return cnf;
}

// A random graph with `edges` edges in `colours` colours.
inline Cnf colouring(int32_t nodes, int32_t edges, int32_t colours, uint64_t seed) {
  FormulaRandom random(seed);
  std::set<std::pair<int32_t, int32_t>> graph;
  while (std::ssize(graph) < edges) {
    const int32_t a = random.below(nodes), b = random.below(nodes);
    if (a != b) graph.emplace(std::min(a, b), std::max(a, b));
  }
  const auto has = [colours](int32_t node, int32_t colour) { return node * colours + colour + 1; };
  Cnf cnf;
  for (int32_t node = 0; node < nodes; ++node) {
    std::vector<Literal> some;
    for (int32_t colour = 0; colour < colours; ++colour) {
      some.push_back(has(node, colour));
      for (int32_t other = 0; other < colour; ++other) {
        cnf.add({-has(node, colour), -has(node, other)});
      }
    }
    cnf.add(some);
  }
  for (const auto& [a, b] : graph) {
    for (int32_t colour = 0; colour < colours; ++colour)
      cnf.add({-has(a, colour), -has(b, colour)});
  }
  return cnf;
}

// Two factors of so many bits, both above 1, with this product: an array of adders.
class Multiplication {
 public:
  static Cnf formula(int32_t bits, uint64_t product) {
    Multiplication circuit;
    circuit.build(static_cast<size_t>(bits), product);
    return circuit.cnf_;
  }

 private:
  Literal both(Literal a, Literal b) {
    const Literal out = cnf_.new_variable();
    cnf_.add({-out, a});
    cnf_.add({-out, b});
    cnf_.add({out, -a, -b});
    return out;
  }
  Literal differ(Literal a, Literal b) {
    const Literal out = cnf_.new_variable();
    cnf_.add({-out, a, b});
    cnf_.add({-out, -a, -b});
    cnf_.add({out, -a, b});
    cnf_.add({out, a, -b});
    return out;
  }
  Literal at_least_two(Literal a, Literal b, Literal c) {
    const Literal out = cnf_.new_variable();
    for (const auto& [p, q] : {std::pair(a, b), std::pair(a, c), std::pair(b, c)}) {
      cnf_.add({out, -p, -q});
      cnf_.add({-out, p, q});
    }
    return out;
  }

  void build(size_t bits, uint64_t product) {
    const Literal zero = cnf_.new_variable();
    cnf_.add({-zero});
    std::vector<Literal> a(bits), b(bits), sum(2 * bits, zero);
    for (Literal& bit : a) bit = cnf_.new_variable();
    for (Literal& bit : b) bit = cnf_.new_variable();
    for (size_t i = 0; i < bits; ++i) {
      Literal carry = zero;
      for (size_t j = 0; j < bits; ++j) {
        const Literal term = both(a[j], b[i]), old = sum[i + j];
        sum[i + j] = differ(differ(old, term), carry);
        carry = at_least_two(old, term, carry);
      }
      sum[i + bits] = carry;
    }
    for (size_t k = 0; k < sum.size(); ++k) {
      const bool one = k < 64 && ((product >> k) & 1) != 0;
      cnf_.add({one ? sum[k] : -sum[k]});
    }
    cnf_.add(std::span(a).subspan(1));
    cnf_.add(std::span(b).subspan(1));
  }

  Cnf cnf_;
};

}  // namespace bench
