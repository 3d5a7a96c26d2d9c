#include "incremental/behind.h"

#include "base/check.h"

namespace xlog::incremental {

Behind::Counting::Counting(const Behind& behind, const Kept& facts,
                           const std::vector<uint64_t>& expected)
    : kept(behind.program_, behind.session_, behind.options_, behind.device_),
      work(kept.build(expected)) {
  kept.copy_facts(facts);
}

bool Behind::Counting::go_on(Allowance& allowance) {
  kept.begin(allowance);
  while (true) {
    const bool done = work.go_on();
    if (!kept.status().ok()) return true;
    if (!done || late.empty()) return done;
    const Result<NetChange> change = kept.net_change(late);
    XLOG_CHECK(change.ok(), "facts that have changed already");
    late.clear();
    kept.change_facts(*change);
    work = kept.update_resting();
  }
}

bool Behind::catch_up(Kept& to, uint64_t work, uint64_t most_work,
                      const std::vector<uint64_t>& expected) {
  if (waits_ > 0 && most_work < UINT64_MAX) {
    --waits_;
    return false;
  }
  if (!counting_) counting_ = std::make_unique<Counting>(*this, to, expected);
  Allowance allowance(options_, most_work, work);
  if (!counting_->go_on(allowance)) return false;
  const bool done = counting_->kept.status().ok();
  if (done) {
    to.swap(counting_->kept);
    next_wait_ = 1;
  } else {
    waits_ = next_wait_;
    next_wait_ *= 2;
  }
  counting_.reset();
  return done;
}

void Behind::add(std::span<const FactChanges> batch) {
  if (counting_) counting_->late.insert(counting_->late.end(), batch.begin(), batch.end());
}

}  // namespace xlog::incremental
