// The part of a program that one predicate depends on.
#pragma once

#include "lang/program.h"

namespace xlog::logic {

// Takes away all queries, constraints and rules that the rows of `pred` do not depend on.
// Predicates and facts stay; the program has to be analysed again.
void keep_needed(lang::Program& program, lang::PredId pred);

}  // namespace xlog::logic
