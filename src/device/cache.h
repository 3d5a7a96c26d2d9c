// Compiled kernels on disk, so that a kernel is compiled once on a machine and not once a run.
//
//   KernelCache cache(CacheOptions{});
//   CacheKey key = cache_key({canonical_bytes, "llvm", kCodeDigest, "LLVM 15.0.7"});
//   if (std::optional<std::string> code = cache.load(key)) ...
//   cache.store(key, code);
//
// One file an entry, with a header that names its key and a checksum. What does not fit (damaged,
// cut off, of another format, owned by somebody else) counts as missing and is removed. A file
// appears complete or not at all, so several processes may share the folder. The cache never fails:
// without a folder that can be written it stores nothing, and note() says why.
#pragma once

#include <sys/types.h>

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace xlog::device {

struct CacheKey {
  std::array<uint8_t, 16> bytes{};

  std::string hex() const;
  friend bool operator==(const CacheKey&, const CacheKey&) = default;
  friend auto operator<=>(const CacheKey&, const CacheKey&) = default;
};

// All that a compiled kernel depends on.
struct CacheQuestion {
  std::string_view kernel;    // kernel/canonical.h, as it was before any rewriting
  std::string_view target;    // its name and what it can do
  std::string_view code;      // kCodeDigest: of our own sources that make code from kernels
  std::string_view compiler;  // name, version, options, processor
};
CacheKey cache_key(const CacheQuestion& question);

struct CacheOptions {
  std::string folder = {};                   // "": default_cache_folder(); "none": no cache on disk
  uint64_t max_bytes = uint64_t{256} << 20;  // past it, the entries longest unused go
  // How bytes reach a file: for tests of full disks.
  ssize_t (*write)(int file, const void* bytes, size_t count) = nullptr;
};

// $XDG_CACHE_HOME/xlog, or ~/.cache/xlog; "" where neither variable is set.
std::string default_cache_folder();

class KernelCache {
 public:
  explicit KernelCache(CacheOptions options);

  std::optional<std::string> load(const CacheKey& key);
  void store(const CacheKey& key, std::string_view code);
  void remove(const CacheKey& key);

  const std::string& folder() const { return options_.folder; }
  // Why entries are not kept, or "".
  const std::string& note() const { return note_; }

 private:
  std::string path_of(const CacheKey& key) const;
  bool make_folder();
  void give_up(const std::string& what, int reason);
  void trim();

  CacheOptions options_;
  bool reads_ = true;
  bool writes_ = true;
  uint32_t stores_ = 0;
  std::string note_;
};

}  // namespace xlog::device
