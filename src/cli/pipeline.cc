#include "cli/pipeline.h"

#include <fmt/format.h>

#include <algorithm>
#include <new>

#include "base/memory.h"
#include "epistemic/evaluate.h"
#include "incremental/fact_set.h"
#include "io/survey.h"
#include "logic/memory_report.h"
#include "logic/needed.h"
#include "oracle/evaluate.h"
#include "plan/estimate.h"
#include "session/read_facts.h"

namespace xlog::cli {
namespace {

bool was_reported(const lang::Session& session, Code code) {
  return std::ranges::any_of(session.diagnostics.all(),
                             [&](const Diagnostic& d) { return d.code == code; });
}

// Whether the process is within its limit, after `doing`.
bool within_memory(const PipelineOptions& options, Outcome& outcome, const std::string& doing) {
  const uint64_t limit = options.answer.memory_limit;
  if (limit == 0) return true;
  const uint64_t used = own_memory();
  if (used <= limit) return true;
  logic::report_memory_shortage(
      {.limit = limit,
       .doing = doing,
       .details = fmt::format("the process takes {}", size_text(used)),
       .largest = logic::largest_fact_table(*outcome.program, outcome.session.names)},
      outcome.session);
  return false;
}

// ---- The stages. Each returns whether to go on. ----

bool load(const SourceFile& file, const PipelineOptions& options, Outcome& outcome) {
  const StageTimer timer("load", outcome);
  lang::LoadOptions load_options = options.load;
  outcome.inputs = options.inputs;
  for (const io::Input& input : options.inputs) load_options.inputs.push_back(input.relation);
  load_options.survey = [&](size_t input, uint32_t arity) {
    return io::survey(outcome.inputs[input], arity);
  };
  outcome.program = lang::load(file, outcome.session, load_options);
  if (outcome.program) {
    logic::override_pragmas(outcome.program->pragmas, options.mode, options.well_founded);
  }
  return outcome.program.has_value() && !outcome.session.diagnostics.has_errors() &&
         within_memory(options, outcome, "the program was loaded");
}

bool apply_inputs(const PipelineOptions& options, Outcome& outcome) {
  if (options.inputs.empty()) return true;
  const StageTimer timer("input", outcome);
  const bool loaded = io::load_inputs(outcome.inputs, *outcome.program, outcome.session,
                                      options.answer.memory_limit);
  outcome.inputs.clear();
  return loaded;
}

bool change_facts(const PipelineOptions& options, Outcome& outcome) {
  if (options.changed_facts.empty()) return true;
  std::map<int64_t, std::string> texts;  // by weight
  for (const auto& [fact, weight] : options.changed_facts) texts[weight] += fact + ".\n";
  // Values are written out, so the constants and functions of the program mean nothing here.
  SourceMap none;
  session::FactReader reader(*none.add("", "", ""), outcome.session, options.load);
  std::vector<incremental::FactChanges> changes;
  Diagnostics found;
  for (const auto& [weight, text] : texts) {
    SourceMap sources;
    const SourceFile* file = sources.add("", "", text);
    if (file == nullptr) {
      found.report(Code::LimitReached, {}, "the changed facts do not fit: a text holds 4 GiB");
    } else {
      reader.read(sources, weight, *outcome.program, found, changes);
    }
  }
  incremental::FactSet facts(*outcome.program, outcome.session.names);
  facts.add_tables(*outcome.program);
  const Status status = facts.apply(changes);
  if (!status.ok()) found.report(Code::InvalidArgument, {}, status.error().message);
  for (const Diagnostic& each : found.all()) {
    outcome.session.diagnostics
        .report(each.code, {}, fmt::format("a changed fact: {}", each.message))
        .help("the program no longer fits the facts that were inserted and retracted");
  }
  if (!found.all().empty()) return false;
  facts.write_tables(*outcome.program, outcome.session.names);
  return true;
}

bool analyze(Outcome& outcome) {
  const StageTimer timer("analyze", outcome);
  outcome.analysis = logic::analyze(*outcome.program, outcome.session);
  return outcome.analysis.has_value() && !outcome.session.diagnostics.has_errors();
}

// Looks at each view, whatever is asked of them.
void evaluate_by_reference(logic::AnswerOptions wanted, Outcome& outcome) {
  if (wanted.ask != logic::Ask::Views) wanted.max_views = UINT64_MAX;
  outcome.answer = oracle::evaluate(*outcome.program, *outcome.analysis, outcome.session, wanted);
  if (outcome.answer) logic::summarise(*outcome.answer, wanted.ask, outcome.session.names);
}

void evaluate(const PipelineOptions& options, Outcome& outcome) {
  const StageTimer timer("evaluate", outcome);
  const logic::AnswerOptions wanted = answer_options(options, outcome.program->pragmas);
  if (options.reference_only) return evaluate_by_reference(wanted, outcome);
  device::OpenOptions open;
  open.memory_limit = options.answer.memory_limit;
  Result<std::unique_ptr<device::Device>> device = device::open_device(options.device, open);
  if (!device.ok()) {
    outcome.session.diagnostics.report(Code::DeviceMissing, {}, device.error().message)
        .help(device.error().help);
    return;
  }
  outcome.engine.emplace();
  outcome.engine->trace = engine::Trace({.keep_events = options.keep_events});
  outcome.device = (*device)->info().name;
  const auto rest = [&](const lang::Program& program, const logic::Analysis& analysis,
                        lang::Session& session, const logic::AnswerOptions& answer,
                        const oracle::Preset* preset) {
    return epistemic::evaluate(program, analysis, session, answer, preset,
                               &outcome.search.emplace(), device->get());
  };
  outcome.answer = engine::evaluate(*outcome.program, *outcome.analysis, outcome.session, wanted,
                                    **device, *outcome.engine, std::nullopt, rest);
}

int exit_code_of(const Outcome& outcome) {
  if (!outcome.answer) return failure_code(outcome.session);
  if (outcome.answer->constraint_error) return kProgramError;
  if (outcome.answer->unfinished) return kLimit;
  if (outcome.answer->well_founded || outcome.answer->view_count > 0) return kAnswered;
  return kNoWorldView;
}

const SourceFile* read(const std::string& path, Outcome& outcome) {
  const StageTimer timer("read", outcome);
  return lang::read_source(path, outcome.session);
}

// The options of a command line are compared when they are read; here it is a program's pragma.
bool has_what_is_asked(const PipelineOptions& options, Outcome& outcome) {
  if (options.about_views.empty()) return true;
  if (!answer_options(options, outcome.program->pragmas).well_founded) return true;
  outcome.session.diagnostics
      .report(Code::InvalidArgument, {},
              fmt::format("`{}` asks about world views, and the well-founded semantics has none",
                          options.about_views))
      .help("leave it out, or override the program's pragma with `--semantics stable`");
  return false;
}

void run_stages(const SourceFile& file, const PipelineOptions& options, Outcome& outcome) {
  if (!load(file, options, outcome)) return;
  if (!has_what_is_asked(options, outcome)) return;
  if (!apply_inputs(options, outcome)) return;
  if (!change_facts(options, outcome)) return;
  // A query joins what it mentions, which only makes counting harder.
  if (options.answer.ask == logic::Ask::Counts) logic::drop_queries(*outcome.program);
  if (!analyze(outcome)) return;
  if (!rewrite_for_queries(options, outcome)) return;
  evaluate(options, outcome);
}

}  // namespace

StageTimer::~StageTimer() {
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - begin_;
  outcome_.times.push_back({name_, elapsed.count(), begin_});
}

int failure_code(const lang::Session& session) {
  const bool limit =
      was_reported(session, Code::LimitReached) || was_reported(session, Code::MemoryExhausted);
  return limit ? kLimit : kProgramError;
}

logic::AnswerOptions answer_options(const PipelineOptions& options, const lang::Pragmas& pragmas) {
  return logic::with_pragmas(options.answer, options.mode, options.well_founded, pragmas);
}

bool prepare_pipeline(const std::string& path, const PipelineOptions& options, Outcome& outcome) {
  const SourceFile* file = read(path, outcome);
  return file != nullptr && load(*file, options, outcome) && apply_inputs(options, outcome) &&
         analyze(outcome);
}

bool rewrite_for_queries(const PipelineOptions& options, Outcome& outcome) {
  {
    const StageTimer timer("rewrite", outcome);
    outcome.magic = logic::apply_magic_sets(*outcome.program, *outcome.analysis, outcome.session,
                                            plan::expected_rows);
  }
  if (outcome.session.diagnostics.has_errors()) return false;
  const bool rewritten = std::ranges::any_of(outcome.magic, &logic::MagicDecision::applied);
  if (rewritten && !analyze(outcome)) return false;
  if (options.answer.max_worlds > 0) return true;  // who sees whole worlds sees every row
  const bool well_founded = answer_options(options, outcome.program->pragmas).well_founded;
  const logic::Asked asked = well_founded ? logic::Asked::WellFounded : logic::Asked::Worlds;
  return !logic::drop_unneeded(*outcome.program, *outcome.analysis, asked) || analyze(outcome);
}

void check_pipeline(const SourceFile& file, const PipelineOptions& options, Outcome& outcome) {
  if (load(file, options, outcome) && analyze(outcome)) outcome.exit_code = kAnswered;
}

void check_pipeline(const std::string& path, const PipelineOptions& options, Outcome& outcome) {
  if (const SourceFile* file = read(path, outcome)) check_pipeline(*file, options, outcome);
}

void run_pipeline(const SourceFile& file, const PipelineOptions& options, Outcome& outcome) {
  try {
    run_stages(file, options, outcome);
  } catch (const std::bad_alloc&) {
    // The evaluators say more themselves.
    logic::report_memory_shortage({.doing = "the program and its data were loaded"},
                                  outcome.session);
  }
  outcome.exit_code = exit_code_of(outcome);
}

void run_pipeline(const std::string& path, const PipelineOptions& options, Outcome& outcome) {
  if (const SourceFile* file = read(path, outcome)) run_pipeline(*file, options, outcome);
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
