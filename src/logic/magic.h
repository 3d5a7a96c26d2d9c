// Magic sets: evaluate only what the constants of a query need. The rewriting is done per query on
// copies of the predicates it adorns, so other queries and rules keep their full relations.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "lang/load.h"
#include "lang/program.h"
#include "logic/analysis.h"

namespace xlog::logic {

struct MagicDecision {
  uint32_t query;  // index in Program::queries
  bool applied;
  std::string reason;  // why not, or which predicates were adorned ("reach^bf")
};

// How many rows the evaluation of a program is expected to derive.
using ExpectedRows = std::function<double(const lang::Program& program, const Analysis& analysis)>;

// Rewrites `program` in place as #pragma magic_sets (auto|on|off) says. With `on` a query that
// cannot have it is an error (MagicSetsDeclined). Adds predicates __xlog_magic_<p>_<adornment> (the
// bound values asked for) and
// __xlog_<p>_<adornment> (p restricted to them); the rules of p itself stay as they are.
//
// `auto` takes it only for queries that it saves at least half of all rows, in programs that are
// expected to have many; without `expected_rows` for all that ask for a recursive predicate.
std::vector<MagicDecision> apply_magic_sets(lang::Program& program, const Analysis& analysis,
                                            lang::Session& session,
                                            const ExpectedRows& expected_rows = {});

}  // namespace xlog::logic
