// Answers by evaluating the whole program over the facts that are there, each time somebody asks:
// slow and obvious, on the same path as `xlog run`. It judges the incremental implementation.
#pragma once

#include <memory>

#include "device/device.h"
#include "incremental/maintained.h"
#include "lang/load.h"
#include "logic/answer.h"

namespace xlog::incremental {

struct FreshOptions {
  logic::AnswerOptions answer;
  device::Device* device = nullptr;  // null: the reference evaluator alone
};

// A checked program, whose facts are the first ones. Refers to the session, where evaluations
// report, and to the device.
std::unique_ptr<Maintained> make_fresh(lang::Program program, lang::Session& session,
                                       const FreshOptions& options);

}  // namespace xlog::incremental
