// The fast path for plain facts: `edge(1, 2).` with constants only goes from the text straight into
// the columns of a FactTable, without tokens or syntax trees. Everything else is left to the
// parser, from the start of the statement on.
//
// Facts that follow each other without any other statement between them form a block. A block holds
// one ast::FactRun for each table, in the order of first occurrence, however the facts are
// interleaved: their order inside a block has no meaning, and a statement for each switch of
// predicates would cost more memory than the facts.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "lang/lexer.h"
#include "lang/parser.h"

namespace xlog::lang {

enum class CellKind : uint8_t { Natural, Negative, Float, Identifier, String };

// One constant of a fact, still as text where it is a symbol.
struct Cell {
  union {
    // Natural: the value. Negative: its two's complement. Float: the bits of the double.
    uint64_t bits;
    const char* text;  // Identifier, String (without quotes)
  };
  uint32_t length;
  CellKind kind;
};

struct PlainFact {
  static constexpr uint32_t kMaxArity = 64;

  const char* name;
  uint32_t name_length;
  uint32_t arity;
  bool strong_negation;
  std::array<Cell, kMaxArity> cells;
};

// Reads one fact that starts at `at`, in a text that ends with a NUL. Returns the place after its
// period, or nullptr when this is not a plain fact (which says nothing about errors).
const char* scan_fact(const char* at, PlainFact& fact);

class BulkFacts {
 public:
  BulkFacts(Module& module, Lexer& lexer, Interner& names);

  // Reads plain facts from the lexer's position as long as there are any; leaves the lexer at the
  // first statement that is none.
  void read();
  // Another statement follows, or the end: the runs of the block are complete.
  void close_block();
  void shrink_to_fit();

 private:
  struct Table {
    std::string_view name;
    uint32_t arity;
    bool strong_negation;
    size_t block = 0;        // the last block with a row of it; blocks count from 1
    uint32_t run_begin = 0;  // offset of the first fact of its last run
    uint32_t end = 0;        // offset after its last fact
  };
  static constexpr uint32_t kNoTable = UINT32_MAX;

  uint32_t find_table(const PlainFact& fact);
  uint32_t find_new_table(const PlainFact& fact);
  bool is_table_of(uint32_t index, const PlainFact& fact) const;
  bool append(const PlainFact& fact, const char* begin, const char* end);
  Symbol intern(const Cell& cell);
  void note_place(uint32_t index, uint32_t begin, uint32_t end);

  Module& module_;
  Lexer& lexer_;
  Interner& names_;
  bool has_constants_;  // the text defines a #const: a quoted "n" must not become the same as the
                        // name n
  size_t block_ = 1;
  static constexpr size_t kClosed = SIZE_MAX;
  size_t block_first_statement_ = kClosed;

  std::vector<Table> tables_;                                           // by index in Module::facts
  std::unordered_map<uint64_t, std::vector<uint32_t>> tables_by_name_;  // never iterated
  uint32_t last_table_ = kNoTable;
  std::array<uint32_t, 256> recent_tables_;
  // Symbols of up to eight bytes, by their bytes: most are, and most come again soon.
  struct ShortSymbol {
    uint64_t bytes = 0;
    Symbol symbol;
  };
  std::vector<ShortSymbol> recent_symbols_;
};

}  // namespace xlog::lang
