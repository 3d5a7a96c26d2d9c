// The kernel that decides small formulas, one question an instance. See docs/batch_solving.md.
#pragma once

#include <cstdint>
#include <string>

#include "kernel/graph.h"

namespace xlog::solve {

// What the kernel is made for. Buffers that a shape does not need are not among its parameters.
struct BatchShape {
  kernel::Type mask = kernel::Type::U32;  // of a clause's variables: u32 or u64
  bool table = false;  // the lowest six variables in one word, all 64 assignments at a time
  bool counts = false;
  bool cubes = false;  // questions name a formula and assume literals
  // Clauses of neighbours lie side by side: lanes of a GPU that go through their formulas
  // together read one line of memory.
  bool interleaved = false;

  std::string name() const;
};

// Of the table: what the first six variables are in each of their 64 assignments.
constexpr uint32_t kTableVariables = 6;
constexpr uint64_t kTableWords[kTableVariables] = {0xaaaaaaaaaaaaaaaa, 0xcccccccccccccccc,
                                                   0xf0f0f0f0f0f0f0f0, 0xff00ff00ff00ff00,
                                                   0xffff0000ffff0000, 0xffffffff00000000};

// So many formulas are interleaved.
constexpr uint32_t kTile = 32;

// What the kernel writes for a question.
constexpr uint8_t kBatchUnknown = 0, kBatchSat = 1, kBatchUnsat = 2;
// The check that fails where a model does not satisfy its formula.
constexpr uint32_t kCheckModel = 8;

// Parameters: n, first (question), passes (most for a question); starts (of each formula's clauses,
// one more than formulas), or lengths (of each formula) and tiles (where each begins) where they
// are interleaved; variables (of each formula), positive, negative (of each clause);
// table: words (of each clause); cubes: formula, assumed_true, assumed_false (of each question);
// then what comes out for each question: outcome, model; counts: count.
kernel::Id batch_kernel(kernel::Graph& graph, const BatchShape& shape);

// Parameters: formulas; starts, lengths, tiles, positive, negative; positive_out, negative_out:
// clause c of formula f lies at tiles[f / kTile] + c * kTile + f mod kTile.
kernel::Id interleave_kernel(kernel::Graph& graph, kernel::Type mask);

// Parameters: n, positive, negative (of each clause), words: in which assignments to the table's
// variables a literal of the clause holds.
kernel::Id table_words_kernel(kernel::Graph& graph, kernel::Type mask);

}  // namespace xlog::solve
