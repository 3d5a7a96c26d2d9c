// A ground program: its stable models, how many, what they share, the best one.
#include <fmt/format.h>

#include <algorithm>

#include "base/memory.h"
#include "base/text.h"
#include "cli/cli.h"
#include "cli/solve.h"
#include "cli/terminal.h"

namespace xlog::cli {
namespace {

using solve::Atom;
using solve::GroundProgram;
using solve::Literal;
using solve::Outcome;
using solve::Shown;
using solve::SirAnswer;
using solve::StableModels;

using Clock = std::chrono::steady_clock;

class ProgramRun {
 public:
  explicit ProgramRun(SolveJob& job) : job_(job) {}

  int run() {
    auto program = std::move(std::get<GroundProgram>(job_.sir.problem));
    print_comment(job_, fmt::format("{} atoms, {} rules", program.atoms(), program.rules()));
    // Assumptions of the job instead of the program's: a core names them.
    const std::vector<Literal> assumptions = std::move(program.assumptions);
    program.assumptions.clear();
    if (const Status added = solver_.add(std::move(program)); !added.ok()) {
      return solve_error(added.error());
    }
    for (const Literal literal : assumptions) solver_.assume(literal);
    let_signals_interrupt(job_);
    if (job_.progress != nullptr) {
      job_.limits.progress = [this] { job_.progress->show([this] { return progress_text(); }); };
    }
    const int exit_code = answer();
    job_.progress = nullptr;
    if (job_.options.stats) {
      print_comment(job_, fmt::format("{:.3f} s solving, {} conflicts, {} at most", seconds(),
                                      solver_.conflicts(), size_text(peak_memory())));
    }
    return write_failed_ ? static_cast<int>(kProgramError) : exit_code;
  }

 private:
  // Models that minimize are asked for where one is; all of them is another question.
  int answer() {
    const bool best = !solver_.program().minimize.empty();
    switch (job_.sir.answer) {
      case SirAnswer::Model:
        return best ? print_best(1) : print_models(1);
      case SirAnswer::Models:
        return best ? print_best(job_.sir.models) : print_models(job_.sir.models);
      case SirAnswer::Count:
        return count();
      case SirAnswer::Cautious:
        return print_consequences(true);
      case SirAnswer::Brave:
        return print_consequences(false);
      case SirAnswer::Core:
        return print_core();
      case SirAnswer::Proof:
        break;
    }
    XLOG_UNREACHABLE("there are no proofs about programs");
  }

  double seconds() const { return std::chrono::duration<double>(Clock::now() - begin_).count(); }

  std::string progress_text() const {
    return fmt::format("solving: {:.0f} s, {} models, {} conflicts, {}", seconds(), models_,
                       short_count(static_cast<double>(solver_.conflicts())),
                       size_text(own_memory()));
  }

  void line(const std::string& text) {
    if (job_.progress != nullptr) job_.progress->clear();
    write_failed_ = write_failed_ || !write_all(job_.out, text + "\n");
  }

  void print_texts(const std::vector<std::string>& texts) {
    if (job_.options.no_model) return;
    std::string text = "v";
    for (const std::string& shown : texts) text += " " + printable(shown);
    line(text);
  }

  void print_costs(const std::vector<solve::Cost>& costs) {
    std::string text = "o";
    for (const solve::Cost& cost : costs) text += fmt::format(" {}", cost.value);
    line(text);
    std::fflush(job_.out);
  }

  void project() {
    if (solver_.program().projection) {
      solver_.project(solver_.program().projection);
    } else if (job_.options.project) {
      solver_.project_on_shown();
    }
  }
  bool is_projected() const { return solver_.program().projection || job_.options.project; }

  // Prints a model; whether there shall be more.
  StableModels::Visitor print_up_to(uint64_t most) {
    return [this, most](const StableModels& model) {
      print_texts(model.shown());
      return !write_failed_ && ++models_ != most;
    };
  }

  int print_models(uint64_t most) {
    project();
    return print_end_of_models(job_, solver_.enumerate(job_.limits, print_up_to(most)));
  }

  int print_best(uint64_t most) {
    std::vector<std::string> texts;
    const solve::Optimum best = solver_.optimize(job_.limits, [&](const StableModels& model) {
      print_costs(model.costs());
      texts = model.shown();
      return !write_failed_;
    });
    if (best.outcome == Outcome::Unsat) return print_status(job_, "UNSATISFIABLE", kUnsatisfiable);
    if (best.outcome == Outcome::Optimal && most != 1) {
      project();
      const solve::Enumeration all = solver_.enumerate_optimal(job_.limits, print_up_to(most));
      if (all.outcome != Outcome::Unsat && all.outcome != Outcome::Sat) print_stop(job_);
      print_comment(
          job_, fmt::format("models {}{}", all.models, all.outcome == Outcome::Unsat ? "" : "+"));
      return print_status(job_, "OPTIMUM FOUND", kOptimumFound);
    }
    if (best.model) print_texts(texts);
    if (best.outcome == Outcome::Optimal) {
      return print_status(job_, "OPTIMUM FOUND", kOptimumFound);
    }
    if (!best.model) return print_unknown(job_);
    print_stop(job_);
    return print_status(job_, "SATISFIABLE", kSatisfiable);
  }

  // Projected models are counted one by one, others by independent parts.
  int count() {
    if (!is_projected()) {
      const solve::ModelCount all = solver_.count(job_.limits);
      return print_count(job_, all.outcome, all.models.get_str());
    }
    project();
    const solve::Enumeration found = solver_.enumerate(job_.limits, [this](const StableModels&) {
      ++models_;
      return true;
    });
    return print_count(job_, found.outcome, std::to_string(found.models));
  }

  // Of each text that one atom decides; facts are always there.
  int print_consequences(bool cautious) {
    std::vector<Atom> asked;
    size_t left_out = 0;
    for (const Shown& item : solver_.program().shown) {
      if (item.condition.size() == 1 && item.condition[0] > 0) {
        asked.push_back(item.condition[0]);
      } else if (!item.condition.empty()) {
        ++left_out;
      }
    }
    if (left_out > 0) {
      print_comment(job_, fmt::format("{} shown terms with conditions other than one atom are left "
                                      "out",
                                      left_out));
    }
    // Without atoms to ask about, whether there is a model is the question.
    const solve::Consequences found = asked.empty()
                                          ? solve::Consequences{solver_.solve(job_.limits), {}}
                                      : cautious ? solver_.cautious(job_.limits, asked)
                                                 : solver_.brave(job_.limits, asked);
    if (found.outcome == Outcome::Unsat) return print_status(job_, "UNSATISFIABLE", kUnsatisfiable);
    const bool exact = found.outcome == Outcome::Sat;
    // What is left over at a limit need not hold in every model; what some model has, stays so.
    if (!exact && (cautious || found.atoms.empty())) return print_unknown(job_);
    std::vector<std::string> texts;
    for (const Shown& item : solver_.program().shown) {
      const bool follows =
          item.condition.empty() || (item.condition.size() == 1 && item.condition[0] > 0 &&
                                     std::ranges::binary_search(found.atoms, item.condition[0]));
      if (follows) texts.push_back(item.text);
    }
    print_texts(texts);
    if (!exact) print_stop(job_);
    return print_status(job_, "SATISFIABLE", exact ? kAllFound : kSatisfiable);
  }

  int print_core() {
    const Outcome outcome = solver_.solve(job_.limits);
    if (outcome == Outcome::Sat) {
      print_texts(solver_.shown());
      return print_status(job_, "SATISFIABLE", kSatisfiable);
    }
    if (outcome != Outcome::Unsat) return print_unknown(job_);
    for (const Literal literal : solver_.failed()) line("f " + assumption_text(literal));
    return print_status(job_, "UNSATISFIABLE", kUnsatisfiable);
  }

  // As it was given, or by the name of its atom, or as a number.
  std::string assumption_text(Literal literal) const {
    if (const auto given = job_.assumed.find(literal); given != job_.assumed.end()) {
      return printable(given->second);
    }
    const auto name = solver_.program().name(solve::variable_of(literal));
    if (!name) return std::to_string(literal);
    return (literal > 0 ? "" : "not ") + printable(*name);
  }

  SolveJob& job_;
  const Clock::time_point begin_ = Clock::now();
  StableModels solver_;
  bool write_failed_ = false;
  uint64_t models_ = 0;  // printed or counted so far
};

}  // namespace

int solve_program(SolveJob& job) { return ProgramRun(job).run(); }

}  // namespace xlog::cli
