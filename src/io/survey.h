// A look through a data file before it is loaded: what the columns of a relation that nothing
// declares hold, so that the program's types can follow from it.
#pragma once

#include <vector>

#include "io/input.h"
#include "lang/program.h"

namespace xlog::io {

// Of a relation of this many columns. A pipe is read here, and the input keeps a copy of it. Empty
// where the file does not say: standard input is read only once, and what cannot be read is
// reported by load_inputs.
std::vector<lang::DataColumn> survey(Input& input, uint32_t arity);

}  // namespace xlog::io
