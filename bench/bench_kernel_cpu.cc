// How fast kernels run on one CPU thread through LLVM, against the same loops written by hand in
// this file and compiled at -O3 for the same CPU. Both run in turn, so that a busy machine slows
// both; a line gives the fastest run of each and their ratio (above 1: the kernel is faster).
//
//   bench_kernel_cpu [repetitions]

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <functional>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "device/llvm_compile.h"
#include "kernel/builder.h"
#include "kernel/passes.h"
#include "render/llvm.h"

namespace {

namespace device = xlog::device;
namespace kernel = xlog::kernel;
namespace render = xlog::render;
using kernel::Buffer;
using kernel::Graph;
using kernel::Id;
using kernel::KernelBuilder;
using kernel::Type;
using kernel::Value;
using kernel::Values;
using xlog::Result;
using Clock = std::chrono::steady_clock;

constexpr uint32_t kRows = 1u << 16;  // two columns of them stay in the second cache
constexpr uint32_t kChunk = 4096;     // rows of an instance that takes more than one
constexpr uint32_t kDigits = 256;

[[noreturn]] void fail(const std::string& what) {
  std::fprintf(stderr, "bench_kernel_cpu: %s\n", what.c_str());
  std::exit(1);
}

// ---- the loops by hand ----

#define HAND __attribute__((noinline))

uint32_t mix(uint32_t h) {
  h ^= h >> 16;
  h *= 0x85ebca6b;
  h ^= h >> 13;
  h *= 0xc2b2ae35;
  return h ^ (h >> 16);
}

HAND void map_by_hand(uint32_t n, const uint32_t* __restrict x, uint32_t* __restrict y) {
  for (uint32_t i = 0; i < n; ++i) y[i] = mix(x[i]);
}

HAND void filter_by_hand(uint32_t n, const uint32_t* __restrict x, uint32_t* __restrict y,
                         uint32_t* __restrict counts) {
  for (uint32_t c = 0; c * kChunk < n; ++c) {
    uint32_t at = c * kChunk;
    for (uint32_t i = c * kChunk; i < std::min(n, (c + 1) * kChunk); ++i) {
      if (x[i] % 4 == 0) y[at++] = x[i];
    }
    counts[c] = at - c * kChunk;
  }
}

HAND void scan_by_hand(uint32_t n, const uint32_t* __restrict x, uint32_t* __restrict y,
                       uint32_t* __restrict totals) {
  for (uint32_t c = 0; c * kChunk < n; ++c) {
    uint32_t sum = 0;
    for (uint32_t i = c * kChunk; i < std::min(n, (c + 1) * kChunk); ++i) {
      y[i] = sum;
      sum += x[i];
    }
    totals[c] = sum;
  }
}

// Slots with key 0 are free.
HAND void probe_by_hand(uint32_t n, uint32_t mask, const uint32_t* __restrict keys,
                        const uint32_t* __restrict values, const uint32_t* __restrict x,
                        uint32_t* __restrict y) {
  for (uint32_t i = 0; i < n; ++i) {
    const uint32_t key = x[i];
    uint32_t slot = mix(key) & mask;
    while (keys[slot] != key && keys[slot] != 0) slot = (slot + 1) & mask;
    y[i] = keys[slot] == key ? values[slot] : 0;
  }
}

HAND void histogram_by_hand(uint32_t n, uint32_t shift, const uint64_t* __restrict x,
                            uint32_t* __restrict counts) {
  for (uint32_t c = 0; c * kChunk < n; ++c) {
    uint32_t count[kDigits] = {};
    for (uint32_t i = c * kChunk; i < std::min(n, (c + 1) * kChunk); ++i) {
      ++count[(x[i] >> shift) & (kDigits - 1)];
    }
    for (uint32_t d = 0; d < kDigits; ++d) counts[c * kDigits + d] = count[d];
  }
}

HAND void scatter_by_hand(uint32_t n, uint32_t shift, const uint64_t* __restrict x,
                          const uint32_t* __restrict starts, uint64_t* __restrict y) {
  for (uint32_t c = 0; c * kChunk < n; ++c) {
    uint32_t next[kDigits];
    for (uint32_t d = 0; d < kDigits; ++d) next[d] = starts[c * kDigits + d];
    for (uint32_t i = c * kChunk; i < std::min(n, (c + 1) * kChunk); ++i) {
      y[next[(x[i] >> shift) & (kDigits - 1)]++] = x[i];
    }
  }
}

// ---- the same as kernels ----

Value mix(Value h) {
  h = h ^ (h >> 16);
  h = h * 0x85ebca6b;
  h = h ^ (h >> 13);
  h = h * 0xc2b2ae35;
  return h ^ (h >> 16);
}

Id map_kernel(Graph& graph) {
  KernelBuilder k(graph, "map");
  Value n = k.val(Type::U32, "n");
  Buffer x = k.in(Type::U32, "x"), y = k.out(Type::U32, "y");
  Value i = k.grid(n);
  k.store(y, i, mix(x[i]));
  return k.finish();
}

// Rows lo <= i < hi of the chunk that an instance takes.
struct Chunk {
  Value index, lo, hi;
};
Chunk chunk_of(KernelBuilder& k, Value n, Value chunks) {
  Value c = k.grid(chunks);
  Value lo = c * kChunk;
  return {c, lo, lo + k.min(n - lo, k.u32(kChunk))};
}

Id filter_kernel(Graph& graph) {
  KernelBuilder k(graph, "filter");
  Value n = k.val(Type::U32, "n"), chunks = k.val(Type::U32, "chunks");
  Buffer x = k.in(Type::U32, "x"), y = k.out(Type::U32, "y"), counts = k.out(Type::U32, "counts");
  const Chunk chunk = chunk_of(k, n, chunks);
  Values end = k.for_range(chunk.lo, chunk.hi, {chunk.lo}, [&](Value i, const Values& at) {
    Value v = x[i];
    Value keep = v % 4 == 0;
    k.if_then(keep, [&] { k.store(y, at[0], v); });
    return Values{k.select(keep, at[0] + 1, at[0])};
  });
  k.store(counts, chunk.index, end[0] - chunk.lo);
  return k.finish();
}

Id scan_kernel(Graph& graph) {
  KernelBuilder k(graph, "scan");
  Value n = k.val(Type::U32, "n"), chunks = k.val(Type::U32, "chunks");
  Buffer x = k.in(Type::U32, "x"), y = k.out(Type::U32, "y"), totals = k.out(Type::U32, "totals");
  const Chunk chunk = chunk_of(k, n, chunks);
  Values end = k.for_range(chunk.lo, chunk.hi, {k.u32(0)}, [&](Value i, const Values& sum) {
    k.store(y, i, sum[0]);
    return Values{sum[0] + x[i]};
  });
  k.store(totals, chunk.index, end[0]);
  return k.finish();
}

Id probe_kernel(Graph& graph) {
  KernelBuilder k(graph, "probe");
  Value n = k.val(Type::U32, "n"), mask = k.val(Type::U32, "mask");
  Buffer keys = k.in(Type::U32, "keys"), values = k.in(Type::U32, "values");
  Buffer x = k.in(Type::U32, "x"), y = k.out(Type::U32, "y");
  Value i = k.grid(n);
  Value key = x[i];
  Value first = mix(key) & mask;
  Value found = keys[first];
  Values end =
      k.loop(mask, (found != key) & (found != 0), {first, found}, [&](Value, const Values& v) {
        Value slot = (v[0] + 1) & mask;
        Value other = keys[slot];
        return std::pair{(other != key) & (other != 0), Values{slot, other}};
      });
  Value value = values[end[0]];
  k.store(y, i, k.select(end[1] == key, value, k.u32(0)));
  return k.finish();
}

Value digit_of(KernelBuilder& k, Value v, Value shift) {
  return k.cast(Type::U32, v >> k.cast(Type::U64, shift)) & (kDigits - 1);
}

Id histogram_kernel(Graph& graph) {
  KernelBuilder k(graph, "histogram");
  Value n = k.val(Type::U32, "n"), chunks = k.val(Type::U32, "chunks");
  Value shift = k.val(Type::U32, "shift");
  Buffer x = k.in(Type::U64, "x"), counts = k.out(Type::U32, "counts");
  const Chunk chunk = chunk_of(k, n, chunks);
  Buffer count = k.private_array(Type::U32, kDigits);
  k.for_range(k.u32(0), k.u32(kDigits), [&](Value d) { k.store(count, d, k.u32(0)); });
  k.for_range(chunk.lo, chunk.hi, [&](Value i) {
    Value d = digit_of(k, x[i], shift);
    k.store(count, d, count[d] + 1);
  });
  k.for_range(k.u32(0), k.u32(kDigits),
              [&](Value d) { k.store(counts, chunk.index * kDigits + d, count[d]); });
  return k.finish();
}

Id scatter_kernel(Graph& graph) {
  KernelBuilder k(graph, "scatter");
  Value n = k.val(Type::U32, "n"), chunks = k.val(Type::U32, "chunks");
  Value shift = k.val(Type::U32, "shift");
  Buffer x = k.in(Type::U64, "x"), starts = k.in(Type::U32, "starts"), y = k.out(Type::U64, "y");
  const Chunk chunk = chunk_of(k, n, chunks);
  Buffer next = k.private_array(Type::U32, kDigits);
  k.for_range(k.u32(0), k.u32(kDigits),
              [&](Value d) { k.store(next, d, starts[chunk.index * kDigits + d]); });
  k.for_range(chunk.lo, chunk.hi, [&](Value i) {
    Value v = x[i];
    Value d = digit_of(k, v, shift);
    Value at = next[d];
    k.store(y, at, v);
    k.store(next, d, at + 1);
  });
  return k.finish();
}

// ---- measuring ----

struct Compiled {
  device::LoadedObject code;
  bool has_status = false;  // takes a status buffer behind its own parameters
  double render_ms = 0, compile_ms = 0, load_ms = 0;
};

double milliseconds_since(Clock::time_point begin) {
  return std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
}

Compiled compile(Id (*make)(Graph&)) {
  Graph graph;
  auto begin = Clock::now();
  const Id made = make(graph);
  const Result<kernel::Lowered> lowered = lower(graph, made, render::kLlvm);
  if (!lowered.ok()) fail(lowered.error().text());
  const std::string ir = render::render_llvm_cpu(graph, *lowered);
  Compiled compiled;
  for (const kernel::HiddenParam& hidden : lowered->hidden) {
    if (hidden.kind != kernel::HiddenParam::Kind::Status) fail("a kernel asks for a length");
    compiled.has_status = true;
  }
  compiled.render_ms = milliseconds_since(begin);
  // The first time LLVM also finds its own pages.
  compiled.compile_ms = std::numeric_limits<double>::max();
  Result<std::vector<std::byte>> object = std::vector<std::byte>();
  for (int i = 0; i < 10; ++i) {
    const std::clock_t started = std::clock();  // processor time: others may run meanwhile
    object = device::llvm_to_object(ir);
    if (!object.ok()) fail(object.error().text());
    const double ms = 1e3 * static_cast<double>(std::clock() - started) / CLOCKS_PER_SEC;
    compiled.compile_ms = std::min(compiled.compile_ms, ms);
  }
  begin = Clock::now();
  Result<device::LoadedObject> loaded = device::load_object(*object);
  if (!loaded.ok()) fail(loaded.error().text());
  compiled.load_ms = milliseconds_since(begin);
  compiled.code = *loaded;
  return compiled;
}

// Nanoseconds of the fastest of `repetitions` runs of each, in turn.
std::pair<double, double> measure(int repetitions, const std::function<void()>& one,
                                  const std::function<void()>& other) {
  double best[2] = {std::numeric_limits<double>::max(), std::numeric_limits<double>::max()};
  for (int i = 0; i < repetitions; ++i) {
    for (int which : {0, 1}) {
      const auto begin = Clock::now();
      which == 0 ? one() : other();
      best[which] = std::min(best[which], milliseconds_since(begin) * 1e6);
    }
  }
  return {best[0], best[1]};
}

template <typename T>
struct Outputs {
  std::vector<T> hand, kernel;
  explicit Outputs(size_t n) : hand(n), kernel(n) {}
};

class Bench {
 public:
  explicit Bench(int repetitions) : repetitions_(repetitions) {
    // Opens LLVM, which the first kernel should not pay for.
    const Result<std::string> version = device::llvm_version_for_cache();
    if (!version.ok()) fail(version.error().text());
  }

  // `args` as the kernel takes them; `same` says whether both gave the same.
  void run(const char* name, Id (*make)(Graph&), uint32_t instances, std::vector<void*> args,
           const std::function<void()>& by_hand, const std::function<bool()>& same) const {
    const Compiled compiled = compile(make);
    std::vector<uint32_t> status(kernel::kCheckCodes, UINT32_MAX);
    if (compiled.has_status) args.push_back(status.data());
    const auto [hand_ns, kernel_ns] =
        measure(repetitions_, by_hand, [&] { compiled.code.entry()(0, instances, args.data()); });
    if (std::ranges::count(status, UINT32_MAX) != kernel::kCheckCodes) {
      fail(std::string(name) + ": a check failed");
    }
    if (!same()) fail(std::string(name) + ": the kernel gives something else");
    fmt::print("{:<12}{:>12.3f}{:>12.3f}{:>8.2f}{:>12.2f}{:>12.2f}{:>10.2f}\n", name,
               hand_ns / kRows, kernel_ns / kRows, hand_ns / kernel_ns, compiled.render_ms,
               compiled.compile_ms, compiled.load_ms);
  }

 private:
  int repetitions_;
};

}  // namespace

int main(int argc, char** argv) {
  const int repetitions = argc > 1 ? std::atoi(argv[1]) : 500;
  if (repetitions <= 0) fail("usage: bench_kernel_cpu [repetitions]");
  fmt::print("{} rows, fastest of {} runs each, in turn\n\n", kRows, repetitions);
  fmt::print("{:<12}{:>12}{:>12}{:>8}{:>12}{:>12}{:>10}\n", "kernel", "hand ns/row", "ours ns/row",
             "ratio", "render ms", "compile ms", "load ms");
  const Bench bench(repetitions);

  uint32_t n = kRows, chunks = kRows / kChunk, shift = 8, mask = 2 * kRows - 1;
  std::vector<uint32_t> x(n);
  std::vector<uint64_t> wide(n);
  for (uint32_t i = 0; i < n; ++i) {
    x[i] = mix(i + 1);
    wide[i] = (uint64_t{mix(i + 7)} << 32) | x[i];
  }

  Outputs<uint32_t> y(n), totals(chunks), counts(size_t{chunks} * kDigits);
  Outputs<uint64_t> sorted(n);

  bench.run(
      "map", map_kernel, n, {&n, x.data(), y.kernel.data()},
      [&] { map_by_hand(n, x.data(), y.hand.data()); }, [&] { return y.hand == y.kernel; });
  std::ranges::fill(y.hand, 0);
  std::ranges::fill(y.kernel, 0);
  bench.run(
      "filter", filter_kernel, chunks,
      {&n, &chunks, x.data(), y.kernel.data(), totals.kernel.data()},
      [&] { filter_by_hand(n, x.data(), y.hand.data(), totals.hand.data()); },
      [&] { return y.hand == y.kernel && totals.hand == totals.kernel; });
  bench.run(
      "scan", scan_kernel, chunks, {&n, &chunks, x.data(), y.kernel.data(), totals.kernel.data()},
      [&] { scan_by_hand(n, x.data(), y.hand.data(), totals.hand.data()); },
      [&] { return y.hand == y.kernel && totals.hand == totals.kernel; });

  // Every other row finds its key.
  std::vector<uint32_t> keys(size_t{mask} + 1), values(size_t{mask} + 1);
  for (uint32_t i = 0; i < n; i += 2) {
    uint32_t slot = mix(x[i]) & mask;
    while (keys[slot] != 0) slot = (slot + 1) & mask;
    keys[slot] = x[i];
    values[slot] = i;
  }
  bench.run(
      "probe", probe_kernel, n, {&n, &mask, keys.data(), values.data(), x.data(), y.kernel.data()},
      [&] { probe_by_hand(n, mask, keys.data(), values.data(), x.data(), y.hand.data()); },
      [&] { return y.hand == y.kernel; });

  bench.run(
      "histogram", histogram_kernel, chunks,
      {&n, &chunks, &shift, wide.data(), counts.kernel.data()},
      [&] { histogram_by_hand(n, shift, wide.data(), counts.hand.data()); },
      [&] { return counts.hand == counts.kernel; });
  std::vector<uint32_t> starts(counts.hand.size());
  uint32_t sum = 0;
  for (uint32_t d = 0; d < kDigits; ++d) {
    for (uint32_t c = 0; c < chunks; ++c) {
      starts[c * kDigits + d] = sum;
      sum += counts.hand[c * kDigits + d];
    }
  }
  bench.run(
      "scatter", scatter_kernel, chunks,
      {&n, &chunks, &shift, wide.data(), starts.data(), sorted.kernel.data()},
      [&] { scatter_by_hand(n, shift, wide.data(), starts.data(), sorted.hand.data()); },
      [&] { return sorted.hand == sorted.kernel; });
  return 0;
}
