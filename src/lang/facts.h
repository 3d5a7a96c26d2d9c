// Ground facts of one predicate, stored by column from the moment they are read. While the program
// is still untyped a column holds literals in the narrowest form that fits all of them; typing then
// converts each column once to its final type (lang/infer.h). A million facts cost a few
// nanoseconds and their column bytes, no AST.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/column.h"
#include "base/source.h"
#include "lang/types.h"
#include "lang/value.h"

namespace xlog::lang {

// What the literals of an untyped column have been so far, from narrow to wide. Mixed holds whole
// Values (for example an integer and a float, or anything structured).
enum class ColumnForm : uint8_t { Empty, Nat32, Int64, Float64, Symbol32, Mixed, Typed };

class FactColumn {
 public:
  ColumnForm form() const { return form_; }
  size_t size() const;
  size_t bytes() const;

  void append_nat32(uint32_t v) {
    if (form_ == ColumnForm::Nat32) [[likely]] {
      narrow_.push_back(v);
    } else {
      append(Value::i64(v));
    }
  }
  void append_symbol(Symbol s) {
    if (form_ == ColumnForm::Symbol32) [[likely]] {
      narrow_.push_back(s.id);
    } else {
      append(Value::symbol(s));
    }
  }
  // Untyped literals: I64 or U64 (integers past i64), F64, Symbol, or a structured value.
  void append(Value literal);
  // The literal of a row while untyped; the value of type type() once typed.
  Value at(size_t row) const;
  // Smallest and largest integer among the literals, for typing. Only for Nat32 and Int64 forms.
  void integer_range(int64_t& lo, int64_t& hi) const;

  // Converts every literal to `type`. Returns the first row whose literal does not fit, or size()
  // when all do; on failure the column is unchanged. Structured values convert inside `names`.
  size_t convert(const Type& type, Names& names);
  const Type& type() const { return type_; }
  // The typed storage, width(type().kind) bytes a value; a `term` column holds Values (mixed()).
  const Column<uint32_t>& narrow() const { return narrow_; }
  const Column<uint64_t>& wide() const { return wide_; }
  const Column<Value>& mixed() const { return mixed_; }
  void append_typed(
      Value value);  // after convert(); value.kind must be the column's (or any for term)
  void append_typed(std::span<const uint64_t> bits);  // many at once; not for a term column
  void shrink_to_fit();
  void truncate(
      size_t rows);  // drops the last values; used when a fact turns out malformed half-way

 private:
  void widen(ColumnForm form);

  ColumnForm form_ = ColumnForm::Empty;
  Type type_;
  Column<uint32_t> narrow_;
  Column<uint64_t> wide_;
  Column<Value> mixed_;
};

// Converts one literal to a type: integers range-checked, integers to floats, true/false and 0/1 to
// bool, lists element by element. False when it does not fit. (Integer to symbol and float to
// integer never fit.)
bool convert_literal(Value& literal, const Type& type, Names& names);

struct FactTable {
  Symbol name;
  bool strong_negation = false;
  uint32_t arity = 0;
  size_t rows = 0;
  std::vector<FactColumn> columns;

  // Where rows came from: consecutive facts of a source text share one entry. The place of a row is
  // found by reading the run again (lang/parser.h, fact_span), because it is needed only for
  // diagnostics.
  struct Run {
    size_t first_row;
    uint32_t source_begin;  // 0: the rows come from a data file
  };
  Column<Run> runs;

  size_t bytes() const;
};

}  // namespace xlog::lang
