#include "tests/runner/case.h"

#include <gtest/gtest.h>

namespace xlog::conformance {
namespace {

TEST(Case, ReadsEverySection) {
  Cases read = parse_test_file(R"(// what this file is about

=== first
p(1).
?- p(X).
--- args: --epistemic-mode g91 "two words"
--- file lib/m.xlog
q(2).
--- answer
p(X): (1) (2)?
rain: yes
snow: no
--- views g91, faeel show p
{p(1), q(a, b)} {}
{}
--- views faeel19
none
--- error E0301 3:7 some text
--- error E0405 lib/m.xlog:2
--- warning W0211
--- json
/world_view_count = "1"
--- exit 3
=== second
--- program examples/a.xlog
)");
  ASSERT_EQ(read.errors, std::vector<std::string>{});
  ASSERT_EQ(read.cases.size(), 2u);
  const Case& first = read.cases[0];
  EXPECT_EQ(first.name, "first");
  EXPECT_EQ(first.line, 3);
  EXPECT_EQ(first.program, "p(1).\n?- p(X).\n");
  EXPECT_EQ(first.args, (std::vector<std::string>{"--epistemic-mode", "g91", "two words"}));
  ASSERT_EQ(first.files.size(), 1u);
  EXPECT_EQ(first.files[0].second, "q(2).\n");

  ASSERT_EQ(first.answers.size(), 1u);
  const ViewAnswer& view = first.answers[0].views[0];
  EXPECT_EQ(view[0].rows, (std::vector<std::string>{"(1)", "(2)?"}));
  EXPECT_EQ(view[1].rows, std::vector<std::string>{"()"});
  EXPECT_TRUE(view[2].rows.empty());

  ASSERT_EQ(first.views.size(), 2u);
  EXPECT_EQ(first.views[0].modes, (std::vector<std::string>{"g91", "faeel"}));
  EXPECT_EQ(first.views[0].shown, std::vector<std::string>{"p"});
  EXPECT_EQ(first.views[0].views, (std::vector<View>{{{}}, {{}, {"p(1)", "q(a, b)"}}}));
  EXPECT_TRUE(first.views[1].views.empty());

  ASSERT_EQ(first.diagnostics.size(), 3u);
  EXPECT_EQ(first.diagnostics[0].line, 3);
  EXPECT_EQ(first.diagnostics[0].column, 7);
  EXPECT_EQ(first.diagnostics[0].text, "some text");
  EXPECT_EQ(first.diagnostics[1].file, "lib/m.xlog");
  EXPECT_EQ(first.diagnostics[1].line, 2);
  EXPECT_EQ(first.diagnostics[2].code, "W0211");
  EXPECT_EQ(first.json[0].value, "\"1\"");
  EXPECT_EQ(first.exit_code, 3);
  EXPECT_EQ(read.cases[1].program_path, "examples/a.xlog");
}

TEST(Case, ValuesAreCanonical) {
  Cases read = parse_test_file(R"test(=== values
--- answer
p(X): (1, -2, 0.50, 1e3, a, "a", "B c", [1,[x, 2.0]], f(a, 1), "q\"\n")
)test");
  ASSERT_EQ(read.errors, std::vector<std::string>{});
  EXPECT_EQ(read.cases[0].answers[0].views[0][0].rows[0],
            R"row((1, -2, 0.5, 1000.0, a, a, "B c", [1, [x, 2.0]], "f(a, 1)", "q\"\n"))row");
}

TEST(Case, SeveralViewsAndQueriesWithColons) {
  Cases read = parse_test_file(R"(=== views
--- answer
view
N = count : { p(_) }: (3)
view
N = count : { p(_) }: (4)
)");
  ASSERT_EQ(read.errors, std::vector<std::string>{});
  ASSERT_EQ(read.cases[0].answers[0].views.size(), 2u);
  EXPECT_EQ(read.cases[0].answers[0].views[1][0].query, "N = count : { p(_) }");
}

TEST(Case, TellsWhatItCannotRead) {
  Cases read = parse_test_file(R"(=== bad
--- anser
--- views g92
{}
--- answer
p(X) (1)
--- error 301
)");
  EXPECT_EQ(read.errors.size(), 4u);
}

TEST(Markdown, BlocksAfterAProgramAreItsAnswer) {
  Cases read = parse_markdown(R"(# Title

```sh
xlog run a.xlog
```

```xlog file lib/m.xlog
q(1).
```

```csv file rows.csv
1,2
```

## Rules

```xlog --semantics wfs
use lib/m.
```

```answer
q: (1)
```

```text
for the eye and for the test
```

# Other

```text
belongs to nothing
```
)");
  ASSERT_EQ(read.errors, std::vector<std::string>{});
  ASSERT_EQ(read.cases.size(), 1u);
  EXPECT_EQ(read.cases[0].name, "line 17 (Rules)");
  EXPECT_EQ(read.cases[0].args, (std::vector<std::string>{"--semantics", "wfs"}));
  ASSERT_EQ(read.cases[0].files.size(), 2u);
  EXPECT_EQ(read.cases[0].files[1], (std::pair<std::string, std::string>{"rows.csv", "1,2\n"}));
  EXPECT_EQ(read.cases[0].answers.size(), 1u);
  ASSERT_EQ(read.cases[0].outputs.size(), 1u);
}

}  // namespace
}  // namespace xlog::conformance
