#include "solve/totalizer.h"

#include <gtest/gtest.h>

#include <bit>

namespace xlog::solve {
namespace {

struct Collected final : ClauseSink {
  int32_t new_variable() override { return cnf.new_variable(); }
  void add(std::span<const Literal> clause) override { cnf.add(clause); }
  Cnf cnf;
};

// Some model has exactly these inputs and the output false.
bool can_be_false(const Cnf& cnf, uint32_t inputs, int32_t input_count, Literal output) {
  const int32_t others = cnf.variables() - input_count;
  for (uint32_t rest = 0; rest < uint32_t{1} << others; ++rest) {
    Model model(cnf.variables());
    for (int32_t v = 1; v <= input_count; ++v) model.set((inputs >> (v - 1) & 1) != 0 ? v : -v);
    for (int32_t v = 1; v <= others; ++v) {
      model.set((rest >> (v - 1) & 1) != 0 ? input_count + v : -(input_count + v));
    }
    if (!model.holds(output) && model.satisfies(cnf)) return true;
  }
  return false;
}

TEST(Totalizer, OutputsCountTheInputsInWhateverOrderTheyAreAskedFor) {
  for (int32_t inputs = 1; inputs <= 5; ++inputs) {
    for (int32_t first = 1; first <= inputs; ++first) {
      Collected sink;
      std::vector<Literal> literals;
      for (int32_t i = 0; i < inputs; ++i) literals.push_back(sink.new_variable());
      Totalizer totalizer(literals);
      for (int32_t count = first; count <= std::min(inputs, first + 1); ++count) {
        const Literal output = totalizer.at_least(static_cast<size_t>(count), sink);
        if (sink.cnf.variables() > 18) continue;
        for (uint32_t values = 0; values < uint32_t{1} << inputs; ++values) {
          EXPECT_EQ(can_be_false(sink.cnf, values, inputs, output), std::popcount(values) < count)
              << inputs << " inputs " << values << ", at least " << count;
        }
      }
    }
  }
}

TEST(Totalizer, AsksForNothingTwice) {
  Collected sink;
  std::vector<Literal> literals;
  for (int32_t i = 0; i < 100; ++i) literals.push_back(sink.new_variable());
  Totalizer totalizer(literals);
  const Literal two = totalizer.at_least(2, sink);
  const size_t clauses = sink.cnf.size();
  EXPECT_LT(clauses, 1000u);
  EXPECT_EQ(totalizer.at_least(2, sink), two);
  EXPECT_EQ(sink.cnf.size(), clauses);
}

}  // namespace
}  // namespace xlog::solve
