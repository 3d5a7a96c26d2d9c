#include "logic/needed.h"

#include <algorithm>
#include <vector>

#include "logic/components.h"

namespace xlog::logic {

void keep_needed(lang::Program& program, lang::PredId pred) {
  std::vector<bool> needed(program.predicates.size(), false);
  std::vector<lang::PredId> waiting;
  const auto need = [&](lang::PredId p) {
    if (needed[p.index]) return;
    needed[p.index] = true;
    waiting.push_back(p);
  };
  need(pred);
  while (!waiting.empty()) {
    const lang::PredId here = waiting.back();
    waiting.pop_back();
    for (uint32_t r : program[here].rules) {
      const auto visit = [&](const lang::Literal& literal, const lang::Literal*) {
        need(literal.pred);
      };
      for_each_predicate(program.rules[r].body, visit);
      for (const lang::HeadElement& element : program.rules[r].head) {
        need(element.pred);
        for_each_predicate(element.condition, visit);
      }
    }
  }
  std::vector<lang::Rule> rules;
  for (lang::Predicate& predicate : program.predicates) predicate.rules.clear();
  for (lang::Rule& rule : program.rules) {
    const bool is_needed = std::ranges::any_of(
        rule.head, [&](const lang::HeadElement& element) { return needed[element.pred.index]; });
    if (!is_needed) continue;
    const auto index = static_cast<uint32_t>(rules.size());
    for (const lang::HeadElement& element : rule.head) {
      std::vector<uint32_t>& of = program[element.pred].rules;
      if (of.empty() || of.back() != index) of.push_back(index);
    }
    rules.push_back(std::move(rule));
  }
  program.rules = std::move(rules);
  program.queries.clear();
}

}  // namespace xlog::logic
