#include "plan/cost.h"

#include <algorithm>

namespace xlog::plan {

namespace {

constexpr double kProbe = 2;                      // a lookup, in bindings that are walked
constexpr double kInsert = 4;                     // a row that goes into a set
constexpr double kHost = 50;                      // a binding that the host solves a literal for
constexpr double kOrdered = 0.3, kDiffers = 0.9;  // of bindings pass a comparison

// How many of the bindings find a row with their values in these columns.
double share_of_hits(const std::vector<uint32_t>& columns, const Statistics& known) {
  double combinations = 1;
  for (uint32_t c : columns) {
    if (c < known.distinct.size()) combinations *= static_cast<double>(known.distinct[c]);
  }
  return std::min(1.0, static_cast<double>(known.rows) / std::max(combinations, 1.0));
}

}  // namespace

Cost cost_of(const Pipeline& pipeline, const StatisticsOf& statistics) {
  double cost = 0;
  double bindings = 1;
  for (const Step& step : pipeline.steps) {
    switch (step.kind) {
      case StepKind::Match: {
        const double rows = static_cast<double>(statistics(step.pred).rows);
        if (!key_columns(step).empty()) cost += bindings * kProbe;
        bindings *= step.part == Part::New ? rows : std::min(step.rows, rows);
        cost += bindings;
        break;
      }
      case StepKind::Meet:
        // The first member's list is walked, or a shorter one.
        for (const Step& member : step.members) {
          cost += bindings * kProbe;
          if (&member == &step.members.front()) continue;
          std::vector<uint32_t> asked = key_columns(member);
          asked.push_back(target_column(member));
          bindings *= share_of_hits(asked, statistics(member.pred));
        }
        bindings *= step.rows;
        cost += bindings;
        break;
      case StepKind::Range:
        bindings *= expected_size(step);
        cost += bindings;
        break;
      case StepKind::Exists:
        cost += bindings * kProbe;
        bindings *= share_of_hits(key_columns(step), statistics(step.pred));
        break;
      case StepKind::Absent:
        cost += bindings * kProbe;
        break;
      case StepKind::Filter:
        if (step.compare == lang::CompareOp::Ne) bindings *= kDiffers;
        if (step.compare != lang::CompareOp::Eq && step.compare != lang::CompareOp::Ne) {
          bindings *= kOrdered;
        }
        break;
      case StepKind::Let:
        break;
      case StepKind::Host:
        cost += bindings * kHost;
        break;
    }
  }
  return {cost + bindings * kInsert, bindings};
}

Statistics expected_rows(const lang::Rule& rule, double solutions, const StatisticsOf& statistics) {
  constexpr double kMost = 1e18;  // fits into the integer
  double most = 1;
  Statistics made;
  for (const Term& arg : rule.head[0].args) {
    uint64_t fewest = UINT64_MAX;
    for (const lang::Literal& literal : rule.body) {
      if (literal.kind != lang::LiteralKind::Atom) continue;
      const Statistics known = statistics(literal.pred);
      for (size_t c = 0; c < literal.args.size(); ++c) {
        const Term& brings = literal.args[c];
        if (brings.kind != lang::TermKind::Variable || brings.var != arg.var) continue;
        fewest = std::min(fewest, c < known.distinct.size() ? known.distinct[c] : known.rows);
      }
    }
    made.distinct.push_back(fewest);
    most *= static_cast<double>(fewest);
  }
  made.rows = static_cast<uint64_t>(std::min({solutions, most, kMost}));
  for (uint64_t& distinct : made.distinct) distinct = std::min(distinct, made.rows);
  return made;
}

}  // namespace xlog::plan
