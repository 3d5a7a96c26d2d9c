// The set of the rows of a relation, as kernels see it. Three kinds:
//
//   Packed  open addressing on rows that fit 64 bits (kernel/library_hash.h)
//   Wide    open addressing on row numbers; rows are compared where they are stored
//   Bits    one bit for each row that is possible, where columns have small domains
//
// Packed and Bits sets are filled by the kernels that derive rows; a Wide set once rows are stored.
#pragma once

#include <functional>
#include <string_view>
#include <vector>

#include "kernel/plan_builder.h"
#include "relation/row_code.h"

namespace xlog::relation {

constexpr uint32_t kWordBits = 32;

enum class SetKind : uint8_t { Packed, Wide, Bits };

std::string_view spelling(SetKind kind);  // "packed"

constexpr kernel::Type cell_type(SetKind kind) {
  return kind == SetKind::Packed ? kernel::Type::U64 : kernel::Type::U32;
}

struct SetCode {
  SetKind kind = SetKind::Packed;
  kernel::Buffer cells;
  kernel::Columns columns;  // Wide: of the relation
  Values sizes;             // Bits: of the columns' domains
};

// The parameters of a set; Relation::set_arguments gives the arguments.
SetCode declare_set(kernel::KernelBuilder& k, SetKind kind, const std::vector<kernel::Type>& types,
                    kernel::Mode mode);

// Whether a row is there.
Value find_row(Builder& k, const SetCode& set, const Values& row);
// Puts a row of the domain there, and gives whether it is new. Not for Wide sets.
Value claim_row(Builder& k, const SetCode& set, const Values& row);
// The row of one bit of a Bits set, and the rows of one word.
Values row_of_bit(Builder& k, const SetCode& set, Value word, Value bit);
void for_each_bit(Builder& k, const SetCode& set, Value word,
                  const std::function<void(const Values& row)>& visit);
// Puts a stored row into a Wide set: whether it is new, and its cell.
struct WideClaim {
  Value is_new, cell;
};
WideClaim claim_stored(Builder& k, const SetCode& set, Value row);

}  // namespace xlog::relation
