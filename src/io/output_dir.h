// `--output-dir D`: one file a query, D/query_1.csv and so on. All of them appear or none.
#pragma once

#include <string>
#include <vector>

#include "io/write.h"

namespace xlog::io {

// Makes the folder when it is missing. Reports CannotWriteFile and returns false when something
// cannot be written; `written` gets the paths.
bool write_output_dir(const std::string& folder, Format format, const Results& results,
                      Diagnostics& diagnostics, std::vector<std::string>& written);

}  // namespace xlog::io
