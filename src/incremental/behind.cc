#include "incremental/behind.h"

#include <new>

#include "base/check.h"

namespace xlog::incremental {

Behind::Counting::Counting(const Behind& behind, const Kept& facts,
                           const std::vector<uint64_t>& expected)
    : kept(behind.program_, behind.session_, behind.options_, behind.device_) {
  if (behind.program_.worlds.kept) {
    worlds = std::make_unique<Worlds>(behind.program_, kept, behind.source_, behind.analysis_,
                                      behind.session_, behind.options_);
  }
  kept.copy_facts(facts);
  work = count(expected);
}

Work Behind::Counting::count(std::vector<uint64_t> expected) {
  if (worlds != nullptr) worlds->prepare();
  co_await kept.build(std::move(expected));
  if (worlds != nullptr && !kept.allowance().stopped()) co_await worlds->build();
}

Work Behind::Counting::work_in_late() {
  const Result<NetChange> change = kept.net_change(late);
  XLOG_CHECK(change.ok(), "facts that have changed already");
  late.clear();
  kept.change_facts(*change);
  co_await kept.update_resting();
  if (worlds != nullptr && !kept.allowance().stopped()) co_await worlds->update_resting();
  if (!kept.allowance().stopped()) co_await kept.finish_resting();
}

bool Behind::go_on(const Kept& facts, uint64_t work, uint64_t most_work,
                   const std::vector<uint64_t>& expected) {
  if (waits_ > 0 && most_work < UINT64_MAX) {
    --waits_;
    return false;
  }
  if (!counting_) counting_ = std::make_unique<Counting>(*this, facts, expected);
  Allowance allowance(options_, most_work, work);
  counting_->kept.begin(allowance);
  try {
    while (!counting_->is_done || !counting_->late.empty()) {
      if (counting_->is_done) {
        counting_->work = counting_->work_in_late();
        counting_->is_late = true;
      }
      counting_->is_done = counting_->work.go_on();
      if (!counting_->is_done) return false;
      if (allowance.stopped()) break;
    }
  } catch (const std::bad_alloc&) {
    allowance.fail({"the memory for what is kept ran out", "", ErrorKind::MemoryLimit});
  }
  if (!allowance.stopped()) return true;
  counting_.reset();
  waits_ = next_wait_;
  next_wait_ *= 2;
  return false;
}

void Behind::take(Kept& kept, Worlds* worlds) {
  kept.swap(counting_->kept);
  if (worlds != nullptr) worlds->swap(*counting_->worlds);
  counting_.reset();
  next_wait_ = 1;
}

void Behind::add(std::span<const FactChanges> batch) {
  if (counting_) counting_->late.insert(counting_->late.end(), batch.begin(), batch.end());
}

}  // namespace xlog::incremental
