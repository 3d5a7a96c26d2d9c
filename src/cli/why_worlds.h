// What `xlog why` and `xlog why-not` say of rows that are not the same in all worlds.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "cli/pipeline.h"
#include "epistemic/why.h"

namespace xlog::cli {

// Explains the program's goal, which is not settled. Nothing where something was reported.
std::optional<epistemic::WorldsWhy> explain_worlds(
    const PipelineOptions& options, epistemic::WhyQuestion question, uint64_t limit,
    const std::function<std::string(lang::PredId)>& input_files, Outcome& outcome);

}  // namespace xlog::cli
