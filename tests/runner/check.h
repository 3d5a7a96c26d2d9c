// Runs one case and says what is wrong.
#pragma once

#include <string>
#include <vector>

#include "tests/runner/case.h"

namespace xlog::conformance {

struct CheckOptions {
  std::string xlog;       // path of the program under test
  std::string root;       // where `--- program examples/a.xlog` is looked for
  std::string test_file;  // whose folder `--- covers` reads
  int timeout_seconds = 60;
};

// Empty when the case passes; otherwise one text for each thing that differs, ready to print.
std::vector<std::string> check_case(const Case& test, const CheckOptions& options);

// Whether the query of an answer line (`p(X, Y)`, or `p` for any query on p) means this query of
// the program.
bool names_query(std::string_view expected, std::string_view actual);

}  // namespace xlog::conformance
