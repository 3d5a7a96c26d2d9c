// Stable least-significant-digit radix sort, 8 bits a pass.
//
// Columns are packed into words of up to 64 bits (order_key), the last column first; each word is
// sorted with the row numbers beside it, so a pass reads in order and needs no gather. A pass whose
// digit is the same in all rows is left out: one Read brings the bits that vary, the host picks the
// digits, and the passes that are not needed are launched with no instances. They are the first
// ones, so that the last pass always writes the same buffer.
//
// Two kinds of passes, the same result (a stable sort is unique):
//   serial  one instance for each chunk, 256 private counters; for CPU threads
//   tiled   a group sorts its tile in local memory, so that it writes in runs; for GPUs (after
//           Satish, Harris, Garland, "Designing efficient sorting algorithms for manycore GPUs",
//           2009)
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "base/check.h"
#include "kernel/library.h"
#include "kernel/library_radix.h"

namespace xlog::kernel {

namespace {

// The bits in which the words differ, as a buffer of one.
Buffer varying_bits(Library& library, PlanBuilder& plan, Buffer words) {
  const Buffer any = library_reduce(library, plan, Fold::Or, words);
  const Buffer all = library_reduce(library, plan, Fold::And, words);
  return plan.map(plan.u32(1), [&](Value) { return Values{any[0u] ^ all[0u]}; })[0];
}

struct Pass {
  Value active;  // bool
  Value shift;   // of the digit, u32
};

// Which digits to sort by: the active passes are the last ones, least significant digit first.
std::vector<Pass> choose_passes(PlanBuilder& plan, Value varying) {
  const uint32_t digits = bits_of(varying.type()) / 8;
  std::vector<Value> varies;
  std::vector<Value> rank;  // how many digits below this one vary
  Value count = plan.u32(0);
  for (uint32_t d = 0; d < digits; ++d) {
    varies.push_back(((varying >> (8 * d)) & 255) != 0);
    rank.push_back(count);
    count = count + plan.cast(Type::U32, varies.back());
  }
  std::vector<Pass> passes;
  for (uint32_t q = 0; q < digits; ++q) {
    // Pass q takes the varying digit of rank q - (digits - count).
    const Value wanted = plan.u32(q) + count;
    Value shift = plan.u32(0);
    for (uint32_t d = 0; d < digits; ++d) {
      shift = plan.select(varies[d] & (rank[d] + digits == wanted), plan.u32(8 * d), shift);
    }
    passes.push_back({plan.u32(digits) <= wanted, shift});
  }
  return passes;
}

// Copies words or rows to the other buffer, where an odd number of passes starts from.
Id move_kernel(Library& library, Type type) {
  return library.kernel(fmt::format("sort_move_{}", spelling(type)), [&](KernelBuilder& k) {
    const Value n = k.val(Type::U32, "n");
    const Buffer from = k.in(type, "from");
    const Buffer to = k.out(type, "to");
    const Value i = k.grid(n);
    k.store(to, i, from[i]);
  });
}

struct Keyed {
  Buffer words;
  std::optional<Buffer> rows;  // none where the caller has no use for them
};

// Sorts words with their rows; `words` and `rows` are used up.
Keyed sort_words(Library& library, PlanBuilder& plan, Keyed from) {
  const Value n = plan.len(from.words);
  const Type type = from.words.type();
  const Value varying = plan.read(varying_bits(library, plan, from.words), plan.u32(0));
  const std::vector<Pass> passes = choose_passes(plan, varying);
  Keyed to = {plan.unset_buf(type, n), std::nullopt};
  if (from.rows) to.rows = plan.unset_buf(Type::U32, n);
  Value active = plan.u32(0);
  for (const Pass& pass : passes) active = active + plan.cast(Type::U32, pass.active);
  // All digits come in an even number, so an odd number of passes has to start from `to`.
  const Value odd = plan.select((active & 1) != 0, n, plan.u32(0));
  plan.launch(move_kernel(library, type), {odd.id, from.words.id, to.words.id});
  if (from.rows) {
    plan.launch(move_kernel(library, Type::U32), {odd.id, from.rows->id, to.rows->id});
  }
  for (const Pass& pass : passes) {
    RadixPass r;
    r.words = from.words;
    r.rows = from.rows;
    r.to_words = to.words;
    r.to_rows = to.rows;
    r.n = plan.select(pass.active, n, plan.u32(0));
    r.shift = pass.shift;
    library.target.groups ? radix_pass_tiled(library, plan, r)
                          : radix_pass_serial(library, plan, r);
    std::swap(from, to);
  }
  return from;
}

// The columns first <= c < last, packed into one word.
struct Packing {
  size_t first, last;
  Type type;
};

uint32_t key_bits(Type type) { return is_bool(type) ? 1 : bits_of(type); }

std::vector<Packing> pack(const Columns& columns) {
  std::vector<Packing> words;
  size_t last = columns.size();
  while (last > 0) {
    size_t first = last;
    uint32_t bits = 0;
    while (first > 0 && bits + key_bits(columns[first - 1].type()) <= 64) {
      bits += key_bits(columns[--first].type());
    }
    words.push_back({first, last, bits <= 32 ? Type::U32 : Type::U64});
    last = first;
  }
  return words;
}

Value packed(Builder& k, const Columns& columns, const Packing& word, Value row) {
  Value value = k.number(word.type, 0);
  for (size_t c = word.first; c < word.last; ++c) {
    const Value key = k.cast(word.type, order_key(k, columns[c][row]));
    value = c == word.first ? key : value << key_bits(columns[c].type()) | key;
  }
  return value;
}

Values unpacked(Builder& k, const Columns& columns, const Packing& word, Value value) {
  Values values;
  uint32_t below = 0;
  for (size_t c = word.last; c-- > word.first;) {
    const Type type = columns[c].type();
    Value key = below == 0 ? value : value >> below;
    below += key_bits(type);
    if (key_bits(type) < bits_of(word.type)) {
      key = key & k.constant({word.type, mask_of(type)});
    }
    const Type key_type = size_of(type) == 8 ? Type::U64 : Type::U32;
    values.insert(values.begin(), from_order_key(k, k.cast(key_type, key), type));
  }
  return values;
}

}  // namespace

Sorted library_sort(Library& library, PlanBuilder& plan, const Columns& columns,
                    bool want_permutation) {
  const Value n = plan.len(columns[0]);
  const std::vector<Packing> words = pack(columns);
  const bool with_rows = want_permutation || words.size() > 1;
  Keyed sorted;
  for (size_t w = 0; w < words.size(); ++w) {
    const Columns keyed = plan.map(n, [&](Value i) {
      const Value row = w == 0 ? i : (*sorted.rows)[i];
      Values values = {packed(plan, columns, words[w], row)};
      if (with_rows) values.push_back(row);
      return values;
    });
    Keyed next = {keyed[0], std::nullopt};
    if (with_rows) next.rows = keyed[1];
    sorted = sort_words(library, plan, next);
  }
  // The first columns come back out of their word, the others by a gather.
  const Packing& word = words.back();
  const Columns results = plan.map(n, [&](Value i) {
    Values row = unpacked(plan, columns, word, sorted.words[i]);
    if (word.last < columns.size()) {
      const Value source = (*sorted.rows)[i];
      for (size_t c = word.last; c < columns.size(); ++c) row.push_back(columns[c][source]);
    }
    return row;
  });
  return {sorted.rows.value_or(Buffer{}), results};
}

}  // namespace xlog::kernel
