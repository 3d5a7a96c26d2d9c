// From a program text to its answer: the one path that run, watch and repl take.
//
//   Outcome outcome;
//   run_pipeline("a.xlog", options, outcome);
//   print_diagnostics(outcome.session, options.report);
//   return outcome.exit_code;
#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/cli.h"
#include "cli/terminal.h"
#include "engine/evaluate.h"
#include "epistemic/trace.h"
#include "io/input.h"
#include "io/write.h"
#include "lang/load.h"
#include "logic/analysis.h"
#include "logic/answer.h"
#include "logic/magic.h"
#include "logic/modes.h"

namespace xlog::cli {

// How diagnostics are shown.
struct ReportOptions {
  bool json = false;
  bool quiet = false;  // errors only
  bool no_progress = false;
  ColorChoice color = ColorChoice::Auto;
};

struct PipelineOptions {
  lang::LoadOptions load;
  std::vector<io::Input> inputs;
  // What has come to the facts since, or gone: "edge(1, 2)" and how often.
  std::map<std::string, int64_t> changed_facts;
  std::optional<logic::Mode> mode;  // instead of the pragma's
  std::optional<bool> well_founded;
  logic::AnswerOptions answer;
  std::string about_views;      // an option that was given and asks about world views, if any
  bool reference_only = false;  // --engine reference
  std::string device = "auto";
  bool keep_events = false;  // for a profile
};

struct StageTime {
  std::string_view stage;
  double seconds;
  engine::TimePoint begin;
};

struct Outcome {
  lang::Session session;
  std::vector<io::Input> inputs;  // with what loading kept of them
  std::optional<lang::Program> program;
  std::optional<logic::Analysis> analysis;
  std::vector<logic::MagicDecision> magic;  // by query, where the program asks for magic sets
  std::optional<logic::Answer> answer;
  std::vector<StageTime> times;
  std::optional<engine::Statistics> engine;  // of the relational engine, when it ran
  std::string device;                        // where that was
  std::optional<epistemic::Trace> search;    // for worlds, where there may be several
  int exit_code = kProgramError;
};

// Times the stage it lives in.
class StageTimer {
 public:
  StageTimer(std::string_view name, Outcome& outcome) : name_(name), outcome_(outcome) {}
  ~StageTimer();
  StageTimer(const StageTimer&) = delete;
  StageTimer& operator=(const StageTimer&) = delete;

 private:
  std::string_view name_;
  Outcome& outcome_;
  engine::TimePoint begin_ = std::chrono::steady_clock::now();
};

// Read, load, inputs, analyze, rewrite, evaluate. Stops after the first stage with errors; what
// was reached is in `outcome`, what was said in its session.
void run_pipeline(const std::string& path, const PipelineOptions& options, Outcome& outcome);
void run_pipeline(const SourceFile& file, const PipelineOptions& options, Outcome& outcome);

// Read, load, inputs, analyze. True when there were no errors.
bool prepare_pipeline(const std::string& path, const PipelineOptions& options, Outcome& outcome);

// What follows in a run before it evaluates: magic sets, and nothing that no answer depends on.
// True when there were no errors.
bool rewrite_for_queries(const PipelineOptions& options, Outcome& outcome);

// What the pragmas say, unless the command line says otherwise.
logic::AnswerOptions answer_options(const PipelineOptions& options, const lang::Pragmas& pragmas);

// The exit code of a run that gave no answer.
int failure_code(const lang::Session& session);

// The first stages alone, for check and explain: read, load, analyze.
void check_pipeline(const std::string& path, const PipelineOptions& options, Outcome& outcome);
void check_pipeline(const SourceFile& file, const PipelineOptions& options, Outcome& outcome);

using logic::find_mode;
using logic::mode_names;

// Everything reported, on standard error.
void print_diagnostics(const lang::Session& session, const ReportOptions& options);
std::string diagnostics_text(const lang::Session& session, const ReportOptions& options,
                             std::FILE* stream);

}  // namespace xlog::cli
