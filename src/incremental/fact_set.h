// The stated facts of a program as a Z-set: rows with weights above 0, of each predicate.
//
//   FactSet facts(program, names);          // what the program states
//   if (Status s = facts.apply(batch); !s.ok()) return s;    // nothing changed
//   facts.of(pred);                         // canonical order
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "incremental/cells.h"
#include "incremental/maintained.h"
#include "incremental/table.h"
#include "lang/program.h"
#include "lang/value.h"

namespace xlog::incremental {

// "edge(1, 2)"
std::string fact_text(lang::PredId pred, std::span<const lang::Value> row,
                      const lang::Program& program, const lang::Names& names);

// That a fact is there `weight` times, too few for a change of its weight.
Error cannot_retract(lang::PredId pred, std::span<const lang::Value> row, int64_t weight,
                     int64_t change, const lang::Program& program, const lang::Names& names);
Error weight_overflow(const std::string& fact);

// Each row once with the sum of its weights, rows of weight 0 left out, in canonical order; the
// predicates in the order of their numbers, those without rows left out.
Result<std::vector<FactChanges>> net_changes(std::span<const FactChanges> batch,
                                             const lang::Program& program,
                                             const lang::Names& names);

FactChanges in_canonical_order(const FactChanges& changes, const lang::Predicate& predicate,
                               const lang::Names& names);

// The opposite change. (The smallest weight has no opposite: FactSet never holds it.)
std::vector<FactChanges> negated(std::span<const FactChanges> batch);

class FactSet {
 public:
  // Refers to both; starts empty.
  FactSet(const lang::Program& program, const lang::Names& names);

  // All or nothing. An error when a fact that is not there is retracted, or a weight leaves 64
  // bits.
  Status apply(std::span<const FactChanges> batch);
  // Adds what the fact tables of a program state, a row that is stated twice with weight 2.
  void add_tables(const lang::Program& program);

  FactChanges of(lang::PredId pred) const;
  std::vector<FactChanges> all() const;  // of all predicates that have some
  // What is there more often than once, with one time less: what write_tables() leaves out.
  std::vector<FactChanges> repeated() const;

  // Replaces the fact tables of `to`, a program with the same predicates, by these rows, each once.
  void write_tables(lang::Program& to, lang::Names& to_names) const;

 private:
  // Calls visit(i, row of its table) for each row of the changes.
  template <typename Visit>
  void find_each(const FactChanges& changes, bool adds, const Visit& visit);
  // The rows whose weight is at least so high, in canonical order.
  FactChanges of(lang::PredId pred, int64_t least_weight) const;

  const lang::Program& program_;
  const lang::Names& names_;
  Cells cells_;
  std::vector<Table> tables_;  // by predicate
};

// A program without its facts.
lang::Program copy_without_facts(const lang::Program& program);

}  // namespace xlog::incremental
