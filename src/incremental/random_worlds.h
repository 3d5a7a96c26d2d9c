// Random programs in which worlds differ, over facts that come and go: many small parts that do not
// influence each other, some that do, and all that makes several worlds or world views, or none.
// Some fold over what worlds differ in, compute with it, or choose as many as they computed. For
// tests.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <vector>

#include "lang/random_text.h"

namespace xlog::incremental {

class RandomWorlds : lang::RandomText {
 public:
  enum class With : uint8_t { Atoms, Folds };
  explicit RandomWorlds(uint64_t seed, With with = With::Atoms)
      : RandomText(static_cast<uint32_t>(seed)), with_(with) {}

  std::string run() {
    items_ = with_ == With::Folds ? 1 + pick(4) : 2 + pick(6);
    line("pred item(u32). pred link(u32, u32). pred mark(u32). pred never(u32).");
    for (uint32_t i = 1; i <= items_; ++i) {
      if (chance(80)) line(fmt::format("item({}).", i));
      if (chance(40)) line(fmt::format("mark({}).", i));
      if (chance(45)) line(fmt::format("link({}, {}).", i, 1 + pick(items_)));
    }
    line(fmt::format("never({}).", items_ + 5));
    if (chance(40)) line("reach(X, Y) :- link(X, Y). reach(X, Z) :- reach(X, Y), link(Y, Z).");
    const uint32_t guesses = 1 + pick(2);
    for (uint32_t i = 0; i < guesses; ++i) guess();
    const uint32_t rules = 1 + pick(5);
    for (uint32_t i = 0; i < rules; ++i) rule();
    while (chance(35)) constraint();
    if (with_ == With::Folds) add_folds();
    for (const char* query : {"p(X)", "q(X)", "r(X)", "t(X, Y)", "-p(X)", "s"}) {
      line(fmt::format("?- {}.", query));
    }
    line("?- item(X), p(X), not know q(X).");
    if (chance(30)) line("?- mark(X), not t(X, _).");
    return text_;
  }

 private:
  std::string form() {
    constexpr const char* kForms[] = {
        "",      "",          "",          "not ",          "not ",          "not not ",
        "know ", "possible ", "not know ", "not possible ", "not know not ", "not possible not "};
    return kForms[pick(12)];
  }

  // Over variables that are bound, mostly X.
  std::string literal() {
    const uint32_t kind = pick(20);
    if (kind == 0) return form() + "s";
    if (kind == 1) return form() + "t(X, X)";
    if (kind == 2) return form() + "-p(X)";
    if (kind == 3) return fmt::format("{}{}({})", form(), name(), 1 + pick(items_));
    if (kind == 4) return (chance(50) ? "not " : "know ") + std::string("t(X, _)");
    if (kind == 5) return chance(50) ? "mark(X)" : "not mark(X)";
    if (kind == 6) return "not never(X)";
    return form() + name() + "(X)";
  }

  std::string literals(uint32_t most) {
    std::string text;
    for (uint32_t i = pick(most + 1); i > 0; --i) text += ", " + literal();
    return text;
  }

  // Facts that come and go bind X.
  std::string base() {
    constexpr const char* kBases[] = {"item(X)", "item(X)", "mark(X)", "link(X, X)", "link(X, _)"};
    return kBases[pick(5)];
  }

  void guess() {
    switch (pick(6)) {
      case 0:
        return line(fmt::format("{{ {}(X) }} :- {}{}.", name(), base(), literals(1)));
      case 1: {
        const char* const bounds[][2] = {{"1 ", " 1"}, {"", " 1"}, {"1 ", ""}, {"2 ", " 3"}};
        const auto& bound = bounds[pick(4)];
        const std::string condition = chance(30)   ? ", not " + name() + "(X)"
                                      : chance(10) ? ", not t(X, _)"
                                                   : "";
        return line(
            fmt::format("{}{{ {}(X) : item(X){} }}{}.", bound[0], name(), condition, bound[1]));
      }
      case 2:
        return line(fmt::format("1 {{ t(X, Y) : link(X, Y) ; {}(X) }} 1 :- {}{}.", name(), base(),
                                literals(1)));
      case 3:
        return line(fmt::format("{}(X) ; {}(X) :- {}{}.", name(), name(), base(), literals(1)));
      case 4:
        return line(fmt::format("p(X) :- {0}, not q(X). q(X) :- {0}, not p(X).", base()));
      default:
        return line(fmt::format("{0}(X) :- {1}, not know not {0}(X).", name(), base()));
    }
  }

  void rule() {
    switch (pick(9)) {
      case 0:
        return line(fmt::format("s :- {}{}.", base(), literals(2)));
      case 1:
        return line(fmt::format("-p(X) :- {}{}.", base(), literals(2)));
      case 2:
        return line(fmt::format("{}(Y) :- {}(X), link(X, Y){}.", name(), name(), literals(1)));
      case 3:
        return line(fmt::format("t(X, Y) :- {}(X), link(X, Y).", name()));
      case 4:
        return line("t(X, Z) :- t(X, Y), t(Y, Z).");
      case 5:
        return line(fmt::format("{}(X) :- t(X, _){}.", name(), literals(1)));
      default:
        return line(fmt::format("{}(X) :- {}{}.", name(), base(), literals(2)));
    }
  }

  void constraint() {
    switch (pick(5)) {
      case 0:
        return line(":- mark(X), link(X, X).");
      case 1:
        return line(fmt::format(":- {}{}.", base(), literals(2)));
      case 2:
        return line(fmt::format(":- {}(X), {}(Y), link(X, Y), X != Y.", name(), name()));
      case 3:
        return line(fmt::format(":- know {}({}).", name(), 1 + pick(items_)));
      default:
        return line(fmt::format(":- mark(X), not possible {}(X).", name()));
    }
  }

  // ---- folds ----

  void add_folds() {
    line("pred few(u32). few(1).");
    if (chance(50)) line("few(2).");
    const uint32_t folds = 1 + pick(2);
    for (uint32_t i = 0; i < folds; ++i) fold();
    line("pred n(u32, u64). pred m(u64). pred w(u32). pred l(list<u32>).");
    line("pred least(u32). pred most(u32, u32). ?- n(X, N). ?- m(N). ?- w(X). ?- l(L).");
    line("?- least(X). ?- most(X, N).");
    if (chance(40)) line(fmt::format("?- N = count : {{ {}(X) }}.", name()));
    if (chance(20)) line(fmt::format("?- findall(X, {}(X), L).", name()));
    if (chance(40)) computed();
    if (chance(30)) line(fmt::format("{{ w(X) }} :- {}, n(X, N), N > {}.", base(), pick(2)));
    if (chance(25)) line("m(sum(cast(X, u64))) :- w(X).");
    if (chance(25)) line(fmt::format(":- {}, w(X){}.", folded("N"), literals(1)));
    while (chance(20)) {
      line(fmt::format(":- {}, N {} {}{}.", folded("N"), chance(50) ? ">" : "<", pick(3),
                       chance(30) ? ", mark(X), " + form() + name() + "(X)" : ""));
    }
  }

  // An aggregate over what worlds differ in. X, where it stands outside too, groups.
  std::string folded(const std::string& result) {
    const std::string p = name();
    const std::string what = chance(60) ? "count" : "sum cast(Y, u64)";
    switch (pick(7)) {
      case 0:
        return fmt::format("{} = {} : {{ t(X, Y) }}", result, what);
      case 1:
        return fmt::format("{} = {} : {{ {}(Y), link(X, Y) }}", result, what, p);
      case 2:
        return fmt::format("{} = {} : {{ item(Y), {}{}(Y) }}", result, what, form(), p);
      case 3:
        return fmt::format("{} = {} : {{ link(X, Y), not t(Y, _) }}", result, what);
      case 4:
        return fmt::format("{} = count : {{ {}(Y), K = count : {{ t(Y, Z) }}, K > {} }}", result, p,
                           pick(2));
      case 5:
        return fmt::format("{} = sum cast(Y, u64) * 2 : {{ {}(Y), link(Y, _) }}", result, p);
      default:
        return fmt::format("{} = {} : {{ {}(Y) }}", result, what, p);
    }
  }

  void fold() {
    const std::string p = name();
    switch (pick(10)) {
      case 0:
        return line(fmt::format("n(X, count(Y)) :- {}(Y), link(X, Y){}.", p, literals(1)));
      case 1:
        return line("n(X, sum(cast(Y, u64))) :- t(X, Y).");
      case 2:
        return line(
            fmt::format("least({}(X)) :- {}(X){}.", chance(50) ? "min" : "max", p, literals(1)));
      case 3:
        return line(fmt::format("n(X, N) :- {}{}, {}.", base(), literals(1), folded("N")));
      case 4:
        return line(
            fmt::format("w(X) ; least(X) :- {}, {}, N > {}.", base(), folded("N"), pick(3)));
      case 5:
        return line(
            fmt::format("l(L) :- findall(Y, {}(Y), L). least(X) :- item(X), findall(Y, "
                        "t(X, Y), [_ | R]), {}(X).",
                        p, name()));
      case 6:
      case 9:
        return line(fmt::format("{}{{ w(X) : item(X), {}, N < 2 }}{} :- {}.",
                                chance(30) ? "1 " : "", folded("N"), chance(60) ? " 1" : "",
                                base()));
      case 7:
        return line(fmt::format("most(X, N) :- {}, N = {} Y : {{ {}(Y), link(X, Y) }}.", base(),
                                chance(50) ? "min" : "max", p));
      default:
        return line(fmt::format("m(N) :- {}.", folded("N")));
    }
  }

  void computed() {
    switch (pick(4)) {
      case 0:
        return line("N - 1 { w(X) : item(X) } N :- few(N).");
      case 1:
        return line(fmt::format("w(Z) :- {}(X), mark(Y), Z = X / (Y - 1).", name()));
      case 2:
        return line(
            fmt::format("{{ w(Z) : link(X, Y), Z = Y % (X - 1) }} :- {}, {}(X).", base(), name()));
      default:
        return line(fmt::format("{{ w(X) : {}(X) }} N + 1 :- few(N), 6 / (2 - N) > 1.", name()));
    }
  }

  With with_;
  uint32_t items_ = 1;
};

}  // namespace xlog::incremental
