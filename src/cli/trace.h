// What `--trace` prints: how the worlds of a program were found. docs/observing.md says what each
// figure means.
#pragma once

#include <string>

#include "cli/pipeline.h"

namespace xlog::cli {

std::string trace_text(const Outcome& outcome);
// One JSON object on one line.
std::string trace_json(const Outcome& outcome);

}  // namespace xlog::cli
