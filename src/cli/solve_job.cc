#include "cli/solve_job.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>

#include "base/text.h"
#include "solve/aspif.h"
#include "solve/dimacs.h"

namespace xlog::cli {
namespace {

using solve::GroundProgram;
using solve::Literal;
using solve::Shown;
using solve::SirAnswer;
using solve::SirKind;

Status read_cnf(SolveJob& job, std::string_view text, const std::string& name) {
  Result<solve::Cnf> cnf = solve::read_cnf(text, name);
  if (!cnf.ok()) return cnf.error();
  job.sir.problem = std::move(*cnf);
  return Done{};
}

Status read_weighted(SolveJob& job, std::string_view text, const std::string& name) {
  Result<solve::WeightedCnf> formula = solve::read_weighted_cnf(text, name);
  if (!formula.ok()) return formula.error();
  job.sir.problem = std::move(*formula);
  return Done{};
}

Status read_sir(SolveJob& job, std::string_view text, const std::string& name) {
  Result<solve::SirJob> sir = solve::parse_sir(text, name);
  if (!sir.ok()) return sir.error();
  job.sir = std::move(*sir);
  return Done{};
}

Status read_program(SolveJob& job, std::string_view text, const std::string& name) {
  if (!text.starts_with("asp ")) {
    return Error{
        fmt::format("{}: this is no ground program: such a text begins with `asp 1 0 0`", name),
        fmt::format("ground it first: gringo {} | xlog solve --format lp -",
                    job.options.file == "-" ? "FILE" : name)};
  }
  Result<solve::AspifText> read = solve::read_aspif(text, name);
  if (!read.ok()) return read.error();
  job.sir.problem = std::move(read->program);
  job.notes = std::move(read->notes);
  // What a program projects onto counts where it is asked for; in a job it always does.
  if (!job.options.project) std::get<GroundProgram>(job.sir.problem).projection.reset();
  return Done{};
}

struct Kind {
  std::string_view name;  // also the ending of its files
  Status (*read)(SolveJob& job, std::string_view text, const std::string& name_of_file);
};

constexpr Kind kKinds[] = {
    {"cnf", read_cnf},
    {"wcnf", read_weighted},
    {"sir", read_sir},
    {"lp", read_program},
};

const Kind* find_kind(std::string_view name) {
  for (const Kind& kind : kKinds) {
    if (kind.name == name) return &kind;
  }
  return nullptr;
}

const Kind* kind_of_name(std::string_view file) {
  for (const std::string_view packed : {".gz", ".zst"}) {
    if (file.ends_with(packed)) file.remove_suffix(packed.size());
  }
  const size_t dot = file.rfind('.');
  return dot == std::string_view::npos ? nullptr : find_kind(file.substr(dot + 1));
}

// By the first line that is no comment.
const Kind* kind_of_text(std::string_view text) {
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    if (line.starts_with("p cnf ")) return find_kind("cnf");
    if (line.starts_with("p wcnf ") || line.starts_with("h ")) return find_kind("wcnf");
    if (line.starts_with("asp ")) return find_kind("lp");
    if (line.starts_with("sir ")) return find_kind("sir");
    const bool skip = line.starts_with("c") || line.starts_with("#") ||
                      line.find_first_not_of(" \t\r") == line.npos;
    if (!skip) return nullptr;
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return nullptr;
}

Result<const Kind*> kind_of(const SolveOptions& options, std::string_view text) {
  const Kind* kind = find_kind(options.format);
  if (kind == nullptr) kind = kind_of_name(options.file);
  if (kind == nullptr) kind = kind_of_text(text);
  if (kind != nullptr) return kind;
  return Error{fmt::format("`{}`: neither its name nor its first line says what it is",
                           printable(options.file)),
               fmt::format("say it with --format {}", fmt::join(solve_kind_names(), "|"))};
}

// ---- what the command line adds ----

// An assumption about a formula.
Result<Literal> literal_of(const std::string& text, int32_t variables) {
  Literal literal = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), literal);
  if (error != std::errc() || end != text.data() + text.size() || literal == 0 ||
      literal == INT32_MIN) {
    return Error{fmt::format("--assume `{}` is no literal", printable(text)),
                 "a literal is the number of a variable, or its negative"};
  }
  if (solve::variable_of(literal) > variables) {
    return Error{
        fmt::format("--assume `{}` is beyond the {} variables of the formula", literal, variables),
        ""};
  }
  return literal;
}

// An assumption about a program speaks of what it shows: a name, or `not` and a name.
Result<Literal> literal_of(const std::string& text, GroundProgram& program) {
  const bool negative = text.starts_with("not ");
  const std::string name = negative ? text.substr(4) : text;
  const Shown* found = nullptr;
  for (const Shown& item : program.shown) {
    if (item.text != name) continue;
    if (found != nullptr || item.condition.size() > 1) {
      return Error{fmt::format("no single atom decides whether `{}` is shown", printable(name)),
                   "assume the atoms that it depends on"};
    }
    found = &item;
  }
  if (found == nullptr) {
    return Error{
        fmt::format("the program shows nothing named `{}` that could be assumed", printable(name)),
        "assumptions are names as the models show them, or `not NAME`"};
  }
  if (!found->condition.empty()) return negative ? -found->condition[0] : found->condition[0];
  // It is always shown: so is that an atom without rules does not hold.
  const solve::Atom never = program.new_atom();
  program.shown.push_back({"not " + name, {never}});
  return negative ? never : -never;
}

Status add_assumptions(SolveJob& job) {
  auto* program = std::get_if<GroundProgram>(&job.sir.problem);
  const auto* cnf = std::get_if<solve::Cnf>(&job.sir.problem);
  const auto* weighted = std::get_if<solve::WeightedCnf>(&job.sir.problem);
  for (const std::string& text : job.options.assumptions) {
    const Result<Literal> literal =
        program != nullptr
            ? literal_of(text, *program)
            : literal_of(text, cnf != nullptr ? cnf->variables() : weighted->variables());
    if (!literal.ok()) return literal.error();
    (program != nullptr ? program->assumptions : job.sir.assumptions).push_back(*literal);
    if (program != nullptr) job.assumed.emplace(*literal, text);
  }
  return Done{};
}

void add_limits(const SolveOptions& options, solve::SirLimits& limits) {
  if (options.conflicts) limits.conflicts = options.conflicts;
  if (options.memory_bytes) limits.memory_bytes = options.memory_bytes;
  if (options.timeout_seconds > 0) {
    constexpr double kMostSeconds = 1e9;  // of a job
    const double seconds = std::min(options.timeout_seconds, kMostSeconds);
    limits.time = std::chrono::milliseconds(static_cast<int64_t>(std::ceil(seconds * 1000)));
  }
}

}  // namespace

std::vector<std::string> solve_kind_names() {
  std::vector<std::string> names;
  for (const Kind& kind : kKinds) names.emplace_back(kind.name);
  return names;
}

Status read_job(SolveJob& job, std::string_view text) {
  const SolveOptions& options = job.options;
  const Result<const Kind*> kind = kind_of(options, text);
  if (!kind.ok()) return kind.error();
  if (Status read = (*kind)->read(job, text, printable(options.file)); !read.ok()) return read;
  if (options.answer) {
    job.sir.answer = *options.answer;
    job.sir.models = options.models;
  }
  if (job.sir.answer == SirAnswer::Model && (!options.proof_file.empty() || options.check_proof)) {
    job.sir.answer = job.sir.kind() == SirKind::Sat ? SirAnswer::Proof : SirAnswer::Model;
  }
  add_limits(options, job.sir.limits);
  return add_assumptions(job);
}

}  // namespace xlog::cli
