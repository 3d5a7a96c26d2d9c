#include "io/file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "io/output_files.h"

namespace xlog::io {
namespace {

namespace fs = std::filesystem;

class File : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "xlog_file_test.XXXXXX").string();
    folder = mkdtemp(pattern.data());
  }
  void TearDown() override { fs::remove_all(folder); }

  std::string path(const std::string& name) const { return (folder / name).string(); }
  size_t entries() const {
    return static_cast<size_t>(
        std::distance(fs::directory_iterator(folder), fs::directory_iterator()));
  }
  std::string contents(const std::string& name) const {
    std::string reason;
    return read_file(path(name), reason).value_or("cannot read: " + reason);
  }

  fs::path folder;
};

TEST_F(File, ReadsWhatWasWritten) {
  const std::string text = "a\n" + std::string(3'000'000, 'x') + std::string(1, '\0') + "end";
  EXPECT_EQ(replace_file(path("a"), text), "");
  EXPECT_EQ(contents("a"), text);
  EXPECT_EQ(replace_file(path("a"), ""), "");
  EXPECT_EQ(contents("a"), "");
  EXPECT_EQ(entries(), 1u);
}

TEST_F(File, SaysWhyItCannotRead) {
  std::string reason;
  EXPECT_FALSE(read_file(path("missing"), reason));
  EXPECT_EQ(reason, "No such file or directory");
  EXPECT_FALSE(read_file(folder.string(), reason));
  EXPECT_EQ(reason, "Is a directory");
}

TEST_F(File, WithoutCommitNothingIsLeft) {
  {
    AtomicFile file;
    ASSERT_TRUE(file.open(path("a")));
    std::fputs("half", file.stream());
  }
  {
    AtomicFile file;
    ASSERT_TRUE(file.open(path("a")));
    ASSERT_TRUE(file.finish());
  }
  EXPECT_EQ(entries(), 0u);
}

TEST_F(File, ASignalLeavesNothing) {
  for (const int signal : {SIGHUP, SIGINT, SIGTERM}) {
    struct sigaction now = {};
    sigaction(signal, nullptr, &now);
    if (now.sa_handler == SIG_IGN) continue;  // as a shell does for what it runs beside itself
    const auto write_and_die = [&] {
      AtomicFile first;
      AtomicFile second;
      if (!first.open(path("a")) || !second.open(path("b"))) std::exit(1);
      std::fputs("half", first.stream());
      raise(signal);
    };
    EXPECT_EXIT(write_and_die(), testing::KilledBySignal(signal), "");
    EXPECT_EQ(entries(), 0u);
  }
}

TEST_F(File, KeepsTheModeAndFollowsLinks) {
  ASSERT_EQ(replace_file(path("a"), "old"), "");
  chmod(path("a").c_str(), 0640);
  fs::create_symlink(path("a"), path("link"));
  ASSERT_EQ(replace_file(path("link"), "new"), "");
  EXPECT_EQ(contents("a"), "new");
  EXPECT_TRUE(fs::is_symlink(path("link")));
  struct stat status = {};
  ASSERT_EQ(stat(path("a").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0640u);
}

TEST_F(File, RefusesFolders) {
  EXPECT_EQ(replace_file(folder.string(), "x"), "it is a folder");
  EXPECT_NE(replace_file(path("no/such/folder"), "x"), "");
}

TEST_F(File, OutputDirHasAFileAQuery) {
  lang::Session session;
  lang::Program program;
  program.queries.resize(2);
  program.queries[0].columns = {session.names.symbols.intern("X")};
  logic::Answer answer;
  answer.views = {{1, {{{{{lang::Value::u32(1)}, logic::RowStatus::Known}}}, {}}, {}}};
  const Results results{program, answer, session, all_queries(program)};
  std::vector<std::string> written;
  ASSERT_TRUE(
      write_output_dir(path("new/out"), Format::Table, results, session.diagnostics, written));
  ASSERT_EQ(written.size(), 2u);
  EXPECT_EQ(contents("new/out/query_1.csv"), "X\n1\n");
  EXPECT_EQ(contents("new/out/query_2.csv"), "answer\nfalse\n");
  written.clear();
  ASSERT_TRUE(
      write_output_file(path("all.csv"), Format::Csv, results, session.diagnostics, written));
  EXPECT_EQ(written, std::vector<std::string>{path("all.csv")});
  EXPECT_EQ(contents("all.csv"), "X\n1\n\nanswer\nfalse\n");
  written.clear();
  ASSERT_EQ(replace_file(path("file"), ""), "");
  EXPECT_FALSE(write_output_dir(path("file"), Format::Json, results, session.diagnostics, written));
  EXPECT_EQ(session.diagnostics.all()[0].code, Code::CannotWriteFile);
}

TEST_F(File, AnOutputDirThatFailsIsNotLeftBehind) {
  lang::Session session;
  lang::Program program;
  program.queries.resize(1);
  logic::Answer answer;
  answer.views = {{1, {{}}, {}}};
  const Results results{program, answer, session, all_queries(program)};
  std::vector<std::string> written;
  // A folder stands where the database should be.
  std::filesystem::create_directories(path("old/query_1.csv"));
  EXPECT_FALSE(write_output_dir(path("old"), Format::Csv, results, session.diagnostics, written));
  EXPECT_TRUE(std::filesystem::exists(path("old/query_1.csv")));
  // A name that no file can have.
  const std::string too_long = path("new/out/" + std::string(300, 'x'));
  EXPECT_FALSE(write_output_dir(too_long, Format::Csv, results, session.diagnostics, written));
  EXPECT_FALSE(std::filesystem::exists(path("new")));
}

}  // namespace
}  // namespace xlog::io
