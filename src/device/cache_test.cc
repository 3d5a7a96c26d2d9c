#include "device/cache.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace xlog::device {
namespace {

namespace fs = std::filesystem;

// A folder that goes with the test.
class CacheTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = fs::temp_directory_path() / "xlog_cache_XXXXXX";
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    root_ = pattern;
    folder_ = root_ + "/deep/xlog";
  }
  void TearDown() override {
    ::chmod(root_.c_str(), 0700);
    fs::remove_all(root_);
  }

  KernelCache open() { return KernelCache(CacheOptions{.folder = folder_}); }
  std::string path(const CacheKey& key) { return folder_ + "/" + key.hex() + ".kernel"; }
  static CacheKey key(std::string_view kernel) {
    return cache_key({kernel, "llvm", "7", "LLVM 15"});
  }
  static std::string slurp(const std::string& file) {
    std::ifstream in(file, std::ios::binary);
    std::stringstream all;
    all << in.rdbuf();
    return all.str();
  }
  static void spill(const std::string& file, const std::string& bytes) {
    std::ofstream(file, std::ios::binary | std::ios::trunc) << bytes;
    ::chmod(file.c_str(), 0600);
  }
  size_t files() {
    size_t n = 0;
    for ([[maybe_unused]] const auto& entry : fs::directory_iterator(folder_)) ++n;
    return n;
  }

  std::string root_, folder_;
};

TEST_F(CacheTest, GivesBackWhatWasStored) {
  KernelCache cache = open();
  EXPECT_EQ(cache.load(key("a")), std::nullopt);
  std::string code("\0code\xff", 6);
  cache.store(key("a"), code);
  cache.store(key("empty"), "");
  EXPECT_EQ(cache.load(key("a")), code);
  EXPECT_EQ(cache.load(key("empty")), "");
  EXPECT_EQ(open().load(key("a")), code);
  EXPECT_EQ(cache.note(), "");
  EXPECT_EQ(files(), 2u);
}

TEST_F(CacheTest, KeyDependsOnEveryPart) {
  CacheKey base = cache_key({"k", "llvm", "7", "LLVM 15"});
  EXPECT_EQ(base, cache_key({"k", "llvm", "7", "LLVM 15"}));
  EXPECT_NE(base, cache_key({"K", "llvm", "7", "LLVM 15"}));
  EXPECT_NE(base, cache_key({"k", "ptx", "7", "LLVM 15"}));
  EXPECT_NE(base, cache_key({"k", "llvm", "8", "LLVM 15"}));
  EXPECT_NE(base, cache_key({"k", "llvm", "7", "LLVM 16"}));
  EXPECT_NE(base, cache_key({"kl", "lvm", "7", "LLVM 15"}));
  EXPECT_EQ(base.hex().size(), 32u);
}

TEST_F(CacheTest, AnyFlippedByteIsNoticedAndTheEntryRemoved) {
  KernelCache cache = open();
  std::string code = "some machine code";
  cache.store(key("a"), code);
  std::string good = slurp(path(key("a")));
  for (size_t i = 0; i < good.size(); ++i) {
    std::string bad = good;
    bad[i] = static_cast<char>(bad[i] ^ 0x40);
    spill(path(key("a")), bad);
    ASSERT_EQ(cache.load(key("a")), std::nullopt) << "byte " << i;
    ASSERT_FALSE(fs::exists(path(key("a")))) << "byte " << i;
  }
  cache.store(key("a"), code);
  EXPECT_EQ(cache.load(key("a")), code);
}

TEST_F(CacheTest, AnyTruncationIsNoticed) {
  KernelCache cache = open();
  cache.store(key("a"), "some machine code");
  std::string good = slurp(path(key("a")));
  for (size_t size = 0; size < good.size(); ++size) {
    spill(path(key("a")), good.substr(0, size));
    ASSERT_EQ(cache.load(key("a")), std::nullopt) << size << " bytes";
    ASSERT_FALSE(fs::exists(path(key("a"))));
  }
  spill(path(key("a")), good + "x");
  EXPECT_EQ(cache.load(key("a")), std::nullopt);
}

TEST_F(CacheTest, AnEntryUnderAForeignNameIsNotTaken) {
  KernelCache cache = open();
  cache.store(key("a"), "code of a");
  fs::rename(path(key("a")), path(key("b")));
  EXPECT_EQ(cache.load(key("b")), std::nullopt);
  EXPECT_FALSE(fs::exists(path(key("b"))));
}

TEST_F(CacheTest, AFileThatOthersMayWriteIsNotExecuted) {
  KernelCache cache = open();
  cache.store(key("a"), "code");
  ::chmod(path(key("a")).c_str(), 0666);
  EXPECT_EQ(cache.load(key("a")), std::nullopt);
  cache.store(key("a"), "code");
  fs::rename(path(key("a")), root_ + "/elsewhere");
  fs::create_symlink(root_ + "/elsewhere", path(key("a")));
  EXPECT_EQ(cache.load(key("a")), std::nullopt);
}

TEST_F(CacheTest, AFolderThatCannotBeWrittenIsANoteAndNoError) {
  // Holds for root too: the path leads through a plain file.
  spill(root_ + "/deep", "not a folder");
  KernelCache cache = open();
  cache.store(key("a"), "code");
  EXPECT_EQ(cache.load(key("a")), std::nullopt);
  EXPECT_NE(cache.note().find("compiled kernels are not kept"), std::string::npos);
  EXPECT_NE(cache.note().find(folder_), std::string::npos);
  std::string note = cache.note();
  cache.store(key("b"), "code");
  EXPECT_EQ(cache.note(), note);
}

TEST_F(CacheTest, AReadOnlyFolderStillServesWhatItHolds) {
  open().store(key("a"), "code");
  if (::geteuid() == 0) GTEST_SKIP() << "root may write everywhere";
  ::chmod(folder_.c_str(), 0500);
  KernelCache cache = open();
  EXPECT_EQ(cache.load(key("a")), "code");
  cache.store(key("b"), "code");
  EXPECT_NE(cache.note().find("Permission denied"), std::string::npos);
  EXPECT_EQ(cache.load(key("a")), "code");
  ::chmod(folder_.c_str(), 0700);
}

ssize_t write_to_full_disk(int file, const void* bytes, size_t count) {
  static size_t room = 60;  // the header fits, the code does not
  if (count > room) count = room;
  if (count == 0) {
    errno = ENOSPC;
    return -1;
  }
  room -= count;
  return ::write(file, bytes, count);
}

TEST_F(CacheTest, AFullDiskLeavesNothingBehind) {
  KernelCache cache(CacheOptions{.folder = folder_, .write = write_to_full_disk});
  cache.store(key("a"), "a code that is too long for the disk");
  EXPECT_NE(cache.note().find("No space left on device"), std::string::npos);
  EXPECT_EQ(cache.load(key("a")), std::nullopt);
  EXPECT_EQ(files(), 0u);
}

TEST_F(CacheTest, NoneMeansNone) {
  KernelCache cache(CacheOptions{.folder = "none"});
  cache.store(key("a"), "code");
  EXPECT_EQ(cache.load(key("a")), std::nullopt);
  EXPECT_EQ(cache.note(), "");
}

TEST_F(CacheTest, TheDefaultFolderFollowsTheEnvironment) {
  const char* home = std::getenv("HOME");
  std::string old_home = home == nullptr ? "" : home;
  ::setenv("XDG_CACHE_HOME", "/x/cache", 1);
  EXPECT_EQ(default_cache_folder(), "/x/cache/xlog");
  ::setenv("XDG_CACHE_HOME", "relative", 1);
  ::setenv("HOME", "/x/home", 1);
  EXPECT_EQ(default_cache_folder(), "/x/home/.cache/xlog");
  ::unsetenv("XDG_CACHE_HOME");
  ::unsetenv("HOME");
  EXPECT_EQ(default_cache_folder(), "");
  KernelCache cache(CacheOptions{});
  cache.store(key("a"), "code");
  EXPECT_NE(cache.note().find("HOME"), std::string::npos);
  ::setenv("HOME", old_home.c_str(), 1);
}

TEST_F(CacheTest, TheLongestUnusedEntriesGoFirst) {
  std::string code(1000, 'c');
  for (int i = 0; i < 8; ++i) {
    open().store(key(fmt::format("{}", i)), code);
    struct timespec times[2] = {{1000 + i, 0}, {1000 + i, 0}};
    ::utimensat(AT_FDCWD, path(key(fmt::format("{}", i))).c_str(), times, 0);
  }
  EXPECT_EQ(open().load(key("0")), code);  // used again: young now
  KernelCache small(CacheOptions{.folder = folder_, .max_bytes = 4500});
  small.store(key("new"), code);
  EXPECT_EQ(files(), 4u);
  EXPECT_EQ(small.load(key("new")), code);
  EXPECT_EQ(small.load(key("0")), code);
  EXPECT_EQ(small.load(key("7")), code);
  EXPECT_EQ(small.load(key("1")), std::nullopt);
}

TEST_F(CacheTest, ProcessesThatWriteAtOnceLeaveWholeEntries) {
  constexpr int kProcesses = 4, kRounds = 50, kKeys = 3;
  auto code_of = [](int k) { return std::string(20'000 + k, static_cast<char>('a' + k)); };
  for (int p = 0; p < kProcesses; ++p) {
    pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child != 0) continue;
    KernelCache cache = open();
    bool good = true;
    for (int round = 0; round < kRounds; ++round) {
      int k = (round + p) % kKeys;
      cache.store(key(fmt::format("{}", k)), code_of(k));
      std::optional<std::string> seen = cache.load(key(fmt::format("{}", k)));
      good = good && seen == code_of(k) && cache.note().empty();
    }
    ::_exit(good ? 0 : 1);
  }
  for (int p = 0; p < kProcesses; ++p) {
    int status = 0;
    ASSERT_GT(::wait(&status), 0);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  }
  for (int k = 0; k < kKeys; ++k) EXPECT_EQ(open().load(key(fmt::format("{}", k))), code_of(k));
  EXPECT_EQ(files(), static_cast<size_t>(kKeys));
}

}  // namespace
}  // namespace xlog::device
