// Whole files: read in one go, replaced in one step.
#pragma once

#include <cstdio>
#include <optional>
#include <string>
#include <string_view>

#include "io/temporaries.h"

namespace xlog::io {

// The bytes of a file; "-" is standard input. On failure nullopt, and `reason` says why ("No such
// file or directory").
std::optional<std::string> read_file(const std::string& path, std::string& reason);

// A file that appears complete or not at all: written beside its place under another name, then
// renamed.
//
//   AtomicFile file;
//   if (!file.open("out/query_1.csv")) return file.reason();
//   std::fputs("...", file.stream());
//   if (!file.finish() || !file.commit()) return file.reason();
//
// Without commit() nothing is left behind, also when a signal ends the process.
class AtomicFile {
 public:
  AtomicFile() = default;
  AtomicFile(AtomicFile&& other) noexcept;
  AtomicFile& operator=(AtomicFile&&) = delete;
  ~AtomicFile();

  bool open(const std::string& path);
  std::FILE* stream() const { return stream_; }
  bool finish();  // everything is on disk, under the temporary name
  bool commit();  // and now in its place
  const std::string& path() const { return path_; }
  const std::string& temporary_path() const { return temporary_; }
  const std::string& reason() const { return reason_; }

 private:
  bool fail();
  void discard();

  std::string path_;       // where it shall be; a symbolic link is followed
  std::string temporary_;  // empty when there is none
  TemporaryName name_;
  std::string reason_;
  std::FILE* stream_ = nullptr;
};

// Replaces the contents of one file. Returns the reason when it cannot, "" when it could.
std::string replace_file(const std::string& path, std::string_view contents);

}  // namespace xlog::io
