// Questions about all models of a formula: each of them, how many, what they share.
#include <fmt/format.h>

#include "base/memory.h"
#include "cli/solve_formula.h"
#include "solve/backbone.h"
#include "solve/small_formula.h"
#include "solve/stable_models.h"

namespace xlog::cli {
namespace {

using solve::Literal;
using solve::Outcome;
using solve::SirAnswer;
using solve::StableModels;

class AllModels {
 public:
  AllModels(SolveJob& job, const Formula& formula) : job_(job), formula_(formula) {}

  int run() {
    switch (job_.sir.answer) {
      case SirAnswer::Models:
        return print_models();
      case SirAnswer::Count:
        return job_.engine->id == EngineId::Batch ? count_by_cubes() : count_by_search();
      case SirAnswer::Cautious:
      case SirAnswer::Brave:
        return print_consequences();
      default:
        XLOG_UNREACHABLE("the other answers are about one model");
    }
  }

 private:
  // The search for stable models goes from model to model without a clause for each.
  Status prepare(StableModels& models) {
    if (formula_.clauses().variables() > solve::kMostAtoms) {
      return Error{fmt::format("the engine search takes {} variables at most", solve::kMostAtoms),
                   "number the variables without gaps"};
    }
    if (Status added = models.add(solve::program_of(formula_.clauses())); !added.ok()) {
      return added;
    }
    for (const Literal literal : formula_.assumptions()) models.assume(literal);
    if (job_.progress != nullptr) {
      job_.limits.progress = [this] {
        job_.progress->show([this] {
          return fmt::format("solving: {} models, {}", printed_, size_text(own_memory()));
        });
      };
    }
    return Done{};
  }

  int print_models() {
    StableModels models;
    if (const Status ready = prepare(models); !ready.ok()) return solve_error(ready.error());
    if (formula_.variables_left_out() > 0) {
      print_comment(job_, fmt::format("{} variables are in no clause and have any values",
                                      formula_.variables_left_out()));
    }
    const solve::Enumeration found =
        models.enumerate(job_.limits, [this](const StableModels& model) {
          ++printed_;
          if (!job_.options.no_model) {
            if (job_.progress != nullptr) job_.progress->clear();
            const solve::Model values = model.model();
            XLOG_CHECK(values.satisfies(formula_.clauses()), "a model satisfies the clauses");
            write_failed_ = !write_all(job_.out, value_lines(formula_.values(values)));
          }
          return !write_failed_ && printed_ != job_.sir.models;
        });
    job_.progress = nullptr;
    if (write_failed_) return kProgramError;
    return print_end_of_models(job_, found);
  }

  int count_by_cubes() {
    if (job_.progress != nullptr) {
      job_.limits.progress = [this] {
        job_.progress->show([] { return fmt::format("counting: {}", size_text(own_memory())); });
      };
    }
    const Result<solve::SmallAnswer> answer = solve::decide_small(
        *job_.device, formula_.clauses(), formula_.assumptions(), true, job_.limits);
    job_.progress = nullptr;
    if (!answer.ok()) return solve_error(answer.error());
    return print_count(job_, answer->outcome, answer->models.get_str());
  }

  int count_by_search() {
    if (formula_.variables_left_out() > 0) {
      return solve_error({fmt::format("each of {} variables in no clause doubles the number of "
                                      "models",
                                      formula_.variables_left_out()),
                          "number the variables without gaps"});
    }
    StableModels models;
    if (const Status ready = prepare(models); !ready.ok()) return solve_error(ready.error());
    const solve::ModelCount count = models.count(job_.limits);
    job_.progress = nullptr;
    return print_count(job_, count.outcome, count.models.get_str());
  }

  int print_consequences() {
    const auto begin = std::chrono::steady_clock::now();
    Result<std::unique_ptr<solve::Solver>> solver = make_solver(job_, formula_);
    if (!solver.ok()) return solve_error(solver.error());
    show_progress(job_, **solver, begin);
    const solve::Backbone found = solve::backbone(**solver, job_.limits);
    job_.progress = nullptr;
    if (found.outcome == Outcome::Unsat) {
      return print_status(job_, "UNSATISFIABLE", kUnsatisfiable);
    }
    const bool exact = found.outcome == Outcome::Sat;
    const bool cautious = job_.sir.answer == SirAnswer::Cautious;
    // What is left over at a limit need not hold in every model; what some model has, stays so.
    if (!exact && (cautious || !found.has_model)) return print_unknown(job_);
    const std::vector<Literal> literals = cautious ? found.literals : in_some(found.literals);
    if (!job_.options.no_model && !write_all(job_.out, value_lines(formula_.original(literals)))) {
      return kProgramError;
    }
    if (!exact) print_stop(job_);
    return print_status(job_, "SATISFIABLE", exact ? kAllFound : kSatisfiable);
  }

  // Literals whose negations do not hold in every model.
  std::vector<Literal> in_some(const std::vector<Literal>& in_all) const {
    std::vector<Literal> literals;
    size_t next = 0;
    for (Literal v = 1; v <= formula_.clauses().variables(); ++v) {
      if (next < in_all.size() && solve::variable_of(in_all[next]) == v) {
        literals.push_back(in_all[next++]);
      } else {
        literals.push_back(v);
        literals.push_back(-v);
      }
    }
    return literals;
  }

  SolveJob& job_;
  const Formula& formula_;
  uint64_t printed_ = 0;
  bool write_failed_ = false;
};

}  // namespace

int answer_about_all(SolveJob& job, const Formula& formula) {
  return AllModels(job, formula).run();
}

}  // namespace xlog::cli
