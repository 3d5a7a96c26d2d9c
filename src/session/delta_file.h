// A CSV or TSV file of facts that come and go: the columns of a predicate and one that says how
// often (1, -1). It is the one that the header calls `__weight` or else `weight`, unless that is a
// column of the predicate, or the one that the caller names by its number; without one every row
// comes once. What a header is, and which names it needs, is as for `xlog run --input`
// (io/header.h).
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "incremental/maintained.h"
#include "lang/load.h"
#include "lang/program.h"

namespace xlog::session {

// Reports to the session's diagnostics, with file and line. nullopt on errors: no row counts then.
// `weight_column` counts from 1.
std::optional<incremental::FactChanges> read_delta_file(const std::string& path, lang::PredId pred,
                                                        std::optional<size_t> weight_column,
                                                        const lang::Program& program,
                                                        lang::Session& session);

}  // namespace xlog::session
