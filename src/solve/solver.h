// The solver service: clauses and assumptions in, an outcome with a model or the assumptions that
// failed out. Clauses stay; assumptions hold until they are taken back.
//
//   Result<std::unique_ptr<Solver>> made = cadical_solver();
//   Solver& solver = **made;
//   solver.add({1, 2});
//   solver.assume(-1);
//   if (solver.solve({}) == Outcome::Sat) use(solver.model());
//   solver.retract(-1);
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "solve/cnf.h"

namespace xlog::solve {

enum class Outcome : uint8_t {
  Sat,
  Unsat,
  Optimal,  // Sat, and nothing costs less
  Unknown,  // stopped: the conflicts or memory allowed are used up, or it was interrupted
  Timeout,  // stopped: out of time
};
std::string_view name_of(Outcome outcome);

// Set from any thread, a signal handler too, to end a solve soon with Unknown.
using Interrupt = std::atomic<bool>;

struct Limits {
  std::optional<uint64_t> conflicts;
  std::optional<std::chrono::steady_clock::time_point> deadline;
  std::optional<uint64_t> memory_bytes;  // of the process
  const Interrupt* interrupt = nullptr;
};

class Solver {
 public:
  virtual ~Solver() = default;

  void add(std::span<const Literal> clause);
  void add(std::initializer_list<Literal> clause) { add(std::span(clause.begin(), clause.size())); }
  void add(const Cnf& cnf);
  int32_t variables() const { return clauses_.variables(); }
  int32_t new_variable() { return clauses_.new_variable(); }
  void need_variables(int32_t count) { clauses_.need_variables(count); }
  const Cnf& clauses() const { return clauses_; }

  // An assumption holds in every solve until it is retracted. Assuming twice is assuming once;
  // both a literal and its negation: Unsat.
  void assume(Literal literal);
  void retract(Literal literal);
  void retract_all() { assumptions_.clear(); }
  const std::vector<Literal>& assumptions() const { return assumptions_; }

  // Sat, Unsat, Unknown or Timeout. A model is checked against the clauses and the assumptions
  // before it leaves.
  Outcome solve(const Limits& limits);

  // After Sat.
  const Model& model() const { return model_; }
  // After Unsat: assumptions that cannot all hold; none where the clauses alone cannot.
  const std::vector<Literal>& failed() const { return failed_; }

 protected:
  virtual void add_clause(std::span<const Literal> clause) = 0;
  // Fills model_ or failed_.
  virtual Outcome search(const Limits& limits) = 0;

  Model model_;
  std::vector<Literal> failed_;

 private:
  Cnf clauses_;
  std::vector<Literal> assumptions_;  // each once, in the order in which they came
};

struct CadicalOptions {
  std::string proof_path;  // where to write a DRAT proof (text form); empty: none
  bool quick = false;      // many small solves: no preprocessing of the formula
};
Result<std::unique_ptr<Solver>> cadical_solver(const CadicalOptions& options = {});

}  // namespace xlog::solve
