#include "device/cc_compile.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

namespace xlog::device {
namespace {

constexpr std::string_view kTwice = R"(
void xlog_kernel(unsigned lo, unsigned hi, void* const* args) {
  for (unsigned i = lo; i < hi; ++i) ((unsigned*)args[0])[i] *= 2;
}
)";

// An environment variable for the length of a test.
class Variable {
 public:
  Variable(const char* name, const std::string& value) : name_(name) {
    if (const char* old = std::getenv(name)) old_ = old, was_set_ = true;
    setenv(name, value.c_str(), 1);
  }
  ~Variable() {
    if (was_set_) {
      setenv(name_, old_.c_str(), 1);
    } else {
      unsetenv(name_);
    }
  }

 private:
  const char* name_;
  std::string old_;
  bool was_set_ = false;
};

class CcCompile : public testing::Test {
 protected:
  CcCompile() {
    std::string pattern = std::filesystem::temp_directory_path() / "xlog_cc_XXXXXX";
    if (mkdtemp(pattern.data()) != nullptr) folder_ = pattern;
    EXPECT_FALSE(folder_.empty()) << pattern << ": " << std::strerror(errno);
  }
  ~CcCompile() override { std::filesystem::remove_all(folder_); }

  std::filesystem::path folder_;
};

TEST_F(CcCompile, FromSourceToFunctionAndNothingStays) {
  const Variable temporary("TMPDIR", folder_.string());
  Result<std::vector<std::byte>> object = compile_c(kTwice);
  ASSERT_TRUE(object.ok()) << object.error().text();
  Result<LoadedC> loaded = load_c(*object);
  ASSERT_TRUE(loaded.ok()) << loaded.error().text();
  unsigned numbers[] = {1, 2, 3};
  void* args[] = {numbers};
  loaded->entry(1, 3, args);
  EXPECT_EQ(numbers[0], 1u);
  EXPECT_EQ(numbers[1], 4u);
  EXPECT_EQ(numbers[2], 6u);
  EXPECT_FALSE(compile_c("int broken(").ok());
  EXPECT_TRUE(std::filesystem::is_empty(folder_));
}

TEST_F(CcCompile, TwoLibrariesStayApart) {
  std::string thrice(kTwice);
  thrice.replace(thrice.find("*= 2"), 4, "*= 3");
  std::vector<LoadedC> both;
  for (const std::string& source : {std::string(kTwice), thrice}) {
    Result<std::vector<std::byte>> object = compile_c(source);
    ASSERT_TRUE(object.ok()) << object.error().text();
    Result<LoadedC> loaded = load_c(*object);
    ASSERT_TRUE(loaded.ok()) << loaded.error().text();
    both.push_back(*loaded);
  }
  unsigned number = 1;
  void* args[] = {&number};
  for (const LoadedC& loaded : both) loaded.entry(0, 1, args);
  EXPECT_EQ(number, 6u);
}

TEST_F(CcCompile, AnErrorShowsWhatTheCompilerSaid) {
  Result<std::vector<std::byte>> object = compile_c("void xlog_kernel() { nonsense; }");
  ASSERT_FALSE(object.ok());
  EXPECT_NE(object.error().message.find("nonsense"), std::string::npos) << object.error().text();
}

TEST_F(CcCompile, AMissingCompilerIsNamedWithTheWayOut) {
  const Variable path("PATH", folder_.string());
  Result<std::vector<std::byte>> object = compile_c(kTwice);
  ASSERT_FALSE(object.ok());
  EXPECT_NE(object.error().message.find("`cc`"), std::string::npos) << object.error().text();
  EXPECT_NE(object.error().help.find("install"), std::string::npos);
  EXPECT_FALSE(c_compiler().ok());
}

TEST_F(CcCompile, BytesThatAreNoLibraryAndNamesThatAreNotThere) {
  const std::vector<std::byte> rubbish(100, std::byte{7});
  EXPECT_FALSE(load_c(rubbish).ok());
  Result<LoadedC> other = load_c(*compile_c(kTwice), "another_name");
  ASSERT_FALSE(other.ok());
  EXPECT_NE(other.error().message.find("another_name"), std::string::npos);
}

TEST_F(CcCompile, TheCompilerHasAVersion) {
  Result<std::string> compiler = c_compiler();
  ASSERT_TRUE(compiler.ok()) << compiler.error().text();
  EXPECT_NE(compiler->find("-ffp-contract=off"), std::string::npos);
  EXPECT_EQ(*compiler, *c_compiler());
}

}  // namespace
}  // namespace xlog::device
