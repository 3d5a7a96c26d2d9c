// Run-time values as the front end and the reference evaluator see them: a type tag and 64 bits.
// Symbols are ids of the run's Interner; lists and compound terms are ids of its TermTable, which
// holds each distinct structure once, so that equal values have equal bits.
#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "base/symbol.h"
#include "lang/types.h"

namespace xlog::lang {

// kind is never Term: a value in a `term` column carries its own kind.
// Integers: bits hold the value sign- or zero-extended to 64 bits. F64: its bits, NaN in one
// canonical form (0x7ff8000000000000). F32: the bits of the float, zero-extended, canonical NaN
// 0x7fc00000. Bool: 0 or 1.
struct Value {
  TypeKind kind = TypeKind::U64;
  uint64_t bits = 0;

  static Value u32(uint32_t v) { return {TypeKind::U32, v}; }
  static Value u64(uint64_t v) { return {TypeKind::U64, v}; }
  static Value i32(int32_t v) {
    return {TypeKind::I32, static_cast<uint64_t>(static_cast<int64_t>(v))};
  }
  static Value i64(int64_t v) { return {TypeKind::I64, static_cast<uint64_t>(v)}; }
  static Value f32(float v);
  static Value f64(double v);
  static Value boolean(bool v) { return {TypeKind::Bool, v ? 1u : 0u}; }
  static Value symbol(Symbol s) { return {TypeKind::Symbol, s.id}; }

  int64_t as_signed() const { return static_cast<int64_t>(bits); }
  double as_double() const;  // of any numeric kind
  Symbol as_symbol() const { return Symbol{static_cast<uint32_t>(bits)}; }

  // Identity: same kind, same bits. For an order that people see use compare() below.
  friend bool operator==(const Value&, const Value&) = default;
};

// Interned lists and compound terms.
class TermTable {
 public:
  Value list(std::span<const Value> elements);
  Value compound(Symbol functor, std::span<const Value> args);

  size_t size() const { return nodes_.size(); }  // their ids are below
  bool is_list(uint32_t id) const { return nodes_[id].kind == NodeKind::List; }
  std::span<const Value> elements(Value list_value) const;  // of a List
  Symbol functor(Value compound_value) const;               // of a Compound
  std::span<const Value> args(Value compound_value) const;  // of a Compound

  // One number for a value of any kind, for engines whose columns hold words: equal numbers, equal
  // values. Lists and compound terms have their ids, other values get one here.
  uint32_t number(Value value);
  Value numbered(uint32_t number) const;

 private:
  enum class NodeKind : uint8_t { List, Compound, Single };  // Single: a number for another value
  struct Node {
    NodeKind kind;
    Symbol functor;
    std::vector<Value> parts;
  };
  uint32_t intern(NodeKind kind, Symbol functor, std::span<const Value> parts);
  std::vector<Node> nodes_;
  std::vector<uint64_t> hashes_;
  std::vector<uint32_t> slots_;
};

// The names and structures that values refer to; one per run, shared by all stages.
struct Names {
  Interner symbols;
  TermTable terms;
};

// The canonical order, used wherever rows are shown: numbers by value (floats in IEEE total order),
// symbols and predicate references by text (bytewise), lists element by element and then by length,
// compound terms by arity, functor, arguments. Values of different kinds (only in `term` columns)
// order by kind.
std::strong_ordering compare(const Value& a, const Value& b, const Names& names);

// As in a source text: symbols quoted when they must be. `raw` leaves symbols unquoted (tables,
// CSV).
std::string to_source(const Value& value, const Names& names);
std::string to_raw(const Value& value, const Names& names);

// The shortest text that reads back as the same float, always with a `.`, `e`, "inf" or "nan".
std::string float_to_source(double value);
std::string float_to_source(float value);

// A symbol as source text: `alice`, or "Alice Smith" with quotes and escapes when it is not an
// identifier or is a reserved word.
std::string symbol_to_source(std::string_view text);

}  // namespace xlog::lang

template <>
struct std::hash<xlog::lang::Value> {
  size_t operator()(const xlog::lang::Value& v) const noexcept {
    uint64_t h = (v.bits + static_cast<uint64_t>(v.kind) * 0x9E3779B97F4A7C15u);
    h ^= h >> 32;
    h *= 0xD6E8FEB86659FD93u;
    h ^= h >> 32;
    return h;
  }
};
