// A formula as engines get it: numbered anew where it uses few of many variables. Then only the
// variables in clauses and assumptions are known, and printed.
#pragma once

#include <optional>
#include <vector>

#include "cli/solve.h"
#include "solve/renumber.h"

namespace xlog::cli {

class Formula {
 public:
  // Takes the formula out of the job. Proofs speak of the numbers of the file, which then stay.
  explicit Formula(SolveJob& job);

  const solve::Cnf& clauses() const { return clauses_; }
  const std::vector<solve::Literal>& assumptions() const { return assumptions_; }

  // Variables that are not known here.
  int32_t variables_left_out() const { return left_out_; }
  // In the numbers of the file.
  std::vector<solve::Literal> original(std::vector<solve::Literal> literals) const;
  std::vector<solve::Literal> values(const solve::Model& model) const;

 private:
  solve::Cnf clauses_;
  std::vector<solve::Literal> assumptions_;
  std::optional<solve::Renumbering> numbers_;
  int32_t left_out_ = 0;
};

// A fresh solver of the job's engine, CaDiCaL or one that is used like it, with the clauses and
// the assumptions.
Result<std::unique_ptr<solve::Solver>> make_solver(const SolveJob& job, const Formula& formula,
                                                   std::FILE* proof = nullptr);

// A line on the terminal while it solves; the solver and the time stay until limits.progress is
// reset.
void show_progress(SolveJob& job, const solve::Solver& solver,
                   std::chrono::steady_clock::time_point begin);

// Models, Count, Cautious and Brave.
int answer_about_all(SolveJob& job, const Formula& formula);

}  // namespace xlog::cli
