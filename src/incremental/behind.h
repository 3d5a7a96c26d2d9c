// Rows that will be kept: counting all that holds takes many times as long as a run where runs are
// fast, so each batch pays for a part of it. Until it is done batches are evaluated afresh, and
// what they changed is worked in at the end.
//
//   if (behind.catch_up(kept, work, most_work, expected)) ...    rows are kept, the batch can be
//   too else ...; behind.add(batch);                                 once it has been evaluated
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "incremental/kept.h"

namespace xlog::incremental {

class Behind {
 public:
  Behind(const KeptProgram& program, lang::Session& session, const logic::AnswerOptions& options,
         device::Device* device)
      : program_(program), session_(session), options_(options), device_(device) {}

  // Goes on for so much work. True: `kept`, which had the facts alone, has all rows. It starts
  // again, some batches later, where one step takes more than `most_work` or a limit is reached.
  // `expected` rows, by predicate: space for them is made at once.
  bool catch_up(Kept& kept, uint64_t work, uint64_t most_work,
                const std::vector<uint64_t>& expected);
  bool is_counting() const { return counting_ != nullptr; }
  // Facts that have changed since.
  void add(std::span<const FactChanges> batch);
  void drop() { counting_.reset(); }  // so much has changed that it starts again

 private:
  struct Counting {
    Counting(const Behind& behind, const Kept& facts, const std::vector<uint64_t>& expected);
    bool go_on(Allowance& allowance);  // true: all is counted, or it failed

    Kept kept;
    Work work;
    std::vector<FactChanges> late;
  };

  const KeptProgram& program_;
  lang::Session& session_;
  const logic::AnswerOptions& options_;
  device::Device* device_;
  std::unique_ptr<Counting> counting_;
  uint64_t waits_ = 0, next_wait_ = 1;  // batches until it is tried again
};

}  // namespace xlog::incremental
