#include "logic/explain.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "logic/test_program.h"

namespace xlog::logic {
namespace {

using ::testing::HasSubstr;
using Json = nlohmann::ordered_json;

constexpr std::string_view kProgram = R"(pred edge(from: u32, u32).
edge(1, 2). edge(2, 3).
reach(X, Y) :- edge(X, Y).
reach(X, Z) :- reach(X, Y), edge(Y, Z).
{ guess(X) : edge(X, _) }.
sure(X) :- know guess(X), not possible odd(X).
odd(X) :- edge(X, _), not know not guess(X).
maybe(X) :- possible guess(X).
:- possible guess(9).
)";

// Braces, brackets and quotes of a Graphviz text pair up.
void expect_balanced(const std::string& dot) {
  int depth = 0;
  bool quoted = false;
  for (size_t i = 0; i < dot.size(); ++i) {
    if (quoted && dot[i] == '\\') {
      ++i;
    } else if (dot[i] == '"') {
      quoted = !quoted;
    } else if (!quoted && (dot[i] == '{' || dot[i] == '[')) {
      ++depth;
    } else if (!quoted && (dot[i] == '}' || dot[i] == ']')) {
      --depth;
    }
    ASSERT_GE(depth, 0);
  }
  EXPECT_EQ(depth, 0);
  EXPECT_FALSE(quoted);
}

TEST(Explain, TypesAsText) {
  const TestProgram test(kProgram);
  ASSERT_TRUE(test.analysis) << test.rendered();
  const std::string text = explain_types(*test.program, test.session, ExplainFormat::Text);
  EXPECT_THAT(text, HasSubstr("edge/2 declared  (2 facts, 0 rules)\n  1 from : u32"));
  EXPECT_THAT(text, HasSubstr("reach/2  (0 facts, 2 rules)\n  1 : u32"));
}

TEST(Explain, TypesAsJson) {
  const TestProgram test(kProgram);
  ASSERT_TRUE(test.analysis) << test.rendered();
  const Json json = Json::parse(explain_types(*test.program, test.session, ExplainFormat::Json));
  EXPECT_EQ(json["stage"], "types");
  EXPECT_EQ(json["predicates"][0]["predicate"], "edge/2");
  EXPECT_EQ(json["predicates"][0]["columns"][0]["name"], "from");
  EXPECT_EQ(json["predicates"][0]["columns"][0]["type"], "u32");
  EXPECT_EQ(json["predicates"][0]["facts"], 2);
}

TEST(Explain, ComponentsAsText) {
  const TestProgram test(kProgram);
  ASSERT_TRUE(test.analysis) << test.rendered();
  const std::string text =
      explain_components(*test.program, *test.analysis, test.session, ExplainFormat::Text);
  EXPECT_THAT(text, HasSubstr("determined, stratum 0, recursive\n  predicates: reach/2\n"
                              "  rule at 3:1: reach(X, Y) :- edge(X, Y).\n"));
  EXPECT_THAT(text, HasSubstr("because: choice in rule at 5:1"));
  EXPECT_THAT(text, HasSubstr("sure/1 <- guess/1  modal positive"));
  EXPECT_THAT(text, HasSubstr("constraints\n  rule at 9:1: :- possible guess(9).\n"));
}

TEST(Explain, ComponentsAsJson) {
  const TestProgram test(kProgram);
  ASSERT_TRUE(test.analysis) << test.rendered();
  const Json json = Json::parse(
      explain_components(*test.program, *test.analysis, test.session, ExplainFormat::Json));
  EXPECT_EQ(json["determined"], false);
  EXPECT_EQ(json["modal"], true);
  EXPECT_EQ(json["components"].size(), test.analysis->components.size());
  EXPECT_EQ(json["components"][0]["class"], "determined");
  EXPECT_TRUE(json["components"][0]["reason"].is_null());
  EXPECT_EQ(json["constraints"].size(), 1u);
}

TEST(Explain, EirNamesFormPolarityAndFoundedness) {
  const TestProgram test(kProgram);
  ASSERT_TRUE(test.analysis) << test.rendered();
  const std::string text =
      explain_eir(*test.program, *test.analysis, test.session, ExplainFormat::Text);
  EXPECT_THAT(text,
              HasSubstr("know guess(X): know, positive, must be founded in faeel, faeel19\n"));
  EXPECT_THAT(text,
              HasSubstr("not possible odd(X): not possible, negative, never needs foundedness\n"));
  EXPECT_THAT(text, HasSubstr("possible guess(X): possible, positive, must be founded in faeel\n"));

  // What the engine does with each component, and no helper's name.
  EXPECT_THAT(text, HasSubstr("questions: "));
  EXPECT_THAT(text, HasSubstr("know guess/1"));
  EXPECT_THAT(text, HasSubstr("undetermined\n  -- made ground over what may hold"));
  EXPECT_EQ(text.find("__xlog"), std::string::npos) << text;

  const Json json =
      Json::parse(explain_eir(*test.program, *test.analysis, test.session, ExplainFormat::Json));
  for (const Json& component : json["components"]) {
    if (component["rules"][0]["text"] != "maybe(X) :- possible guess(X).") continue;
    const Json& literal = component["rules"][0]["modal"][0];
    EXPECT_EQ(literal["form"], "possible");
    EXPECT_EQ(literal["polarity"], "positive");
    EXPECT_EQ(literal["founded"]["g91"], false);
    EXPECT_EQ(literal["founded"]["faeel"], true);
    EXPECT_EQ(literal["founded"]["faeel19"], false);
  }
  // A constraint supports nothing.
  EXPECT_EQ(json["constraints"][0]["modal"][0]["founded"]["faeel"], false);
}

TEST(Explain, GraphvizFormsAreWellFormed) {
  const TestProgram test(
      "p(\"say \\\"hi\\\" {x|y}\\n\"). q(X) :- p(X), not r(X), know p(X). r(\"a\\\\b\") :- "
      "p(\"\\\"\").");
  ASSERT_TRUE(test.analysis) << test.rendered();
  const std::string types = explain_types(*test.program, test.session, ExplainFormat::Dot);
  const std::string components =
      explain_components(*test.program, *test.analysis, test.session, ExplainFormat::Dot);
  const std::string eir =
      explain_eir(*test.program, *test.analysis, test.session, ExplainFormat::Dot);
  expect_balanced(types);
  expect_balanced(components);
  expect_balanced(eir);
  EXPECT_THAT(components, HasSubstr("[style=dashed"));
  EXPECT_THAT(components, HasSubstr("[style=dotted"));
  EXPECT_THAT(types, HasSubstr("[label=\"{p/1|1 : symbol|1 fact, 0 rules}\"]"));
}

TEST(Explain, EscapesForGraphviz) {
  EXPECT_EQ(dot_text("a \"b\" \\ c\nd"), "a \\\"b\\\" \\\\ c\\nd");
  EXPECT_EQ(dot_record_text("list<u32> {a|b}"), "list\\<u32\\>\\ \\{a\\|b\\}");
}

}  // namespace
}  // namespace xlog::logic
