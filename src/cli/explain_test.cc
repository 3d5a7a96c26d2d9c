#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "cli/explain_ast.h"
#include "cli/explain_tables.h"
#include "lang/printer.h"

namespace xlog::cli {
namespace {

using logic::ExplainFormat;

TEST(ExplainAst, EveryStatementHasATree) {
  lang::Session session;
  const SourceFile* file =
      session.sources.add("test", "",
                          "use a/b::{p, q}.\n"
                          "domain id : u32.\n"
                          "pred e(src: id, list<symbol>).\n"
                          "private func f(X: u32) -> u32 = if X > 1 then -X else 3.\n"
                          "func g(X) = R :- e(X, R).\n"
                          "#pragma magic_sets = on\n"
                          "#const n = 3.\n"
                          "e(1..n, [a, \"B\" | T]) :- not know q(f(X)), X is Y * 2.5, Y =.. Z.\n"
                          "a ; -b :- N = count : { p(_) }.\n"
                          "1 { a : b } 2.\n"
                          ":- a.\n"
                          "0.3::a.\n"
                          "nn(net, [X], Y, [u, v]) :: digit(X, Y).\n"
                          "learnable(M) :: p(X) :- q(X).\n"
                          "?- p(X), X != 1.\n"
                          "evidence(a, true).\n"
                          "query(a).\n");
  const lang::Module module =
      lang::parse(*file, session.names.symbols, session.diagnostics, {.bulk_facts = false});
  ASSERT_FALSE(session.diagnostics.has_errors())
      << render_text(session.diagnostics, session.sources);
  const auto tree = nlohmann::json::parse(explain_ast(module, session, ExplainFormat::Json));
  std::vector<std::string> kinds;
  for (const auto& statement : tree) kinds.push_back(statement["kind"]);
  EXPECT_EQ(kinds, (std::vector<std::string>{"use", "domain", "pred", "func", "func", "pragma",
                                             "const", "rule", "rule", "fact", "constraint", "fact",
                                             "neural", "rule", "query", "evidence", "prob_query"}));
  EXPECT_EQ(tree[7]["body"][0]["prefix"], (std::vector<std::string>{"not", "know"}));
  EXPECT_EQ(tree[7]["line"], 8);
  EXPECT_EQ(explain_ast(module, session, ExplainFormat::Text),
            lang::print(module, session.names.symbols));
  EXPECT_TRUE(explain_ast(module, session, ExplainFormat::Dot).starts_with("digraph ast {"));
}

TEST(ExplainTables, AllTopics) {
  for (const char* topic : {"codes", "pragmas", "builtins", "types"}) {
    const auto text = table_text(topic, ExplainFormat::Text);
    ASSERT_TRUE(text);
    const auto json = nlohmann::json::parse(*table_text(topic, ExplainFormat::Json));
    // A title, a rule, and a line a row.
    EXPECT_EQ(static_cast<size_t>(std::count(text->begin(), text->end(), '\n')), json.size() + 2);
  }
  EXPECT_FALSE(table_text("a.xlog", ExplainFormat::Text));
  EXPECT_NE(code_text(code_info(Code::UnsafeVariable)).find("E0601 (error)"), std::string::npos);
}

}  // namespace
}  // namespace xlog::cli
