// Formulas as text: DIMACS CNF and, with weights, WDIMACS.
//
//   c a comment            p wcnf 3 2 10  (the old form: weights from 10 on are hard)
//   p cnf 3 2              10 1 -2 0
//   1 -2 0                 4 2 3 0
//   2 3 0                  or, since 2022 and without a header: h 1 -2 0, then 4 2 3 0
//
// A reader takes what solvers commonly take (clauses over several lines, comments between them, the
// `%` at the end of SATLIB's files) and says of all else at which line it is wrong. Its memory is
// bounded by the text, whatever a header claims.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "solve/cnf.h"

namespace xlog::solve {

// `file` is what errors call the text: "file:3: ...".
Result<Cnf> read_cnf(std::string_view text, std::string_view file);

// Soft clauses of weight 0 cost nothing and are left out. Without the third number of the old
// form's header all clauses are soft.
Result<WeightedCnf> read_weighted_cnf(std::string_view text, std::string_view file);

std::string cnf_text(const Cnf& cnf);

// The form of 2022. It names no variables but those of its clauses.
std::string weighted_cnf_text(const WeightedCnf& cnf);
// The form with a header. Fails where a soft clause has the largest weight of 64 bits: nothing is
// left above it that would mark a clause as hard.
Result<std::string> old_weighted_cnf_text(const WeightedCnf& cnf);

}  // namespace xlog::solve
