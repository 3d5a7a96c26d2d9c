// Random programs over a small graph as source text for tests of worlds: pairs, recursion, `_`
// under negation and modal operators, and rows that are certain beside rows that are open.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <string>

#include "lang/random_text.h"

namespace xlog::epistemic {

class RandomGraphSource : lang::RandomText {
 public:
  explicit RandomGraphSource(uint32_t seed) : RandomText(seed) {}

  std::string run() {
    line("n(1..3).");
    for (uint32_t i = 0; i < 3; ++i) line(fmt::format("e({}, {}).", value(), value()));
    if (chance(50)) line(fmt::format("{}({}, {}).", pair(), value(), value()));
    if (chance(30)) line(fmt::format("{}({}).", name(), value()));
    if (chance(60)) line(fmt::format("{{ {}(X, Y) }} :- e(X, Y){}.", pair(), more()));
    if (chance(40)) {
      line(fmt::format("{} {{ {}(X) : n(X){} }} {}.", pick(2), name(), more(), 1 + pick(2)));
    }
    if (chance(50)) line(fmt::format("{0}(X, Z) :- {0}(X, Y), {1}(Y, Z).", pair(), any_pair()));
    const uint32_t rules = 1 + pick(4);
    for (uint32_t i = 0; i < rules; ++i) rule();
    if (chance(30)) ring();
    if (chance(30)) line(fmt::format("total(N) :- N = count : {{ {}(X, Y) }}.", pair()));
    while (chance(30)) line(fmt::format(":- e(X, Y){}{}.", more(), more()));
    for (const char* query : {"f(X, Y)", "g(X, Y)", "p(X)", "q(X)", "r(X), not p(X)"}) {
      line(fmt::format("?- {}.", query));
    }
    return text_;
  }

 private:
  std::string value() { return std::to_string(1 + pick(3)); }
  std::string pair() { return chance(50) ? "f" : "g"; }
  std::string any_pair() { return chance(40) ? "e" : pair(); }
  std::string argument() { return chance(15) ? value() : chance(50) ? "X" : "Y"; }

  std::string atom(bool may_ignore) {
    if (chance(40)) return fmt::format("{}({})", name(), argument());
    const std::string second = may_ignore && chance(35) ? "_" : argument();
    return fmt::format("{}({}, {})", any_pair(), argument(), second);
  }

  // Another literal over X and Y, or nothing.
  std::string more() {
    if (chance(35)) return "";
    constexpr const char* kForms[] = {
        "",          "",          "not ",          "not not ",      "know ",
        "possible ", "not know ", "not possible ", "not know not ", "not possible not "};
    if (chance(10)) return ", X < Y";
    return fmt::format(", {}{}", kForms[pick(10)], atom(true));
  }

  std::string head() {
    return chance(50) ? fmt::format("{}(X)", name())
                      : fmt::format("{}({}, {})", pair(), argument(), argument());
  }

  // A cyclic body, whose literals bind their variables under `know` and `possible` too.
  void ring() {
    const auto side = [&](const char* from, const char* to) {
      constexpr const char* kForms[] = {"", "know ", "possible "};
      return fmt::format("{}{}({}, {})", kForms[pick(3)], any_pair(), from, to);
    };
    const std::string last = chance(50) ? side("W", "X") : side("Z", "X");
    std::string body = fmt::format("{}, {}, {}", side("X", "Y"), side("Y", "Z"), last);
    if (last.find('W') != std::string::npos) body += ", " + side("Z", "W");
    line(chance(20) ? fmt::format(":- {}{}.", body, more())
                    : fmt::format("{} :- {}.", head(), body));
  }

  void rule() {
    const std::string body = fmt::format("{}(X, Y){}{}", any_pair(), more(), more());
    if (chance(20)) return line(fmt::format("{} ; {} :- {}.", head(), head(), body));
    if (chance(10)) return line(fmt::format("{{ {} }} :- {}.", head(), body));
    if (chance(10)) return line(fmt::format("{}(X) :- know {}(X, _){}.", name(), pair(), more()));
    line(fmt::format("{} :- {}.", head(), body));
  }
};

}  // namespace xlog::epistemic
