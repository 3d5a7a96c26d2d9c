// The text form in which gringo hands ground programs to solvers (ASPIF, version 1): a header,
// one statement a line, each a row of numbers.
//
//   asp 1 0 0
//   1 1 1 1 0 0      {a}.
//   1 0 1 2 0 1 -1   b :- not a.
//   4 1 a 1 1
//   0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "solve/ground_program.h"

namespace xlog::solve {

struct AspifText {
  GroundProgram program;
  std::vector<std::string> notes;  // what was left out without changing the models
};

// Errors name the place as `file_name:line`. Heuristic statements only get a note; theory atoms,
// acyclicity edges and programs in several steps are refused.
Result<AspifText> read_aspif(std::string_view text, std::string_view file_name);

// Reading it gives the same program, except that atoms after the last that occurs are forgotten.
std::string write_aspif(const GroundProgram& program);

}  // namespace xlog::solve
