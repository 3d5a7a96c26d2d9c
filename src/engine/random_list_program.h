// Random programs that make lists and terms and take them apart, inside recursion too. What a
// recursion makes is bounded: lists by their length, terms by a depth that the rows carry.
#pragma once

#include "engine/random_program.h"

namespace xlog::engine {

class ListProgramGenerator : public ProgramGenerator {
 public:
  explicit ListProgramGenerator(uint64_t seed) : ProgramGenerator(seed) {}

  RandomProgram run() {
    element_ = word({"u32", "i64", "symbol", "f64", "list<u32>"});
    if (chance(12)) say("#pragma semantics = well_founded", {});
    if (chance(8)) say("#pragma magic_sets = auto", {});
    for (uint32_t i = 0, n = 1 + pick(2); i < n; ++i) given();
    for (uint32_t i = 0, n = 1 + pick(4); i < n; ++i) part();
    while (chance(20)) say(":- ", shuffled(around(known_, 1).literals));
    for (const Typed& pred : known_) {
      if (pred.name[0] == 'b') continue;
      std::vector<std::string> args;
      for (size_t c = 0; c < pred.kinds.size(); ++c) args.push_back(fmt::format("Q{}", c));
      say("?- ", {fmt::format("{}({})", pred.name, fmt::join(args, ", "))});
    }
    if (chance(30)) std::shuffle(program_.statements.begin(), program_.statements.end(), random_);
    return std::move(program_);
  }

 private:
  enum class Kind : uint8_t { Element, List, Term, Number };

  struct Typed {
    std::string name;
    std::vector<Kind> kinds;
  };
  struct Named {
    std::string name;
    Kind kind;
  };
  struct Solved {
    std::vector<std::string> literals;
    std::vector<Named> variables;
  };

  // ---- values ----

  std::string type_of(Kind kind) const {
    switch (kind) {
      case Kind::Element:
        return element_;
      case Kind::List:
        return fmt::format("list<{}>", element_);
      case Kind::Term:
        return "term";
      case Kind::Number:
        break;
    }
    return "u32";
  }

  std::string element() {
    if (element_ == "symbol") return word({"a", "b", "c", "d"});
    if (element_ == "f64") return word({"0.0", "-0.0", "1.5", "2.0"});
    if (element_ == "i64") return word({"-1", "0", "1", "2"});
    if (element_ == "list<u32>") return word({"[]", "[1]", "[1, 2]", "[2, 2]"});
    return word({"0", "1", "2", "3"});
  }

  std::string value(Kind kind) {
    switch (kind) {
      case Kind::Element:
        return element();
      case Kind::List: {
        std::vector<std::string> parts(pick(4));
        for (std::string& part : parts) part = element();
        return fmt::format("[{}]", fmt::join(parts, ", "));
      }
      case Kind::Term:
        switch (pick(5)) {
          case 0:
            return element();
          case 1:
            return filled("f({})", {element()});
          case 2:
            return filled("g({}, {})", {element(), element()});
          case 3:
            return filled("f(f({}))", {element()});
          default:
            return filled("h([{}])", {element()});
        }
      case Kind::Number:
        break;
    }
    return word({"0", "1", "2", "3"});
  }

  // ---- predicates ----

  Typed typed(const std::string& prefix, std::vector<Kind> kinds) {
    Typed pred{fmt::format("{}{}", prefix, count_++), std::move(kinds)};
    std::vector<std::string> types;
    for (Kind kind : pred.kinds) types.push_back(type_of(kind));
    say(fmt::format("pred {}({})", pred.name, fmt::join(types, ", ")), {});
    return pred;
  }

  std::vector<Kind> kinds() {
    std::vector<Kind> all(1 + pick(3));
    for (Kind& kind : all) {
      const uint32_t which = pick(100);
      kind = which < 45   ? Kind::List
             : which < 70 ? Kind::Element
             : which < 90 ? Kind::Term
                          : Kind::Number;
    }
    return all;
  }

  void given() {
    const Typed pred = typed("b", kinds());
    for (uint32_t i = 0, rows = 1 + pick(6); i < rows; ++i) {
      std::vector<std::string> args;
      for (Kind kind : pred.kinds) args.push_back(value(kind));
      say(fmt::format("{}({})", pred.name, fmt::join(args, ", ")), {});
    }
    known_.push_back(pred);
  }

  // ---- bodies ----

  std::string fresh_in(Solved& body, Kind kind) {
    body.variables.push_back({fmt::format("X{}", body.variables.size()), kind});
    return body.variables.back().name;
  }

  std::string known_in(const Solved& body, Kind kind) {
    std::vector<std::string> names;
    for (const Named& v : body.variables) {
      if (v.kind == kind) names.push_back(v.name);
    }
    return names.empty() || chance(12) ? value(kind) : one_of(names);
  }

  // A pattern of an argument, which may bind; nothing where a variable is to stand there.
  std::string pattern(Solved& body, Kind kind, bool binds) {
    const auto part = [&](Kind inner) -> std::string {
      if (chance(30)) return "_";
      if (!binds || chance(30)) return known_in(body, inner);
      return fresh_in(body, inner);
    };
    if (kind == Kind::List) {
      switch (pick(4)) {
        case 0:
          return filled("[{} | {}]", {part(Kind::Element), part(Kind::List)});
        case 1:
          return filled("[{}]", {part(Kind::Element)});
        case 2:
          return filled("[{}, {} | {}]",
                        {part(Kind::Element), part(Kind::Element), part(Kind::List)});
        default:
          return filled("[{}, {}]", {part(Kind::Element), part(Kind::Element)});
      }
    }
    if (kind == Kind::Term) {
      switch (pick(3)) {
        case 0:
          return filled("f({})", {part(Kind::Term)});
        case 1:
          return filled("g({}, {})", {part(Kind::Term), part(Kind::Term)});
        default:
          return filled("h({})", {part(Kind::List)});
      }
    }
    return "";
  }

  std::string atom_in(Solved& body, const Typed& pred, bool binds) {
    std::vector<std::string> args;
    for (Kind kind : pred.kinds) {
      std::string arg = chance(25) ? pattern(body, kind, binds) : "";
      if (arg.empty()) {
        arg = chance(15) ? "_" : binds && chance(70) ? fresh_in(body, kind) : known_in(body, kind);
      }
      args.push_back(arg);
    }
    return fmt::format("{}({})", pred.name, fmt::join(args, ", "));
  }

  // Binds a list, an element, a term or a number to something that the host has to find.
  void compute(Solved& body) {
    const std::string list = known_in(body, Kind::List);
    const std::string item = known_in(body, Kind::Element);
    const std::string term = known_in(body, Kind::Term);
    const std::string other = known_in(body, Kind::List);
    const std::string next = known_in(body, Kind::Element);
    const std::string number = known_in(body, Kind::Number);
    const auto say_in = [&](const std::string& text) { body.literals.push_back(text); };
    switch (pick(20)) {
      case 0:
      case 1:
        return say_in(filled("{} = [{} | {}]", {fresh_in(body, Kind::List), item, list}));
      case 2:
        return say_in(filled("append({}, {}, {})", {list, other, fresh_in(body, Kind::List)}));
      case 3:
        return say_in(filled("{}({}, {})", {word({"sort", "msort", "reverse", "list_to_set"}), list,
                                            fresh_in(body, Kind::List)}));
      case 4:
        return say_in(filled("append({}, {}, {})",
                             {fresh_in(body, Kind::List), fresh_in(body, Kind::List), list}));
      case 5:
      case 6:
        return say_in(filled("{}({}, {})",
                             {word({"member", "memberchk"}), fresh_in(body, Kind::Element), list}));
      case 7:
        return say_in(filled("nth({}, {}, {})",
                             {chance(50) ? number : "_", list, fresh_in(body, Kind::Element)}));
      case 8:
        return say_in(filled("length({}, {})", {list, fresh_in(body, Kind::Number)}));
      case 9:
        return say_in(filled("{} = [{}, {} | {}]", {list, fresh_in(body, Kind::Element), "_",
                                                    fresh_in(body, Kind::List)}));
      case 10:
        return say_in(filled("{} = f({})", {fresh_in(body, Kind::Term), item}));
      case 11:
        return say_in(filled("{} = g({}, {})", {fresh_in(body, Kind::Term), term, list}));
      case 12:
        return say_in(filled("{} = f({})", {term, fresh_in(body, Kind::Term)}));
      case 13:
        return say_in(filled("{} = g({}, _)", {term, fresh_in(body, Kind::Element)}));
      case 14:
        return say_in(filled("{} = h({})", {term, fresh_in(body, Kind::List)}));
      case 15:
        return say_in(filled("functor({}, _, {})", {term, fresh_in(body, Kind::Number)}));
      case 16:
        return say_in(filled("{} = cast(pow({}, 2), u32)", {fresh_in(body, Kind::Number), number}));
      case 17:
        return say_in(filled("{} = if {} < {} then {} else {}",
                             {fresh_in(body, Kind::List), list, other, list, other}));
      case 18:
        return say_in(filled("{} = 4 / {}", {fresh_in(body, Kind::Number), number}));
      default:
        return say_in(filled("{} = [{}, {}]", {fresh_in(body, Kind::List), item, next}));
    }
  }

  void test(Solved& body) {
    if (body.variables.empty()) return;
    const Named tested = one_of(body.variables);
    switch (pick(5)) {
      case 0:
        body.literals.push_back(
            filled("not {}({}, {})", {word({"member", "memberchk"}), known_in(body, Kind::Element),
                                      known_in(body, Kind::List)}));
        return;
      case 1:
        body.literals.push_back(filled("not length({}, {})",
                                       {known_in(body, Kind::List), known_in(body, Kind::Number)}));
        return;
      case 2:
        body.literals.push_back("not " + atom_in(body, one_of(below_them_), false));
        return;
      default:
        body.literals.push_back(filled(
            "{} {} {}",
            {tested.name, word({"<", "<=", ">", ">=", "=", "!="}), known_in(body, tested.kind)}));
    }
  }

  Solved around(const std::vector<Typed>& first, uint32_t least) {
    Solved body;
    below_them_ = known_;
    for (uint32_t i = 0, n = least + pick(2); i < n; ++i) {
      body.literals.push_back(atom_in(body, i == 0 ? one_of(first) : one_of(known_), true));
    }
    for (uint32_t i = 0, n = pick(4); i < n; ++i) compute(body);
    for (uint32_t i = 0, n = pick(2); i < n; ++i) test(body);
    return body;
  }

  // ---- rules ----

  std::string head_of(Solved& body, const Typed& pred) {
    std::vector<std::string> args;
    for (Kind kind : pred.kinds) {
      std::string arg = known_in(body, kind);
      if (kind == Kind::List && chance(30)) {
        arg = filled("[{} | {}]", {known_in(body, Kind::Element), arg});
      } else if (kind == Kind::Term && chance(30)) {
        arg = filled("g({}, {})", {known_in(body, Kind::Element), arg});
      }
      args.push_back(arg);
    }
    return fmt::format("{}({})", pred.name, fmt::join(args, ", "));
  }

  void part() {
    const uint32_t kind = pick(100);
    if (kind < 35) return plain_part();
    if (kind < 60) return growing();
    if (kind < 75) return paths();
    if (kind < 85) return deep_terms();
    folds();
  }

  void plain_part() {
    const Typed pred = typed("p", kinds());
    for (uint32_t i = 0, n = 1 + pick(2); i < n; ++i) {
      Solved body = around(known_, 1);
      const std::string head = head_of(body, pred);
      say(head + " :- ", shuffled(body.literals));
    }
    known_.push_back(pred);
  }

  // One or two predicates that make lists of each other's, linearly or not.
  void growing() {
    std::vector<Typed> group(chance(60) ? 1 : 2);
    for (Typed& pred : group) {
      pred = typed("r", {Kind::List});
      Solved body = around(known_, 1);
      say(head_of(body, pred) + " :- ", shuffled(body.literals));
    }
    const std::string longest = std::to_string(2 + pick(3));
    for (const Typed& pred : group) {
      for (uint32_t i = 0, n = 1 + pick(2); i < n; ++i) {
        std::vector<std::string> body = {filled("{}(A)", {one_of(group).name})};
        std::string made = "L";
        switch (pick(7)) {
          case 0:
            made = "[X | A]";
            body.push_back(some_element("X"));
            body.push_back(filled("length(A, N), N < {}", {longest}));
            break;
          case 1:
            body.push_back(filled("{}(B), append(A, B, L), length(L, N), N <= {}",
                                  {one_of(group).name, longest}));
            break;
          case 2:
            body.push_back("A = [_ | L]");
            break;
          case 3:
            body = {filled("{}([X, Y | T]), L = [Y, X | T]", {one_of(group).name})};
            break;
          case 4:
            body.push_back(filled("{}(A, L)", {word({"reverse", "sort", "msort"})}));
            break;
          case 5:
            body.push_back(filled("append(_, L, A){}", {chance(50) ? ", L != A" : ""}));
            break;
          default:
            body.push_back(some_element("X"));
            body.push_back(
                filled("not member(X, A), length(A, N), N < {}, L = [X | A]", {longest}));
        }
        say(filled("{}({}) :- ", {pred.name, made}), body);
      }
    }
    known_.insert(known_.end(), group.begin(), group.end());
  }

  // A literal that binds the variable to elements of something that is known.
  std::string some_element(const std::string& name) {
    const Typed& pred = one_of(known_);
    std::vector<std::string> args;
    std::string more;
    for (Kind kind : pred.kinds) {
      args.push_back("_");
      if (!more.empty()) continue;
      if (kind == Kind::Element) more = " ", args.back() = name;
      if (kind == Kind::List) more = filled(", member({}, ML)", {name}), args.back() = "ML";
    }
    if (more.empty()) return filled("member({}, {})", {name, value(Kind::List)});
    return fmt::format("{}({}){}", pred.name, fmt::join(args, ", "), more == " " ? "" : more);
  }

  void paths() {
    const Typed edge = typed("b", {Kind::Element, Kind::Element});
    for (uint32_t i = 0, rows = 2 + pick(6); i < rows; ++i) {
      say(filled("{}({}, {})", {edge.name, element(), element()}), {});
    }
    const Typed path = typed("p", {Kind::Element, Kind::Element, Kind::List});
    const std::string p = path.name, e = edge.name;
    say(filled("{}(X, Y, [X, Y]) :- ", {p}), {filled("{}(X, Y)", {e})});
    if (chance(60)) {
      say(filled("{}(X, Z, [X | P]) :- ", {p}),
          shuffled({filled("{}(X, Y)", {e}), filled("{}(Y, Z, P)", {p}), "not member(X, P)"}));
    } else {
      say(filled("{}(X, Z, L) :- ", {p}),
          {filled("{}(X, Y, A)", {p}), filled("{}(Y, Z, [_ | B])", {p}), "append(A, B, L)",
           filled("length(L, N), N < {}", {std::to_string(3 + pick(2))})});
    }
    known_.push_back(edge);
    known_.push_back(path);
  }

  void deep_terms() {
    const Typed pred = typed("r", {Kind::Number, Kind::Term});
    Solved body = around(known_, 1);
    say(filled("{}(0, {}) :- ", {pred.name, known_in(body, Kind::Term)}), shuffled(body.literals));
    say(filled("{}(N + 1, {}) :- ", {pred.name, word({"f(T)", "g(T, T)", "h([])"})}),
        shuffled({filled("{}(N, T)", {pred.name}), "N < 3"}));
    if (chance(50)) {
      say(filled("{}(N, T) :- ", {pred.name}), {filled("{}(N, f(T))", {pred.name})});
    }
    known_.push_back(pred);
  }

  void folds() {
    const Typed from = one_of(known_);
    std::vector<std::string> args;
    for (size_t c = 0; c < from.kinds.size(); ++c) args.push_back(fmt::format("A{}", c));
    const std::string atom = fmt::format("{}({})", from.name, fmt::join(args, ", "));
    const std::string some = one_of(args);
    switch (pick(4)) {
      case 0:
        say(fmt::format("g{}({}, count()) :- ", count_++, some), {atom});
        return;
      case 1:
        say(fmt::format("g{}(L) :- ", count_++),
            {fmt::format("findall({}, {}, L)", chance(50) ? some : fmt::format("t({})", some),
                         atom)});
        return;
      case 2:
        say(fmt::format("g{}({}, L) :- ", count_++, some),
            {atom, fmt::format("findall(B, {}, L)",
                               fmt::format("{}({})", from.name,
                                           fmt::join(with_last(args, some, "B"), ", ")))});
        return;
      default:
        say(fmt::format("g{}(N) :- ", count_++),
            {fmt::format("N = count : {{ {}, {} }}", atom,
                         fmt::format("{} != {}", some, value(kind_of(from, some))))});
    }
  }

  // The arguments without one, whose place another takes; what is alone stays.
  static std::vector<std::string> with_last(std::vector<std::string> args, const std::string& kept,
                                            const std::string& other) {
    for (std::string& arg : args) arg = arg == kept && args.size() > 1 ? arg : "_";
    for (std::string& arg : args) {
      if (arg == "_") {
        arg = other;
        break;
      }
    }
    return args;
  }

  static Kind kind_of(const Typed& pred, const std::string& arg) {
    return pred.kinds[static_cast<size_t>(arg[1] - '0')];
  }

  std::string element_;
  std::vector<Typed> known_;
  std::vector<Typed> below_them_;
};

}  // namespace xlog::engine
