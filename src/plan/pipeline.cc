#include "plan/pipeline.h"

#include <fmt/format.h>

#include <algorithm>

namespace xlog::plan {

std::vector<uint32_t> key_columns(const Step& step) {
  std::vector<uint32_t> keys;
  for (uint32_t c = 0; c < step.columns.size(); ++c) {
    if (step.columns[c].use == ColumnUse::Key) keys.push_back(c);
  }
  return keys;
}

bool binds(const Step& step) {
  return std::ranges::any_of(step.columns,
                             [](const ColumnArg& c) { return c.use == ColumnUse::Bind; });
}

namespace {

std::string_view spelling(Part part) {
  switch (part) {
    case Part::All:
      return "";
    case Part::New:
      return "new ";
    case Part::Old:
      return "old ";
  }
  return "";
}

std::string atom_text(const Step& step, const lang::Rule& rule, const lang::Program& program,
                      const lang::Names& names) {
  std::string text(spelling(step.part));
  text += lang::predicate_name(program[step.pred], names);
  for (size_t c = 0; c < step.columns.size(); ++c) {
    const ColumnArg& column = step.columns[c];
    text += c == 0 ? "(" : ", ";
    if (column.use == ColumnUse::Ignore) {
      text += "_";
      continue;
    }
    if (column.use != ColumnUse::Bind) text += "=";
    text += lang::to_source(column.term, rule, program, names);
  }
  return step.columns.empty() ? text : text + ")";
}

}  // namespace

std::string to_text(const Pipeline& pipeline, const lang::Program& program,
                    const lang::Names& names) {
  const lang::Rule& rule = program.rules[pipeline.rule];
  auto source = [&](const Term& term) { return lang::to_source(term, rule, program, names); };
  std::string text;
  for (const Step& step : pipeline.steps) {
    switch (step.kind) {
      case StepKind::Match:
        text += fmt::format("{:<7} {}\n", key_columns(step).empty() ? "scan" : "lookup",
                            atom_text(step, rule, program, names));
        break;
      case StepKind::Exists:
        text += fmt::format("{:<7} {}\n", "exists", atom_text(step, rule, program, names));
        break;
      case StepKind::Absent:
        text += fmt::format("{:<7} {}\n", "absent", atom_text(step, rule, program, names));
        break;
      case StepKind::Filter:
        text += fmt::format("{:<7} {} {} {}\n", "filter", source(step.lhs),
                            lang::ast::spelling(step.compare), source(step.rhs));
        break;
      case StepKind::Let: {
        Term target;
        target.kind = lang::TermKind::Variable;
        target.var = step.target;
        text += fmt::format("{:<7} {} = {}\n", "let", source(target), source(step.lhs));
        break;
      }
    }
  }
  if (!rule.head.empty()) {
    lang::Rule head = rule;
    head.body.clear();
    std::string inserted = lang::to_source(head, program, names);
    if (!inserted.empty() && inserted.back() == '.') inserted.pop_back();
    text += fmt::format("{:<7} {}\n", rule.aggregates.empty() ? "insert" : "group", inserted);
  }
  return text;
}

}  // namespace xlog::plan
