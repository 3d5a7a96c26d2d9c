// Generalized magic sets (Beeri and Ramakrishnan, On the power of magic, 1991). For a query `p(a,
// X)` every rule of p is copied with a guard that asks whether anybody wants its bound arguments,
// and the body atoms, taken in the order of evaluation, tell what they want:
//
//   p(X, Z) :- e(X, Y), p(Y, Z).      ?- p(a, X).
//
//   __xlog_magic_p_bf(a).
//   __xlog_p_bf(X, Z) :- __xlog_magic_p_bf(X), e(X, Y), __xlog_p_bf(Y, Z).
//   __xlog_magic_p_bf(Y) :- __xlog_magic_p_bf(X), e(X, Y).
//
// Only positive atoms over determined predicates are followed. Negated, aggregated and modal ones
// keep the full relation of the original predicate, which depends on no copy: the rewritten program
// is stratified whenever the original is.
#include "logic/magic.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <map>
#include <optional>
#include <utility>

#include "logic/order.h"

namespace xlog::logic {

using lang::FactColumn;
using lang::FactTable;
using lang::HeadElement;
using lang::Literal;
using lang::LiteralKind;
using lang::Modal;
using lang::Predicate;
using lang::Program;
using lang::Rule;
using lang::Term;
using lang::TermKind;
using lang::Variable;
using lang::VarId;

namespace {

// Adornments can multiply (2^arity) and each body prefix is copied once an atom: past this the
// copies cost more than they save.
constexpr size_t kMaxLiterals = 100'000;

// What `auto` asks of a query: a program that takes some time, and a part of it that is smaller.
constexpr double kLeastRows = 10'000;
constexpr double kLeastGain = 2;

struct Adorned {
  PredId copy;    // p restricted to what is wanted
  PredId wanted;  // the bound values asked for
};
using Key = std::pair<uint32_t, std::string>;  // predicate and adornment, "bf"

enum class Verdict : uint8_t { Applied, NotAsked, Impossible };

struct Outcome {
  Verdict verdict;
  std::string reason;
};

bool is_plain_atom(const Literal& literal) {
  return literal.kind == LiteralKind::Atom && literal.nots == 0 && literal.modal == Modal::None;
}

bool same_term(const Term& a, const Term& b) {
  if (a.kind != b.kind || a.args.size() != b.args.size()) return false;
  if (a.kind == TermKind::Variable) return a.var == b.var;
  if (a.kind == TermKind::Constant) return a.value == b.value;
  if (a.functor != b.functor || a.has_tail != b.has_tail) return false;
  for (size_t i = 0; i < a.args.size(); ++i) {
    if (!same_term(a.args[i], b.args[i])) return false;
  }
  return true;
}

bool same_terms(const std::vector<Term>& a, const std::vector<Term>& b) {
  if (a.size() != b.size()) return false;
  for (size_t i = 0; i < a.size(); ++i) {
    if (!same_term(a[i], b[i])) return false;
  }
  return true;
}

std::vector<Term> bound_arguments(const std::vector<Term>& args, const std::string& adornment) {
  std::vector<Term> bound;
  for (size_t i = 0; i < args.size(); ++i) {
    if (adornment[i] == 'b') bound.push_back(args[i]);
  }
  return bound;
}

Literal make_atom(PredId pred, std::vector<Term> args, Span span) {
  Literal literal;
  literal.pred = pred;
  literal.args = std::move(args);
  literal.span = span;
  return literal;
}

Rule make_rule(PredId head, std::vector<Term> args, std::vector<Literal> body,
               std::vector<Variable> variables, Span span) {
  Rule rule;
  HeadElement element;
  element.pred = head;
  element.args = std::move(args);
  element.span = span;
  rule.head.push_back(std::move(element));
  rule.body = std::move(body);
  rule.variables = std::move(variables);
  rule.span = rule.head_span = span;
  return rule;
}

class Rewriter {
 public:
  Rewriter(Program& program, const Analysis& analysis, lang::Session& session,
           const ExpectedRows& expected_rows)
      : program_(program), analysis_(analysis), session_(session) {
    if (program.pragmas.magic_sets == "auto") expected_rows_ = expected_rows;
  }

  Outcome rewrite(const lang::Query& query) {
    if (program_[query.pred].rules.size() != 1) return {Verdict::NotAsked, "the query has no rule"};
    const uint32_t rule_index = program_[query.pred].rules[0];
    Outcome outcome = eligible(program_.rules[rule_index]);
    if (outcome.verdict != Verdict::Applied) return outcome;
    if (expected_rows_ && rows() < kLeastRows) {
      return {Verdict::NotAsked, fmt::format("about {:.0f} rows in all are few", rows())};
    }

    begin();
    const Literal atom = program_.rules[rule_index].body[0];
    const std::string adornment = adorn(atom, {});
    const Adorned adorned = adorned_predicate(atom.pred, adornment);
    emit(make_rule(adorned.wanted, bound_arguments(atom.args, adornment), {}, {}, atom.span));
    while (!pending_.empty() && literals_ <= kMaxLiterals) {
      const Key key = std::move(pending_.front());
      pending_.pop_front();
      copy_definition(key);
    }
    if (literals_ > kMaxLiterals) {
      roll_back();
      return {Verdict::Impossible, "the rewritten rules would be too many"};
    }
    commit();
    program_.rules[rule_index].body[0].pred = adorned.copy;
    outcome.reason = adorned_names(atom.pred, adornment);
    if (!expected_rows_) return outcome;

    const std::optional<Analysis> rewritten = analyze(program_, session_);
    if (!rewritten) return outcome;  // has been reported
    const double before = rows();
    const double after = expected_rows_(program_, *rewritten);
    if (before >= after * kLeastGain) {
      rows_ = after;
      outcome.reason += fmt::format(", about {:.0f} rows instead of {:.0f}", after, before);
      return outcome;
    }
    program_.rules[rule_index].body[0].pred = atom.pred;
    take_back();
    roll_back();
    return {Verdict::NotAsked, fmt::format("{} would leave about {:.0f} of {:.0f} rows",
                                           outcome.reason, after, before)};
  }

 private:
  // ---- Who can have it ----

  // Why the predicate keeps its full relation, or nothing when its rules can be copied.
  std::string obstacle(PredId pred) const {
    const std::string name = predicate_signature(program_[pred], session_.names);
    const Component& component = analysis_.components[analysis_.component_of[pred.index]];
    if (program_[pred].rules.empty()) return fmt::format("{} has no rules", name);
    if (component.klass != ComponentClass::Determined) {
      return fmt::format("{} is {}: {}", name, spelling(component.klass), component.reason);
    }
    if (program_[pred].is_input)
      return fmt::format("{} has rules and also gets rows from a file", name);
    for (const uint32_t index : program_[pred].rules) {
      if (!program_.rules[index].aggregates.empty()) {
        return fmt::format("{} is defined by an aggregate in a head", name);
      }
    }
    return "";
  }

  bool is_followed(PredId pred) {
    const auto known = followed_.find(pred.index);
    if (known != followed_.end()) return known->second;
    return followed_[pred.index] = obstacle(pred).empty();
  }

  Outcome eligible(const Rule& rule) const {
    if (rule.body.size() != 1 || !is_plain_atom(rule.body[0])) {
      return {Verdict::NotAsked, "the query is not a single positive atom"};
    }
    const Literal& atom = rule.body[0];
    if (adorn(atom, {}).find('b') == std::string::npos) {
      const bool has_float = std::ranges::any_of(atom.args, [](const Term& arg) {
        return arg.kind == TermKind::Constant && lang::is_float(arg.type.kind);
      });
      return {Verdict::NotAsked, has_float ? "the constants of the query are floats, whose equal "
                                             "values may have other bits"
                                           : "the query has no constant"};
    }
    const bool recursive = analysis_.components[analysis_.component_of[atom.pred.index]].recursive;
    if (!recursive && !expected_rows_ && program_.pragmas.magic_sets != "on") {
      return {Verdict::NotAsked,
              fmt::format("{} is not recursive",
                          predicate_signature(program_[atom.pred], session_.names))};
    }
    std::string reason = obstacle(atom.pred);
    if (reason.empty()) return {Verdict::Applied, ""};
    return {recursive ? Verdict::Impossible : Verdict::NotAsked, std::move(reason)};
  }

  // ---- One query's work, kept or dropped as a whole ----

  void begin() {
    first_new_predicate_ = program_.predicates.size();
    literals_ = 0;
    rules_.clear();
    keys_.clear();
    pending_.clear();
  }

  void commit() {
    first_new_rule_ = program_.rules.size();
    for (Rule& rule : rules_) {
      program_[rule.head[0].pred].rules.push_back(static_cast<uint32_t>(program_.rules.size()));
      program_.rules.push_back(std::move(rule));
    }
  }

  // Earlier queries may share a predicate that has got more rules.
  void take_back() {
    while (program_.rules.size() > first_new_rule_) {
      program_[program_.rules.back().head[0].pred].rules.pop_back();
      program_.rules.pop_back();
    }
  }

  // Of the program as it stands.
  double rows() {
    if (!rows_) rows_ = expected_rows_(program_, analysis_);
    return *rows_;
  }

  void roll_back() {
    const auto is_new = [&](PredId pred) { return pred.index >= first_new_predicate_; };
    std::erase_if(adorned_, [&](const auto& entry) { return is_new(entry.second.copy); });
    std::erase_if(facts_of_, [&](const auto& entry) { return is_new(entry.second); });
    program_.predicates.erase(
        program_.predicates.begin() + static_cast<ptrdiff_t>(first_new_predicate_),
        program_.predicates.end());
  }

  void emit(Rule rule) {
    literals_ += rule.body.size() + 1;
    rules_.push_back(std::move(rule));
  }

  // "reach^bf, hop^b"; with nothing new, the copy of an earlier query.
  std::string adorned_names(PredId asked, const std::string& adornment) const {
    std::vector<Key> shown = keys_;
    if (shown.empty()) shown.emplace_back(asked.index, adornment);
    std::string text;
    for (const Key& key : shown) {
      if (!text.empty()) text += ", ";
      text += predicate_name(program_.predicates[key.first], session_.names) + "^" + key.second;
    }
    return text;
  }

  // ---- Predicates ----

  PredId add_predicate(const std::string& name, PredId original, const std::string& columns) {
    Predicate added;
    const Predicate& from = program_[original];
    added.name = session_.names.symbols.intern(name);
    added.strong_negation = from.strong_negation;
    for (size_t i = 0; i < from.columns.size(); ++i) {
      if (columns[i] == 'b') added.columns.push_back(from.columns[i]);
    }
    added.arity = static_cast<uint32_t>(added.columns.size());
    added.helper = true;
    added.module = from.module;
    added.span = from.span;
    program_.predicates.push_back(std::move(added));
    return PredId{static_cast<uint32_t>(program_.predicates.size() - 1)};
  }

  Adorned adorned_predicate(PredId pred, const std::string& adornment) {
    const Key key{pred.index, adornment};
    if (const auto known = adorned_.find(key); known != adorned_.end()) return known->second;
    const std::string name(session_.names.symbols.text(program_[pred].name));
    const std::string all(adornment.size(), 'b');
    Adorned adorned;
    adorned.copy = add_predicate(fmt::format("__xlog_{}_{}", name, adornment), pred, all);
    adorned.wanted =
        add_predicate(fmt::format("__xlog_magic_{}_{}", name, adornment), pred, adornment);
    adorned_.emplace(key, adorned);
    keys_.push_back(key);
    pending_.push_back(key);
    return adorned;
  }

  // An argument is bound when all its variables are. Floats stay free: a guard would compare bits
  // where an equation of the rule may accept -0.0 for 0.0.
  std::string adorn(const Literal& atom, const std::vector<bool>& bound) const {
    std::string adornment;
    std::vector<VarId> variables;
    for (const Term& arg : atom.args) {
      variables.clear();
      collect_variables(arg, variables);
      bool all = !lang::is_float(arg.type.kind);
      for (const VarId var : variables) all = all && var.index < bound.size() && bound[var.index];
      adornment += all ? 'b' : 'f';
    }
    return adornment;
  }

  // ---- Rules ----

  void copy_definition(const Key& key) {
    const PredId pred{key.first};
    const Adorned adorned = adorned_.at(key);
    if (program_[pred].facts != nullptr && program_[pred].facts->rows > 0) {
      emit(copy_facts(pred, adorned, key.second));
    }
    const std::vector<uint32_t> indexes = program_[pred].rules;
    for (const uint32_t index : indexes) {
      if (literals_ > kMaxLiterals) return;
      copy_rule(program_.rules[index], adorned, key.second);
    }
  }

  void copy_rule(const Rule& rule, const Adorned& adorned, const std::string& adornment) {
    const HeadElement& head = rule.head[0];
    const std::vector<Term> guard_args = bound_arguments(head.args, adornment);
    std::vector<VarId> known;
    for (const Term& arg : guard_args) collect_variables(arg, known);
    std::vector<bool> bound(rule.variables.size(), false);
    for (const VarId var : known) bound[var.index] = true;

    std::vector<Literal> body{make_atom(adorned.wanted, guard_args, head.span)};
    const BodyOrder order = order_body_given(program_, rule, analysis_.component_of, known);
    for (const uint32_t index : order.sequence) {
      Literal literal = rule.body[index];
      literal.is_assignment = false;  // the guard may bind the target: then it is a test
      if (is_plain_atom(literal)) follow(literal, bound, body, rule);
      if (literals_ > kMaxLiterals) return;
      known.clear();
      collect_bound_by(literal, known);
      for (const VarId var : known) bound[var.index] = true;
      body.push_back(std::move(literal));
    }
    Rule copy = make_rule(adorned.copy, head.args, std::move(body), rule.variables, rule.span);
    copy.head_span = rule.head_span;
    emit(std::move(copy));
  }

  // Makes the atom read the adorned copy, and says what the atom wants from it.
  void follow(Literal& atom, const std::vector<bool>& bound, const std::vector<Literal>& before,
              const Rule& rule) {
    if (!is_followed(atom.pred)) return;
    const std::string adornment = adorn(atom, bound);
    if (adornment.find('b') == std::string::npos) return;  // everything is wanted
    const Adorned adorned = adorned_predicate(atom.pred, adornment);
    atom.pred = adorned.copy;
    std::vector<Term> wanted = bound_arguments(atom.args, adornment);
    const bool says_nothing =
        before[0].pred == adorned.wanted && same_terms(before[0].args, wanted);
    if (says_nothing) return;
    emit(make_rule(adorned.wanted, std::move(wanted), before, rule.variables, atom.span));
  }

  // The facts of a predicate that has rules too. Reading the predicate itself would compute all of
  // it, so they are copied into a helper predicate once.
  Rule copy_facts(PredId pred, const Adorned& adorned, const std::string& adornment) {
    const PredId helper = facts_predicate(pred);
    const Predicate& predicate = program_[helper];
    std::vector<Variable> variables;
    std::vector<Term> args;
    for (uint32_t i = 0; i < predicate.arity; ++i) {
      Variable variable;
      variable.helper = true;
      variable.type = predicate.columns[i].type;
      variables.push_back(variable);
      Term term;
      term.kind = TermKind::Variable;
      term.var = VarId{i};
      term.type = variable.type;
      args.push_back(std::move(term));
    }
    std::vector<Literal> body;
    body.push_back(make_atom(adorned.wanted, bound_arguments(args, adornment), predicate.span));
    body.push_back(make_atom(helper, args, predicate.span));
    return make_rule(adorned.copy, std::move(args), std::move(body), std::move(variables),
                     predicate.span);
  }

  PredId facts_predicate(PredId pred) {
    if (const auto known = facts_of_.find(pred.index); known != facts_of_.end())
      return known->second;
    const std::string name(session_.names.symbols.text(program_[pred].name));
    const PredId helper = add_predicate(fmt::format("__xlog_{}_facts", name), pred,
                                        std::string(program_[pred].arity, 'b'));
    const FactTable& from = *program_[pred].facts;
    auto table = std::make_unique<FactTable>();
    table->name = program_[helper].name;
    table->strong_negation = from.strong_negation;
    table->arity = from.arity;
    table->rows = from.rows;
    table->columns.resize(from.columns.size());
    for (size_t i = 0; i < from.columns.size(); ++i) {
      FactColumn& column = table->columns[i];
      column.convert(from.columns[i].type(), session_.names);
      for (size_t row = 0; row < from.rows; ++row) column.append_typed(from.columns[i].at(row));
    }
    for (const FactTable::Run& run : from.runs) table->runs.push_back(run);
    program_[helper].facts = std::move(table);
    facts_of_.emplace(pred.index, helper);
    return helper;
  }

  Program& program_;
  const Analysis& analysis_;
  lang::Session& session_;
  std::map<Key, Adorned> adorned_;  // of all queries so far: equal adornments share their copies
  std::vector<Key> keys_;           // those of this query, in order
  std::map<uint32_t, PredId> facts_of_;
  std::map<uint32_t, bool> followed_;
  std::deque<Key> pending_;  // copies whose rules are still to be made
  std::vector<Rule> rules_;
  size_t literals_ = 0;
  size_t first_new_predicate_ = 0;
  size_t first_new_rule_ = 0;
  ExpectedRows expected_rows_;  // where there is a choice
  std::optional<double> rows_;
};

}  // namespace

std::vector<MagicDecision> apply_magic_sets(Program& program, const Analysis& analysis,
                                            lang::Session& session,
                                            const ExpectedRows& expected_rows) {
  std::vector<MagicDecision> decisions;
  const std::string mode = program.pragmas.magic_sets;
  if (mode == "off") return decisions;

  Rewriter rewriter(program, analysis, session, expected_rows);
  bool applied = false;
  bool reported = false;
  for (uint32_t i = 0; i < program.queries.size(); ++i) {
    const lang::Query& query = program.queries[i];
    Outcome outcome = rewriter.rewrite(query);
    applied = applied || outcome.verdict == Verdict::Applied;
    if (mode == "on" && outcome.verdict == Verdict::Impossible) {
      session.diagnostics.report(Code::MagicSetsDeclined, query.span,
                                 fmt::format("magic sets cannot be used here: {}", outcome.reason));
      reported = true;
    }
    decisions.push_back({i, outcome.verdict == Verdict::Applied, std::move(outcome.reason)});
  }
  // `on` beside queries that have nothing to restrict is fine as long as one query profits.
  if (mode == "on" && !applied && !reported) {
    session.diagnostics
        .report(Code::MagicSetsDeclined, program.queries.empty() ? Span{} : program.queries[0].span,
                decisions.empty()
                    ? std::string("magic sets need a query")
                    : fmt::format("magic sets cannot be used here: {}", decisions[0].reason))
        .help(
            "ask for a recursive predicate with at least one constant, or write `magic_sets = "
            "auto`");
  }
  return decisions;
}

}  // namespace xlog::logic
