// CaDiCaL behind the solver service.
#include <cadical.hpp>

#include <fmt/format.h>

#include "base/check.h"
#include "base/memory.h"
#include "solve/solver.h"

namespace xlog::solve {
namespace {

using Clock = std::chrono::steady_clock;

// CaDiCaL asks often whether to stop; a look at the clock is cheap enough for each.
class Stop : public CaDiCaL::Terminator {
 public:
  explicit Stop(const Limits& limits) : limits_(limits) {}
  bool terminate() override {
    if (limits_.interrupt != nullptr && limits_.interrupt->load(std::memory_order_relaxed)) {
      return true;
    }
    out_of_time_ = limits_.deadline && Clock::now() >= *limits_.deadline;
    return out_of_time_;
  }
  bool out_of_time() const { return out_of_time_; }

 private:
  const Limits& limits_;
  bool out_of_time_ = false;
};

class CadicalSolver final : public Solver {
 public:
  explicit CadicalSolver(const CadicalOptions& options) {
    cadical_.set("quiet", 1);
    if (options.quick) cadical_.configure("plain");
  }

  Status open_proof(const std::string& path) {
    cadical_.set("binary", 0);
    if (cadical_.trace_proof(path.c_str())) return Done{};
    return Error{fmt::format("cannot write the proof to '{}'", path),
                 "name a file in a folder that exists and may be written"};
  }

 protected:
  void add_clause(std::span<const Literal> clause) override {
    for (const Literal literal : clause) cadical_.add(literal);
    cadical_.add(0);
  }

  Outcome search(const Limits& limits) override {
    Stop stop(limits);
    if (stop.terminate()) return stop.out_of_time() ? Outcome::Timeout : Outcome::Unknown;
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
        return stop.out_of_time() ? Outcome::Timeout : Outcome::Unknown;
    }
  }

 private:
  CaDiCaL::Solver cadical_;
};

}  // namespace

Result<std::unique_ptr<Solver>> cadical_solver(const CadicalOptions& options) {
  auto solver = std::make_unique<CadicalSolver>(options);
  if (!options.proof_path.empty()) {
    if (Status s = solver->open_proof(options.proof_path); !s.ok()) return s.error();
  }
  return std::unique_ptr<Solver>(std::move(solver));
}

}  // namespace xlog::solve
