// The runner against a program that prints what the case holds: /bin/sh as a stand-in for xlog.
#include "tests/runner/check.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "tests/runner/process.h"

namespace xlog::conformance {
namespace {

namespace fs = std::filesystem;

class Check : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "xlog-runner-XXXXXX").string();
    folder_ = mkdtemp(pattern.data());
  }
  void TearDown() override { fs::remove_all(folder_); }

  // The failures of a case when xlog prints `out` and `err` and exits with `code`.
  std::vector<std::string> check(const std::string& text, const std::string& out,
                                 const std::string& err = "", int code = 0) {
    fs::path program = folder_ / "xlog";
    std::ofstream(folder_ / "out") << out;
    std::ofstream(folder_ / "err") << err;
    std::ofstream(program) << "#!/bin/sh\ncat '" << (folder_ / "out").string() << "'\ncat '"
                           << (folder_ / "err").string() << "' >&2\nexit " << code << "\n";
    chmod(program.c_str(), 0755);
    Cases cases = parse_test_file(text);
    EXPECT_EQ(cases.errors, std::vector<std::string>{});
    CheckOptions options;
    options.xlog = program.string();
    return check_case(cases.cases.at(0), options);
  }

  fs::path folder_;
};

constexpr const char* kAnswer = R"json({
  "mode": "faeel", "world_view_count": "1", "world_views": [
    {"world_count": "2", "queries": [{"query": "p(X, Y)", "columns": ["X", "Y"], "rows": [
       {"values": [1, "a"], "status": "known"}, {"values": [2, "b"], "status": "possible"}]}],
     "worlds": [["p(1, a)"], ["p(1, a)", "p(2, b)"]]}],
  "diagnostics": []})json";

TEST_F(Check, AcceptsTheRightAnswer) {
  EXPECT_TRUE(check("=== a\n--- answer\np(X,Y): (1, a) (2, b)?\n", kAnswer).empty());
  EXPECT_TRUE(check("=== a\n--- answer\np: (1, a) (2, b)?\n", kAnswer).empty());
  EXPECT_TRUE(check("=== a\n--- views faeel\n{p(1, a), p(2, b)} {p(1, a)}\n", kAnswer).empty());
  EXPECT_TRUE(check("=== a\n--- json\n/world_views/# = 1\n/mode = \"faeel\"\n", kAnswer).empty());
}

TEST_F(Check, RejectsTheWrongAnswer) {
  EXPECT_FALSE(check("=== a\n--- answer\np(X, Y): (1, a) (2, b)\n", kAnswer).empty());
  EXPECT_FALSE(check("=== a\n--- answer\np(X, Y): (2, b)? (1, a)\n", kAnswer).empty());
  EXPECT_FALSE(check("=== a\n--- answer\nq(X, Y): (1, a) (2, b)?\n", kAnswer).empty());
  EXPECT_FALSE(check("=== a\n--- answer\np: (1, a) (2, b)?\nq: no\n", kAnswer).empty());
  EXPECT_FALSE(check("=== a\n--- views faeel\n{p(1, a)}\n", kAnswer).empty());
  EXPECT_FALSE(check("=== a\n--- views faeel\nnone\n", kAnswer).empty());
  EXPECT_FALSE(check("=== a\n--- json\n/world_views/# = 2\n", kAnswer).empty());
  EXPECT_FALSE(check("=== a\n--- answer\np: (1, a) (2, b)?\n", kAnswer, "", 3).empty());
  EXPECT_FALSE(check("=== a\n--- answer\np: (1, a) (2, b)?\n", "not json").empty());
}

TEST_F(Check, ReadsDiagnosticsFromText) {
  const char* err =
      "error[E0301]: X is u32 and symbol\n  --> <stdin>:3:7\n   |\n"
      "warning[W0211]: nothing defines q/1\n  --> <stdin>:1:4\n";
  EXPECT_TRUE(
      check("=== a\n--- error E0301 3:7 symbol\n--- warning W0211 1\n", "", err, 1).empty());
  EXPECT_FALSE(check("=== a\n--- error E0301 3:7\n", "", err, 1).empty()) << "a warning too much";
  EXPECT_FALSE(check("=== a\n--- error E0301 4\n--- warning W0211\n", "", err, 1).empty());
  EXPECT_FALSE(check("=== a\n--- error E0301\n--- warning W0211\n", "", err, 0).empty());
  EXPECT_TRUE(check("=== a\n--- error E0302|E0301\n--- warning W0211*\n", "", err, 1).empty());
}

TEST(Process, CollectsOutputAndStatus) {
  ProcessResult result = run_process({"/bin/cat"}, std::string(1 << 20, 'x'), "", 60);
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.out.size(), size_t{1} << 20);
  EXPECT_EQ(run_process({"/bin/sh", "-c", "echo oops >&2; exit 7"}, "", "", 60).exit_code, 7);
  EXPECT_EQ(run_process({"/nowhere"}, "", "", 60).exit_code, 127);
  EXPECT_TRUE(run_process({"/bin/sleep", "60"}, "", "", 1).timed_out);
}

}  // namespace
}  // namespace xlog::conformance
