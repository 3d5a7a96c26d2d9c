// For tests and measurements: families of logic programs, as text for gringo.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <random>
#include <string>

namespace xlog::solve {

inline uint32_t random_below(std::mt19937& random, uint32_t n) { return random() % n; }

inline std::string queens(int n) {
  return fmt::format(
      R"(#const n={}. 1 {{q(X,Y) : Y=1..n}} 1 :- X=1..n. 1 {{q(X,Y) : X=1..n}} 1 :- Y=1..n.
:- {{q(X,Y) : X=1..n, Y=1..n, X-Y=D}} > 1, D=1-n..n-1. :- {{q(X,Y) : X=1..n, Y=1..n, X+Y=D}} > 1, D=2..2*n.
)",
      n);
}

inline std::string random_graph(int nodes, int edges, uint32_t seed) {
  std::mt19937 random(seed);
  std::string text = fmt::format("node(1..{}).\n", nodes);
  for (int i = 0; i < edges; ++i) {
    const uint32_t a = 1 + random_below(random, static_cast<uint32_t>(nodes));
    const uint32_t b = 1 + random_below(random, static_cast<uint32_t>(nodes));
    if (a != b) text += fmt::format("edge({},{}).\n", a, b);
  }
  return text;
}

inline std::string colouring(int nodes, int edges, int colours, uint32_t seed) {
  return random_graph(nodes, edges, seed) +
         fmt::format(
             "col(1..{}). 1 {{c(X,C) : col(C)}} 1 :- node(X). :- edge(X,Y), c(X,C), c(Y,C).\n",
             colours);
}

// Reachability makes it non-tight.
inline std::string hamiltonian(int nodes, int edges, uint32_t seed) {
  std::string text = random_graph(nodes, edges, seed);
  for (int i = 1; i <= nodes; ++i) text += fmt::format("edge({},{}).\n", i, i % nodes + 1);
  return text + R"(1 {in(X,Y) : edge(X,Y)} 1 :- node(X). 1 {in(X,Y) : edge(X,Y)} 1 :- node(Y).
r(1). r(Y) :- r(X), in(X,Y). :- node(X), not r(X).
)";
}

inline std::string subset_sums(int items, int most, uint32_t seed) {
  std::mt19937 random(seed);
  std::string text;
  int64_t total = 0;
  for (int i = 1; i <= items; ++i) {
    const uint32_t weight = 1 + random_below(random, static_cast<uint32_t>(most));
    total += weight;
    text += fmt::format("w({},{}).\n", i, weight);
  }
  return text + fmt::format(
                    "{{s(I) : w(I,_)}}. :- #sum {{W,I : s(I), w(I,W)}} < {}. "
                    ":- #sum {{W,I : s(I), w(I,W)}} > {}.\n",
                    total / 2, total / 2);
}

// Exists x, for all y: a random formula in disjunctive normal form, by saturation.
inline std::string two_qbf(int exists, int for_all, int terms, uint32_t seed) {
  std::mt19937 random(seed);
  std::string text;
  for (int i = 1; i <= exists; ++i) text += fmt::format("t(x({0})) | f(x({0})).\n", i);
  for (int i = 1; i <= for_all; ++i) {
    text += fmt::format("t(y({0})) | f(y({0})). t(y({0})) :- sat. f(y({0})) :- sat.\n", i);
  }
  for (int i = 0; i < terms; ++i) {
    const auto literal = [&](bool first) {
      const bool x = first ? false : random_below(random, 2) == 0;
      return fmt::format("{}({}({}))", random_below(random, 2) == 0 ? "t" : "f", x ? "x" : "y",
                         1 + random_below(random, static_cast<uint32_t>(x ? exists : for_all)));
    };
    text += fmt::format("sat :- {}, {}, {}.\n", literal(true), literal(true), literal(false));
  }
  return text + ":- not sat.\n";
}

inline std::string dominating_set(int nodes, int edges, uint32_t seed) {
  return random_graph(nodes, edges, seed) + R"({in(X)} :- node(X).
dom(X) :- in(X). dom(Y) :- edge(X,Y), in(X). dom(X) :- edge(X,Y), in(Y). :- node(X), not dom(X).
#minimize {1,X : in(X)}.
)";
}

inline std::string travelling(int nodes, uint32_t seed) {
  std::mt19937 random(seed);
  std::string text = fmt::format("node(1..{}).\n", nodes);
  for (int i = 1; i <= nodes; ++i) {
    for (int j = 1; j <= nodes; ++j) {
      if (i != j) text += fmt::format("cost({},{},{}).\n", i, j, 1 + random_below(random, 20));
    }
  }
  return text + R"(1 {in(X,Y) : cost(X,Y,_)} 1 :- node(X). 1 {in(X,Y) : cost(X,Y,_)} 1 :- node(Y).
r(1). r(Y) :- r(X), in(X,Y). :- node(X), not r(X). #minimize {C,X,Y : in(X,Y), cost(X,Y,C)}.
)";
}

// Which edges are on decides what 20 nodes reach; one large component.
inline std::string reachability(int nodes, int edges, uint32_t seed) {
  return random_graph(nodes, edges, seed) + R"({on(X,Y)} :- edge(X,Y). r(X,X) :- node(X), X <= 20.
r(X,Z) :- r(X,Y), on(Y,Z). :- r(1,2). :- not r(3,4). :- not r(5,6), r(7,8).
)";
}

inline std::string free_choice(int atoms) {
  return fmt::format("{{a(1..{})}}. b(X) :- a(X), not a(X+1), X < {}.\n", atoms, atoms);
}

}  // namespace xlog::solve
