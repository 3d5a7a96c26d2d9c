// A formula: read, solve, print; with a proof where one is asked for.
#include <fmt/format.h>

#include <filesystem>
#include <thread>

#include "base/memory.h"
#include "base/text.h"
#include "cli/solve.h"
#include "io/file.h"
#include "solve/dimacs.h"
#include "solve/portfolio.h"
#include "solve/rup.h"
#include "solve/simplify.h"

namespace xlog::cli {
namespace {

using solve::Cnf;
using solve::Literal;
using solve::Model;
using solve::Outcome;
using solve::Solver;

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

// Few of many variables: solved under other numbers, and only those in clauses are printed.
bool is_sparse(const Cnf& cnf) {
  return static_cast<uint64_t>(cnf.variables()) > 8 * cnf.literals() + 100'000;
}

std::vector<Literal> values(const Cnf& cnf, const Model& model) {
  std::vector<Literal> out;
  if (is_sparse(cnf)) {
    for (size_t i = 0; i < cnf.size(); ++i) {
      for (const Literal literal : cnf[i]) out.push_back(solve::variable_of(literal));
    }
    std::ranges::sort(out);
    out.erase(std::unique(out.begin(), out.end()), out.end());
  } else {
    for (Literal v = 1; v <= cnf.variables(); ++v) out.push_back(v);
  }
  for (Literal& literal : out) literal = model.holds(literal) ? literal : -literal;
  return out;
}

uint32_t portfolio_size(const SolveOptions& options) {
  if (options.threads > 0) return options.threads;
  return std::max(2U, std::thread::hardware_concurrency());
}

Result<std::unique_ptr<Solver>> make_solver(const SolveOptions& options, std::FILE* proof) {
  if (options.engine == "portfolio" || options.threads > 1) {
    return solve::portfolio_solver(solve::cadical_portfolio(portfolio_size(options)));
  }
  solve::CadicalOptions cadical;
  cadical.proof_file = proof;
  return solve::cadical_solver(cadical);
}

// Solvers and the checker of proofs have tables by variable. A proof is about the numbers of the
// file, so other numbers are no help there.
Status check_room_for_proof(const Cnf& cnf) {
  constexpr uint64_t kBytesAVariable = 200;
  int32_t largest = 0;
  for (size_t i = 0; i < cnf.size(); ++i) {
    for (const Literal literal : cnf[i]) largest = std::max(largest, solve::variable_of(literal));
  }
  const uint64_t bytes = kBytesAVariable * static_cast<uint64_t>(largest);
  if (bytes <= available_memory()) return Done{};
  return Error{fmt::format("variable {}: tables up to it, as a proof needs them, take about {}",
                           largest, size_text(bytes)),
               "number the variables without gaps", ErrorKind::OutOfMemory};
}

class CnfRun {
 public:
  CnfRun(SolveJob& job, const Cnf& cnf) : job_(job), cnf_(cnf) {}

  int run() {
    if (wants_proof()) {
      if (const Status room = check_room_for_proof(cnf_); !room.ok()) {
        return solve_error(room.error());
      }
      if (!proof_.open(proof_path())) return proof_error();
    }
    Result<Outcome> outcome = wants_proof() || !is_sparse(cnf_) ? solve() : solve_renumbered();
    job_.progress = nullptr;
    if (!outcome.ok()) return solve_error(outcome.error());
    if (*outcome == Outcome::Unsat && wants_proof()) {
      if (const std::optional<int> failed = finish_proof()) return *failed;
    }
    return print(*outcome);
  }

 private:
  bool wants_proof() const { return !job_.options.proof_file.empty() || job_.options.check_proof; }

  // One that is only checked never gets its name.
  std::string proof_path() const {
    if (!job_.options.proof_file.empty()) return job_.options.proof_file;
    std::error_code none;
    return std::filesystem::temp_directory_path(none) / "xlog-proof";
  }

  int proof_error() const {
    return solve_error(
        {fmt::format("cannot write the proof `{}`: {}", printable(proof_path()), proof_.reason()),
         ""});
  }

  Result<Outcome> solve() { return solve(cnf_); }

  Result<Outcome> solve(const Cnf& cnf) {
    Result<std::unique_ptr<Solver>> solver = make_solver(job_.options, proof_.stream());
    if (!solver.ok()) return solver.error();
    (*solver)->add(cnf);
    const Clock::time_point begin = Clock::now();
    if (job_.progress != nullptr) {
      job_.limits.progress = [&] { show_progress(**solver, begin); };
    }
    const Outcome outcome = (*solver)->solve(job_.limits);
    if (outcome == Outcome::Sat) model_ = (*solver)->model();
    job_.out_of_memory = job_.limits.memory_bytes && own_memory() > *job_.limits.memory_bytes;
    learned_ = (*solver)->learned();
    solve_seconds_ = seconds_since(begin);
    return outcome;
  }

  Result<Outcome> solve_renumbered() {
    const solve::Simplified small = solve::simplify(cnf_);
    Result<Outcome> outcome = solve(small.formula);
    if (outcome.ok() && *outcome == Outcome::Sat) {
      model_ = small.extend(model_);
      XLOG_CHECK(model_.satisfies(cnf_), "a model satisfies the clauses");
    }
    return outcome;
  }

  void show_progress(const Solver& solver, Clock::time_point begin) {
    job_.progress->show([&] {
      const double seconds = seconds_since(begin);
      const auto learned = static_cast<double>(solver.learned());
      return fmt::format("solving: {:.0f} s, {} clauses learned, {}/s, {}", seconds,
                         short_count(learned), short_count(learned / seconds),
                         size_text(own_memory()));
    });
  }

  // The exit code, where something goes wrong.
  std::optional<int> finish_proof() {
    if (!proof_.finish()) return proof_error();
    if (job_.options.check_proof) {
      Result<std::string> text = read_unpacked(proof_.temporary_path());
      if (!text.ok()) return solve_error(text.error());
      job_.limits.progress = nullptr;
      const auto checked = solve::check_proof(cnf_, *text, "the solver's proof", job_.limits);
      if (!checked.ok() && checked.error().kind == ErrorKind::Limit) return print_unknown(job_);
      if (!checked.ok()) return solve_error(checked.error());
      print_comment(job_, fmt::format("the proof is checked: {} clauses added, {} deleted",
                                      checked->added, checked->deleted));
    }
    if (!job_.options.proof_file.empty() && !proof_.commit()) return proof_error();
    return std::nullopt;
  }

  int print(Outcome outcome) {
    if (job_.options.stats) {
      print_comment(job_, fmt::format("{:.3f} s solving, {} clauses learned, {} at most",
                                      solve_seconds_, learned_, size_text(peak_memory())));
    }
    switch (outcome) {
      case Outcome::Sat:
        fmt::print("s SATISFIABLE\n");
        if (!job_.options.no_model && !write_all(stdout, value_lines(values(cnf_, model_)))) {
          return kProgramError;
        }
        return kSatisfiable;
      case Outcome::Unsat:
        fmt::print("s UNSATISFIABLE\n");
        return kUnsatisfiable;
      default:
        return print_unknown(job_);
    }
  }

  SolveJob& job_;
  const Cnf& cnf_;
  io::AtomicFile proof_;
  Model model_;
  uint64_t learned_ = 0;
  double solve_seconds_ = 0;
};

int verify(SolveJob& job, const Cnf& cnf) {
  const std::string& file = job.options.verify_file;
  if (const Status room = check_room_for_proof(cnf); !room.ok()) return solve_error(room.error());
  const Result<std::string> proof = read_unpacked(file);
  if (!proof.ok()) return solve_error(proof.error());
  let_signals_interrupt(job);
  const auto checked = solve::check_proof(cnf, *proof, file, job.limits);
  job.progress = nullptr;
  if (!checked.ok()) {
    if (checked.error().kind == ErrorKind::Limit) return print_unknown(job);
    fmt::print("s NOT VERIFIED\n");
    return solve_error(checked.error());
  }
  print_comment(job, fmt::format("{} clauses added, {} of them by RAT; {} deleted", checked->added,
                                 checked->by_rat, checked->deleted));
  fmt::print("s VERIFIED\n");
  return kUnsatisfiable;
}

}  // namespace

int solve_cnf(SolveJob& job) {
  const Clock::time_point begin = Clock::now();
  const Result<Cnf> cnf = solve::read_cnf(job.text, printable(job.options.file));
  if (!cnf.ok()) return solve_error(cnf.error());
  print_comment(job, fmt::format("{} variables, {} clauses", cnf->variables(), cnf->size()));
  if (job.options.stats) {
    print_comment(
        job, fmt::format("{:.3f} s reading {}", seconds_since(begin), size_text(job.text.size())));
  }
  job.text = {};
  if (!job.options.verify_file.empty()) return verify(job, *cnf);
  let_signals_interrupt(job);
  return CnfRun(job, *cnf).run();
}

}  // namespace xlog::cli
