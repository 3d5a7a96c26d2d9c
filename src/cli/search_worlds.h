// The world views of a program, for commands that show how they come about.
#pragma once

#include <functional>
#include <memory>

#include "cli/pipeline.h"
#include "device/device.h"
#include "epistemic/findings.h"

namespace xlog::cli {

// Nothing where there is no such device, or the reference evaluator is asked for, which is
// reported.
std::unique_ptr<device::Device> open_for_worlds(const PipelineOptions& options,
                                                lang::Session& session);

// Evaluates what is determined, searches for the world views and hands over what was found. A
// program with one outcome is handed over only where worlds are asked for. Rewrites the program's
// rules. False where something was reported instead.
bool search_worlds(const logic::AnswerOptions& answer, device::Device& device, Outcome& outcome,
                   const std::function<void(epistemic::Findings&)>& use);

}  // namespace xlog::cli
