// Several engines in one process, each with its own session and device: nothing is shared.
#include <gtest/gtest.h>

#include <thread>

#include "engine/engine_fixture.h"

namespace xlog::engine {
namespace {

constexpr const char* kClosure = R"(
  edge(X, X + 1) :- n(X). edge(X, X * 7 % 60) :- n(X). n(0..59).
  reach(X, Y) :- edge(X, Y).
  reach(X, Z) :- reach(X, Y), edge(Y, Z).
  size(count()) :- reach(X, Y).
  ?- size(N). ?- reach(3, X).
)";
constexpr const char* kNames = R"(
  parent(ann, bob). parent(ann, cid). parent(bob, dan). parent(cid, eve). parent(dan, fay).
  parent(eve, gus). parent(fay, hal). parent(gus, ida).
  person(X) :- parent(X, _). person(X) :- parent(_, X).
  same(X, X) :- person(X).
  same(X, Y) :- parent(P, X), same(P, Q), parent(Q, Y).
  childless(X) :- person(X), not parent(X, _).
  ?- same(X, Y), X != Y. ?- childless(X).
)";

std::unique_ptr<device::Device> open(const std::string& name) {
  Result<std::unique_ptr<device::Device>> device = device::open_device(name);
  EXPECT_TRUE(device.ok()) << (device.ok() ? "" : device.error().text());
  return device.ok() ? std::move(*device) : nullptr;
}

std::string answer(const char* source, device::Device& device, logic::AnswerOptions options = {}) {
  return run(source, Which::Engine, "", std::move(options), {}, &device).text;
}

class Independent : public testing::TestWithParam<std::pair<std::string, std::string>> {
 protected:
  void SetUp() override {
    first = open(GetParam().first);
    second = open(GetParam().second);
    ASSERT_TRUE(first != nullptr && second != nullptr);
  }
  std::unique_ptr<device::Device> first, second;
  const std::string closure = run(kClosure, Which::Reference).text;
  const std::string names = run(kNames, Which::Reference).text;
};

TEST_P(Independent, OneAfterTheOther) {
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(answer(kClosure, *first), closure);
    EXPECT_EQ(answer(kNames, *second), names);
    EXPECT_EQ(answer(kNames, *first), names);
    EXPECT_EQ(answer(kClosure, *second), closure);
  }
}

// Where one reports its progress, the other evaluates a whole program.
TEST_P(Independent, OneInsideTheOther) {
  int inner = 0;
  logic::AnswerOptions options;
  options.progress = [&](const logic::Progress&) {
    if (++inner > 5) return;
    EXPECT_EQ(answer(kNames, *second), names);
  };
  EXPECT_EQ(answer(kClosure, *first, options), closure);
  EXPECT_GT(inner, 1);
}

TEST_P(Independent, OnThreadsAtOnce) {
  constexpr int kTimes = 5;
  std::vector<std::string> here, there;
  std::thread thread([&] {
    for (int i = 0; i < kTimes; ++i) {
      there.push_back(answer(i % 2 == 0 ? kNames : kClosure, *second));
    }
  });
  for (int i = 0; i < kTimes; ++i) here.push_back(answer(i % 2 == 0 ? kClosure : kNames, *first));
  thread.join();
  for (int i = 0; i < kTimes; ++i) {
    EXPECT_EQ(here[static_cast<size_t>(i)], i % 2 == 0 ? closure : names);
    EXPECT_EQ(there[static_cast<size_t>(i)], i % 2 == 0 ? names : closure);
  }
}

INSTANTIATE_TEST_SUITE_P(Devices, Independent,
                         testing::Values(std::pair("cpu", "interp"), std::pair("cpu", "cpu")),
                         [](const auto& about) {
                           return about.param.first + "_" + about.param.second;
                         });

}  // namespace
}  // namespace xlog::engine
