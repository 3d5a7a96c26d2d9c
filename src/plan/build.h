// From rules to pipelines: one for each version of a rule, in a join order chosen by statistics.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "logic/analysis.h"
#include "plan/degrees.h"
#include "plan/pipeline.h"

namespace xlog::plan {

// What the planner knows of a relation. Estimates steer the order only.
struct Statistics {
  uint64_t rows = 0;
  std::vector<uint64_t> distinct;  // by column; empty: unknown
  // Of a column, counted when somebody asks; nothing where that would take long. May be empty.
  std::function<std::optional<Degrees>(uint32_t column)> degrees = {};
};
using StatisticsOf = std::function<Statistics(PredId)>;

// How many values a column of so many rows has, going by the first of them: where these repeat
// each other much, most values have been seen; where they do not, the others bring new ones.
constexpr uint64_t kSampledRows = 1u << 16;
constexpr uint64_t kLeastSampled = 256;  // fewer rows are not worth a look
uint64_t distinct_from_sample(uint64_t distinct, uint64_t sampled, uint64_t rows);

// The body of a rule as a pipeline. `delta`: the body literal that sees only New rows, and is
// matched first; positive literals over growing predicates before it see all rows, those after it
// Old ones, so that each instance of the body comes once. Without `delta` all see all rows.
struct VersionOptions {
  std::optional<uint32_t> delta;
  std::function<bool(PredId)> grows = {};
};
Pipeline build_pipeline(const lang::Program& program, uint32_t rule, const VersionOptions& options,
                        const StatisticsOf& statistics);

}  // namespace xlog::plan
