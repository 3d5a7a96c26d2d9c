#include "logic/needed.h"

#include <algorithm>

#include "logic/components.h"

namespace xlog::logic {

namespace {

// Leaves the rules that `is_kept`, and no queries.
template <typename Kept>
void keep_rules(lang::Program& program, const Kept& is_kept) {
  std::vector<lang::Rule> rules;
  for (lang::Predicate& predicate : program.predicates) predicate.rules.clear();
  for (lang::Rule& rule : program.rules) {
    if (!is_kept(rule)) continue;
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

}  // namespace

void keep_needed(lang::Program& program, lang::PredId pred) {
  keep_needed(program, std::vector<lang::PredId>{pred});
}

void keep_needed(lang::Program& program, const std::vector<lang::PredId>& preds) {
  std::vector<bool> needed(program.predicates.size(), false);
  std::vector<lang::PredId> waiting;
  const auto need = [&](lang::PredId p) {
    if (needed[p.index]) return;
    needed[p.index] = true;
    waiting.push_back(p);
  };
  for (const lang::PredId pred : preds) need(pred);
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
  keep_rules(program, [&](const lang::Rule& rule) {
    return std::ranges::any_of(
        rule.head, [&](const lang::HeadElement& element) { return needed[element.pred.index]; });
  });
}

void drop_queries(lang::Program& program) {
  std::vector<bool> asked(program.predicates.size(), false);
  // A query may name a predicate of the program itself.
  for (const lang::Query& query : program.queries) {
    asked[query.pred.index] = program[query.pred].helper;
  }
  keep_rules(program, [&](const lang::Rule& rule) {
    return std::ranges::none_of(
        rule.head, [&](const lang::HeadElement& element) { return asked[element.pred.index]; });
  });
}

}  // namespace xlog::logic
