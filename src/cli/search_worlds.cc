#include "cli/search_worlds.h"

namespace xlog::cli {

std::unique_ptr<device::Device> open_for_worlds(const PipelineOptions& options,
                                                lang::Session& session) {
  if (options.reference_only) {
    session.diagnostics
        .report(Code::NotSupportedByEngine, {},
                "the reference evaluator does not say how its worlds come about")
        .help("leave out `--engine reference`");
    return nullptr;
  }
  device::OpenOptions open;
  open.memory_limit = options.answer.memory_limit;
  Result<std::unique_ptr<device::Device>> device = device::open_device(options.device, open);
  if (device.ok()) return std::move(*device);
  session.diagnostics.report(Code::DeviceMissing, {}, device.error().message)
      .help(device.error().help);
  return nullptr;
}

bool search_worlds(const logic::AnswerOptions& answer, device::Device& device, Outcome& outcome,
                   const std::function<void(epistemic::Findings&)>& use) {
  bool handed_over = false;
  const auto rest = [&](const lang::Program& program, const logic::Analysis& analysis,
                        lang::Session& session, const logic::AnswerOptions& wanted,
                        const oracle::Preset* preset) -> std::optional<logic::Answer> {
    handed_over = epistemic::with_findings(program, analysis, session, wanted, preset,
                                           outcome.search.emplace(), use);
    if (!handed_over) return std::nullopt;
    return logic::Answer();
  };
  engine::Statistics statistics;
  // Explanations are made of ground rules, those of what is decided too.
  engine::evaluate(*outcome.program, *outcome.analysis, outcome.session, answer, device, statistics,
                   std::nullopt, rest, engine::OpenComponents::Left);
  return handed_over;
}

}  // namespace xlog::cli
