#include "solve/sir.h"

#include <algorithm>

#include "base/check.h"

namespace xlog::solve {
namespace {

constexpr SirAnswerInfo kAnswers[] = {
#define XLOG_SIR_ANSWER(name, text, sat, maxsat, stable, meaning) \
  {SirAnswer::name, text, {sat, maxsat, stable}, meaning},
#include "solve/sir_answers.def"
#undef XLOG_SIR_ANSWER
};

}  // namespace

std::string_view name_of(SirKind kind) {
  switch (kind) {
    case SirKind::Sat:
      return "sat";
    case SirKind::Maxsat:
      return "maxsat";
    case SirKind::Stable:
      return "stable";
  }
  XLOG_UNREACHABLE("all kinds are covered");
}

const SirAnswerInfo& info_of(SirAnswer answer) { return kAnswers[static_cast<size_t>(answer)]; }

Limits SirLimits::from(std::chrono::steady_clock::time_point begin) const {
  Limits limits;
  limits.conflicts = conflicts;
  limits.memory_bytes = memory_bytes;
  if (time) limits.deadline = begin + *time;
  return limits;
}

bool operator==(const SirJob& a, const SirJob& b) {
  if (a.kind() != b.kind() || a.assumptions != b.assumptions || a.limits != b.limits ||
      a.answer != b.answer || (a.answer == SirAnswer::Models && a.models != b.models)) {
    return false;
  }
  if (const auto* weighted = std::get_if<WeightedCnf>(&a.problem)) {
    WeightedCnf mine = *weighted;
    WeightedCnf theirs = std::get<WeightedCnf>(b.problem);
    for (WeightedCnf* formula : {&mine, &theirs}) {
      formula->hard.need_variables(formula->variables());
      formula->soft.need_variables(formula->variables());
    }
    return mine.hard == theirs.hard && mine.soft == theirs.soft && mine.weights == theirs.weights;
  }
  if (const auto* formula = std::get_if<Cnf>(&a.problem)) {
    return *formula == std::get<Cnf>(b.problem);
  }
  return std::get<GroundProgram>(a.problem) == std::get<GroundProgram>(b.problem);
}

}  // namespace xlog::solve
