// SQLite's handles, closed when they go out of scope.
#pragma once

#include <sqlite3.h>

#include <memory>
#include <string>
#include <string_view>

namespace xlog::io {

struct CloseSqlite {
  void operator()(sqlite3* database) const { sqlite3_close(database); }
  void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
};
using Database = std::unique_ptr<sqlite3, CloseSqlite>;
using Statement = std::unique_ptr<sqlite3_stmt, CloseSqlite>;

bool is_sqlite(std::string_view first_bytes);

// How a database is opened. NewFile: an empty file of ours that nobody else knows: no locks, no
// journal, nothing synced; the caller does that.
enum class SqliteUse : uint8_t { Read, NewFile };

// Null on failure, with the reason.
Database open_sqlite(const std::string& path, SqliteUse use, std::string& reason);

// `text` with doubled quotes, in quotes: a name in SQL.
std::string quoted_name(std::string_view text);

}  // namespace xlog::io
