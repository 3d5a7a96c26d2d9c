// CaDiCaL behind the solver service.
#include <fmt/format.h>

#include <cadical.hpp>

#include "base/check.h"
#include "solve/limit_watch.h"
#include "solve/solver.h"

namespace xlog::solve {
namespace {

// CaDiCaL asks often whether to stop.
class Stop : public CaDiCaL::Terminator {
 public:
  explicit Stop(const Limits& limits) : watch_(limits) {}
  bool terminate() override { return watch_.reached(); }
  Outcome outcome() const { return watch_.outcome(); }

 private:
  LimitWatch watch_;
};

// Counts what CaDiCaL learns and hands on what is short. Assumptions are decisions to CaDiCaL, so a
// learned clause follows from the clauses alone. (After `constrain` it would not: never used here.)
class Learner : public CaDiCaL::Learner {
 public:
  Learner(OnLearned on_learned, int32_t longest)
      : on_learned_(std::move(on_learned)), longest_(longest) {}

  bool learning(int size) override {
    count_.fetch_add(1, std::memory_order_relaxed);
    return on_learned_ && size > 0 && size <= longest_;
  }
  void learn(int literal) override {
    if (literal != 0) return clause_.push_back(literal);
    on_learned_(clause_);
    clause_.clear();
  }
  uint64_t count() const { return count_.load(std::memory_order_relaxed); }

 private:
  OnLearned on_learned_;
  int32_t longest_;
  std::vector<Literal> clause_;
  std::atomic<uint64_t> count_ = 0;
};

class CadicalSolver final : public Solver {
 public:
  explicit CadicalSolver(const CadicalOptions& options)
      : learner_(options.on_learned, options.learned_length) {
    cadical_.set("quiet", 1);
    if (options.quick) cadical_.configure("plain");
    if (options.style == CadicalStyle::Sat) cadical_.configure("sat");
    if (options.style == CadicalStyle::Unsat) cadical_.configure("unsat");
    cadical_.set("seed", options.seed);
    cadical_.connect_learner(&learner_);
  }

  Status open_proof(const CadicalOptions& options) {
    if (options.proof_path.empty() && options.proof_file == nullptr) return Done{};
    cadical_.set("binary", 0);
    proves_ = true;
    if (options.proof_file != nullptr ? cadical_.trace_proof(options.proof_file, "proof")
                                      : cadical_.trace_proof(options.proof_path.c_str())) {
      return Done{};
    }
    return Error{fmt::format("cannot write the proof to '{}'", options.proof_path),
                 "name a file in a folder that exists and may be written"};
  }

  uint64_t learned() const override { return learner_.count(); }

 protected:
  void add_clause(std::span<const Literal> clause) override {
    for (const Literal literal : clause) cadical_.add(literal);
    cadical_.add(0);
  }

  // A proof must show what it uses.
  void add_implied_clause(std::span<const Literal> clause) override {
    if (!proves_) add_clause(clause);
  }

  Outcome search(const Limits& limits) override {
    Stop stop(limits);
    if (stop.terminate()) return stop.outcome();
    for (const Literal literal : assumptions()) cadical_.assume(literal);
    if (limits.conflicts) {
      cadical_.limit("conflicts",
                     static_cast<int>(std::min<uint64_t>(*limits.conflicts, INT32_MAX)));
    }
    cadical_.connect_terminator(&stop);
    const int result = cadical_.solve();
    cadical_.disconnect_terminator();
    switch (result) {
      case 10:
        model_ = Model(variables());
        for (int32_t v = 1; v <= variables(); ++v) {
          model_.set(v <= cadical_.vars() && cadical_.val(v) > 0 ? v : -v);
        }
        return Outcome::Sat;
      case 20:
        for (const Literal literal : assumptions()) {
          if (cadical_.failed(literal)) failed_.push_back(literal);
        }
        return Outcome::Unsat;
      default:
        return stop.outcome();
    }
  }

 private:
  Learner learner_;  // before the solver that calls it
  CaDiCaL::Solver cadical_;
  bool proves_ = false;
};

}  // namespace

Result<std::unique_ptr<Solver>> cadical_solver(const CadicalOptions& options) {
  auto solver = std::make_unique<CadicalSolver>(options);
  if (Status s = solver->open_proof(options); !s.ok()) return s.error();
  return std::unique_ptr<Solver>(std::move(solver));
}

}  // namespace xlog::solve
