// A value or the reason why there is none. For failures that belong to the user or the machine (a
// missing device, bad text, a full disk); a broken promise of our own aborts (base/check.h).
//
//   Result<Buffer> column = device.allocate(bytes);
//   if (!column.ok()) return column.error();
//   use(*column);
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <variant>

#include "base/check.h"

namespace xlog {

// What a caller may want to tell apart.
enum class ErrorKind : uint8_t {
  Failure,
  Limit,        // the user's own: time, rows
  MemoryLimit,  // the user's own for memory
  OutOfMemory,  // the device or the machine has no more
};

struct Error {
  std::string message;  // what went wrong, and where
  std::string help;     // the way out; may be empty
  ErrorKind kind = ErrorKind::Failure;

  std::string text() const { return help.empty() ? message : message + "\nhelp: " + help; }
};

template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::move(value)) {}      // NOLINT(google-explicit-constructor)
  Result(Error error) : state_(std::move(error)) {}  // NOLINT(google-explicit-constructor)

  bool ok() const { return std::holds_alternative<T>(state_); }
  explicit operator bool() const { return ok(); }

  T& value() & {
    XLOG_CHECK(ok(), "value of a failed result");
    return std::get<T>(state_);
  }
  const T& value() const& {
    XLOG_CHECK(ok(), "value of a failed result");
    return std::get<T>(state_);
  }
  T&& value() && {
    XLOG_CHECK(ok(), "value of a failed result");
    return std::get<T>(std::move(state_));
  }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }

  const Error& error() const {
    XLOG_CHECK(!ok(), "error of a result that succeeded");
    return std::get<Error>(state_);
  }

 private:
  std::variant<T, Error> state_;
};

// Success without a value: `return Done{};`.
struct Done {};
using Status = Result<Done>;

}  // namespace xlog
