// Answers that cost what changed, not what there is (maintained.h).
#pragma once

#include <memory>

#include "device/device.h"
#include "incremental/maintained.h"
#include "lang/load.h"
#include "logic/answer.h"

namespace xlog::incremental {

// Evaluates a program and keeps its answers current. Reports as oracle::evaluate does; null on
// refusal or limit. The session, and the device where there is one, have to outlive the result.
// Opening costs a run; what a change needs is counted when the first one comes.
std::unique_ptr<Maintained> keep_current(lang::Program program, lang::Session& session,
                                         const logic::AnswerOptions& options,
                                         device::Device* device = nullptr);

// For tests: as above, with a way to see whether all that is counted is right.
class Inspectable : public Maintained {
 public:
  // Counts everything again; "" or what is wrong.
  virtual std::string check() = 0;
  // Every row with its weight, sorted: equal for equal facts, however they came and went.
  virtual std::vector<std::string> digest() const = 0;
  // How batches are worked in from here on.
  enum class Way : uint8_t {
    Choose,
    Keep,     // no batch is too large
    Afresh,   // each is
    HalfWay,  // and that is noticed after some instances
    Fail,     // the same, as if a limit were reached
  };
  virtual void set_way(Way way) = 0;
};
std::unique_ptr<Inspectable> keep_inspectable(lang::Program program, lang::Session& session,
                                              const logic::AnswerOptions& options,
                                              device::Device* device = nullptr);

}  // namespace xlog::incremental
