#include "io/sqlite_read.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "io/field.h"
#include "io/sqlite.h"

namespace xlog::io {
namespace {

using lang::TypeKind;
using lang::Value;

bool starts_with_word(std::string_view text, std::string_view word) {
  const auto same = [](char a, char b) {
    return (a >= 'a' && a <= 'z' ? static_cast<char>(a - 32) : a) == b;
  };
  return text.size() > word.size() && std::ranges::equal(text.substr(0, word.size()), word, same) &&
         (text[word.size()] == ' ' || text[word.size()] == '\n' || text[word.size()] == '\t');
}

bool is_query(std::string_view text) {
  return starts_with_word(text, "SELECT") || starts_with_word(text, "WITH");
}

class SqliteLoader {
 public:
  SqliteLoader(const std::string& from, FactLoader& loader)
      : loader_(loader),
        from_(from),
        is_query_(is_query(from)),
        place_(fmt::format("{}:{}", loader.name(), is_query_ ? "query" : from)) {}

  bool load() {
    if (!loader_.begin()) return false;
    if (open() && prepare() && map_columns()) read_rows();
    return loader_.finish();
  }

 private:
  bool failed(const std::string& reason) {
    loader_.cannot_read(reason);
    return false;
  }

  bool open() {
    std::string reason;
    database_ = open_sqlite(loader_.name(), SqliteUse::Read, reason);
    return database_ != nullptr || failed(reason);
  }

  // The tables and views there are.
  bool list_tables(std::vector<std::string>& names) {
    sqlite3_stmt* handle = nullptr;
    constexpr const char* kSql =
        "SELECT name FROM sqlite_master WHERE type IN ('table', 'view') "
        "AND name NOT LIKE 'sqlite_%' ORDER BY name";
    int status = sqlite3_prepare_v2(database_.get(), kSql, -1, &handle, nullptr);
    const Statement statement(handle);
    if (status != SQLITE_OK) return failed(sqlite3_errmsg(database_.get()));
    while ((status = sqlite3_step(handle)) == SQLITE_ROW) {
      names.emplace_back(reinterpret_cast<const char*>(sqlite3_column_text(handle, 0)));
    }
    return status == SQLITE_DONE || failed(sqlite3_errmsg(database_.get()));
  }

  bool table_exists() {
    std::vector<std::string> names;
    if (!list_tables(names)) return false;
    const bool found = std::ranges::any_of(names, [&](const std::string& name) {
      return sqlite3_stricmp(name.c_str(), from_.c_str()) == 0;
    });
    if (found) return true;
    std::string list;
    for (const std::string& name : names) list += (list.empty() ? "" : ", ") + shown(name);
    return failed(fmt::format(
        "the database has no table or view `{}`; {}", shown(from_),
        names.empty() ? "it is empty"
                      : fmt::format("it has: {} (choose with `{}:TABLE`)", list, loader_.name())));
  }

  bool prepare() {
    if (!is_query_ && !table_exists()) return false;
    const std::string sql = select_from(from_);
    sqlite3_stmt* handle = nullptr;
    const char* rest = nullptr;
    const int status = sqlite3_prepare_v2(database_.get(), sql.c_str(),
                                          static_cast<int>(sql.size() + 1), &handle, &rest);
    statement_.reset(handle);
    if (status != SQLITE_OK) return failed(sqlite3_errmsg(database_.get()));
    if (std::string_view(rest).find_first_not_of("; \t\r\n") != std::string_view::npos) {
      return failed("there is more than one statement");
    }
    // WITH may also begin a change.
    if (sqlite3_stmt_readonly(handle) == 0 || sqlite3_column_count(handle) == 0) {
      return failed("the query does not select rows");
    }
    return true;
  }

  bool map_columns() {
    std::vector<std::string> given;
    const int columns = sqlite3_column_count(statement_.get());
    for (int i = 0; i < columns; ++i) {
      const char* const name = sqlite3_column_name(statement_.get(), i);
      given.emplace_back(name == nullptr ? "" : name);
    }
    bool by_name = loader_.header().all_columns_named();
    for (size_t c = 0; c < loader_.arity() && by_name && is_query_; ++c) {
      by_name = loader_.header().find_column(c, given, true) < given.size();
    }
    if (by_name) {
      const std::string what = is_query_ ? "the query" : fmt::format("table `{}`", shown(from_));
      if (loader_.map_columns(given, true, place_, what, positions_)) return true;
      return false;
    }
    positions_.resize(loader_.arity());
    std::iota(positions_.begin(), positions_.end(), 0);
    if (given.size() == loader_.arity()) return true;
    loader_.row_error(
        place_, fmt::format("{} column{}, but `{}` needs {}", given.size(),
                            given.size() == 1 ? "" : "s", loader_.signature(), loader_.arity()));
    return false;
  }

  void read_rows() {
    int status;
    for (row_ = 1; (status = sqlite3_step(statement_.get())) == SQLITE_ROW; ++row_) {
      bool fits = true;
      for (size_t c = 0; c < loader_.arity() && !loader_.too_many_errors(); ++c) {
        Value value;
        const int i = static_cast<int>(positions_[c]);
        if (value_at(i, loader_.type(c), value)) {
          loader_.column(c).append_typed(value);
        } else {
          bad_value(c, i);
          fits = false;
        }
      }
      if (loader_.too_many_errors()) return;
      if (fits) {
        loader_.end_rows(1);
      } else {
        loader_.drop_unfinished_row();
      }
    }
    if (status != SQLITE_DONE) failed(sqlite3_errmsg(database_.get()));
  }

  std::string_view text_at(int i) {
    const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(statement_.get(), i));
    const int size = sqlite3_column_bytes(statement_.get(), i);
    return text == nullptr ? std::string_view() : std::string_view(text, static_cast<size_t>(size));
  }

  bool value_at(int i, const lang::Type& type, Value& value) {
    switch (sqlite3_column_type(statement_.get(), i)) {
      case SQLITE_INTEGER:
        value = Value::i64(sqlite3_column_int64(statement_.get(), i));
        return lang::convert_literal(value, type, loader_.names());
      case SQLITE_FLOAT:
        value = Value::f64(sqlite3_column_double(statement_.get(), i));
        return lang::convert_literal(value, type, loader_.names());
      case SQLITE_TEXT:
        return text_value(text_at(i), type, value);
      default:
        return false;
    }
  }

  bool text_value(std::string_view text, const lang::Type& type, Value& value) {
    switch (type.kind) {
      case TypeKind::Symbol:
      case TypeKind::PredRef:
        return parse_field(text, type, loader_.names(), value);
      case TypeKind::Term:
        return parse_field(text, {TypeKind::Symbol, nullptr}, loader_.names(), value);
      case TypeKind::Bool:
        value = Value::boolean(text == "true");
        return text == "true" || text == "false";
      case TypeKind::U64:
        return parse_field(text, type, loader_.names(), value) && value.bits > INT64_MAX;
      case TypeKind::F32:
      case TypeKind::F64:
        return text == "nan" && parse_field(text, type, loader_.names(), value);
      default:
        return false;
    }
  }

  void bad_value(size_t column, int i) {
    const auto& place = fmt::format("{}:{}", place_, row_);
    sqlite3_stmt* const row = statement_.get();
    switch (sqlite3_column_type(row, i)) {
      case SQLITE_INTEGER:
        loader_.bad_value(place, column,
                          fmt::format("the integer {}", sqlite3_column_int64(row, i)));
        return;
      case SQLITE_FLOAT:
        loader_.bad_value(
            place, column,
            fmt::format("the real {}", lang::float_to_source(sqlite3_column_double(row, i))));
        return;
      case SQLITE_TEXT:
        loader_.bad_value(place, column,
                          is_utf8(text_at(i)) ? fmt::format("the text `{}`", shown(text_at(i)))
                                              : "a text that is not valid UTF-8");
        return;
      case SQLITE_NULL:
        loader_.bad_value(place, column, "NULL")
            .help(fmt::format("leave such rows out: \"{}:SELECT ... WHERE ... IS NOT NULL\"",
                              loader_.name()));
        return;
      default:
        loader_.bad_value(place, column, "a blob");
    }
  }

  FactLoader& loader_;
  const std::string& from_;
  bool is_query_;
  std::string place_;  // "graph.db:edge"; with the number of the row behind it for one row
  Database database_;
  Statement statement_;  // closed before the database
  std::vector<size_t> positions_;
  uint64_t row_ = 0;
};

}  // namespace

std::string select_from(const std::string& from) {
  return is_query(from) ? from : "SELECT * FROM " + quoted_name(from);
}

bool load_sqlite(const std::string& from, FactLoader& loader) {
  return SqliteLoader(from, loader).load();
}

}  // namespace xlog::io
