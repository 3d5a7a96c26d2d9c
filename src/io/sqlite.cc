#include "io/sqlite.h"

#include <filesystem>
#include <system_error>

namespace xlog::io {
namespace {

constexpr int kWaitForLockMs = 5000;

}  // namespace

bool is_sqlite(std::string_view first_bytes) {
  return first_bytes.starts_with(std::string_view("SQLite format 3\0", 16));
}

Database open_sqlite(const std::string& path, SqliteUse use, std::string& reason) {
  // As an absolute path no name means something else to SQLite (":memory:", "file:...").
  std::error_code error;
  const std::string absolute = std::filesystem::absolute(path, error).string();
  if (error) {
    reason = error.message();
    return nullptr;
  }
  const bool is_new = use == SqliteUse::NewFile;
  sqlite3* handle = nullptr;
  int status = sqlite3_open_v2(absolute.c_str(), &handle,
                               is_new ? SQLITE_OPEN_READWRITE : SQLITE_OPEN_READONLY,
                               is_new ? "unix-none" : nullptr);
  Database database(handle);
  if (status == SQLITE_OK && is_new) {
    status = sqlite3_exec(handle, "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF", nullptr,
                          nullptr, nullptr);
  } else if (status == SQLITE_OK) {
    sqlite3_busy_timeout(handle, kWaitForLockMs);
  }
  if (status == SQLITE_OK) return database;
  reason = handle == nullptr ? "out of memory" : sqlite3_errmsg(handle);
  return nullptr;
}

std::string quoted_name(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"') out += '"';
    out += c;
  }
  return out + '"';
}

}  // namespace xlog::io
