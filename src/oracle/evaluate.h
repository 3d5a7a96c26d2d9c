// The reference evaluator: slow, obvious, straight from the definition of the language. It answers
// `xlog run
// --engine reference` and judges every other evaluator in tests.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "lang/load.h"
#include "lang/program.h"
#include "logic/analysis.h"
#include "logic/answer.h"
#include "oracle/relation.h"

namespace xlog::oracle {

// Components that somebody else has evaluated, each with everything below it. They are settled, or
// nothing that is evaluated here reads them. `rows` is asked once for each of their predicates that
// others read or a query shows.
struct Preset {
  std::vector<bool> done;  // by component
  std::function<lang::FactTable(lang::PredId)> rows;

  // Open components of which somebody else has found bounds, each with everything below it: rows
  // that well_founded_bounds (well_founded.h) would find to be true, and others, all that it may
  // leave open. Asked once for each of their predicates, perhaps without the certain rows.
  struct Bounded {
    lang::FactTable certain, open;
  };
  std::vector<bool> bounded = {};  // by component; empty: none
  std::function<Bounded(lang::PredId, bool with_certain)> bounded_rows = nullptr;

  // Rules of these components, and constraints over them, whose instances somebody has found: of
  // each that is not decided by the bounds, the values of all variables that heads and open
  // literals have. Of a choice one table for each element of its head, else one. Asked at most
  // once for each of these rules.
  struct Instances {
    std::vector<lang::VarId> variables;  // by column
    lang::FactTable rows;
  };
  std::vector<bool> has_instances = {};  // by rule; empty: none has
  std::function<std::vector<Instances>(uint32_t rule)> instances = nullptr;

  uint64_t valueless = 0;  // instances of arithmetic without a value that were met
  Span valueless_span;
};

// The warning that says how many such instances there are, if any.
void report_valueless(uint64_t count, Span span, lang::Session& session);

// Reports what it refuses (probabilistic, neural and learnable constructs: NotSupportedByEngine),
// limits (LimitReached, MemoryExhausted), violated constraints of plain Datalog programs, divisions
// by zero. nullopt on refusal or limit.
std::optional<logic::Answer> evaluate(const lang::Program& program, const logic::Analysis& analysis,
                                      lang::Session& session, const logic::AnswerOptions& options,
                                      const Preset* preset = nullptr);

// The rows of every predicate of a program without queries that is settled as a whole (is_settled);
// of those in `preset` only what others read. Reports as evaluate() does.
std::optional<std::vector<Relation>> settle(const lang::Program& program,
                                            const logic::Analysis& analysis, lang::Session& session,
                                            const logic::AnswerOptions& options,
                                            const Preset* preset);

}  // namespace xlog::oracle
