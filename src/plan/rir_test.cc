#include "plan/rir.h"

#include <gtest/gtest.h>

namespace xlog::plan {
namespace {

constexpr const char* kProgram = R"(
  pred edge(u32, u32). pred cost(u32, u32, f64). pred name(symbol). pred new(u32). pred low(f32).
  pred signs(i32, i64, u64). pred path(list<u32>). pred is_on(bool).
  edge(1, 2). path([1, 2]). path([]). flag. -name(b). p(X) :- edge(X, _), not -name(a), flag.
  p(X) :- path(P), reverse(P, [X | _]), not member(3, P).
  new(X) :- edge(X, Y), L = [X, Y], maplist(p, L), N = count : { path(P), member(Y, P) }, N > 1.
)";

// The text after it was read, or what is wrong with it.
std::string again(const std::string& text) {
  lang::Session session;
  lang::LoadOptions options;
  options.implicit_queries = false;
  std::optional<lang::Program> program =
      lang::load(*session.sources.add("test.xlog", "", kProgram), session, options);
  if (!program) return "does not load";
  const Result<Pipeline> pipeline = parse_pipeline(text, "plan.rir", *program, session);
  return pipeline.ok() ? to_text(*pipeline, *program, session.names) : pipeline.error().text();
}

TEST(Rir, IsReadAndPrintedTheSame) {
  for (const char* text : {
           "scan    new edge(X, Y)\nlookup  old edge(=Y, Z)\nfilter  X != Z\ninsert  edge(X, Z)\n",
           "scan    edge(X, Y) by X, Y  // about 5 rows\nmeet    Z: edge(=Y, Z), edge(Z, =X)\n"
           "insert  edge(X, Z)\n",
           "scan    edge(X, =X)\nexists  edge(=X, _)\nabsent  edge(=3, =X)\ninsert  p(7)\n",
           "range   X = 1:u32..100\nlet     Y = (X + 2) * -X - 5 % X\nfilter  Y >= X\ninsert  "
           "p(Y)\n",
           "scan    cost(X, Y, C)\nlet     D = C * 2.0\nlet     E = min(C, D)\n"
           "filter  E < -inf\nfilter  if X < 1 then true else if 3 < X then true else false = "
           "true\n"
           "group   cost(X, X, sum(D + E))\n",
           "exists  flag\nabsent  -name(=\"A b\")\nscan    name(N)\nfilter  N != true\ninsert  "
           "name(a)\n",
           "scan    low(X)\nfilter  X < 0.1\nscan    signs(A, B, C)\nfilter  A > -2147483648\n"
           "filter  B > -9223372036854775808\nfilter  C < 18446744073709551615\n"
           "let     _1 = cast(A, u32)\ninsert  p(_1)\n",
           "exists  path(=[1, 2])\nabsent  path(=[])\nscan    is_on(B)\nfilter  B = true\ninsert  "
           "flag\n",
           "group   p(count())\n",
           "filter  5:u32 < 6\nlet     X = true:symbol\nlet     Y = if 1:u64 = 2 then 5 else 6\n"
           "let     Z = cast(1:i32 + 2, u32)\nlet     L = [1, 2]:list<u32>\ninsert  p(3)\n",
           "scan    new new(X)\ninsert  p(X)\n",
           "scan    edge(X, Y)\nfilter  X = Y\n",  // a constraint
           "scan    path(P)\nhost    not member(3, P)\nhost    reverse(P, [X | _])\ninsert  p(X)\n",
           "scan    edge(X, Y)\nhost    L = [X, Y]  // why\nhost    maplist(p, L)\n"
           "host    N = count : { path(P), member(Y, P) }\nfilter  N > 1\ninsert  new(X)\n",
           "scan    signs(X, Y, _)\nlet     Z = abs(-X) + max(X, --3)\ninsert  signs(Z, Y, 3)\n",
       }) {
    const std::string wanted = text;
    EXPECT_EQ(again(text), wanted);
  }
}

TEST(Rir, NumbersHaveTheTypesOfWhatTheyMeet) {
  lang::Session session;
  lang::LoadOptions options;
  options.implicit_queries = false;
  std::optional<lang::Program> program =
      lang::load(*session.sources.add("test.xlog", "", kProgram), session, options);
  ASSERT_TRUE(program);
  const Result<Pipeline> pipeline = parse_pipeline(
      "let A = 5\nlet B = 6\nlet C = B * 1\nlet D = 7.5\nfilter C < 9\ninsert p(A)\n", "plan.rir",
      *program, session);
  ASSERT_TRUE(pipeline.ok()) << pipeline.error().text();
  using lang::TypeKind;
  const std::vector<TypeKind> wanted = {TypeKind::U32, TypeKind::I64, TypeKind::I64, TypeKind::F64};
  const lang::Rule& rule = program->rules[pipeline->rule];
  for (size_t v = 0; v < wanted.size(); ++v) {
    EXPECT_EQ(rule.variables[v].type.kind, wanted[v]);
    EXPECT_EQ(pipeline->steps[v].lhs.type.kind, wanted[v]);
  }
  EXPECT_EQ(pipeline->steps[0].lhs.value, lang::Value::u32(5));
  EXPECT_EQ(pipeline->steps[4].rhs.value, lang::Value::i64(9));
}

TEST(Rir, SaysWhatIsWrongAndWhere) {
  for (const auto& [text, message] : std::vector<std::pair<std::string, std::string>>{
           {"scan edge(X, Y)\nlook edge(X, Z)\n", "plan.rir:2: `look` is no step"},
           {"scan edges(X, Y)\n", "plan.rir:1: the program has no predicate edges/2"},
           {"scan edge(X)\n", "plan.rir:1: the program has no predicate edge/1"},
           {"scan edge(X, Y)\nlookup edge(=Z, V)\n", "plan.rir:2: no step before has bound Z"},
           {"scan edge(X, Y)\nscan edge(Y, Z)\n", "plan.rir:2: Y is bound already: `=Y`"},
           {"scan edge(=1, Y)\n", "plan.rir:1: a column of a scan is known"},
           {"lookup edge(X, Y)\n", "plan.rir:1: a lookup has a column that is known: `=X`"},
           {"scan edge(X, Y) by Z\n", "plan.rir:1: no column is Z"},
           {"scan edge(X, Y)\nmeet Z: edge(=X, =Y)\n",
            "plan.rir:2: a member of a meet has its variable once, and columns that are known"},
           {"insert p(X)\n", "plan.rir:1: no step has bound X"},
           {"insert p(1)\nscan edge(X, Y)\n", "plan.rir:2: a step behind the head"},
           {"scan edge(X, Y)\nfilter X ~ Y\n", "plan.rir:2: "},
           {"scan edge(X, Y)\nfilter X Y\n", "plan.rir:2: expected a comparison, found `Y`"},
           {"scan edge(X, Y)\nlet Z = X +\n",
            "plan.rir:2: a term is missing at the end of the line"},
           {"scan edge(X, Y)\nlet X = 1\n", "plan.rir:2: X is bound already"},
           {"scan edge(X, Y) Y\n", "plan.rir:1: nothing more was expected, but here is `Y`"},
           {"scan edge(X, Y)\n\nfilter X = 1.5\n", "plan.rir:3: `1.5` is no value of type u32"},
           {"exists path(=[7])\n", "plan.rir:1: `[7]` is no value of type list<u32>"},
           {"scan path(P)\nhost reverse(P, Q)\n",
            "plan.rir:2: no rule of the program asks the host this"},
           {"scan path(P)\nhost\n", "plan.rir:2: no rule of the program asks the host this"},
           {"scan path(P)\nhost not member(3, P)\nhost reverse(P, [X | _])\ninsert p(Y)\n",
            "plan.rir:4: no step has bound Y"},
           {"let X = [7]\n", "plan.rir:1: nothing says of which type `[7]` is"},
           {"scan edge(X, Y)\nlet Z = cast(X, number)\n",
            "plan.rir:2: expected a type, found `number`"},
           {"scan edge(X, Y)\nlet Z = min(X)\n", "plan.rir:2: min takes 2 arguments"},
           {"let X = " + std::string(1000, '('), "plan.rir:1: a term is nested too deep"},
           {"let X = " + std::string(1000, '-') + "X", "plan.rir:1: a term is nested too deep"},
       }) {
    const std::string said = again(text);
    EXPECT_EQ(said.substr(0, message.size()), message) << said;
  }
}

}  // namespace
}  // namespace xlog::plan
