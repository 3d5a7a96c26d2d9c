// `--input relation=file`: data files into the facts of the program. What a file is shows in its
// first bytes: a SQLite database, or CSV or TSV text, which may be packed with gzip or zstd.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "io/pipe_copy.h"
#include "lang/load.h"
#include "lang/program.h"

namespace xlog::io {

struct Input {
  std::string relation;  // "edge", or "edge/2" to choose among arities
  std::string path;
  std::string table;  // of a database: a table, a view or a SELECT; empty: named as the relation
  std::shared_ptr<const PipeCopy> copy = nullptr;  // of a pipe that survey() has read
};

// "edges.csv", "graph.db", "graph.db:edges", "graph.db:SELECT a, b FROM edges". A name with a colon
// is the name of a file where there is such a file.
Input parse_input(std::string relation, std::string_view text);

// Loads all of them. On errors the diagnostics say so, and no row of a file with an error is kept.
// Where the process takes more memory than the limit (0: none), that is an error too.
bool load_inputs(const std::vector<Input>& inputs, lang::Program& program, lang::Session& session,
                 uint64_t memory_limit = 0);

}  // namespace xlog::io
