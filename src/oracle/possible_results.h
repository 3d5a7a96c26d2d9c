// Every result that an aggregate could have when some of its rows are uncertain.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "lang/value.h"
#include "oracle/aggregates.h"

namespace xlog::oracle {

// The exponent of the power of two that all values are whole multiples of, where every sum of some
// of them is exact, in whatever order they are added; nullopt where rounding may depend on it.
std::optional<int> exact_unit(std::span<const double> values);

// Rows are taken or left one after another. What was taken so far is a state, and choices that lead
// to the same result whatever follows share one, so that there are few where values repeat or add
// up: sums and counts are carried as numbers. Lists, and sums that round, need the canonical order.
class PartialResults {
 public:
  using State = std::vector<uint64_t>;
  using Row = const std::vector<Value>*;  // one value a fold

  PartialResults(const std::vector<Fold>& folds, bool nonempty, std::vector<Row> rows,
                 lang::Names& names);

  // The order in which to take or leave rows.
  const std::vector<uint32_t>& order() const { return order_; }
  State start() const { return State(1 + folds_.size(), 0); }
  State taken(State state, uint32_t row) const;
  // As fold_rows() of the rows that were taken.
  std::optional<std::vector<Value>> result(const State& state, lang::Names& names) const;

 private:
  // How a state knows the value of a column.
  enum class Carry : uint8_t {
    Number,    // of rows
    Sum,       // of integers
    FloatSum,  // of floats
    Rank,      // that the least or largest value has among all
    Taken,     // not at all: it says which rows were taken
  };

  void rank_column(size_t column, const lang::Names& names);
  bool has_exact_sums(size_t column) const;
  void choose_carries();
  void order_rows();
  std::strong_ordering compare(uint32_t a, uint32_t b, const std::vector<size_t>& columns) const;

  const std::vector<Fold> folds_;
  const bool nonempty_;
  const std::vector<Row> rows_;
  std::vector<std::vector<uint32_t>> ranks_;  // by column, then row: among the column's values
  std::vector<std::vector<Value>> ranked_;    // by column, then rank
  std::vector<Carry> carries_;                // by column
  std::vector<size_t> ordered_by_;            // columns in whose canonical order rows are taken
  std::vector<uint32_t> order_;               // of rows
  std::vector<uint32_t> first_like_;          // by row: one that a list cannot tell from it
  bool needs_number_ = false;                 // of rows, and not only whether there are any
};

// Every result of the aggregate over `certain` rows and any subset of `open` ones, in order.
// nullopt when there are more than kMostResults partial ones.
constexpr size_t kMostResults = size_t{1} << 16;
std::optional<std::vector<std::vector<Value>>> possible_results(
    const std::vector<Fold>& folds, bool nonempty,
    const std::vector<const std::vector<Value>*>& certain,
    const std::vector<const std::vector<Value>*>& open, lang::Names& names);

}  // namespace xlog::oracle
