// Multiway joins: where a lookup is followed by tests of what it binds, the variable is taken from
// all these atoms at once (StepKind::Meet). With any order of variables such a pipeline makes no
// more bindings than the worst case of the query (Generic Join), whatever its shape: triangles,
// cycles, cliques, any cyclic hypergraph.
#pragma once

#include "plan/pipeline.h"

namespace xlog::plan {

// `estimates`: by step, the rows that an average binding finds. Where that is few, tests stay
// lookups in sets, and the step says so.
void form_meets(Pipeline& pipeline, const lang::Rule& rule, const std::vector<double>& estimates);

}  // namespace xlog::plan
