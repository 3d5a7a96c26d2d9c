// What lies between two answers, row by row.
#pragma once

#include <compare>
#include <span>
#include <vector>

#include "incremental/maintained.h"
#include "lang/value.h"
#include "logic/answer.h"

namespace xlog::incremental {

// The rows of a query that count as its answer: of the first world view, or of the well-founded
// model where that was asked for or there is no view.
const logic::QueryAnswer& first_rows(const logic::Answer& answer, uint32_t query);
// Those of all queries, out of an answer that is needed no more.
std::vector<logic::QueryAnswer> take_first_rows(logic::Answer& answer, size_t queries);

// The canonical order of rows.
std::strong_ordering compare_rows(std::span<const lang::Value> a, std::span<const lang::Value> b,
                                  const lang::Names& names);

void sort_rows(std::vector<RowChange>& changes, const lang::Names& names);

// Both in canonical order, and so is the result.
std::vector<RowChange> row_changes(const logic::QueryAnswer& before,
                                   const logic::QueryAnswer& after, const lang::Names& names);

}  // namespace xlog::incremental
