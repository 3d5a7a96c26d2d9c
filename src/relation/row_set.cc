#include "relation/row_set.h"

#include "base/check.h"
#include "kernel/library_hash.h"

namespace xlog::relation {

using kernel::Buffer;
using kernel::Type;

std::string_view spelling(SetKind kind) {
  switch (kind) {
    case SetKind::Packed:
      return "packed";
    case SetKind::Wide:
      return "wide";
    case SetKind::Bits:
      return "bits";
  }
  XLOG_UNREACHABLE("a kind of set");
}

namespace {

struct BitPlace {
  Value word, mask;
};
BitPlace bit_of(Builder& k, const SetCode& set, const Values& row) {
  Value at = k.number(Type::U64, 0);
  for (size_t c = 0; c < row.size(); ++c) {
    const Value value = k.cast(Type::U64, row[c]);
    at = c == 0 ? value : at * set.sizes[c] + value;
  }
  const Value bit = k.cast(Type::U32, at) & (kWordBits - 1);
  return {k.cast(Type::U32, at / kWordBits), k.u32(1) << bit};
}

Value same_row(Builder& k, const Values& row, const kernel::Columns& columns, Value other) {
  Value same = k.boolean(true);
  for (size_t c = 0; c < row.size(); ++c) {
    same = same & same_words(k, row[c], columns[c][other]);
  }
  return same;
}

Value first_cell(Builder& k, const SetCode& set, const Values& row) {
  return k.cast(Type::U32, hash_row(k, row)) & (k.len(set.cells) - 1);
}

Value find_wide(Builder& k, const SetCode& set, const Values& row) {
  const Value mask = k.len(set.cells) - 1;
  const Values end = k.loop(
      k.len(set.cells), k.boolean(true), {first_cell(k, set, row), k.boolean(false)},
      [&](Value, const Values& at) -> std::pair<Value, Values> {
        const Value cell = set.cells[at[0]];
        const Value empty = cell == 0;
        const Buffer found = k.private_array(Type::Bool, 1);
        k.store(found, k.u32(0), k.boolean(false));
        k.if_then(!empty,
                  [&] { k.store(found, k.u32(0), same_row(k, row, set.columns, cell - 1)); });
        const Value same = found[0u];
        return {!(empty | same), {(at[0] + 1) & mask, same}};
      });
  return end[1];
}

}  // namespace

SetCode declare_set(kernel::KernelBuilder& k, SetKind kind, const std::vector<Type>& types,
                    kernel::Mode mode) {
  SetCode set;
  set.kind = kind;
  set.cells = k.buffer(cell_type(kind), mode, "set");
  if (kind == SetKind::Wide) {
    for (Type type : types) set.columns.push_back(k.in(type, "column"));
  }
  if (kind == SetKind::Bits) {
    for (size_t c = 0; c < types.size(); ++c) set.sizes.push_back(k.val(Type::U64, "size"));
  }
  return set;
}

Value find_row(Builder& k, const SetCode& set, const Values& row) {
  switch (set.kind) {
    case SetKind::Packed:
      return kernel::hash_find(k, set.cells, packed_row(k, row));
    case SetKind::Wide:
      return find_wide(k, set, row);
    case SetKind::Bits:
      break;
  }
  Value possible = k.boolean(true);
  for (size_t c = 0; c < row.size(); ++c) {
    possible = possible & (k.cast(Type::U64, row[c]) < set.sizes[c]);
  }
  const BitPlace place = bit_of(k, set, row);
  const Value word = set.cells[k.select(possible, place.word, k.u32(0))];
  return possible & ((word & place.mask) != 0);
}

Value claim_row(Builder& k, const SetCode& set, const Values& row) {
  XLOG_CHECK(set.kind != SetKind::Wide, "rows of a wide set are stored first");
  if (set.kind == SetKind::Packed) return kernel::hash_claim(k, set.cells, packed_row(k, row));
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

Values row_of_bit(Builder& k, const SetCode& set, Value word, Value bit) {
  const size_t last = set.sizes.size() - 1;
  Values row(set.sizes.size());
  Value rest = k.cast(Type::U64, word) * kWordBits;
  for (size_t c = last; c > 0; --c) {
    row[c] = k.cast(Type::U32, rest % set.sizes[c]);
    rest = rest / set.sizes[c];
  }
  row[0] = k.cast(Type::U32, rest);
  // No word has bits of two rows that differ in more than the last column.
  row[last] = row[last] + bit;
  return row;
}

void for_each_bit(Builder& k, const SetCode& set, Value word,
                  const std::function<void(const Values& row)>& visit) {
  const Values first = row_of_bit(k, set, word, k.u32(0));
  const Value bits = set.cells[word];
  k.loop(k.u32(kWordBits), bits != 0, {bits},
         [&](Value, const Values& left) -> std::pair<Value, Values> {
           Values here = first;
           here.back() = first.back() + k.ctz(left[0]);
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
                              const Value same = same_row(k, mine, set.columns, held[zero] - 1);
                              return {!same, {(at[0] + 1) & mask, at[0]}};
                            });
  return {claimed[zero], end[1]};
}

}  // namespace xlog::relation
