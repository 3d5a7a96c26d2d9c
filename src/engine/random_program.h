// Random programs as source text: safe, well-typed, finite, over few values so that joins hit.
//
// A program is built from the bottom up. Each component reads what is below it and is of one kind:
// plain rules (maybe recursive), aggregates, lists, strong negation, or guesses (choice,
// disjunction, a cycle through negation), so that all its predicates have rows to find.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <random>
#include <string>
#include <vector>

namespace xlog::engine {

struct RandomStatement {
  std::string start;  // all before the body: "p(X) :- ", "?- "
  std::vector<std::string> body;

  std::string text() const { return fmt::format("{}{}.\n", start, fmt::join(body, ", ")); }
};

struct RandomProgram {
  std::vector<RandomStatement> statements;

  std::string text() const {
    std::string text;
    for (const RandomStatement& statement : statements) text += statement.text();
    return text;
  }
};

class ProgramGenerator {
 public:
  explicit ProgramGenerator(uint64_t seed) : random_(seed) {}

  RandomProgram run() {
    guesses_ = chance(15);
    const uint32_t types = 1 + pick(3);
    for (uint32_t i = 0; i < types; ++i) palette_.push_back(random_type());
    if (chance(10)) palette_ = {Type::U32};
    pragmas();
    const uint32_t bases = 1 + pick(4);
    for (uint32_t i = 0; i < bases; ++i) facts(declare("b", columns(chance(5) ? 0 : 1, 5)));
    const uint32_t components = 1 + pick(5);
    for (uint32_t i = 0; i < components; ++i) component();
    if (guesses_) {
      guess();
      if (chance(60)) component();
    }
    while (chance(20)) constraint();
    queries();
    if (chance(30)) std::shuffle(program_.statements.begin(), program_.statements.end(), random_);
    return std::move(program_);
  }

 protected:
  enum class Type : uint8_t { U32, I32, U64, I64, F32, F64, Symbol, Bool, List, Compound };

  struct Predicate {
    std::string name;
    std::vector<Type> columns;
  };
  struct Variable {
    std::string name;
    Type type;
  };
  struct Body {
    std::vector<std::string> literals;
    std::vector<Variable> variables;  // all bound
    double rows = 1;                  // a rough bound of its solutions
    bool inner = false;               // of an aggregate: its own variables are local
  };

  // ---- chance ----

  uint32_t pick(size_t n) { return static_cast<uint32_t>(random_() % n); }
  bool chance(uint32_t percent) { return pick(100) < percent; }
  template <typename T>
  const T& one_of(const std::vector<T>& list) {
    return list[pick(list.size())];
  }
  std::string word(const std::vector<const char*>& list) { return one_of(list); }
  // The parts in place of each {}. Unlike arguments of a call they are made from left to right, so
  // that a seed means the same to every compiler.
  static std::string filled(std::string pattern, std::initializer_list<std::string> parts) {
    size_t at = 0;
    for (const std::string& part : parts) {
      at = pattern.find("{}", at);
      pattern.replace(at, 2, part);
      at += part.size();
    }
    return pattern;
  }

  // ---- types and values ----

  static bool is_integer(Type type) { return type <= Type::I64; }
  static bool is_float(Type type) { return type == Type::F32 || type == Type::F64; }
  static bool is_number(Type type) { return type <= Type::F64; }
  static std::string spelling(Type type) {
    static const char* const names[] = {"u32", "i32",    "u64",  "i64",       "f32",
                                        "f64", "symbol", "bool", "list<u32>", "compound"};
    return names[static_cast<size_t>(type)];
  }

  Type random_type() {
    if (chance(4)) return chance(50) ? Type::List : Type::Compound;
    if (chance(30)) return Type::U32;
    return static_cast<Type>(pick(8));
  }

  std::string constant(Type type) {
    if (is_integer(type) && chance(94)) {
      const bool is_signed = type == Type::I32 || type == Type::I64;
      const int lower = is_signed && chance(40) ? 2 : 0;
      return std::to_string(static_cast<int>(pick(4)) - lower);
    }
    switch (type) {
      case Type::U32:
        return word({"4294967295", "2147483648"});
      case Type::I32:
        return word({"-2147483648", "2147483647"});
      case Type::U64:
        return word({"18446744073709551615", "4294967296"});
      case Type::I64:
        return word({"-9223372036854775808", "9223372036854775807"});
      case Type::F32:
        return word({"0.0", "-0.0", "1.0", "0.5", "-1.5", "2.0", "3.0e38", "1.0e-45"});
      case Type::F64:
        return word({"0.0", "-0.0", "1.0", "0.5", "-1.5", "2.0", "1.0e308"});
      case Type::Symbol:
        return word({"a", "b", "c", "d", "\"x y\""});
      case Type::Bool:
        return word({"true", "false"});
      case Type::List:
        return word({"[]", "[1]", "[1, 2]", "[2, 1, 1]"});
      case Type::Compound:
        return word({"f(1)", "f(2)", "g(a, 1)"});
    }
    return "0";
  }

  // ---- predicates ----

  std::vector<Type> columns(uint32_t least, uint32_t most) {
    std::vector<Type> list(least + pick(most - least + 1));
    for (Type& type : list) type = one_of(palette_);
    return list;
  }

  Predicate declare(const std::string& prefix, std::vector<Type> types) {
    Predicate pred{fmt::format("{}{}", prefix, count_++), std::move(types)};
    std::vector<std::string> names;
    for (Type type : pred.columns) names.push_back(spelling(type));
    if (names.empty()) return pred;
    say(fmt::format("pred {}({})", pred.name, fmt::join(names, ", ")), {});
    return pred;
  }

  void say(std::string start, std::vector<std::string> body) {
    program_.statements.push_back({std::move(start), std::move(body)});
  }

  static std::string atom(const Predicate& pred, const std::vector<std::string>& args) {
    return args.empty() ? pred.name : fmt::format("{}({})", pred.name, fmt::join(args, ", "));
  }

  void facts(const Predicate& pred) {
    const uint32_t rows = chance(5) ? 0 : chance(5) ? 1 : 2 + pick(12);
    if (chance(2)) many_facts(pred);
    for (uint32_t i = 0; i < rows; ++i) {
      std::vector<std::string> args;
      for (Type type : pred.columns) args.push_back(constant(type));
      say(atom(pred, args), {});
    }
    if (std::ranges::find(below_, pred.name, &Predicate::name) == below_.end()) {
      below_.push_back(pred);
    }
  }

  // Enough rows for sets that grow and indexes of several runs.
  void many_facts(const Predicate& pred) {
    std::vector<std::string> args;
    uint32_t left = 200;
    for (Type type : pred.columns) {
      const uint32_t size = 1 + pick(is_integer(type) ? std::min(left, 100u) : 1);
      left /= size;
      args.push_back(size == 1 ? constant(type) : fmt::format("0..{}", size - 1));
    }
    say(atom(pred, args), {});
  }

  // ---- expressions ----

  std::vector<std::string> of_type(const Body& body, Type type) {
    std::vector<std::string> names;
    for (const Variable& v : body.variables) {
      if (v.type == type) names.push_back(v.name);
    }
    return names;
  }

  std::string leaf(const Body& body, Type type) {
    const std::vector<std::string> names = of_type(body, type);
    return names.empty() || chance(20) ? constant(type) : one_of(names);
  }

  // A value of a numeric type. `closed`: repeated in a recursion it gives few values.
  std::string expression(const Body& body, Type type, uint32_t depth, bool closed) {
    if (depth == 0 || !is_number(type)) return leaf(body, type);
    auto part = [&] { return expression(body, type, depth - 1, closed); };
    if (closed) {
      if (is_integer(type) && chance(30)) return fmt::format("{} / 2", leaf(body, type));
      if (is_integer(type) && chance(30)) {
        return filled("({} + {}) % {}",
                      {leaf(body, type), leaf(body, type), std::to_string(2 + pick(6))});
      }
      return filled("{}({}, {})", {word({"min", "max", "smaller"}), part(), part()});
    }
    switch (pick(12)) {
      case 0:
        return fmt::format("abs({})", part());
      case 1:
        return fmt::format("(-({}))", part());
      case 2:
        return filled("{}({}, {})", {word({"min", "max"}), part(), part()});
      case 3:
        return filled("{}({}, {})", {word({"smaller", "steps"}), part(), part()});
      case 4:
      case 5:
        return cast(body, type, depth - 1);
      case 6:
        if (is_integer(type)) return filled("({} % {})", {part(), part()});
        if (type == Type::F64 && chance(20)) return filled("pow({}, {})", {part(), part()});
        break;
      default:
        break;
    }
    return filled("({} {} {})", {part(), word({"+", "-", "*", "/"}), part()});
  }

  std::string cast(const Body& body, Type to, uint32_t depth) {
    const Type from = chance(10) ? Type::Bool : static_cast<Type>(pick(6));
    std::string value = expression(body, from, depth, false);
    if (of_type(body, from).empty()) {
      if (from == Type::Bool) return constant(to);
      value = fmt::format("cast({}, {})", value, spelling(from));
    }
    return fmt::format("cast({}, {})", value, spelling(to));
  }

  // ---- bodies ----

  Variable& fresh(Body& body, Type type) {
    return body.variables.emplace_back(Variable{
        body.inner ? fmt::format("L{}", locals_++) : fmt::format("X{}", body.variables.size()),
        type});
  }

  // An atom over bound variables, constants and `_`; a positive one may bind more.
  std::string atom_over(Body& body, const Predicate& pred, bool binds) {
    std::vector<std::string> args;
    double rows = 8;
    const Body before = body;
    for (Type type : pred.columns) {
      // Now and then a variable twice in one atom.
      const std::vector<std::string> bound = of_type(chance(15) ? body : before, type);
      const uint32_t kind = pick(100);
      if (kind < (pred.columns.size() > 2 ? 25 : 45) && !bound.empty()) {
        args.push_back(one_of(bound));
        rows /= 2;
      } else if (kind < 49) {
        args.push_back(constant(type));
        rows /= 2;
      } else if (kind < 62 || !binds) {
        args.push_back("_");
      } else {
        args.push_back(fresh(body, type).name);
      }
    }
    if (binds) body.rows *= std::max(1.0, rows);
    return atom(pred, args);
  }

  void positive(Body& body, const std::vector<Predicate>& from) {
    const Predicate& pred = one_of(from);
    const bool settled = std::ranges::find(below_, pred.name, &Predicate::name) != below_.end();
    const bool modal = settled && chance(6);
    const std::string literal = atom_over(body, pred, true);
    body.literals.push_back(modal ? fmt::format("{} {}", word({"know", "possible"}), literal)
                                  : literal);
  }

  void negative(Body& body) {
    const std::string literal = atom_over(body, one_of(below_), false);
    const std::string form = chance(70)
                                 ? "not"
                                 : word({"not not", "not know", "not possible", "know not",
                                         "possible not", "not know not", "not possible not"});
    body.literals.push_back(fmt::format("{} {}", form, literal));
  }

  void comparison(Body& body) {
    const Variable v = one_of(body.variables);
    const bool ordered = v.type != Type::List && v.type != Type::Compound;
    const std::string op =
        ordered ? word({"<", "<=", ">", ">=", "=", "!=", "!=", "<="}) : word({"=", "!="});
    const std::string left = chance(60) ? v.name : expression(body, v.type, 1, false);
    body.literals.push_back(
        fmt::format("{} {} {}", left, op, expression(body, v.type, pick(3), false)));
  }

  void binding(Body& body) {
    const Type type = one_of(palette_);
    const std::string value = expression(body, type, 1 + pick(2), false);
    const std::string name = fresh(body, type).name;
    const bool range = is_integer(type) && chance(15);
    body.literals.push_back(range        ? fmt::format("{0} = {1}..({1}) + 2", name, value)
                            : chance(80) ? fmt::format("{} = {}", name, value)
                            : chance(50) ? fmt::format("{} = {}", value, name)
                                         : fmt::format("{} is {}", name, value));
  }

  // N = count : { ... } over variables of its own and, now and then, of the body around it.
  void body_aggregate(Body& body) {
    Body inner;
    inner.inner = true;
    const std::vector<Variable> outer = body.variables;
    for (const Variable& v : outer) {
      if (chance(50)) inner.variables.push_back(v);
    }
    const size_t shared = inner.variables.size();
    inner.literals.push_back(atom_over(inner, one_of(below_), true));
    if (chance(40)) inner.literals.push_back(atom_over(inner, one_of(below_), true));
    if (chance(20)) negative(inner);
    if (!inner.variables.empty() && chance(30)) comparison(inner);
    std::vector<Variable> own;
    for (size_t i = shared; i < inner.variables.size(); ++i) own.push_back(inner.variables[i]);
    std::string what = "count";
    Type type = Type::U64;
    const Variable* value = own.empty() ? nullptr : &one_of(own);
    if (value != nullptr && is_number(value->type) && chance(70)) {
      const std::string fn = word({"sum", "min", "max", "avg"});
      type = result_of(fn, value->type);
      what = fmt::format("{} {}", fn,
                         chance(25) ? expression(inner, value->type, 1, false) : value->name);
    }
    const std::string name = fresh(body, type).name;
    body.literals.push_back(
        fmt::format("{} = {} : {{ {} }}", name, what, fmt::join(inner.literals, ", ")));
  }

  static Type result_of(const std::string& fn, Type type) {
    if (fn == "avg") return Type::F64;
    if (fn != "sum") return type;
    if (is_float(type)) return Type::F64;
    return type == Type::U32 || type == Type::U64 ? Type::U64 : Type::I64;
  }

  // `first`: predicates of which one must be there; empty when there are none.
  Body body(const std::vector<Predicate>& first, bool closed) {
    Body result;
    if (!first.empty()) positive(result, first);
    const uint32_t least = first.empty() && chance(95) ? 1 : 0;
    const uint32_t atoms = least + pick(3);
    for (uint32_t i = 0; i < atoms && result.rows < 300; ++i) {
      positive(result, !first.empty() && chance(30) ? first : below_);
    }
    while (!closed && chance(20)) binding(result);
    while (chance(18)) negative(result);
    while (!result.variables.empty() && chance(25)) comparison(result);
    while (chance(14)) body_aggregate(result);
    return result;
  }

  std::vector<std::string> shuffled(std::vector<std::string> literals) {
    if (chance(70)) std::shuffle(literals.begin(), literals.end(), random_);
    return literals;
  }

  // ---- rules ----

  std::string head_argument(Body& body, Type type, bool closed) {
    const std::vector<std::string> names = of_type(body, type);
    if (!names.empty() && chance(85)) return one_of(names);
    if (is_number(type) && chance(70)) return expression(body, type, 1 + pick(2), closed);
    return constant(type);
  }

  void rule(const Predicate& head, const std::vector<Predicate>& first) {
    const bool closed = !first.empty();
    Body b = body(first, closed);
    std::vector<std::string> args;
    for (Type type : head.columns) args.push_back(head_argument(b, type, closed));
    say_rule(atom(head, args), b);
  }

  void say_rule(const std::string& head, const Body& body) {
    if (body.literals.empty()) return say(head, {});
    say(head + " :- ", shuffled(body.literals));
  }

  // p(X + 1, ...) :- p(X, ...), X < 12: counts upwards.
  void counter(const Predicate& pred) {
    std::vector<uint32_t> columns;
    for (uint32_t c = 0; c < pred.columns.size(); ++c) {
      if (is_integer(pred.columns[c])) columns.push_back(c);
    }
    if (columns.empty()) return;
    const uint32_t column = one_of(columns);
    std::vector<std::string> before, after;
    for (uint32_t c = 0; c < pred.columns.size(); ++c) {
      before.push_back(fmt::format("Y{}", c));
      after.push_back(c == column ? fmt::format("Y{} + 1", c) : before.back());
    }
    say(atom(pred, after) + " :- ",
        shuffled({atom(pred, before),
                  fmt::format("Y{} < {}", column, 3 + pick(chance(4) ? 200 : 10)),
                  fmt::format("Y{} >= 0", column)}));
  }

  void component() {
    const uint32_t kind = pick(100);
    if (kind < 55) return plain();
    if (kind < 80) return aggregates();
    if (kind < 86) return lists();
    if (kind < 93) return strong_negation();
    plain();
  }

  void plain() {
    std::vector<Predicate> group;
    const uint32_t size = chance(70) ? 1 : 2 + pick(2);
    for (uint32_t i = 0; i < size; ++i) {
      const uint32_t least = chance(10) ? 0 : 1;
      group.push_back(declare("p", columns(least, chance(15) ? 5 : 3)));
    }
    const bool recursive = chance(55);
    std::vector<Predicate> known = below_;
    for (const Predicate& pred : group) {
      const uint32_t clauses = 1 + pick(2);
      for (uint32_t i = 0; i < clauses; ++i) rule(pred, {});
      if (chance(15)) {
        facts(pred);
        below_ = known;
      }
    }
    if (recursive) {
      for (const Predicate& pred : group) {
        const uint32_t clauses = 1 + pick(2);
        for (uint32_t i = 0; i < clauses; ++i) rule(pred, group);
      }
      if (chance(25)) counter(group[0]);
    }
    below_.insert(below_.end(), group.begin(), group.end());
  }

  void aggregates() {
    Body b = body({}, false);
    if (b.literals.empty()) return plain();
    std::vector<std::string> args;
    std::vector<Type> types;
    for (const Variable& v : b.variables) {
      if (!chance(30)) continue;
      args.push_back(v.name);
      types.push_back(v.type);
    }
    const uint32_t folds = 1 + pick(3);
    for (uint32_t i = 0; i < folds; ++i) {
      std::string call = "count()";
      Type type = Type::U64;
      if (!b.variables.empty() && chance(90)) {
        const Variable v = one_of(b.variables);
        const std::string fn =
            is_number(v.type) ? word({"count", "sum", "min", "max", "avg", "sum"}) : "count";
        const bool computed = is_number(v.type) && chance(25);
        call = fmt::format("{}({})", fn, computed ? expression(b, v.type, 1, false) : v.name);
        type = fn == "count" ? Type::U64 : result_of(fn, v.type);
      }
      const size_t at = pick(args.size() + 1);
      args.insert(args.begin() + at, call);
      types.insert(types.begin() + at, type);
    }
    const Predicate pred = declare("g", types);
    say_rule(atom(pred, args), b);
    if (chance(20)) rule(pred, {});
    below_.push_back(pred);
  }

  void lists() {
    const Predicate list = declare("l", {Type::List});
    facts(list);
    const Predicate item = declare("i", {Type::U32});
    say(item.name + "(X) :- ",
        {list.name + "(L)", word({"member(X, L)", "length(L, X)", "L = [X | _]", "nth(_, L, X)"})});
    if (chance(50)) say(item.name + "(X) :- ", {"X = 1..3"});
    below_.push_back(item);
    if (chance(50)) {
      const Predicate all = declare("l", {Type::List});
      say(all.name + "(L) :- ", {fmt::format("findall(X, {}(X), L)", item.name)});
      below_.push_back(all);
    }
  }

  void strong_negation() {
    const Predicate pred = one_of(below_);
    if (pred.name[0] == '-') return plain();
    Predicate opposite{"-" + pred.name, pred.columns};
    if (std::ranges::find(below_, opposite.name, &Predicate::name) != below_.end()) return plain();
    Body b = body({}, false);
    std::vector<std::string> args;
    for (Type type : pred.columns) args.push_back(head_argument(b, type, true));
    if (chance(70) && !b.literals.empty()) {
      // Only bound variables: what is computed in the head is not in the body.
      std::vector<std::string> same;
      for (const std::string& arg : args) {
        const bool simple =
            std::ranges::find(b.variables, arg, &Variable::name) != b.variables.end();
        same.push_back(simple ? arg : "_");
      }
      b.literals.push_back("not " + atom(pred, same));
    }
    say_rule(atom(opposite, args), b);
    below_.push_back(opposite);
  }

  // Few guesses: each of them doubles the worlds.
  void guess() {
    const Predicate domain = declare("d", {Type::U32});
    say(domain.name + "(X) :- ", {word({"X = 1..3", "X = 0..1", "X = 2..3"})});
    const Predicate a = declare("c", {Type::U32}), b = declare("c", {Type::U32});
    std::vector<std::string> around{domain.name + "(X)"};
    Body extra;
    extra.variables.push_back({"X", Type::U32});
    if (chance(50)) positive(extra, below_);
    if (chance(40)) negative(extra);
    around.insert(around.end(), extra.literals.begin(), extra.literals.end());
    switch (pick(3)) {
      case 0:
        say(filled("{}{ {}(X) ; {}(X) }{} :- ",
                   {word({"", "", "1 "}), a.name, b.name, word({"", "", " 1"})}),
            around);
        break;
      case 1:
        say(fmt::format("{}(X) ; {}(X) :- ", a.name, b.name), around);
        break;
      default:
        around.push_back(fmt::format("not {}(X)", b.name));
        say(a.name + "(X) :- ", around);
        around.back() = fmt::format("not {}(X)", a.name);
        say(b.name + "(X) :- ", around);
        break;
    }
    below_.push_back(a);
    below_.push_back(b);
  }

  void constraint() {
    Body b = body({}, true);
    if (!b.variables.empty() && chance(50)) comparison(b);
    if (!b.literals.empty()) say(":- ", shuffled(b.literals));
  }

  void queries() {
    if (chance(10)) return;
    for (const Predicate& pred : below_) {
      if (pred.name[0] == 'b' && chance(80)) continue;
      std::vector<std::string> args;
      for (size_t c = 0; c < pred.columns.size(); ++c) args.push_back(fmt::format("Q{}", c));
      say("?- ", {atom(pred, args)});
    }
    const uint32_t others = pick(3);
    for (uint32_t i = 0; i < others; ++i) {
      Body b = body({}, false);
      if (!b.literals.empty()) say("?- ", shuffled(b.literals));
    }
  }

  void pragmas() {
    if (chance(10)) say("#pragma semantics = well_founded", {});
    if (chance(8)) say("#pragma magic_sets = auto", {});
    say("func smaller(X, Y) = if X < Y then X else Y", {});
    say("func steps(X, Y) = if X = Y then X + Y else if X < Y then X - Y else Y", {});
  }

  std::mt19937_64 random_;
  bool guesses_ = false;
  std::vector<Type> palette_;
  std::vector<Predicate> below_;
  uint32_t count_ = 0;
  uint32_t locals_ = 0;
  RandomProgram program_;
};

}  // namespace xlog::engine
