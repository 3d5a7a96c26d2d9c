#include "cli/solve_formula.h"

#include <fmt/format.h>

#include <thread>

#include "base/memory.h"
#include "solve/local_search.h"
#include "solve/portfolio.h"

namespace xlog::cli {
namespace {

using solve::Cnf;
using solve::Literal;
using solve::Solver;

bool is_sparse(const Cnf& cnf) {
  return static_cast<uint64_t>(cnf.variables()) > 8 * cnf.literals() + 100'000;
}

// From three engines on, one of them walks: two that search differ more than they share.
std::vector<solve::Engine> engines_of(const SolveJob& job) {
  uint32_t engines = job.options.threads;
  if (engines == 0) engines = std::max(2U, std::thread::hardware_concurrency());
  if (engines < 3) return solve::cadical_portfolio(engines);
  std::vector<solve::Engine> all = solve::cadical_portfolio(engines - 1);
  all.push_back(solve::local_search_engine(*job.device));
  return all;
}

Result<std::unique_ptr<Solver>> empty_solver(const SolveJob& job, std::FILE* proof) {
  switch (job.engine->id) {
    case EngineId::Portfolio:
      return solve::portfolio_solver(engines_of(job));
    case EngineId::LocalSearch:
      return solve::local_search_solver(*job.device);
    default: {
      solve::CadicalOptions options;
      options.proof_file = proof;
      return solve::cadical_solver(options);
    }
  }
}

}  // namespace

Formula::Formula(SolveJob& job)
    : clauses_(std::move(std::get<Cnf>(job.sir.problem))),
      assumptions_(std::move(job.sir.assumptions)) {
  for (const Literal literal : assumptions_) clauses_.need_variables(solve::variable_of(literal));
  if (job.wants_proof()) {
    for (const Literal literal : assumptions_) clauses_.add({literal});
    assumptions_.clear();
    return;
  }
  if (!is_sparse(clauses_)) return;
  numbers_ = solve::Renumbering({&clauses_}, assumptions_);
  left_out_ = clauses_.variables() - static_cast<int32_t>(numbers_->used().size());
  clauses_ = numbers_->renamed(clauses_);
  for (Literal& literal : assumptions_) literal = numbers_->renamed(literal);
}

std::vector<Literal> Formula::original(std::vector<Literal> literals) const {
  if (!numbers_) return literals;
  for (Literal& literal : literals) literal = numbers_->original(literal);
  return literals;
}

std::vector<Literal> Formula::values(const solve::Model& model) const {
  std::vector<Literal> literals;
  for (Literal v = 1; v <= clauses_.variables(); ++v) literals.push_back(model.holds(v) ? v : -v);
  return original(std::move(literals));
}

Result<std::unique_ptr<Solver>> make_solver(const SolveJob& job, const Formula& formula,
                                            std::FILE* proof) {
  Result<std::unique_ptr<Solver>> solver = empty_solver(job, proof);
  if (!solver.ok()) return solver;
  (*solver)->add(formula.clauses());
  for (const Literal literal : formula.assumptions()) (*solver)->assume(literal);
  return solver;
}

void show_progress(SolveJob& job, const Solver& solver,
                   std::chrono::steady_clock::time_point begin) {
  if (job.progress == nullptr) return;
  job.limits.progress = [&job, &solver, begin] {
    job.progress->show([&] {
      const double seconds =
          std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
      const auto learned = static_cast<double>(solver.learned());
      return fmt::format("solving: {:.0f} s, {} clauses learned, {}/s, {}", seconds,
                         short_count(learned), short_count(learned / seconds),
                         size_text(own_memory()));
    });
  };
}

}  // namespace xlog::cli
