// The Clark completion of a ground program as clauses and weight constraints: every
// rule whose body holds has a head that holds, and every atom that holds has a support. Atoms and
// bodies that always agree share one variable.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "solve/dependencies.h"
#include "solve/minimality.h"
#include "solve/unfounded.h"

namespace xlog::solve {

// Where it goes: a search, or a formula to count.
class CompletionSink {
 public:
  virtual ~CompletionSink() = default;
  // `guess`: the value that is worth trying first.
  virtual int32_t new_variable(bool guess) = 0;
  virtual void add(std::span<const Literal> clause) = 0;
  // `holds <-> weight of the true terms >= bound`.
  virtual void add_weighted_sum(Literal holds, int64_t bound,
                                std::vector<WeightedLiteral> terms) = 0;

  void add(std::initializer_list<Literal> clause) { add(std::span(clause.begin(), clause.size())); }
};

struct Completion {
  // Of each atom, in the sink; [0] is a literal that always holds.
  std::vector<Literal> literals;
  // Atoms of positive cycles and their supports, for UnfoundedSets.
  std::vector<LoopAtom> loop_atoms;
  // The components in which that is not enough, for MinimalityCheck.
  std::vector<HeadCycle> head_cycles;

  Literal literal(Literal atom) const {
    const Literal mapped = literals[static_cast<size_t>(variable_of(atom))];
    return atom > 0 ? mapped : -mapped;
  }
};

// The program has no weighted bodies that depend on their heads. Atoms marked in `external` have
// no rules and stay open. `known`: literals of the sink that the first atoms have already; these
// have no rules here and stay what they are.
Completion complete(const GroundProgram& program, const std::vector<bool>& external,
                    CompletionSink& sink, std::span<const Literal> known = {});
Completion complete(const GroundProgram& program, const std::vector<bool>& external, Search& search,
                    std::span<const Literal> known = {});

}  // namespace xlog::solve
