// One stable pass of the radix sort over an 8-bit digit: count the digits of each chunk of rows,
// scan the counts, and let each chunk write its rows where the scan says. Two kinds of kernels do
// it; see library_sort.cc.
#pragma once

#include <optional>
#include <vector>

#include "kernel/library.h"

namespace xlog::kernel {

struct Keyed {
  Buffer words;
  std::optional<Buffer> rows;  // row numbers that go with the words
};

struct RadixPass {
  struct Target {
    Keyed to;
    Value chosen;  // bool: no rows go to a target that is not
  };
  Keyed from;
  Value n;      // rows, or 0 to do nothing
  Value shift;  // of the digit, u32
  // Where `from` has no rows and they do, rows are numbered as they stand.
  std::vector<Target> targets;
};

void radix_pass(Library& library, PlanBuilder& plan, const RadixPass& pass);

// ---- what the two kinds of kernels share ----

constexpr uint32_t kDigits = 256;

// The digit of a word, u32.
Value digit_of(Builder& k, Value word, Value shift);

enum class RowNumbers : uint8_t {
  None,
  Made,     // the place of the word
  Carried,  // read beside the word
};

// The kernels for one type of words, and how they divide n rows.
struct RadixKernels {
  Library::Chunks chunks;
  Id count, scatter;
};
// One instance for each chunk.
RadixKernels radix_serial(Library& library, PlanBuilder& plan, Type type, RowNumbers rows, Value n);
// One group for each chunk.
RadixKernels radix_tiled(Library& library, PlanBuilder& plan, Type type, RowNumbers rows, Value n);

// Their parameters. Counts and starts stand digit by digit, in each digit chunk by chunk: the scan
// of the counts is where each chunk writes.
struct CountParams {
  CountParams(KernelBuilder& k, Type type);

  ChunkParams chunks;
  Value shift;
  Buffer words, counts;
};
struct ScatterParams {
  ScatterParams(KernelBuilder& k, Type type, RowNumbers numbers);
  // Moves row r, whose word is known, to its place.
  void move(KernelBuilder& k, Value r, Value word, Value place) const;

  ChunkParams chunks;
  Value shift;
  Buffer words, starts, to_words;
  std::optional<Buffer> rows, to_rows;
};

// The name of the kernel that does this step.
std::string radix_name(std::string_view step, Type type, RowNumbers rows = RowNumbers::None);

}  // namespace xlog::kernel
