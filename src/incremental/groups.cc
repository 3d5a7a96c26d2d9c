#include "incremental/groups.h"

#include <algorithm>

#include "base/check.h"

namespace xlog::incremental {

using lang::Value;
using oracle::Fold;

Groups::Groups(const lang::Rule& rule, const lang::Program& program) : rule_(rule), groups_(0) {
  const lang::Predicate& predicate = program[rule.head[0].pred];
  for (uint32_t c = 0; c < predicate.arity; ++c) {
    const bool folded =
        std::ranges::any_of(rule.aggregates, [&](const auto& a) { return a.column == c; });
    if (folded) continue;
    key_columns_.push_back(c);
    key_kinds_.push_back(predicate.columns[c].type.kind);
  }
  bag_columns_ = key_columns();
  for (const lang::HeadAggregate& aggregate : rule.aggregates) {
    const lang::Type& result = predicate.columns[aggregate.column].type;
    folds_.push_back({oracle::fold_kind(aggregate.fn), result});
    value_kinds_.push_back(aggregate.value.type.kind);
    if (aggregate.has_value && aggregate.value.kind == lang::TermKind::Variable) {
      value_kinds_.back() = rule.variables[aggregate.value.var.index].type.kind;
    }
    result_kinds_.push_back(result.kind);
    value_columns_.push_back(aggregate.has_value ? bag_columns_++ : kNoRow);
    extremes_ &= folds_.back().kind == Fold::Kind::Min || folds_.back().kind == Fold::Kind::Max;
    linear_ &= folds_.back().kind == Fold::Kind::Count ||
               (folds_.back().kind == Fold::Kind::Sum && lang::is_integer(result.kind));
  }
  groups_ = Table(key_columns());
}

void Groups::add(const uint64_t* row, int64_t sign, const Cells& cells, const lang::Names& names) {
  // Often that of the row before.
  const bool again = last_ < groups_.end() && groups_.is_used(last_) &&
                     std::equal(row, row + groups_.arity(), groups_.row(last_));
  uint32_t group = again ? last_ : groups_.find(row);
  if (group == kNoRow) {
    group = groups_.add(row);
    const size_t width = folds_.size();
    if (has_result_.size() <= group) {
      has_result_.resize(group + 1, false);
      sums_.resize((group + 1) * width, 0);
      results_.resize((group + 1) * width, 0);
    }
    has_result_[group] = false;
    std::fill_n(sums_.begin() + static_cast<ptrdiff_t>(group * width), width, 0);
  }
  last_ = group;
  groups_.set_weight(group, groups_.weight(group) + sign);
  for (size_t i = 0; i < folds_.size() && linear_; ++i) {
    if (value_columns_[i] == kNoRow) continue;
    const uint64_t value = row[value_columns_[i]];
    sums_[group * folds_.size() + i] += sign > 0 ? value : 0 - value;
  }
  if ((groups_.flags(group) & kTouched) != 0) return;
  if (extremes_ && !matters(group, row, sign, cells, names)) return;
  groups_.set_flag(group, kTouched);
  touched_.push_back(group);
}

// Whether minima and maxima may change: a better value comes, or one goes that is the best.
bool Groups::matters(uint32_t group, const uint64_t* row, int64_t sign, const Cells& cells,
                     const lang::Names& names) const {
  if (!has_result_[group]) return true;
  for (size_t i = 0; i < folds_.size(); ++i) {
    const Value value = cells.value(value_kinds_[i], row[value_columns_[i]]);
    const Value best = cells.value(result_kinds_[i], results_[group * folds_.size() + i]);
    const auto order = lang::compare(value, best, names);
    const bool least = folds_[i].kind == Fold::Kind::Min;
    if (sign < 0 ? order == 0 : least ? order < 0 : order > 0) return true;
  }
  return false;
}

bool Groups::fold_touched(Table& bag, Cells& cells, lang::Names& names, const Replace& replace) {
  constexpr size_t kAtOnce = 256;
  const size_t width = folds_.size();
  std::vector<uint64_t> before, after;
  const size_t end = std::min(touched_.size(), folded_ + kAtOnce);
  for (; folded_ < end; ++folded_) {
    const uint32_t group = touched_[folded_];
    groups_.clear_flag(group, kTouched);
    uint64_t* results = results_.data() + group * width;
    const bool had = has_result_[group];
    if (had) make_head(groups_.row(group), {results, width}, before);
    const bool has = fold(group, bag, cells, names, after);
    const bool same = had && has && before == after;
    if (!same) replace(had ? before.data() : nullptr, has ? after.data() : nullptr);
    has_result_[group] = has;
    for (size_t i = 0; i < width && has; ++i) results[i] = after[rule_.aggregates[i].column];
    if (groups_.weight(group) == 0) groups_.remove(group);
  }
  if (folded_ < touched_.size()) return false;
  touched_.clear();
  folded_ = 0;
  return true;
}

void Groups::index(Table& bag) const {
  if (!linear_) bag.index(bag_key());
}

std::vector<uint32_t> Groups::bag_key() const {
  std::vector<uint32_t> columns(key_columns());
  for (uint32_t c = 0; c < columns.size(); ++c) columns[c] = c;
  return columns;
}

void Groups::for_each_head(const std::function<void(const uint64_t* cells)>& visit) const {
  std::vector<uint64_t> head;
  for (uint32_t group = 0; group < groups_.end(); ++group) {
    if (!groups_.is_used(group) || !has_result_[group]) continue;
    make_head(groups_.row(group), {results_.data() + group * folds_.size(), folds_.size()}, head);
    visit(head.data());
  }
}

void Groups::clear() {
  groups_ = Table(key_columns());
  sums_.clear();
  results_.clear();
  has_result_.clear();
  touched_.clear();
  folded_ = 0;
}

void Groups::make_head(const uint64_t* key, std::span<const uint64_t> results,
                       std::vector<uint64_t>& head) const {
  head.assign(key_columns_.size() + folds_.size(), 0);
  for (size_t i = 0; i < key_columns_.size(); ++i) head[key_columns_[i]] = key[i];
  for (size_t i = 0; i < folds_.size(); ++i) head[rule_.aggregates[i].column] = results[i];
}

// The head row of a group; false when it has no result.
bool Groups::fold(uint32_t group, Table& bag, Cells& cells, lang::Names& names,
                  std::vector<uint64_t>& head) const {
  const int64_t solutions = groups_.weight(group);
  if (solutions == 0) return false;
  XLOG_CHECK(solutions > 0, "a group with fewer than no solutions");
  std::vector<uint64_t> results;
  if (linear_) {
    for (size_t i = 0; i < folds_.size(); ++i) {
      const bool counts = folds_[i].kind == Fold::Kind::Count;
      results.push_back(counts ? static_cast<uint64_t>(solutions)
                               : sums_[group * folds_.size() + i]);
    }
    make_head(groups_.row(group), results, head);
    return true;
  }
  std::vector<std::vector<Value>> values(folds_.size());
  const uint32_t index = bag.index(bag_key());
  for (const uint32_t r : bag.rows_with(index, groups_.row(group))) {
    if (bag.weight(r) == 0) continue;
    for (size_t i = 0; i < folds_.size(); ++i) {
      const Value value = value_columns_[i] == kNoRow
                              ? Value::u64(0)
                              : cells.value(value_kinds_[i], bag.row(r)[value_columns_[i]]);
      // One of many equal values is as good for the least or the greatest.
      const bool once = folds_[i].kind == Fold::Kind::Min || folds_[i].kind == Fold::Kind::Max;
      values[i].insert(values[i].end(), once ? 1 : static_cast<size_t>(bag.weight(r)), value);
    }
  }
  for (size_t i = 0; i < folds_.size(); ++i) {
    const std::optional<Value> value = oracle::fold_values(folds_[i], std::move(values[i]), names);
    if (!value) return false;
    results.push_back(cells.cell(result_kinds_[i], *value));
  }
  make_head(groups_.row(group), results, head);
  return true;
}

}  // namespace xlog::incremental
