// `--input relation=file.csv`: rows of a data file into the facts of a predicate.
//
// Every field is read as the type of its column: integers and floats in decimal, `true`, `false`,
// `1`, `0` for bool, any text for symbols; a `term` column takes a number where the text is one,
// else a symbol. A first line is a header when all columns of the predicate are named and it holds
// their names (in any order; further columns are ignored), or when it cannot be a row and holds no
// number.
#pragma once

#include <string>
#include <vector>

#include "lang/load.h"
#include "lang/program.h"

namespace xlog::io {

struct Input {
  std::string relation;  // "edge", or "edge/2" to choose among arities
  std::string path;
};

// Loads all of them. On errors the diagnostics say so, and no row of a file with an error is kept.
bool load_inputs(const std::vector<Input>& inputs, lang::Program& program, lang::Session& session);

// One file whose bytes are here already; `name` is for diagnostics and for the delimiter.
bool load_csv(std::string_view text, const std::string& name, lang::PredId pred,
              lang::Program& program, lang::Session& session);

}  // namespace xlog::io
