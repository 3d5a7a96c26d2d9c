// The kernels of local search: many walks over one formula, one walk an instance.
//
// A walk has for each clause one word: how many of its literals are true in the upper bits, and in
// the lower ones the exclusive or of those literals' variables, which is the variable itself where
// there is one. A clause without a true literal stands in the walk's list of false clauses; its
// word is its place there. For each variable the walk knows how many clauses would become false
// with it (its breaks: clauses that have no other true literal).
#pragma once

#include "kernel/graph.h"

namespace xlog::solve {

// Weights of variables with 0, 1, 2... breaks; the last stands for all from there on.
constexpr uint32_t kBreakWeights = 256;

// Literals are 2 * variable, and one more for the negation. All walks start from values that
// depend on the seed, the walk's number and nothing else; so does each flip.

// Parameters: cells (walks * variables), variables, seed; values, breaks (set to 0).
kernel::Id start_values_kernel(kernel::Graph& graph);
// Parameters: cells (walks * clauses), clauses, variables, shift (where the count starts);
// clause_starts, literals, values; words, breaks.
kernel::Id start_words_kernel(kernel::Graph& graph);
// Parameters: walks, clauses, shift; words, false_clauses, false_count.
kernel::Id start_false_clauses_kernel(kernel::Graph& graph);
// Parameters: walks, clauses, variables, shift, seed, first (number of the first flip), flips;
// clause_starts, literals, occurrence_starts (of literals), occurrences, weights;
// values, words, breaks, false_clauses, false_count; flipped: how many flips a walk made now.
kernel::Id walk_kernel(kernel::Graph& graph);

}  // namespace xlog::solve
