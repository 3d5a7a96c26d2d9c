#include "lang/bulk_facts.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstring>

namespace xlog::lang {

namespace {

enum : uint8_t { kLower = 1, kDigit = 2, kNameChar = 4, kSpace = 8, kInString = 16 };

constexpr std::array<uint8_t, 256> kClasses = [] {
  std::array<uint8_t, 256> classes{};
  for (int c = 0; c < 256; ++c) {
    uint8_t bits = 0;
    const bool lower = c >= 'a' && c <= 'z';
    const bool digit = c >= '0' && c <= '9';
    if (lower) bits |= kLower;
    if (digit) bits |= kDigit;
    if (lower || digit || (c >= 'A' && c <= 'Z') || c == '_') bits |= kNameChar;
    if (c == ' ' || c == '\t' || c == '\r' || c == '\n') bits |= kSpace;
    if (c >= 0x20 && c != 0x7f && c != '"' && c != '\\') bits |= kInString;
    classes[static_cast<size_t>(c)] = bits;
  }
  return classes;
}();

bool is(char c, uint8_t klass) { return (kClasses[static_cast<unsigned char>(c)] & klass) != 0; }

const char* skip(const char* at, uint8_t klass) {
  while (is(*at, klass)) ++at;
  return at;
}

bool is_reserved_word(const char* text, uint32_t length) {
  switch (length) {
    case 2:
      return std::memcmp(text, "is", 2) == 0;
    case 3:
      return std::memcmp(text, "not", 3) == 0;
    case 4:
      return std::memcmp(text, "know", 4) == 0;
    case 8:
      return std::memcmp(text, "possible", 8) == 0;
    default:
      return false;
  }
}

// ---- One fact ----

const char* scan_number(const char* at, Cell& cell) {
  const bool negative = *at == '-';
  const char* begin = negative ? at + 1 : at;
  const char* end = begin;
  uint64_t value = 0;
  for (; is(*end, kDigit); ++end) value = value * 10 + static_cast<uint64_t>(*end - '0');
  const auto digits = end - begin;
  if (digits == 0) return nullptr;
  if (*end == '.' && is(end[1], kDigit)) {
    double number = 0;
    const char* text_end = skip(end + 1, kNameChar);
    if (text_end[-1] == 'e' || text_end[-1] == 'E') return nullptr;  // a signed exponent: rare
    const auto [after, error] = std::from_chars(at, text_end, number);
    if (error != std::errc() || after != text_end) return nullptr;
    cell.bits = std::bit_cast<uint64_t>(number);
    cell.kind = CellKind::Float;
    return after;
  }
  if (is(*end, kNameChar)) return nullptr;  // 0xff, 1_000, 1e9
  if (digits > 19 && std::from_chars(begin, end, value).ec != std::errc())
    return nullptr;  // past 64 bits
  if (negative && value > (uint64_t{1} << 63)) return nullptr;
  cell.bits = negative ? ~value + 1 : value;
  cell.kind = negative && value != 0 ? CellKind::Negative : CellKind::Natural;
  return end;
}

const char* scan_identifier(const char* at, Cell& cell) {
  const char* end = skip(at + 1, kNameChar);
  cell.text = at;
  cell.length = static_cast<uint32_t>(end - at);
  cell.kind = CellKind::Identifier;
  return is_reserved_word(at, cell.length) ? nullptr : end;
}

const char* scan_string(const char* at, Cell& cell) {
  const char* end = skip(at + 1, kInString);
  if (*end != '"') return nullptr;
  cell.text = at + 1;
  cell.length = static_cast<uint32_t>(end - at - 1);
  cell.kind = CellKind::String;
  return end + 1;
}

inline const char* scan_constant(const char* at, Cell& cell) {
  if (is(*at, kDigit) || *at == '-') return scan_number(at, cell);
  if (is(*at, kLower)) return scan_identifier(at, cell);
  if (*at == '"') return scan_string(at, cell);
  return nullptr;
}

// After the opening parenthesis; returns the place after the closing one.
inline const char* scan_arguments(const char* at, PlainFact& fact) {
  at = skip(at, kSpace);
  if (*at == ')') return at + 1;
  for (;;) {
    if (fact.arity == PlainFact::kMaxArity) return nullptr;
    at = scan_constant(at, fact.cells[fact.arity++]);
    if (at == nullptr) return nullptr;
    at = skip(at, kSpace);
    if (*at == ')') return at + 1;
    if (*at != ',') return nullptr;
    at = skip(at + 1, kSpace);
  }
}

}  // namespace

const char* scan_fact(const char* at, PlainFact& fact) {
  fact.arity = 0;
  fact.strong_negation = *at == '-';
  if (fact.strong_negation) ++at;
  if (!is(*at, kLower)) return nullptr;
  fact.name = at;
  at = skip(at + 1, kNameChar);
  fact.name_length = static_cast<uint32_t>(at - fact.name);
  at = skip(at, kSpace);
  if (*at == '(') {
    at = scan_arguments(at + 1, fact);
    if (at == nullptr) return nullptr;
    at = skip(at, kSpace);
  }
  if (*at != '.' || at[1] == '.') return nullptr;
  return at + 1;
}

// ---- Tables ----

namespace {

// The first eight bytes of a name, the rest zero.
uint64_t first_bytes(const char* text, uint32_t length, const char* text_end) {
  uint64_t bytes = 0;
  if (text_end - text >= 8) {
    std::memcpy(&bytes, text, 8);
    return length >= 8 ? bytes : bytes & ~(~uint64_t{0} << (8 * length));
  }
  std::memcpy(&bytes, text, std::min<uint32_t>(length, 8));
  return bytes;
}

uint64_t scatter(uint64_t bytes) { return bytes * 0x9E3779B97F4A7C15u; }

constexpr int kRecentSymbolBits = 13;

// Names whose facts can mean something else than a row.
bool is_special_name(std::string_view name) {
  return name == "query" || name == "evidence" ||
         is_reserved_word(name.data(), static_cast<uint32_t>(name.size()));
}

bool is_identifier(const Cell& cell) {
  return cell.length > 0 && is(cell.text[0], kLower) &&
         skip(cell.text, kNameChar) == cell.text + cell.length;
}

}  // namespace

BulkFacts::BulkFacts(Module& module, Lexer& lexer, Interner& names)
    : module_(module),
      lexer_(lexer),
      names_(names),
      has_constants_(module.file->text.find("#const") != std::string::npos),
      recent_symbols_(size_t{1} << kRecentSymbolBits) {
  static_assert(std::endian::native == std::endian::little,
                "first_bytes() masks the bytes that come last");
  recent_tables_.fill(kNoTable);
}

bool BulkFacts::is_table_of(uint32_t index, const PlainFact& fact) const {
  if (index == kNoTable) return false;
  const Table& table = tables_[index];
  return table.arity == fact.arity && table.strong_negation == fact.strong_negation &&
         table.name == std::string_view(fact.name, fact.name_length);
}

uint32_t BulkFacts::find_table(const PlainFact& fact) {
  if (is_table_of(last_table_, fact)) return last_table_;
  const uint64_t bytes = first_bytes(fact.name, fact.name_length, lexer_.text_end());
  uint32_t& recent =
      recent_tables_[scatter(bytes + fact.name_length + fact.arity * uint64_t{0x10001}) >> 56];
  if (!is_table_of(recent, fact)) recent = find_new_table(fact);
  return last_table_ = recent;
}

uint32_t BulkFacts::find_new_table(const PlainFact& fact) {
  const std::string_view name(fact.name, fact.name_length);
  if (is_special_name(name)) return kNoTable;
  const Symbol symbol = names_.intern(name);
  std::vector<uint32_t>& candidates =
      tables_by_name_[symbol.id * uint64_t{2} + fact.strong_negation];
  for (const uint32_t index : candidates) {
    if (is_table_of(index, fact)) return index;
  }
  const auto index = static_cast<uint32_t>(tables_.size());
  candidates.push_back(index);
  Table& table = tables_.emplace_back();
  table.name = names_.text(symbol);
  table.arity = fact.arity;
  table.strong_negation = fact.strong_negation;
  FactTable& facts = module_.facts.emplace_back();
  facts.name = symbol;
  facts.strong_negation = fact.strong_negation;
  facts.arity = fact.arity;
  facts.columns.resize(fact.arity);
  return index;
}

// ---- Rows ----

Symbol BulkFacts::intern(const Cell& cell) {
  if (cell.length > 8) return names_.intern({cell.text, cell.length});
  const uint64_t bytes = first_bytes(cell.text, cell.length, lexer_.text_end());
  ShortSymbol& recent = recent_symbols_[scatter(bytes) >> (64 - kRecentSymbolBits)];
  if (recent.bytes != bytes) recent = {bytes, names_.intern({cell.text, cell.length})};
  return recent.symbol;
}

namespace {

void append_number(FactColumn& column, const Cell& cell) {
  switch (cell.kind) {
    case CellKind::Float:
      column.append({TypeKind::F64, cell.bits});
      return;
    case CellKind::Negative:
      column.append(Value::i64(static_cast<int64_t>(cell.bits)));
      return;
    default:
      column.append(cell.bits <= static_cast<uint64_t>(INT64_MAX)
                        ? Value::i64(static_cast<int64_t>(cell.bits))
                        : Value::u64(cell.bits));
  }
}

}  // namespace

// False, with nothing appended, when the fact is not one for a table after all.
bool BulkFacts::append(const PlainFact& fact, const char* begin, const char* end) {
  if (has_constants_) {
    for (uint32_t i = 0; i < fact.arity; ++i) {
      if (fact.cells[i].kind == CellKind::String && is_identifier(fact.cells[i])) return false;
    }
  }
  const uint32_t index = find_table(fact);
  if (index == kNoTable) return false;
  FactTable& table = module_.facts[index];
  FactColumn* column = table.columns.data();
  for (uint32_t i = 0; i < fact.arity; ++i, ++column) {
    const Cell& cell = fact.cells[i];
    if (cell.kind == CellKind::Natural && cell.bits <= UINT32_MAX) {
      column->append_nat32(static_cast<uint32_t>(cell.bits));
    } else if (cell.kind >= CellKind::Identifier) {
      column->append_symbol(intern(cell));
    } else {
      append_number(*column, cell);
    }
  }
  note_place(index, lexer_.offset(begin), lexer_.offset(end));
  ++table.rows;
  return true;
}

// Before the row is counted.
void BulkFacts::note_place(uint32_t index, uint32_t begin, uint32_t end) {
  // A new run now and then, so that fact_span() has little to read again.
  constexpr uint32_t kLongestRun = 1 << 16;
  Table& table = tables_[index];
  table.end = end;
  if (table.block == block_ && begin - table.run_begin <= kLongestRun) return;
  FactTable& facts = module_.facts[index];
  facts.runs.push_back({facts.rows, begin});
  table.run_begin = begin;
  if (table.block == block_) return;
  table.block = block_;
  ast::Statement& statement = module_.statements.emplace_back();
  statement.span.begin = begin;
  statement.node = ast::FactRun{index, facts.rows, 0};
}

void BulkFacts::read() {
  if (block_first_statement_ == kClosed) block_first_statement_ = module_.statements.size();
  PlainFact fact;
  const char* read_to = lexer_.position();  // everything before has been taken
  for (const char* at = read_to;;) {
    at = skip(at, kSpace);
    if (*at == '/') {
      if (read_to != lexer_.position()) lexer_.set_position(read_to);
      lexer_.skip_trivia();
      if (lexer_.position() == at) return;  // a lone slash
      at = read_to = lexer_.position();
    }
    const char* end = scan_fact(at, fact);
    if (end == nullptr || !append(fact, at, end)) break;
    at = read_to = end;
  }
  if (read_to != lexer_.position()) lexer_.set_position(read_to);
}

void BulkFacts::close_block() {
  if (block_first_statement_ == kClosed) return;
  for (size_t i = block_first_statement_; i < module_.statements.size(); ++i) {
    ast::Statement& statement = module_.statements[i];
    auto& run = std::get<ast::FactRun>(statement.node);
    run.rows = module_.facts[run.table].rows - run.first_row;
    statement.span.end = tables_[run.table].end;
  }
  block_first_statement_ = kClosed;
  ++block_;
}

void BulkFacts::shrink_to_fit() {
  for (FactTable& table : module_.facts) {
    for (FactColumn& column : table.columns) column.shrink_to_fit();
    table.runs.shrink_to_fit();
  }
}

// ---- Places ----

namespace {

const char* skip_space_and_comments(const char* at, const char* end) {
  for (;;) {
    at = skip(at, kSpace);
    if (*at != '/' || (at[1] != '/' && at[1] != '*')) return at;
    const std::string_view rest(at + 2, static_cast<size_t>(end - at - 2));
    const std::string_view close = at[1] == '/' ? "\n" : "*/";
    const size_t found = rest.find(close);
    if (found == std::string_view::npos) return end;
    at += 2 + found + close.size();
  }
}

}  // namespace

Span fact_span(const FactTable& table, size_t row, const SourceMap& sources) {
  const auto* after =
      std::upper_bound(table.runs.begin(), table.runs.end(), row,
                       [](size_t r, const FactTable::Run& run) { return r < run.first_row; });
  if (after == table.runs.begin()) return {};
  const FactTable::Run& run = after[-1];
  const Span start{run.source_begin, run.source_begin + 1};
  const SourceFile* file = sources.file_of(start);
  if (file == nullptr) return {};
  const char* text = file->text.data();
  const char* text_end = text + file->text.size();
  const char* at = text + (run.source_begin - file->base);
  std::string_view name;
  for (size_t left = row - run.first_row;;) {
    // Other predicates may stand between the rows of this one.
    PlainFact fact;
    const char* end = scan_fact(at, fact);
    if (end == nullptr) return start;  // a row that another statement made
    const std::string_view fact_name(fact.name, fact.name_length);
    if (name.empty()) name = fact_name;
    if (fact_name == name && fact.arity == table.arity &&
        fact.strong_negation == table.strong_negation && left-- == 0) {
      return {file->base + static_cast<uint32_t>(at - text),
              file->base + static_cast<uint32_t>(end - text)};
    }
    at = skip_space_and_comments(end, text_end);
  }
}

}  // namespace xlog::lang
