// Answers as a SQLite database: one table a query, `query_1` and so on, with the columns of the CSV
// format (write.h).
//
// Integers and bool are INTEGER, floats REAL, symbols TEXT, lists and compound terms TEXT as in a
// program. What SQLite has no number for is TEXT: NaN is 'nan', and a u64 past the range of INTEGER
// its digits. sqlite_read.h reads all but lists and compound terms back; only the sign of -0.0 is
// lost, SQLite does not keep it.
#pragma once

#include <string>

#include "io/write.h"

namespace xlog::io {

// Fills an empty file. Returns the reason when it cannot, "" when it could.
std::string write_sqlite(const std::string& path, const Results& results);

// Why a database in this place must not be replaced, or "": it holds tables that we do not write,
// or another program is using it.
std::string reason_to_keep_sqlite(const std::string& path);

}  // namespace xlog::io
