// Minima and maxima inside their own recursion, judged by what needs none: all candidates up to a
// number of steps, folded afterwards; and shortest paths by hand.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>

#include "oracle/evaluate.h"

namespace xlog::oracle {
namespace {

struct ProgramRun {
  lang::Session session;
  std::optional<logic::Answer> answer;

  explicit ProgramRun(const std::string& text, const logic::AnswerOptions& options = {}) {
    const SourceFile* file = session.sources.add("test.xlog", "", text);
    auto program = lang::load(*file, session);
    if (!program || session.diagnostics.has_errors()) return;
    auto analysis = logic::analyze(*program, session);
    if (analysis) answer = evaluate(*program, *analysis, session, options);
  }
  std::string diagnostics() const { return render_text(session.diagnostics, session.sources); }
  // The rows of query q: "(1,2)(3,4)".
  std::string rows(size_t q) const {
    if (!answer) return diagnostics();
    std::string text;
    for (const logic::Row& row : answer->views.at(0).queries.at(q).rows) {
      std::vector<std::string> values;
      for (const lang::Value& value : row.values)
        values.push_back(lang::to_raw(value, session.names));
      text += fmt::format("({})", fmt::join(values, ","));
    }
    return text;
  }
};

struct Edge {
  int from, to, weight;
};

std::vector<Edge> random_edges(std::mt19937& random, int nodes, int count, int least, int most) {
  std::vector<Edge> edges;
  for (int i = 0; i < count; ++i) {
    const int from = static_cast<int>(random() % static_cast<uint32_t>(nodes));
    const int to = static_cast<int>(random() % static_cast<uint32_t>(nodes));
    const int range = most - least + 1;
    edges.push_back({from, to, least + static_cast<int>(random() % static_cast<uint32_t>(range))});
  }
  return edges;
}

std::string facts(const std::vector<Edge>& edges) {
  std::string text = "pred e(i64, i64, i64).\n";
  for (const Edge& e : edges) text += fmt::format("e({}, {}, {}).\n", e.from, e.to, e.weight);
  return text;
}

// `rules` define m(group, value); the same with the fold taken out and a count of steps put in must
// agree. No best value of `nodes` groups takes more than so many steps, whatever the weights are,
// unless a cycle improves it.
TEST(Best, IsTheBestOfAllCandidates) {
  for (uint32_t seed = 0; seed < 200; ++seed) {
    std::mt19937 random(seed);
    const int nodes = 2 + static_cast<int>(random() % 3);
    const std::vector<Edge> edges = random_edges(random, nodes, 5, 0, 6);
    const bool least = random() % 2 == 0;
    const char* const minima[] = {"V + W", "max(V, W)", "V * 2 + 1", "max(V, W - 1) + 1"};
    const char* const maxima[] = {"V - W", "min(V, W)", "V - 2", "min(V, W + 1) - 1"};
    const std::string value = least ? minima[random() % 4] : maxima[random() % 4];
    const std::string test = random() % 2 == 0 ? "" : least ? ", V < 9" : ", V > -9";
    const std::string fold = least ? "min" : "max";
    const std::string program = facts(edges) + fmt::format(R"(
      m(0, 1). m(0, 3). m(1, 2).
      m(Y, {0}({1})) :- m(X, V), e(X, Y, W){2}.
      c(0, 1, 0). c(0, 3, 0). c(1, 2, 0).
      c(Y, {1}, N + 1) :- c(X, V, N), e(X, Y, W), N < {3}{2}.
      folded(X, {0}(V)) :- c(X, V, _).
      ?- m(X, V). ?- folded(X, V).
    )",
                                                           fold, value, test, nodes + 1);
    const ProgramRun run(program);
    ASSERT_TRUE(run.answer) << "seed " << seed << "\n" << program << run.diagnostics();
    EXPECT_EQ(run.rows(0), run.rows(1)) << "seed " << seed << "\n" << program;
  }
}

// Floyd and Warshall's shortest paths between all nodes, with weights below 0.
TEST(Best, ShortestPathsBetweenAllNodes) {
  for (uint32_t seed = 0; seed < 60; ++seed) {
    std::mt19937 random(seed);
    const int nodes = 6;
    std::vector<Edge> edges = random_edges(random, nodes, 12, 0, 9);
    // Potentials make some weights negative, but no cycle.
    for (Edge& e : edges) e.weight += 3 * e.from - 3 * e.to;
    std::map<std::pair<int, int>, int> wanted;
    auto offer = [&](int from, int to, int length) {
      const auto [it, is_new] = wanted.try_emplace({from, to}, length);
      if (!is_new) it->second = std::min(it->second, length);
    };
    for (const Edge& e : edges) offer(e.from, e.to, e.weight);
    for (int k = 0; k < nodes; ++k) {
      for (int i = 0; i < nodes; ++i) {
        for (int j = 0; j < nodes; ++j) {
          if (!wanted.contains({i, k}) || !wanted.contains({k, j})) continue;
          offer(i, j, wanted[{i, k}] + wanted[{k, j}]);
        }
      }
    }
    std::string text;
    for (const auto& [pair, length] : wanted) {
      text += fmt::format("({},{},{})", pair.first, pair.second, length);
    }
    for (const char* step :
         {"p(X, Y, A), e(Y, Z, B)", "e(X, Y, A), p(Y, Z, B)", "p(X, Y, A), p(Y, Z, B)"}) {
      const ProgramRun run(facts(edges) + fmt::format("p(X, Y, min(W)) :- e(X, Y, W).\n"
                                                      "p(X, Z, min(A + B)) :- {}.\n?- p(X, Y, D).",
                                                      step));
      EXPECT_EQ(run.rows(0), text) << "seed " << seed << ", " << step;
    }
  }
}

TEST(Best, AllRulesAndFactsGiveCandidates) {
  const ProgramRun run(R"(
    e(1, 2, 5). e(2, 3, 1).
    d(1, 7). d(1, 4). d(3, 20).
    d(X, V) :- given(X, V). given(2, 8). given(2, 30).
    d(Y, min(V + W)) :- d(X, V), e(X, Y, W).
    ?- d(X, V).
  )");
  EXPECT_EQ(run.rows(0), "(1,4)(2,8)(3,9)");
}

TEST(Best, ACycleThatImprovesForEverReachesTheLimit) {
  logic::AnswerOptions options;
  options.max_rows = 1000;
  const ProgramRun run("e(1, 2, -3). e(2, 1, 2). d(1, 0). d(Y, min(V + W)) :- d(X, V), e(X, Y, W).",
                       options);
  EXPECT_FALSE(run.answer);
  EXPECT_NE(run.diagnostics().find("negative cycle"), std::string::npos) << run.diagnostics();
}

}  // namespace
}  // namespace xlog::oracle
