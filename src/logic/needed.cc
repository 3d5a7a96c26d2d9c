#include "logic/needed.h"

#include <algorithm>

#include "logic/components.h"

namespace xlog::logic {

namespace {

// Leaves the rules that `is_kept`.
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
}

// What some predicates depend on, these included.
class Needed {
 public:
  explicit Needed(const lang::Program& program)
      : program_(program), needed_(program.predicates.size(), false) {}

  void need(PredId pred) {
    if (needed_[pred.index]) return;
    needed_[pred.index] = true;
    waiting_.push_back(pred);
  }

  void need_body(const lang::Rule& rule) {
    const auto visit = [&](const lang::Literal& literal, const lang::Literal*) {
      need(literal.pred);
    };
    for_each_predicate(rule.body, visit);
    for (const lang::HeadElement& element : rule.head) for_each_predicate(element.condition, visit);
  }

  std::vector<bool> finish() {
    while (!waiting_.empty()) {
      const PredId here = waiting_.back();
      waiting_.pop_back();
      for (const uint32_t r : program_[here].rules) {
        need_body(program_.rules[r]);
        for (const lang::HeadElement& element : program_.rules[r].head) need(element.pred);
      }
    }
    return std::move(needed_);
  }

 private:
  const lang::Program& program_;
  std::vector<bool> needed_;
  std::vector<PredId> waiting_;
};

bool has_head_in(const lang::Rule& rule, const std::vector<bool>& preds) {
  return std::ranges::any_of(
      rule.head, [&](const lang::HeadElement& element) { return preds[element.pred.index]; });
}

}  // namespace

std::vector<bool> needed_for_answers(const lang::Program& program, const Analysis& analysis,
                                     Asked asked) {
  Needed needed(program);
  for (const lang::Query& query : program.queries) needed.need(query.pred);
  for (const uint32_t r : analysis.constraints) needed.need_body(program.rules[r]);
  for (const Component& component : analysis.components) {
    if (component.klass == ComponentClass::Determined || asked == Asked::WellFounded) continue;
    for (const PredId pred : component.predicates) needed.need(pred);
  }
  return needed.finish();
}

bool drop_unneeded(lang::Program& program, const Analysis& analysis, Asked asked) {
  const std::vector<bool> needed = needed_for_answers(program, analysis, asked);
  const size_t before = program.rules.size();
  keep_rules(program, [&](const lang::Rule& rule) {
    // What nobody evaluates is refused, asked for or not.
    return rule.head.empty() || rule.annotated || rule.learnable || has_head_in(rule, needed);
  });
  return program.rules.size() < before;
}

void keep_needed(lang::Program& program, PredId pred) {
  keep_needed(program, std::vector<PredId>{pred});
}

void keep_needed(lang::Program& program, const std::vector<PredId>& preds) {
  Needed needed(program);
  for (const PredId pred : preds) needed.need(pred);
  const std::vector<bool> kept = needed.finish();
  keep_rules(program, [&](const lang::Rule& rule) { return has_head_in(rule, kept); });
  program.queries.clear();
}

void drop_queries(lang::Program& program) {
  std::vector<bool> asked(program.predicates.size(), false);
  // A query may name a predicate of the program itself.
  for (const lang::Query& query : program.queries) {
    asked[query.pred.index] = program[query.pred].helper;
  }
  keep_rules(program, [&](const lang::Rule& rule) { return !has_head_in(rule, asked); });
  program.queries.clear();
}

}  // namespace xlog::logic
