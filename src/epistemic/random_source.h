// Random programs as source text for tests of worlds: few atoms, all that makes several worlds or
// world views, and aggregates over what is open.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <vector>

#include "lang/random_text.h"

namespace xlog::epistemic {

class RandomSource : lang::RandomText {
 public:
  explicit RandomSource(uint32_t seed) : RandomText(seed) {}

  std::string run() {
    values_ = 1 + pick(2);
    line(fmt::format("d(1..{}).", values_));
    for (const char* name : {"p", "q", "r"}) {
      if (chance(40)) guess(name);
    }
    const uint32_t rules = 1 + pick(4);
    for (uint32_t i = 0; i < rules; ++i) rule();
    if (chance(50)) aggregate();
    while (chance(30)) line(fmt::format(":- {}.", body(false)));
    for (const char* query : {"p(X)", "q(X)", "r(X)", "-p(X)", "s"}) {
      line(fmt::format("?- {}.", query));
    }
    if (aggregates_) line("?- total(N).");
    return text_;
  }

 private:
  void guess(const std::string& name) {
    const char* const bounds[][2] = {{"", ""}, {"1 ", " 1"}, {"1 ", " 2"}, {"", " 1"}, {"2 ", ""}};
    const auto& bound = bounds[pick(5)];
    const std::string condition = chance(20) ? ", " + literal("X") : "";
    std::string guess =
        fmt::format("{}{{ {}(X) : d(X){} }}{}", bound[0], name, condition, bound[1]);
    if (chance(20)) guess += fmt::format(" :- {}", literal(value()));
    line(guess + ".");
  }

  std::string value() { return std::to_string(1 + pick(values_)); }

  // A literal of any form over `argument`.
  std::string literal(const std::string& argument) {
    std::string atom = chance(15) ? "s" : fmt::format("{}({})", name(), argument);
    if (atom[0] == 'p' && chance(20)) atom = "-" + atom;
    constexpr const char* kForms[] = {
        "",          "",          "not ",          "not not ",      "know ",
        "possible ", "not know ", "not possible ", "not know not ", "not possible not "};
    return kForms[pick(10)] + atom;
  }

  // With or without a variable X that d binds.
  std::string body(bool binds) {
    binds |= chance(50);
    std::string text = binds ? "d(X)" : "";
    const uint32_t literals = pick(3) + (binds ? 0 : 1);
    for (uint32_t i = 0; i < literals; ++i) {
      if (!text.empty()) text += ", ";
      text += literal(binds && chance(75) ? "X" : value());
    }
    return text;
  }

  void rule() {
    switch (pick(8)) {
      case 0:
        return line(fmt::format("{}(X) ; {}(X) :- {}.", name(), name(), body(true)));
      case 1:
        return line(fmt::format("s :- {}.", body(false)));
      case 2:
        return line(fmt::format("-p(X) :- {}.", body(true)));
      case 3:
        return line(fmt::format("{}({}) :- {}.", name(), value(), body(false)));
      case 4:
        return line(fmt::format("{{ {}(X) }} :- {}.", name(), body(true)));
      default:
        return line(fmt::format("{}(X) :- {}.", name(), body(true)));
    }
  }

  // Over rows that may or may not hold, and read by what lies above.
  void aggregate() {
    aggregates_ = true;
    constexpr const char* kFolds[] = {"count", "sum X", "min X", "max X", "avg X"};
    const std::string fold = kFolds[pick(5)];
    const std::string what = chance(30) ? literal("X") : name() + "(X)";
    if (chance(70)) {
      line(fmt::format("total(N) :- N = {} : {{ d(X), {} }}.", fold, what));
    } else {
      line(fmt::format("total({}(X)) :- d(X), {}.", fold.substr(0, fold.find(' ')), what));
    }
    const bool is_float = fold[0] == 'a';
    const std::string number = is_float ? "1.5" : value();
    constexpr const char* kReads[] = {":- total(N), N > {}.",
                                      ":- know total({}).",
                                      ":- not possible total({}).",
                                      "above :- possible total({}). :- not above.",
                                      ":- not know total({}), possible s.",
                                      "{{ above }} :- total({}). :- not possible above."};
    if (chance(60)) line(fmt::format(fmt::runtime(kReads[pick(6)]), number));
  }

  uint32_t values_ = 1;
  bool aggregates_ = false;
};

}  // namespace xlog::epistemic
