// Rules of a ground program that say which result an aggregate has. What it reads lies below its
// own rule, so its truth is that of what holds in a world.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "lang/value.h"
#include "oracle/ground.h"
#include "solve/ground_program.h"

namespace xlog::epistemic {

// One aggregate, with what its results have in common.
class AggregateRules {
 public:
  // `counts`, by element: the atom which says that it counts.
  AggregateRules(const oracle::AggregateInput& input, std::vector<solve::Atom> counts,
                 solve::GroundProgram& program, lang::Names& names);

  // Literals that hold together where this is the result. Throws oracle::LimitExceeded.
  std::vector<solve::Literal> equals(const std::vector<lang::Value>& result);

 private:
  // Whole numbers of a unit, a power of two, that count under the aggregate's conditions.
  struct Weights {
    std::vector<int64_t> weights;  // by element
    int unit = 0;
    std::map<int64_t, solve::Atom> at_least = {};  // their sum
  };
  struct Column {
    bool is_prepared = false;
    std::optional<Weights> weights;  // where all sums are exact
    // Otherwise by result: kind and bits.
    std::map<std::pair<lang::TypeKind, uint64_t>, solve::Atom> by_result;
  };

  std::vector<solve::Literal> column_equals(size_t column, const lang::Value& result);
  std::vector<solve::Literal> best_equals(size_t column, const lang::Value& result);
  std::vector<solve::Literal> sum_equals(Weights& weights, double sum);
  std::vector<solve::Literal> sum_equals(Weights& weights, int64_t sum);
  std::vector<solve::Literal> average_equals(Weights& weights, double average);
  solve::Atom at_least(Weights& weights, int64_t bound);
  std::optional<Weights> integers(size_t column) const;
  std::optional<Weights> floats(size_t column) const;
  void prepare(size_t column);
  void find_results(size_t column);
  void add_rule(solve::Atom head, std::vector<solve::Literal> body);

  const oracle::AggregateInput& input_;
  const std::vector<solve::Atom> counts_;
  solve::GroundProgram& program_;
  lang::Names& names_;
  Weights ones_;  // one for each element: their number
  std::vector<Column> columns_;
  solve::Atom some_ = 0;  // element counts, where that is asked
};

}  // namespace xlog::epistemic
