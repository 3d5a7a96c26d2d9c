#include "io/pipe_copy.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <vector>

namespace xlog::io {

namespace {

constexpr size_t kBlock = size_t{1} << 18;

ssize_t read_some(int from, std::vector<char>& block) {
  ssize_t n;
  do {
    n = ::read(from, block.data(), block.size());
  } while (n < 0 && errno == EINTR);
  return n;
}

bool write_all(int to, const char* bytes, size_t count) {
  while (count > 0) {
    const ssize_t n = ::write(to, bytes, count);
    if (n < 0 && errno != EINTR) return false;
    if (n < 0) continue;
    bytes += n;
    count -= static_cast<size_t>(n);
  }
  return true;
}

// Gives the reason where it fails.
std::string copy_all(int from, int to) {
  std::vector<char> block(kBlock);
  for (ssize_t n; (n = read_some(from, block)) != 0;) {
    if (n < 0 || !write_all(to, block.data(), static_cast<size_t>(n))) return std::strerror(errno);
  }
  return "";
}

}  // namespace

bool is_pipe(const std::string& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0 && S_ISFIFO(status.st_mode);
}

PipeCopy::PipeCopy(const std::string& pipe) {
  const int from = ::open(pipe.c_str(), O_RDONLY | O_CLOEXEC);
  if (from < 0) {
    reason_ = std::strerror(errno);
    return;
  }
  std::error_code error;
  std::string pattern = (std::filesystem::temp_directory_path(error) / "xlog-pipe-XXXXXX").string();
  const int to = error ? -1 : ::mkstemp(pattern.data());
  if (to < 0) {
    reason_ = "no temporary file can be made for what comes through the pipe: ";
    reason_ += error ? error.message() : std::strerror(errno);
  } else {
    path_ = pattern;
    name_.remember(path_);
    reason_ = copy_all(from, to);
    ::close(to);
  }
  ::close(from);
}

PipeCopy::~PipeCopy() {
  if (!path_.empty()) ::unlink(path_.c_str());
}

}  // namespace xlog::io
