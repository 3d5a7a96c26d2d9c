#include "engine/alternating.h"

#include <algorithm>

#include "logic/components.h"

namespace xlog::engine {

using lang::PredId;

// Forgets what the estimate was and makes it from the present state of the others.
Status Alternation::make(Estimate& estimate, ComponentRun& run) {
  const logic::Component& component = estimates_.analysis().components[estimate.component];
  rules_.clear(estimate.component, estimate.kept);
  if (Status bounded = domains_.bound(estimate.component); !bounded.ok()) return bounded;
  if (!component.recursive) trace_.enter_round(++run.rounds);
  if (Status done = rules_.grow(estimate.component, estimate.kept, run); !done.ok()) return done;
  estimate.rows = 0;
  for (PredId pred : component.predicates) estimate.rows += database_[pred].rows();
  return Done{};
}

Status Alternation::alternate(Estimate& certain, Estimate& possible, ComponentRun& run) {
  for (PredId pred : estimates_.analysis().components[certain.component].predicates) {
    if (Status nothing = database_[pred].finish(); !nothing.ok()) return nothing;
  }
  // The first time every instance that there is takes part. What the others meet is among it.
  possible.kept.counts_valueless = true;
  while (true) {
    const uint64_t possible_before = possible.rows;
    if (Status done = make(possible, run); !done.ok()) return done;
    possible.kept.counts_valueless = false;
    if (possible.rows == possible_before || possible.rows == certain.rows) return Done{};
    const uint64_t certain_before = certain.rows;
    if (Status done = make(certain, run); !done.ok()) return done;
    if (certain.rows == certain_before || certain.rows == possible.rows) return Done{};
  }
}

bool Alternation::reads_undefined(uint32_t component) const {
  const logic::Analysis& analysis = estimates_.analysis();
  return std::ranges::any_of(analysis.components[component].predicates, [&](PredId pred) {
    return std::ranges::any_of(logic::edges_to(analysis.edges, pred), [&](const logic::Edge& edge) {
      return has_undefined_[analysis.component_of[edge.from.index]];
    });
  });
}

Result<ComponentRun> Alternation::evaluate(uint32_t component) {
  const Estimates::Parts& parts = estimates_.parts(component);
  const logic::Analysis& analysis = estimates_.analysis();
  ComponentRun run;
  Trace::Timed timed(trace_, TraceKind::Component);
  for (uint32_t facts : parts.facts) {
    Rules::Kept kept;
    if (Status bounded = domains_.bound(facts); !bounded.ok()) return bounded.error();
    if (Status done = rules_.grow(facts, kept, run); !done.ok()) return done.error();
  }
  Estimate certain{component};
  Estimate possible{parts.possible};
  certain.kept.counts_valueless = possible.kept.counts_valueless = false;
  if (parts.certain_reads_possible && parts.possible_reads_certain) {
    if (Status done = alternate(certain, possible, run); !done.ok()) return done.error();
  } else if (parts.certain_reads_possible) {
    if (Status done = make(possible, run); !done.ok()) return done.error();
    if (Status done = make(certain, run); !done.ok()) return done.error();
  } else {
    if (Status done = make(certain, run); !done.ok()) return done.error();
    possible.rows = certain.rows;
    if (parts.makes_open || reads_undefined(component)) {
      if (Status done = make(possible, run); !done.ok()) return done.error();
    }
  }
  has_undefined_[component] = possible.rows > certain.rows;
  if (!has_undefined_[component]) {
    for (PredId pred : analysis.components[component].predicates) {
      database_.share(pred, estimates_.possible(pred));
    }
  } else if (parts.open) {
    Rules::Kept kept;
    if (Status bounded = domains_.bound(*parts.open); !bounded.ok()) return bounded.error();
    if (Status done = rules_.grow(*parts.open, kept, run); !done.ok()) return done.error();
  }
  timed.event.rows_out = run.rows;
  return run;
}

}  // namespace xlog::engine
