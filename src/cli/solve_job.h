// From a file and the command line to a job: what is solved, under which assumptions and limits,
// and what is asked for.
#pragma once

#include <string>
#include <vector>

#include "cli/solve.h"

namespace xlog::cli {

// The kinds of files, which are also the endings of their names.
std::vector<std::string> solve_kind_names();

// Reads `text` into job.sir by what the options, the name of the file or its first line say it is.
// What the options ask for then replaces what the file asks for; assumptions add up.
Status read_job(SolveJob& job, std::string_view text);

}  // namespace xlog::cli
