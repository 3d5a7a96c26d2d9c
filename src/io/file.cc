#include "io/file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <utility>
#include <vector>

namespace xlog::io {
namespace {

constexpr size_t kChunk = size_t{1} << 20;

// Pipes have no size, so it is only a hint; one more byte than the size finds the end of the file
// at once.
std::optional<std::string> read_descriptor(int fd, std::string& reason) {
  struct stat status = {};
  size_t hint = kChunk;
  if (fstat(fd, &status) == 0 && S_ISREG(status.st_mode)) {
    hint = static_cast<size_t>(status.st_size) + 1;
  }
  std::string text;
  size_t used = 0;
  while (true) {
    if (used == text.size()) text.resize(used == 0 ? hint : used + std::max(kChunk, used / 2));
    const ssize_t n = read(fd, text.data() + used, text.size() - used);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) {
      reason = std::strerror(errno);
      return std::nullopt;
    }
    if (n == 0) break;
    used += static_cast<size_t>(n);
  }
  text.resize(used);
  return text;
}

// Whether a path leads, by way of symbolic links, to what a process has open: /dev/stdout does. To
// put another file in its place would not write to it.
bool leads_to_open_file(std::filesystem::path path) {
  std::error_code error;
  for (int links = 0; links < 40 && std::filesystem::is_symlink(path, error); ++links) {
    const std::filesystem::path folder =
        std::filesystem::canonical(path.has_parent_path() ? path.parent_path() : ".", error);
    if (folder.string().starts_with("/proc/")) return true;
    path = folder / std::filesystem::read_symlink(path, error);
  }
  return false;
}

}  // namespace

std::optional<std::string> read_file(const std::string& path, std::string& reason) {
  if (path == "-") return read_descriptor(STDIN_FILENO, reason);
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) {
    reason = std::strerror(errno);
    return std::nullopt;
  }
  std::optional<std::string> text = read_descriptor(fd, reason);
  ::close(fd);
  return text;
}

AtomicFile::AtomicFile(AtomicFile&& other) noexcept
    : path_(std::move(other.path_)),
      temporary_(std::exchange(other.temporary_, {})),
      name_(std::move(other.name_)),
      reason_(std::move(other.reason_)),
      stream_(std::exchange(other.stream_, nullptr)) {}

AtomicFile::~AtomicFile() { discard(); }

void AtomicFile::discard() {
  if (stream_ != nullptr) std::fclose(stream_);
  stream_ = nullptr;
  if (!temporary_.empty()) unlink(temporary_.c_str());
  temporary_.clear();
  name_.forget();
}

bool AtomicFile::fail() {
  reason_ = std::strerror(errno);
  discard();
  return false;
}

bool AtomicFile::open(const std::string& path) {
  if (leads_to_open_file(path)) {
    reason_ = "it is an open file of a process, not a place for one";
    return false;
  }
  std::error_code error;
  const std::filesystem::path target = std::filesystem::canonical(path, error);
  path_ = error ? path : target.string();
  struct stat status = {};
  const bool exists = stat(path_.c_str(), &status) == 0;
  if (exists && !S_ISREG(status.st_mode)) {
    reason_ = S_ISDIR(status.st_mode) ? "it is a folder" : "it is not a regular file";
    return false;
  }
  if (exists && access(path_.c_str(), W_OK) != 0) return fail();

  std::string name = path_ + ".XXXXXX";
  const int fd = mkostemp(name.data(), O_CLOEXEC);
  if (fd < 0) return fail();
  temporary_ = name;
  name_.remember(name);
  // mkstemp gives 0600; a new file gets what creating it would give, an old one keeps its mode.
  const mode_t mask = umask(0);
  umask(mask);
  const mode_t mode = exists ? (status.st_mode & 07777) : (0666 & ~mask);
  stream_ = fchmod(fd, mode) == 0 ? fdopen(fd, "w") : nullptr;
  if (stream_ != nullptr) return true;
  fail();
  ::close(fd);
  return false;
}

bool AtomicFile::finish() {
  if (std::fflush(stream_) != 0 || std::ferror(stream_) != 0 || fsync(fileno(stream_)) != 0) {
    return fail();
  }
  const bool closed = std::fclose(stream_) == 0;
  stream_ = nullptr;
  return closed || fail();
}

bool AtomicFile::commit() {
  if (std::rename(temporary_.c_str(), path_.c_str()) != 0) return fail();
  temporary_.clear();
  name_.forget();
  // The rename itself is on disk once the folder is. A file system that cannot sync folders is no
  // error.
  const std::string folder = std::filesystem::path(path_).parent_path().string();
  const int fd = ::open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd >= 0) {
    fsync(fd);
    ::close(fd);
  }
  return true;
}

std::string replace_file(const std::string& path, std::string_view contents) {
  AtomicFile file;
  if (!file.open(path)) return file.reason();
  std::fwrite(contents.data(), 1, contents.size(), file.stream());
  if (!file.finish() || !file.commit()) return file.reason();
  return "";
}

}  // namespace xlog::io
