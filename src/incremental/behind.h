// What will be kept: counting all that holds takes many times as long as a run where runs are fast,
// and so does finding the views where worlds differ. Each batch pays for a part of it. Until it is
// done batches are evaluated afresh, and what they changed is worked in at the end.
//
//   if (behind.go_on(kept, work, most_work, expected)) behind.take(kept, worlds);
//   else ... ; behind.add(batch);    once it was evaluated
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "incremental/kept.h"
#include "incremental/worlds.h"

namespace xlog::incremental {

class Behind {
 public:
  // The source and its analysis as Worlds has them.
  Behind(const KeptProgram& program, const lang::Program& source, const logic::Analysis& analysis,
         lang::Session& session, const logic::AnswerOptions& options, device::Device* device)
      : program_(program),
        source_(source),
        analysis_(analysis),
        session_(session),
        options_(options),
        device_(device) {}

  // Goes on for so much work, from the facts of `facts`. True: it is done. It starts again, some
  // batches later, where one step takes more than `most_work` or a limit is reached. `expected`
  // rows, by predicate: space for them is made at once.
  bool go_on(const Kept& facts, uint64_t work, uint64_t most_work,
             const std::vector<uint64_t>& expected);
  // What is done: `kept`, which had the facts alone, has all rows, and `worlds`, where they are
  // kept, all views.
  void take(Kept& kept, Worlds* worlds);
  bool is_counting() const { return counting_ != nullptr; }
  bool is_late() const { return counting_->is_late; }  // only with what has changed since
  // Facts that have changed since.
  void add(std::span<const FactChanges> batch);
  void drop() { counting_.reset(); }  // so much has changed that it starts again

 private:
  struct Counting {
    Counting(const Behind& behind, const Kept& facts, const std::vector<uint64_t>& expected);
    Work count(std::vector<uint64_t> expected);
    Work work_in_late();

    Kept kept;
    std::unique_ptr<Worlds> worlds;
    std::vector<FactChanges> late;
    Work work;
    bool is_late = false;  // all else is counted
    bool is_done = false;
  };

  const KeptProgram& program_;
  const lang::Program& source_;
  const logic::Analysis& analysis_;
  lang::Session& session_;
  const logic::AnswerOptions& options_;
  device::Device* device_;
  std::unique_ptr<Counting> counting_;
  uint64_t waits_ = 0, next_wait_ = 1;  // batches until it is tried again
};

}  // namespace xlog::incremental
