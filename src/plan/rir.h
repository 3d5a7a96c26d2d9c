// RIR as text, read back: what to_text(pipeline, ...) prints becomes the same pipeline again, and
// its remarks become the reasons of its steps. docs/rir.md has the grammar.
//
//   Result<Pipeline> pipeline = parse_pipeline(text, "plan.rir", program, session);
//   if (pipeline.ok()) run(*pipeline, program.rules[pipeline->rule].head[0]);
#pragma once

#include <string_view>

#include "base/result.h"
#include "lang/load.h"
#include "plan/pipeline.h"

namespace xlog::plan {

// The predicates are those of the program, which gets a rule without a body: the pipeline's
// variables and its head. Types follow from the columns; a number that meets none is i64 or f64.
// Lists and compound terms are those that the session knows, what the host is asked is a literal of
// one of the program's rules. `name` is for errors:
// "plan.rir:3: ...".
Result<Pipeline> parse_pipeline(std::string_view text, std::string_view name,
                                lang::Program& program, lang::Session& session);

}  // namespace xlog::plan
