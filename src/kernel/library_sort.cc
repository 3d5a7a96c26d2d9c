// Stable least-significant-digit radix sort, 8 bits a pass.
//
// Columns are packed into words of up to 64 bits (order_key), the last column first; each word is
// sorted with the row numbers beside it, so a pass reads in order and needs no gather. A column of
// words is sorted as it stands. A pass whose digit is the same in all rows is left out: one Read
// brings the bits that vary, the host picks the digits, and the passes that are not needed are
// launched with no instances. The first pass always runs: it takes the words from where they are,
// numbers the rows, and writes where the next one reads. The passes after it are the last ones, so
// that the result always stands in the same buffer.
//
// Two kinds of kernels, the same result (a stable sort is unique):
//   serial  one instance for each chunk, 256 private counters; for CPU threads
//   tiled   a group sorts its tile in local memory, so that it writes in runs; for GPUs (after
//           Satish, Harris, Garland, "Designing efficient sorting algorithms for manycore GPUs",
//           2009)
#include <optional>

#include "kernel/library.h"
#include "kernel/library_radix.h"

namespace xlog::kernel {

namespace {

// The digits to sort by, least significant first.
struct Digits {
  Value count;                // how many vary
  std::vector<Value> shifts;  // of each pass, u32
};

Digits choose_digits(PlanBuilder& plan, Value varying) {
  const uint32_t digits = bits_of(varying.type()) / 8;
  std::vector<Value> varies;
  std::vector<Value> rank;  // how many digits below this one vary
  Value count = plan.u32(0);
  for (uint32_t d = 0; d < digits; ++d) {
    varies.push_back(((varying >> (8 * d)) & 255) != 0);
    rank.push_back(count);
    count = count + plan.cast(Type::U32, varies.back());
  }
  std::vector<Value> shifts;
  for (uint32_t q = 0; q < digits; ++q) {
    // Pass 0 takes the varying digit of rank 0, pass q that of rank q - (digits - count).
    const Value wanted = q == 0 ? plan.u32(digits) : count + q;
    Value shift = plan.u32(0);
    for (uint32_t d = 0; d < digits; ++d) {
      shift = plan.select(varies[d] & (rank[d] + digits == wanted), plan.u32(8 * d), shift);
    }
    shifts.push_back(shift);
  }
  return {count, shifts};
}

// Sorts the words of `from`, which stay as they are. Where it has no rows and they are wanted, they
// are numbered.
Keyed sort_words(Library& library, PlanBuilder& plan, const Keyed& from, bool with_rows) {
  const Value n = plan.len(from.words);
  const Buffer varying = library_varying_bits(library, plan, from.words);
  const Digits digits = choose_digits(plan, plan.read(varying, plan.u32(0)));
  auto make_buffers = [&] {
    Keyed made = {plan.unset_buf(from.words.type(), n), std::nullopt};
    if (with_rows) made.rows = plan.unset_buf(Type::U32, n);
    return made;
  };
  // Passes write to the two in turns. The last one (3 or 7) is odd; counted back from there, the
  // first one is too where an odd number of them runs. Where no digit varies it runs alone.
  const auto passes = static_cast<uint32_t>(digits.shifts.size());
  const Keyed odd = make_buffers(), even = make_buffers();
  const Value to_odd = (digits.count == 0) | ((digits.count & 1) != 0);
  radix_pass(library, plan,
             {.from = from,
              .n = n,
              .shift = digits.shifts[0],
              .targets = {{odd, to_odd}, {even, !to_odd}}});
  for (uint32_t q = 1; q < passes; ++q) {
    const bool is_odd = q % 2 != 0;
    radix_pass(library, plan,
               {.from = is_odd ? even : odd,
                .n = plan.select(plan.u32(passes) < digits.count + q, n, plan.u32(0)),
                .shift = digits.shifts[q],
                .targets = {{is_odd ? odd : even, plan.boolean(true)}}});
  }
  return odd;
}

// The columns first <= c < last, packed into one word.
struct Packing {
  size_t first, last;
  Type type;

  // The word is the value of one column, bit by bit.
  bool is_plain(const Columns& columns) const {
    return last - first == 1 && columns[first].type() == type;
  }
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
    Keyed from = {columns[words[w].first], sorted.rows};
    if (w > 0 || !words[w].is_plain(columns)) {
      from.words = plan.map(n, [&](Value i) {
        return Values{packed(plan, columns, words[w], w == 0 ? i : (*sorted.rows)[i])};
      })[0];
    }
    sorted = sort_words(library, plan, from, with_rows);
  }
  // The first columns come back out of their word, the others by a gather.
  const Packing& word = words.back();
  Columns results;
  if (word.is_plain(columns)) results.push_back(sorted.words);
  if (results.size() < columns.size()) {
    const Columns others = plan.map(n, [&](Value i) {
      Values row;
      if (results.empty()) row = unpacked(plan, columns, word, sorted.words[i]);
      if (word.last < columns.size()) {
        const Value source = (*sorted.rows)[i];
        for (size_t c = word.last; c < columns.size(); ++c) row.push_back(columns[c][source]);
      }
      return row;
    });
    results.insert(results.end(), others.begin(), others.end());
  }
  return {sorted.rows.value_or(Buffer{}), results};
}

}  // namespace xlog::kernel
