// `xlog solve FILE.lp`: stable models of a ground program in the text that gringo prints.
#pragma once

#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include "solve/solver.h"

namespace xlog::cli {

enum class ProgramTask : uint8_t {
  Models,    // one, several or all; the best where the program minimizes
  Count,     // how many there are
  Cautious,  // what is shown in all of them
  Brave,     // what is shown in some of them
};

struct ProgramOptions {
  ProgramTask task = ProgramTask::Models;
  uint64_t models = 1;                   // how many to print; 0: all
  bool project = false;                  // models that show the same are one
  bool ignore_minimize = false;          // any models instead of the best
  std::vector<std::string> assumptions;  // shown names, `not NAME` for those that must not hold
  solve::Limits limits;
  bool quiet = false;  // no comments
};

// Prints `v` lines with what a model shows, `o` lines with the costs of the best so far (highest
// priority first), `c` lines with comments, and one `s` line. The exit code: 10 a model, 20 none,
// 30 the best one or all there are, 0 unknown, 1 and a message on standard error for a bad text.
int solve_program(std::string_view text, std::string_view file_name, const ProgramOptions& options,
                  std::FILE* out);

}  // namespace xlog::cli
