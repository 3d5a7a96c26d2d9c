// For tests: random formulas, and the obvious way to solve small ones.
#pragma once

#include <random>

#include "solve/cnf.h"

namespace xlog::solve {

using Random = std::mt19937_64;

inline uint32_t below(Random& random, uint32_t count) {
  return static_cast<uint32_t>(random() % count);
}

inline Literal random_literal(Random& random, int32_t variables) {
  const auto v = static_cast<Literal>(1 + below(random, static_cast<uint32_t>(variables)));
  return below(random, 2) == 0 ? v : -v;
}

// Of 1 to `longest` literals, now and then none; repetitions and both signs of one variable occur.
inline std::vector<Literal> random_clause(Random& random, int32_t variables, uint32_t longest) {
  std::vector<Literal> clause(below(random, 400) == 0 ? 0 : 1 + below(random, longest));
  for (Literal& literal : clause) literal = random_literal(random, variables);
  return clause;
}

inline Cnf random_formula(Random& random, int32_t variables, uint32_t clauses, uint32_t longest) {
  Cnf cnf;
  cnf.need_variables(variables);
  for (uint32_t i = 0; i < clauses; ++i) cnf.add(random_clause(random, variables, longest));
  return cnf;
}

// Clauses of three different variables. At 4.26 clauses a variable such formulas are hardest.
inline Cnf random_3sat(Random& random, int32_t variables, uint32_t clauses) {
  Cnf cnf;
  cnf.need_variables(variables);
  while (cnf.size() < clauses) {
    const Literal a = random_literal(random, variables), b = random_literal(random, variables),
                  c = random_literal(random, variables);
    const bool differ = variable_of(a) != variable_of(b) && variable_of(a) != variable_of(c) &&
                        variable_of(b) != variable_of(c);
    if (differ) cnf.add({a, b, c});
  }
  return cnf;
}

// `pigeons` into one hole less.
inline Cnf pigeon_holes(int32_t pigeons) {
  const int32_t holes = pigeons - 1;
  const auto in = [&](int32_t pigeon, int32_t hole) { return pigeon * holes + hole + 1; };
  Cnf cnf;
  std::vector<Literal> somewhere;
  for (int32_t p = 0; p < pigeons; ++p) {
    somewhere.clear();
    for (int32_t h = 0; h < holes; ++h) somewhere.push_back(in(p, h));
    cnf.add(somewhere);
    for (int32_t q = 0; q < p; ++q) {
      for (int32_t h = 0; h < holes; ++h) cnf.add({-in(p, h), -in(q, h)});
    }
  }
  return cnf;
}

// A bit for each assignment of up to 16 variables: which of them satisfy what was required.
class TruthTable {
 public:
  explicit TruthTable(int32_t variables)
      : bits_(variables <= 6 ? 1 : size_t{1} << (variables - 6), ~uint64_t{0}) {}

  void require(std::span<const Literal> clause) {
    for (size_t word = 0; word < bits_.size(); ++word) bits_[word] &= clause_bits(clause, word);
  }
  void require(const Cnf& cnf) {
    for (size_t i = 0; i < cnf.size(); ++i) require(cnf[i]);
  }
  bool satisfiable() const {
    return std::ranges::any_of(bits_, [](uint64_t word) { return word != 0; });
  }
  bool implies(std::span<const Literal> clause) const {
    for (size_t word = 0; word < bits_.size(); ++word) {
      if ((bits_[word] & ~clause_bits(clause, word)) != 0) return false;
    }
    return true;
  }

 private:
  // Variable v is bit v - 1 of an assignment's number.
  static uint64_t clause_bits(std::span<const Literal> clause, size_t word) {
    constexpr uint64_t kColumns[] = {0xAAAAAAAAAAAAAAAA, 0xCCCCCCCCCCCCCCCC, 0xF0F0F0F0F0F0F0F0,
                                     0xFF00FF00FF00FF00, 0xFFFF0000FFFF0000, 0xFFFFFFFF00000000};
    uint64_t bits = 0;
    for (const Literal literal : clause) {
      const auto bit = static_cast<size_t>(variable_of(literal)) - 1;
      const uint64_t column = bit < 6 ? kColumns[bit] : uint64_t{0} - ((word >> (bit - 6)) & 1);
      bits |= literal > 0 ? column : ~column;
    }
    return bits;
  }

  std::vector<uint64_t> bits_;
};

}  // namespace xlog::solve
