#include "cli/solve_engines.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "cli/solve.h"
#include "solve/small_formula.h"

namespace xlog::cli {
namespace {

using solve::SirAnswer;
using solve::SirKind;

constexpr uint32_t bits(std::initializer_list<SirAnswer> answers) {
  uint32_t all = 0;
  for (const SirAnswer answer : answers) all |= uint32_t{1} << static_cast<uint32_t>(answer);
  return all;
}
bool has(uint32_t answers, SirAnswer answer) { return (answers & bits({answer})) != 0; }

using enum SirAnswer;
constexpr EngineInfo kEngines[] = {
    {.id = EngineId::Cadical,
     .name = "cadical",
     .answers = {bits({Model, Cautious, Brave, Core, Proof}), 0, 0},
     .device = EngineDevice::None,
     .threads = false,
     .conflicts = true,
     .most_variables = 0,
     .what = "CaDiCaL, on one thread"},
    {.id = EngineId::Search,
     .name = "search",
     .answers = {bits({Models, Count}), 0, bits({Model, Models, Count, Cautious, Brave, Core})},
     .device = EngineDevice::None,
     .threads = false,
     .conflicts = true,
     .most_variables = 0,
     .what = "our own search, on one thread"},
    {.id = EngineId::Batch,
     .name = "batch",
     .answers = {bits({Count, Model}), 0, 0},
     .device = EngineDevice::Any,
     .threads = false,
     .conflicts = false,
     .most_variables = solve::kMostSmallVariables,
     .what = "cubes on any device; up to 64 variables"},
    {.id = EngineId::Cores,
     .name = "cores",
     .answers = {0, bits({Model}), 0},
     .device = EngineDevice::None,
     .threads = false,
     .conflicts = true,
     .most_variables = 0,
     .what = "bounds from cores, on one thread"},
    {.id = EngineId::Portfolio,
     .name = "portfolio",
     .answers = {bits({Model, Cautious, Brave, Core}), 0, 0},
     .device = EngineDevice::Cpu,
     .threads = true,
     .conflicts = true,
     .most_variables = 0,
     .what = "several CaDiCaLs and a local search, on threads"},
    {.id = EngineId::LocalSearch,
     .name = "local-search",
     .answers = {bits({Model}), 0, 0},
     .device = EngineDevice::Any,
     .threads = false,
     .conflicts = true,
     .most_variables = 0,
     .what = "walks on any device; never says UNSATISFIABLE"},
};

const EngineInfo* find_engine(std::string_view name) {
  for (const EngineInfo& engine : kEngines) {
    if (engine.name == name) return &engine;
  }
  return nullptr;
}

std::string answers_text(uint32_t answers) {
  std::vector<std::string_view> names;
  for (uint32_t i = 0; i < 32; ++i) {
    if (has(answers, static_cast<SirAnswer>(i))) {
      names.push_back(solve::info_of(static_cast<SirAnswer>(i)).name);
    }
  }
  return names.empty() ? "-" : fmt::format("{}", fmt::join(names, " "));
}

std::string_view what_of(SirKind kind) {
  switch (kind) {
    case SirKind::Sat:
      return "a formula";
    case SirKind::Maxsat:
      return "a weighted formula";
    case SirKind::Stable:
      return "a ground program";
  }
  XLOG_UNREACHABLE("all kinds are covered");
}

// Why the engine cannot do the job; empty: it can.
std::string obstacle(const EngineInfo& engine, const SolveJob& job) {
  const SirKind kind = job.sir.kind();
  const uint32_t answers = engine.answers[static_cast<size_t>(kind)];
  if (answers == 0) return fmt::format("the engine {} cannot solve {}", engine.name, what_of(kind));
  if (job.wants_proof() && !has(answers, SirAnswer::Proof)) {
    return fmt::format("the engine {} writes no proofs", engine.name);
  }
  if (!has(answers, job.sir.answer)) {
    return fmt::format("the engine {} does not answer `{}`", engine.name,
                       solve::info_of(job.sir.answer).name);
  }
  if (engine.most_variables > 0 && kind == SirKind::Sat) {
    const int32_t variables = std::get<solve::Cnf>(job.sir.problem).variables();
    if (variables > engine.most_variables) {
      return fmt::format("the engine {} takes {} variables at most, and the formula has {}",
                         engine.name, engine.most_variables, variables);
    }
  }
  if (job.sir.limits.conflicts && !engine.conflicts) {
    return fmt::format("the engine {} has no conflicts that could be counted", engine.name);
  }
  if (job.options.threads > 1 && !engine.threads) {
    return fmt::format("the engine {} takes no number of threads", engine.name);
  }
  const std::string& device = job.options.device;
  const bool is_cpu = device.empty() || device == "auto" || device == "cpu";
  if (engine.device == EngineDevice::None && !device.empty()) {
    return fmt::format("the engine {} uses no device", engine.name);
  }
  if (engine.device == EngineDevice::Cpu && !is_cpu) {
    return fmt::format("the engine {} runs on the cpu alone", engine.name);
  }
  return {};
}

// Options that ask for something the kind of job does not have.
Status check_kind(const SolveJob& job) {
  const SirKind kind = job.sir.kind();
  const solve::SirAnswerInfo& answer = solve::info_of(job.sir.answer);
  if (!answer.of_kind[static_cast<size_t>(kind)]) {
    return Error{fmt::format("{} is not asked for `{}`", what_of(kind), answer.name),
                 kind == SirKind::Maxsat ? "its answer is a best model" : ""};
  }
  if (kind != SirKind::Sat && (job.wants_proof() || !job.options.verify_file.empty())) {
    return Error{fmt::format("there are no proofs about {}", what_of(kind)),
                 "leave out --proof, --check-proof and --verify"};
  }
  if (job.options.project && kind != SirKind::Stable) {
    return Error{fmt::format("--project is for programs, and this is {}", what_of(kind)),
                 "leave it out"};
  }
  const bool about_existence =
      job.sir.answer == SirAnswer::Model || job.sir.answer == SirAnswer::Proof;
  if (job.wants_proof() && !about_existence) {
    return Error{fmt::format("a proof says that there is no model; `{}` asks for something else",
                             answer.name),
                 "ask for a model, or leave out the proof"};
  }
  return Done{};
}

std::string engines_that_can(const SolveJob& job) {
  std::vector<std::string_view> names;
  for (const EngineInfo& engine : kEngines) {
    if (obstacle(engine, job).empty()) names.push_back(engine.name);
  }
  if (names.empty()) return "";
  return fmt::format("use --engine {}", fmt::join(names, " or "));
}

}  // namespace

std::vector<std::string> engine_names() {
  std::vector<std::string> names;
  for (const EngineInfo& engine : kEngines) names.emplace_back(engine.name);
  return names;
}

std::string engines_text() {
  std::vector<std::array<std::string, 5>> rows = {{"engine", "sat", "maxsat", "stable", ""}};
  for (const EngineInfo& engine : kEngines) {
    rows.push_back({std::string(engine.name), answers_text(engine.answers[0]),
                    answers_text(engine.answers[1]), answers_text(engine.answers[2]),
                    std::string(engine.what)});
  }
  // Programs have most answers; what is said for people goes on a line of its own.
  std::string out;
  for (const auto& row : rows) {
    std::string line = fmt::format("  {:<13} {:<32} {:<7} {}", row[0], row[1], row[2], row[3]);
    line.erase(line.find_last_not_of(' ') + 1);
    out += line + "\n";
    if (!row[4].empty()) out += fmt::format("  {:<13}   {}\n", "", row[4]);
  }
  return out;
}

Status choose_engine(SolveJob& job) {
  if (Status fits = check_kind(job); !fits.ok()) return fits;
  const SolveOptions& options = job.options;
  std::string name = options.engine;
  if (name.empty() && options.threads > 1 && job.sir.kind() == SirKind::Sat) name = "portfolio";
  if (!name.empty()) {
    job.engine = find_engine(name);
    std::string problem = obstacle(*job.engine, job);
    if (problem.empty()) return Done{};
    return Error{std::move(problem), engines_that_can(job)};
  }
  std::string last;
  for (const EngineInfo& engine : kEngines) {
    job.engine = &engine;
    const std::string problem = obstacle(engine, job);
    if (problem.empty()) return Done{};
    const uint32_t answers = engine.answers[static_cast<size_t>(job.sir.kind())];
    if (last.empty() && has(answers, job.sir.answer)) last = problem;
  }
  return Error{last, "leave out the option, or choose another engine with --engine"};
}

std::optional<UsageError> check_usage(const SolveOptions& options) {
  const bool proves = !options.proof_file.empty() || options.check_proof;
  const bool several = options.threads > 1 || options.engine == "portfolio";
  if (!options.engine.empty() && options.threads > 1 && !find_engine(options.engine)->threads) {
    return UsageError{"--threads", options.engine + " runs on one thread; the portfolio on more"};
  }
  if (proves && several) {
    return UsageError{"--proof", "a proof comes from one engine: use --engine cadical"};
  }
  if (proves && !options.verify_file.empty()) {
    return UsageError{"--verify", "nothing is solved, so there is no proof to write"};
  }
  return std::nullopt;
}

Status open_engine_device(SolveJob& job) {
  if (job.engine->device == EngineDevice::None) return Done{};
  device::OpenOptions open;
  // The other engines of a portfolio have threads of their own.
  if (job.engine->id == EngineId::Portfolio) open.threads = 1;
  const std::string& name = job.options.device;
  Result<std::unique_ptr<device::Device>> device =
      device::open_device(name.empty() ? "auto" : name, open);
  if (!device.ok()) return device.error();
  job.device = std::move(*device);
  return Done{};
}

}  // namespace xlog::cli
