// What a query shows of the rows of a predicate that is the same in all worlds. The statuses of
// rows that hold, before the batch and after it, depend on whether there is a world view.
#pragma once

#include <vector>

#include "incremental/kept.h"
#include "incremental/maintained.h"
#include "logic/answer.h"

namespace xlog::incremental {

logic::QueryAnswer rows_now(const Kept& kept, lang::PredId pred, logic::RowStatus status,
                            const lang::Names& names);
// Also from the middle of a batch.
logic::QueryAnswer rows_before(const Kept& kept, lang::PredId pred, logic::RowStatus status,
                               const lang::Names& names);
// Before Kept::finish(): the tables still know what was there.
std::vector<RowChange> rows_changed(const Kept& kept, lang::PredId pred, logic::RowStatus before,
                                    logic::RowStatus after, const lang::Names& names);

}  // namespace xlog::incremental
