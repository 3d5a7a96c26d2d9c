// What came through a pipe, in a temporary file: it can be read again.
#pragma once

#include <memory>
#include <string>

#include "io/temporaries.h"

namespace xlog::io {

// Whether the bytes of a path are gone once they are read: `<(zcat edges.gz)`, a named pipe.
bool is_pipe(const std::string& path);

class PipeCopy {
 public:
  // All of the pipe. Where that fails, the copy holds less and has a reason.
  explicit PipeCopy(const std::string& pipe);
  ~PipeCopy();
  PipeCopy(const PipeCopy&) = delete;
  PipeCopy& operator=(const PipeCopy&) = delete;

  const std::string& path() const { return path_; }
  const std::string& reason() const { return reason_; }  // empty: it is complete

 private:
  std::string path_;
  TemporaryName name_;
  std::string reason_;
};

}  // namespace xlog::io
