#include "lang/facts.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <utility>

#include "base/check.h"

namespace xlog::lang {

// ---- One literal ----

namespace {

bool integer_fits(const Value& v, TypeKind kind) {
  const bool past_i64 = v.kind == TypeKind::U64 && v.bits > static_cast<uint64_t>(INT64_MAX);
  const bool negative = type_class(v.kind) == TypeClass::Signed && v.as_signed() < 0;
  switch (kind) {
    case TypeKind::U32:
      return !negative && v.bits <= UINT32_MAX;
    case TypeKind::U64:
      return !negative;
    case TypeKind::I32:
      return !past_i64 && v.as_signed() >= INT32_MIN && v.as_signed() <= INT32_MAX;
    case TypeKind::I64:
      return !past_i64;
    default:
      return false;
  }
}

// A finite number past the range of f32 does not fit; rounding is fine.
bool float_fits(double number, TypeKind kind) {
  if (kind == TypeKind::F64 || !std::isfinite(number)) return true;
  return std::isfinite(static_cast<float>(number));
}

Value make_float(double number, TypeKind kind) {
  return kind == TypeKind::F32 ? Value::f32(static_cast<float>(number)) : Value::f64(number);
}

bool convert_to_bool(Value& literal, const Names& names) {
  if (is_integer(literal.kind)) {
    if (literal.bits > 1) return false;
    literal = Value::boolean(literal.bits == 1);
    return true;
  }
  if (literal.kind != TypeKind::Symbol) return false;
  const std::string_view text = names.symbols.text(literal.as_symbol());
  if (text != "true" && text != "false") return false;
  literal = Value::boolean(text == "true");
  return true;
}

// Recursion follows the type, whose nesting the parser limits.
bool convert_list(Value& literal, const Type& element, Names& names) {
  if (literal.kind != TypeKind::List) return false;
  const auto parts = names.terms.elements(literal);
  std::vector<Value> converted(parts.begin(), parts.end());
  for (Value& part : converted) {
    if (!convert_literal(part, element, names)) return false;
  }
  literal = names.terms.list(converted);
  return true;
}

}  // namespace

bool convert_literal(Value& literal, const Type& type, Names& names) {
  switch (type.kind) {
    case TypeKind::U32:
    case TypeKind::U64:
    case TypeKind::I32:
    case TypeKind::I64:
      if (!is_integer(literal.kind) || !integer_fits(literal, type.kind)) return false;
      literal.kind = type.kind;
      return true;
    case TypeKind::F32:
    case TypeKind::F64: {
      if (literal.kind == type.kind) return true;
      if (!is_numeric(literal.kind)) return false;
      const double number = literal.as_double();
      if (!float_fits(number, type.kind)) return false;
      literal = make_float(number, type.kind);
      return true;
    }
    case TypeKind::Bool:
      return literal.kind == TypeKind::Bool || convert_to_bool(literal, names);
    case TypeKind::Symbol:
      return literal.kind == TypeKind::Symbol;
    case TypeKind::PredRef:
      if (literal.kind != TypeKind::Symbol && literal.kind != TypeKind::PredRef) return false;
      literal.kind = TypeKind::PredRef;
      return true;
    case TypeKind::List:
      return convert_list(literal, *type.element, names);
    case TypeKind::Compound:
      return literal.kind == TypeKind::Compound;
    case TypeKind::Term:
      return true;
  }
  XLOG_UNREACHABLE("an unknown type");
}

// ---- Storage ----

namespace {

enum class Storage : uint8_t { Narrow, Wide, Mixed };

Storage storage_of(TypeKind kind) {
  if (kind == TypeKind::Term) return Storage::Mixed;
  return width(kind) == 8 ? Storage::Wide : Storage::Narrow;
}

Storage storage_of(ColumnForm form, const Type& type) {
  switch (form) {
    case ColumnForm::Empty:
    case ColumnForm::Nat32:
    case ColumnForm::Symbol32:
      return Storage::Narrow;
    case ColumnForm::Int64:
    case ColumnForm::Float64:
      return Storage::Wide;
    case ColumnForm::Mixed:
      return Storage::Mixed;
    case ColumnForm::Typed:
      return storage_of(type.kind);
  }
  XLOG_UNREACHABLE("an unknown column form");
}

// A stored 32-bit value back as a Value: i32 is the only one that is sign-extended.
Value from_narrow(TypeKind kind, uint32_t bits) {
  if (kind == TypeKind::I32) return Value::i32(static_cast<int32_t>(bits));
  return {kind, bits};
}

ColumnForm narrowest_form(const Value& literal) {
  switch (literal.kind) {
    case TypeKind::I64:
      return literal.bits <= UINT32_MAX ? ColumnForm::Nat32 : ColumnForm::Int64;
    case TypeKind::F64:
      return ColumnForm::Float64;
    case TypeKind::Symbol:
      return ColumnForm::Symbol32;
    default:
      return ColumnForm::Mixed;
  }
}

template <typename T>
void release(Column<T>& column) {
  column = Column<T>();
}

template <typename T>
void truncate_column(Column<T>& column, size_t size) {
  while (column.size() > size) column.pop_back();
}

}  // namespace

size_t FactColumn::size() const {
  switch (storage_of(form_, type_)) {
    case Storage::Narrow:
      return narrow_.size();
    case Storage::Wide:
      return wide_.size();
    case Storage::Mixed:
      return mixed_.size();
  }
  return 0;
}

size_t FactColumn::bytes() const { return narrow_.bytes() + wide_.bytes() + mixed_.bytes(); }

Value FactColumn::at(size_t row) const {
  switch (form_) {
    case ColumnForm::Empty:
      break;
    case ColumnForm::Nat32:
      return Value::i64(narrow_[row]);
    case ColumnForm::Symbol32:
      return Value::symbol(Symbol{narrow_[row]});
    case ColumnForm::Int64:
      return {TypeKind::I64, wide_[row]};
    case ColumnForm::Float64:
      return {TypeKind::F64, wide_[row]};
    case ColumnForm::Mixed:
      return mixed_[row];
    case ColumnForm::Typed:
      switch (storage_of(type_.kind)) {
        case Storage::Narrow:
          return from_narrow(type_.kind, narrow_[row]);
        case Storage::Wide:
          return {type_.kind, wide_[row]};
        case Storage::Mixed:
          return mixed_[row];
      }
  }
  XLOG_UNREACHABLE("a row past the end of a fact column");
}

void FactColumn::append(Value literal) {
  XLOG_CHECK(form_ != ColumnForm::Typed, "a literal for a column that is typed already");
  const ColumnForm needed = narrowest_form(literal);
  if (form_ == ColumnForm::Empty) {
    form_ = needed;
  } else if (form_ == ColumnForm::Nat32 && needed == ColumnForm::Int64) {
    widen(ColumnForm::Int64);
  } else if (form_ != needed && form_ != ColumnForm::Mixed &&
             !(form_ == ColumnForm::Int64 && needed == ColumnForm::Nat32)) {
    widen(ColumnForm::Mixed);
  }
  switch (storage_of(form_, type_)) {
    case Storage::Narrow:
      narrow_.push_back(static_cast<uint32_t>(literal.bits));
      return;
    case Storage::Wide:
      wide_.push_back(literal.bits);
      return;
    case Storage::Mixed:
      mixed_.push_back(literal);
      return;
  }
}

void FactColumn::widen(ColumnForm form) {
  const size_t rows = size();
  if (form == ColumnForm::Int64) {
    wide_.reserve(rows + 1);
    for (const uint32_t v : narrow_) wide_.push_back(v);
  } else {
    mixed_.reserve(rows + 1);
    for (size_t row = 0; row < rows; ++row) mixed_.push_back(at(row));
    release(wide_);
  }
  release(narrow_);
  form_ = form;
}

void FactColumn::integer_range(int64_t& lo, int64_t& hi) const {
  XLOG_CHECK(form_ == ColumnForm::Nat32 || form_ == ColumnForm::Int64, "not an integer column");
  lo = std::numeric_limits<int64_t>::max();
  hi = std::numeric_limits<int64_t>::min();
  if (form_ == ColumnForm::Nat32) {
    uint32_t least = UINT32_MAX;
    uint32_t most = 0;
    for (const uint32_t v : narrow_) {
      least = std::min(least, v);
      most = std::max(most, v);
    }
    if (narrow_.empty()) return;
    lo = least;
    hi = most;
    return;
  }
  for (const uint64_t bits : wide_) {
    const auto v = static_cast<int64_t>(bits);
    lo = std::min(lo, v);
    hi = std::max(hi, v);
  }
}

// ---- Conversion of a whole column ----

namespace {

// Which storage bits stay what they are, so that converting is only checking the range.
bool same_bits(ColumnForm form, TypeKind kind) {
  switch (form) {
    case ColumnForm::Nat32:
      return kind == TypeKind::U32 || kind == TypeKind::I32 || kind == TypeKind::Bool;
    case ColumnForm::Symbol32:
      return kind == TypeKind::Symbol || kind == TypeKind::PredRef;
    case ColumnForm::Int64:
      return kind == TypeKind::I64 || kind == TypeKind::U64;
    case ColumnForm::Float64:
      return kind == TypeKind::F64;
    default:
      return false;
  }
}

// The first value that does not fit although its bits would stay, or the size.
template <typename T, typename Fits>
size_t first_unfit(const Column<T>& column, Fits fits) {
  return static_cast<size_t>(std::find_if_not(column.begin(), column.end(), fits) - column.begin());
}

}  // namespace

size_t FactColumn::convert(const Type& type, Names& names) {
  const size_t rows = size();
  if (form_ == ColumnForm::Typed && type_ == type) return rows;

  if (same_bits(form_, type.kind)) {
    size_t unfit = rows;
    if (type.kind == TypeKind::I32) {
      unfit = first_unfit(narrow_, [](uint32_t v) { return v <= uint32_t{INT32_MAX}; });
    } else if (type.kind == TypeKind::Bool) {
      unfit = first_unfit(narrow_, [](uint32_t v) { return v <= 1; });
    } else if (type.kind == TypeKind::U64) {
      unfit = first_unfit(wide_, [](uint64_t v) { return static_cast<int64_t>(v) >= 0; });
    }
    if (unfit < rows) return unfit;
    form_ = ColumnForm::Typed;
    type_ = type;
    return rows;
  }

  // The common widenings, without a look at each value's kind.
  if (form_ == ColumnForm::Nat32 && storage_of(type.kind) == Storage::Wide) {
    wide_.reserve(rows);
    if (type.kind == TypeKind::F64) {
      for (const uint32_t v : narrow_)
        wide_.push_back(std::bit_cast<uint64_t>(static_cast<double>(v)));
    } else {
      for (const uint32_t v : narrow_) wide_.push_back(v);
    }
    release(narrow_);
    form_ = ColumnForm::Typed;
    type_ = type;
    return rows;
  }

  FactColumn converted;
  converted.form_ = ColumnForm::Typed;
  converted.type_ = type;
  switch (storage_of(type.kind)) {
    case Storage::Narrow:
      converted.narrow_.reserve(rows);
      break;
    case Storage::Wide:
      converted.wide_.reserve(rows);
      break;
    case Storage::Mixed:
      converted.mixed_.reserve(rows);
      break;
  }
  for (size_t row = 0; row < rows; ++row) {
    Value value = at(row);
    if (!convert_literal(value, type, names)) return row;
    converted.append_typed(value);
  }
  *this = std::move(converted);
  return rows;
}

void FactColumn::append_typed(Value value) {
  switch (storage_of(type_.kind)) {
    case Storage::Narrow:
      narrow_.push_back(static_cast<uint32_t>(value.bits));
      return;
    case Storage::Wide:
      wide_.push_back(value.bits);
      return;
    case Storage::Mixed:
      mixed_.push_back(value);
      return;
  }
}

void FactColumn::append_typed(std::span<const uint64_t> bits) {
  const Storage storage = storage_of(type_.kind);
  XLOG_CHECK(storage != Storage::Mixed, "a value of a term column has a kind of its own");
  if (storage == Storage::Wide) {
    std::ranges::copy(bits, wide_.extend(bits.size()));
  } else {
    uint32_t* to = narrow_.extend(bits.size());
    for (size_t i = 0; i < bits.size(); ++i) to[i] = static_cast<uint32_t>(bits[i]);
  }
}

void FactColumn::shrink_to_fit() {
  narrow_.shrink_to_fit();
  wide_.shrink_to_fit();
  mixed_.shrink_to_fit();
}

void FactColumn::truncate(size_t rows) {
  truncate_column(narrow_, rows);
  truncate_column(wide_, rows);
  truncate_column(mixed_, rows);
  // An empty untyped column says nothing about its type again.
  if (size() == 0 && form_ != ColumnForm::Typed) form_ = ColumnForm::Empty;
}

size_t FactTable::bytes() const {
  size_t total = sizeof(FactTable) + runs.bytes() + columns.capacity() * sizeof(FactColumn);
  for (const FactColumn& column : columns) total += column.bytes();
  return total;
}

}  // namespace xlog::lang
