#include "plan/helper_rule.h"

#include <fmt/format.h>

#include <algorithm>

#include "plan/relational.h"

namespace xlog::plan {

using lang::Literal;
using lang::LiteralKind;
using lang::Rule;
using lang::TermKind;

namespace {

Term variable(const Rule& rule, VarId v) {
  Term term;
  term.kind = TermKind::Variable;
  term.var = v;
  term.type = rule.variables[v.index].type;
  return term;
}

bool binds_key_of(const Step& step, const Step& meet) {
  const auto is_key = [&](VarId var) {
    return std::ranges::any_of(meet.members, [&](const Step& member) {
      return std::ranges::any_of(member.columns, [&](const ColumnArg& column) {
        return column.use == ColumnUse::Key && column.term.kind == TermKind::Variable &&
               column.term.var == var;
      });
    });
  };
  return std::ranges::any_of(step.columns, [&](const ColumnArg& column) {
    return column.use == ColumnUse::Bind && is_key(column.term.var);
  });
}

}  // namespace

bool computes(const Literal& literal) {
  return literal.kind == LiteralKind::Compare &&
         !(is_simple(literal.lhs) && is_simple(literal.rhs));
}

PredId add_helper(lang::Program& program, lang::Session& session, std::string_view prefix,
                  uint32_t rule, const JoinPlace& join) {
  const PredId pred = {static_cast<uint32_t>(program.predicates.size())};
  Rule made = program.rules[rule];
  made.origin = lang::RuleOrigin::Function;
  made.aggregates.clear();
  made.body.clear();
  for (uint32_t i : join.literals) made.body.push_back(program.rules[rule].body[i]);
  lang::Predicate helper;
  helper.name = session.names.symbols.intern(fmt::format("{}{}", prefix, pred.index));
  helper.helper = true;
  helper.arity = static_cast<uint32_t>(join.columns.size());
  helper.span = made.span;
  helper.rules = {static_cast<uint32_t>(program.rules.size())};
  made.head[0].pred = pred;
  made.head[0].args.clear();
  for (VarId v : join.columns) {
    made.head[0].args.push_back(variable(made, v));
    helper.columns.push_back({{}, made.head[0].args.back().type, made.span});
  }
  program.predicates.push_back(std::move(helper));
  program.rules.push_back(std::move(made));
  return pred;
}

void remove_last_helper(lang::Program& program) {
  program.predicates.pop_back();
  program.rules.pop_back();
}

void read_helper(Rule& rule, PredId helper, const std::vector<JoinPlace>& places) {
  std::vector<bool> gone(rule.body.size(), false);
  for (const JoinPlace& place : places) {
    for (uint32_t i : place.literals) gone[i] = true;
    const uint32_t first = place.literals.front();
    gone[first] = false;
    Literal atom;
    atom.span = rule.body[first].span;
    atom.pred = helper;
    for (VarId v : place.columns) atom.args.push_back(variable(rule, v));
    rule.body[first] = std::move(atom);
  }
  std::vector<Literal> kept;
  for (size_t i = 0; i < rule.body.size(); ++i) {
    if (!gone[i]) kept.push_back(std::move(rule.body[i]));
  }
  rule.body = std::move(kept);
}

std::string helper_text(const lang::Program& program, PredId helper, const lang::Names& names) {
  const Rule& rule = program.rules[program[helper].rules.front()];
  std::string text = lang::predicate_name(program[helper], names);
  for (size_t i = 0; i < rule.head[0].args.size(); ++i) {
    text += i == 0 ? "(" : ", ";
    text += lang::to_source(rule.head[0].args[i], rule, program, names);
  }
  return text + ")";
}

std::string join_text(const lang::Program& program, const Rule& rule,
                      const std::vector<uint32_t>& literals, const lang::Names& names) {
  std::string text;
  for (uint32_t i : literals) {
    text += text.empty() ? "" : ", ";
    text += lang::to_source(rule.body[i], rule, program, names);
  }
  return text;
}

bool breaks_meet(const Rule& rule, const std::vector<uint32_t>& literals,
                 const std::vector<Pipeline>& versions) {
  const auto is_inside = [&](const Step& atom) {
    return std::ranges::any_of(literals, [&](uint32_t i) {
      return rule.body[i].pred == atom.pred && rule.body[i].span == atom.span;
    });
  };
  for (const Pipeline& pipeline : versions) {
    for (const Step& meet : pipeline.steps) {
      if (meet.kind != StepKind::Meet) continue;
      size_t inside = 0, outside = 0;
      for (const Step& member : meet.members) ++(is_inside(member) ? inside : outside);
      for (const Step& step : pipeline.steps) {
        if (step.kind != StepKind::Match || !binds_key_of(step, meet)) continue;
        ++(is_inside(step) ? inside : outside);
      }
      if (inside > 0 && outside > 0) return true;
    }
  }
  return false;
}

}  // namespace xlog::plan
