// Work that is not where the rows are: few rows of a driver that meet nearly all others, so that
// instances stop in the middle of every kind of loop and others go on from there.
#include <gtest/gtest.h>

#include "engine/engine_fixture.h"

namespace xlog::engine {
namespace {

// A hub that leads to `width` nodes, they to as many, and those to as many again.
std::string hub(uint32_t width) {
  return fmt::format(
      "pred edge(u32, u32).\npred start(u32).\nstart(0).\n"
      "edge(0, 1..{0}). edge(1..{0}, 1001..{1}). edge(1001..{1}, 2001..{2}). edge(7000, 9).\n",
      width, 1000 + width, 2000 + width);
}

// In pieces of loops, which groups of lanes know nothing of.
void expect_same_in_pieces(const std::string& source) {
  const Outcome wanted = run(source, Which::Reference);
  ASSERT_TRUE(wanted.answered) << wanted.text;
  for (const char* device : {"oracle", "interp", "native"}) {
    const Outcome got = run(source, Which::Engine, device, {}, relation::Form::Chunks);
    EXPECT_EQ(got.text, wanted.text) << device << "\n" << source;
  }
}

TEST(SkewedWork, OneRowWithAllSolutionsHasTheAnswersOfTheReference) {
  expect_same_in_pieces(hub(35) + R"(
    three(count()) :- start(X), edge(X, Y), edge(Y, Z), edge(Z, W).
    by(W, count()) :- start(X), edge(X, Y), edge(Y, Z), edge(Z, W), Y != W.
    far(Y, Z, W) :- start(X), edge(X, Y), edge(Y, Z), edge(Z, W).
    n(count()) :- far(Y, Z, W).
    parity(Y % 2, Z % 3, sum(W)) :- far(Y, Z, W).
    ?- three(N). ?- by(W, N). ?- n(N). ?- parity(A, B, N).
  )");
}

// What stopped is done again: it counts once. (The reference evaluator divides before it knows Y.)
TEST(SkewedWork, InstancesWithoutAValueAreCountedOnce) {
  const std::string source = hub(25) + R"(
    part(Y, Z, Z / (W % 7)) :- start(X), edge(X, Y), edge(Y, Z), edge(Z, W).
    ?- part(A, B, C).
  )";
  const Outcome wanted = run(source, Which::Reference);
  for (const char* device : {"interp", "native"}) {
    const Outcome got = run(source, Which::Engine, device);
    EXPECT_EQ(got.text, wanted.text) << device;
    EXPECT_EQ(got.valueless, 25u * 25 * 4) << device;
  }
}

TEST(SkewedWork, BitsRangesAndMeetsAreSharedToo) {
  expect_same_in_pieces(R"(
    pred n(u32). n(0..15).
    pair(X, Y) :- n(X), n(Y), (X * 7 + Y) % 5 != 0.
    triangle(count()) :- pair(X, Y), pair(Y, Z), pair(X, Z).
    corner(X, count()) :- pair(X, Y), pair(Y, Z), pair(X, Z), n(W), W < 5.
    listed(X, Y, Z) :- pair(X, Y), pair(Y, Z), pair(X, Z), X < 10.
    ?- triangle(N). ?- corner(X, N). ?- listed(X, Y, 14).
  )");
}

// Rows as queries give them, whoever shares the work.
void expect_rows(const std::string& source, const std::string& wanted) {
  for (uint32_t threads : {1u, 5u}) {
    device::OpenOptions options;
    options.threads = threads;
    const auto device = device::open_for_test("native", options);
    ASSERT_NE(device, nullptr);
    const Outcome got = run(source, Which::Engine, "native", {}, {}, device.get());
    EXPECT_EQ(got.text, "1 views\n1 worlds\n" + wanted) << threads << " threads";
  }
}

// The same where lists are met.
TEST(SkewedWork, ManyProcessorsShareAMeet) {
  const uint64_t nodes = kPartOfWork == 1 ? 200 : 60;
  const std::string source =
      fmt::format("pred n(u32). n(0..{}). pred start(u32). start(3).", nodes - 1) + R"(
    all(X, Y) :- n(X), n(Y).
    four(count()) :- start(X), all(X, Y), all(Y, Z), all(X, Z), all(Z, W), all(X, W).
    last(W, count()) :- start(X), all(X, Y), all(Y, Z), all(X, Z), all(Z, W), all(X, W), W < 2.
    ?- four(N). ?- last(W, N).
  )";
  const uint64_t square = nodes * nodes;
  expect_rows(source, fmt::format("four(N): ({},)known\nlast(W, N): (0,{},)known (1,{},)known\n",
                                  square * nodes, square, square));
}

// More than an instance looks at in one launch.
TEST(SkewedWork, ManyProcessorsShareARow) {
  const uint64_t width = kPartOfWork == 1 ? 200 : 80;
  const std::string source = hub(static_cast<uint32_t>(width)) + R"(
    three(count()) :- start(X), edge(X, Y), edge(Y, Z), edge(Z, W).
    ends(W) :- start(X), edge(X, Y), edge(Y, Z), edge(Z, W).
    n(count()) :- ends(W).
    four(count()) :- start(X), edge(X, Y), edge(Y, Z), edge(Z, W), start(V), edge(V, A), A < 7.
    ?- three(N). ?- n(N). ?- four(N).
  )";
  const uint64_t all = width * width * width;
  expect_rows(source, fmt::format("three(N): ({},)known\nn(N): ({},)known\nfour(N): ({},)known\n",
                                  all, width, all * 6));
}

}  // namespace
}  // namespace xlog::engine
