// Random programs with a minimum or maximum inside its own recursion, used monotonically and
// without cycles that improve it for ever.
#pragma once

#include "engine/random_program.h"

namespace xlog::engine {

class BestProgramGenerator : public ProgramGenerator {
 public:
  explicit BestProgramGenerator(uint64_t seed) : ProgramGenerator(seed) {}

  RandomProgram run() {
    palette_ = {static_cast<Type>(pick(6))};
    if (chance(60)) palette_.push_back(random_type());
    pragmas();
    say("func chosen(A, B, X, Y) = if A < B then X else Y", {});
    const uint32_t bases = 1 + pick(3);
    for (uint32_t i = 0; i < bases; ++i) facts(declare("b", columns(1, 4)));
    if (chance(30)) component();
    best_component();
    if (chance(30)) best_component();
    if (chance(60)) component();
    if (chance(10)) guess();
    queries();
    if (chance(30)) std::shuffle(program_.statements.begin(), program_.statements.end(), random_);
    return std::move(program_);
  }

 private:
  struct BestPredicate {
    Predicate pred;
    uint32_t column = 0;
  };

  // One or two predicates that fold `type` in the same way, and maybe a plain one between them.
  void best_component() {
    const bool least = chance(60);
    Type type = Type::U32;
    for (Type known : palette_) type = is_number(known) ? known : type;
    std::vector<BestPredicate> group(chance(70) ? 1 : 2);
    for (BestPredicate& best : group) {
      std::vector<Type> types = columns(0, 3);
      best.column = pick(types.size() + 1);
      types.insert(types.begin() + best.column, type);
      best.pred = declare("m", types);
    }
    const Predicate between = declare("q", {one_of(palette_)});
    const bool has_between = chance(30);
    for (const BestPredicate& best : group) {
      start(best, least);
      const uint32_t rules = 1 + pick(2);
      for (uint32_t i = 0; i < rules; ++i) {
        step(best, i == 0 ? best : one_of(group), group, least, has_between ? &between : nullptr);
      }
    }
    if (has_between) {
      Body b;
      b.literals.push_back(atom_of(b, one_of(group), "_"));
      positive(b, below_);
      std::string arg = head_argument(b, between.columns[0], true);
      say_rule(atom(between, {arg}), b);
    }
    for (const BestPredicate& best : group) below_.push_back(best.pred);
    below_.push_back(between);
  }

  // What the recursion starts from: facts, plain rules, rules that fold.
  void start(const BestPredicate& best, bool least) {
    const uint32_t clauses = 1 + pick(2);
    for (uint32_t i = 0; i < clauses; ++i) {
      if (chance(40)) {
        std::vector<std::string> args;
        for (Type type : best.pred.columns) args.push_back(constant(type));
        say(atom(best.pred, args), {});
        continue;
      }
      Body b = body({}, true);
      const std::string value = head_argument(b, best.pred.columns[best.column], true);
      say_head(best, b, value, chance(50), least);
    }
  }

  void say_head(const BestPredicate& best, Body& b, const std::string& value, bool folds,
                bool least) {
    std::vector<std::string> args;
    for (uint32_t c = 0; c < best.pred.columns.size(); ++c) {
      if (c != best.column) {
        args.push_back(head_argument(b, best.pred.columns[c], true));
      } else {
        args.push_back(folds ? fmt::format("{}({})", least ? "min" : "max", value) : value);
      }
    }
    if (b.literals.empty()) b.literals.push_back("1 < 2");
    say_rule(atom(best.pred, args), b);
  }

  // `value` stands in the column that is folded; the other arguments are as in any body.
  std::string atom_of(Body& b, const BestPredicate& best, const std::string& value) {
    Predicate others = best.pred;
    others.columns.erase(others.columns.begin() + best.column);
    others.name = "";
    std::string text = others.columns.empty() ? "()" : atom_over(b, others, true);
    std::vector<std::string> args;
    for (size_t at = 1; at + 1 < text.size();) {
      // No argument has a comma of its own except for lists and compounds in constants.
      size_t end = at, depth = 0;
      for (; end + 1 < text.size() && (depth > 0 || text[end] != ','); ++end) {
        if (text[end] == '[' || text[end] == '(') ++depth;
        if (text[end] == ']' || text[end] == ')') --depth;
      }
      args.push_back(text.substr(at, end - at));
      at = end + 2;
    }
    args.insert(args.begin() + best.column, value);
    return atom(best.pred, args);
  }

  // A rule that reads the recursion, once or twice.
  void step(const BestPredicate& head, const BestPredicate& first,
            const std::vector<BestPredicate>& group, bool least, const Predicate* between) {
    Body b;
    const Type type = head.pred.columns[head.column];
    std::string value = "V0";
    b.literals.push_back(atom_of(b, first, "V0"));
    if (chance(30)) {
      b.literals.push_back(atom_of(b, one_of(group), chance(30) ? "_" : "V1"));
      if (b.literals.back().find("V1") != std::string::npos) {
        value = fmt::format("{}(V0, V1)", chance(50) ? "max" : "min");
      }
    }
    if (between != nullptr && chance(50)) b.literals.push_back(atom_over(b, *between, true));
    const uint32_t atoms = 1 + pick(2);
    for (uint32_t i = 0; i < atoms; ++i) positive(b, below_);
    while (chance(15)) negative(b);
    while (!b.variables.empty() && chance(20)) comparison(b);
    if (chance(25)) {
      b.literals.push_back(
          filled("V0 {} {}", {word({least ? "<" : ">", least ? "<=" : ">="}), leaf(b, type)}));
    }
    value = rising(b, value, type, least);
    if (chance(30)) {
      b.literals.push_back(fmt::format("N = {}", value));
      value = "N";
    }
    say_head(head, b, value, &head == &first || chance(70), least);
  }

  // Rises with `value`, gets no better by itself, and does not wrap.
  std::string rising(const Body& b, const std::string& value, Type type, bool least) {
    const std::string bound = is_float(type) ? "100.0" : "100";
    const std::string by = is_float(type) ? word({"0.0", "0.5", "2.0"}) : word({"0", "1", "3"});
    switch (pick(5)) {
      case 0:
        return value;
      case 1:
        return filled("{}({}, {})", {word({"min", "max"}), value, leaf(b, type)});
      case 2:
        if (is_integer(type)) return fmt::format("{} / 2", value);
        break;
      case 3:
        return filled("chosen({}, {}, {}, {})",
                      {leaf(b, type), leaf(b, type), value, leaf(b, type)});
      default:
        break;
    }
    return least ? fmt::format("min({}, {}) + {}", value, bound, by)
                 : fmt::format("max({}, {}) - {}", value, bound, by);
  }
};

}  // namespace xlog::engine
