#include "io/input.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace xlog::io {
namespace {

namespace fs = std::filesystem;

class Inputs : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "xlog_input_test.XXXXXX").string();
    folder = mkdtemp(pattern.data());
  }
  void TearDown() override { fs::remove_all(folder); }

  std::string file(const std::string& name, const std::string& contents) {
    const std::string path = (folder / name).string();
    std::ofstream(path, std::ios::binary) << contents;
    return path;
  }

  fs::path folder;
};

TEST_F(Inputs, SplitsFileAndTable) {
  const auto parsed = [](const std::string& text) {
    const Input input = parse_input("edge", text);
    return input.path + " | " + input.table;
  };
  const std::string db = file("graph", "");
  EXPECT_EQ(parsed(db), db + " | ");
  EXPECT_EQ(parsed(db + ":edges"), db + " | edges");
  EXPECT_EQ(parsed(db + ":SELECT a || ':' FROM t"), db + " | SELECT a || ':' FROM t");
  const std::string odd = file("a:b.csv", "");
  EXPECT_EQ(parsed(odd), odd + " | ");
  EXPECT_EQ(parsed(odd + ":t"), odd + " | t");
  // Files that do not exist: by the ending.
  EXPECT_EQ(parsed("no/such.db:edges"), "no/such.db | edges");
  EXPECT_EQ(parsed("no/such.sqlite3:edges"), "no/such.sqlite3 | edges");
  EXPECT_EQ(parsed("no/such:edges"), "no/such:edges | ");
  EXPECT_EQ(parsed("-"), "- | ");
}

TEST_F(Inputs, FindsTheRelationAndSaysWhatIsWrong) {
  lang::Session session;
  lang::Program program;
  for (const uint32_t arity : {1u, 2u}) {
    lang::Predicate& p = program.predicates.emplace_back();
    p.name = session.names.symbols.intern("edge");
    p.arity = arity;
    for (uint32_t c = 0; c < arity; ++c) {
      p.columns.push_back({{}, lang::Type{lang::TypeKind::U32, nullptr}, {}});
    }
    p.is_input = true;
  }
  const std::string path = file("edge.csv", "1\n2\n");
  const auto errors = [&] { return render_text(session.diagnostics, session.sources); };
  EXPECT_TRUE(load_inputs({{"edge/1", path, ""}}, program, session)) << errors();
  EXPECT_EQ(program.predicates[0].facts->rows, 2u);
  EXPECT_FALSE(load_inputs({{"edge/1", path + ".missing", ""}}, program, session));
  EXPECT_NE(errors().find("No such file"), std::string::npos) << errors();
  EXPECT_FALSE(load_inputs({{"edge/1", path, "t"}}, program, session));
  EXPECT_NE(errors().find("no SQLite database"), std::string::npos) << errors();
}

}  // namespace
}  // namespace xlog::io
