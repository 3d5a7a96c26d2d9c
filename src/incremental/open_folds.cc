#include "incremental/open_folds.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "logic/binding.h"
#include "logic/components.h"

namespace xlog::incremental {

using lang::HeadElement;
using lang::HeadKind;
using lang::Literal;
using lang::LiteralKind;
using lang::Modal;
using lang::PredId;
using lang::Rule;
using lang::Term;
using lang::TermKind;
using lang::VarId;

namespace {

bool folds_open(const Literal& literal, const std::vector<bool>& open) {
  bool folds = false;
  logic::for_each_predicate({literal}, [&](const Literal& read, const Literal* inside) {
    folds |= inside != nullptr && open[read.pred.index];
  });
  return folds;
}

const Term& result_of(const Literal& braces) {
  return braces.kind == LiteralKind::Aggregate ? braces.lhs : braces.args[1];
}

std::vector<VarId> variables_of(const Term& term) {
  std::vector<VarId> found;
  lang::collect_variables(term, found);
  return found;
}

void add_once(std::vector<VarId>& to, VarId variable) {
  if (std::ranges::count(to, variable) == 0) to.push_back(variable);
}

// Variables inside the braces that stand outside of them too.
std::vector<VarId> group_of(const Literal& braces, const std::vector<uint32_t>& visible) {
  std::vector<VarId> inside, group;
  if (const Term* collected = logic::collected_term(braces)) inside = variables_of(*collected);
  for (const Literal& literal : braces.body) lang::collect_variables(literal, inside);
  for (const VarId v : inside) {
    if (visible[v.index] > 0) add_once(group, v);
  }
  return group;
}

std::string why_not_expanded(const Literal& literal, const std::vector<bool>& open) {
  if (!folds_open(literal, open)) return "";
  if (!logic::has_braces(literal)) return "maplist over rows in which worlds differ";
  if (literal.nots > 0 || result_of(literal).kind == TermKind::Arith) {
    return "a test of an aggregate over rows in which worlds differ";
  }
  for (const Literal& inner : literal.body) {
    std::string reason = why_not_expanded(inner, open);
    if (!reason.empty()) return reason;
  }
  return "";
}

std::vector<Term> fresh_variables(Rule& rule, const std::vector<lang::Type>& types) {
  std::vector<Term> made;
  for (const lang::Type& type : types) {
    Term& term = made.emplace_back();
    term.kind = TermKind::Variable;
    term.var = {static_cast<uint32_t>(rule.variables.size())};
    term.type = type;
    term.span = rule.span;
    rule.variables.push_back({{}, false, true, type, rule.span});
  }
  return made;
}

class Expansion {
 public:
  Expansion(lang::Program& program, const logic::Analysis& analysis, const std::vector<bool>& open,
            lang::Session& session, std::vector<OpenFold>& folds)
      : program_(program), analysis_(analysis), open_(open), session_(session), folds_(folds) {}

  bool run() {
    const auto rules = static_cast<uint32_t>(program_.rules.size());
    for (uint32_t r = 0; r < rules; ++r) expand(r);
    return changed_;
  }

 private:
  void expand(uint32_t r) {
    Rule rule = program_.rules[r];
    const bool is_open = std::ranges::any_of(
        rule.head, [&](const HeadElement& head) { return open_[head.pred.index]; });
    const bool is_made =
        !rule.head.empty() && std::ranges::count(folds_, rule.head[0].pred, &OpenFold::fold) > 0;
    if (is_open && !is_made && !rule.aggregates.empty()) {
      expand_head(rule);
    } else {
      expand_braces(r, rule);
    }
    program_.rules[r] = std::move(rule);
  }

  // ---- braces ----

  void expand_braces(uint32_t r, Rule& rule) {
    const std::vector<uint32_t> visible = logic::visible_in_body(rule);
    std::vector<Literal> before;
    for (const uint32_t i : analysis_.orders[r].body.sequence) {
      if (folds_open(rule.body[i], open_)) replace(rule, rule.body[i], visible, before);
      before.push_back(rule.body[i]);
    }
    for (size_t e = 0; e < rule.head.size() && rule.head_kind == HeadKind::Choice; ++e) {
      std::vector<Literal> asked = before;
      for (const uint32_t i : analysis_.orders[r].conditions[e].sequence) {
        Literal& literal = rule.head[e].condition[i];
        if (folds_open(literal, open_)) replace(rule, literal, visible, asked);
        asked.push_back(literal);
      }
    }
  }

  void replace(Rule& rule, Literal& braces, const std::vector<uint32_t>& visible,
               const std::vector<Literal>& before) {
    changed_ = true;
    // What `is` computes, the helper's atom may bring too.
    for (Literal& literal : rule.body) literal.is_assignment = false;
    const Literal literal = braces;
    const Term& result = result_of(literal);
    const std::vector<VarId> group = group_of(literal, visible);
    OpenFold fold;
    fold.group_columns = static_cast<uint32_t>(group.size());
    const lang::AggregateFn fn =
        literal.kind == LiteralKind::Aggregate ? literal.aggregate : lang::AggregateFn::Findall;
    fold.folds.push_back({oracle::fold_kind(fn), result.type});
    if (fn == lang::AggregateFn::Findall) fold.nonempty = is_shared(literal, group);

    const std::vector<Term> columns = terms_of(rule, group);
    fold.groups = add_predicate("asked", types_of(columns), literal.span);
    add_rule(helper(rule, fold.groups, columns, group.empty() ? std::vector<Literal>{} : before));

    std::vector<Literal> body = literal.body;
    body.insert(body.begin(), atom(fold.groups, columns, literal.span));
    std::vector<lang::HeadAggregate> aggregates(1);
    aggregates[0].fn = fn;
    const Term* collected = logic::collected_term(literal);
    aggregates[0].has_value = collected != nullptr;
    if (collected != nullptr) aggregates[0].value = *collected;
    add_fold(rule, columns, aggregates, std::move(body), fold, literal.span);

    std::vector<Term> args = columns;
    args.push_back(result);
    braces = atom(fold.fold, args, literal.span);
  }

  // Whether a goal of a findall has a variable that is bound before: it is then asked for each of
  // its values, and only where it has a solution.
  static bool is_shared(const Literal& findall, const std::vector<VarId>& group) {
    std::vector<VarId> found;
    for (const Literal& goal : findall.body) lang::collect_variables(goal, found);
    return std::ranges::any_of(found, [&](VarId v) { return std::ranges::count(group, v) > 0; });
  }

  // ---- heads ----

  void expand_head(Rule& rule) {
    changed_ = true;
    const HeadElement head = rule.head[0];
    const std::vector<lang::Type> types = types_of(program_[head.pred]);
    const auto arity = static_cast<uint32_t>(types.size());
    std::vector<Term> columns;
    std::vector<uint32_t> place(arity);  // by column of the head: of the fold
    const auto is_folded = [&](uint32_t c) {
      return std::ranges::count(rule.aggregates, c, &lang::HeadAggregate::column) > 0;
    };
    for (uint32_t c = 0; c < arity; ++c) {
      if (is_folded(c)) continue;
      place[c] = static_cast<uint32_t>(columns.size());
      columns.push_back(head.args[c]);
      columns.back().type = types[c];
    }
    OpenFold fold;
    fold.group_columns = static_cast<uint32_t>(columns.size());
    fold.nonempty = true;
    for (size_t i = 0; i < rule.aggregates.size(); ++i) {
      const uint32_t c = rule.aggregates[i].column;
      place[c] = fold.group_columns + static_cast<uint32_t>(i);
      fold.folds.push_back({oracle::fold_kind(rule.aggregates[i].fn), types[c]});
    }
    add_fold(rule, columns, rule.aggregates, rule.body, fold, rule.span);

    Rule shown = rule;
    shown.aggregates.clear();
    const std::vector<Term> terms = fresh_variables(shown, types_of(program_[fold.fold]));
    for (uint32_t c = 0; c < arity; ++c) shown.head[0].args[c] = terms[place[c]];
    shown.body = {atom(fold.fold, terms, rule.span)};
    rule = std::move(shown);
  }

  // ---- what both become ----

  // The elements and the fold of them. The rule's variables, in `columns` and in `body`.
  void add_fold(const Rule& rule, const std::vector<Term>& columns,
                const std::vector<lang::HeadAggregate>& aggregates, std::vector<Literal> body,
                OpenFold& fold, Span span) {
    Rule element = rule;
    for (Literal& literal : body) literal.is_assignment = false;
    std::vector<Term> args = columns;
    for (const lang::HeadAggregate& aggregate : aggregates) {
      fold.value_columns.push_back(OpenFold::kNoValue);
      fold.value_kinds.push_back(lang::TypeKind::U64);
      if (!aggregate.has_value) continue;
      Term value = aggregate.value;
      if (value.kind == TermKind::Variable) value.type = rule.variables[value.var.index].type;
      if (value.kind == TermKind::Arith) value = named(element, value, body);
      fold.value_columns.back() = static_cast<uint32_t>(args.size());
      fold.value_kinds.back() = value.type.kind;
      args.push_back(std::move(value));
    }
    for (const VarId v : told_apart_by(element, body)) args.push_back(variable(element, v));
    fold.element = add_predicate("element", types_of(args), span);
    Rule made = helper(element, fold.element, args, std::move(body));
    for (const Term& arg : args) {
      for (const VarId v : variables_of(arg)) made.variables[v.index].anonymous = false;
    }
    add_rule(std::move(made));

    Rule folds = rule;
    folds.variables.clear();
    const std::vector<Term> terms = fresh_variables(folds, types_of(args));
    std::vector<Term> head(terms.begin(), terms.begin() + fold.group_columns);
    std::vector<lang::HeadAggregate> made_aggregates = aggregates;
    for (size_t i = 0; i < aggregates.size(); ++i) {
      made_aggregates[i].column = static_cast<uint32_t>(head.size());
      const uint32_t from = fold.value_columns[i];
      if (from != OpenFold::kNoValue) made_aggregates[i].value = terms[from];
      Term result;
      result.type = fold.folds[i].result;
      result.value.kind = result.type.kind;
      head.push_back(std::move(result));
    }
    fold.fold = add_predicate("fold", types_of(head), span);
    folds = helper(folds, fold.fold, std::move(head), {atom(fold.element, terms, span)});
    folds.aggregates = std::move(made_aggregates);
    add_rule(std::move(folds));
    folds_.push_back(fold);
  }

  // All that solutions of a body may differ in.
  static std::vector<VarId> told_apart_by(const Rule& rule, const std::vector<Literal>& body) {
    std::vector<VarId> told;
    for (const Literal& literal : body) {
      if (literal.nots > 0) continue;
      std::vector<VarId> found;
      logic::collect_outside(literal, found);
      for (const VarId v : found) {
        const bool means_some = literal.modal != Modal::None && rule.variables[v.index].anonymous;
        if (!means_some) add_once(told, v);
      }
    }
    return told;
  }

  static Term variable(const Rule& rule, VarId v) {
    Term term;
    term.kind = TermKind::Variable;
    term.var = v;
    term.type = rule.variables[v.index].type;
    term.span = rule.span;
    return term;
  }

  static std::vector<Term> terms_of(const Rule& rule, const std::vector<VarId>& variables) {
    std::vector<Term> terms;
    for (const VarId v : variables) terms.push_back(variable(rule, v));
    return terms;
  }

  static std::vector<lang::Type> types_of(const std::vector<Term>& terms) {
    std::vector<lang::Type> types;
    for (const Term& term : terms) types.push_back(term.type);
    return types;
  }
  static std::vector<lang::Type> types_of(const lang::Predicate& predicate) {
    std::vector<lang::Type> types;
    for (const lang::PredicateColumn& column : predicate.columns) types.push_back(column.type);
    return types;
  }

  static Literal atom(PredId pred, const std::vector<Term>& args, Span span) {
    Literal literal;
    literal.pred = pred;
    literal.args = args;
    literal.span = span;
    return literal;
  }

  PredId add_predicate(std::string_view kind, const std::vector<lang::Type>& types, Span span) {
    lang::Predicate predicate;
    predicate.name = session_.names.symbols.intern(
        fmt::format("__xlog_{}_{}", kind, program_.predicates.size()));
    predicate.arity = static_cast<uint32_t>(types.size());
    for (const lang::Type& type : types) predicate.columns.push_back({{}, type, span});
    predicate.helper = true;
    predicate.span = span;
    program_.predicates.push_back(std::move(predicate));
    return {static_cast<uint32_t>(program_.predicates.size() - 1)};
  }

  // A rule with the variables of another one.
  static Rule helper(const Rule& rule, PredId head, std::vector<Term> args,
                     std::vector<Literal> body) {
    Rule made = rule;
    made.origin = lang::RuleOrigin::Function;
    made.head_kind = HeadKind::Atom;
    made.aggregates.clear();
    made.lower.reset();
    made.upper.reset();
    made.head = {{head, std::move(args), {}, 1, {}}};
    made.body = std::move(body);
    return made;
  }

  void add_rule(Rule rule) {
    const auto index = static_cast<uint32_t>(program_.rules.size());
    program_[rule.head[0].pred].rules.push_back(index);
    program_.rules.push_back(std::move(rule));
  }

  lang::Program& program_;
  const logic::Analysis& analysis_;
  const std::vector<bool>& open_;
  lang::Session& session_;
  std::vector<OpenFold>& folds_;
  bool changed_ = false;
};

}  // namespace

Term named(Rule& rule, const Term& term, std::vector<Literal>& body) {
  Literal equation;
  equation.kind = LiteralKind::Compare;
  equation.span = term.span;
  equation.brings = true;
  equation.lhs = fresh_variables(rule, {term.type})[0];
  equation.rhs = term;
  body.push_back(equation);
  return equation.lhs;
}

std::string why_not_expanded(const Rule& rule, const logic::Analysis& analysis,
                             const std::vector<bool>& open) {
  const auto is_own = [&](const Literal& literal) {
    return literal.kind == LiteralKind::Atom && !rule.head.empty() &&
           analysis.component_of[literal.pred.index] ==
               analysis.component_of[rule.head[0].pred.index];
  };
  const bool has_best = !rule.head.empty() && analysis.best[rule.head[0].pred.index].has_value();
  if (has_best) return "a minimum or maximum inside its own recursion, where worlds differ";
  const std::vector<uint32_t> visible = logic::visible_in_body(rule);
  std::vector<const Literal*> all;
  for (const Literal& literal : rule.body) all.push_back(&literal);
  for (const HeadElement& head : rule.head) {
    for (const Literal& literal : head.condition) all.push_back(&literal);
  }
  const bool reads_itself = std::ranges::any_of(all, [&](const Literal* l) { return is_own(*l); });
  for (const Literal* literal : all) {
    std::string reason = why_not_expanded(*literal, open);
    if (!reason.empty()) return reason;
    // The groups that are asked for would follow from what the fold gives.
    const bool asks_itself = reads_itself && folds_open(*literal, open) &&
                             rule.aggregates.empty() && !group_of(*literal, visible).empty();
    if (asks_itself) return "an aggregate that a recursion asks for, where worlds differ";
  }
  return "";
}

bool expand_open_folds(lang::Program& program, const logic::Analysis& analysis,
                       const std::vector<bool>& open, lang::Session& session,
                       std::vector<OpenFold>& folds) {
  return Expansion(program, analysis, open, session, folds).run();
}

}  // namespace xlog::incremental
