// Queries, evidence, probability queries and neural predicates of the main file.
#include <fmt/format.h>

#include <algorithm>

#include "lang/lower.h"
#include "lang/rule_lowering.h"

namespace xlog::lang {

using ast::Expr;
using ast::ExprKind;

namespace {

// Distinct named variables outside braces, in order of first occurrence.
struct ColumnCollector {
  std::vector<Expr> columns;
  NameSet seen;

  void expr(const Expr& e) {
    if (e.kind == ExprKind::Aggregate) return;
    if (e.kind == ExprKind::Variable && seen.insert(e.name).second) columns.push_back(e);
    for (const Expr& arg : e.args) expr(arg);
  }
  void literal(const ast::Literal& l) {
    for (const Expr& arg : l.atom.args) expr(arg);
    expr(l.lhs);
    expr(l.rhs);
  }
};

// These speak about a variable without giving it values.
bool is_binding_test(const Lowering& low, const ast::Literal& literal) {
  const std::string_view name = low.text(literal.atom.name);
  return literal.kind == ast::LiteralKind::Atom &&
         (name == "var" || name == "nonvar" || name == "ground");
}

PredId query_predicate(Lowering& low, size_t number, size_t arity, Span span) {
  return low.helper_predicate(fmt::format("__xlog_query_{}", number), static_cast<uint32_t>(arity),
                              span);
}

void lower_query(Lowering& low, ast::Query& source, std::string text, Span span) {
  const size_t number = low.program.queries.size();
  ColumnCollector collector;
  for (const ast::Literal& literal : source.body) {
    if (!is_binding_test(low, literal)) collector.literal(literal);
  }
  low.expander->start_statement();
  const bool expanded = low.expander->expand(source.body);

  Query query;
  query.pred = query_predicate(low, number, collector.columns.size(), span);
  query.text = std::move(text);
  query.span = span;
  for (const Expr& column : collector.columns) query.columns.push_back(column.name);
  const PredId pred = query.pred;
  low.program.queries.push_back(std::move(query));
  if (!expanded) return;

  RuleLowering out(low, span);
  out.rule.origin = RuleOrigin::Query;
  out.rule.head_span = span;
  collect_names(source.body, out.own_names());
  out.body(source.body);
  HeadElement element;
  element.pred = pred;
  element.span = span;
  for (const Expr& column : collector.columns) {
    element.args.push_back(out.variable(column.name, column.span));
  }
  out.rule.head.push_back(std::move(element));
  if (!out.failed && !out.never) low.add_rule(std::move(out.rule));
}

// ---- Implicit queries ----

// A, B, ..., Z, A1, B1, ...
std::string letter_name(size_t i) {
  std::string name(1, static_cast<char>('A' + i % 26));
  return i < 26 ? name : name + std::to_string(i / 26);
}

std::string capitalised(std::string_view name) {
  std::string out(name);
  if (!out.empty() && out[0] >= 'a' && out[0] <= 'z')
    out[0] = static_cast<char>(out[0] - 'a' + 'A');
  return out;
}

void add_implicit_query(Lowering& low, PredId asked) {
  const Predicate& predicate = low.program[asked];
  const Span span = predicate.span;
  const uint32_t arity = predicate.arity;
  const bool all_named =
      std::all_of(predicate.columns.begin(), predicate.columns.end(),
                  [](const PredicateColumn& column) { return !column.name.empty(); });
  Query query;
  query.implicit = true;
  query.span = span;
  query.text = predicate_name(predicate, low.session.names);

  RuleLowering out(low, span);
  out.rule.origin = RuleOrigin::Query;
  out.rule.head_span = span;
  Literal literal;
  literal.span = span;
  literal.pred = asked;
  for (uint32_t i = 0; i < arity; ++i) {
    const std::string declared = all_named ? std::string(low.text(predicate.columns[i].name)) : "";
    const std::string variable = all_named ? capitalised(declared) : letter_name(i);
    query.columns.push_back(low.symbols().intern(all_named ? declared : variable));
    query.text += (i == 0 ? "(" : ", ") + variable;
    // Two columns may share a name; their variables must not.
    out.rule.variables.emplace_back();
    out.rule.variables.back().name = low.symbols().intern(variable);
    out.rule.variables.back().span = span;
    Term term;
    term.kind = TermKind::Variable;
    term.var = VarId{i};
    term.span = span;
    literal.args.push_back(std::move(term));
  }
  if (arity > 0) query.text += ")";
  HeadElement element;
  element.span = span;
  element.args = literal.args;
  out.rule.body.push_back(std::move(literal));
  query.pred = query_predicate(low, low.program.queries.size(), arity, span);
  element.pred = query.pred;
  out.rule.head.push_back(std::move(element));
  low.program.queries.push_back(std::move(query));
  low.add_rule(std::move(out.rule));
}

bool is_asked_implicitly(const Lowering& low, PredId pred) {
  return !low.program[pred].helper && !low.program[pred].is_private;
}

void add_implicit_queries(Lowering& low) {
  std::vector<PredId> asked;
  std::copy_if(low.rule_order.begin(), low.rule_order.end(), std::back_inserter(asked),
               [&](PredId pred) { return is_asked_implicitly(low, pred); });
  if (asked.empty()) {
    for (uint32_t i = 0; i < low.program.predicates.size(); ++i) {
      if (low.program.predicates[i].facts && is_asked_implicitly(low, PredId{i}))
        asked.push_back(PredId{i});
    }
  }
  for (const PredId pred : asked) add_implicit_query(low, pred);
}

// ---- Evidence, probability queries, neural predicates ----

std::optional<std::vector<Term>> ground_atom(Lowering& low, ast::Atom& atom) {
  std::vector<ast::Literal> goals;
  low.expander->start_statement();
  if (!low.expander->expand(atom.args, goals)) return std::nullopt;
  if (!goals.empty()) {
    low.report(Code::InvalidArgument, atom.span, "a function defined by goals has no value here")
        .help("compute the value in a rule");
    return std::nullopt;
  }
  return ground_terms(low, atom.args);
}

void lower_neural(Lowering& low, const ast::NeuralDecl& decl, Span span) {
  NeuralDecl out;
  out.pred = low.find_predicate(key_of(decl.atom));
  if (!out.pred.valid()) return;  // a reserved name, reported
  out.network = decl.network;
  out.span = span;
  std::optional<std::vector<Term>> labels = ground_terms(low, decl.labels);
  if (!labels) return;
  out.labels = std::move(*labels);
  NameSet names;
  for (const Expr& arg : decl.atom.args) collect_names(arg, names);
  std::vector<const Expr*> roles;
  for (const Expr& input : decl.inputs) roles.push_back(&input);
  roles.push_back(&decl.output);
  for (const Expr* role : roles) {
    if (role->kind == ExprKind::Variable && names.contains(role->name)) continue;
    low.report(Code::InvalidArgument, role->span,
               "inputs and output of a network are variables of the atom behind `::`");
    return;
  }
  for (uint32_t i = 0; i < decl.atom.args.size(); ++i) {
    const Expr& arg = decl.atom.args[i];
    if (arg.kind == ExprKind::Variable && arg.name == decl.output.name) out.output = i;
  }
  low.program[out.pred].neural = true;
  low.program.neural.push_back(std::move(out));
}

}  // namespace

void lower_ground_statement(Lowering& low, ast::Statement& statement) {
  if (auto* query = std::get_if<ast::ProbQuery>(&statement.node)) {
    ProbQuery out;
    out.text = low.prob_query_texts[low.program.prob_queries.size()];
    out.span = statement.span;
    std::optional<std::vector<Term>> args = ground_atom(low, query->atom);
    if (!args) return;
    out.args = std::move(*args);
    out.pred = low.use_predicate(key_of(query->atom), query->atom.name_span);
    low.program.prob_queries.push_back(std::move(out));
  } else if (auto* evidence = std::get_if<ast::Evidence>(&statement.node)) {
    Evidence out;
    out.value = evidence->value;
    out.span = statement.span;
    std::optional<std::vector<Term>> args = ground_atom(low, evidence->atom);
    if (!args) return;
    out.args = std::move(*args);
    out.pred = low.use_predicate(key_of(evidence->atom), evidence->atom.name_span);
    low.program.evidence.push_back(std::move(out));
  } else if (auto* neural = std::get_if<ast::NeuralDecl>(&statement.node)) {
    lower_neural(low, *neural, statement.span);
  }
}

void lower_queries(Lowering& low) {
  size_t number = 0;
  for (ast::Statement& statement : low.modules.units[low.main_unit()].module.statements) {
    auto* query = std::get_if<ast::Query>(&statement.node);
    if (query != nullptr) lower_query(low, *query, low.query_texts[number++], statement.span);
  }
  if (number == 0 && low.program.prob_queries.empty() && low.options.implicit_queries) {
    add_implicit_queries(low);
  }
}

}  // namespace xlog::lang
