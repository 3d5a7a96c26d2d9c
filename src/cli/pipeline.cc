#include "cli/pipeline.h"

#include <algorithm>
#include <chrono>

#include "logic/magic.h"
#include "oracle/evaluate.h"

namespace xlog::cli {
namespace {

constexpr logic::Mode kModes[] = {logic::Mode::Faeel, logic::Mode::G91, logic::Mode::Faeel19};

// Times the stage it lives in.
class Stage {
 public:
  Stage(std::string_view name, Outcome& outcome) : name_(name), outcome_(outcome) {}
  ~Stage() {
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start_;
    outcome_.times.push_back({name_, elapsed.count()});
  }
  Stage(const Stage&) = delete;
  Stage& operator=(const Stage&) = delete;

 private:
  std::string_view name_;
  Outcome& outcome_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

bool was_reported(const lang::Session& session, Code code) {
  return std::ranges::any_of(session.diagnostics.all(),
                             [&](const Diagnostic& d) { return d.code == code; });
}

// ---- The stages. Each returns whether to go on. ----

bool load(const SourceFile& file, const PipelineOptions& options, Outcome& outcome) {
  const Stage stage("load", outcome);
  lang::LoadOptions load_options = options.load;
  for (const io::Input& input : options.inputs) load_options.inputs.push_back(input.relation);
  outcome.program = lang::load(file, outcome.session, load_options);
  return outcome.program.has_value() && !outcome.session.diagnostics.has_errors();
}

bool apply_inputs(const PipelineOptions& options, Outcome& outcome) {
  if (options.inputs.empty()) return true;
  const Stage stage("input", outcome);
  return io::load_inputs(options.inputs, *outcome.program, outcome.session);
}

bool analyze(Outcome& outcome) {
  const Stage stage("analyze", outcome);
  outcome.analysis = logic::analyze(*outcome.program, outcome.session);
  return outcome.analysis.has_value() && !outcome.session.diagnostics.has_errors();
}

bool apply_magic_sets(Outcome& outcome) {
  bool rewritten = false;
  {
    const Stage stage("magic sets", outcome);
    const auto decisions =
        logic::apply_magic_sets(*outcome.program, *outcome.analysis, outcome.session);
    rewritten = std::ranges::any_of(decisions, &logic::MagicDecision::applied);
  }
  if (outcome.session.diagnostics.has_errors()) return false;
  return !rewritten || analyze(outcome);
}

// The command line overrides the pragmas.
logic::AnswerOptions answer_options(const PipelineOptions& options, const lang::Pragmas& pragmas) {
  logic::AnswerOptions answer = options.answer;
  answer.mode =
      options.mode ? *options.mode : find_mode(pragmas.epistemic_mode).value_or(logic::Mode::Faeel);
  answer.well_founded = options.well_founded.value_or(pragmas.semantics == "well_founded");
  return answer;
}

void evaluate(const PipelineOptions& options, Outcome& outcome) {
  const Stage stage("evaluate", outcome);
  const logic::AnswerOptions wanted = answer_options(options, outcome.program->pragmas);
  if (options.reference_only) {
    outcome.answer = oracle::evaluate(*outcome.program, *outcome.analysis, outcome.session, wanted);
    return;
  }
  Result<std::unique_ptr<device::Device>> device = device::open_device(options.device);
  if (!device.ok()) {
    outcome.session.diagnostics.report(Code::DeviceMissing, {}, device.error().message)
        .help(device.error().help);
    return;
  }
  outcome.engine.emplace();
  outcome.answer = engine::evaluate(*outcome.program, *outcome.analysis, outcome.session, wanted,
                                    **device, *outcome.engine);
}

int exit_code_of(const Outcome& outcome) {
  if (!outcome.answer) {
    return was_reported(outcome.session, Code::LimitReached) ? kLimit : kProgramError;
  }
  if (outcome.answer->constraint_error) return kProgramError;
  if (outcome.answer->well_founded || outcome.answer->view_count > 0) return kAnswered;
  return kNoWorldView;
}

const SourceFile* read(const std::string& path, Outcome& outcome) {
  const Stage stage("read", outcome);
  return lang::read_source(path, outcome.session);
}

}  // namespace

void check_pipeline(const SourceFile& file, const PipelineOptions& options, Outcome& outcome) {
  if (load(file, options, outcome) && analyze(outcome)) outcome.exit_code = kAnswered;
}

void check_pipeline(const std::string& path, const PipelineOptions& options, Outcome& outcome) {
  if (const SourceFile* file = read(path, outcome)) check_pipeline(*file, options, outcome);
}

void run_pipeline(const SourceFile& file, const PipelineOptions& options, Outcome& outcome) {
  if (!load(file, options, outcome)) return;
  if (!apply_inputs(options, outcome)) return;
  if (!analyze(outcome)) return;
  if (!apply_magic_sets(outcome)) return;
  evaluate(options, outcome);
  outcome.exit_code = exit_code_of(outcome);
}

void run_pipeline(const std::string& path, const PipelineOptions& options, Outcome& outcome) {
  if (const SourceFile* file = read(path, outcome)) run_pipeline(*file, options, outcome);
}

std::optional<logic::Mode> find_mode(std::string_view text) {
  for (const logic::Mode mode : kModes) {
    if (logic::spelling(mode) == text) return mode;
  }
  return std::nullopt;
}

std::vector<std::string> mode_names() {
  std::vector<std::string> names;
  for (const logic::Mode mode : kModes) names.emplace_back(logic::spelling(mode));
  return names;
}

std::string diagnostics_text(const lang::Session& session, const ReportOptions& options,
                             std::FILE* stream) {
  if (options.json) return render_json(session.diagnostics, session.sources, options.quiet) + "\n";
  return render_text(session.diagnostics, session.sources,
                     {.color = use_color(options.color, stream),
                      .width = terminal_width(stream),
                      .errors_only = options.quiet});
}

void print_diagnostics(const lang::Session& session, const ReportOptions& options) {
  write_all(stderr, diagnostics_text(session, options, stderr));
}

}  // namespace xlog::cli
