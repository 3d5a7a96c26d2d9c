#include "session/session.h"

#include <gtest/gtest.h>

#include <atomic>
#include <map>
#include <random>
#include <string>

#include "incremental/fact_set.h"
#include "session/replay.h"
#include "session/test_folder.h"

namespace xlog::session {
namespace {

constexpr std::string_view kReach = R"(
pred edge(u32, u32).
pred blocked(u32).
edge(1, 2). edge(2, 3). edge(2, 3).
reach(X, Y) :- edge(X, Y), not blocked(Y).
reach(X, Z) :- reach(X, Y), edge(Y, Z), not blocked(Z).
degree(X, count(Y)) :- edge(X, Y).
?- reach(1, X).
?- degree(X, N).
)";

Options small_options() {
  Options options;
  options.device = "interp";
  return options;
}

std::string messages(Session& session) {
  return render_text(session.language().diagnostics, session.language().sources);
}

class Opened {
 public:
  explicit Opened(std::string_view text = kReach, Options options = small_options()) {
    ok_ = session_.open_text("test.xlog", std::string(text), std::move(options));
  }
  bool ok() const { return ok_; }
  Session& operator*() { return session_; }
  Session* operator->() { return &session_; }

  std::string add(const std::string& fact, int64_t weight) {
    SourceMap sources;
    Diagnostics diagnostics;
    sources.add("facts", "", fact);
    session_.add(sources, weight, diagnostics);
    return render_text(diagnostics, sources);
  }
  uint64_t commit(std::initializer_list<std::pair<const char*, int>> facts) {
    for (const auto& [fact, weight] : facts) EXPECT_EQ(add(fact, weight), "");
    const Result<Commit> done = session_.commit();
    EXPECT_TRUE(done.ok()) << (done.ok() ? "" : done.error().message);
    return done.ok() ? done->number : 0;
  }
  uint64_t digest() {
    const std::optional<logic::Answer> answer = session_.answer();
    return answer ? answer_digest(*answer, session_.program(), session_.language()) : 0;
  }
  uint64_t digest_at(uint64_t number) {
    const std::optional<logic::Answer> answer = session_.answer_at(number);
    return answer ? answer_digest(*answer, session_.program(), session_.language()) : 0;
  }
  std::string pending() {
    std::string out;
    const auto net = session_.pending();
    if (!net.ok()) return net.error().message;
    for (const incremental::FactChanges& part : *net) {
      const uint32_t arity = session_.program()[part.pred].arity;
      for (size_t r = 0; r < part.weights.size(); ++r) {
        out += std::to_string(part.weights[r]) + " " +
               incremental::fact_text(part.pred, std::span(part.values).subspan(r * arity, arity),
                                      session_.program(), session_.language().names) +
               "\n";
      }
    }
    return out;
  }

 private:
  Session session_;
  bool ok_ = false;
};

TEST(Session, ChangesAndAnswersFollowCommits) {
  Opened session;
  ASSERT_TRUE(session.ok()) << messages(*session);
  EXPECT_EQ(session.commit({{"edge(3, 4).", 1}, {"edge(1, 2).", -1}, {"edge(1, 3).", 1}}), 1u);
  const uint32_t first[] = {0};
  const auto changes = session->changes(first);
  ASSERT_TRUE(changes.ok());
  ASSERT_EQ((*changes)[0].rows.size(), 2u);
  EXPECT_EQ((*changes)[0].rows[0].values[0].bits, 2u);
  EXPECT_FALSE((*changes)[0].rows[0].after);
  EXPECT_EQ((*changes)[0].rows[1].values[0].bits, 4u);
  EXPECT_FALSE((*changes)[0].rows[1].before);
}

TEST(Session, AFactThatIsNotThereRefusesTheWholeCommit) {
  Opened session;
  const uint64_t before = session.digest();
  EXPECT_EQ(session.add("edge(5, 6).", 1), "");
  EXPECT_EQ(session.add("edge(7, 7).", -1), "");
  const Result<Commit> done = session->commit();
  ASSERT_FALSE(done.ok());
  EXPECT_NE(done.error().message.find("`edge(7, 7)`"), std::string::npos);
  EXPECT_EQ(session->last(), 0u);
  EXPECT_EQ(session.digest(), before);
  EXPECT_EQ(session.pending(), "1 edge(5, 6)\n-1 edge(7, 7)\n");
  session->rollback();
  EXPECT_EQ(session.pending(), "");
  // What the program states twice goes with the second retraction.
  EXPECT_EQ(session.commit({{"edge(2, 3).", -1}}), 1u);
  EXPECT_EQ(session.digest(), before);
  EXPECT_EQ(session.commit({{"edge(2, 3).", -1}}), 2u);
  EXPECT_NE(session.digest(), before);
}

TEST(Session, AnInterruptedCommitStaysPending) {
  for (const bool reference : {false, true}) {
    std::atomic<bool> interrupt = false;
    Options options = small_options();
    options.answer.interrupt = &interrupt;
    options.reference_only = reference;
    Opened session(kReach, options);
    ASSERT_TRUE(session.ok());
    const uint64_t before = session.digest();
    // So many facts that they are evaluated afresh.
    ASSERT_EQ(session.add("edge(3, 100..3000).", 1), "");
    interrupt = true;
    const Result<Commit> refused = session->commit();
    ASSERT_FALSE(refused.ok());
    EXPECT_EQ(refused.error().message, "interrupted before it was finished");
    EXPECT_EQ(refused.error().kind, ErrorKind::Limit);
    interrupt = false;
    EXPECT_EQ(session->last(), 0u);
    EXPECT_EQ(session.digest(), before);
    EXPECT_EQ(session.commit({}), 1u);
    EXPECT_NE(session.digest(), before);
  }
}

TEST(Session, WhatCancelsOutIsNoCommit) {
  Opened session;
  EXPECT_EQ(session.commit({{"edge(5, 6).", 1}, {"edge(5, 6).", -1}}), 0u);
  EXPECT_EQ(session->last(), 0u);
}

TEST(Session, FactsAreReadAsInTheProgram) {
  Opened session(R"(
#const limit = 7.
pred at(i32, f64). pred name(symbol). pred flag(bool). pred l(list<u32>). pred any(term).
func twice(X) = X * 2.
p(X) :- at(X, Y). -q(1). r(X) :- -q(X).
?- p(X).
)");
  ASSERT_TRUE(session.ok()) << messages(*session);
  EXPECT_EQ(
      session.add("at(limit, 1). at(-3 + 1, 2.5). name(\"limit\"). name(Ann).", 1).substr(0, 5),
      "error");
  EXPECT_EQ(session.pending(), "");
  EXPECT_EQ(session.add("at(limit, 1). at(1 - 3, 2.5). name(\"limit\"). flag(true). l([1, 2]).\n"
                        "any(f(x, [])). -q(2). p(9). at(1..2, 0).",
                        1),
            "");
  EXPECT_EQ(session.pending(),
            "1 at(-2, 2.5)\n1 at(1, 0.0)\n1 at(2, 0.0)\n1 at(7, 1.0)\n1 name(limit)\n1 flag(true)\n"
            "1 l([1, 2])\n1 any(f(x, []))\n1 p(9)\n1 -q(2)\n");
  ASSERT_TRUE(session->commit().ok());
  const auto expect_error = [&](const std::string& fact, std::string_view part) {
    const std::string text = session.add(fact, 1);
    EXPECT_NE(text.find(part), std::string::npos) << fact << ": " << text;
  };
  expect_error("at(1).", "the program has `at/2`");
  expect_error("att(1, 2).", "did you mean `at`?");
  expect_error("at(3000000000, 2).", "column 1 of `at/2`, which is i32");
  expect_error("at(twice(2), 2).", "functions of the program");
  expect_error("at(X, 2).", "E0208");
  expect_error("p(X) :- at(X, 1).", "only facts");
  expect_error("?- p(X).", "only facts");
  expect_error("#const n = 3.", "only facts");
  expect_error("at(1, 2)", "E0108");
  EXPECT_EQ(session.pending(), "");
}

TEST(Session, UndoTakesBackOneBatch) {
  Opened session;
  const uint64_t at_0 = session.digest();
  session.commit({{"edge(3, 4).", 1}});
  session.commit({{"edge(4, 5).", 1}});
  ASSERT_TRUE(session->undo(1).ok());
  EXPECT_EQ(session->last(), 3u);
  ASSERT_TRUE(session->undo(2).ok());
  EXPECT_EQ(session.digest(), at_0);
  const Result<Commit> again = session->undo(1);
  ASSERT_FALSE(again.ok());
  EXPECT_NE(again.error().message.find("`edge(3, 4)`"), std::string::npos);
  EXPECT_EQ(session->last(), 4u);
  EXPECT_FALSE(session->undo(0).ok());
  EXPECT_FALSE(session->undo(9).ok());
  ASSERT_TRUE(session->undo(3).ok());  // an undo can be undone
}

TEST(Session, QueriesAreFoundByPredicate) {
  Opened session;
  EXPECT_EQ(*session->queries_about("reach"), std::vector<uint32_t>{0});
  EXPECT_EQ(*session->queries_about("degree/2"), std::vector<uint32_t>{1});
  EXPECT_NE(session->queries_about("edge").error().help.find("?- edge(X1, X2)."),
            std::string::npos);
  EXPECT_FALSE(session->queries_about("other").ok());
}

TEST(Session, FilesOfDeltas) {
  TestFolder folder;
  Opened session;
  const lang::PredId edge = *find_predicate("edge", session->program(), session->language().names);
  write_bytes(folder.file("a.csv"), "x,weight,y\n1,-1,2\n5,2,6\n");
  EXPECT_EQ(session->load(edge, folder.file("a.csv"), {}), 2u);
  EXPECT_EQ(session.pending(), "-1 edge(1, 2)\n2 edge(5, 6)\n");
  session->rollback();
  write_bytes(folder.file("b.tsv"), "1\t1\t2\n-1\t2\t3\n");
  EXPECT_EQ(session->load(edge, folder.file("b.tsv"), 1), 2u);
  EXPECT_EQ(session.pending(), "1 edge(1, 2)\n-1 edge(2, 3)\n");
  session->rollback();
  write_bytes(folder.file("c.csv"), "7,8\n8,9\n");
  EXPECT_EQ(session->load(edge, folder.file("c.csv"), {}), 2u);
  EXPECT_EQ(session.pending(), "1 edge(7, 8)\n1 edge(8, 9)\n");
  session->rollback();
  const auto expect_error = [&](std::string_view bytes, std::string_view part) {
    write_bytes(folder.file("bad.csv"), bytes);
    EXPECT_FALSE(session->load(edge, folder.file("bad.csv"), {}));
    EXPECT_NE(messages(*session).find(part), std::string::npos) << messages(*session);
    EXPECT_EQ(session.pending(), "");
  };
  expect_error("x,y,weight\n1,2,1\n1,2,often\n", "bad.csv:3");
  expect_error("x,y,weight\n1,two,1\n", "`two` is not a u32");
  expect_error("1,2,3\n", "if one of them is the weight");
  expect_error("x,y,weight\n1,2\n", "2 fields");
  EXPECT_FALSE(session->load(edge, folder.file("missing.csv"), {}));
}

class NamedDeltas : public testing::Test {
 protected:
  // What is pending after loading these bytes, or what was reported.
  static std::string load(std::string_view program, std::string_view predicate,
                          std::string_view bytes, std::optional<size_t> weight = {}) {
    TestFolder folder;
    Opened session(program);
    const auto pred = find_predicate(predicate, session->program(), session->language().names);
    write_bytes(folder.file("d.csv"), bytes);
    if (session->load(*pred, folder.file("d.csv"), weight)) return session.pending();
    EXPECT_EQ(session.pending(), "");
    return messages(*session);
  }
  static constexpr std::string_view kEdge = "pred edge(from: u32, to: u32). ?- edge(X, Y).";
};

TEST_F(NamedDeltas, AColumnOfThePredicateIsNotTheWeight) {
  constexpr std::string_view kWeighted =
      "pred edge(from: u32, to: u32, weight: u32). ?- edge(X, Y, W).";
  EXPECT_EQ(load(kWeighted, "edge", "from,to,weight\n1,2,5\n2,3,0\n"),
            "1 edge(1, 2, 5)\n1 edge(2, 3, 0)\n");
  EXPECT_EQ(load(kWeighted, "edge", "__weight,weight,to,from\n-1,5,2,1\n"), "-1 edge(1, 2, 5)\n");
  EXPECT_EQ(load(kWeighted, "edge", "from,to,weight,often\n1,2,5,3\n", 4), "3 edge(1, 2, 5)\n");
}

TEST_F(NamedDeltas, TheLongNameOfTheWeightComesFirst) {
  EXPECT_EQ(load(kEdge, "edge", "from,weight,to,__weight\n1,7,2,-1\n"), "-1 edge(1, 2)\n");
  EXPECT_EQ(load(kEdge, "edge", "weight, to ,from\n3,2,1\n"), "3 edge(1, 2)\n");
}

TEST_F(NamedDeltas, AMissingOrDoubledNameIsAnError) {
  const auto expect_error = [](std::string_view bytes, std::string_view part) {
    const std::string found = load(kEdge, "edge", bytes);
    EXPECT_NE(found.find("error[E0803]"), std::string::npos) << found;
    EXPECT_NE(found.find(part), std::string::npos) << found;
  };
  expect_error("b,from,weight\n1,2,1\n", "does not name column `to` of `edge/2`");
  expect_error("from,from,to,weight\n1,1,2,1\n", "names column `from` of `edge/2` 2 times");
  expect_error("weight,weight,to,from\n1,1,2,3\n", "names the weight `weight` 2 times");
  expect_error("7,8,weight\n1,2,1\n", "3 fields, but `edge/2` has 2 columns");
  const std::string found =
      load("pred s(a: symbol, b: symbol). ?- s(X, Y).", "s", "a,weight\nx,1\n");
  EXPECT_NE(found.find("does not name column `b`"), std::string::npos) << found;
}

TEST_F(NamedDeltas, TheWordWeightInARowIsAValue) {
  constexpr std::string_view kSymbols = "pred s(symbol, u32). ?- s(X, Y).";
  EXPECT_EQ(load(kSymbols, "s", "weight,5,1\nx,6,1\n", 3), "1 s(weight, 5)\n1 s(x, 6)\n");
  EXPECT_EQ(load(kSymbols, "s", "weight,5\nx,6\n"), "1 s(weight, 5)\n1 s(x, 6)\n");
}

TEST(Session, ChangesNeedAnAnswerOnBothSides) {
  for (const bool recompute : {false, true}) {
    Options options = small_options();
    options.recompute = recompute;
    Opened session("pred e(u32). e(1). :- e(5). ?- e(X).", options);
    const auto found = [&](const Result<std::vector<QueryChanges>>& changes) {
      return changes.ok() ? std::to_string(changes->front().rows.size()) : messages(*session);
    };
    const auto expect_error = [&](const Result<std::vector<QueryChanges>>& changes,
                                  const std::string& commit) {
      EXPECT_NE(found(changes).find("error[E0901]"), std::string::npos) << found(changes);
      EXPECT_NE(found(changes).find("so it is after commit " + commit + ","), std::string::npos)
          << found(changes);
    };
    const std::vector<uint32_t> all = {0};
    session.commit({{"e(5).", 1}});
    expect_error(session->changes(all), "1");
    expect_error(session->difference(0, 1, all), "1");
    expect_error(session->difference(1, 0, all), "1");
    session.commit({{"e(6).", 1}});
    expect_error(session->changes(all), "1");
    expect_error(session->changes(all), "2");
    session.commit({{"e(5).", -1}});
    expect_error(session->changes(all), "2");
    EXPECT_EQ(found(session->difference(0, 3, all)), "1");
    session.commit({{"e(7).", 1}});
    EXPECT_EQ(found(session->changes(all)), "1");
  }
}

// ---- Random scripts, judged by fresh runs over what a model says is there ----

using Model = std::map<std::string, int>;  // fact -> weight

uint64_t fresh_digest(const Model& facts) {
  std::string text(kReach);
  text.replace(text.find("edge(1, 2)."),
               std::string_view("edge(1, 2). edge(2, 3). edge(2, 3).").size(), "");
  for (const auto& [fact, weight] : facts) {
    for (int i = 0; i < weight; ++i) text += fact + "\n";
  }
  Opened session(text);
  EXPECT_TRUE(session.ok()) << messages(*session);
  return session.digest();
}

class RandomScripts : public testing::TestWithParam<bool> {};

TEST_P(RandomScripts, AgreeWithFreshRuns) {
  const bool durable = GetParam();
  for (uint32_t seed = 1; seed <= 6; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937 random(seed);
    const auto below = [&](uint32_t n) {
      return std::uniform_int_distribution<uint32_t>(0, n - 1)(random);
    };
    TestFolder folder;
    Options options = small_options();
    if (durable) options.state = folder.file("state");
    auto session = std::make_unique<Opened>(kReach, options);
    ASSERT_TRUE(session->ok()) << messages(**session);
    std::vector<Model> history = {{{"edge(1, 2).", 1}, {"edge(2, 3).", 2}}};
    std::vector<std::map<std::string, int>> batches = {{}};
    const auto commit = [&](const std::map<std::string, int>& batch) {
      Model next = history.back();
      for (const auto& [fact, weight] : batch) {
        next[fact] += weight;
        if (next[fact] == 0) next.erase(fact);
      }
      history.push_back(next);
      batches.push_back(batch);
    };
    for (int step = 0; step < 40; ++step) {
      const uint32_t what = below(10);
      if (what < 6) {
        std::map<std::string, int> batch;
        for (uint32_t i = 0; i <= below(4); ++i) {
          const std::string fact = below(4) == 0 ? "blocked(" + std::to_string(1 + below(4)) + ")."
                                                 : "edge(" + std::to_string(1 + below(5)) + ", " +
                                                       std::to_string(1 + below(5)) + ").";
          const int weight = below(2) == 0 ? -1 : 1;
          ASSERT_EQ(session->add(fact, weight), "");
          batch[fact] += weight;
          if (batch[fact] == 0) batch.erase(fact);
        }
        const Model& now = history.back();
        const bool possible = std::ranges::all_of(batch, [&](const auto& item) {
          const auto found = now.find(item.first);
          return (found == now.end() ? 0 : found->second) + item.second >= 0;
        });
        const Result<Commit> done = (*session)->commit();
        ASSERT_EQ(done.ok(), possible) << (done.ok() ? "" : done.error().message);
        if (!possible) (*session)->rollback();
        if (possible && !batch.empty()) commit(batch);
      } else if (what < 7 && history.size() > 1) {
        const uint64_t number = 1 + below(static_cast<uint32_t>(history.size() - 1));
        std::map<std::string, int> inverse = batches[number];
        for (auto& [fact, weight] : inverse) weight = -weight;
        const Model& now = history.back();
        const bool possible = std::ranges::all_of(inverse, [&](const auto& item) {
          const auto found = now.find(item.first);
          return (found == now.end() ? 0 : found->second) + item.second >= 0;
        });
        ASSERT_EQ((*session)->undo(number).ok(), possible);
        if (possible) commit(inverse);
      } else if (what < 8) {
        const uint64_t number = below(static_cast<uint32_t>(history.size()));
        ASSERT_EQ(session->digest_at(number), fresh_digest(history[number])) << "at " << number;
      } else if (durable && what < 9) {
        ASSERT_TRUE((*session)->checkpoint().ok());
      } else if (durable) {
        session.reset();
        session = std::make_unique<Opened>(kReach, options);
        ASSERT_TRUE(session->ok()) << messages(**session);
      }
      ASSERT_EQ((*session)->last(), history.size() - 1);
    }
    ASSERT_EQ(session->digest(), fresh_digest(history.back()));
    // The differences between two moments are those of the answers.
    const uint32_t all[] = {0, 1};
    const auto difference = (*session)->difference(history.size() - 1, 0, all);
    ASSERT_TRUE(difference.ok()) << difference.error().message;
    if (!durable) continue;
    session.reset();
    // From the beginning, the same answers.
    Options again = small_options();
    again.log = log_path(options.state);
    Opened replayed(kReach, again);
    ASSERT_TRUE(replayed.ok()) << messages(*replayed);
    size_t batch = 0;
    const Result<Replayed> done =
        replay(*replayed, again,
               {.on_batch = [&](const Commit& seen) -> Status {
                  EXPECT_EQ(seen.number, batch);
                  if (batch % 5 == 0) {
                    EXPECT_EQ(replayed.digest(), fresh_digest(history[batch]));
                  }
                  ++batch;
                  return Done{};
                },
                .on_recorded_answer = [&](uint64_t, uint64_t digest) -> Status {
                  EXPECT_EQ(digest, replayed.digest());
                  return Done{};
                }});
    ASSERT_TRUE(done.ok()) << done.error().message;
    EXPECT_EQ(batch, history.size());
  }
}

INSTANTIATE_TEST_SUITE_P(Kept, RandomScripts, testing::Bool(),
                         [](const auto& kept) { return kept.param ? "InAFolder" : "InMemory"; });

// ---- State folders ----

TEST(State, AnotherProgramIsRefusedUnlessAccepted) {
  TestFolder folder;
  Options options = small_options();
  options.state = folder.file("state");
  {
    Opened session(kReach, options);
    session.commit({{"edge(3, 4).", 1}});
  }
  std::string other(kReach);
  other += "reach(X, X) :- edge(X, _).\n";
  {
    Opened session(other, options);
    ASSERT_FALSE(session.ok());
    EXPECT_NE(messages(*session).find("another program"), std::string::npos) << messages(*session);
  }
  options.accept_program = true;
  {
    Opened session(other, options);
    ASSERT_TRUE(session.ok()) << messages(*session);
    EXPECT_EQ(session->last(), 1u);
    session.commit({{"edge(4, 5).", 1}});
  }
  options.accept_program = false;
  EXPECT_TRUE(Opened(other, options).ok());
  // Another query is no other program.
  EXPECT_TRUE(Opened(other + "?- edge(X, Y).\n", options).ok());
  // Facts that do not fit.
  options.accept_program = true;
  Opened narrow("pred edge(symbol, symbol). ?- edge(X, Y).", options);
  EXPECT_FALSE(narrow.ok());
  EXPECT_NE(messages(*narrow).find("column 1 of `edge/2`"), std::string::npos) << messages(*narrow);
}

TEST(State, OneSessionAtATime) {
  TestFolder folder;
  Options options = small_options();
  options.state = folder.file("state");
  const Opened first(kReach, options);
  ASSERT_TRUE(first.ok());
  Opened second(kReach, options);
  EXPECT_FALSE(second.ok());
  EXPECT_NE(messages(*second).find("another process"), std::string::npos) << messages(*second);
}

TEST(State, DamagedCheckpointsAreLeftOut) {
  TestFolder folder;
  Options options = small_options();
  options.state = folder.file("state");
  uint64_t digest = 0;
  {
    Opened session(kReach, options);
    session.commit({{"edge(3, 4).", 1}});
    ASSERT_TRUE(session->checkpoint().ok());
    session.commit({{"edge(4, 5).", 1}});
    ASSERT_TRUE(session->checkpoint().ok());
    digest = session.digest();
  }
  const std::string path = options.state + "/checkpoint-2";
  const std::string whole = read_bytes(path);
  for (size_t at = 0; at < whole.size(); at += 7) {
    std::string bytes = whole;
    bytes[at] ^= 1;
    write_bytes(path, bytes);
    Opened session(kReach, options);
    ASSERT_TRUE(session.ok()) << at << messages(*session);
    EXPECT_EQ(session->notices().size(), 1u);
    EXPECT_EQ(session->last(), 2u);
    if (at % 35 == 0) {
      EXPECT_EQ(session.digest(), digest) << at;
    }
  }
}

TEST(State, StartsFromACheckpointOfAnotherSession) {
  TestFolder folder;
  uint64_t digest = 0;
  {
    Opened session;
    session.commit({{"edge(3, 4).", 1}, {"edge(1, 2).", 1}});
    ASSERT_TRUE(session->checkpoint_to(folder.file("facts")).ok());
    EXPECT_FALSE(session->checkpoint().ok());
    digest = session.digest();
  }
  Options options = small_options();
  options.checkpoint = folder.file("facts");
  Opened session(kReach, options);
  ASSERT_TRUE(session.ok()) << messages(*session);
  EXPECT_EQ(session->last(), 0u);
  EXPECT_EQ(session.digest(), digest);
  session.commit({{"edge(1, 2).", -1}});
  EXPECT_EQ(session.digest(), digest) << "its weight was 2";
}

}  // namespace
}  // namespace xlog::session
