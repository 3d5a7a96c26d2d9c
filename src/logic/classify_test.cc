#include "logic/classify.h"

#include "logic/test_program.h"

namespace xlog::logic {
namespace {

struct Case {
  std::string_view program;
  std::string_view predicate;
  ComponentClass klass;
  std::string_view reason;
};

constexpr auto kDetermined = ComponentClass::Determined;
constexpr auto kModalCycle = ComponentClass::PositiveModalCycle;
constexpr auto kUndetermined = ComponentClass::Undetermined;

TEST(Classify, EachComponentHasAClassAndAReason) {
  const Case cases[] = {
      {"e(1, 2). p(X) :- e(X, _), not q(X). q(X) :- e(_, X).", "p/1", kDetermined, ""},
      {"e(1, 2). t(X, Y) :- e(X, Y). t(X, Z) :- t(X, Y), e(Y, Z).", "t/2", kDetermined, ""},
      {"q. p :- know q. r :- not possible p.", "r/0", kDetermined, ""},
      {"q. { p } :- q.", "p/0", kUndetermined, "choice in rule at 1:4"},
      {"{ p }.\nr :- p.\ns :- not r.", "s/0", kUndetermined, "depends on r/0"},
      {"{ p }.\nr :- p.", "r/0", kUndetermined, "depends on p/0"},
      {"\na ; b.", "b/0", kUndetermined, "disjunction in rule at 2:1"},
      {"p :- not p.", "p/0", kUndetermined, "cycle through negation: p <- not p"},
      {"p :- not q. q :- not p.", "p/0", kUndetermined,
       "cycle through negation: p <- not q <- not p"},
      {"p :- not q. q :- r. r :- p.", "r/0", kUndetermined,
       "cycle through negation: p <- not q <- r <- p"},
      {"p :- not not p.", "p/0", kUndetermined, "cycle through negation: p <- not not p"},
      {"p :- not know p.", "p/0", kUndetermined, "cycle through negation: p <- not know p"},
      {"p :- not know not p.", "p/0", kUndetermined, "cycle through negation: p <- not know not p"},
      {"p :- know p.", "p/0", kModalCycle, "cycle through a modal literal: p <- know p"},
      {"p :- possible q. q :- p.", "q/0", kModalCycle,
       "cycle through a modal literal: p <- possible q <- p"},
      {"p :- know p. r :- not p.", "r/0", kModalCycle, "depends on p/0"},
      {"0.3::p. q :- p.", "p/0", kUndetermined, "probabilistic rule at 1:1"},
      {"0.3::p. q :- p.", "q/0", kUndetermined, "depends on p/0"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.program);
    const TestProgram test(c.program);
    ASSERT_TRUE(test.analysis) << test.rendered();
    EXPECT_EQ(spelling(test.component(c.predicate).klass), spelling(c.klass));
    EXPECT_EQ(test.component(c.predicate).reason, c.reason);
  }
}

TEST(Classify, AProgramIsDeterminedWhenAllItsComponentsAre) {
  EXPECT_TRUE(TestProgram("p(1). q(X) :- p(X), not r(X). r(2).").analysis->determined);
  EXPECT_TRUE(TestProgram("p(1). :- p(X), X > 7.").analysis->determined);
  EXPECT_FALSE(TestProgram("p(1). { q(X) : p(X) }.").analysis->determined);
  EXPECT_FALSE(TestProgram("p :- know p.").analysis->determined);
}

TEST(Classify, ModalLiteralsAreFoundWhereverTheyStand) {
  EXPECT_FALSE(TestProgram("p(1). q(X) :- p(X).").analysis->has_modal);
  EXPECT_TRUE(TestProgram("p(1). q(X) :- p(X), know p(X).").analysis->has_modal);
  EXPECT_TRUE(TestProgram("p(1). :- not know p(1).").analysis->has_modal);
  EXPECT_TRUE(TestProgram("p(1). ?- possible p(X).").analysis->has_modal);
  EXPECT_TRUE(TestProgram("p(1). q(N) :- N = count : { know p(X) }.").analysis->has_modal);
  EXPECT_TRUE(TestProgram("p(1). { q(X) : know p(X) }.").analysis->has_modal);
}

}  // namespace
}  // namespace xlog::logic
