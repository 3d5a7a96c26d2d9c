#include "io/sqlite_write.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <optional>
#include <vector>

#include "io/byte_source.h"
#include "io/sqlite.h"

namespace xlog::io {
namespace {

using lang::TypeKind;
using lang::Value;

// What a column of one kind is declared as. A u64 has no type: as INTEGER column SQLite would turn
// the digits of a large one into a rounded REAL.
std::string_view sql_type(std::optional<TypeKind> kind) {
  if (!kind) return "";
  switch (*kind) {
    case TypeKind::U32:
    case TypeKind::I32:
    case TypeKind::I64:
    case TypeKind::Bool:
      return " INTEGER";
    case TypeKind::F32:
    case TypeKind::F64:
      return " REAL";
    case TypeKind::Symbol:
    case TypeKind::PredRef:
    case TypeKind::List:
    case TypeKind::Compound:
      return " TEXT";
    case TypeKind::U64:
    case TypeKind::Term:
      return "";
  }
  return "";
}

// SQLite's names have no case, so `X` and `x` need different ones.
std::string distinct(const std::string& name, const std::vector<std::string>& taken) {
  std::string candidate = name;
  const auto is_taken = [&](const std::string& other) {
    return sqlite3_stricmp(other.c_str(), candidate.c_str()) == 0;
  };
  for (int i = 2; std::ranges::any_of(taken, is_taken); ++i) {
    candidate = fmt::format("{}_{}", name, i);
  }
  return candidate;
}

class SqliteWriter {
 public:
  SqliteWriter(Database database, const Results& results)
      : database_(std::move(database)), results_(results) {}

  std::string write() {
    run("BEGIN");
    for (const uint32_t q : results_.queries) write_query(q);
    run("COMMIT");
    return reason_;
  }

 private:
  bool ok(int status) {
    const bool good = status == SQLITE_OK || status == SQLITE_DONE;
    if (!good && reason_.empty()) reason_ = sqlite3_errmsg(database_.get());
    return good;
  }
  void run(const std::string& sql) {
    if (reason_.empty()) {
      ok(sqlite3_exec(database_.get(), sql.c_str(), nullptr, nullptr, nullptr));
    }
  }

  // The one kind of all values of a column, if there is one.
  std::optional<TypeKind> kind_of(uint32_t q, size_t column) const {
    std::optional<TypeKind> kind;
    for (const Section& section : sections(results_.answer)) {
      for (const logic::Row& row : (*section.queries)[q].rows) {
        if (kind && *kind != row.values[column].kind) return std::nullopt;
        kind = row.values[column].kind;
      }
    }
    return kind;
  }

  void create_table(uint32_t q, const std::string& table, const TableShape& shape) {
    const lang::Query& query = results_.program.queries[q];
    std::vector<std::string> names;
    std::string columns;
    const auto add = [&](const std::string& name, std::string_view type) {
      names.push_back(distinct(name, names));
      columns +=
          fmt::format("{}{}{}", columns.empty() ? "" : ", ", quoted_name(names.back()), type);
    };
    if (shape.has_view) add("world_view", " INTEGER");
    for (size_t c = 0; c < query.columns.size(); ++c) {
      add(std::string(results_.session.names.symbols.text(query.columns[c])),
          sql_type(kind_of(q, c)));
    }
    if (shape.is_truth_value) add("answer", " TEXT");
    if (shape.has_status) add("status", " TEXT");
    run(fmt::format("CREATE TABLE {} ({})", quoted_name(table), columns));

    std::string marks;
    for (size_t i = 0; i < names.size(); ++i) marks += i == 0 ? "?" : ", ?";
    if (!reason_.empty()) return;
    const std::string sql = fmt::format("INSERT INTO {} VALUES ({})", quoted_name(table), marks);
    sqlite3_stmt* handle = nullptr;
    ok(sqlite3_prepare_v2(database_.get(), sql.c_str(), -1, &handle, nullptr));
    insert_.reset(handle);
  }

  void write_query(uint32_t q) {
    const TableShape shape = table_shape(results_, q);
    create_table(q, fmt::format("query_{}", q + 1), shape);
    for (const Section& section : sections(results_.answer)) {
      const logic::QueryAnswer& answer = (*section.queries)[q];
      if (shape.is_truth_value) {
        begin_row(shape, section);
        bind_text(truth(answer));
        end_row();
        continue;
      }
      for (const logic::Row& row : answer.rows) {
        begin_row(shape, section);
        for (const Value& value : row.values) bind(value);
        if (shape.has_status) bind_text(logic::spelling(row.status));
        end_row();
        if (!reason_.empty()) return;
      }
    }
  }

  void begin_row(const TableShape& shape, const Section& section) {
    next_ = 1;
    if (shape.has_view) bind_integer(static_cast<int64_t>(section.view));
  }
  void end_row() {
    if (!reason_.empty()) return;
    ok(sqlite3_step(insert_.get()));
    ok(sqlite3_reset(insert_.get()));
  }

  void bind_integer(int64_t number) { sqlite3_bind_int64(insert_.get(), next_++, number); }
  void bind_text(std::string_view text) {
    ok(sqlite3_bind_text64(insert_.get(), next_++, text.data() == nullptr ? "" : text.data(),
                           text.size(), SQLITE_TRANSIENT, SQLITE_UTF8));
  }
  void bind(const Value& value) {
    switch (value.kind) {
      case TypeKind::U32:
      case TypeKind::I32:
      case TypeKind::I64:
      case TypeKind::Bool:
        return bind_integer(value.as_signed());
      case TypeKind::U64:
        if (value.bits <= static_cast<uint64_t>(INT64_MAX)) return bind_integer(value.as_signed());
        return bind_text(std::to_string(value.bits));
      case TypeKind::F32:
      case TypeKind::F64:
        if (std::isnan(value.as_double())) return bind_text("nan");
        sqlite3_bind_double(insert_.get(), next_++, value.as_double());
        return;
      default:
        return bind_text(lang::to_raw(value, results_.session.names));
    }
  }

  Database database_;
  Statement insert_;
  const Results& results_;
  int next_ = 1;  // parameter of insert_
  std::string reason_;
};

bool exists(const std::string& path) {
  struct stat status = {};
  return stat(path.c_str(), &status) == 0 && status.st_size > 0;
}

}  // namespace

std::string write_sqlite(const std::string& path, const Results& results) {
  std::string reason;
  Database database = open_sqlite(path, SqliteUse::NewFile, reason);
  if (!database) return reason;
  return SqliteWriter(std::move(database), results).write();
}

std::string reason_to_keep_sqlite(const std::string& path) {
  // A journal belongs to the file that is there: SQLite would apply it to the new one.
  for (const std::string_view ending : {"-journal", "-wal"}) {
    const std::string journal = path + std::string(ending);
    if (exists(journal)) return fmt::format("another program is using it (there is `{}`)", journal);
  }
  ByteSource source;
  if (!source.open(path) || !is_sqlite(source.head())) return "";
  std::string reason;
  const Database database = open_sqlite(path, SqliteUse::Read, reason);
  if (!database) return reason;
  sqlite3_stmt* handle = nullptr;
  constexpr const char* kSql =
      "SELECT name FROM sqlite_master WHERE type IN ('table', 'view') "
      "AND NOT (name GLOB 'query_[0-9]*') AND name NOT LIKE 'sqlite_%' ORDER BY name LIMIT 1";
  const int status = sqlite3_prepare_v2(database.get(), kSql, -1, &handle, nullptr);
  const Statement statement(handle);
  if (status != SQLITE_OK) return sqlite3_errmsg(database.get());
  if (sqlite3_step(handle) != SQLITE_ROW) return "";
  return fmt::format("it is a database with other tables (`{}`), which would be lost",
                     reinterpret_cast<const char*>(sqlite3_column_text(handle, 0)));
}

}  // namespace xlog::io
