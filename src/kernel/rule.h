// Rewrite rules are named text, read by the compiler:
//
//   rule("add-zero", "(add ?x:int 0)", "?x")
//   rule("mul-pow2", "(mul ?x:int #c)", "(shl ?x (ctz #c))", "(eq (popc #c) 1)")
//
// Left, a pattern: `?x` any node, `#c` a constant, `?y=(op ...)` a node with a name, a number: a
// constant of that number in whatever type (0 is +0 for floats, -0 the other one), `true`, `false`,
// `smallest`, `greatest` (of an integer type). A name that occurs twice is one node. Any of them
// and any op takes a type or class of types after a colon: bool int unsigned signed float num bits,
// or u8 u32 ...; "*" alone is any arithmetic node. `?_` is the node that matched.
//
// Middle, the result: names from the left, numbers (in the type their place asks for), ops; an op
// over constants alone is computed. A cast names its type, or a node that has it: `(cast:?x ...)`.
// "!name" is a function from kRuleCodes.
//
// Right, a condition over numbers: `#c` its value; bits popc clz ctz of a constant; width of a
// node; type (equal numbers for equal types); from facts.h: min max (interval), zeros ones (known
// bits); eq ne lt le gt ge add sub mul and or xor shl shr.
//
// A malformed rule, an unknown op or name, a wrong number of operands: a compile error at its line.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

#include "kernel/graph.h"
#include "kernel/op.h"
#include "kernel/type.h"

namespace xlog::kernel {

class Rewriter;
// Gives the replacement, or `node` itself where there is none. `names` are the nodes bound by the
// pattern, in order of appearance after the root.
using RuleCode = Id (*)(Rewriter& rewriter, Id node, std::span<const Id> names);

struct NamedCode {
  std::string_view name;
  RuleCode run;
};

// A set of types.
struct TypeSet {
  uint16_t mask = 0;

  constexpr bool has(Type type) const { return (mask >> static_cast<int>(type) & 1) != 0; }
  constexpr void add(Type type) { mask |= static_cast<uint16_t>(1 << static_cast<int>(type)); }
  constexpr bool single() const { return mask != 0 && (mask & (mask - 1)) == 0; }
  constexpr Type first() const {
    for (Type type : kValueTypes) {
      if (has(type)) return type;
    }
    return Type::Void;
  }
};

constexpr TypeSet kAllTypes{0x1fe};

consteval TypeSet find_types(std::string_view word) {
  TypeSet set;
  for (Type type : kValueTypes) {
    const bool fits = word == spelling(type) || (word == "int" && is_int(type)) ||
                      (word == "signed" && is_signed(type)) ||
                      (word == "unsigned" && is_int(type) && !is_signed(type)) ||
                      (word == "float" && is_float(type)) ||
                      (word == "num" && in_domain(Domain::Num, type)) ||
                      (word == "bits" && in_domain(Domain::Bits, type));
    if (fits) set.add(type);
  }
  if (set.mask == 0) throw "unknown type or class of types";
  return set;
}

enum class TermKind : uint8_t { Apply, Any, Constant, Number, NegativeZero, Smallest, Greatest };

constexpr uint8_t kNoName = 255;

// A pattern or result, operators before their operands.
struct Term {
  TermKind kind = TermKind::Any;
  Op op{};
  uint8_t count = 0;       // operands
  uint8_t name = kNoName;  // what it binds or stands for
  TypeSet types = kAllTypes;
  uint8_t like = kNoName;  // a result's cast takes the type of this name
  bool computed = false;   // made of constants alone
  int64_t number = 0;
};

enum class GuardOp : uint8_t {
  Number,
  Value,
  Bits,
  Popc,
  Clz,
  Ctz,
  Width,
  Type,
  Min,
  Max,
  Zeros,
  Ones,
  Eq,
  Ne,
  Lt,
  Le,
  Gt,
  Ge,
  Add,
  Sub,
  Mul,
  And,
  Or,
  Xor,
  Shl,
  Shr
};

constexpr std::string_view kGuardWords[] = {"",     "",    "bits", "popc",  "clz",  "ctz", "width",
                                            "type", "min", "max",  "zeros", "ones", "eq",  "ne",
                                            "lt",   "le",  "gt",   "ge",    "add",  "sub", "mul",
                                            "and",  "or",  "xor",  "shl",   "shr"};

struct GuardTerm {
  GuardOp op{};
  uint8_t name = kNoName;
  int64_t number = 0;
};

struct Rule {
  static constexpr int kMostTerms = 16;
  static constexpr int kMostGuardTerms = 20;
  static constexpr int kMostNames = 8;

  std::string_view name, pattern, result, guard;
  bool any_root = false;  // "*"
  bool needs_facts = false;
  uint8_t left_size = 0, right_size = 0, guard_size = 0;
  uint8_t names = 1;  // 0 is the root
  RuleCode code = nullptr;
  std::array<Term, kMostTerms> left{};
  std::array<Term, kMostTerms> right{};
  std::array<GuardTerm, kMostGuardTerms> condition{};
};

constexpr bool is_commutative(Op op) {
  return op == Op::Add || op == Op::Mul || op == Op::MulHi || op == Op::Min || op == Op::Max ||
         op == Op::And || op == Op::Or || op == Op::Xor || op == Op::Eq;
}

// Reads the three texts of a rule; only ever runs inside the compiler.
class RuleReader {
 public:
  consteval RuleReader(Rule& rule, std::span<const NamedCode> codes) : rule_(rule), codes_(codes) {
    names_[0] = "_";
  }

  consteval void read() {
    start(rule_.pattern);
    if (rule_.pattern == "*") {
      rule_.any_root = true;
    } else {
      left();
      if (at_ != text_.size()) throw "text after the end of the pattern";
      if (rule_.left[0].kind != TermKind::Apply) throw "a pattern starts with an op";
    }
    start(rule_.result);
    if (peek() == '!') {
      rule_.code = find_code(text_.substr(1));
    } else {
      right();
      if (at_ != text_.size()) throw "text after the end of the result";
    }
    start(rule_.guard);
    if (!text_.empty()) {
      if (rule_.any_root) throw "a pattern for any node has no condition";
      guard();
      if (at_ != text_.size()) throw "text after the end of the condition";
    }
  }

 private:
  consteval void start(std::string_view text) {
    text_ = text;
    at_ = 0;
    skip();
  }
  consteval char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  consteval void skip() {
    while (peek() == ' ') ++at_;
  }
  consteval void expect(char c) {
    if (peek() != c) throw "a bracket or sign is missing";
    ++at_;
  }
  consteval std::string_view word() {
    const size_t begin = at_;
    while (is_word(peek())) ++at_;
    if (at_ == begin) throw "a word is missing";
    return text_.substr(begin, at_ - begin);
  }
  static consteval bool is_word(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-';
  }
  static consteval bool is_number(std::string_view w) {
    return (w[0] >= '0' && w[0] <= '9') || (w[0] == '-' && w.size() > 1);
  }
  static consteval int64_t number(std::string_view w) {
    const bool minus = w[0] == '-';
    int64_t v = 0;
    for (char c : w.substr(minus ? 1 : 0)) {
      if (c < '0' || c > '9') throw "not a number";
      v = v * 10 + (c - '0');
    }
    return minus ? -v : v;
  }

  consteval uint8_t find_name(std::string_view w) const {
    for (uint8_t k = 0; k < rule_.names; ++k) {
      if (names_[k] == w) return k;
    }
    return kNoName;
  }
  consteval uint8_t bound_name(std::string_view w) const {
    const uint8_t found = find_name(w);
    if (found == kNoName) throw "a name that the pattern does not bind";
    return found;
  }
  consteval uint8_t bind(std::string_view w) {
    if (uint8_t known = find_name(w); known != kNoName) return known;
    if (rule_.names == Rule::kMostNames) throw "too many names in a rule";
    names_[rule_.names] = w;
    return rule_.names++;
  }
  consteval RuleCode find_code(std::string_view w) const {
    for (const NamedCode& code : codes_) {
      if (code.name == w) return code.run;
    }
    throw "no such function among the rule codes";
  }
  static consteval Op arithmetic(std::string_view w) {
    auto op = find_op(w);
    if (!op || !is_arithmetic(*op)) throw "not an arithmetic op";
    return *op;
  }

  consteval Term& push(std::array<Term, Rule::kMostTerms>& list, uint8_t& size) {
    if (size == Rule::kMostTerms) throw "a rule with too many parts";
    return list[size++];
  }
  consteval void types_of(Term& term) {
    if (peek() != ':') return;
    ++at_;
    term.types = find_types(word());
  }

  // A number or one of the words for constants.
  consteval void literal(Term& term) {
    const std::string_view w = word();
    term.computed = true;
    if (w == "true" || w == "false") {
      term.kind = TermKind::Number;
      term.number = w == "true" ? 1 : 0;
      term.types = TypeSet{};
      term.types.add(Type::Bool);
    } else if (w == "smallest" || w == "greatest") {
      term.kind = w == "smallest" ? TermKind::Smallest : TermKind::Greatest;
      term.types = find_types("int");
    } else if (w == "-0") {
      term.kind = TermKind::NegativeZero;
      term.types = find_types("float");
    } else {
      if (!is_number(w)) throw "a name starts with ? or #";
      term.kind = TermKind::Number;
      term.number = number(w);
    }
    types_of(term);
  }

  consteval void left() {
    Term& term = push(rule_.left, rule_.left_size);
    if (peek() == '?') {
      ++at_;
      const std::string_view w = word();
      if (peek() == '=') {
        ++at_;
        if (find_name(w) != kNoName) throw "an inner node is named where its name occurs first";
        term.name = bind(w);
        left_apply(term);
      } else {
        term.kind = TermKind::Any;
        term.name = bind(w);
        types_of(term);
      }
    } else if (peek() == '#') {
      ++at_;
      term.kind = TermKind::Constant;
      term.name = bind(word());
      types_of(term);
    } else if (peek() == '(') {
      left_apply(term);
    } else {
      literal(term);
    }
    skip();
  }

  consteval void left_apply(Term& term) {
    expect('(');
    term.kind = TermKind::Apply;
    term.op = arithmetic(word());
    types_of(term);
    skip();
    while (peek() != ')') {
      left();
      ++term.count;
    }
    ++at_;
    if (term.count != info(term.op).operands) throw "wrong number of operands";
  }

  consteval void right() {
    Term& term = push(rule_.right, rule_.right_size);
    if (peek() == '?' || peek() == '#') {
      term.kind = peek() == '?' ? TermKind::Any : TermKind::Constant;
      term.computed = peek() == '#';
      ++at_;
      term.name = bound_name(word());
    } else if (peek() == '(') {
      ++at_;
      term.kind = TermKind::Apply;
      term.op = arithmetic(word());
      right_type(term);
      skip();
      term.computed = true;
      while (peek() != ')') {
        const uint8_t operand = rule_.right_size;
        right();
        term.computed = term.computed && rule_.right[operand].computed;
        ++term.count;
      }
      ++at_;
      if (term.count != info(term.op).operands) throw "wrong number of operands";
    } else {
      literal(term);
    }
    skip();
  }

  consteval void right_type(Term& term) {
    if (term.op == Op::Bitcast) throw "a bitcast in a result needs a function";
    if (term.op != Op::Cast) {
      if (peek() == ':') throw "only casts name a type in a result";
      return;
    }
    expect(':');
    if (peek() == '?') {
      ++at_;
      term.like = bound_name(word());
    } else {
      term.types = find_types(word());
      if (!term.types.single()) throw "a cast in a result needs one type";
    }
  }

  consteval GuardTerm& push_guard() {
    if (rule_.guard_size == Rule::kMostGuardTerms) throw "a condition with too many parts";
    return rule_.condition[rule_.guard_size++];
  }

  consteval void guard() {
    GuardTerm& term = push_guard();
    if (peek() == '#') {
      ++at_;
      term.op = GuardOp::Value;
      term.name = bound_name(word());
    } else if (peek() == '(') {
      ++at_;
      const std::string_view w = word();
      term.op = GuardOp::Number;
      for (int k = static_cast<int>(GuardOp::Bits); k <= static_cast<int>(GuardOp::Shr); ++k) {
        if (kGuardWords[k] == w) term.op = static_cast<GuardOp>(k);
      }
      if (term.op == GuardOp::Number) throw "no such function in conditions";
      skip();
      if (term.op <= GuardOp::Ones) {
        const bool constant = peek() == '#';
        if (!constant && peek() != '?') throw "this function takes a name";
        if (!constant && term.op <= GuardOp::Ctz) throw "this function takes a constant";
        ++at_;
        term.name = bound_name(word());
        skip();
        if (term.op >= GuardOp::Min) rule_.needs_facts = true;
      } else {
        guard();
        guard();
      }
      expect(')');
    } else {
      term.number = number(word());
    }
    skip();
  }

  Rule& rule_;
  std::span<const NamedCode> codes_;
  std::string_view text_;
  size_t at_ = 0;
  std::array<std::string_view, Rule::kMostNames> names_{};
};

}  // namespace xlog::kernel
