// A formula may name variable two thousand million and few others. Engines keep something for every
// variable up to the last, so such a formula is solved with its variables numbered anew.
//
//   const Renumbering numbers({&cnf});
//   solver.add(numbers.renamed(cnf)); ... Model model = numbers.original(solver.model(),
//   variables);
#pragma once

#include <initializer_list>
#include <span>
#include <vector>

#include "solve/cnf.h"

namespace xlog::solve {

class Renumbering {
 public:
  // The variables of the clauses and of the literals get the numbers from 1 on, in their order.
  Renumbering(std::initializer_list<const Cnf*> formulas, std::span<const Literal> also = {});

  const std::vector<int32_t>& used() const { return used_; }  // ascending

  // Of literals whose variables are used.
  Literal renamed(Literal literal) const;
  Cnf renamed(const Cnf& cnf) const;

  Literal original(Literal literal) const;
  // Variables that are not used are false.
  Model original(const Model& model, int32_t variables) const;

 private:
  std::vector<int32_t> used_;  // the new number is the place, from 1
};

}  // namespace xlog::solve
