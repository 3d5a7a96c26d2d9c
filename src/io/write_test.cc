#include "io/write.h"

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

namespace xlog::io {
namespace {

using lang::Value;
using logic::RowStatus;

logic::Row row(std::vector<Value> values, RowStatus status) { return {std::move(values), status}; }
logic::Row known(std::vector<Value> values) { return row(std::move(values), RowStatus::Known); }
logic::Row possible(std::vector<Value> values) {
  return row(std::move(values), RowStatus::Possible);
}
logic::WorldView view(mpz_class count, std::vector<logic::QueryAnswer> queries,
                      std::vector<std::vector<std::string>> worlds = {}) {
  return {std::move(count), std::move(queries), std::move(worlds)};
}

class Write : public testing::Test {
 protected:
  lang::Session session;
  lang::Program program;
  logic::Answer answer;
  bool worlds = false;

  Value symbol(std::string_view text) { return Value::symbol(session.names.symbols.intern(text)); }
  void query(std::string text, const std::vector<std::string>& columns) {
    lang::Query& q = program.queries.emplace_back();
    q.text = std::move(text);
    for (const std::string& column : columns)
      q.columns.push_back(session.names.symbols.intern(column));
  }
  std::string text(Format format) {
    Output out;
    write(format, {program, answer, session, all_queries(program), worlds, false}, out);
    return out.text;
  }
};

TEST_F(Write, TableOfKnownRowsHasNoStatus) {
  query("age(P, N)", {"P", "N"});
  answer.views = {view(
      1, {{{known({symbol("ann"), Value::u32(7)}), known({symbol("\u6f22"), Value::u32(123)})}}})};
  EXPECT_EQ(text(Format::Table),
            "?- age(P, N).\n"
            "P      N\n"
            "---  ---\n"
            "ann    7\n"
            "\u6f22   123\n"
            "2 rows\n");
  EXPECT_EQ(text(Format::Csv), "P,N\nann,7\n\u6f22,123\n");
  EXPECT_EQ(text(Format::Tsv), "P\tN\nann\t7\n\u6f22\t123\n");
}

TEST_F(Write, StatusWhereSomeRowIsNotKnown) {
  query("safe(P)", {"P"});
  query("rain", {});
  query("none(X)", {"X"});
  const logic::QueryAnswer safe{{known({symbol("alice")}), possible({symbol("bob")})}};
  const logic::QueryAnswer rain{{possible({})}};
  answer.views = {view(2, {safe, rain, {}}, {{"guess(1)", "person(alice)"}, {}})};
  worlds = true;
  EXPECT_EQ(text(Format::Table),
            "1 world view with 2 worlds\n"
            "\n"
            "?- safe(P).\n"
            "P      status\n"
            "-----  --------\n"
            "alice  known\n"
            "bob    possible\n"
            "2 rows\n"
            "\n"
            "?- rain.\n"
            "possible\n"
            "\n"
            "?- none(X).\n"
            "0 rows\n"
            "\n"
            "worlds\n"
            "{guess(1), person(alice)}\n"
            "{}\n");
  EXPECT_EQ(text(Format::Csv), "P,status\nalice,known\nbob,possible\n\nanswer\npossible\n\nX\n");
  EXPECT_EQ(text(Format::Ndjson),
            "{\"query\": \"safe(P)\", \"world_view\": 1, \"status\": \"known\", \"values\": "
            "{\"P\": \"alice\"}}\n"
            "{\"query\": \"safe(P)\", \"world_view\": 1, \"status\": \"possible\", \"values\": "
            "{\"P\": \"bob\"}}\n"
            "{\"query\": \"rain\", \"world_view\": 1, \"status\": \"possible\", \"values\": {}}\n");
}

TEST_F(Write, SeveralViews) {
  query("a", {});
  query("p(X)", {"X"});
  answer.view_count = 3;
  const logic::QueryAnswer a{{known({})}}, p{{known({Value::i64(-1)})}};
  answer.views = {view(1, {a, p}), view(2, {{}, {}})};
  EXPECT_EQ(text(Format::Table),
            "world view 1 of 3 (1 world)\n\n?- a.\ntrue\n\n?- p(X).\n X\n--\n-1\n1 row\n\n"
            "world view 2 of 3 (2 worlds)\n\n?- a.\nfalse\n\n?- p(X).\n0 rows\n");
  EXPECT_EQ(text(Format::Csv), "world_view,answer\n1,true\n2,false\n\nworld_view,X\n1,-1\n");
}

TEST_F(Write, NoWorldViewShowsTheWellFoundedModel) {
  query("p(X)", {"X"});
  answer.view_count = 0;
  answer.well_founded_queries = {
      {{row({symbol("a")}, RowStatus::True), row({symbol("b")}, RowStatus::Undefined)}}};
  EXPECT_EQ(text(Format::Table),
            "No world view. What is true or undefined in the well-founded model:\n"
            "\n"
            "?- p(X).\n"
            "X  status\n"
            "-  ---------\n"
            "a  true\n"
            "b  undefined\n"
            "2 rows\n");
  EXPECT_EQ(text(Format::Csv), "X,status\na,true\nb,undefined\n");
  const auto json = nlohmann::ordered_json::parse(text(Format::Json));
  EXPECT_EQ(json, nlohmann::ordered_json::parse(R"json(
      {"mode": "faeel", "world_view_count": "0", "world_views": [],
       "well_founded": {"queries": [{"query": "p(X)", "columns": ["X"],
                                     "rows": [{"values": ["a"], "status": "true"},
                                              {"values": ["b"], "status": "undefined"}]}]},
       "diagnostics": []})json"));
}

TEST_F(Write, WellFoundedWhenAskedFor) {
  query("p(X)", {"X"});
  answer.well_founded = true;
  answer.well_founded_queries = {{{row({symbol("a")}, RowStatus::True)}}};
  EXPECT_EQ(text(Format::Table), "?- p(X).\nX\n-\na\n1 row\n");
  EXPECT_EQ(text(Format::Csv), "X\na\n");
}

TEST_F(Write, JsonContract) {
  query("safe(P)", {"P"});
  worlds = true;
  const logic::QueryAnswer safe{{known({symbol("alice")}), possible({symbol("bob")})}};
  answer.views = {view(mpz_class("36893488147419103232"), {safe},
                       {{"guess(1)", "person(alice)"}, {"person(alice)"}})};
  session.diagnostics.report(Code::DivisionByZero, {}, "3 instances");
  const auto json = nlohmann::ordered_json::parse(text(Format::Json));
  EXPECT_EQ(json["diagnostics"][0]["code"], "W0903");
  auto rest = json;
  rest["diagnostics"] = nlohmann::ordered_json::array();
  EXPECT_EQ(rest.dump(), nlohmann::ordered_json::parse(R"json(
      {"mode": "faeel", "world_view_count": "1",
       "world_views": [
         {"world_count": "36893488147419103232",
          "queries": [{"query": "safe(P)", "columns": ["P"],
                       "rows": [{"values": ["alice"], "status": "known"},
                                {"values": ["bob"], "status": "possible"}]}],
          "worlds": [["guess(1)", "person(alice)"], ["person(alice)"]]}],
       "diagnostics": []})json")
                             .dump());
  worlds = false;
  EXPECT_FALSE(
      nlohmann::ordered_json::parse(text(Format::Json))["world_views"][0].contains("worlds"));
}

TEST_F(Write, JsonValues) {
  lang::TermTable& terms = session.names.terms;
  const std::vector<Value> pair = {Value::u32(1), Value::u32(2)};
  const Value list = terms.list(pair);
  const std::vector<Value> nested = {list, terms.list({})};
  const std::vector<std::pair<Value, std::string>> cases = {
      {Value::u64(UINT64_MAX), "18446744073709551615"},
      {Value::i64(INT64_MIN), "-9223372036854775808"},
      {Value::f64(0.5), "0.5"},
      {Value::f64(1), "1.0"},
      {Value::f64(1e300), "1e300"},
      {Value::f32(0.1f), "0.1"},
      {Value::f64(NAN), "\"nan\""},
      {Value::f64(INFINITY), "\"inf\""},
      {Value::f32(-INFINITY), "\"-inf\""},
      {Value::boolean(true), "true"},
      {symbol("a\"b\\\n\x01\xff\u00e9"), "\"a\\\"b\\\\\\n\\u0001\uFFFD\u00e9\""},
      {terms.list(nested), "[[1, 2], []]"},
      {terms.compound(session.names.symbols.intern("f"), pair), "\"f(1, 2)\""},
  };
  for (const auto& [value, expected] : cases) {
    std::string out;
    append_json(out, value, session.names);
    EXPECT_EQ(out, expected);
    EXPECT_TRUE(nlohmann::json::accept(out)) << out;
  }
}

TEST_F(Write, DeepListsDoNotOverflowTheStack) {
  Value list = session.names.terms.list({});
  for (int i = 0; i < 1'000'000; ++i) list = session.names.terms.list(std::vector<Value>{list});
  std::string out;
  append_json(out, list, session.names);
  EXPECT_EQ(out.size(), 2'000'002u);
}

TEST_F(Write, CsvNeverWritesAnEmptyLineForARow) {
  query("p(X)", {"X"});
  answer.views = {view(1, {{{known({symbol("")}), known({symbol("a,b")})}}})};
  EXPECT_EQ(text(Format::Csv), "X\n\"\"\n\"a,b\"\n");
}

TEST_F(Write, TablesShowNoControlCharacters) {
  query("p(X)", {"X"});
  answer.views = {view(1, {{{known({symbol("\x1b[2J\n")})}}})};
  EXPECT_EQ(text(Format::Table), "?- p(X).\nX\n-----------\n\\x1b[2J\\x0a\n1 row\n");
}

TEST_F(Write, RowsOverViewsHaveTheirCounts) {
  query("p(X)", {"X"});
  answer.view_count = 8;
  answer.ask = logic::Ask::Credulous;
  const auto count = [](int n) { return std::make_shared<const mpz_class>(n); };
  answer.over_views = {{{{symbol("a")}, count(8), count(8)}, {{symbol("b")}, count(2), count(4)}}};
  EXPECT_EQ(text(Format::Table),
            "over 8 world views: rows that are known in some of them\n\n?- p(X).\n"
            "X  known in  possible in\n-  --------  -----------\na         8            8\n"
            "b         2            4\n2 rows\n");
  EXPECT_EQ(text(Format::Csv), "X,known_in,possible_in\na,8,8\nb,2,4\n");
  EXPECT_EQ(text(Format::Ndjson),
            "{\"query\": \"p(X)\", \"known_in\": \"8\", \"possible_in\": \"8\", \"values\": "
            "{\"X\": \"a\"}}\n{\"query\": \"p(X)\", \"known_in\": \"2\", \"possible_in\": \"4\", "
            "\"values\": {\"X\": \"b\"}}\n");
}

TEST_F(Write, CountsAreOneLine) {
  answer.view_count = 2;
  answer.ask = logic::Ask::Counts;
  answer.worlds = logic::WorldCounts{3, 1, 2};
  EXPECT_EQ(text(Format::Table), "2 world views with 1 to 2 worlds each, 3 in all\n");
  EXPECT_EQ(text(Format::Tsv),
            "world_view_count\tworld_count\tleast_world_count\tmost_world_count\n2\t3\t1\t2\n");
  answer.view_count = 0;
  answer.worlds.reset();
  EXPECT_EQ(text(Format::Table), "0 world views\n");
}

TEST(Formats, AreFoundByName) {
  for (const std::string& name : format_names()) {
    ASSERT_TRUE(find_format(name));
    EXPECT_EQ(spelling(*find_format(name)), name);
  }
  EXPECT_FALSE(find_format("xml"));
  EXPECT_EQ(file_ending(Format::Table), ".csv");
}

}  // namespace
}  // namespace xlog::io
