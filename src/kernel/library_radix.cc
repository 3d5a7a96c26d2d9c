// The serial radix pass: each instance walks one chunk in order with 256 counters of its own.
#include <fmt/format.h>

#include "kernel/library_radix.h"

namespace xlog::kernel {

Value digit_of(Builder& k, Value word, Value shift) {
  return k.cast(Type::U32, word >> k.cast(word.type(), shift)) & (kDigits - 1);
}

namespace {

// Counts stand digit by digit, in each digit chunk by chunk: their scan is where each chunk writes.
Id count_kernel(Library& library, Type type) {
  return library.kernel(fmt::format("radix_count_{}", spelling(type)), [&](KernelBuilder& k) {
    const Value chunks = k.val(Type::U32, "chunks");
    const Value length = k.val(Type::U32, "length");
    const Value n = k.val(Type::U32, "n");
    const Value shift = k.val(Type::U32, "shift");
    const Buffer words = k.in(type, "words");
    const Buffer counts = k.out(Type::U32, "counts");
    const Value i = k.grid(chunks);
    const Range rows = chunk_range(k, i, length, n);
    const Buffer counters = k.private_array(Type::U32, kDigits);
    k.for_range(k.u32(0), k.u32(kDigits), [&](Value d) { k.store(counters, d, k.u32(0)); });
    k.for_range(rows.lo, rows.hi, [&](Value r) {
      const Value d = digit_of(k, words[r], shift);
      k.store(counters, d, counters[d] + 1);
    });
    k.for_range(k.u32(0), k.u32(kDigits),
                [&](Value d) { k.store(counts, d * chunks + i, counters[d]); });
  });
}

Id scatter_kernel(Library& library, Type type, bool with_rows) {
  const std::string name =
      fmt::format("radix_scatter_{}{}", spelling(type), with_rows ? "_rows" : "");
  return library.kernel(name, [&](KernelBuilder& k) {
    const Value chunks = k.val(Type::U32, "chunks");
    const Value length = k.val(Type::U32, "length");
    const Value n = k.val(Type::U32, "n");
    const Value shift = k.val(Type::U32, "shift");
    const Buffer words = k.in(type, "words");
    const Buffer starts = k.in(Type::U32, "starts");
    const Buffer to_words = k.out(type, "to_words");
    std::optional<Buffer> rows, to_rows;
    if (with_rows) {
      rows = k.in(Type::U32, "rows");
      to_rows = k.out(Type::U32, "to_rows");
    }
    const Value i = k.grid(chunks);
    const Range range = chunk_range(k, i, length, n);
    const Buffer next = k.private_array(Type::U32, kDigits);
    k.for_range(k.u32(0), k.u32(kDigits),
                [&](Value d) { k.store(next, d, starts[d * chunks + i]); });
    k.for_range(range.lo, range.hi, [&](Value r) {
      const Value word = words[r];
      const Value d = digit_of(k, word, shift);
      const Value place = next[d];
      k.store(next, d, place + 1);
      k.store(to_words, place, word);
      if (rows) k.store(*to_rows, place, (*rows)[r]);
    });
  });
}

}  // namespace

void radix_pass_serial(Library& library, PlanBuilder& plan, const RadixPass& pass) {
  const Type type = pass.words.type();
  const Library::Chunks chunks = library.chunks(plan, pass.n);
  const Buffer counts = plan.unset_buf(Type::U32, chunks.count * kDigits);
  plan.launch(count_kernel(library, type), {chunks.count.id, chunks.length.id, pass.n.id,
                                            pass.shift.id, pass.words.id, counts.id});
  const Buffer starts =
      library_scan(library, plan, Fold::Add, counts, {.only_if_rows = true}).before;
  std::vector<Id> arguments = {chunks.count.id, chunks.length.id, pass.n.id,       pass.shift.id,
                               pass.words.id,   starts.id,        pass.to_words.id};
  if (pass.rows) {
    arguments.push_back(pass.rows->id);
    arguments.push_back(pass.to_rows->id);
  }
  plan.launch(scatter_kernel(library, type, pass.rows.has_value()), arguments);
}

}  // namespace xlog::kernel
