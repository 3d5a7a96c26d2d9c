#include "session/codec.h"

#include <fmt/format.h>
#include <xxhash.h>

#include <algorithm>
#include <unordered_map>

#include "lang/facts.h"

namespace xlog::session {
namespace {

using incremental::FactChanges;
using lang::TypeKind;
using lang::Value;

constexpr int kMaxDepth = 1000;  // of lists in lists

// Which module a predicate belongs to, where two may have one of the same name.
std::string module_name(const lang::Predicate& predicate, const lang::Program& program) {
  if (!predicate.is_private || predicate.module == 0) return "";
  return predicate.module < program.modules.size() ? program.modules[predicate.module].name : "";
}

class Encoder {
 public:
  Encoder(const lang::Program& program, const lang::Names& names)
      : program_(program), names_(names) {}

  std::string run(std::span<const FactChanges> changes) {
    for (const FactChanges& part : changes) add(part);
    std::string head;
    append_u32(head, static_cast<uint32_t>(texts_.size()));
    for (const std::string_view text : texts_) append_text(head, text);
    append_u32(head, static_cast<uint32_t>(changes.size()));
    return std::move(tables_.insert(0, head));
  }

 private:
  static void append_text(std::string& out, std::string_view text) {
    append_u64(out, text.size());
    out += text;
  }

  void add(const FactChanges& part) {
    const lang::Predicate& predicate = program_[part.pred];
    append_text(tables_, module_name(predicate, program_));
    append_text(tables_, names_.symbols.text(predicate.name));
    tables_ += predicate.strong_negation ? '\1' : '\0';
    append_u32(tables_, predicate.arity);
    append_u64(tables_, part.weights.size());
    constexpr size_t kBytesOfNumber = 9;
    tables_.reserve(tables_.size() + 8 * part.weights.size() + kBytesOfNumber * part.values.size());
    for (const int64_t weight : part.weights) append_u64(tables_, static_cast<uint64_t>(weight));
    for (const Value& value : part.values) add(value);
  }

  void add(const Value& value) {
    tables_ += static_cast<char>(value.kind);
    switch (value.kind) {
      case TypeKind::Symbol:
      case TypeKind::PredRef:
        append_u32(tables_, text(value.as_symbol()));
        return;
      case TypeKind::List:
        return add_parts(names_.terms.elements(value));
      case TypeKind::Compound:
        append_u32(tables_, text(names_.terms.functor(value)));
        return add_parts(names_.terms.args(value));
      default:
        append_u64(tables_, value.bits);
    }
  }

  void add_parts(std::span<const Value> parts) {
    append_u32(tables_, static_cast<uint32_t>(parts.size()));
    for (const Value& part : parts) add(part);
  }

  uint32_t text(Symbol symbol) {
    const auto [place, is_new] = numbers_.try_emplace(symbol, static_cast<uint32_t>(texts_.size()));
    if (is_new) texts_.push_back(names_.symbols.text(symbol));
    return place->second;
  }

  const lang::Program& program_;
  const lang::Names& names_;
  std::vector<std::string_view> texts_;
  std::unordered_map<Symbol, uint32_t> numbers_;
  std::string tables_;
};

class Decoder {
 public:
  Decoder(std::string_view bytes, const lang::Program& program, lang::Names& names)
      : in_(bytes), program_(program), names_(names) {}

  Result<std::vector<FactChanges>> run() {
    const uint32_t texts = in_.u32();
    for (uint32_t i = 0; i < texts && in_.ok(); ++i) {
      symbols_.push_back(names_.symbols.intern(in_.text()));
    }
    std::vector<FactChanges> changes;
    const uint32_t tables = in_.u32();
    for (uint32_t i = 0; i < tables && in_.ok() && error_.empty(); ++i)
      read(changes.emplace_back());
    if (!error_.empty()) return Error{error_, ""};
    if (!in_.ok() || in_.left() > 0) return Error{"these bytes are no facts", ""};
    return changes;
  }

 private:
  void read(FactChanges& part) {
    const std::string module(in_.text());
    const std::string name(in_.text());
    const bool strong_negation = in_.u8() != 0;
    const uint32_t arity = in_.u32();
    const uint64_t rows = in_.u64();
    if (!in_.ok()) return;
    part.pred = find(module, name, strong_negation, arity);
    if (!part.pred.valid()) {
      error_ = fmt::format("the program has no predicate `{}{}/{}`", strong_negation ? "-" : "",
                           name, arity);
      return;
    }
    constexpr size_t kBytesOfWeight = 8;  // what is not there is not made room for
    const size_t likely = std::min<size_t>(rows, in_.left() / kBytesOfWeight);
    part.weights.reserve(likely);
    part.values.reserve(likely * arity);
    for (uint64_t r = 0; r < rows && in_.ok(); ++r) {
      part.weights.push_back(static_cast<int64_t>(in_.u64()));
    }
    for (uint64_t r = 0; r < rows; ++r) {
      for (uint32_t c = 0; c < arity && in_.ok() && error_.empty(); ++c) {
        part.values.push_back(typed(value(0), part.pred, c));
      }
      if (!in_.ok() || !error_.empty()) return;
    }
  }

  lang::PredId find(std::string_view module, std::string_view name, bool strong_negation,
                    uint32_t arity) const {
    for (uint32_t p = 0; p < program_.predicates.size(); ++p) {
      const lang::Predicate& predicate = program_.predicates[p];
      if (predicate.arity == arity && predicate.strong_negation == strong_negation &&
          names_.symbols.text(predicate.name) == name &&
          module_name(predicate, program_) == module) {
        return {p};
      }
    }
    return {};
  }

  Value value(int depth) {
    const uint8_t kind = in_.u8();
    switch (static_cast<TypeKind>(kind)) {
      case TypeKind::U32:
      case TypeKind::U64:
      case TypeKind::I32:
      case TypeKind::I64:
      case TypeKind::F32:
      case TypeKind::F64:
      case TypeKind::Bool:
        return number(static_cast<TypeKind>(kind), in_.u64());
      case TypeKind::Symbol:
      case TypeKind::PredRef:
        return {static_cast<TypeKind>(kind), symbol().id};
      case TypeKind::List:
        return names_.terms.list(parts(depth));
      case TypeKind::Compound: {
        const Symbol functor = symbol();
        return names_.terms.compound(functor, parts(depth));
      }
      case TypeKind::Term:
        break;
    }
    if (error_.empty()) error_ = "these bytes are no facts: a value of no known type";
    return {};
  }

  // Equal values must have equal bits, so no others than those that a value of its kind has.
  Value number(TypeKind kind, uint64_t bits) {
    const Value found{kind, bits};
    Value canonical = found;
    if (kind == TypeKind::U32) canonical = Value::u32(static_cast<uint32_t>(bits));
    if (kind == TypeKind::I32) canonical = Value::i32(static_cast<int32_t>(bits));
    if (kind == TypeKind::Bool) canonical = Value::boolean((bits & 1) != 0);
    if (kind == TypeKind::F64) canonical = Value::f64(found.as_double());
    if (kind == TypeKind::F32) canonical = Value::f32(static_cast<float>(found.as_double()));
    if (canonical != found && error_.empty()) {
      error_ = "these bytes are no facts: a number that its type does not have";
    }
    return canonical;
  }

  std::vector<Value> parts(int depth) {
    const uint32_t count = in_.u32();
    std::vector<Value> out;
    if (depth >= kMaxDepth) error_ = "these bytes are no facts: terms are nested too deeply";
    for (uint32_t i = 0; i < count && in_.ok() && error_.empty(); ++i) {
      out.push_back(value(depth + 1));
    }
    return out;
  }

  Symbol symbol() {
    const uint32_t number = in_.u32();
    if (number < symbols_.size()) return symbols_[number];
    if (error_.empty()) error_ = "these bytes are no facts: a name that is not listed";
    return {};
  }

  // The value as the column has it now, where the program was changed since.
  Value typed(Value from, lang::PredId pred, uint32_t column) {
    const lang::Type& type = program_[pred].columns[column].type;
    if (!in_.ok() || !error_.empty() || from.kind == type.kind) {
      if (from.kind != TypeKind::List) return from;
    }
    if (type.kind == TypeKind::Term) return from;
    Value to = from;
    // Literals are what convert_literal takes: integers as 64 bits, floats as f64.
    if (lang::is_integer(from.kind)) {
      to.kind = lang::type_class(from.kind) == lang::TypeClass::Signed ? TypeKind::I64
                : from.bits > INT64_MAX                                ? TypeKind::U64
                                                                       : TypeKind::I64;
    } else if (lang::is_float(from.kind)) {
      to = Value::f64(from.as_double());
    }
    if (lang::convert_literal(to, type, names_)) return to;
    error_ = fmt::format("`{}` does not fit column {} of `{}`, which is {}",
                         lang::to_source(from, names_), column + 1,
                         lang::predicate_signature(program_[pred], names_), lang::to_string(type));
    return from;
  }

  ByteReader in_;
  const lang::Program& program_;
  lang::Names& names_;
  std::vector<Symbol> symbols_;
  std::string error_;
};

}  // namespace

uint64_t program_digest(const lang::Program& program, const lang::Names& names) {
  std::string text;
  for (const lang::Predicate& predicate : program.predicates) {
    if (predicate.helper) continue;
    text += module_name(predicate, program) + ":" + lang::predicate_signature(predicate, names);
    for (const lang::PredicateColumn& column : predicate.columns) {
      text += " " + lang::to_string(column.type);
    }
    text += '\n';
  }
  for (const lang::Rule& rule : program.rules) {
    if (rule.origin != lang::RuleOrigin::Query)
      text += lang::to_source(rule, program, names) + "\n";
  }
  return XXH3_64bits(text.data(), text.size());
}

std::string encode(std::span<const FactChanges> changes, const lang::Program& program,
                   const lang::Names& names) {
  return Encoder(program, names).run(changes);
}

Result<std::vector<FactChanges>> decode(std::string_view bytes, const lang::Program& program,
                                        lang::Names& names) {
  return Decoder(bytes, program, names).run();
}

void append_u32(std::string& out, uint32_t value) {
  char bytes[4];
  for (int i = 0; i < 4; ++i) bytes[i] = static_cast<char>(value >> (8 * i));
  out.append(bytes, sizeof bytes);
}

void append_u64(std::string& out, uint64_t value) {
  char bytes[8];
  for (int i = 0; i < 8; ++i) bytes[i] = static_cast<char>(value >> (8 * i));
  out.append(bytes, sizeof bytes);
}

std::string_view ByteReader::take(size_t size) {
  if (size > bytes_.size()) {
    ok_ = false;
    bytes_ = {};
    return {};
  }
  const std::string_view taken = bytes_.substr(0, size);
  bytes_.remove_prefix(size);
  return taken;
}

uint8_t ByteReader::u8() {
  const std::string_view byte = take(1);
  return byte.empty() ? 0 : static_cast<uint8_t>(byte[0]);
}

uint32_t ByteReader::u32() {
  uint32_t value = 0;
  const std::string_view bytes = take(4);
  for (size_t i = 0; i < bytes.size(); ++i)
    value |= uint32_t{static_cast<uint8_t>(bytes[i])} << (8 * i);
  return value;
}

uint64_t ByteReader::u64() {
  uint64_t value = 0;
  const std::string_view bytes = take(8);
  for (size_t i = 0; i < bytes.size(); ++i)
    value |= uint64_t{static_cast<uint8_t>(bytes[i])} << (8 * i);
  return value;
}

std::string_view ByteReader::text() { return take(u64()); }

}  // namespace xlog::session
