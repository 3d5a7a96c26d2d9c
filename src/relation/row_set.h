// The set of the rows of a relation, as kernels see it. Kinds:
//
//   Packed    open addressing on rows that fit 64 bits (kernel/library_hash.h)
//   Compact   the same in cells of 32 bits, where columns have bounds (compact_code.h)
//   Wide      open addressing on row numbers; rows are compared where they are stored
//   Bits      one bit for each row that is possible, where columns have small domains
//   Best      as Packed, on all columns but one; beside each cell the best value of that one
//   WideBest  the same as Wide
//
// Packed, Compact, Bits and Best sets are filled by the kernels that derive rows; a wide set once
// rows are stored. A set of best values takes a row in where it improves on what is there: the row
// before it stays in the relation's columns, but is_best() is false of it.
#pragma once

#include <functional>
#include <string_view>
#include <vector>

#include "kernel/plan_builder.h"
#include "relation/row_code.h"

namespace xlog::relation {

constexpr uint32_t kWordBits = 32;

enum class SetKind : uint8_t { Packed, Compact, Wide, Bits, Best, WideBest };

constexpr bool is_wide(SetKind kind) { return kind == SetKind::Wide || kind == SetKind::WideBest; }
constexpr bool is_packed(SetKind kind) { return kind == SetKind::Packed || kind == SetKind::Best; }
// Whether one more cell stands behind the others: for the key 0, or for rows without a place.
constexpr bool has_last_cell(SetKind kind) { return is_packed(kind) || kind == SetKind::Compact; }
// Whether it knows what the columns are below.
constexpr bool has_sizes(SetKind kind) { return kind == SetKind::Bits || kind == SetKind::Compact; }
constexpr bool keeps_best(SetKind kind) {
  return kind == SetKind::Best || kind == SetKind::WideBest;
}

std::string_view spelling(SetKind kind);  // "packed"

constexpr kernel::Type cell_type(SetKind kind) {
  return is_packed(kind) ? kernel::Type::U64 : kernel::Type::U32;
}

// The column of a relation that keeps the best value for all others.
struct BestColumn {
  uint32_t column = 0;
  bool least = true;  // false: the greatest
};

// What the code of a set depends on.
struct SetShape {
  SetKind kind = SetKind::Packed;
  BestColumn best;              // where it keeps best values
  std::vector<uint32_t> order;  // of the columns in a row's number, the outermost first
};

struct SetCode {
  SetKind kind = SetKind::Packed;
  kernel::Buffer cells;
  BestColumn best;              // where it keeps best values
  std::vector<uint32_t> order;  // Bits, Compact
  kernel::Buffer values;        // those, beside the cells (best_code.h)
  kernel::Columns columns;      // of the relation, where it is wide
  Values sizes;                 // Bits, Compact: of the columns' domains
  Values mixing;                // Compact: compact_code.h
};

// How many numbers a set takes besides, all u64: the sizes of its columns' domains, and how it
// mixes.
size_t number_count(SetKind kind, size_t columns);

// The parameters of a set; Relation::set_arguments gives the arguments.
SetCode declare_set(kernel::KernelBuilder& k, const SetShape& shape,
                    const std::vector<kernel::Type>& types, kernel::Mode mode);

// The number of a row, u64, among all that sizes make possible.
Value number_of(Builder& k, const SetCode& set, const Values& row);

// Whether a row is there. Not for sets of best values.
Value find_row(Builder& k, const SetCode& set, const Values& row);
// Whether a row that is there is still the best one.
Value is_best(Builder& k, const SetCode& set, const Values& row);
// Puts a row of the domain there, and gives whether it is new. Not for wide sets.
Value claim_row(Builder& k, const SetCode& set, const Values& row);
// Brings the cell near that claim_row will look at first.
void prefetch_row(Builder& k, const SetCode& set, const Values& row);
// Takes a row out of a Bits set that this instance has put there.
void take_back(Builder& k, const SetCode& set, const Values& row);
// The row of one bit of a Bits set, and the rows of some bits of one word.
Values row_of_bit(Builder& k, const SetCode& set, Value word, Value bit);
void for_each_bit(Builder& k, const SetCode& set, Value word, Value bits,
                  const std::function<void(const Values& row)>& visit);
// Puts a stored row into a wide set: whether it is new, and its cell.
struct WideClaim {
  Value is_new, cell;
};
WideClaim claim_stored(Builder& k, const SetCode& set, Value row);

}  // namespace xlog::relation
