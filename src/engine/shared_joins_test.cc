// Joins that are computed once for several rules: answers stay those of the reference.
#include <gtest/gtest.h>

#include "engine/random_program.h"
#include "engine/rewrite_fixture.h"
#include "plan/shared_joins.h"

namespace xlog::engine {
namespace {

// Each rule once more with another head, which a query asks for: random rules rarely agree.
RandomProgram with_copies(RandomProgram program) {
  RandomProgram more = program;
  for (size_t i = 0; i < program.statements.size(); ++i) {
    const RandomStatement& statement = program.statements[i];
    const size_t end = statement.start.find(" :- ");
    const std::string head = statement.start.substr(0, end);
    const size_t open = head.find('(');
    const bool plain = end != std::string::npos && open != std::string::npos && open > 0 &&
                       std::isalpha(static_cast<unsigned char>(head[0])) != 0 &&
                       head.find_first_of("(){}|;+*/[-\"", open + 1) == head.size() - 1;
    if (!plain || statement.body.size() < 2) continue;
    const std::string copy = fmt::format("copy{}_{}", i, head);
    RandomStatement other = statement;
    other.start = copy + " :- ";
    more.statements.push_back(std::move(other));
    more.statements.push_back({"?- ", {copy}});
  }
  return more;
}

TEST(SharedJoins, ChangeNoAnswer) {
  const Tries tries = expect_same_answers_of_many(
      300, [](uint64_t seed) { return with_copies(ProgramGenerator(seed).run()).text(); },
      plan::share_joins);
  EXPECT_GT(tries.asked, tries.count / 4);
  EXPECT_GT(tries.made, tries.count / 8);
}

TEST(SharedJoins, OfSeveralKinds) {
  for (const char* source : {
           // In the rounds of a recursion, and above it.
           "e(1,2). e(2,3). e(3,1). f(X,Y) :- e(Y,X). p(X,Y) :- e(X,Y)."
           "p(X,Z) :- p(X,A), e(A,B), f(B,Y), p(Y,Z). q(X) :- p(X,Y), e(Y,Z), f(Z,X)."
           "r(X,Z) :- p(X,Y), e(Y,Z), X != Z. ?- p(X,Y). ?- q(X). ?- r(X,Y).",
           // The same join twice in one body.
           "e(1,2). e(2,3). e(2,4). c(3). p(A,D) :- e(A,B), c(B), e(D,E), c(E)."
           "q(A) :- e(A,B), c(B). ?- p(X,Y). ?- q(X).",
           // Bags, and what is not needed outside.
           "e(1,2). e(1,3). e(2,3). n(X,count()) :- e(X,Y), e(Z,Y). p(X) :- e(X,Y), e(Z,Y)."
           "s(sum(Z)) :- e(X,Y), e(Z,Y). ?- n(X,Y). ?- p(X). ?- s(X).",
       }) {
    EXPECT_GT(expect_same_answers(source, plan::share_joins).made, 0u) << source;
  }
}

}  // namespace
}  // namespace xlog::engine
