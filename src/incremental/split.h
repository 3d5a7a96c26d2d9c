// Which queries of a program are answered from rows that are kept, and what asks for worlds.
#pragma once

#include <string>
#include <vector>

#include "incremental/kept_program.h"

namespace xlog::incremental {

struct Split {
  std::vector<bool> query_kept;  // by query
  std::vector<bool> settled;     // by component of the source: the same in all worlds
  bool asks_rest =
      false;  // there is more: components that are not, or constraints that are not kept
  std::vector<bool> rest_reads;  // by predicate, its own among them
  // Who evaluates the rest meets terms without a value there.
  bool rest_has_partial_arithmetic = false;
  std::string fresh_reason;  // why nothing is kept, if so
};

Split split_program(const lang::Program& source, const logic::Analysis& analysis,
                    const KeptProgram& kept, const logic::AnswerOptions& options);

}  // namespace xlog::incremental
