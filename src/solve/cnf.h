// Formulas in conjunctive normal form. Literals are numbers as in DIMACS: variable v is v, its
// negation -v, and variables count from 1.
#pragma once

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <vector>

namespace xlog::solve {

using Literal = int32_t;
constexpr int32_t kMostVariables = INT32_MAX - 1;

constexpr int32_t variable_of(Literal literal) { return literal < 0 ? -literal : literal; }

// Clauses in the order in which they came; an empty clause is one that nothing satisfies.
class Cnf {
 public:
  int32_t variables() const { return variables_; }
  int32_t new_variable() { return ++variables_; }
  void need_variables(int32_t count) { variables_ = std::max(variables_, count); }

  // Also makes the clause's variables known.
  void add(std::span<const Literal> clause);
  void add(std::initializer_list<Literal> clause) { add(std::span(clause.begin(), clause.size())); }

  size_t size() const { return ends_.size(); }
  std::span<const Literal> operator[](size_t clause) const {
    const size_t begin = clause == 0 ? 0 : ends_[clause - 1];
    return std::span(literals_).subspan(begin, ends_[clause] - begin);
  }
  size_t literals() const { return literals_.size(); }

  bool operator==(const Cnf&) const = default;

 private:
  int32_t variables_ = 0;
  std::vector<Literal> literals_;
  std::vector<size_t> ends_;  // of each clause in literals_
};

// Hard clauses must hold; the sum of the weights of the soft clauses that do not is the cost.
struct WeightedCnf {
  Cnf hard;
  Cnf soft;
  std::vector<uint64_t> weights;  // of the soft clauses; their sum fits in 64 bits

  int32_t variables() const { return std::max(hard.variables(), soft.variables()); }

  bool operator==(const WeightedCnf&) const = default;
};

// A value for each variable.
class Model {
 public:
  Model() = default;
  explicit Model(int32_t variables) : values_(static_cast<size_t>(variables) + 1, false) {}
  int32_t variables() const { return static_cast<int32_t>(values_.size()) - 1; }
  void set(Literal literal) { values_[static_cast<size_t>(variable_of(literal))] = literal > 0; }
  bool holds(Literal literal) const {
    return values_[static_cast<size_t>(variable_of(literal))] == (literal > 0);
  }
  bool satisfies(std::span<const Literal> clause) const;
  bool satisfies(const Cnf& cnf) const;

  bool operator==(const Model&) const = default;

 private:
  std::vector<bool> values_{false};
};

}  // namespace xlog::solve
