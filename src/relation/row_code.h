// What kernels do with rows: their types, hashes and words. Shared by sets, indexes and pipelines.
#pragma once

#include <vector>

#include "kernel/builder.h"
#include "lang/types.h"
#include "lang/value.h"

namespace xlog::relation {

using kernel::Builder;
using kernel::Value;
using kernel::Values;

// How a column is stored: numbers as they are; bools, symbols, lists and terms as u32.
kernel::Type column_type(lang::TypeKind kind);

// A constant of the language as a kernel value of its column's type. A value of a `term` column is
// its number here (lang::TermTable::number), as a Value of kind Term.
kernel::Scalar to_scalar(const lang::Value& value);
// The inverse, for a column of type `kind`.
lang::Value to_value(const kernel::Scalar& scalar, lang::TypeKind kind);

uint32_t row_bits(const std::vector<kernel::Type>& types);

// The bits of a value as an unsigned integer of its width: equal values have equal words.
Value word_of(Builder& k, Value value);
// The value of a column whose word is the lowest bits of a u64.
Value value_of_word(Builder& k, Value bits, kernel::Type type);
// The words of a row side by side in one u64; only for rows of at most 64 bits.
Value packed_row(Builder& k, const Values& row);
Value hash_row(Builder& k, const Values& row);  // u64
Value same_words(Builder& k, Value a, Value b);

}  // namespace xlog::relation
