#include "plan/transitive.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>

#include "logic/components.h"
#include "plan/pipeline.h"
#include "plan/relational.h"

namespace xlog::plan {

using lang::HeadKind;
using lang::Literal;
using lang::LiteralKind;
using lang::Predicate;
using lang::PredId;
using lang::Rule;
using lang::RuleOrigin;
using lang::Term;
using lang::TermKind;
using lang::VarId;

namespace {

bool is_atom_of(const Literal& literal, PredId pred) {
  return literal.kind == LiteralKind::Atom && literal.pred == pred && literal.nots == 0 &&
         literal.modal == lang::Modal::None;
}

// The variables of an atom's columns, all different; nothing where there is anything else.
std::optional<std::vector<VarId>> columns_of(const std::vector<Term>& args) {
  std::vector<VarId> columns;
  for (const Term& arg : args) {
    if (arg.kind != TermKind::Variable) return std::nullopt;
    if (std::ranges::find(columns, arg.var) != columns.end()) return std::nullopt;
    columns.push_back(arg.var);
  }
  return columns;
}

// Whether head :- first, second composes a relation with itself: a column of the head comes from
// one atom or the other, or is the same in all three; and what each atom has in the columns that
// come from the other one are the same variables.
bool composes(const std::vector<VarId>& head, const std::vector<VarId>& first,
              const std::vector<VarId>& second) {
  const size_t n = head.size();
  std::vector<VarId> left, right;  // what stands between, as each atom has it
  for (size_t c = 0; c < n; ++c) {
    const bool from_first = head[c] == first[c], from_second = head[c] == second[c];
    if (from_first && from_second) continue;
    if (from_first) {
      right.push_back(second[c]);
    } else if (from_second) {
      left.push_back(first[c]);
    } else {
      return false;
    }
  }
  const auto is_in = [](const std::vector<VarId>& some, VarId v) {
    return std::ranges::find(some, v) != some.end();
  };
  return !left.empty() && left.size() == right.size() &&
         std::ranges::all_of(left, [&](VarId v) { return is_in(right, v) && !is_in(head, v); });
}

std::unique_ptr<lang::FactTable> copy_of(const lang::FactTable& facts, Symbol name,
                                         lang::Names& names) {
  auto copy = std::make_unique<lang::FactTable>();
  copy->name = name;
  copy->arity = facts.arity;
  copy->rows = facts.rows;
  copy->columns.resize(facts.columns.size());
  for (size_t c = 0; c < facts.columns.size(); ++c) {
    copy->columns[c].convert(facts.columns[c].type(), names);
    for (size_t r = 0; r < facts.rows; ++r) copy->columns[c].append_typed(facts.columns[c].at(r));
  }
  return copy;
}

class Steps {
 public:
  Steps(lang::Program& program, const logic::Analysis& analysis, lang::Session& session)
      : program_(program), analysis_(analysis), session_(session) {}

  std::vector<Closure> run() {
    for (const logic::Component& component : analysis_.components) {
      if (component.klass != logic::ComponentClass::Determined || !component.recursive) continue;
      if (why_not_relational(program_, component)) continue;
      for (const PredId pred : component.predicates) {
        if (analysis_.best[pred.index]) continue;
        if (const std::optional<uint32_t> rule = closing_rule(pred)) rewrite(pred, *rule);
      }
    }
    return std::move(made_);
  }

 private:
  bool closes(const Rule& rule, PredId pred) const {
    if (rule.head_kind != HeadKind::Atom || rule.head.size() != 1 || !rule.aggregates.empty() ||
        rule.body.size() != 2 || !is_atom_of(rule.body[0], pred) ||
        !is_atom_of(rule.body[1], pred)) {
      return false;
    }
    const auto head = columns_of(rule.head[0].args), first = columns_of(rule.body[0].args),
               second = columns_of(rule.body[1].args);
    return head && first && second && composes(*head, *first, *second);
  }

  // The rule that closes a relation, where no other of its rules reads the recursion.
  std::optional<uint32_t> closing_rule(PredId pred) const {
    std::optional<uint32_t> closing;
    for (const uint32_t r : program_[pred].rules) {
      const Rule& rule = program_.rules[r];
      if (!closing && closes(rule, pred)) {
        closing = r;
        continue;
      }
      bool reads = false;
      logic::for_each_predicate(rule.body, [&](const Literal& literal, const Literal*) {
        reads |= analysis_.component_of[literal.pred.index] == analysis_.component_of[pred.index];
      });
      if (reads) return std::nullopt;
    }
    return closing;
  }

  // The relation that a rule copies, columns and all: "flow(X, Y) :- assign(X, Y)."
  std::optional<PredId> copied_by(const Rule& rule) const {
    if (rule.head_kind != HeadKind::Atom || rule.head.size() != 1 || !rule.aggregates.empty() ||
        rule.body.size() != 1 || !is_atom_of(rule.body[0], rule.body[0].pred)) {
      return std::nullopt;
    }
    const auto head = columns_of(rule.head[0].args), body = columns_of(rule.body[0].args);
    if (!head || head != body) return std::nullopt;
    return rule.body[0].pred;
  }

  // Where all steps are those of one relation, there it is.
  std::optional<PredId> only_steps(PredId pred) const {
    const Predicate& predicate = program_[pred];
    if (predicate.facts != nullptr || predicate.rules.size() != 2) return std::nullopt;
    for (const uint32_t r : predicate.rules) {
      if (const auto copied = copied_by(program_.rules[r])) return copied;
    }
    return std::nullopt;
  }

  void rewrite(PredId pred, uint32_t closing) {
    made_.push_back({lang::to_source(program_.rules[closing], program_, session_.names), {}});
    PredId steps;
    if (const std::optional<PredId> only = only_steps(pred)) {
      steps = *only;
      program_.rules[closing].body[1].pred = steps;
    } else {
      steps = add_steps(pred, closing);
    }
    made_.back().steps = lang::predicate_name(program_[steps], session_.names);
  }

  // Makes all other rules of the relation, and what is stated of it, rules of its steps.
  PredId add_steps(PredId pred, uint32_t closing) {
    const PredId steps{static_cast<uint32_t>(program_.predicates.size())};
    Predicate helper;
    helper.name = session_.names.symbols.intern(fmt::format("__xlog_step_{}", steps.index));
    helper.helper = true;
    helper.arity = program_[pred].arity;
    helper.columns = program_[pred].columns;
    helper.span = program_[pred].span;
    // What is stated is a step too, and stays where it is stated.
    if (program_[pred].facts != nullptr) {
      helper.facts = copy_of(*program_[pred].facts, helper.name, session_.names);
    }
    for (const uint32_t r : program_[pred].rules) {
      if (r == closing) continue;
      program_.rules[r].head[0].pred = steps;
      helper.rules.push_back(r);
    }
    const bool has_rules = !helper.rules.empty();
    program_.predicates.push_back(std::move(helper));

    Rule& rule = program_.rules[closing];
    rule.body[1].pred = steps;
    program_.predicates[pred.index].rules = {closing};
    if (!has_rules) return steps;  // all are stated, and are rows already
    Rule first = rule;
    first.origin = RuleOrigin::Function;
    Literal step = first.body[0];
    step.pred = steps;
    step.args = first.head[0].args;
    first.body = {std::move(step)};
    program_.predicates[pred.index].rules.push_back(static_cast<uint32_t>(program_.rules.size()));
    program_.rules.push_back(std::move(first));
    return steps;
  }

  lang::Program& program_;
  const logic::Analysis& analysis_;
  lang::Session& session_;
  std::vector<Closure> made_;
};

}  // namespace

std::vector<Closure> close_by_steps(lang::Program& program, const logic::Analysis& analysis,
                                    lang::Session& session, Sharing) {
  return Steps(program, analysis, session).run();
}

std::string to_text(const std::vector<Closure>& closures) {
  std::string text;
  for (const Closure& closure : closures) {
    text += fmt::format("closed by steps: {} for {}\n", closure.steps, closure.rule);
  }
  return text;
}

}  // namespace xlog::plan
