#include "incremental/query_rows.h"

#include <algorithm>

#include "incremental/row_changes.h"
#include "oracle/report.h"

namespace xlog::incremental {

using lang::PredId;
using logic::QueryAnswer;
using logic::RowStatus;

QueryAnswer rows_now(const Kept& kept, PredId pred, RowStatus status, const lang::Names& names) {
  QueryAnswer answer;
  const Table& table = kept.table(pred.index);
  for (uint32_t r = 0; r < table.end(); ++r) {
    if ((table.flags(r) & kNew) != 0) answer.rows.push_back({kept.values(pred, r), status});
  }
  return oracle::in_canonical_order(std::move(answer), names);
}

QueryAnswer rows_before(const Kept& kept, PredId pred, RowStatus status, const lang::Names& names) {
  QueryAnswer answer;
  const Table& table = kept.table(pred.index);
  for (uint32_t r = 0; r < table.end(); ++r) {
    const uint8_t wanted = (table.flags(r) & kTouched) != 0 ? kWasThere : kOld;
    if ((table.flags(r) & wanted) != 0) answer.rows.push_back({kept.values(pred, r), status});
  }
  return oracle::in_canonical_order(std::move(answer), names);
}

std::vector<RowChange> rows_changed(const Kept& kept, PredId pred, RowStatus before,
                                    RowStatus after, const lang::Names& names) {
  std::vector<RowChange> found;
  const Table& table = kept.table(pred.index);
  const auto note = [&](uint32_t r) {
    RowChange change;
    if ((table.flags(r) & kOld) != 0) change.before = before;
    if ((table.flags(r) & kNew) != 0) change.after = after;
    if (change.before == change.after) return;
    change.values = kept.values(pred, r);
    found.push_back(std::move(change));
  };
  if (before == after) {
    for (const uint32_t r : kept.changed(pred.index)) note(r);
  } else {
    for (uint32_t r = 0; r < table.end(); ++r) note(r);
  }
  sort_rows(found, names);
  return found;
}

}  // namespace xlog::incremental
