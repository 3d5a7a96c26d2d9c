// One stable pass of the radix sort over an 8-bit digit, in two kinds; see library_sort.cc.
#pragma once

#include <optional>

#include "kernel/library.h"

namespace xlog::kernel {

struct RadixPass {
  Buffer words, to_words;               // of the same length
  std::optional<Buffer> rows, to_rows;  // both or none: row numbers that go with the words
  Value n;                              // rows, or 0 to do nothing
  Value shift;                          // of the digit, u32
};

void radix_pass_serial(Library& library, PlanBuilder& plan, const RadixPass& pass);
void radix_pass_tiled(Library& library, PlanBuilder& plan, const RadixPass& pass);

constexpr uint32_t kDigits = 256;

// The digit of a word, u32.
Value digit_of(Builder& k, Value word, Value shift);

}  // namespace xlog::kernel
