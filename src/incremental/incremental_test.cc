// What holds for every batch, on programs that are easy to read.
#include "incremental/incremental.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/sanitized.h"
#include "incremental/script.h"

namespace xlog::incremental {
namespace {

using Way = Inspectable::Way;

constexpr const char* kPrograms[] = {
    // Linear, non-linear and three-way recursion.
    "edge(1, 2). edge(2, 3). edge(3, 1). edge(3, 4).\n"
    "path(X, Y) :- edge(X, Y). path(X, Z) :- path(X, Y), edge(Y, Z). ?- path(X, Y).\n",
    "edge(1, 2). edge(2, 3). edge(3, 1). edge(3, 4).\n"
    "path(X, Y) :- edge(X, Y). path(X, Z) :- path(X, Y), path(Y, Z). ?- path(X, Y).\n",
    "edge(1, 2). edge(2, 3). edge(3, 1). edge(3, 4).\n"
    "path(X, Y) :- edge(X, Y). path(X, W) :- path(X, Y), path(Y, Z), path(Z, W). ?- path(X, Y).\n",
    "up(1, 2). up(3, 2). up(4, 1). up(5, 3). flat(2, 2). down(2, 1). down(2, 3). down(1, 4).\n"
    "same(X, Y) :- flat(X, Y). same(X, Y) :- up(X, A), same(A, B), down(B, Y). ?- same(X, Y).\n",
    // Mutual recursion over a negated predicate, and base facts of what is derived.
    "next(1, 2). next(2, 3). next(3, 1). stop(3).\n"
    "even(1). even(Y) :- odd(X), next(X, Y), not stop(Y). odd(Y) :- even(X), next(X, Y).\n"
    "?- even(X). ?- odd(X).\n",
    // Negation of what recursion derives, `_` under `not`, aggregates above it.
    "edge(1, 2). edge(2, 3). edge(3, 1). node(1). node(2). node(3). node(4).\n"
    "path(X, Y) :- edge(X, Y). path(X, Z) :- path(X, Y), edge(Y, Z).\n"
    "alone(X) :- node(X), not path(X, _). apart(X, Y) :- node(X), node(Y), not path(X, Y).\n"
    "reached(X, count(Y)) :- path(X, Y). most(max(N)) :- reached(_, N).\n"
    "degree(X, N) :- node(X), N = count : { edge(X, Y) }.\n"
    "?- alone(X). ?- apart(X, Y). ?- reached(X, N). ?- most(N). ?- degree(X, N).\n",
    // 0.0 = -0.0, but they are two values: which one a row has is decided by what binds it.
    "p(0.0). p(-0.0). p(1.0). r(0.0). r(-0.0). s(1.0, -0.0).\n"
    "same(X, Y) :- p(X), Y = X, r(Y). equal(X, Y) :- p(X), r(Y), X = Y.\n"
    "both(X, Z) :- s(X, Y), p(Z), Y = Z, r(X). ?- same(X, Y). ?- equal(X, Y). ?- both(X, Z).\n",
    // Shortest ways on circles, some of equal length, and what reads them.
    "road(1, 2, 4). road(1, 3, 1). road(3, 2, 3). road(2, 4, 0). road(4, 2, 0). road(4, 3, 1).\n"
    "far(1, 0). far(Y, min(D + W)) :- far(X, D), road(X, Y, W).\n"
    "all(X, Y, min(W)) :- road(X, Y, W). all(X, Z, min(D + E)) :- all(X, Y, D), all(Y, Z, E).\n"
    "farthest(max(D)) :- far(_, D). unreached(X) :- road(X, _, _), not far(X, _).\n"
    "?- far(X, D). ?- all(X, Y, D). ?- farthest(D). ?- unreached(X).\n",
    // Folds of what lies below a recursion, as rows of the recursion.
    "k(1, 2). k(2, 3). k(2, 4). w(1, 7). w(3, 2).\n"
    "c(X, count(Y)) :- k(X, Y). c(Y, N) :- c(X, N), k(X, Y).\n"
    "high(sum(N)) :- w(_, N). high(X) :- low(X), w(X, _). low(X) :- high(N), k(X, _), X < N.\n"
    "?- c(X, N). ?- high(N). ?- low(X).\n",
    "pred item(u64). pred k(u64, u64). item(1). item(2). k(1, 2). k(2, 3). { take(X) } :- "
    "item(X).\n"
    "c(X, count(Y)) :- k(X, Y). c(Y, N) :- c(X, N), k(X, Y), not take(X).\n"
    "all(sum(X)) :- take(X). all(N) :- some(N). some(X) :- all(N), k(X, N).\n"
    "?- c(X, N). ?- all(N). ?- some(X).\n",
    // Two predicates and a plain one that improve each other, over what is not there; widest ways.
    "road(1, 2, 4). road(2, 3, 2). road(3, 1, 5). road(3, 4, 1). rail(2, 4, 1). shut(4, 4).\n"
    "foot(1, 0). foot(Y, min(D + W)) :- train(X, D), road(X, Y, W), not shut(X, Y).\n"
    "train(X, min(D + 1)) :- foot(X, D). train(Y, min(D)) :- train(X, D), rail(X, Y, _), seen(X).\n"
    "seen(X) :- foot(X, D), D < 9. wide(1, 8). wide(Y, max(min(T, W))) :- wide(X, T), road(X, Y, "
    "W).\n"
    "?- foot(X, D). ?- train(X, D). ?- seen(X). ?- wide(X, T).\n",
    // Values that rest on the row which they replace, and a minimum without a key.
    "n(5). n(3). n(4). m(9). m(min(X)) :- m(V), n(X). l(X, min(V)) :- m(V), n(X).\n"
    "l(Y, min(max(V, 2))) :- l(X, V), n(Y), X < Y. l(Y, min(X)) :- l(Y, V), n(X), X < 5.\n"
    "?- m(X). ?- l(X, V).\n",
    // Folds of every kind, floats among them.
    "sale(a, 0.1). sale(a, 0.2). sale(a, 1.0e20). sale(b, -1.0e20). sale(b, 3.5).\n"
    "total(S, sum(X)) :- sale(S, X). mean(S, avg(X)) :- sale(S, X).\n"
    "least(S, min(X)) :- sale(S, X). all(S, L) :- sale(S, _), findall(X, sale(S, X), L).\n"
    "soft(S, logsumexp(X)) :- sale(S, X). pred piece(symbol, u32). piece(a, 3). piece(a, 700).\n"
    "pieces(S, logsumexp(X)) :- piece(S, X).\n"
    "?- total(S, X). ?- mean(S, X). ?- least(S, X). ?- all(S, L). ?- soft(S, X). ?- pieces(S, "
    "X).\n",
    // Which instances have no value depends on the order of literals; `_` under `know` leaves it.
    "n(0). n(1). n(2). m(1, 5, 3). m(0, 6, 4). m(2, 0, 3).\n"
    "q(X) :- X != 6 / X, n(X), know m(X, _, 3). r(X) :- n(X), possible m(X, _, 4), Y = 4 % X.\n"
    "?- q(X). ?- r(X).\n",
    // Of several terms without a value in a head the first is met, and the first of what is folded.
    "n(0). n(1). n(2). m(0, 5). m(1, 0). m(2, 0).\n"
    "q(6 / X, Y % X) :- n(X), m(Y, _). r(X, sum(4 / Y), min(Z / Y)) :- m(X, Y), n(Z).\n"
    "s(6 / X, sum(Y / X), max(Y % X)) :- n(X), m(Y, _).\n"
    "?- q(X, Y). ?- r(X, S, M). ?- s(X, S, M).\n",
    // Folds inside folds, and several in one body.
    "edge(1, 2). edge(1, 3). edge(2, 3). edge(3, 1). node(1). node(2). node(3). node(4).\n"
    "busy(X, N) :- node(X), N = count : { node(Y), M = count : { edge(Y, _) }, M > X }.\n"
    "ways(X, S) :- node(X), S = sum M : { edge(X, Y), M = count : { edge(Y, _) } }.\n"
    "all(X, A, B, C) :- node(X), A = count : { edge(X, _) }, B = count : { edge(_, X) },\n"
    "  C = count : { edge(Y, Z), Y < X, Z > X }.\n"
    "pairs(X, sum(M)) :- node(X), node(Y), M = count : { edge(X, Z), edge(Z, Y) }.\n"
    "?- busy(X, N). ?- ways(X, S). ?- all(X, A, B, C). ?- pairs(X, M).\n",
    // Worlds: a disjunction, a choice with bounds, questions, and constraints that leave none.
    "item(1). item(2). item(3). odd(1). odd(3). link(1, 2). link(2, 3). out(2).\n"
    "top(X) ; low(X) :- item(X). top(X) :- odd(X). ask(X) :- item(X), not know top(X).\n"
    "1 { take(X, Y) : link(X, Y) } 1 :- item(X), not out(X). used(Y) :- take(_, Y).\n"
    "free(X) :- item(X), not used(X). :- out(X), know low(X), odd(X).\n"
    "?- top(X). ?- ask(X). ?- take(X, Y). ?- free(X).\n",
    // World views: guesses that exclude each other, and recursion over what may hold.
    "item(1). item(2). link(1, 2). link(2, 1). bar(3).\n"
    "go(X) :- item(X), not know stay(X). stay(X) :- item(X), not know go(X).\n"
    "reach(X, Y) :- go(X), link(X, Y). reach(X, Z) :- reach(X, Y), reach(Y, Z).\n"
    "round(X) :- possible reach(X, X). :- bar(X), go(X). ?- go(X). ?- reach(X, Y). ?- round(X).\n",
    // Folds over what worlds differ in, in heads and in constraints, over each other.
    "item(1). item(2). item(3). own(1). own(2). cost(1, 3). cost(2, 1). cost(3, 2). bar(2).\n"
    "{ take(X) } :- item(X), not own(X). have(X) :- own(X). have(X) :- take(X).\n"
    "paid(sum(C)) :- have(X), cost(X, C). dearest(X, max(C)) :- have(X), cost(X, C).\n"
    "beside(X, N) :- item(X), N = count : { have(Y), Y != X }. most(max(N)) :- beside(_, N).\n"
    ":- bar(X), N = count : { take(Y), not know have(Y) }, N > cast(X, u64).\n"
    "?- paid(S). ?- dearest(X, C). ?- beside(X, N). ?- most(N).\n",
    // One inside the other, in the condition of a choice, and as lists.
    "item(1). item(2). own(1). bar(2). { take(X) } :- item(X), not own(X).\n"
    "{ gift(X) : item(X), N = count : { take(Y), Y != X }, N < 1 } 1 :- bar(_).\n"
    "some(X) :- own(X), K = count : { item(Y), N = count : { take(Y), take(X) }, N < 1 }, K > 0.\n"
    "all(L) :- bar(_), findall(Y, take(Y), L). each(X, R) :- findall(X, take(X), [X | R]).\n"
    "?- gift(X). ?- some(X). ?- all(L). ?- each(X, R).\n",
    // The well-founded model: a game with circles, folds of what is undefined, and constraints.
    "#pragma semantics = well_founded\n"
    "move(1, 2). move(2, 1). move(2, 3). move(3, 1). lost(4). bar(3).\n"
    "win(X) :- move(X, Y), not win(Y), not lost(X). draw(X) :- move(X, _), possible win(X).\n"
    "wins(count(X)) :- win(X). ways(X, N) :- move(X, _), N = count : { move(X, Y), not win(Y) }.\n"
    ":- bar(X), win(X), lost(Y), X = Y. ?- win(X). ?- draw(X). ?- wins(N). ?- ways(X, N).\n",
    // Bounds of choices that are computed, and values that may not exist.
    "item(1). item(2). item(3). size(1). size(2). part(6, 0). part(6, 3). part(7, 2).\n"
    "N - 1 { take(X) : item(X) } N :- size(N). half(Z) :- take(X), part(Y, W), Z = Y / W.\n"
    "{ rest(Z) : part(Y, W), Z = Y % W } :- item(X), take(X), 6 / (X - 1) > 2.\n"
    ":- rest(X), half(Y), Y / X > 2. ?- take(X). ?- half(X). ?- rest(X).\n",
};

std::unique_ptr<Script> open(const std::string& source, uint64_t seed = 1,
                             Script::Judge judge = Script::Judge::Reference) {
  auto script = std::make_unique<Script>();
  EXPECT_TRUE(script->open(source, seed, {}, nullptr, judge)) << source;
  script->kept().set_way(Way::Keep);
  return script;
}

class Batches : public testing::TestWithParam<const char*> {};

TEST_P(Batches, ComeAndGoWithoutATrace) {
  for (uint64_t seed = 0; seed < 40 / kPartOfWork; ++seed) {
    SCOPED_TRACE(fmt::format("seed {}\n{}", seed, GetParam()));
    const auto script = open(GetParam(), seed);
    while (script->kept().digest().empty()) {
      ASSERT_EQ(script->apply(script->random_batch(false)), "");
    }
    const std::vector<std::string> before = script->kept().digest();
    std::vector<Script::Item> batch = script->random_batch(false);
    ASSERT_EQ(script->apply(batch), "");
    for (Script::Item& item : batch) item.weight = -item.weight;
    ASSERT_EQ(script->apply(batch), "");
    EXPECT_EQ(script->kept().digest(), before);
  }
}

TEST_P(Batches, GiveTheSameInAnyOrder) {
  for (uint64_t seed = 0; seed < 20 / kPartOfWork; ++seed) {
    SCOPED_TRACE(fmt::format("seed {}\n{}", seed, GetParam()));
    const auto together = open(GetParam(), seed), apart = open(GetParam(), seed);
    std::vector<Script::Item> items = together->everything();
    for (Script::Item& item : items) item.weight = 1;
    for (const auto& item : together->random_batch(false)) {
      if (item.weight > 0) items.push_back(item);
    }
    ASSERT_EQ(together->apply(items), "");
    std::shuffle(items.begin(), items.end(), std::mt19937_64(seed));
    while (!items.empty()) {
      const size_t size = std::min<size_t>(items.size(), 1 + apart->pick(3));
      const std::vector<Script::Item> some(items.end() - static_cast<ptrdiff_t>(size), items.end());
      items.resize(items.size() - size);
      ASSERT_EQ(apart->apply(some), "");
    }
    EXPECT_EQ(together->kept().digest(), apart->kept().digest());
  }
}

TEST_P(Batches, LeaveNothingWhenAllIsRetracted) {
  const auto script = open(GetParam());
  std::vector<Script::Item> items = script->everything();
  for (Script::Item& item : items) item.weight = -item.weight;
  ASSERT_EQ(script->apply(items), "");
  for (const std::string& line : script->kept().digest()) {
    // Counts of nothing are 0.
    const bool always = line.starts_with("__xlog_asked") || line.starts_with("__xlog_fold");
    EXPECT_TRUE(always || line.find("even(1") != std::string::npos) << line;
  }
  for (Script::Item& item : items) item.weight = -item.weight;
  ASSERT_EQ(script->apply(items), "");
  EXPECT_EQ(script->kept().digest(), [&] {
    const auto other = open(GetParam());
    EXPECT_EQ(other->apply({items[0]}), "");
    EXPECT_EQ(other->apply({{items[0].pred, items[0].values, -items[0].weight}}), "");
    return other->kept().digest();
  }());
}

TEST_P(Batches, AgreeWithTheReference) {
  for (uint64_t seed = 100; seed < 100 + 40 / kPartOfWork; ++seed) {
    const auto script = open(GetParam(), seed);
    for (int i = 0; i < 15; ++i) {
      const std::vector<Script::Item> batch = script->random_batch(false);
      ASSERT_EQ(script->apply(batch), "") << "seed " << seed << ", batch " << i << "\n"
                                          << script->text(batch) << GetParam();
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, Batches, testing::ValuesIn(kPrograms));

// A silent fall-back to over-deletion or to a fresh evaluation would look at everything.
TEST(Effort, OfOneEdgeIsSmallWhereAllReachAll) {
  constexpr uint32_t kSide = 12;
  std::string source;
  const auto edge = [&](uint32_t a, uint32_t b) {
    source += fmt::format("edge({}, {}). edge({}, {}).\n", a, b, b, a);
  };
  for (uint32_t y = 0; y < kSide; ++y) {
    for (uint32_t x = 0; x < kSide; ++x) {
      if (x + 1 < kSide) edge(y * kSide + x, y * kSide + x + 1);
      if (y + 1 < kSide) edge(y * kSide + x, (y + 1) * kSide + x);
    }
  }
  source += "path(X, Y) :- edge(X, Y). path(X, Z) :- path(X, Y), edge(Y, Z). ?- path(X, Y).\n";
  const auto script = open(source);
  // All pairs are reached, by each of the about four edges into their ends.
  constexpr uint64_t kAll = uint64_t{4} * kSide * kSide * kSide * kSide;
  for (const Script::Item& item : {script->everything()[77], script->everything()[300]}) {
    Script::Item gone = item;
    gone.weight = -1;
    ASSERT_EQ(script->apply({gone}), "");
    EXPECT_LT(script->kept().effort().instances, kAll / 100);
    EXPECT_GT(script->kept().effort().instances, 0u);
    EXPECT_EQ(script->kept().effort().recomputed, 0u);
    ASSERT_EQ(script->apply({item}), "");
    EXPECT_LT(script->kept().effort().instances, kAll / 100);
  }
}

TEST(Effort, OfAnEdgeOfShortestWaysIsThatOfWhatItChanges) {
  constexpr uint32_t kSide = 20;
  std::string source = "far(0, 0). far(Y, min(D + W)) :- far(X, D), edge(X, Y, W). ?- far(X, D).\n";
  const auto edge = [&](uint32_t a, uint32_t b) {
    source += fmt::format("edge({}, {}, 1). edge({}, {}, 1).\n", a, b, b, a);
  };
  for (uint32_t y = 0; y < kSide; ++y) {
    for (uint32_t x = 0; x < kSide; ++x) {
      if (x + 1 < kSide) edge(y * kSide + x, y * kSide + x + 1);
      if (y + 1 < kSide) edge(y * kSide + x, (y + 1) * kSide + x);
    }
  }
  const auto script = open(source);
  for (const Script::Item& item : {script->everything()[700], script->everything()[900]}) {
    Script::Item gone = item;
    gone.weight = -1;
    ASSERT_EQ(script->apply({gone}), "");
    EXPECT_LT(script->kept().effort().instances, 100u);
    EXPECT_EQ(script->kept().effort().recomputed, 0u);
    ASSERT_EQ(script->apply({item}), "");
    EXPECT_LT(script->kept().effort().instances, 100u);
    EXPECT_EQ(script->kept().effort().recomputed, 0u);
  }
}

// Each batch counts a part of what holds, for as long as a run takes, until all of it is counted.
TEST(Effort, OfCountingEndsAfterSomeBatches) {
  std::string source = "path(X, Y) :- edge(X, Y). path(X, Z) :- path(X, Y), edge(Y, Z).\n";
  for (uint32_t i = 0; i < 200; ++i) source += fmt::format("edge({}, {}).\n", i, i + 1);
  const auto script = open(source + "size(count()) :- path(X, Y). ?- size(N).\n");
  script->kept().set_way(Way::Choose);
  Script::Item item = script->everything()[1];
  uint32_t batches = 0;
  do {
    item.weight = -item.weight;
    ASSERT_EQ(script->apply({item}), "");
    ++batches;
  } while (!script->kept().effort().reasons.empty() && batches < 100);
  EXPECT_LT(batches, 10u);
  item.weight = -item.weight;
  ASSERT_EQ(script->apply({item}), "");
  EXPECT_EQ(script->kept().effort().recomputed, 0u);
}

TEST(Effort, OfALargeBatchIsARun) {
  std::string source = "q(X) :- p(X), not r(X). r(2). n(count()) :- q(X). ?- n(X).\n";
  for (uint32_t i = 0; i < 3000; ++i) source += fmt::format("p({}).\n", i);
  const auto script = open(source);
  script->kept().set_way(Way::Keep);
  std::vector<Script::Item> half = script->everything();
  half.resize(1500);
  for (Script::Item& item : half) item.weight = -1;
  ASSERT_EQ(script->apply({half[0]}), "");
  EXPECT_EQ(script->kept().effort().recomputed, 0u);
  script->kept().set_way(Way::Choose);
  half.erase(half.begin());
  ASSERT_EQ(script->apply(half), "");
  ASSERT_EQ(script->kept().effort().reasons.size(), 1u);
  EXPECT_EQ(script->kept().effort().reasons[0],
            "the whole program: the batch changes a large part of the facts");
  EXPECT_EQ(script->kept().effort().recomputed, script->kept().effort().components);
  // What holds is counted again.
  half.resize(1);
  bool kept = false;
  for (int tries = 0; tries < 1000 && !kept; ++tries) {
    half[0].weight = -half[0].weight;
    ASSERT_EQ(script->apply(half), "");
    kept = script->kept().effort().recomputed == 0;
  }
  EXPECT_TRUE(kept);
}

// Facts of a program by the names of its predicates.
class Named {
 public:
  explicit Named(Script& script) : script_(script) {}
  Script::Item operator()(std::string_view name, uint32_t value, int64_t weight) const {
    const lang::Program& program = script_.program();
    for (uint32_t p = 0; p < program.predicates.size(); ++p) {
      const lang::Predicate& predicate = program.predicates[p];
      if (script_.session().names.symbols.text(predicate.name) != name) continue;
      return {p, {lang::Value{predicate.columns[0].type.kind, value}}, weight};
    }
    ADD_FAILURE() << name;
    return {};
  }

 private:
  Script& script_;
};

TEST(Effort, OfWorldsThatLeaveNoView) {
  const auto script = open(
      "d(1). d(2). e(7). f(X) :- e(X). { c(X) } :- d(X). k(X) :- know c(X), d(X).\n"
      ":- f(9).\n?- c(X). ?- k(X). ?- f(X).\n");
  const Named fact(*script);
  ASSERT_EQ(script->apply({fact("e", 8, 1)}), "");
  ASSERT_EQ(script->apply({fact("d", 3, 1)}), "");
  EXPECT_EQ(script->kept().effort().recomputed, 0u);
  // A violated constraint leaves no view, and all rows have another status.
  ASSERT_EQ(script->apply({fact("e", 9, 1)}), "");
  EXPECT_EQ(script->wanted().substr(0, 7), "0 views");
  ASSERT_EQ(script->apply({fact("d", 4, 1)}), "");
  EXPECT_EQ(script->kept().effort().recomputed, 0u);
  ASSERT_EQ(script->apply({fact("e", 9, -1)}), "");
  EXPECT_EQ(script->wanted().substr(0, 7), "1 views");
}

// Each item is undetermined on its own; all ask one unit, and one unit asks all.
TEST(Effort, OfWorldsGoesToTheUnitsThatAChangeReaches) {
  std::string source =
      "pred item(u32). pred odd(u32). { strict }. { a } :- strict.\n"
      "top(X) ; low(X) :- item(X). good(X) :- top(X). good(X) :- odd(X), low(X).\n"
      "ask(X) :- item(X), not know good(X), not know strict. some :- know ask(X), item(X).\n"
      "?- ask(X). ?- some. ?- good(X).\n";
  constexpr uint32_t kItems = 40;
  for (uint32_t i = 0; i < kItems; ++i) source += fmt::format("item({}).\n", i);
  const auto script = open(source, 1, Script::Judge::Run);
  const Named fact(*script);
  ASSERT_EQ(script->apply({fact("odd", kItems + 1, 1)}), "");
  for (const uint32_t item : {7u, 23u}) {
    ASSERT_EQ(script->apply({fact("odd", item, 1)}), "");
    EXPECT_EQ(script->kept().effort().recomputed, 0u);
    EXPECT_LE(script->kept().effort().units, 3u);
    ASSERT_EQ(script->apply({fact("odd", item, -1)}), "");
    // Units that look like others that were solved before are not solved again.
    EXPECT_EQ(script->kept().effort().units, 0u);
  }
  ASSERT_EQ(script->apply({fact("item", kItems, 1)}), "");
  EXPECT_EQ(script->wanted().substr(0, 7), "1 views");
}

TEST(Effort, OfWorldsDoesNotGrowWithTheirNumber) {
  uint64_t effort[2];
  for (const uint32_t items : {20u, 200u}) {
    std::string source =
        "pred item(u32). pred odd(u32). top(X) ; low(X) :- item(X). good(X) :- top(X).\n"
        "good(X) :- odd(X), low(X). ask(X) :- item(X), not know good(X). ?- ask(X).\n";
    for (uint32_t i = 0; i < items; ++i) source += fmt::format("item({}).\n", i);
    const auto script = open(source);
    const Named fact(*script);
    ASSERT_EQ(script->apply({fact("odd", 3, 1)}), "");
    ASSERT_EQ(script->apply({fact("odd", 5, 1)}), "");
    EXPECT_EQ(script->kept().effort().recomputed, 0u);
    effort[items == 20 ? 0 : 1] = script->kept().effort().instances;
  }
  EXPECT_EQ(effort[0], effort[1]);
}

// Folds, computed bounds of choices, and values that may not exist go to the units of a change too.
TEST(Effort, OfFoldsOverWhatWorldsDifferInIsThatOfTheirGroups) {
  uint64_t effort[2];
  for (const uint32_t rooms : {8u, 80u}) {
    std::string source =
        "pred in(u32, u32). pred seats(u32, u32). pred shut(u32).\n"
        "{ comes(R, X) } :- in(R, X). N - 1 { best(R, X) : in(R, X) } N - 1 :- seats(R, N).\n"
        "full(R) :- seats(R, S), N = count : { comes(R, X) }, N >= cast(S, u64).\n"
        "last(R, max(X)) :- comes(R, X). share(R, Z) :- comes(R, X), seats(R, S), Z = X / (S - "
        "2).\n"
        ":- shut(R), full(R). sure(R) :- seats(R, _), not possible full(R).\n"
        "?- full(R). ?- last(R, X). ?- share(R, Z). ?- best(R, X). ?- sure(R).\n";
    for (uint32_t r = 0; r < rooms; ++r) {
      source += fmt::format("seats({0}, {1}). in({0}, 4). in({0}, 5). in({0}, 6).\n", r, 2 + r % 2);
    }
    const auto script = open(source, 1, Script::Judge::Run);
    const Named fact(*script);
    ASSERT_EQ(script->apply({fact("shut", 1, 1)}), "");
    ASSERT_EQ(script->apply({fact("shut", 3, 1)}), "");
    EXPECT_EQ(script->kept().effort().recomputed, 0u);
    EXPECT_TRUE(script->kept().effort().reasons.empty());
    EXPECT_LE(script->kept().effort().units, 2u);
    effort[rooms == 8 ? 0 : 1] = script->kept().effort().instances;
    ASSERT_EQ(script->apply({fact("shut", 3, -1)}), "");
    EXPECT_EQ(script->kept().effort().units, 0u) << "solved before";
    EXPECT_EQ(script->kept().effort().recomputed, 0u);
  }
  EXPECT_GT(effort[0], 0u);
  EXPECT_EQ(effort[0], effort[1]);
}

// The well-founded model changes where a change reaches it; a violated constraint is an error.
TEST(Effort, OfTheWellFoundedModelIsThatOfWhatDependsOnTheChange) {
  uint64_t effort[2];
  for (const uint32_t games : {10u, 100u}) {
    std::string source =
        "#pragma semantics = well_founded\n"
        "pred move(u32, u32). pred lost(u32). pred far(u32). far(Y) :- move(_, Y), not move(Y, "
        "_).\n"
        "win(X) :- move(X, Y), not win(Y), not lost(X). :- lost(X), move(X, X).\n"
        "?- win(X). ?- far(X).\n";
    for (uint32_t g = 0; g < games; ++g) {
      source += fmt::format("move({0}, {1}). move({1}, {2}). move({2}, {0}). move({0}, {3}).\n",
                            10 * g, 10 * g + 1, 10 * g + 2, 10 * g + 3);
    }
    source += "move(7, 7). move(8, 8).\n";
    const auto script = open(source, 1, Script::Judge::Run);
    const Named fact(*script);
    ASSERT_EQ(script->apply({fact("lost", 11, 1)}), "");
    ASSERT_EQ(script->apply({fact("lost", 20, 1)}), "");
    EXPECT_EQ(script->kept().effort().recomputed, 0u);
    EXPECT_TRUE(script->kept().effort().reasons.empty());
    effort[games == 10 ? 0 : 1] = script->kept().effort().instances;
    EXPECT_EQ(script->wanted().find("violated"), std::string::npos);
    ASSERT_EQ(script->apply({fact("lost", 7, 1)}), "");
    EXPECT_NE(script->wanted().find("the constraint `:- lost(X), move(X, X).`"), std::string::npos)
        << script->wanted();
    ASSERT_EQ(script->apply({fact("lost", 8, 1)}), "");
    ASSERT_EQ(script->apply({fact("lost", 8, -1), fact("lost", 7, -1)}), "");
    EXPECT_EQ(script->kept().effort().recomputed, 0u);
  }
  EXPECT_GT(effort[0], 0u);
  EXPECT_EQ(effort[0], effort[1]);
}

// What certainly counts makes no further results, however much of it there is.
TEST(Effort, OfFoldsIsThatOfTheirOpenRows) {
  std::string source =
      "pred owns(u32). pred may(u32). { gets(X) } :- may(X). has(X) :- owns(X). has(X) :- "
      "gets(X).\n"
      "sum(sum(X)) :- has(X). ?- sum(S).\n";
  for (uint32_t i = 0; i < 10; ++i) source += fmt::format("owns({}).\n", 1u << i);
  const auto script = open(source, 1, Script::Judge::Run);
  const Named fact(*script);
  const auto results = [&] {
    return std::ranges::count_if(script->kept().digest(), [](const std::string& line) {
      return line.starts_with("__xlog_fold");
    });
  };
  ASSERT_EQ(script->apply({fact("may", 1u << 11, 1)}), "");
  EXPECT_EQ(results(), 2);
  ASSERT_EQ(script->apply({fact("may", 1u << 12, 1)}), "");
  EXPECT_EQ(script->kept().effort().recomputed, 0u);
  EXPECT_EQ(results(), 4);
  ASSERT_EQ(script->apply({fact("has", 1u << 12, 1)}), "");
  EXPECT_EQ(results(), 2);
  ASSERT_EQ(script->apply({fact("owns", 1, -1), fact("has", 1u << 12, -1)}), "");
  EXPECT_EQ(results(), 4);
}

TEST(Facts, HaveToGoAsOftenAsTheyCame) {
  const auto script = open("p(1). p(1). p(2). q(X) :- p(X). ?- q(X).\n");
  const uint32_t p = script->everything()[0].pred;
  const lang::Value one = script->everything()[0].values[0];
  ASSERT_EQ(script->apply({{p, {one}, -1}}), "");
  EXPECT_EQ(script->wanted().find("(1,)known") != std::string::npos, true);
  ASSERT_EQ(script->apply({{p, {one}, -2}}, true), "");
  ASSERT_EQ(script->apply({{p, {one}, -1}}), "");
  EXPECT_EQ(script->wanted().find("(1,)known"), std::string::npos);
  ASSERT_EQ(script->apply({{p, {one}, -1}}, true), "");
  // What a batch brings it may take away again.
  ASSERT_EQ(script->apply({{p, {one}, -1}, {p, {one}, 1}}), "");
}

TEST(Facts, HaveWeightsOf64Bits) {
  const auto script = open("p(1). q(X) :- p(X). ?- q(X).\n");
  const Script::Item fact = script->everything()[0];
  ASSERT_EQ(script->apply({{fact.pred, fact.values, INT64_MAX - 1}}), "");
  ASSERT_EQ(script->apply({{fact.pred, fact.values, 1}}, true), "");
  ASSERT_EQ(script->apply({{fact.pred, fact.values, -INT64_MAX}}), "");
  EXPECT_TRUE(script->everything().empty());
}

// More rows than one thread finds, some of them twice, some that come and go.
TEST(Facts, OfLargeBatchesAreCountedAsThoseOfSmall) {
  for (const std::string type : {"i32", "term"}) {
    SCOPED_TRACE(type);
    const auto script = open("pred p(u32, " + type + "). p(1, 2). q(X) :- p(X, 7). ?- q(X).\n");
    const uint32_t p = script->everything()[0].pred;
    std::vector<Script::Item> come, go;
    for (uint32_t i = 0; i < 9'999; ++i) {
      const uint32_t first = i % 9'000;
      const auto value = static_cast<int32_t>(first % 11) - 3;
      const lang::Value second = type == "i32" ? lang::Value::i32(value) : lang::Value::i64(value);
      come.push_back({p, {lang::Value::u32(first), second}, i % 5 == 0 ? 2 : 1});
      go.push_back({p, come.back().values, -come.back().weight});
      if (i % 7 > 1) continue;
      const std::vector<lang::Value> passing = {lang::Value::u32(20'000 + i / 7), go[0].values[1]};
      for (auto* batch : {&come, &go}) batch->push_back({p, passing, i % 7 == 0 ? -1 : 1});
    }
    ASSERT_EQ(come.size() % 2, 1u) << "or the script takes them apart";
    for (const Way way : {Way::Choose, Way::Afresh, Way::Keep}) {
      script->kept().set_way(way);
      ASSERT_EQ(script->apply(come), "");
      std::vector<Script::Item> too_many = go;
      too_many.push_back({p, {lang::Value::u32(9'500), go[0].values[1]}, -1});
      too_many.push_back({p, {lang::Value::u32(9'501), go[0].values[1]}, 1});
      ASSERT_EQ(script->apply(too_many, true), "");
      ASSERT_EQ(script->apply(go), "");
    }
  }
}

TEST(Refused, BatchesSayWhy) {
  const auto script = open("p(1). q(X) :- p(X). ?- q(X).\n");
  const Script::Item fact = script->everything()[0];
  FactChanges changes{{fact.pred}, {lang::Value::u32(7)}, {-1}};
  const Status status = script->kept().apply({&changes, 1});
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().message, "`p(7)` is not there, so it cannot be retracted");
}

// What a limit leaves unknown is not taken for what does not hold.
TEST(Refused, AreBatchesWhoseWorldsTakeTooLong) {
  for (const Way way : {Way::Choose, Way::Keep}) {
    Script script;
    logic::AnswerOptions options;
    options.max_candidates = 10;
    ASSERT_TRUE(
        script.open("n(1). a(X) :- n(X), not know b(X). b(X) :- n(X), not know a(X).\n"
                    "c :- a(X), a(Y), X < Y. ?- a(X). ?- c.\n",
                    1, options));
    script.kept().set_way(way);
    const std::string before = script.wanted();
    FactChanges changes{{script.everything()[0].pred}, {}, {}};
    for (uint32_t x = 2; x <= 12; ++x) {
      changes.values.push_back(lang::Value::u32(x));
      changes.weights.push_back(1);
    }
    const Status status = script.kept().apply({&changes, 1});
    ASSERT_FALSE(status.ok());
    EXPECT_EQ(status.error().kind, ErrorKind::Limit);
    EXPECT_EQ(script.compare({}), "");
    EXPECT_EQ(script.wanted(), before);
  }
}

TEST(Recursion, ThatMakesValuesForEverIsStopped) {
  Script script;
  logic::AnswerOptions options;
  options.max_rows = 1000;
  ASSERT_TRUE(script.open("n(X + 1) :- n(X), go. n(0). stop(1). ?- n(X).\n", 1, options));
  script.kept().set_way(Way::Keep);
  const auto go = std::ranges::find_if(script.program().predicates, [&](const auto& p) {
    return script.session().names.symbols.text(p.name) == "go";
  });
  const auto pred = static_cast<uint32_t>(go - script.program().predicates.begin());
  FactChanges changes{{pred}, {}, {1}};
  const Status status = script.kept().apply({&changes, 1});
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().kind, ErrorKind::Limit);
  EXPECT_EQ(script.compare({}), "");
}

}  // namespace
}  // namespace xlog::incremental
