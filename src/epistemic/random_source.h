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
    if (chance(30)) one_per_group();
    for (const char* query : {"p(X)", "q(X)", "r(X)", "-p(X)", "s"}) {
      line(fmt::format("?- {}.", query));
    }
    if (aggregates_) line("?- total(N).");
    if (places_) line("?- at(X, Y).");
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

  // Constraints that say the same of two values, over rows that may or may not hold, and some that
  // nearly do.
  void one_per_group() {
    places_ = chance(70);
    if (places_) {
      constexpr const char* kGuesses[] = {"{ at(X, Y) : d(X), d(Y) }.",
                                          "1 { at(X, Y) : d(X) } 2 :- d(Y).",
                                          "at(X, Y) :- d(X), d(Y), not know not at(X, Y).",
                                          "{ at(X, Y) } :- d(X), d(Y), not r(X).  at(1, 1)."};
      line(kGuesses[pick(4)]);
      if (chance(40)) line("{ at(3, 1) }. { at(3, 2) }. at(2, 3).");
    }
    constexpr const char* kPairs[][2] = {{"at(X, T)", "at(Y, T)"},
                                         {"at(X, T)", "at(Y, U)"},
                                         {"at(T, X)", "at(T, Y)"},
                                         {"at(X, 1)", "at(Y, 1)"},
                                         {"at(X, _)", "at(Y, _)"},
                                         {"at(X, T), p(X)", "at(Y, T), p(Y)"},
                                         {"at(X, T), at(X, U)", "at(Y, T), at(Y, U)"},
                                         {"at(X, Y)", "at(Y, X)"},
                                         {"at(X, T)", "at(Y, 1)"}};
    constexpr const char* kForms[] = {
        "", "", "", "not ", "know ", "possible ", "not know not ", "not possible not "};
    do {
      std::string left = fmt::format("{}(X)", name()), right = left.substr(0, 1) + "(Y)";
      if (places_ && chance(75)) {
        const auto& pair = kPairs[pick(9)];
        left = pair[0];
        right = pair[1];
      }
      const std::string form = kForms[pick(8)];
      const std::string compare = chance(40) ? "<" : chance(50) ? "!=" : ">";
      std::string text = fmt::format("{}{}, {}{}, X {} Y", form, left, form, right, compare);
      for (const char* v : {"X", "Y", "T", "U"}) {
        const bool is_bound = form.empty() || text.find(v) == std::string::npos;
        if (!is_bound) text = fmt::format("d({}), {}", v, text);
      }
      if (chance(30)) text += ", " + literal(text.find('T') != std::string::npos ? "T" : value());
      if (chance(10)) text += ", " + literal(chance(50) ? "X" : "Y");
      line(fmt::format(":- {}.", text));
    } while (chance(30));
  }

  uint32_t values_ = 1;
  bool places_ = false;
  bool aggregates_ = false;
};

}  // namespace xlog::epistemic
