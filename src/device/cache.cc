#include "device/cache.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <vector>

namespace xlog::device {

namespace {

namespace fs = std::filesystem;

constexpr uint32_t kFormat = 1;
constexpr std::string_view kSuffix = ".kernel";
constexpr std::string_view kTemporary = ".tmp";
constexpr uint32_t kStoresBetweenTrims = 32;
constexpr auto kTemporaryLifetime = std::chrono::hours(1);

struct Header {
  char magic[8];
  uint32_t format;
  uint32_t reserved;
  std::array<uint8_t, 16> key;
  uint64_t length;
  XXH128_canonical_t checksum;
};
static_assert(sizeof(Header) == 56);
constexpr char kMagic[8] = {'x', 'l', 'o', 'g', 'k', 'e', 'r', '\n'};

XXH128_canonical_t digest(std::string_view bytes) {
  XXH128_canonical_t canonical;
  XXH128_canonicalFromHash(&canonical, XXH3_128bits(bytes.data(), bytes.size()));
  return canonical;
}

Header header_of(const CacheKey& key, std::string_view code) {
  Header header{};
  std::memcpy(header.magic, kMagic, sizeof(kMagic));
  header.format = kFormat;
  header.key = key.bytes;
  header.length = code.size();
  header.checksum = digest(code);
  return header;
}

// A file descriptor that closes itself.
struct File {
  int descriptor = -1;
  explicit File(int d) : descriptor(d) {}
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  ~File() {
    if (descriptor >= 0) ::close(descriptor);
  }
};

// The whole file, if it is a plain file that nobody else can have written: it will be executed.
std::optional<std::string> read_own_file(int file) {
  struct stat facts {};
  if (::fstat(file, &facts) != 0 || !S_ISREG(facts.st_mode)) return std::nullopt;
  if (facts.st_uid != ::geteuid() || (facts.st_mode & (S_IWGRP | S_IWOTH)) != 0) {
    return std::nullopt;
  }
  std::string bytes(static_cast<size_t>(facts.st_size), '\0');
  size_t have = 0;
  while (have < bytes.size()) {
    ssize_t got = ::read(file, bytes.data() + have, bytes.size() - have);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return std::nullopt;
    have += static_cast<size_t>(got);
  }
  return bytes;
}

bool write_all(const CacheOptions& options, int file, std::string_view bytes) {
  while (!bytes.empty()) {
    ssize_t put = options.write(file, bytes.data(), bytes.size());
    if (put < 0 && errno == EINTR) continue;
    if (put <= 0) {
      if (put == 0) errno = ENOSPC;
      return false;
    }
    bytes.remove_prefix(static_cast<size_t>(put));
  }
  return true;
}

void put(std::string& text, std::string_view part) {
  uint64_t size = part.size();
  text.append(reinterpret_cast<const char*>(&size), sizeof(size));
  text.append(part);
}

}  // namespace

std::string CacheKey::hex() const {
  std::string text;
  for (uint8_t byte : bytes) text += fmt::format("{:02x}", byte);
  return text;
}

CacheKey cache_key(const CacheQuestion& question) {
  std::string all;
  put(all, question.kernel);
  put(all, question.target);
  put(all, question.compiler);
  put(all, fmt::format("{} {}", question.code, kFormat));
  XXH128_canonical_t hash = digest(all);
  CacheKey key;
  std::memcpy(key.bytes.data(), hash.digest, sizeof(hash.digest));
  return key;
}

std::string default_cache_folder() {
  // The specification of the variable asks to ignore a relative path.
  const char* cache = std::getenv("XDG_CACHE_HOME");
  if (cache != nullptr && cache[0] == '/') return std::string(cache) + "/xlog";
  const char* home = std::getenv("HOME");
  if (home != nullptr && home[0] == '/') return std::string(home) + "/.cache/xlog";
  return "";
}

KernelCache::KernelCache(CacheOptions options) : options_(std::move(options)) {
  if (options_.write == nullptr) options_.write = ::write;
  if (options_.folder == "none") {
    options_.folder.clear();
    reads_ = writes_ = false;
    return;
  }
  if (options_.folder.empty()) options_.folder = default_cache_folder();
  if (options_.folder.empty()) {
    reads_ = writes_ = false;
    note_ = "compiled kernels are not kept: neither XDG_CACHE_HOME nor HOME names a folder";
  }
}

std::string KernelCache::path_of(const CacheKey& key) const {
  return options_.folder + "/" + key.hex() + std::string(kSuffix);
}

std::optional<std::string> KernelCache::load(const CacheKey& key) {
  if (!reads_) return std::nullopt;
  std::string path = path_of(key);
  File file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  if (file.descriptor < 0) return std::nullopt;
  std::optional<std::string> bytes = read_own_file(file.descriptor);
  if (bytes && bytes->size() >= sizeof(Header)) {
    std::string_view code = std::string_view(*bytes).substr(sizeof(Header));
    Header expected = header_of(key, code);
    if (std::memcmp(bytes->data(), &expected, sizeof(Header)) == 0) {
      ::futimens(file.descriptor, nullptr);  // used just now: trim() looks at it
      return std::string(code);
    }
  }
  ::unlink(path.c_str());
  return std::nullopt;
}

void KernelCache::remove(const CacheKey& key) {
  if (reads_) ::unlink(path_of(key).c_str());
}

bool KernelCache::make_folder() {
  std::error_code problem;
  fs::path folder(options_.folder);
  if (fs::is_directory(folder, problem)) return true;
  fs::create_directories(folder.parent_path(), problem);
  if (::mkdir(options_.folder.c_str(), 0700) == 0 || errno == EEXIST) return true;
  give_up(fmt::format("cannot make the folder {}", options_.folder), errno);
  return false;
}

void KernelCache::give_up(const std::string& what, int reason) {
  writes_ = false;
  note_ = fmt::format("compiled kernels are not kept: {}: {}", what, std::strerror(reason));
}

void KernelCache::store(const CacheKey& key, std::string_view code) {
  if (!writes_ || !make_folder()) return;
  static std::atomic<uint64_t> number{0};
  std::string path = path_of(key);
  std::string temporary =
      fmt::format("{}/{}.{}.{}{}", options_.folder, key.hex(), ::getpid(), ++number, kTemporary);
  {
    File file(::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
    if (file.descriptor < 0) {
      give_up(fmt::format("cannot write to {}", options_.folder), errno);
      return;
    }
    Header header = header_of(key, code);
    std::string_view head(reinterpret_cast<const char*>(&header), sizeof(header));
    if (!write_all(options_, file.descriptor, head) ||
        !write_all(options_, file.descriptor, code)) {
      int reason = errno;
      ::unlink(temporary.c_str());
      give_up(fmt::format("cannot write to {}", options_.folder), reason);
      return;
    }
  }
  if (::rename(temporary.c_str(), path.c_str()) != 0) {
    int reason = errno;
    ::unlink(temporary.c_str());
    give_up(fmt::format("cannot write {}", path), reason);
    return;
  }
  if (stores_++ % kStoresBetweenTrims == 0) trim();
}

void KernelCache::trim() {
  struct Entry {
    fs::file_time_type used;
    std::string path;
    uint64_t bytes;
  };
  std::vector<Entry> entries;
  uint64_t total = 0;
  std::error_code problem;
  fs::file_time_type now = fs::file_time_type::clock::now();
  for (fs::directory_iterator at(options_.folder, problem), end; !problem && at != end;
       at.increment(problem)) {
    std::error_code gone;  // another process may remove it under our eyes
    fs::file_time_type used = at->last_write_time(gone);
    uint64_t bytes = gone ? 0 : at->file_size(gone);
    if (gone) continue;
    std::string extension = at->path().extension();
    if (extension == kTemporary && now - used > kTemporaryLifetime) fs::remove(at->path(), gone);
    if (extension != kSuffix) continue;
    entries.push_back({used, at->path(), bytes});
    total += bytes;
  }
  std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
    return a.used != b.used ? a.used < b.used : a.path < b.path;
  });
  for (const Entry& entry : entries) {
    if (total <= options_.max_bytes) break;
    std::error_code gone;
    fs::remove(entry.path, gone);
    total -= entry.bytes;
  }
}

}  // namespace xlog::device
