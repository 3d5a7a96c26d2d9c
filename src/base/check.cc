#include "base/check.h"

#include <cstdio>
#include <cstdlib>

namespace xlog {

void internal_error(const char* file, int line, std::string_view reason) {
  std::fprintf(
      stderr,
      "xlog: internal error at %s:%d: %.*s\nThis is a defect in xlog, not in your program.\n", file,
      line, static_cast<int>(reason.size()), reason.data());
  std::fflush(stderr);
  std::abort();
}

}  // namespace xlog
