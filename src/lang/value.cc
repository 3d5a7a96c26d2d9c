#include "lang/value.h"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <utility>

#include "base/check.h"
#include "lang/lexer.h"

namespace xlog::lang {

namespace {

constexpr uint64_t kNanBits64 = 0x7ff8000000000000u;
constexpr uint32_t kNanBits32 = 0x7fc00000u;

}  // namespace

Value Value::f32(float v) {
  return {TypeKind::F32, std::isnan(v) ? kNanBits32 : std::bit_cast<uint32_t>(v)};
}

Value Value::f64(double v) {
  return {TypeKind::F64, std::isnan(v) ? kNanBits64 : std::bit_cast<uint64_t>(v)};
}

double Value::as_double() const {
  switch (kind) {
    case TypeKind::U32:
    case TypeKind::U64:
      return static_cast<double>(bits);
    case TypeKind::I32:
    case TypeKind::I64:
      return static_cast<double>(as_signed());
    case TypeKind::F32:
      return std::bit_cast<float>(static_cast<uint32_t>(bits));
    case TypeKind::F64:
      return std::bit_cast<double>(bits);
    default:
      XLOG_UNREACHABLE("as_double of a value that is not a number");
  }
}

// ---- TermTable ----

namespace {

uint64_t mix(uint64_t h, uint64_t v) {
  h = (h ^ v) * 0x9E3779B97F4A7C15u;
  return h ^ (h >> 29);
}

uint64_t hash_parts(uint64_t kind, Symbol functor, std::span<const Value> parts) {
  uint64_t h = mix(kind + 1, functor.id);
  for (const Value& part : parts) h = mix(mix(h, static_cast<uint64_t>(part.kind)), part.bits);
  return mix(h, parts.size());
}

}  // namespace

uint32_t TermTable::intern(NodeKind kind, Symbol functor, std::span<const Value> parts) {
  if ((nodes_.size() + 1) * 2 > slots_.size()) {
    slots_.assign(std::max<size_t>(16, slots_.size() * 2), 0);
    for (size_t id = 0; id < nodes_.size(); ++id) {
      size_t at = hashes_[id] & (slots_.size() - 1);
      while (slots_[at] != 0) at = (at + 1) & (slots_.size() - 1);
      slots_[at] = static_cast<uint32_t>(id + 1);
    }
  }
  const uint64_t hash = hash_parts(static_cast<uint64_t>(kind), functor, parts);
  size_t at = hash & (slots_.size() - 1);
  for (; slots_[at] != 0; at = (at + 1) & (slots_.size() - 1)) {
    const uint32_t id = slots_[at] - 1;
    if (hashes_[id] != hash) continue;
    const Node& other = nodes_[id];
    if (other.kind == kind && other.functor == functor && std::ranges::equal(other.parts, parts)) {
      return id;
    }
  }
  XLOG_CHECK(nodes_.size() < UINT32_MAX - 1, "more than 2^32 distinct lists and terms");
  const auto id = static_cast<uint32_t>(nodes_.size());
  nodes_.push_back({kind, functor, {parts.begin(), parts.end()}});
  hashes_.push_back(hash);
  slots_[at] = id + 1;
  return id;
}

Value TermTable::list(std::span<const Value> elements) {
  return {TypeKind::List, intern(NodeKind::List, Symbol{}, elements)};
}

Value TermTable::compound(Symbol functor, std::span<const Value> args) {
  return {TypeKind::Compound, intern(NodeKind::Compound, functor, args)};
}

uint32_t TermTable::number(Value value) {
  const bool has_id = value.kind == TypeKind::List || value.kind == TypeKind::Compound;
  if (has_id) return static_cast<uint32_t>(value.bits);
  return intern(NodeKind::Single, Symbol{}, std::span(&value, 1));
}

Value TermTable::numbered(uint32_t number) const {
  switch (nodes_[number].kind) {
    case NodeKind::List:
      return {TypeKind::List, number};
    case NodeKind::Compound:
      return {TypeKind::Compound, number};
    case NodeKind::Single:
      return nodes_[number].parts[0];
  }
  XLOG_UNREACHABLE("an unknown node");
}

std::span<const Value> TermTable::elements(Value list_value) const {
  XLOG_CHECK(list_value.kind == TypeKind::List && list_value.bits < nodes_.size(), "not a list");
  return nodes_[list_value.bits].parts;
}

Symbol TermTable::functor(Value compound_value) const {
  XLOG_CHECK(compound_value.kind == TypeKind::Compound && compound_value.bits < nodes_.size(),
             "not a compound term");
  return nodes_[compound_value.bits].functor;
}

std::span<const Value> TermTable::args(Value compound_value) const {
  XLOG_CHECK(compound_value.kind == TypeKind::Compound && compound_value.bits < nodes_.size(),
             "not a compound term");
  return nodes_[compound_value.bits].parts;
}

// ---- The canonical order ----

namespace {

// IEEE total order: the bits of a float as a signed integer, with the magnitude of negative ones
// turned round.
int64_t total_order_key(const Value& v) {
  if (v.kind == TypeKind::F32) {
    const auto bits = static_cast<int32_t>(static_cast<uint32_t>(v.bits));
    return bits < 0 ? bits ^ INT32_MAX : bits;
  }
  const auto bits = static_cast<int64_t>(v.bits);
  return bits < 0 ? bits ^ INT64_MAX : bits;
}

std::strong_ordering compare_text(Symbol a, Symbol b, const Names& names) {
  if (a == b) return std::strong_ordering::equal;
  return names.symbols.text(a).compare(names.symbols.text(b)) <=> 0;
}

// Two structures whose parts from `next` on are still to be compared.
struct Pending {
  std::span<const Value> a, b;
  size_t next;
};

// Everything but the parts of structures; those go onto the stack. Equal structures have equal
// bits.
std::strong_ordering compare_shallow(const Value& a, const Value& b, const Names& names,
                                     std::vector<Pending>& stack) {
  if (a.kind != b.kind) return a.kind <=> b.kind;
  if (a.bits == b.bits) return std::strong_ordering::equal;
  switch (a.kind) {
    case TypeKind::U32:
    case TypeKind::U64:
    case TypeKind::Bool:
      return a.bits <=> b.bits;
    case TypeKind::I32:
    case TypeKind::I64:
      return a.as_signed() <=> b.as_signed();
    case TypeKind::F32:
    case TypeKind::F64:
      return total_order_key(a) <=> total_order_key(b);
    case TypeKind::Symbol:
    case TypeKind::PredRef:
      return compare_text(a.as_symbol(), b.as_symbol(), names);
    case TypeKind::List:
      stack.push_back({names.terms.elements(a), names.terms.elements(b), 0});
      return std::strong_ordering::equal;
    case TypeKind::Compound: {
      const auto a_args = names.terms.args(a);
      const auto b_args = names.terms.args(b);
      if (auto order = a_args.size() <=> b_args.size(); order != 0) return order;
      if (auto order = compare_text(names.terms.functor(a), names.terms.functor(b), names);
          order != 0)
        return order;
      stack.push_back({a_args, b_args, 0});
      return std::strong_ordering::equal;
    }
    case TypeKind::Term:
      break;
  }
  XLOG_UNREACHABLE("a value of kind term");
}

}  // namespace

// A stack of its own: rules can build terms of any depth.
std::strong_ordering compare(const Value& a, const Value& b, const Names& names) {
  std::vector<Pending> stack;
  if (auto order = compare_shallow(a, b, names, stack); order != 0) return order;
  while (!stack.empty()) {
    Pending& top = stack.back();
    if (top.next >= top.a.size() || top.next >= top.b.size()) {
      if (auto order = top.a.size() <=> top.b.size(); order != 0) return order;
      stack.pop_back();
      continue;
    }
    const Value& x = top.a[top.next];
    const Value& y = top.b[top.next];
    ++top.next;
    if (auto order = compare_shallow(x, y, names, stack); order != 0) return order;
  }
  return std::strong_ordering::equal;
}

// ---- Text ----

namespace {

template <typename Float>
std::string float_text(Float value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  std::array<char, 32> buffer;
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value).ptr;
  std::string text(buffer.data(), end);
  // 1e20 and 1e-7, not 1e+20 and 1e-07.
  std::erase(text, '+');
  const size_t exponent = text.find('e');
  if (exponent != std::string::npos) {
    const size_t digits = text.find_first_of("123456789", exponent);
    const size_t first = exponent + (text[exponent + 1] == '-' ? 2 : 1);
    text.erase(first, digits - first);
  }
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text;
}

// Everything but structures.
void append_scalar(const Value& value, const Names& names, std::string& out) {
  switch (value.kind) {
    case TypeKind::U32:
    case TypeKind::U64:
      out += std::to_string(value.bits);
      return;
    case TypeKind::I32:
    case TypeKind::I64:
      out += std::to_string(value.as_signed());
      return;
    case TypeKind::F32:
      out += float_to_source(std::bit_cast<float>(static_cast<uint32_t>(value.bits)));
      return;
    case TypeKind::F64:
      out += float_to_source(std::bit_cast<double>(value.bits));
      return;
    case TypeKind::Bool:
      out += value.bits != 0 ? "true" : "false";
      return;
    case TypeKind::Symbol:
    case TypeKind::PredRef:
      out += symbol_to_source(names.symbols.text(value.as_symbol()));
      return;
    case TypeKind::List:
    case TypeKind::Term:
    case TypeKind::Compound:
      break;
  }
  XLOG_UNREACHABLE("not a scalar value");
}

struct OpenStructure {
  std::span<const Value> parts;
  size_t next;
  char close;
};

bool is_identifier(std::string_view text) {
  if (text.empty() || text[0] < 'a' || text[0] > 'z') return false;
  return std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  });
}

// Words that an expression would read as an operator or as the start of a condition.
bool is_reserved(std::string_view text) {
  static constexpr std::string_view kReserved[] = {"not", "know", "possible", "is",
                                                   "if",  "then", "else"};
  return std::find(std::begin(kReserved), std::end(kReserved), text) != std::end(kReserved);
}

}  // namespace

std::string to_source(const Value& value, const Names& names) {
  std::string out;
  std::vector<OpenStructure> stack;
  auto append = [&](const Value& v) {
    if (v.kind == TypeKind::List) {
      out += '[';
      stack.push_back({names.terms.elements(v), 0, ']'});
    } else if (v.kind == TypeKind::Compound) {
      out += symbol_to_source(names.symbols.text(names.terms.functor(v)));
      out += '(';
      stack.push_back({names.terms.args(v), 0, ')'});
    } else {
      append_scalar(v, names, out);
    }
  };
  append(value);
  while (!stack.empty()) {
    OpenStructure& top = stack.back();
    if (top.next == top.parts.size()) {
      out += top.close;
      stack.pop_back();
      continue;
    }
    if (top.next > 0) out += ", ";
    append(top.parts[top.next++]);
  }
  return out;
}

std::string to_raw(const Value& value, const Names& names) {
  if (value.kind == TypeKind::Symbol || value.kind == TypeKind::PredRef) {
    return std::string(names.symbols.text(value.as_symbol()));
  }
  return to_source(value, names);
}

std::string float_to_source(double value) { return float_text(value); }
std::string float_to_source(float value) { return float_text(value); }

std::string symbol_to_source(std::string_view text) {
  if (is_identifier(text) && !is_reserved(text)) return std::string(text);
  return quoted(text);
}

}  // namespace xlog::lang
