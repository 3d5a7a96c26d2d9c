#include "plan/pipeline.h"

#include <gtest/gtest.h>

#include "plan/build.h"
#include "plan/prepare.h"

namespace xlog::plan {
namespace {

// Whether the first rule of a program gives no row twice; nothing where it is not planned.
std::optional<bool> is_told_apart(const std::string& rule) {
  lang::Session session;
  const SourceFile* file = session.sources.add(
      "test.xlog", "", "pred a(u32, u32). pred b(u32, u32). pred c(u32). " + rule);
  lang::LoadOptions options;
  options.implicit_queries = false;
  const std::optional<lang::Program> program = lang::load(*file, session, options);
  if (!program || session.diagnostics.has_errors()) return std::nullopt;
  const Pipeline pipeline =
      build_pipeline(*program, 0, VersionOptions{}, [](PredId) { return Statistics{}; });
  return tells_bindings_apart(program->rules[0].head[0].args, pipeline);
}

TEST(Pipeline, GivesNoRowTwiceWhereTheHeadHasAllThatAnInstanceBinds) {
  for (const char* rule : {
           "p(X, Y) :- a(X, Y).",
           "p(Z, Y, X) :- a(X, Y), b(Y, Z).",
           "p(X, Y, Z) :- a(X, Y), a(Y, Z), a(X, Z).",               // a meet
           "p(X, Y, V) :- a(X, Y), not b(X, Y), V = X + Y, X < V.",  // one value each
           "p(X, Y) :- a(X, 3), Y = 1..9.",                          // a range
           "p(X) :- a(X, X), b(1, X), c(X).",
       }) {
    EXPECT_EQ(is_told_apart(rule), true) << rule;
  }
}

TEST(Pipeline, MayGiveARowTwiceWhereTheHeadLacksSomething) {
  for (const char* rule : {
           "p(X) :- a(X, Y).",
           "p(X) :- a(X, _).",
           "p(X, Z) :- a(X, Y), b(Y, Z).",
           "p(X, Y) :- a(X, Y), a(Y, Z), a(X, Z).",
           "p(X, V) :- a(X, Y), V = X + Y.",  // two sums may be one
           "p(X) :- c(X), Y = 1..9, X < Y.",
           "p(1) :- c(X).",
       }) {
    EXPECT_EQ(is_told_apart(rule), false) << rule;
  }
}

}  // namespace
}  // namespace xlog::plan
