// `--profile`: what a run did and when, in Chrome's trace event format, for chrome://tracing and
// ui.perfetto.dev. Stages hold components, those rounds, those versions of rules.
#pragma once

#include <cstdio>
#include <string>

#include "cli/pipeline.h"

namespace xlog::cli {

// {"traceEvents": [...]}; failures show in the stream.
void write_profile(const Outcome& outcome, const std::string& title, std::FILE* stream);

}  // namespace xlog::cli
