// Which rules can be pipelines, and which of their literals a device computes by itself.
#pragma once

#include <optional>
#include <string>

#include "lang/program.h"
#include "logic/analysis.h"

namespace xlog::plan {

// Why a rule cannot be a pipeline: "a choice"; nullopt when it can. Patterns in heads and atoms
// have to be equations before (patterns.h).
std::optional<std::string> why_not_relational(const lang::Program& program, const lang::Rule& rule);

// Why a predicate cannot be a relation on a device.
std::optional<std::string> why_not_relational(const lang::Predicate& predicate);

// The same of all rules and relations of a component.
std::optional<std::string> why_not_relational(const lang::Program& program,
                                              const logic::Component& component);

// Whether only the host can compute it. A device has numbers for symbols, lists and terms, in the
// order in which they were met: it neither makes them nor takes them apart, and knows no order of
// them. What folds or maps relations inside a body, and is no rule of its own (aggregates.h), the
// host does too.
bool needs_host(const lang::Term& term);
bool needs_host(const lang::Literal& other_than_atom);

// A variable or a constant.
bool is_simple(const lang::Term& term);

}  // namespace xlog::plan
