// Rows of a CSV or TSV file into the facts of a predicate.
//
// Every field is read as the type of its column: integers and floats in decimal, `true`, `false`,
// `1`, `0` for bool, any text for symbols; a `term` column takes a number where the text is one,
// else a symbol. A first line is a header when all columns of the predicate are named and it holds
// their names (in any order; further columns are ignored), or when it cannot be a row and holds no
// number.
#pragma once

#include <string>
#include <string_view>

#include "io/byte_source.h"
#include "io/fact_loader.h"

namespace xlog::io {

// Reads the source to its end. The loader's name is for diagnostics and for the delimiter.
bool load_csv(ByteSource& source, FactLoader& loader);

}  // namespace xlog::io
