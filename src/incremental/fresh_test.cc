#include "incremental/fresh.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <string>

#include "incremental/fact_set.h"
#include "incremental/row_changes.h"
#include "lang/load.h"

namespace xlog::incremental {
namespace {

using lang::Value;

constexpr std::string_view kProgram = R"(
pred e(u32, u32). pred b(u32).
e(1, 2). e(2, 3). e(2, 3).
{ b(2) }.
r(X, Y) :- e(X, Y), not b(Y).
r(X, Z) :- r(X, Y), r(Y, Z).
?- r(X, Y).
?- b(X).
)";

struct Loaded {
  explicit Loaded(std::string_view text = kProgram) {
    const SourceFile* file = session.sources.add("test", "", std::string(text));
    program = lang::load(*file, session);
    EXPECT_FALSE(session.diagnostics.has_errors())
        << render_text(session.diagnostics, session.sources);
  }
  lang::PredId find(std::string_view name) const {
    for (uint32_t p = 0; p < program->predicates.size(); ++p) {
      if (session.names.symbols.text(program->predicates[p].name) == name) return {p};
    }
    return {};
  }
  lang::Session session;
  std::optional<lang::Program> program;
};

FactChanges change(lang::PredId pred, const std::vector<uint32_t>& values, int64_t weight) {
  FactChanges out{pred, {}, {weight}};
  for (const uint32_t value : values) out.values.push_back(Value::u32(value));
  return out;
}

std::string text(const FactChanges& facts, const Maintained& maintained, const lang::Names& names) {
  std::string out;
  const uint32_t arity = maintained.program()[facts.pred].arity;
  for (size_t r = 0; r < facts.weights.size(); ++r) {
    out += fact_text(facts.pred, std::span(facts.values).subspan(r * arity, arity),
                     maintained.program(), names) +
           ":" + std::to_string(facts.weights[r]) + " ";
  }
  return out;
}

TEST(Fresh, FactsAreAZset) {
  Loaded loaded;
  const lang::PredId e = loaded.find("e");
  const auto fresh = make_fresh(std::move(*loaded.program), loaded.session, {});
  EXPECT_EQ(text(fresh->facts(e), *fresh, loaded.session.names), "e(1, 2):1 e(2, 3):2 ");
  const std::vector<FactChanges> batch = {change(e, {2, 3}, -2), change(e, {0, 1}, 1),
                                          change(e, {1, 2}, 3)};
  ASSERT_TRUE(fresh->apply(batch).ok());
  EXPECT_EQ(text(fresh->facts(e), *fresh, loaded.session.names), "e(0, 1):1 e(1, 2):4 ");
}

TEST(Fresh, AllOrNothing) {
  Loaded loaded;
  const lang::PredId e = loaded.find("e");
  const auto fresh = make_fresh(std::move(*loaded.program), loaded.session, {});
  const std::string before = text(fresh->facts(e), *fresh, loaded.session.names);
  const auto refused = [&](const std::vector<FactChanges>& batch, std::string_view part) {
    const Status status = fresh->apply(batch);
    ASSERT_FALSE(status.ok());
    EXPECT_NE(status.error().message.find(part), std::string::npos) << status.error().message;
    EXPECT_EQ(text(fresh->facts(e), *fresh, loaded.session.names), before);
  };
  refused({change(e, {5, 6}, 1), change(e, {7, 7}, -1)}, "`e(7, 7)` is not there");
  refused({change(e, {1, 2}, -2)}, "is there once and cannot be retracted 2 times");
  refused({change(e, {1, 2}, INT64_MAX)}, "64 bits");
  refused({change(e, {5, 5}, INT64_MAX), change(e, {5, 5}, 1)}, "64 bits");
  // Retracted and inserted in one batch is no change, whatever comes first.
  EXPECT_TRUE(fresh->apply(std::vector{change(e, {7, 7}, -1), change(e, {7, 7}, 1)}).ok());
}

// Every answer and every change against a program that states the facts.
TEST(Fresh, AgreesWithProgramsThatStateTheFacts) {
  Result<std::unique_ptr<device::Device>> device = device::open_device("interp");
  ASSERT_TRUE(device.ok());
  for (uint32_t seed = 1; seed <= 4; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937 random(seed);
    const auto below = [&](uint32_t n) {
      return std::uniform_int_distribution<uint32_t>(0, n - 1)(random);
    };
    Loaded loaded;
    const lang::PredId e = loaded.find("e"), b = loaded.find("b");
    const auto fresh = make_fresh(std::move(*loaded.program), loaded.session,
                                  {.answer = {}, .device = device->get()});
    std::map<std::pair<uint32_t, uint32_t>, int> edges = {{{1, 2}, 1}, {{2, 3}, 2}};
    std::map<uint32_t, int> blocked;
    std::optional<logic::Answer> last = fresh->answer();
    for (int step = 0; step < 12; ++step) {
      const uint32_t x = below(4), y = below(4);
      const bool is_edge = below(3) > 0;
      int& weight = is_edge ? edges[{x, y}] : blocked[x];
      const int by = weight > 0 && below(2) == 0 ? -1 : 1;
      weight += by;
      const std::vector<FactChanges> batch = {is_edge ? change(e, {x, y}, by) : change(b, {x}, by)};
      ASSERT_TRUE(fresh->apply(batch).ok());
      const std::optional<logic::Answer> now = fresh->answer();
      ASSERT_TRUE(now);

      std::string source(kProgram);
      source.replace(source.find("e(1, 2)."), std::string_view("e(1, 2). e(2, 3). e(2, 3).").size(),
                     "");
      for (const auto& [edge, count] : edges) {
        if (count > 0)
          source += "e(" + std::to_string(edge.first) + ", " + std::to_string(edge.second) + ").\n";
      }
      for (const auto& [node, count] : blocked) {
        if (count > 0) source += "b(" + std::to_string(node) + ").\n";
      }
      Loaded stated(source);
      const auto judge = make_fresh(std::move(*stated.program), stated.session, {});
      const std::optional<logic::Answer> expected = judge->answer();
      ASSERT_TRUE(expected);
      ASSERT_EQ(now->view_count, expected->view_count);
      for (const uint32_t query : {0u, 1u}) {
        EXPECT_TRUE(
            row_changes(first_rows(*expected, query), first_rows(*now, query), loaded.session.names)
                .empty());
        const auto changes = fresh->changes(query);
        ASSERT_TRUE(changes.ok());
        const auto between =
            row_changes(first_rows(*last, query), first_rows(*now, query), loaded.session.names);
        ASSERT_EQ(changes->size(), between.size());
        for (size_t i = 0; i < between.size(); ++i) {
          EXPECT_EQ((*changes)[i].values, between[i].values);
          EXPECT_EQ((*changes)[i].before, between[i].before);
          EXPECT_EQ((*changes)[i].after, between[i].after);
        }
      }
      last = now;
    }
  }
}

}  // namespace
}  // namespace xlog::incremental
