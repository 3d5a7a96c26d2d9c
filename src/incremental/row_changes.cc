#include "incremental/row_changes.h"

#include <algorithm>

namespace xlog::incremental {

std::strong_ordering compare_rows(std::span<const lang::Value> a, std::span<const lang::Value> b,
                                  const lang::Names& names) {
  for (size_t i = 0; i < a.size(); ++i) {
    const auto order = lang::compare(a[i], b[i], names);
    if (order != std::strong_ordering::equal) return order;
  }
  return std::strong_ordering::equal;
}

void sort_rows(std::vector<RowChange>& changes, const lang::Names& names) {
  std::ranges::sort(changes, [&](const RowChange& x, const RowChange& y) {
    return compare_rows(x.values, y.values, names) < 0;
  });
}

namespace {

bool shows_views(const logic::Answer& answer) {
  return !answer.well_founded && answer.view_count > 0 && !answer.views.empty();
}

}  // namespace

std::vector<logic::QueryAnswer> take_first_rows(logic::Answer& answer, size_t queries) {
  std::vector<logic::QueryAnswer> rows =
      std::move(shows_views(answer) ? answer.views.front().queries : answer.well_founded_queries);
  rows.resize(queries);
  return rows;
}

const logic::QueryAnswer& first_rows(const logic::Answer& answer, uint32_t query) {
  static const logic::QueryAnswer nothing;
  if (shows_views(answer)) return answer.views.front().queries[query];
  return query < answer.well_founded_queries.size() ? answer.well_founded_queries[query] : nothing;
}

std::vector<RowChange> row_changes(const logic::QueryAnswer& before,
                                   const logic::QueryAnswer& after, const lang::Names& names) {
  std::vector<RowChange> changes;
  size_t b = 0, a = 0;
  while (b < before.rows.size() || a < after.rows.size()) {
    std::strong_ordering order = std::strong_ordering::equal;
    if (b == before.rows.size()) {
      order = std::strong_ordering::greater;
    } else if (a == after.rows.size()) {
      order = std::strong_ordering::less;
    } else {
      order = compare_rows(before.rows[b].values, after.rows[a].values, names);
    }
    if (order < 0) {
      changes.push_back({before.rows[b].values, before.rows[b].status, std::nullopt});
      ++b;
    } else if (order > 0) {
      changes.push_back({after.rows[a].values, std::nullopt, after.rows[a].status});
      ++a;
    } else {
      if (before.rows[b].status != after.rows[a].status) {
        changes.push_back({after.rows[a].values, before.rows[b].status, after.rows[a].status});
      }
      ++b;
      ++a;
    }
  }
  return changes;
}

}  // namespace xlog::incremental
