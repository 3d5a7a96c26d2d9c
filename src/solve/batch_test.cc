#include "solve/batch.h"

#include <gtest/gtest.h>

#include <bit>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "base/sanitized.h"
#include "device/test_devices.h"

namespace xlog::solve {
namespace {

struct Shape {
  uint32_t variables;
  uint32_t clauses;
  uint32_t longest;
  uint32_t shortest = 0;
};

template <typename Mask>
void add_random(SmallFormulas<Mask>& formulas, const Shape& shape, std::mt19937_64& random) {
  for (uint32_t c = 0; c < shape.clauses; ++c) {
    const uint64_t length = shape.shortest + random() % (shape.longest - shape.shortest + 1);
    Mask positive = 0;
    Mask negative = 0;
    for (uint64_t l = 0; l < length; ++l) {
      const Mask bit = Mask{1} << (random() % shape.variables);
      (random() % 2 == 0 ? positive : negative) |= bit;
    }
    formulas.add_clause(positive, negative);
  }
  formulas.end_formula(shape.variables);
}

// The number of models, by trying all assignments.
template <typename Mask>
uint64_t models_of(const SmallFormulas<Mask>& formulas, uint32_t f, Mask yes, Mask no) {
  uint64_t found = 0;
  const uint64_t all = uint64_t{1} << formulas.variables()[f];
  for (uint64_t number = 0; number < all; ++number) {
    const Mask a = static_cast<Mask>(number);
    bool holds = (yes & ~a) == 0 && (no & a) == 0;
    for (uint32_t c = formulas.starts()[f]; holds && c < formulas.starts()[f + 1]; ++c) {
      holds = ((formulas.positive()[c] & a) | (formulas.negative()[c] & ~a)) != 0;
    }
    found += holds ? 1 : 0;
  }
  return found;
}

template <typename Mask>
bool is_model(const SmallFormulas<Mask>& formulas, uint32_t f, Mask model) {
  for (uint32_t c = formulas.starts()[f]; c < formulas.starts()[f + 1]; ++c) {
    if (((formulas.positive()[c] & model) | (formulas.negative()[c] & ~model)) == 0) return false;
  }
  return static_cast<uint32_t>(std::bit_width(model)) <= formulas.variables()[f];
}

// Tests of slow devices do less.
uint32_t part_of_work(const std::string& device) {
  if (device == "oracle") return 50 * kPartOfWork;
  return (device == "cpu" ? 1 : 10) * kPartOfWork;
}

using Where = std::pair<std::string, Layout>;

std::vector<Where> places() {
  std::vector<Where> all;
  if (std::getenv("XLOG_TEST_DEVICES") != nullptr) {
    for (const std::string& name : device::test_device_names()) {
      all.emplace_back(name, Layout::Consecutive);
      all.emplace_back(name, Layout::Interleaved);
    }
    return all;
  }
  all = {{"oracle", Layout::Consecutive},
         {"oracle", Layout::Interleaved},
         {"interp", Layout::Consecutive},
         {"cpu", Layout::Consecutive},
         {"cpu", Layout::Interleaved}};
  if (device::open_device("opencl", {.cache_folder = "none"}).ok()) {
    all.emplace_back("opencl", Layout::Interleaved);
  }
  return all;
}

class Batch : public testing::TestWithParam<Where> {
 protected:
  const std::string& device_name() const { return GetParam().first; }

  std::unique_ptr<device::Device> device_ = device::open_for_test(device_name());
  BatchSolver<uint32_t> narrow_{*device_, GetParam().second};
  BatchSolver<uint64_t> wide_{*device_, GetParam().second};
};
INSTANTIATE_TEST_SUITE_P(Devices, Batch, testing::ValuesIn(places()), [](const auto& about) {
  std::string name = about.param.first;
  std::erase_if(name, [](char c) { return c == ':'; });
  return name + (about.param.second == Layout::Interleaved ? "Interleaved" : "");
});

template <typename Mask>
void compare_with_brute_force(BatchSolver<Mask>& solver, const Shape& shape, uint32_t count,
                              uint64_t seed) {
  SCOPED_TRACE(testing::Message() << "seed " << seed << ", " << shape.variables << " variables, "
                                  << shape.clauses << " clauses, masks of " << sizeof(Mask));
  std::mt19937_64 random(seed);
  SmallFormulas<Mask> formulas;
  for (uint32_t f = 0; f < count; ++f) add_random(formulas, shape, random);
  Questions<Mask> questions;
  for (uint32_t q = 0; q < count; ++q) {
    Mask assumed[2] = {0, 0};
    for (uint32_t v = 0; v < shape.variables; ++v) {
      if (const uint64_t drawn = random() % 10; drawn < 2) assumed[drawn] |= Mask{1} << v;
      if (random() % 50 == 0) assumed[1] |= Mask{1} << v;
    }
    questions.add(static_cast<uint32_t>(random() % count), assumed[0], assumed[1]);
  }
  auto plain = solver.solve(formulas);
  auto counted = solver.solve(formulas, {.counts = true});
  auto asked = solver.solve(formulas, questions);
  auto asked_counts = solver.solve(formulas, questions, {.counts = true});
  ASSERT_TRUE(device::good(plain) && device::good(counted) && device::good(asked) &&
              device::good(asked_counts));
  for (uint32_t f = 0; f < count; ++f) {
    SCOPED_TRACE(testing::Message() << "formula or question " << f);
    const uint64_t models = models_of<Mask>(formulas, f, 0, 0);
    const Outcome wanted = models == 0 ? Outcome::Unsat : Outcome::Sat;
    ASSERT_EQ(plain->outcome(f), wanted);
    ASSERT_EQ(counted->outcome(f), wanted);
    ASSERT_EQ(counted->counts[f], models);
    if (models > 0) {
      ASSERT_TRUE(is_model(formulas, f, plain->models[f]));
      ASSERT_TRUE(is_model(formulas, f, counted->models[f]));
    }
    const Mask yes = questions.assumed_true[f];
    const Mask no = questions.assumed_false[f];
    const uint32_t about = questions.formula[f];
    const uint64_t under = models_of<Mask>(formulas, about, yes, no);
    ASSERT_EQ(asked_counts->counts[f], under);
    ASSERT_EQ(asked->outcome(f), under == 0 ? Outcome::Unsat : Outcome::Sat);
    if (under == 0) continue;
    ASSERT_TRUE(is_model(formulas, about, asked->models[f]));
    ASSERT_EQ(asked->models[f] & yes, yes);
    ASSERT_EQ(asked->models[f] & no, Mask{0});
  }
}

TEST_P(Batch, AgreesWithBruteForce) {
  const uint32_t part = part_of_work(device_name());
  const bool wide_too = device_name() != "opencl";  // PoCL takes seconds to compile each kernel
  uint64_t seed = 1;
  for (uint32_t variables = 1; variables <= 12; ++variables) {
    for (const uint32_t clauses : {0u, 1u, variables, 3 * variables, 6 * variables}) {
      const uint32_t count = std::max(400 / part, 4 / std::min(kPartOfWork, 2u));
      const Shape mixed = {variables, clauses, 6};
      compare_with_brute_force(narrow_, mixed, count, seed++);
      if (wide_too) compare_with_brute_force(wide_, mixed, count / 2, seed++);
      const Shape threes = {variables, clauses, 3, 2};
      compare_with_brute_force(narrow_, threes, count, seed++);
    }
  }
  if (part > 10 || kSanitized) return;
  const uint32_t count = part > 1 ? 1 : 6;
  for (uint32_t variables = 13; variables <= 20; ++variables) {
    for (const uint32_t clauses : {3 * variables, 43 * variables / 10, 6 * variables}) {
      compare_with_brute_force(narrow_, {variables, clauses, 3, 3}, count, seed++);
      if (wide_too) compare_with_brute_force(wide_, {variables, clauses, 6, 1}, count, seed++);
    }
  }
}

// What masks of 32 and of 64 bits say about the same formulas, with variables up to the last.
TEST_P(Batch, MasksOfBothWidthsAgree) {
  std::mt19937_64 random(7);
  SmallFormulas<uint32_t> narrow;
  SmallFormulas<uint64_t> wide;
  const uint32_t count = 60 / std::min(part_of_work(device_name()), 30u);
  for (uint32_t f = 0; f < count; ++f) {
    const uint64_t again = random();
    std::mt19937_64 first(again);
    std::mt19937_64 second(again);
    add_random(narrow, {32, 120, 3, 3}, first);
    add_random(wide, {32, 120, 3, 3}, second);
  }
  auto from_narrow = narrow_.solve(narrow, {.counts = true});
  auto from_wide = wide_.solve(wide, {.counts = true});
  ASSERT_TRUE(device::good(from_narrow) && device::good(from_wide));
  EXPECT_EQ(from_narrow->outcomes, from_wide->outcomes);
  EXPECT_EQ(from_narrow->counts, from_wide->counts);
  for (uint32_t f = 0; f < count; ++f) EXPECT_EQ(from_narrow->models[f], from_wide->models[f]);
}

TEST_P(Batch, SixtyFourVariables) {
  SmallFormulas<uint64_t> formulas;
  formulas.end_formula(64);  // every assignment
  formulas.add_clause(uint64_t{1} << 63, 0);
  formulas.end_formula(64);
  formulas.add_clause(uint64_t{1} << 63, 0);
  formulas.add_clause(0, uint64_t{1} << 63);
  formulas.end_formula(64);
  for (int v = 0; v < 63; ++v) formulas.add_clause(uint64_t{2} << v, uint64_t{1} << v);  // a chain
  formulas.end_formula(64);
  auto answers = wide_.solve(formulas, {.counts = true});
  ASSERT_TRUE(device::good(answers));
  EXPECT_EQ(answers->counts, (std::vector<uint64_t>{UINT64_MAX, uint64_t{1} << 63, 0, 65}));
  EXPECT_EQ(answers->models[1], uint64_t{1} << 63);
  EXPECT_EQ(answers->outcome(2), Outcome::Unsat);
}

TEST_P(Batch, AFormulaWithoutVariablesIsTrueOrHasAnEmptyClause) {
  SmallFormulas<uint32_t> formulas;
  formulas.end_formula(0);
  formulas.add_clause(0, 0);
  formulas.end_formula(0);
  auto answers = narrow_.solve(formulas, {.counts = true});
  ASSERT_TRUE(device::good(answers));
  EXPECT_EQ(answers->outcome(0), Outcome::Sat);
  EXPECT_EQ(answers->outcome(1), Outcome::Unsat);
  EXPECT_EQ(answers->counts, (std::vector<uint64_t>{1, 0}));
}

TEST_P(Batch, NothingAskedIsNothingAnswered) {
  auto answers = narrow_.solve(SmallFormulas<uint32_t>());
  ASSERT_TRUE(device::good(answers));
  EXPECT_TRUE(answers->outcomes.empty());
}

TEST_P(Batch, PassesAreLimited) {
  std::mt19937_64 random(3);
  SmallFormulas<uint32_t> formulas;
  for (int f = 0; f < 20; ++f) add_random(formulas, {20, 86, 3, 3}, random);
  auto none = narrow_.solve(formulas, {.passes = 0});
  auto few = narrow_.solve(formulas, {.passes = 12});
  auto all = narrow_.solve(formulas);
  ASSERT_TRUE(device::good(none) && device::good(few) && device::good(all));
  uint32_t unknown = 0;
  for (uint32_t f = 0; f < formulas.size(); ++f) {
    EXPECT_EQ(none->outcome(f), Outcome::Unknown);
    EXPECT_NE(all->outcome(f), Outcome::Unknown);
    if (few->outcome(f) == Outcome::Unknown) {
      ++unknown;
    } else {
      EXPECT_EQ(few->outcome(f), all->outcome(f));
    }
  }
  EXPECT_GT(unknown, 0u);
  EXPECT_LT(unknown, formulas.size());
}

TEST_P(Batch, AnInterruptLeavesTheRestUnknown) {
  SmallFormulas<uint32_t> formulas;
  formulas.add_clause(1, 0);
  formulas.end_formula(1);
  Interrupt interrupt = true;
  BatchOptions options;
  options.limits.interrupt = &interrupt;
  auto interrupted = narrow_.solve(formulas, options);
  interrupt = false;
  auto answered = narrow_.solve(formulas, options);
  options.limits.deadline = std::chrono::steady_clock::now();
  auto late = narrow_.solve(formulas, options);
  ASSERT_TRUE(device::good(interrupted) && device::good(late) && device::good(answered));
  EXPECT_EQ(interrupted->outcome(0), Outcome::Unknown);
  EXPECT_EQ(late->outcome(0), Outcome::Unknown);
  EXPECT_EQ(answered->outcome(0), Outcome::Sat);
}

TEST(SmallFormulas, TakeFormulasAsTheyAre) {
  Cnf cnf;
  cnf.add({1, -3, 1});
  cnf.add({2, -2});
  cnf.add({-1});
  cnf.need_variables(5);
  SmallFormulas<uint32_t> formulas;
  formulas.add(cnf);
  EXPECT_EQ(formulas.starts(), (std::vector<uint32_t>{0, 2}));
  EXPECT_EQ(formulas.variables(), (std::vector<uint32_t>{5}));
  EXPECT_EQ(formulas.positive(), (std::vector<uint32_t>{1, 0}));
  EXPECT_EQ(formulas.negative(), (std::vector<uint32_t>{4, 1}));
}

}  // namespace
}  // namespace xlog::solve
