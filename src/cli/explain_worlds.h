// The stages of `xlog explain` that evaluate a program: its units and its world views.
#pragma once

#include <optional>
#include <string>

#include "cli/pipeline.h"

namespace xlog::cli {

// `stage`: units or worldviews. Nothing where something was reported instead.
std::optional<std::string> explain_worlds(const std::string& stage, const std::string& format,
                                          const PipelineOptions& options, Outcome& outcome);

}  // namespace xlog::cli
