// Sets of rows in cells of 32 bits, after Cleary, "Compact hash tables using bidirectional linear
// probing", 1984: a row is a number below 2^n, which is mixed by a function that can be undone. Its
// first bits say at which cell the search starts, so that the cell has to hold the others alone,
// and how far from its start it lies. Cells are searched one after another, as in Packed sets.
//
// A row that would lie farther away than a cell can say is not put there, and the cell behind all
// others says so: the set has to be made again, with other mixing.
#pragma once

#include <optional>
#include <vector>

#include "relation/row_set.h"

namespace xlog::relation {

// Numbers that say how a set mixes: half of the bits n, 2^n - 1, how many bits of a row its cell
// holds, and the two numbers that it is multiplied by.
constexpr size_t kMixingNumbers = 5;

// Nothing where rows with columns below `sizes` have too many bits for cells of 32, or for the
// mixing of 64. `cells` is a power of two. Each `attempt` mixes in another way.
std::optional<std::vector<uint64_t>> compact_mixing(const std::vector<uint64_t>& sizes,
                                                    uint64_t cells, uint64_t attempt);

Value find_compact(Builder& k, const SetCode& set, const Values& row);
void prefetch_compact(Builder& k, const SetCode& set, const Values& row);
// Puts the row there, and gives whether it is new; false too where it finds no place.
Value claim_compact(Builder& k, const SetCode& set, const Values& row);

}  // namespace xlog::relation
