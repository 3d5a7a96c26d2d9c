// A weighted formula: the model of the hard clauses that costs the least.
#include <fmt/format.h>

#include "base/memory.h"
#include "cli/solve.h"
#include "solve/maxsat.h"
#include "solve/renumber.h"

namespace xlog::cli {
namespace {

using solve::Outcome;

using Clock = std::chrono::steady_clock;

// "v 0110": a digit a variable, as competitions of weighted formulas have it.
std::string value_digits(const solve::Model& model, int32_t variables) {
  std::string out = "v ";
  for (int32_t v = 1; v <= variables; ++v) out += model.holds(v) ? '1' : '0';
  return out + "\n";
}

// Of few variables among many only those in clauses, as literals: competitions had that form
// before.
std::string values_text(const solve::Model& model, const solve::WeightedCnf& formula) {
  const auto variables = static_cast<size_t>(formula.variables());
  if (variables <= 1'000'000 + formula.hard.literals() + formula.soft.literals()) {
    return value_digits(model, formula.variables());
  }
  std::vector<solve::Literal> values = solve::Renumbering({&formula.hard, &formula.soft}).used();
  for (solve::Literal& value : values) value = model.holds(value) ? value : -value;
  return value_lines(values);
}

class WeightedRun {
 public:
  WeightedRun(SolveJob& job, const solve::WeightedCnf& formula) : job_(job), formula_(formula) {}

  int run() {
    const Clock::time_point begin = Clock::now();
    if (job_.progress != nullptr) {
      job_.limits.progress = [&] { job_.progress->show([&] { return progress_text(begin); }); };
    }
    const solve::MaxsatResult best = solve::solve_maxsat(
        formula_, job_.limits,
        {.progress = [&](const solve::MaxsatProgress& now) { show_better(now); }});
    job_.out_of_memory = job_.limits.memory_bytes && own_memory() > *job_.limits.memory_bytes;
    job_.progress = nullptr;
    if (job_.options.stats) {
      const double seconds = std::chrono::duration<double>(Clock::now() - begin).count();
      print_comment(job_,
                    fmt::format("{:.3f} s solving, {} at most", seconds, size_text(peak_memory())));
    }
    return print(best);
  }

 private:
  // Competitions take the last `o` line of a run that is ended from outside.
  void show_better(const solve::MaxsatProgress& now) {
    lower_bound_ = now.lower_bound;
    if (!now.better_model) return;
    cost_ = now.cost;
    if (job_.progress != nullptr) job_.progress->clear();
    print_line(job_, fmt::format("o {}", now.cost));
    std::fflush(job_.out);
  }

  std::string progress_text(Clock::time_point begin) const {
    const double seconds = std::chrono::duration<double>(Clock::now() - begin).count();
    return fmt::format("solving: {:.0f} s, cost at least {}, {}, {}", seconds, lower_bound_,
                       cost_ ? fmt::format("best {}", *cost_) : "no model yet",
                       size_text(own_memory()));
  }

  int print(const solve::MaxsatResult& best) {
    switch (best.outcome) {
      case Outcome::Optimal:
      case Outcome::Sat: {
        // The last `o` line says what the model costs, also where no better one was announced.
        if (cost_ != best.cost) print_line(job_, fmt::format("o {}", best.cost));
        const bool optimal = best.outcome == Outcome::Optimal;
        if (!optimal) {
          print_stop(job_);
          print_comment(job_, fmt::format("no model costs less than {}", best.lower_bound));
        }
        const int exit_code = optimal ? print_status(job_, "OPTIMUM FOUND", kOptimumFound)
                                      : print_status(job_, "SATISFIABLE", kSatisfiable);
        if (!job_.options.no_model && !write_all(job_.out, values_text(best.model, formula_))) {
          return kProgramError;
        }
        return exit_code;
      }
      case Outcome::Unsat:
        return print_status(job_, "UNSATISFIABLE", kUnsatisfiable);
      case Outcome::Unknown:
      case Outcome::Timeout:
        break;
    }
    return print_unknown(job_);
  }

  SolveJob& job_;
  const solve::WeightedCnf& formula_;
  uint64_t lower_bound_ = 0;
  std::optional<uint64_t> cost_;  // the last that was announced
};

}  // namespace

int solve_weighted(SolveJob& job) {
  auto& formula = std::get<solve::WeightedCnf>(job.sir.problem);
  print_comment(job, fmt::format("{} variables, {} hard and {} soft clauses", formula.variables(),
                                 formula.hard.size(), formula.soft.size()));
  for (const solve::Literal literal : job.sir.assumptions) formula.hard.add({literal});
  let_signals_interrupt(job);
  return WeightedRun(job, formula).run();
}

}  // namespace xlog::cli
