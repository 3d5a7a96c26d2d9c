// Random programs that fold and map in bodies: aggregates and findall inside each other, several in
// one body, over what an outer variable selects, inside recursion, under aggregates in heads and in
// constraints; maplist; negated patterns with `_`. All values are small numbers.
#pragma once

#include "engine/random_program.h"

namespace xlog::engine {

class FoldProgramGenerator : public ProgramGenerator {
 public:
  explicit FoldProgramGenerator(uint64_t seed) : ProgramGenerator(seed) {}

  RandomProgram run() {
    if (chance(10)) say("#pragma semantics = well_founded", {});
    known_ = {{"e", 2}, {"u", 1}};
    say("pred e(u32, u32)", {});
    say("pred u(u32)", {});
    say("pred l(list<u32>)", {});
    for (uint32_t i = 0, n = 1 + pick(8); i < n; ++i) {
      say(filled("e({}, {})", {small(), small()}), {});
    }
    for (uint32_t i = 0, n = 1 + pick(4); i < n; ++i) say(filled("u({})", {small()}), {});
    for (uint32_t i = 0, n = 1 + pick(3); i < n; ++i) {
      say(filled("l({})", {word({"[]", "[1]", "[1, 2]", "[2, 0, 1]", "[3, 3]"})}), {});
    }
    for (uint32_t i = 0, n = 1 + pick(3); i < n; ++i) part();
    while (chance(40)) {
      Solved body = solved({}, 1);
      say(":- ", shuffled(body.literals));
    }
    for (const Known& pred : known_) {
      std::vector<std::string> args;
      for (uint32_t c = 0; c < pred.arity; ++c) args.push_back(fmt::format("Q{}", c));
      say("?- ", {fmt::format("{}({})", pred.name, fmt::join(args, ", "))});
    }
    if (chance(30)) std::shuffle(program_.statements.begin(), program_.statements.end(), random_);
    return std::move(program_);
  }

 private:
  struct Known {
    std::string name;
    uint32_t arity;
  };
  struct Solved {
    std::vector<std::string> literals;
    std::vector<std::string> bound;  // variables
  };

  std::string small() { return word({"0", "1", "2", "3", "4"}); }
  std::string fresh() { return fmt::format("V{}", count_++); }
  std::string some(const Solved& body) {
    return body.bound.empty() || chance(10) ? small() : one_of(body.bound);
  }

  std::string atom_of(const Known& pred, Solved& body, bool binds) {
    std::vector<std::string> args;
    for (uint32_t c = 0; c < pred.arity; ++c) {
      if (chance(15)) {
        args.push_back("_");
      } else if (binds && chance(60)) {
        args.push_back(fresh());
        body.bound.push_back(args.back());
      } else {
        args.push_back(some(body));
      }
    }
    return fmt::format("{}({})", pred.name, fmt::join(args, ", "));
  }

  void test(Solved& body) {
    switch (pick(4)) {
      case 0:
        body.literals.push_back("not " + atom_of(one_of(known_), body, false));
        return;
      case 1:
        body.literals.push_back(filled("not l([{} | _])", {some(body)}));
        return;
      default:
        body.literals.push_back(
            filled("{} {} {}", {some(body), word({"<", "<=", "!=", "="}), some(body)}));
    }
  }

  // The literals of braces, and a variable that they bind.
  std::vector<std::string> inside(const Solved& around, uint32_t depth, std::string& collected) {
    Solved inner;
    inner.bound = around.bound;
    const size_t before = inner.bound.size();
    for (uint32_t i = 0, n = 1 + pick(2); i < n; ++i) {
      const std::string modal = chance(12) ? word({"know ", "possible "}) : "";
      inner.literals.push_back(modal + atom_of(one_of(known_), inner, true));
    }
    if (inner.bound.size() == before) {
      inner.bound.push_back(fresh());
      inner.literals.push_back(filled("u({})", {inner.bound.back()}));
    }
    collected = inner.bound[before + pick(inner.bound.size() - before)];
    if (chance(50)) test(inner);
    if (depth > 0 && chance(45)) fold(inner, depth - 1);
    return shuffled(inner.literals);
  }

  // One atom, and a variable that it binds.
  std::string goal(const Solved& around, std::string& collected) {
    Solved inner = around;
    const std::string atom = atom_of(one_of(known_), inner, true);
    collected = inner.bound.size() > around.bound.size() ? inner.bound.back() : small();
    return atom;
  }

  // Binds a number to what is folded or mapped.
  void fold(Solved& body, uint32_t depth) {
    const std::string result = fresh(), whole = fresh();
    const auto say_in = [&](const std::string& text) { body.literals.push_back(text); };
    std::string collected;
    const uint32_t kind = pick(10);
    if (kind < 3) {
      const std::string list = fmt::format("{}", fmt::join(inside(body, depth, collected), ", "));
      const std::string what = kind < 2 ? "count" : "sum " + collected;
      say_in(filled("{} = {} : { {} }", {whole, what, list}));
      say_in(filled("{} = cast(min({}, 7), u32)", {result, whole}));
    } else if (kind < 5) {
      const std::string list = fmt::format("{}", fmt::join(inside(body, depth, collected), ", "));
      say_in(filled("{} = {} {} : { {} }", {result, word({"min", "max"}), collected, list}));
    } else if (kind < 7) {
      const std::string atom = goal(body, collected);
      const std::string list = kind == 5 ? whole : filled("[{} | _]", {result});
      say_in(filled("findall({}, {}, {})", {collected, atom, list}));
      if (kind == 5) say_in(filled("length({}, {})", {whole, result}));
    } else {
      map(body, result, kind == 7);
    }
    body.bound.push_back(result);
  }

  void map(Solved& body, const std::string& result, bool tests) {
    const std::string from = fresh();
    body.literals.push_back(filled("l({})", {from}));
    if (tests) {
      body.literals.push_back(filled("maplist({}, {})", {of_arity(1), from}));
      body.literals.push_back(filled("length({}, {})", {from, result}));
    } else {
      const std::string to = fresh();
      body.literals.push_back(filled("maplist({}, {}, {})", {of_arity(2), from, to}));
      body.literals.push_back(filled("member({}, {})", {result, to}));
    }
  }

  std::string of_arity(uint32_t arity) {
    std::vector<std::string> names;
    for (const Known& pred : known_) {
      if (pred.arity == arity) names.push_back(pred.name);
    }
    return one_of(names);
  }

  Solved solved(const std::vector<Known>& first, uint32_t least) {
    Solved body;
    if (!first.empty()) body.literals.push_back(atom_of(one_of(first), body, true));
    for (uint32_t i = first.empty() ? 0 : 1, n = least + pick(2); i < n; ++i) {
      body.literals.push_back(atom_of(one_of(known_), body, true));
    }
    for (uint32_t i = 0, n = 1 + pick(chance(10) ? 6 : 2); i < n; ++i) fold(body, 2);
    if (chance(40)) test(body);
    return body;
  }

  std::string argument(const Solved& body) {
    if (body.bound.empty() || chance(10)) return small();
    return filled("min({}, 7)", {one_of(body.bound)});
  }

  std::string head_of(const Known& pred, const Solved& body) {
    std::vector<std::string> args;
    for (uint32_t c = 0; c < pred.arity; ++c) args.push_back(argument(body));
    return fmt::format("{}({})", pred.name, fmt::join(args, ", "));
  }

  void part() {
    const Known pred{fmt::format("p{}", count_++), 1 + pick(2)};
    say(fmt::format("pred {}({})", pred.name, pred.arity == 1 ? "u32" : "u32, u32"), {});
    if (chance(25)) {
      Solved body = solved({}, 1);
      const std::string of = body.bound.empty() ? "1" : one_of(body.bound);
      const std::string folded = filled("{}({})", {word({"min", "max"}), of});
      const std::string head = pred.arity == 1
                                   ? filled("{}({})", {pred.name, folded})
                                   : filled("{}({}, {})", {pred.name, some(body), folded});
      say(head + " :- ", shuffled(body.literals));
    } else {
      for (uint32_t i = 0, n = 1 + pick(2); i < n; ++i) {
        const Solved body = solved({}, 1);
        const std::string head = head_of(pred, body);
        say(head + " :- ", shuffled(body.literals));
      }
      if (chance(50)) {
        const Solved body = solved({pred}, 1);
        const std::string head = head_of(pred, body);
        say(head + " :- ", shuffled(body.literals));
      }
    }
    known_.push_back(pred);
  }

  std::vector<Known> known_;
};

}  // namespace xlog::engine
