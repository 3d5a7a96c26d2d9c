#include "oracle/possible_results.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <compare>
#include <numeric>

#include "base/check.h"

namespace xlog::oracle {

using lang::Names;

std::optional<int> exact_unit(std::span<const double> values) {
  constexpr int kBits = 53;  // of a double
  int unit = INT32_MAX;
  double sum = 0;
  for (const double value : values) {
    if (!std::isfinite(value)) return std::nullopt;
    if (value == 0) continue;
    int exponent = 0;
    const double fraction = std::frexp(value, &exponent);
    const auto digits = static_cast<uint64_t>(std::ldexp(std::abs(fraction), kBits));
    unit = std::min(unit, exponent - kBits + std::countr_zero(digits));
    sum += std::abs(value);
  }
  if (sum == 0) return 0;
  // A sum of this many units is exact itself, and so are all on the way.
  if (std::ldexp(sum, -unit) >= std::ldexp(1, kBits - 1)) return std::nullopt;
  return unit;
}

PartialResults::PartialResults(const std::vector<Fold>& folds, bool nonempty, std::vector<Row> rows,
                               Names& names)
    : folds_(folds),
      nonempty_(nonempty),
      rows_(std::move(rows)),
      ranks_(folds.size()),
      ranked_(folds.size()) {
  for (size_t column = 0; column < folds_.size(); ++column) rank_column(column, names);
  choose_carries();
  order_rows();
}

void PartialResults::rank_column(size_t column, const Names& names) {
  std::vector<uint32_t> sorted(rows_.size());
  std::iota(sorted.begin(), sorted.end(), 0);
  const auto value = [&](uint32_t row) -> const Value& { return (*rows_[row])[column]; };
  std::ranges::sort(
      sorted, [&](uint32_t a, uint32_t b) { return lang::compare(value(a), value(b), names) < 0; });
  ranks_[column].resize(rows_.size());
  for (const uint32_t row : sorted) {
    if (ranked_[column].empty() || ranked_[column].back() != value(row)) {
      ranked_[column].push_back(value(row));
    }
    ranks_[column][row] = static_cast<uint32_t>(ranked_[column].size()) - 1;
  }
}

bool PartialResults::has_exact_sums(size_t column) const {
  std::vector<double> values;
  for (const Row row : rows_) values.push_back((*row)[column].as_double());
  return exact_unit(values).has_value();
}

void PartialResults::choose_carries() {
  for (size_t column = 0; column < folds_.size(); ++column) {
    switch (folds_[column].kind) {
      case Fold::Kind::Count:
        carries_.push_back(Carry::Number);
        needs_number_ = true;
        break;
      case Fold::Kind::Sum:
        if (lang::is_integer(folds_[column].result.kind)) {
          carries_.push_back(Carry::Sum);
          break;
        }
        carries_.push_back(Carry::FloatSum);
        if (!has_exact_sums(column)) ordered_by_.push_back(column);
        break;
      case Fold::Kind::Avg:
        carries_.push_back(Carry::FloatSum);
        needs_number_ = true;
        if (!has_exact_sums(column)) ordered_by_.push_back(column);
        break;
      case Fold::Kind::Min:
      case Fold::Kind::Max:
        carries_.push_back(Carry::Rank);
        break;
      case Fold::Kind::LogSumExp:
      case Fold::Kind::Findall:
        carries_.push_back(Carry::Taken);
        ordered_by_.push_back(column);
        break;
    }
  }
  // Rows can be in the canonical order of one column at a time.
  if (ordered_by_.size() < 2) return;
  for (const size_t column : ordered_by_) carries_[column] = Carry::Taken;
}

std::strong_ordering PartialResults::compare(uint32_t a, uint32_t b,
                                             const std::vector<size_t>& columns) const {
  for (const size_t column : columns) {
    if (const auto order = ranks_[column][a] <=> ranks_[column][b]; order != 0) return order;
  }
  return std::strong_ordering::equal;
}

void PartialResults::order_rows() {
  std::vector<size_t> columns = ordered_by_;  // then all others: equal rows stand together
  for (size_t column = 0; column < folds_.size(); ++column) columns.push_back(column);
  order_.resize(rows_.size());
  std::iota(order_.begin(), order_.end(), 0);
  std::ranges::stable_sort(order_,
                           [&](uint32_t a, uint32_t b) { return compare(a, b, columns) < 0; });
  first_like_.resize(rows_.size());
  for (size_t i = 0; i < order_.size(); ++i) {
    const bool is_like = i > 0 && compare(order_[i - 1], order_[i], ordered_by_) == 0;
    first_like_[order_[i]] = is_like ? first_like_[order_[i - 1]] : order_[i];
  }
}

PartialResults::State PartialResults::taken(State state, uint32_t row) const {
  bool takes_row = false;
  for (size_t column = 0; column < folds_.size(); ++column) {
    uint64_t& word = state[1 + column];
    const Value& value = (*rows_[row])[column];
    const uint64_t rank = ranks_[column][row];
    switch (carries_[column]) {
      case Carry::Number:
        break;
      case Carry::Sum:
        word += value.bits;
        break;
      case Carry::FloatSum:
        word = std::bit_cast<uint64_t>(std::bit_cast<double>(word) + value.as_double());
        break;
      case Carry::Rank: {
        const bool is_least = folds_[column].kind == Fold::Kind::Min;
        if (state[0] == 0 || (is_least ? rank < word : rank > word)) word = rank;
        break;
      }
      case Carry::Taken:
        takes_row = true;
        break;
    }
  }
  if (needs_number_ || state[0] == 0) ++state[0];
  if (takes_row) state.push_back(first_like_[row]);
  return state;
}

std::optional<std::vector<Value>> PartialResults::result(const State& state, Names& names) const {
  const bool is_empty = state[0] == 0;
  if (is_empty && nonempty_) return std::nullopt;
  std::vector<Value> result;
  for (size_t column = 0; column < folds_.size(); ++column) {
    const uint64_t word = state[1 + column];
    const Fold& fold = folds_[column];
    switch (carries_[column]) {
      case Carry::Number:
        result.push_back(Value::u64(state[0]));
        break;
      case Carry::Sum:
        result.push_back(Value{fold.result.kind, word});
        break;
      case Carry::FloatSum: {
        const bool is_avg = fold.kind == Fold::Kind::Avg;
        if (is_avg && is_empty) return std::nullopt;
        const auto sum = std::bit_cast<double>(word);
        result.push_back(Value::f64(is_avg ? sum / static_cast<double>(state[0]) : sum));
        break;
      }
      case Carry::Rank:
        if (is_empty) return std::nullopt;
        result.push_back(ranked_[column][word]);
        break;
      case Carry::Taken: {
        std::vector<Value> values;
        for (size_t i = 1 + folds_.size(); i < state.size(); ++i) {
          values.push_back((*rows_[state[i]])[column]);
        }
        const std::optional<Value> value = fold_values(fold, std::move(values), names);
        if (!value) return std::nullopt;
        result.push_back(*value);
        break;
      }
    }
  }
  return result;
}

std::optional<std::vector<std::vector<Value>>> possible_results(
    const std::vector<Fold>& folds, bool nonempty,
    const std::vector<const std::vector<Value>*>& certain,
    const std::vector<const std::vector<Value>*>& open, Names& names) {
  std::vector<PartialResults::Row> all = certain;
  all.insert(all.end(), open.begin(), open.end());
  const PartialResults partial(folds, nonempty, all, names);
  std::vector<PartialResults::State> states = {partial.start()}, next;
  const std::vector<uint32_t>& order = partial.order();
  for (size_t i = 0; i < order.size();) {
    // Of equal rows only the number counts.
    const uint32_t row = order[i];
    size_t forced = 0, free = 0;
    for (; i < order.size() && *all[order[i]] == *all[row]; ++i) {
      ++(order[i] < certain.size() ? forced : free);
    }
    next.clear();
    for (PartialResults::State& state : states) {
      for (size_t k = 0; k < forced; ++k) state = partial.taken(std::move(state), row);
      for (size_t k = 0; k < free; ++k) {
        next.push_back(state);
        state = partial.taken(std::move(state), row);
      }
      next.push_back(std::move(state));
    }
    std::ranges::sort(next);
    next.erase(std::ranges::unique(next).begin(), next.end());
    if (next.size() > kMostResults) return std::nullopt;
    states.swap(next);
  }
  std::vector<std::vector<Value>> results;
  for (const auto& state : states) {
    if (auto result = partial.result(state, names)) results.push_back(std::move(*result));
  }
  std::ranges::sort(results, [&](const auto& a, const auto& b) { return row_less(a, b, names); });
  results.erase(std::ranges::unique(results).begin(), results.end());
  return results;
}

}  // namespace xlog::oracle
