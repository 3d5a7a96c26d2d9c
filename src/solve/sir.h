// SIR, the text form of a solver job: a formula, a weighted formula or a ground program, with
// assumptions, limits and what to return. docs/sir.md is its grammar. Printing and parsing are
// inverse.
//
//   Result<SirJob> job = parse_sir(text, "job.sir");
//   if (job.ok() && job->kind() == SirKind::Sat) use(std::get<Cnf>(job->problem));
//   write(print_sir(*job));
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"
#include "solve/cnf.h"
#include "solve/ground_program.h"
#include "solve/solver.h"

namespace xlog::solve {

enum class SirKind : uint8_t { Sat, Maxsat, Stable };  // in the order of SirJob::problem
std::string_view name_of(SirKind kind);

enum class SirAnswer : uint8_t {
#define XLOG_SIR_ANSWER(name, text, sat, maxsat, stable, meaning) name,
#include "solve/sir_answers.def"
#undef XLOG_SIR_ANSWER
};

struct SirAnswerInfo {
  SirAnswer answer;
  std::string_view name;  // as the text has it
  bool of_kind[3];        // by SirKind: whether such a job can be answered so
  std::string_view meaning;
};
const SirAnswerInfo& info_of(SirAnswer answer);

struct SirLimits {
  std::optional<uint64_t> conflicts;
  std::optional<std::chrono::milliseconds> time;
  std::optional<uint64_t> memory_bytes;

  bool operator==(const SirLimits&) const = default;

  // The time counts from `begin` on.
  Limits from(std::chrono::steady_clock::time_point begin) const;
};

struct SirJob {
  std::variant<Cnf, WeightedCnf, GroundProgram> problem;
  std::vector<Literal> assumptions;  // of a formula; a program has its own
  SirLimits limits;
  SirAnswer answer = SirAnswer::Model;
  uint64_t models = 0;  // with SirAnswer::Models: how many; 0 means all

  SirKind kind() const { return static_cast<SirKind>(problem.index()); }
};

// The same job; variables that only one part of a weighted formula knows belong to both.
bool operator==(const SirJob& a, const SirJob& b);

std::string print_sir(const SirJob& job);

// `name` is for errors: "job.sir:3: ...".
Result<SirJob> parse_sir(std::string_view text, std::string_view name);

}  // namespace xlog::solve
