// The part of a program that some predicates depend on.
#pragma once

#include <vector>

#include "lang/program.h"
#include "logic/analysis.h"

namespace xlog::logic {

// What is asked of a program.
enum class Asked : uint8_t { Worlds, WellFounded };

// By predicate: whether an answer can depend on it. Of what is determined, only the part that
// queries, constraints and the rest of the program read; the rest always counts, as it says which
// worlds there are. The well-founded model is one, and what is true in it of a predicate depends on
// what that predicate depends on: there the rest counts no more than the determined part.
std::vector<bool> needed_for_answers(const lang::Program& program, const Analysis& analysis,
                                     Asked asked = Asked::Worlds);
// Takes away the rules that no answer depends on; the program has to be analysed again where that
// is true of any.
bool drop_unneeded(lang::Program& program, const Analysis& analysis, Asked asked = Asked::Worlds);

// Takes away all queries, constraints and rules that the rows of `pred`, or of any of
// `preds`, do not depend on.
// Predicates and facts stay; the program has to be analysed again.
void keep_needed(lang::Program& program, lang::PredId pred);
void keep_needed(lang::Program& program, const std::vector<lang::PredId>& preds);

// Takes away the queries, with the rules that answer them.
void drop_queries(lang::Program& program);

}  // namespace xlog::logic
