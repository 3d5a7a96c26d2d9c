// Threads that share out a range. They start with the first work that is large enough, and park
// when there is none: an idle pool costs nothing.
//
//   Pool pool(8);
//   pool.parallel_for(n, 4096, [&](uint32_t lo, uint32_t hi) { run(lo, hi); });
//
// The calling thread works too. Which thread takes which piece is a matter of timing, so only work
// whose result does not depend on it belongs here. A piece that throws ends the work: the caller
// gets what one of them threw, once all have stopped.
#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <thread>
#include <vector>

namespace xlog::device {

class Pool {
 public:
  explicit Pool(uint32_t threads);  // 0: as many as there are cores
  ~Pool();
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;

  uint32_t threads() const { return threads_; }
  bool started() const { return !workers_.empty(); }

  // Calls body(lo, hi) over pieces of at most `grain` that cover 0 .. n. Serial when one piece
  // covers all, with one thread, and inside a piece of this pool.
  template <typename Body>
  void parallel_for(uint32_t n, uint32_t grain, const Body& body) {
    run(
        n, grain,
        [](const void* b, uint32_t lo, uint32_t hi) { (*static_cast<const Body*>(b))(lo, hi); },
        &body);
  }

 private:
  using Piece = void (*)(const void* body, uint32_t lo, uint32_t hi);

  void run(uint32_t n, uint32_t grain, Piece piece, const void* body);
  void start();
  void work();
  void take_pieces();

  const uint32_t threads_;
  std::vector<std::thread> workers_;

  // The work at hand. Written while nobody is inside, read by those who are.
  Piece piece_ = nullptr;
  const void* body_ = nullptr;
  uint32_t n_ = 0;
  uint32_t grain_ = 1;

  std::atomic<bool> busy_{false};
  std::atomic<uint64_t> next_{0};    // first index nobody has taken
  std::atomic<uint32_t> inside_{0};  // workers that take part; kOpen while others may join
  std::atomic<uint32_t> call_{0};    // counts the calls to come and work; workers park on it
  std::atomic<bool> stop_{false};
  std::atomic<bool> failed_{false};
  std::exception_ptr error_;  // of the first that failed
};

}  // namespace xlog::device
