#include <gtest/gtest.h>

#include "lang/syntax_fixture.h"

namespace xlog::lang {
namespace {

std::string formatted(const std::string& text) {
  const Parsed parsed(text, {.bulk_facts = false, .keep_comments = true});
  EXPECT_TRUE(parsed.errors().empty()) << text;
  return format(parsed.module, parsed.sources, parsed.names);
}

std::vector<std::string> comments_of(const std::string& text) {
  const Parsed parsed(text, {.bulk_facts = false, .keep_comments = true});
  std::vector<std::string> out;
  for (const ast::Comment& comment : parsed.module.comments)
    out.emplace_back(parsed.sources.text(comment.span));
  return out;
}

TEST(Format, PutsOneStatementOnALine) {
  EXPECT_EQ(formatted("p(1).p( 2 ).  q:-p(X)."), "p(1).\np(2).\nq :- p(X).\n");
  EXPECT_EQ(formatted(""), "");
  EXPECT_EQ(formatted("\n\n  \n"), "");
  EXPECT_EQ(formatted("\xEF\xBB\xBFp(1).\r\n\r\nq."), "p(1).\n\nq.\n");
}

TEST(Format, KeepsOneBlankLineBetweenGroups) {
  EXPECT_EQ(formatted("\n\np.\nq.\n\n\n\nr.\n\n"), "p.\nq.\n\nr.\n");
}

TEST(Format, BreaksLongBodies) {
  const std::string a(40, 'a'), b(40, 'b'), c(40, 'c');
  EXPECT_EQ(formatted("p(X) :- " + a + "(X), " + b + "(X)."),
            "p(X) :- " + a + "(X), " + b + "(X).\n");
  EXPECT_EQ(formatted("p :- " + a + ", " + b + ", " + c + "."),
            "p :-\n    " + a + ",\n    " + b + ",\n    " + c + ".\n");
  EXPECT_EQ(formatted("?- " + a + ", " + b + ", " + c + "."),
            "?-\n    " + a + ",\n    " + b + ",\n    " + c + ".\n");
  EXPECT_EQ(formatted(":- " + a + ", " + b + ", " + c + "."),
            ":-\n    " + a + ",\n    " + b + ",\n    " + c + ".\n");
  EXPECT_EQ(formatted("func f(X) = X :- " + a + ", " + b + ", " + c + "."),
            "func f(X) = X :-\n    " + a + ",\n    " + b + ",\n    " + c + ".\n");
}

TEST(Format, KeepsCommentsAtTheirStatement) {
  EXPECT_EQ(formatted("// a\np( 1 ). // b\n\n// c\n\n// d\nq."),
            "// a\np(1).  // b\n\n// c\n\n// d\nq.\n");
  EXPECT_EQ(formatted("/* a */ p. /* b */ /* c */ q. // d\n/* e */ // f"),
            "/* a */\np.  /* b */ /* c */\nq.  // d\n/* e */ // f\n");
  EXPECT_EQ(formatted("#pragma prob_seed = 1 // seed\np."), "#pragma prob_seed = 1  // seed\np.\n");
}

TEST(Format, LeavesStatementsWithCommentsInsideAsWritten) {
  EXPECT_EQ(formatted("p( /* one */ 1 ).q  :-  p(X), // why\n   r."),
            "p( /* one */ 1 ).\nq  :-  p(X), // why\n   r.\n");
}

TEST(Format, IsIdempotentAndLosesNoComment) {
  const std::string texts[] = {
      "// a\n\n\n/* b\n  c */ p(1). /* d */ q. // e\n r( // f\n 2). // g\n\n\n// h",
      "p. /* a\n b */ q. /* c */\n/* d */ /* e */ r :- /* f */ s. // g\n#pragma prob_seed = 1 /* h "
      "*/ .\n#pragma prob_seed = 2\n// i",
      "p :- " + std::string(60, 'a') + ", " + std::string(60, 'b') + ". // trailing\n// own line\n",
      "\r\n// crlf\r\np(1). // x \r\n\r\n/* y\r\n z */\r\nq.\r\n",
  };
  for (const std::string& text : texts) {
    const std::string once = formatted(text);
    EXPECT_EQ(formatted(once), once);
    EXPECT_EQ(comments_of(once), comments_of(text)) << once;
  }
}

}  // namespace
}  // namespace xlog::lang
