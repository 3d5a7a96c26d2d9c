// Multiway joins against the reference evaluator: bodies of random shape over relations dense
// enough that the planner takes variables from several atoms at once.
#include <gtest/gtest.h>

#include <random>

#include "engine/engine_fixture.h"

namespace xlog::engine {
namespace {

// Values of one type, by number.
struct Domain {
  const char* type;
  std::string (*value)(uint32_t);
};
const Domain kDomains[] = {
    {"u32", [](uint32_t i) { return std::to_string(i); }},
    {"i64", [](uint32_t i) { return std::to_string(static_cast<int>(i) - 4); }},
    {"symbol", [](uint32_t i) { return fmt::format("s{}", i); }},
    // Too far apart for bits.
    {"u32", [](uint32_t i) { return std::to_string(i * 400'000'000u); }},
};

class PatternGenerator {
 public:
  explicit PatternGenerator(uint32_t seed) : random_(seed) {}

  std::string run() {
    domain_ = &kDomains[below(4)];
    values_ = 4 + below(6);
    std::string text;
    for (uint32_t r = 0; r < 3; ++r) text += relation(r);
    const std::string body = pattern();
    text += fmt::format("n(count()) :- {}.\n", body);
    text += fmt::format("g({}, count()) :- {}.\n", variables_[0], body);
    text += fmt::format("h({}) :- {}.\n", fmt::join(head(), ", "), body);
    text += "?- n(C).\n?- g(A, C).\n?- h(A, B).\n";
    if (below(3) == 0) text += recursion();
    return text;
  }

 private:
  uint32_t below(uint32_t n) { return static_cast<uint32_t>(random_() % n); }
  std::string value() { return domain_->value(below(values_)); }

  std::string relation(uint32_t r) {
    arity_[r] = r == 2 ? 3 : 2;
    std::string columns = domain_->type;
    for (uint32_t c = 1; c < arity_[r]; ++c) columns += fmt::format(", {}", domain_->type);
    std::string text = fmt::format("pred r{}({}).\n", r, columns);
    const uint32_t rows = values_ * (3 + below(4)) * (arity_[r] - 1);
    for (uint32_t i = 0; i < rows; ++i) {
      std::string row = value();
      for (uint32_t c = 1; c < arity_[r]; ++c) row += ", " + value();
      text += fmt::format("r{}({}).\n", r, row);
    }
    return text;
  }

  // A cycle through all variables, so that each has two atoms, and a few more atoms across.
  std::string pattern() {
    const uint32_t count = 3 + below(3);
    variables_.clear();
    for (uint32_t v = 0; v < count; ++v) variables_.push_back(fmt::format("X{}", v));
    std::vector<std::string> atoms;
    for (uint32_t v = 0; v < count; ++v) {
      atoms.push_back(atom(variables_[v], variables_[(v + 1) % count]));
    }
    for (uint32_t more = below(3); more > 0; --more) {
      atoms.push_back(atom(variables_[below(count)], variables_[below(count)]));
    }
    if (below(4) == 0) atoms.push_back(fmt::format("not r0({}, {})", variables_[0], value()));
    if (below(4) == 0) atoms.push_back(fmt::format("{} != {}", variables_[0], variables_[1]));
    return fmt::format("{}", fmt::join(atoms, ", "));
  }

  std::string atom(const std::string& a, const std::string& b) {
    const uint32_t r = below(3);
    std::string first = a, second = b;
    if (below(2) == 0) std::swap(first, second);
    if (r < 2) return fmt::format("r{}({}, {})", r, first, second);
    const uint32_t kind = below(4);
    const std::string third = kind == 0 ? value()
                              : kind == 1
                                  ? "_"
                                  : variables_[below(static_cast<uint32_t>(variables_.size()))];
    switch (below(3)) {
      case 0:
        return fmt::format("r2({}, {}, {})", third, first, second);
      case 1:
        return fmt::format("r2({}, {}, {})", first, third, second);
      default:
        return fmt::format("r2({}, {}, {})", first, second, third);
    }
  }

  std::vector<std::string> head() { return {variables_[0], variables_.back()}; }

  // A component that grows while its rows are met.
  std::string recursion() {
    return fmt::format(
        "t(X, Y) :- r0(X, Y).\nt(X, Z) :- t(X, Y), {}, r1(X, Z).\n"
        "t(X, W) :- t(X, Y), t(Y, Z), t(X, Z), r1(Z, W), t(Y, W).\n?- t(A, B).\n",
        below(2) == 0 ? "t(Y, Z)" : "r0(Y, Z)");
  }

  std::mt19937 random_;
  const Domain* domain_ = nullptr;
  uint32_t values_ = 0;
  uint32_t arity_[3] = {};
  std::vector<std::string> variables_;
};

TEST(Multiway, RandomPatternsHaveTheAnswersOfTheReference) {
  for (uint32_t seed = 0; seed < 20 / kPartOfWork; ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    expect_same(PatternGenerator(seed).run());
    if (HasFailure()) break;
  }
}

// Hubs: lists of very different lengths, so that both ways of a meet are taken, and the marks of
// an instance change and come back.
TEST(Multiway, SkewedListsTakeBothWays) {
  std::string text;
  for (uint32_t i = 0; i < 400; ++i) {
    text += fmt::format("edge(0, {}).\nedge({}, 0).\nedge(1, {}).\n", i, i, i * 2);
    text += fmt::format("edge({}, {}).\nedge({}, {}).\n", i, i * 7 % 400, i % 20, i * 3 % 400);
  }
  text += R"(
    triangle(count()) :- edge(X, Y), edge(Y, Z), edge(X, Z).
    clique(count()) :- edge(X, Y), edge(Y, Z), edge(X, Z), edge(Z, W), edge(X, W), edge(Y, W).
    corner(X, count()) :- edge(X, Y), edge(Y, Z), edge(Z, X).
    ?- triangle(N). ?- clique(N). ?- corner(X, N).
  )";
  const Outcome wanted = run(text, Which::Reference);
  for (const char* device : {"interp", "cpu", "native"}) {
    EXPECT_EQ(run(text, Which::Engine, device).text, wanted.text) << device;
  }
}

// A lookup has the rows of a key in any order; a meet that passes over a column wants them sorted,
// by the same index.
TEST(Multiway, RowsThatWereOnlyCountedAreSortedWhenAMeetAsks) {
  for (uint32_t apart : {1u, 50u}) {  // values next to each other, and such as need ranks
    std::string text = "pred e(u32, u32, u32).\npred f(u32, u32).\n";
    for (uint32_t i = 0; i < 3000; ++i) {
      text += fmt::format("e({}, {}, {}).\n", i * 7 % 40 * apart, i * 11 % 30 * apart, i % 50);
      text += fmt::format("f({}, {}).\n", i % 40 * apart, i * 13 % 37 * apart);
    }
    text += R"(
      some(Y, Z) :- e(X, Y, Z), f(X, X).
      looked(X, count()) :- f(A, X), e(X, Y, Z), some(Y, A).
      met(X, count()) :- f(A, X), e(X, Y, _), f(A, Y), f(X, Y).
      ?- looked(X, N). ?- met(X, N).
    )";
    const Outcome wanted = run(text, Which::Reference);
    ASSERT_TRUE(wanted.answered);
    for (const char* device : {"interp", "cpu", "native"}) {
      EXPECT_EQ(run(text, Which::Engine, device).text, wanted.text) << device << " " << apart;
    }
  }
}

}  // namespace
}  // namespace xlog::engine
