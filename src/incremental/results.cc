// The results that folds over rows which may hold may have (open_folds.h): of each group that a
// batch touches they are found again, and compared with those that it had.
#include <deque>

#include "incremental/kept.h"
#include "oracle/possible_results.h"

namespace xlog::incremental {

using lang::Value;

namespace {

using Key = std::vector<uint64_t>;

std::vector<uint32_t> group_columns(const OpenFold& fold) {
  std::vector<uint32_t> columns(fold.group_columns);
  for (uint32_t c = 0; c < columns.size(); ++c) columns[c] = c;
  return columns;
}

// Calls `visit` with the rows of a table whose first columns are the group, of every state.
template <typename Visit>
void for_each_of_group(Table& table, const OpenFold& fold, const uint64_t* group,
                       const Visit& visit) {
  if (fold.group_columns == 0) {
    for (uint32_t r = 0; r < table.end(); ++r) {
      if (table.is_used(r)) visit(r);
    }
    return;
  }
  for (const uint32_t r : table.rows_with(table.index(group_columns(fold)), group)) visit(r);
}

}  // namespace

std::vector<Value> Kept::folded_values(const OpenFold& fold, uint32_t element) const {
  const uint64_t* row = tables_[fold.element.index].row(element);
  std::vector<Value> values;
  for (size_t i = 0; i < fold.folds.size(); ++i) {
    const uint32_t column = fold.value_columns[i];
    values.push_back(column == OpenFold::kNoValue ? Value::u64(0)
                                                  : cells_.value(fold.value_kinds[i], row[column]));
  }
  return values;
}

// All rows for a group that is there: the results that it may have, or the one that it certainly
// has; nullopt where there are too many.
std::optional<std::set<Key>> Kept::results_of(const OpenFold& fold, bool only_certain,
                                              const uint64_t* group) {
  Table& elements = tables_[fold.element.index];
  const Table& certain_elements = tables_[fold.certain_element.index];
  std::deque<std::vector<Value>> values;
  std::vector<const std::vector<Value>*> certain, open;
  for_each_of_group(elements, fold, group, [&](uint32_t row) {
    if ((elements.flags(row) & kNew) == 0) return;
    values.push_back(folded_values(fold, row));
    const uint32_t same = certain_elements.find(elements.row(row));
    const bool is_certain = same != kNoRow && (certain_elements.flags(same) & kNew) != 0;
    (is_certain ? certain : open).push_back(&values.back());
  });
  std::set<Key> found;
  if (only_certain && !open.empty()) return found;
  runner_.add_work(values.size());
  const auto results =
      oracle::possible_results(fold.folds, fold.nonempty, certain, open, session_.names);
  if (!results) return std::nullopt;
  for (const std::vector<Value>& result : *results) {
    Key row(group, group + fold.group_columns);
    for (size_t i = 0; i < result.size(); ++i) {
      row.push_back(cells_.cell(fold.folds[i].result.kind, result[i]));
    }
    found.insert(std::move(row));
  }
  return found;
}

Work Kept::update_results(Part& part) {
  const lang::PredId pred = part.predicates.front();
  const OpenFold& fold = *program_.worlds.fold_of(pred);
  std::set<Key> touched;
  for (const uint32_t t : part.reads) {
    for (const uint32_t row : changed_[t]) {
      const uint64_t* cells = tables_[t].row(row);
      touched.emplace(cells, cells + fold.group_columns);
      runner_.add_work(1);
      co_await rest_if_tired();
    }
  }
  const uint32_t t = pred.index;
  for (const Key& group : touched) {
    const Table& groups = tables_[fold.groups.index];
    const uint32_t at = groups.find(group.data());
    const bool is_there = at != kNoRow && (groups.flags(at) & kNew) != 0;
    std::optional<std::set<Key>> results = std::set<Key>{};
    if (is_there) results = results_of(fold, pred != fold.fold, group.data());
    if (!results) {
      allowance_->give_up();
      co_return;
    }
    runner_.add_work(1 + results->size());
    std::vector<uint32_t> gone;
    for_each_of_group(tables_[t], fold, group.data(), [&](uint32_t row) {
      const uint64_t* cells = tables_[t].row(row);
      if (results->erase(Key(cells, cells + tables_[t].arity())) == 0) gone.push_back(row);
    });
    for (const uint32_t row : gone) add_weight(t, row, -1);
    for (const Key& row : *results) add_weight(t, tables_[t].add(row.data()), 1);
    co_await rest_if_tired();
  }
  co_await settle_resting(t);
}

}  // namespace xlog::incremental
