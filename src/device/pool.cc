#include "device/pool.h"

#include <algorithm>
#include <system_error>
#include <utility>

#include "base/check.h"

namespace xlog::device {

namespace {

constexpr uint32_t kOpen = uint32_t{1} << 31;

}  // namespace

Pool::Pool(uint32_t threads)
    : threads_(threads != 0 ? threads : std::max(1u, std::thread::hardware_concurrency())) {}

Pool::~Pool() {
  stop_.store(true, std::memory_order_release);
  call_.fetch_add(1, std::memory_order_release);
  call_.notify_all();
  for (std::thread& worker : workers_) worker.join();
}

void Pool::start() {
  workers_.reserve(threads_ - 1);
  try {
    for (uint32_t k = 1; k < threads_; ++k) workers_.emplace_back([this] { work(); });
  } catch (const std::system_error&) {
    // The machine gives no more threads: those that came share the work.
  }
}

void Pool::run(uint32_t n, uint32_t grain, Piece piece, const void* body) {
  XLOG_CHECK(grain > 0, "a piece has at least one index");
  if (n == 0) return;
  // A call from inside a piece finds the pool busy, and does its work where it stands.
  if (n <= grain || threads_ == 1 || busy_.exchange(true, std::memory_order_acquire)) {
    for (uint64_t lo = 0; lo < n; lo += grain) {
      piece(body, static_cast<uint32_t>(lo),
            static_cast<uint32_t>(std::min<uint64_t>(n, lo + grain)));
    }
    return;
  }
  if (!started()) start();
  piece_ = piece;
  body_ = body;
  n_ = n;
  grain_ = grain;
  next_.store(0, std::memory_order_relaxed);
  inside_.store(kOpen, std::memory_order_release);
  call_.fetch_add(1, std::memory_order_release);
  call_.notify_all();

  take_pieces();

  // Everything is taken. A worker that wakes up only now finds the door closed; we wait for those
  // who came in, not for those who slept.
  inside_.fetch_and(~kOpen, std::memory_order_acq_rel);
  for (;;) {
    uint32_t inside = inside_.load(std::memory_order_acquire);
    if (inside == 0) break;
    inside_.wait(inside, std::memory_order_acquire);
  }
  const bool failed = failed_.exchange(false, std::memory_order_relaxed);
  const std::exception_ptr error = failed ? std::exchange(error_, nullptr) : nullptr;
  busy_.store(false, std::memory_order_release);
  if (error) std::rethrow_exception(error);
}

void Pool::take_pieces() {
  try {
    for (;;) {
      uint64_t lo = next_.fetch_add(grain_, std::memory_order_relaxed);
      if (lo >= n_) return;
      piece_(body_, static_cast<uint32_t>(lo),
             static_cast<uint32_t>(std::min<uint64_t>(n_, lo + grain_)));
    }
  } catch (...) {
    if (!failed_.exchange(true, std::memory_order_relaxed)) error_ = std::current_exception();
    next_.store(n_, std::memory_order_relaxed);
  }
}

void Pool::work() {
  uint32_t answered = 0;  // the last call this worker looked at
  for (;;) {
    uint32_t call = call_.load(std::memory_order_acquire);
    if (stop_.load(std::memory_order_acquire)) return;
    if (call == answered) {
      call_.wait(call, std::memory_order_acquire);
      continue;
    }
    answered = call;
    uint32_t inside = inside_.load(std::memory_order_relaxed);
    while ((inside & kOpen) != 0) {
      if (!inside_.compare_exchange_weak(inside, inside + 1, std::memory_order_acquire,
                                         std::memory_order_relaxed)) {
        continue;
      }
      take_pieces();
      if (inside_.fetch_sub(1, std::memory_order_acq_rel) == 1) inside_.notify_all();
      break;
    }
  }
}

}  // namespace xlog::device
