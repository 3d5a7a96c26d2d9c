#include "cli/solve_program.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "cli/cli.h"
#include "cli/terminal.h"
#include "solve/aspif.h"
#include "solve/stable_models.h"

namespace xlog::cli {
namespace {

using solve::Atom;
using solve::Literal;
using solve::Outcome;
using solve::Shown;
using solve::StableModels;

// The exit codes of solver competitions.
constexpr int kNothingKnown = 0;
constexpr int kModelFound = 10;
constexpr int kNoModel = 20;
constexpr int kAllFound = 30;

int report(const Error& error) {
  fmt::print(stderr, "xlog solve: {}\n", error.text());
  return kProgramError;
}

class ProgramRun {
 public:
  ProgramRun(const ProgramOptions& options, std::FILE* out) : options_(options), out_(out) {}

  int run(solve::AspifText text) {
    for (const std::string& note : text.notes) comment(note);
    if (options_.ignore_minimize) text.program.minimize.clear();
    if (Status s = solver_.add(std::move(text.program)); !s.ok()) return report(s.error());
    for (const std::string& name : options_.assumptions) {
      if (Status s = assume(name); !s.ok()) return report(s.error());
    }
    if (impossible_) return finish("UNSATISFIABLE", kNoModel);
    const int exit_code = answer();
    return write_failed_ ? static_cast<int>(kProgramError) : exit_code;
  }

 private:
  int answer() {
    switch (options_.task) {
      case ProgramTask::Models:
        return solver_.program().minimize.empty() ? print_models() : print_best();
      case ProgramTask::Count:
        return print_count();
      case ProgramTask::Cautious:
        return print_consequences(true);
      case ProgramTask::Brave:
        return print_consequences(false);
    }
    return kProgramError;
  }

  void line(const std::string& text) {
    write_failed_ = write_failed_ || !write_all(out_, text + "\n");
  }
  void comment(const std::string& text) {
    if (!options_.quiet) line("c " + text);
  }
  int finish(std::string_view status, int exit_code) {
    line(fmt::format("s {}", status));
    return exit_code;
  }
  int finish_unknown(Outcome outcome, bool found) {
    comment(outcome == Outcome::Timeout ? "out of time" : "stopped by a limit or a signal");
    return found ? finish("SATISFIABLE", kModelFound) : finish("UNKNOWN", kNothingKnown);
  }

  // Assumptions speak of what is shown.
  Status assume(const std::string& text) {
    const bool negative = text.starts_with("not ");
    const std::string name = negative ? text.substr(4) : text;
    bool known = false;
    for (const Shown& item : solver_.program().shown) {
      if (item.text != name || item.condition.size() > 1) continue;
      known = true;
      if (!item.condition.empty()) {
        solver_.assume(negative ? -item.condition[0] : item.condition[0]);
      } else if (negative) {
        impossible_ = true;
      }
      break;
    }
    if (known) return Done{};
    return Error{
        fmt::format("the program shows nothing named `{}` that could be assumed", printable(name)),
        "assumptions are names as the models show them"};
  }

  void print_model(const StableModels& model) { print_texts(model.shown()); }
  void print_texts(const std::vector<std::string>& texts) {
    std::string text = "v";
    for (const std::string& shown : texts) text += " " + printable(shown);
    line(text);
  }
  void print_costs(const std::vector<solve::Cost>& costs) {
    std::string text = "o";
    for (const solve::Cost& cost : costs) text += fmt::format(" {}", cost.value);
    line(text);
  }

  bool print_next(const StableModels& model) {
    print_model(model);
    return !write_failed_ && ++printed_ != options_.models;
  }

  int print_models() {
    if (options_.project) project();
    const solve::Enumeration found = solver_.enumerate(
        options_.limits, [&](const StableModels& model) { return print_next(model); });
    return finish_models(found);
  }

  int finish_models(const solve::Enumeration& found) {
    comment(fmt::format("models {}{}", found.models, found.outcome == Outcome::Unsat ? "" : "+"));
    if (found.outcome == Outcome::Sat) return finish("SATISFIABLE", kModelFound);
    if (found.outcome != Outcome::Unsat) return finish_unknown(found.outcome, found.models > 0);
    return found.models > 0 ? finish("SATISFIABLE", kAllFound) : finish("UNSATISFIABLE", kNoModel);
  }

  void project() {
    if (solver_.program().projection) {
      solver_.project(solver_.program().projection);
    } else {
      solver_.project_on_shown();
    }
  }

  int print_best() {
    std::vector<std::string> best_texts;
    const solve::Optimum best = solver_.optimize(options_.limits, [&](const StableModels& model) {
      print_costs(model.costs());
      best_texts = model.shown();
      return !write_failed_;
    });
    if (best.outcome == Outcome::Unsat) return finish("UNSATISFIABLE", kNoModel);
    if (best.outcome == Outcome::Optimal && options_.models != 1) {
      if (options_.project) project();
      const solve::Enumeration all = solver_.enumerate_optimal(
          options_.limits, [&](const StableModels& model) { return print_next(model); });
      comment(fmt::format("models {}{}", all.models, all.outcome == Outcome::Unsat ? "" : "+"));
      return finish("OPTIMUM FOUND", kAllFound);
    }
    if (best.model) print_texts(best_texts);
    if (best.outcome == Outcome::Optimal) return finish("OPTIMUM FOUND", kAllFound);
    return finish_unknown(best.outcome, best.model.has_value());
  }

  int print_count() {
    const solve::ModelCount count = solver_.count(options_.limits);
    const bool exact = count.outcome == Outcome::Sat || count.outcome == Outcome::Unsat;
    comment(fmt::format("models {}{}", count.models.get_str(), exact ? "" : "+"));
    if (count.outcome == Outcome::Unsat) return finish("UNSATISFIABLE", kNoModel);
    if (!exact) return finish_unknown(count.outcome, count.models > 0);
    return finish("SATISFIABLE", kAllFound);
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
      comment(
          fmt::format("{} shown terms with conditions of several literals are left out", left_out));
    }
    const solve::Consequences found =
        cautious ? solver_.cautious(options_.limits, asked) : solver_.brave(options_.limits, asked);
    if (found.outcome == Outcome::Unsat) return finish("UNSATISFIABLE", kNoModel);
    const bool exact = found.outcome == Outcome::Sat;
    if (!exact && cautious) return finish_unknown(found.outcome, false);
    std::vector<std::string> texts;
    for (const Shown& item : solver_.program().shown) {
      const bool follows =
          item.condition.empty() || (item.condition.size() == 1 && item.condition[0] > 0 &&
                                     std::ranges::binary_search(found.atoms, item.condition[0]));
      if (follows) texts.push_back(item.text);
    }
    print_texts(texts);
    return exact ? finish("SATISFIABLE", kAllFound) : finish_unknown(found.outcome, true);
  }

  const ProgramOptions& options_;
  std::FILE* out_;
  StableModels solver_;
  bool impossible_ = false;
  bool write_failed_ = false;
  uint64_t printed_ = 0;
};

}  // namespace

int solve_program(std::string_view text, std::string_view file_name, const ProgramOptions& options,
                  std::FILE* out) {
  Result<solve::AspifText> read = solve::read_aspif(text, file_name);
  if (!read.ok()) return report(read.error());
  return ProgramRun(options, out).run(std::move(*read));
}

}  // namespace xlog::cli
