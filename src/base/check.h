// Internal errors: a broken promise of our own code, never of the user's input. They abort with the
// place and the reason, in release builds too. User errors are diagnostics (base/diagnostic.h).
#pragma once

#include <string_view>

namespace xlog {

[[noreturn]] void internal_error(const char* file, int line, std::string_view reason);

}  // namespace xlog

#define XLOG_CHECK(condition, reason)                                     \
  do {                                                                    \
    if (!(condition)) ::xlog::internal_error(__FILE__, __LINE__, reason); \
  } while (false)

#define XLOG_UNREACHABLE(reason) ::xlog::internal_error(__FILE__, __LINE__, reason)
