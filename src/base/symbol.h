// Interned strings. A Symbol is a 32-bit name for a text; two symbols of one Interner are equal
// exactly when their texts are. Ids follow the order of first interning and must never be shown
// or used for ordering where a person can see it: order by text.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace xlog {

struct Symbol {
  uint32_t id = 0;  // 0 is the empty text

  bool empty() const { return id == 0; }
  friend bool operator==(Symbol, Symbol) = default;
};

// Owns the texts. Lookup is one hash and one compare; texts never move, so a string_view handed out
// stays valid as long as the Interner.
//
//   Interner names;
//   Symbol edge = names.intern("edge");
//   names.text(edge) == "edge";
class Interner {
 public:
  Interner();
  Interner(const Interner&) = delete;
  Interner& operator=(const Interner&) = delete;

  Symbol intern(std::string_view text);
  // The same for many texts, one symbol each, in order; faster once the names no longer fit the
  // processor's caches, because the memory of several lookups is asked for at once.
  void intern_all(std::span<const std::string_view> texts, std::span<Symbol> symbols);
  std::string_view text(Symbol symbol) const { return texts_[symbol.id]; }
  size_t size() const { return texts_.size(); }
  size_t bytes() const;

 private:
  // Part of the hash stands beside the id, so that a lookup touches one text and no other.
  struct Slot {
    uint32_t id_plus_1 = 0;  // 0: empty
    uint32_t hash_part = 0;
  };

  Symbol intern_hashed(std::string_view text, uint64_t hash);
  void grow();
  std::string_view store(std::string_view text);

  std::vector<std::string_view> texts_;
  std::vector<uint64_t> hashes_;
  std::vector<Slot> slots_;  // open addressing
  std::deque<std::string> blocks_;
  size_t block_free_ = 0;
};

}  // namespace xlog

template <>
struct std::hash<xlog::Symbol> {
  size_t operator()(xlog::Symbol symbol) const noexcept { return symbol.id * 0x9E3779B97F4A7C15u; }
};
