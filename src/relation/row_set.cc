#include "relation/row_set.h"

#include "base/check.h"
#include "kernel/library_hash.h"
#include "relation/best_code.h"
#include "relation/compact_code.h"

namespace xlog::relation {

using kernel::Buffer;
using kernel::Type;

std::string_view spelling(SetKind kind) {
  switch (kind) {
    case SetKind::Packed:
      return "packed";
    case SetKind::Compact:
      return "compact";
    case SetKind::Wide:
      return "wide";
    case SetKind::Bits:
      return "bits";
    case SetKind::Best:
    case SetKind::WideBest:
      return "best of groups";
  }
  XLOG_UNREACHABLE("a kind of set");
}

size_t number_count(SetKind kind, size_t columns) {
  if (!has_sizes(kind)) return 0;
  return columns + (kind == SetKind::Compact ? kMixingNumbers : 0);
}

Value number_of(Builder& k, const SetCode& set, const Values& row) {
  Value at = k.number(Type::U64, 0);
  for (uint32_t c : set.order) {
    const Value value = k.cast(Type::U64, row[c]);
    at = c == set.order.front() ? value : at * set.sizes[c] + value;
  }
  return at;
}

namespace {

struct BitPlace {
  Value word, mask;
};
BitPlace bit_of(Builder& k, const SetCode& set, const Values& row) {
  const Value at = number_of(k, set, row);
  const Value bit = k.cast(Type::U32, at) & (kWordBits - 1);
  return {k.cast(Type::U32, at / kWordBits), k.u32(1) << bit};
}

// The values of a row that its cell depends on.
Values key_of(const SetCode& set, const Values& row) {
  Values key = row;
  if (keeps_best(set.kind)) key.erase(key.begin() + set.best.column);
  return key;
}

Value same_key(Builder& k, const SetCode& set, const Values& row, Value other) {
  Value same = k.boolean(true);
  for (size_t c = 0; c < row.size(); ++c) {
    if (keeps_best(set.kind) && c == set.best.column) continue;
    same = same & same_words(k, row[c], set.columns[c][other]);
  }
  return same;
}

Value first_cell(Builder& k, const SetCode& set, const Values& row) {
  return k.cast(Type::U32, hash_row(k, key_of(set, row))) & (k.len(set.cells) - 1);
}

struct WideFound {
  Value cell, found;
};
WideFound find_wide(Builder& k, const SetCode& set, const Values& row) {
  const Value mask = k.len(set.cells) - 1;
  const Value start = first_cell(k, set, row);
  const Values end = k.loop(
      k.len(set.cells), k.boolean(true), {start, k.boolean(false), start},
      [&](Value, const Values& at) -> std::pair<Value, Values> {
        const Value cell = set.cells[at[0]];
        const Value empty = cell == 0;
        const Buffer found = k.private_array(Type::Bool, 1);
        k.store(found, k.u32(0), k.boolean(false));
        k.if_then(!empty, [&] { k.store(found, k.u32(0), same_key(k, set, row, cell - 1)); });
        const Value same = found[0u];
        return {!(empty | same), {(at[0] + 1) & mask, same, at[0]}};
      });
  return {end[2], end[1]};
}

}  // namespace

SetCode declare_set(kernel::KernelBuilder& k, const SetShape& shape, const std::vector<Type>& types,
                    kernel::Mode mode) {
  const SetKind kind = shape.kind;
  SetCode set;
  set.kind = kind;
  set.order = shape.order;
  set.cells = k.buffer(cell_type(kind), mode, "set");
  if (keeps_best(kind)) {
    set.best = shape.best;
    set.values = k.buffer(image_type(types[set.best.column]), mode, "best");
  }
  if (is_wide(kind)) {
    for (Type type : types) set.columns.push_back(k.in(type, "column"));
  }
  for (size_t i = 0; i < number_count(kind, types.size()); ++i) {
    (i < types.size() ? set.sizes : set.mixing).push_back(k.val(Type::U64, "size"));
  }
  return set;
}

Value find_row(Builder& k, const SetCode& set, const Values& row) {
  switch (set.kind) {
    case SetKind::Packed:
      return kernel::hash_find(k, set.cells, packed_row(k, row)).found;
    case SetKind::Wide:
      return find_wide(k, set, row).found;
    case SetKind::Bits:
    case SetKind::Compact:
      break;
    case SetKind::Best:
    case SetKind::WideBest:
      XLOG_UNREACHABLE("nobody asks for one value of a relation that keeps the best");
  }
  Value possible = k.boolean(true);
  for (size_t c = 0; c < row.size(); ++c) {
    possible = possible & (k.cast(Type::U64, row[c]) < set.sizes[c]);
  }
  if (set.kind == SetKind::Compact) return possible & find_compact(k, set, row);
  const BitPlace place = bit_of(k, set, row);
  const Value word = set.cells[k.select(possible, place.word, k.u32(0))];
  return possible & ((word & place.mask) != 0);
}

Value is_best(Builder& k, const SetCode& set, const Values& row) {
  const Value cell = set.kind == SetKind::Best
                         ? kernel::hash_find(k, set.cells, packed_row(k, key_of(set, row))).cell
                         : find_wide(k, set, row).cell;
  return set.values[cell] == image_of(k, row[set.best.column], set.best.least);
}

Value claim_row(Builder& k, const SetCode& set, const Values& row) {
  XLOG_CHECK(!is_wide(set.kind), "rows of a wide set are stored first");
  if (set.kind == SetKind::Packed) {
    return kernel::hash_claim(k, set.cells, packed_row(k, row)).is_new;
  }
  if (set.kind == SetKind::Compact) return claim_compact(k, set, row);
  if (set.kind == SetKind::Best) {
    const kernel::HashClaim claim =
        kernel::hash_claim(k, set.cells, packed_row(k, key_of(set, row)));
    return improve(k, set.values, claim.cell, claim.is_new,
                   image_of(k, row[set.best.column], set.best.least));
  }
  const BitPlace place = bit_of(k, set, row);
  const Value first = k.u32(0);
  const Buffer claimed = k.private_array(Type::Bool, 1);
  k.store(claimed, first, k.boolean(false));
  // Most rows of a fixpoint are there already: the bit is read before it is set.
  k.if_then((set.cells[place.word] & place.mask) == 0, [&] {
    const Value old = k.atomic(kernel::Fold::Or, set.cells, place.word, place.mask);
    k.store(claimed, first, (old & place.mask) == 0);
  });
  return claimed[first];
}

void prefetch_row(Builder& k, const SetCode& set, const Values& row) {
  switch (set.kind) {
    case SetKind::Packed:
    case SetKind::Best:
      return kernel::hash_prefetch(k, set.cells, packed_row(k, key_of(set, row)));
    case SetKind::Compact:
      return prefetch_compact(k, set, row);
    case SetKind::Bits:
      return k.prefetch(set.cells, bit_of(k, set, row).word);
    case SetKind::Wide:
    case SetKind::WideBest:
      XLOG_UNREACHABLE("rows of a wide set are stored first");
  }
}

void take_back(Builder& k, const SetCode& set, const Values& row) {
  XLOG_CHECK(set.kind == SetKind::Bits, "rows leave sets of bits alone");
  const BitPlace place = bit_of(k, set, row);
  k.atomic(kernel::Fold::And, set.cells, place.word, place.mask ^ 0xffffffff);
}

Values row_of_bit(Builder& k, const SetCode& set, Value word, Value bit) {
  Values row(set.sizes.size());
  Value rest = k.cast(Type::U64, word) * kWordBits;
  for (size_t p = set.order.size() - 1; p > 0; --p) {
    const uint32_t c = set.order[p];
    row[c] = k.cast(Type::U32, rest % set.sizes[c]);
    rest = rest / set.sizes[c];
  }
  row[set.order.front()] = k.cast(Type::U32, rest);
  // No word has bits of two rows that differ in more than the innermost column.
  row[set.order.back()] = row[set.order.back()] + bit;
  return row;
}

void for_each_bit(Builder& k, const SetCode& set, Value word, Value bits,
                  const std::function<void(const Values& row)>& visit) {
  const Values first = row_of_bit(k, set, word, k.u32(0));
  k.loop(k.u32(kWordBits), bits != 0, {bits},
         [&](Value, const Values& left) -> std::pair<Value, Values> {
           Values here = first;
           here[set.order.back()] = first[set.order.back()] + k.ctz(left[0]);
           visit(here);
           const Value others = left[0] & (left[0] - 1);
           return {others != 0, {others}};
         });
}

WideClaim claim_stored(Builder& k, const SetCode& set, Value row) {
  Values mine;
  for (const Buffer& column : set.columns) mine.push_back(column[row]);
  const Value mask = k.len(set.cells) - 1;
  const Value zero = k.u32(0);
  const Buffer held = k.private_array(Type::U32, 1);
  const Buffer claimed = k.private_array(Type::Bool, 1);
  k.store(claimed, zero, k.boolean(false));
  const Value start = first_cell(k, set, mine);
  const Values end = k.loop(k.len(set.cells), k.boolean(true), {start, start},
                            [&](Value, const Values& at) -> std::pair<Value, Values> {
                              k.store(held, zero, set.cells[at[0]]);
                              k.if_then(held[zero] == 0, [&] {
                                const Value old = k.cas(set.cells, at[0], zero, row + 1);
                                k.store(claimed, zero, old == 0);
                                k.store(held, zero, k.select(old == 0, row + 1, old));
                              });
                              const Value same = same_key(k, set, mine, held[zero] - 1);
                              return {!same, {(at[0] + 1) & mask, at[0]}};
                            });
  if (set.kind == SetKind::Wide) return {claimed[zero], end[1]};
  const Value image = image_of(k, mine[set.best.column], set.best.least);
  return {improve(k, set.values, end[1], claimed[zero], image), end[1]};
}

}  // namespace xlog::relation
