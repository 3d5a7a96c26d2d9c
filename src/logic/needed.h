// The part of a program that some predicates depend on.
#pragma once

#include <vector>

#include "lang/program.h"

namespace xlog::logic {

// Takes away all queries, constraints and rules that the rows of `pred`, or of any of
// `preds`, do not depend on.
// Predicates and facts stay; the program has to be analysed again.
void keep_needed(lang::Program& program, lang::PredId pred);
void keep_needed(lang::Program& program, const std::vector<lang::PredId>& preds);

// Takes away the queries, with the rules that answer them.
void drop_queries(lang::Program& program);

}  // namespace xlog::logic
