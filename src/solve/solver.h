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
#include <cstdio>
#include <functional>
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
  std::optional<uint64_t> conflicts = {};
  std::optional<std::chrono::steady_clock::time_point> deadline = {};
  std::optional<uint64_t> memory_bytes = {};  // of the process
  const Interrupt* interrupt = nullptr;
  // Called now and then, on the thread that called solve().
  std::function<void()> progress = {};
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
  // A clause over known variables that follows from the others, such as one that was learned from
  // them before. It may save work and changes no answer.
  void add_implied(std::span<const Literal> clause);

  // An assumption holds in every solve until it is retracted. Assuming twice is assuming once;
  // both a literal and its negation: Unsat.
  void assume(Literal literal);
  void retract(Literal literal);
  void retract_all();
  const std::vector<Literal>& assumptions() const { return assumptions_; }

  // Sat, Unsat, Unknown or Timeout. A model is checked against the clauses and the assumptions
  // before it leaves.
  Outcome solve(const Limits& limits);

  // After Sat.
  const Model& model() const { return model_; }
  // After Unsat: assumptions that cannot all hold, in their order; none where the search found that
  // the clauses alone cannot.
  const std::vector<Literal>& failed() const { return failed_; }

  // How many clauses were learned so far, about one a conflict. Any thread may ask, also while
  // another solves.
  virtual uint64_t learned() const { return 0; }

 protected:
  virtual void add_clause(std::span<const Literal> clause) = 0;
  virtual void add_implied_clause(std::span<const Literal>) {}
  // Fills model_ or failed_.
  virtual Outcome search(const Limits& limits) = 0;

  Model model_;
  std::vector<Literal> failed_;

 private:
  Cnf clauses_;
  std::vector<Literal> assumptions_;  // each once, in the order in which they came
  std::vector<bool> assumed_;         // by 2 * variable, + 1 for a negation
};

// A clause that follows from the formula alone, whatever was assumed.
using OnLearned = std::function<void(std::span<const Literal> clause)>;

// What CaDiCaL leans towards.
enum class CadicalStyle : uint8_t { Balanced, Sat, Unsat };

struct CadicalOptions {
  std::string proof_path = {};      // where to write a DRAT proof (text form); empty: none
  std::FILE* proof_file = nullptr;  // instead: an open file, which stays the caller's
  bool quick = false;               // many small solves: no preprocessing of the formula
  CadicalStyle style = CadicalStyle::Balanced;
  int32_t seed = 0;
  OnLearned on_learned = {};   // called while solving, on the solving thread
  int32_t learned_length = 8;  // of the longest clause that on_learned gets
};
// A proof is complete once its solver is gone.
Result<std::unique_ptr<Solver>> cadical_solver(const CadicalOptions& options = {});

}  // namespace xlog::solve
