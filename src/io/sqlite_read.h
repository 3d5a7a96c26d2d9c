// Rows of a SQLite database into the facts of a predicate.
//
// A table or view: columns by name (in any case) when the predicate's columns are named, further
// columns are ignored; otherwise by position, and there are as many. A SELECT: by name when it
// gives all names, otherwise by position.
//
// Types are strict, as for facts in a program: an INTEGER within the range of the column, INTEGER
// or REAL for floats, TEXT for symbols, 0 and 1 or 'true' and 'false' for bool, anything but NULL
// and BLOB for `term`. Two texts stand for numbers that SQLite cannot hold: 'nan' in a float
// column, and decimal digits in a u64 column for what is past the range of INTEGER.
#pragma once

#include <string>

#include "io/fact_loader.h"

namespace xlog::io {

// What to run for a table, a view or a SELECT (also WITH).
std::string select_from(const std::string& from);

// `from` as above; the loader's name is the file's path.
bool load_sqlite(const std::string& from, FactLoader& loader);

}  // namespace xlog::io
