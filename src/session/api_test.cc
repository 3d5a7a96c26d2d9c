#include <gtest/gtest.h>

#include <string>

#include "session/test_folder.h"
#include "xlog/session.h"

namespace xlog::api {
namespace {

constexpr const char* kProgram = R"(
pred edge(u32, u32). pred name(u32, symbol). pred tags(u32, list<symbol>). pred odd(term).
edge(1, 2).
reach(X, Y) :- edge(X, Y).
reach(X, Z) :- reach(X, Y), edge(Y, Z).
?- reach(1, X).
?- name(X, N).
?- tags(X, L).
?- odd(X).
)";

Options on_interp() { return {.device = "interp"}; }

Session opened(const char* program = kProgram, const Options& options = on_interp()) {
  Result<Session> session = Session::open_text(program, options);
  EXPECT_TRUE(session.ok()) << (session.ok() ? "" : session.error().text());
  return std::move(session.value());
}

TEST(Api, RowsTextsAndAnswers) {
  Session session = opened();
  ASSERT_TRUE(session.insert("edge(2, 3). name(1, \"Ann B\").").ok());
  ASSERT_TRUE(session.insert("edge", {3, 4u}).ok());
  ASSERT_TRUE(session.insert("name/2", {2, "bob"}).ok());
  ASSERT_TRUE(session.insert("tags", {1, Value::List{"x", "y"}}).ok());
  ASSERT_TRUE(session.insert("odd", {Compound{"f", {-1, 2.5, true}}}).ok());
  const Result<Commit> commit = session.commit();
  ASSERT_TRUE(commit.ok()) << commit.error().text();
  EXPECT_EQ(commit.value().number, 1u);
  EXPECT_EQ(commit.value().inserted, 6u);

  Result<Answer> answer = session.answer();
  ASSERT_TRUE(answer.ok()) << answer.error().text();
  EXPECT_EQ(answer->world_views, "1");
  const std::vector<Table>& tables = answer->tables();
  ASSERT_EQ(tables.size(), 4u);
  EXPECT_EQ(tables[0].query, "reach(1, X)");
  EXPECT_EQ(tables[0].columns, std::vector<std::string>{"X"});
  ASSERT_EQ(tables[0].rows.size(), 3u);
  EXPECT_EQ(tables[0].rows[2].values, (std::vector<Value>{4}));
  EXPECT_EQ(tables[0].rows[2].status, RowStatus::Known);
  EXPECT_EQ(tables[1].rows[0].values, (std::vector<Value>{1, "Ann B"}));
  EXPECT_EQ(tables[1].rows[0].values[1].text(), "\"Ann B\"");
  EXPECT_EQ(tables[2].rows[0].values[1], Value(Value::List{"x", "y"}));
  EXPECT_EQ(tables[3].rows[0].values[0].text(), "f(-1, 2.5, true)");
}

TEST(Api, ChangesUndoAndThen) {
  Session session = opened();
  EXPECT_FALSE(session.changes().ok());
  ASSERT_TRUE(session.insert("edge(2, 3).").ok());
  ASSERT_TRUE(session.commit().ok());
  Result<std::vector<QueryChanges>> changes = session.changes("reach");
  ASSERT_TRUE(changes.ok()) << changes.error().text();
  ASSERT_EQ(changes.value().size(), 1u);
  ASSERT_EQ((*changes)[0].rows.size(), 1u);
  EXPECT_EQ((*changes)[0].rows[0].values, (std::vector<Value>{3}));
  EXPECT_EQ((*changes)[0].rows[0].after, RowStatus::Known);
  EXPECT_FALSE((*changes)[0].rows[0].before);
  ASSERT_TRUE(session.undo(1).ok());
  EXPECT_EQ(session.last_commit(), 2u);
  EXPECT_EQ(session.answer()->tables()[0].rows.size(), 1u);
  EXPECT_EQ(session.answer_at(1)->tables()[0].rows.size(), 2u);
  EXPECT_EQ((*session.difference(0, 1))[0].rows.size(), 1u);
}

TEST(Api, ErrorsSayWhatToDo) {
  Result<Session> broken = Session::open_text("p(X) :- q(Y).", on_interp());
  ASSERT_FALSE(broken.ok());
  EXPECT_NE(broken.error().message.find("error[E"), std::string::npos);
  EXPECT_FALSE(Session::open_file("/missing.xlog").ok());
  EXPECT_FALSE(Session::open_text("p.", {.mode = "other"}).ok());

  Session session = opened();
  EXPECT_NE(session.insert("egde(1, 2).").error().message.find("did you mean `edge`"),
            std::string::npos);
  EXPECT_NE(session.insert("edge", {1, "x"}).error().message.find("column 2"), std::string::npos);
  EXPECT_NE(session.insert("edge", {1}).error().message.find("1 values"), std::string::npos);
  EXPECT_NE(session.insert("other", {1}).error().message.find("no predicate"), std::string::npos);
  ASSERT_TRUE(session.retract("edge", {7, 7}).ok());
  const Result<Commit> refused = session.commit();
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(refused.error().message.find("edge(7, 7)"), std::string::npos);
  session.rollback();
  EXPECT_EQ(session.commit().value().number, 0u);
  EXPECT_FALSE(session.checkpoint().ok());
}

TEST(Api, WorldViews) {
  Session session = opened("{ p(1) }. pred q(u32). :- p(1), q(1). ?- p(X).");
  Result<Answer> answer = session.answer();
  ASSERT_TRUE(answer.ok()) << answer.error().text();
  EXPECT_EQ(answer->views[0].worlds, "2");
  EXPECT_EQ(answer->tables()[0].rows[0].status, RowStatus::Possible);
  ASSERT_TRUE(session.insert("q(1). p(1).").ok());
  ASSERT_TRUE(session.commit().ok());
  answer = session.answer();
  ASSERT_TRUE(answer.ok()) << answer.error().text();
  EXPECT_EQ(answer->world_views, "0");
}

TEST(Api, AStateFolderOutlivesTheSession) {
  session::TestFolder folder;
  Options options = on_interp();
  options.state = folder.file("state");
  {
    Session session = opened(kProgram, options);
    ASSERT_TRUE(session.insert("edge(2, 3).").ok());
    ASSERT_TRUE(session.commit().ok());
    ASSERT_TRUE(session.checkpoint().ok());
    EXPECT_FALSE(Session::open_text(kProgram, options).ok()) << "two at once";
  }
  Session session = opened(kProgram, options);
  EXPECT_EQ(session.last_commit(), 1u);
  EXPECT_EQ(session.answer()->tables()[0].rows.size(), 2u);
}

}  // namespace
}  // namespace xlog::api
