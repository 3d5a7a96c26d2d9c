// Answers into files. `--output F`: all queries in one file; `--output-dir D`: one file a query,
// D/query_1.csv and so on. All files appear complete or none does.
#pragma once

#include <string>
#include <vector>

#include "io/write.h"

namespace xlog::io {

// Report CannotWriteFile and return false when something cannot be written; `written` gets the
// paths.
bool write_output_file(const std::string& path, Format format, const Results& results,
                       Diagnostics& diagnostics, std::vector<std::string>& written);
// Makes the folder when it is missing.
bool write_output_dir(const std::string& folder, Format format, const Results& results,
                      Diagnostics& diagnostics, std::vector<std::string>& written);

// Before a long run: whether it looks as if these could be written. They report as those do.
bool check_output_file(const std::string& path, Format format, Diagnostics& diagnostics);
bool check_output_dir(const std::string& folder, Diagnostics& diagnostics);

}  // namespace xlog::io
