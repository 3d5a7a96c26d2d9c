// Rows over all world views of a program, counted without listing the views: an atom has its status
// in the views of its own cluster, and each of those stands for as many views of the program as the
// other clusters have together.
#pragma once

#include <vector>

#include "epistemic/findings.h"
#include "logic/answer.h"

namespace xlog::epistemic {

// By query: the rows that are asked for, in canonical order. The program has views.
std::vector<std::vector<logic::RowOverViews>> rows_over_views(const Findings& findings,
                                                              logic::Ask ask);

// In how many views of its cluster an atom is known, and possible. What the bounds decide is in a
// cluster of its own with one view.
struct ClusterCounts {
  uint32_t views = 1, known = 0, possible = 0;
};
ClusterCounts cluster_counts(const Findings& findings, oracle::AtomId atom);

// `part` of the `views` of a cluster, as a number of views of the program, which has `all`.
mpz_class share_of(const mpz_class& all, uint32_t part, uint32_t views);

}  // namespace xlog::epistemic
