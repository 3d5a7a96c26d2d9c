// How a session shows what changed: for people, as JSON, or as CSV with a weight column that
// `load` takes.
#pragma once

#include <string>
#include <vector>

#include "io/write.h"
#include "lang/load.h"
#include "lang/program.h"
#include "session/session.h"

namespace xlog::cli {

struct ShownChanges {
  const lang::Program& program;
  const lang::Names& names;
  uint64_t from, to;  // commits
  const std::vector<session::QueryChanges>& queries;
  bool bold = false;
};

// table  each query with `+` for rows that came, `-` for those that went, `~` for another status
// json   {"from", "to", "queries": [{"query", "columns", "rows": [{"values", "before", "after"}]}]}
// csv    the columns, then `__weight` (1, -1, 0 for another status), and `before` and `after` where
//        a row is not known; others as csv
std::string changes_text(io::Format format, const ShownChanges& shown);

// A list of batches, piece by piece: what comes before the first, each, what comes after the last.
std::string batches_head(io::Format format);
std::string batch_text(io::Format format, const session::Batch& batch, bool is_first);
std::string batches_tail(io::Format format);

// "2 facts inserted, 1 retracted"
std::string commit_text(const session::Commit& commit);

}  // namespace xlog::cli
