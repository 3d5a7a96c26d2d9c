// What a pipeline is expected to cost, for who chooses between ways to write a rule.
#pragma once

#include "plan/build.h"

namespace xlog::plan {

// In bindings that are walked: what takes longer counts as several.
struct Cost {
  double cost = 0;
  double solutions = 0;  // bindings that pass all steps
};

// Comparisons let a part of the bindings pass; so do tests of relations, whose values are taken to
// be spread evenly.
Cost cost_of(const Pipeline& pipeline, const StatisticsOf& statistics);

// The rows of a relation that one rule fills, whose body has so many solutions: not more than its
// columns can tell apart.
Statistics expected_rows(const lang::Rule& rule, double solutions, const StatisticsOf& statistics);

}  // namespace xlog::plan
