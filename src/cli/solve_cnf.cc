// A formula: a model or that there is none, with a proof or a core where one is asked for.
#include <fmt/format.h>

#include <filesystem>

#include "base/memory.h"
#include "base/text.h"
#include "cli/solve_formula.h"
#include "io/file.h"
#include "solve/rup.h"
#include "solve/small_formula.h"

namespace xlog::cli {
namespace {

using solve::Cnf;
using solve::Literal;
using solve::Model;
using solve::Outcome;
using solve::SirAnswer;
using solve::Solver;

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
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
  CnfRun(SolveJob& job, const Formula& formula) : job_(job), formula_(formula) {}

  int run() {
    if (job_.wants_proof()) {
      if (const Status room = check_room_for_proof(formula_.clauses()); !room.ok()) {
        return solve_error(room.error());
      }
      if (!proof_.open(proof_path())) return proof_error();
    }
    const Clock::time_point begin = Clock::now();
    Result<Outcome> outcome = job_.engine->id == EngineId::Batch ? solve_by_cubes() : solve();
    job_.out_of_memory = job_.limits.memory_bytes && own_memory() > *job_.limits.memory_bytes;
    solve_seconds_ = seconds_since(begin);
    job_.progress = nullptr;
    if (!outcome.ok()) return solve_error(outcome.error());
    if (*outcome == Outcome::Unsat && job_.wants_proof()) {
      if (const std::optional<int> failed = finish_proof()) return *failed;
    }
    return print(*outcome);
  }

 private:
  // One without a name of its own is only checked or printed.
  std::string proof_path() const {
    if (!job_.options.proof_file.empty()) return job_.options.proof_file;
    std::error_code none;
    return std::filesystem::temp_directory_path(none) / "xlog-proof";
  }

  // A job asks for a proof, and nobody says where it should go.
  bool prints_proof() const {
    return job_.sir.answer == SirAnswer::Proof && job_.options.proof_file.empty() &&
           !job_.options.check_proof;
  }

  int proof_error() const {
    return solve_error(
        {fmt::format("cannot write the proof `{}`: {}", printable(proof_path()), proof_.reason()),
         ""});
  }

  Result<Outcome> solve() {
    Result<std::unique_ptr<Solver>> solver = make_solver(job_, formula_, proof_.stream());
    if (!solver.ok()) return solver.error();
    show_progress(job_, **solver, Clock::now());
    const Outcome outcome = (*solver)->solve(job_.limits);
    job_.limits.progress = nullptr;
    if (outcome == Outcome::Sat) model_ = (*solver)->model();
    if (outcome == Outcome::Unsat) failed_ = (*solver)->failed();
    learned_ = (*solver)->learned();
    return outcome;
  }

  Result<Outcome> solve_by_cubes() {
    const Result<solve::SmallAnswer> answer = solve::decide_small(
        *job_.device, formula_.clauses(), formula_.assumptions(), false, job_.limits);
    if (!answer.ok()) return answer.error();
    model_ = answer->model;
    return answer->outcome;
  }

  // The exit code, where something goes wrong.
  std::optional<int> finish_proof() {
    if (!proof_.finish()) return proof_error();
    if (job_.options.check_proof || prints_proof()) {
      Result<std::string> text = read_unpacked(proof_.temporary_path());
      if (!text.ok()) return solve_error(text.error());
      proof_text_ = std::move(*text);
    }
    if (job_.options.check_proof) {
      const auto checked =
          solve::check_proof(formula_.clauses(), proof_text_, "the solver's proof", job_.limits);
      if (!checked.ok() && checked.error().kind == ErrorKind::Limit) return print_unknown(job_);
      if (!checked.ok()) return solve_error(checked.error());
      print_comment(job_, fmt::format("the proof is checked: {} clauses added, {} deleted",
                                      checked->added, checked->deleted));
    }
    if (!job_.options.proof_file.empty() && !proof_.commit()) return proof_error();
    return std::nullopt;
  }

  // The lines of the proof, each after a `p`.
  bool print_proof() const {
    std::string out;
    for (size_t begin = 0; begin < proof_text_.size();) {
      const size_t end = std::min(proof_text_.find('\n', begin), proof_text_.size());
      out += "p ";
      out.append(proof_text_, begin, end - begin);
      out += '\n';
      begin = end + 1;
    }
    return write_all(job_.out, out);
  }

  int print(Outcome outcome) {
    if (job_.options.stats) {
      print_comment(job_, fmt::format("{:.3f} s solving, {} clauses learned, {} at most",
                                      solve_seconds_, learned_, size_text(peak_memory())));
    }
    bool written = true;
    switch (outcome) {
      case Outcome::Sat:
        print_status(job_, "SATISFIABLE", kSatisfiable);
        if (!job_.options.no_model) {
          written = write_all(job_.out, value_lines(formula_.values(model_)));
        }
        return written ? static_cast<int>(kSatisfiable) : static_cast<int>(kProgramError);
      case Outcome::Unsat:
        print_status(job_, "UNSATISFIABLE", kUnsatisfiable);
        if (job_.sir.answer == SirAnswer::Core) {
          written = write_all(job_.out, value_lines(formula_.original(failed_), 'f'));
        }
        if (prints_proof()) written = print_proof();
        return written ? static_cast<int>(kUnsatisfiable) : static_cast<int>(kProgramError);
      default:
        if (job_.engine->id == EngineId::LocalSearch) {
          print_comment(job_, "local search finds models, and not that there is none");
        }
        return print_unknown(job_);
    }
  }

  SolveJob& job_;
  const Formula& formula_;
  io::AtomicFile proof_;
  std::string proof_text_;
  Model model_;
  std::vector<Literal> failed_;
  uint64_t learned_ = 0;
  double solve_seconds_ = 0;
};

// A proof under assumptions is one of the formula with them as clauses.
int verify(SolveJob& job) {
  Cnf cnf = std::move(std::get<Cnf>(job.sir.problem));
  for (const Literal literal : job.sir.assumptions) cnf.add({literal});
  const std::string& file = job.options.verify_file;
  if (const Status room = check_room_for_proof(cnf); !room.ok()) return solve_error(room.error());
  const Result<std::string> proof = read_unpacked(file);
  if (!proof.ok()) return solve_error(proof.error());
  let_signals_interrupt(job);
  const auto checked = solve::check_proof(cnf, *proof, file, job.limits);
  job.progress = nullptr;
  if (!checked.ok()) {
    if (checked.error().kind == ErrorKind::Limit) return print_unknown(job);
    print_status(job, "NOT VERIFIED", kProgramError);
    return solve_error(checked.error());
  }
  print_comment(job, fmt::format("{} clauses added, {} of them by RAT; {} deleted", checked->added,
                                 checked->by_rat, checked->deleted));
  return print_status(job, "VERIFIED", kUnsatisfiable);
}

}  // namespace

int solve_cnf(SolveJob& job) {
  const auto& cnf = std::get<Cnf>(job.sir.problem);
  print_comment(job, fmt::format("{} variables, {} clauses", cnf.variables(), cnf.size()));
  if (!job.options.verify_file.empty()) return verify(job);
  const Formula formula(job);
  let_signals_interrupt(job);
  switch (job.sir.answer) {
    case SirAnswer::Model:
    case SirAnswer::Core:
    case SirAnswer::Proof:
      return CnfRun(job, formula).run();
    default:
      return answer_about_all(job, formula);
  }
}

}  // namespace xlog::cli
