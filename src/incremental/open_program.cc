#include "incremental/open_program.h"

#include <fmt/format.h>

#include <algorithm>

#include "incremental/kept_program.h"
#include "logic/binding.h"
#include "logic/components.h"
#include "logic/modes.h"
#include "oracle/instantiate.h"

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
using oracle::GroundHead;
using oracle::GroundKind;

namespace {

bool reads_open(const std::vector<Literal>& body, const std::vector<bool>& open) {
  bool reads = false;
  logic::for_each_predicate(
      body, [&](const Literal& literal, const Literal*) { reads |= open[literal.pred.index]; });
  return reads;
}

bool is_open(const Rule& rule, const std::vector<bool>& open) {
  return rule.head_kind == HeadKind::Choice || reads_open(rule.body, open) ||
         std::ranges::any_of(rule.head,
                             [&](const HeadElement& head) { return open[head.pred.index]; });
}

// A constraint that is the same in all worlds, but cannot be counted by itself.
bool is_folding_constraint(const Rule& rule) {
  return rule.head.empty() && std::ranges::any_of(rule.body, [](const Literal& literal) {
           return !literal.body.empty() || literal.kind == LiteralKind::Aggregate ||
                  (literal.kind == LiteralKind::Builtin && literal.pred.valid());
         });
}

bool is_replaced(const Rule& rule, const std::vector<bool>& open) {
  return is_open(rule, open) || is_folding_constraint(rule);
}

bool is_partial(const std::optional<Term>& term) { return term && may_have_no_value(*term); }

std::string why_not_kept(const Rule& rule, const logic::Analysis& analysis,
                         const std::vector<bool>& open) {
  std::string reason = why_not_expanded(rule, analysis, open);
  if (!reason.empty()) return reason;
  if (rule.head_kind == HeadKind::Choice && rule.head.empty()) return "a choice among nothing";
  if (is_partial(rule.lower) || is_partial(rule.upper)) {
    return "a bound of a choice that may have no value";
  }
  return "";
}

class Rewriter {
 public:
  Rewriter(lang::Program& program, const logic::Analysis& analysis,
           const logic::AnswerOptions& options, lang::Session& session, std::vector<OpenFold> folds)
      : program_(program), analysis_(analysis), session_(session) {
    made_.kept = true;
    made_.open = open_predicates(program, analysis, options);
    made_.folds = std::move(folds);
    for (const OpenFold& fold : made_.folds) {
      if (fold.groups.valid()) made_.open[fold.groups.index] = false;
    }
  }

  OpenProgram run() {
    const auto rules = static_cast<uint32_t>(program_.rules.size());
    std::vector<Rule> certain = certain_rules();
    for (uint32_t r = 0; r < rules; ++r) {
      if (is_replaced(program_.rules[r], made_.open)) replace(r);
    }
    for (Rule& rule : certain) program_.rules.push_back(std::move(rule));
    for (lang::Predicate& predicate : program_.predicates) predicate.rules.clear();
    for (uint32_t r = 0; r < program_.rules.size(); ++r) {
      for (const HeadElement& head : program_.rules[r].head) {
        program_[head.pred].rules.push_back(r);
      }
    }
    made_.open.resize(program_.predicates.size(), false);
    return std::move(made_);
  }

 private:
  bool is_open_atom(const Literal& literal) const {
    return literal.kind == LiteralKind::Atom && made_.open[literal.pred.index];
  }

  static bool is_positive(const Literal& literal) {
    return literal.modal == Modal::None && literal.nots == 0;
  }

  // ---- bodies ----

  static Literal as_row(Literal literal) {
    literal.modal = Modal::None;
    literal.nots = 0;
    return literal;
  }

  // What an instance needs: the rows that may hold of all that is not negated.
  void add_needed(const std::vector<Literal>& body, std::vector<Literal>& out) const {
    for (const Literal& literal : body) {
      if (!is_open_atom(literal)) {
        out.push_back(literal);
      } else if (!is_negative(literal)) {
        out.push_back(as_row(literal));
      }
    }
  }

  // What its head needs to be one that may hold.
  void add_possible(const std::vector<Literal>& body, uint32_t component,
                    std::vector<Literal>& out) const {
    for (const Literal& literal : body) {
      const bool own = is_open_atom(literal) && !is_positive(literal) &&
                       !logic::follows_derivation(literal.modal, program_.pragmas) &&
                       analysis_.component_of[literal.pred.index] == component;
      if (!own) add_needed({literal}, out);
    }
  }

  // ---- what certainly holds ----

  // By predicate: the one with its certain rows, in the order in which they were asked for.
  PredId certain_of(PredId pred) {
    const auto found = std::ranges::find(certain_, pred, &std::pair<PredId, PredId>::first);
    if (found != certain_.end()) return found->second;
    certain_.emplace_back(pred, add_like(pred, "certain"));
    return certain_.back().second;
  }

  PredId add_like(PredId pred, std::string_view kind) {
    lang::Predicate predicate;
    predicate.name = session_.names.symbols.intern(
        fmt::format("__xlog_{}_{}", kind, program_.predicates.size()));
    predicate.arity = program_[pred].arity;
    predicate.columns = program_[pred].columns;
    predicate.helper = true;
    predicate.span = program_[pred].span;
    program_.predicates.push_back(std::move(predicate));
    return {static_cast<uint32_t>(program_.predicates.size() - 1)};
  }

  std::vector<Rule> certain_rules() {
    for (OpenFold& fold : made_.folds) {
      if (made_.open[fold.fold.index]) fold.certain_element = certain_of(fold.element);
    }
    std::vector<Rule> rules;
    for (size_t i = 0; i < certain_.size(); ++i) {
      const auto [pred, certain] = certain_[i];
      const auto fold = std::ranges::find(made_.folds, pred, &OpenFold::fold);
      if (fold != made_.folds.end()) fold->certain_fold = certain;
      if (!program_[pred].helper) rules.push_back(stated_rule(pred, certain));
      for (const Rule& rule : program_.rules) {
        // How often arithmetic without a value is met, others say.
        const bool derives = rule.head_kind == HeadKind::Atom && rule.head[0].pred == pred &&
                             rule.aggregates.empty() && !may_have_no_value(rule);
        if (derives) rules.push_back(certain_rule(rule, certain));
      }
    }
    return rules;
  }

  // What is derived from what certainly holds, and from what cannot.
  Rule certain_rule(const Rule& rule, PredId certain) {
    std::vector<Literal> body;
    for (const Literal& literal : rule.body) {
      Literal& made = body.emplace_back(literal);
      if (!is_open_atom(literal)) continue;
      made = as_row(literal);
      if (is_negative(literal)) {
        made.nots = 1;
      } else {
        made.pred = certain_of(literal.pred);
      }
    }
    HeadElement head = rule.head[0];
    head.pred = certain;
    return plain_rule(rule, std::move(head), std::move(body));
  }

  Rule stated_rule(PredId pred, PredId certain) {
    const PredId stated = add_like(pred, "stated");
    made_.stated.emplace(pred, stated);
    Rule rule;
    rule.span = program_[pred].span;
    HeadElement head;
    head.pred = certain;
    for (const lang::PredicateColumn& column : program_[pred].columns) {
      Term& term = head.args.emplace_back();
      term.kind = TermKind::Variable;
      term.var = {static_cast<uint32_t>(rule.variables.size())};
      term.type = column.type;
      rule.variables.push_back({{}, false, true, column.type, rule.span});
    }
    Literal literal;
    literal.pred = stated;
    literal.args = head.args;
    literal.span = rule.span;
    return plain_rule(rule, std::move(head), {std::move(literal)});
  }

  // ---- instances ----

  // The columns of an instance's row.
  struct Columns {
    std::vector<Term> terms;

    Place place(const Term& term, const lang::PredicateColumn& column) {
      Place place;
      place.kind = column.type.kind;
      if (term.kind == TermKind::Constant) {
        place.value = term.value;
        return place;
      }
      for (uint32_t c = 0; c < terms.size() && term.kind == TermKind::Variable; ++c) {
        if (terms[c].kind == TermKind::Variable && terms[c].var == term.var) place.column = c;
      }
      if (!place.column) {
        place.column = static_cast<uint32_t>(terms.size());
        terms.push_back(term);
        terms.back().type = column.type;
      }
      return place;
    }
  };

  Mention mention(PredId pred, const std::vector<Term>& args, Columns& columns) const {
    Mention made;
    made.pred = pred;
    for (size_t c = 0; c < args.size(); ++c) {
      made.args.push_back(columns.place(args[c], program_[pred].columns[c]));
    }
    return made;
  }

  void add_mentions(const std::vector<Literal>& body, Columns& columns,
                    std::vector<Mention>& out) const {
    for (const Literal& literal : body) {
      if (!is_open_atom(literal)) continue;
      Mention& made = out.emplace_back(mention(literal.pred, literal.args, columns));
      made.modal = literal.modal;
      made.kind = literal.modal != Modal::None ? GroundKind::Modal
                  : literal.nots == 0          ? GroundKind::Pos
                  : literal.nots == 1          ? GroundKind::Neg
                                               : GroundKind::NotNot;
    }
  }

  // The rule that has the instances as its rows.
  Rule instance_rule(const Rule& rule, const Columns& columns, std::vector<Literal> body,
                     InstanceTable& table) {
    lang::Predicate predicate;
    predicate.name = session_.names.symbols.intern(
        fmt::format("__xlog_instance_{}", program_.predicates.size()));
    predicate.arity = static_cast<uint32_t>(columns.terms.size());
    predicate.helper = true;
    predicate.span = rule.span;
    for (const Term& term : columns.terms) predicate.columns.push_back({{}, term.type, rule.span});
    table.table = static_cast<uint32_t>(program_.predicates.size());
    program_.predicates.push_back(std::move(predicate));
    HeadElement head;
    head.pred = {table.table};
    head.args = columns.terms;
    Rule made = plain_rule(rule, std::move(head), std::move(body));
    for (const Term& term : columns.terms) {
      std::vector<lang::VarId> shown;
      lang::collect_variables(term, shown);
      for (const lang::VarId v : shown) made.variables[v.index].anonymous = false;
    }
    return made;
  }

  static Rule plain_rule(const Rule& rule, HeadElement head, std::vector<Literal> body) {
    Rule made = rule;
    made.origin = lang::RuleOrigin::Function;
    made.head_kind = HeadKind::Atom;
    made.aggregates.clear();
    made.lower.reset();
    made.upper.reset();
    head.condition.clear();
    made.head = {std::move(head)};
    made.body = std::move(body);
    return made;
  }

  // The row that a rule gives, as an atom.
  static Literal row_of(const Rule& rule) {
    Literal literal;
    literal.pred = rule.head[0].pred;
    literal.args = rule.head[0].args;
    literal.span = rule.span;
    return literal;
  }

  // A rule whose rows may hold: of the instances where that is all the same.
  Rule possible_rule(const Rule& rule, const HeadElement& head, const Rule& instances) const {
    const uint32_t component = analysis_.component_of[head.pred.index];
    std::vector<Literal> body;
    if (analysis_.components[component].recursive) {
      add_possible(rule.body, component, body);
      add_possible(head.condition, component, body);
    } else {
      body.push_back(row_of(instances));
    }
    return plain_rule(rule, head, std::move(body));
  }

  void replace(uint32_t r) {
    const Rule rule = program_.rules[r];
    std::vector<Rule> rules;
    if (rule.head_kind == HeadKind::Choice) {
      replace_choice(r, rule, rules);
    } else if (!rule.aggregates.empty()) {
      replace_fold(r, rule, rules);
    } else if (is_group_of_fold(rule)) {
      std::vector<Literal> body;
      add_needed(rule.body, body);
      rules.push_back(plain_rule(rule, rule.head[0], std::move(body)));
    } else if (rule.origin == lang::RuleOrigin::Query && shows_rows(rule)) {
      rules.push_back(plain_rule(rule, rule.head[0], rule.body));
    } else {
      InstanceTable& table = made_.tables.emplace_back();
      table.rule = r;
      table.head = rule.head.empty()       ? GroundHead::Constraint
                   : rule.head.size() == 1 ? GroundHead::Normal
                                           : GroundHead::Disjunction;
      Columns columns;
      for (const HeadElement& head : rule.head) {
        table.heads.push_back(mention(head.pred, head.args, columns));
      }
      add_mentions(rule.body, columns, table.body);
      std::vector<Literal> body;
      add_needed(rule.body, body);
      rules.push_back(instance_rule(rule, columns, std::move(body), table));
      for (const HeadElement& head : rule.head) {
        Rule possible = possible_rule(rule, head, rules.front());
        rules.push_back(std::move(possible));
      }
    }
    program_.rules[r] = std::move(rules.front());
    for (size_t i = 1; i < rules.size(); ++i) program_.rules.push_back(std::move(rules[i]));
  }

  // ---- folds ----

  bool is_group_of_fold(const Rule& rule) const {
    return !rule.head.empty() &&
           std::ranges::count(made_.folds, rule.head[0].pred, &OpenFold::groups) > 0;
  }

  // The rule of a fold stays for what is read, the groups too; its rows are found apart.
  void replace_fold(uint32_t r, const Rule& rule, std::vector<Rule>& rules) {
    InstanceTable table;
    table.rule = r;
    table.head = GroundHead::Normal;
    OpenFold& fold = *std::ranges::find(made_.folds, rule.head[0].pred, &OpenFold::fold);
    rules.push_back(rule);
    Columns columns;
    columns.terms.assign(rule.head[0].args.begin(),
                         rule.head[0].args.begin() + static_cast<ptrdiff_t>(fold.group_columns));
    if (!fold.groups.valid()) {
      rules.push_back(instance_rule(rule, columns, rule.body, table));
      fold.groups = {table.table};
    }
    table.table = fold.groups.index;
    table.fold = fold;
    Literal read = rule.body[0];
    read.pred = fold.certain_element;
    rules.front().body.push_back(read);
    read.pred = fold.groups;
    read.args = columns.terms;
    rules.front().body.push_back(std::move(read));
    if (fold.certain_fold.valid()) {
      rules.push_back(rules.front());
      rules.back().head[0].pred = fold.certain_fold;
    }
    made_.tables.push_back(std::move(table));
  }

  void replace_choice(uint32_t r, Rule rule, std::vector<Rule>& rules) {
    const bool bounded = rule.lower || rule.upper;
    for (std::optional<Term>* bound : {&rule.lower, &rule.upper}) {
      const bool computed =
          *bound && (*bound)->kind != TermKind::Variable && (*bound)->kind != TermKind::Constant;
      if (computed) *bound = named(rule, **bound, rule.body);
    }
    // What arithmetic meets in the body does not depend on the conditions.
    const bool apart = bounded || may_have_no_value(rule);
    Columns shared;
    std::vector<Mention> body_mentions;
    std::vector<Literal> needed;
    add_mentions(rule.body, shared, body_mentions);
    add_needed(rule.body, needed);
    if (apart) share_variables(rule, shared);
    const auto bound = static_cast<uint32_t>(made_.tables.size());
    if (apart) {
      InstanceTable table;
      table.rule = r;
      table.head = GroundHead::Constraint;
      table.body = body_mentions;
      if (rule.lower) table.lower = bound_place(*rule.lower, shared);
      if (rule.upper) table.upper = bound_place(*rule.upper, shared);
      for (uint32_t e = 0; e < rule.head.size(); ++e) table.elements.push_back(bound + 1 + e);
      rules.push_back(instance_rule(rule, shared, std::move(needed), table));
      needed = {row_of(rules.back())};
      if (bounded) made_.tables.push_back(std::move(table));
    }
    for (const HeadElement& head : rule.head) {
      InstanceTable table;
      table.rule = r;
      table.head = GroundHead::Choice;
      Columns columns = shared;
      table.body_columns = static_cast<uint32_t>(columns.terms.size());
      table.body_mentions = static_cast<uint32_t>(body_mentions.size());
      if (bounded) table.bound = bound;
      table.body = body_mentions;
      add_mentions(head.condition, columns, table.body);
      table.heads.push_back(mention(head.pred, head.args, columns));
      std::vector<Literal> body = needed;
      add_needed(head.condition, body);
      Rule instances = instance_rule(rule, columns, std::move(body), table);
      Rule possible = possible_rule(rule, head, instances);
      rules.push_back(std::move(instances));
      rules.push_back(std::move(possible));
      made_.tables.push_back(std::move(table));
    }
  }

  // The elements of one instance of the body agree in all that the body binds.
  void share_variables(const Rule& rule, Columns& columns) const {
    for (const Literal& literal : rule.body) {
      std::vector<lang::VarId> found;
      logic::collect_outside(literal, found);
      for (const lang::VarId v : found) {
        if (rule.variables[v.index].anonymous) continue;
        Term term;
        term.kind = TermKind::Variable;
        term.var = v;
        term.type = rule.variables[v.index].type;
        columns.place(term, {{}, term.type, rule.span});
      }
    }
  }

  Place bound_place(const Term& term, Columns& columns) const {
    return columns.place(term, {{}, term.type, term.span});
  }

  lang::Program& program_;
  const logic::Analysis& analysis_;
  lang::Session& session_;
  OpenProgram made_;
  std::vector<std::pair<PredId, PredId>> certain_;
};

}  // namespace

std::vector<bool> open_predicates(const lang::Program& program, const logic::Analysis& analysis,
                                  const logic::AnswerOptions& options) {
  std::vector<bool> open;
  for (uint32_t p = 0; p < program.predicates.size(); ++p) {
    const logic::Component& component = analysis.components[analysis.component_of[p]];
    open.push_back(!oracle::is_settled(component, options));
  }
  return open;
}

bool shows_rows(const Rule& rule) {
  if (rule.body.size() != 1 || !rule.aggregates.empty() || rule.head.size() != 1) return false;
  const Literal& literal = rule.body[0];
  if (literal.kind != LiteralKind::Atom || literal.nots != 0 || literal.modal != Modal::None) {
    return false;
  }
  const std::vector<Term>& shown = rule.head[0].args;
  if (shown.size() != literal.args.size()) return false;
  std::vector<lang::VarId> seen;
  for (size_t i = 0; i < shown.size(); ++i) {
    const Term& read = literal.args[i];
    if (shown[i].kind != TermKind::Variable || read.kind != TermKind::Variable) return false;
    if (shown[i].var != read.var || std::ranges::count(seen, read.var) > 0) return false;
    seen.push_back(read.var);
  }
  return true;
}

std::string why_worlds_are_not_kept(const lang::Program& program, const logic::Analysis& analysis,
                                    const logic::AnswerOptions& options) {
  const std::vector<bool> open = open_predicates(program, analysis, options);
  if (std::ranges::count(open, true) == 0) return "nothing is open";
  if (options.ask != logic::Ask::Views) return "rows over all world views are asked for";
  if (options.max_worlds > 0 && !options.well_founded) return "worlds are listed";
  if (options.enough_views > 0) return "a search that ends early is asked for";
  for (const Rule& rule : program.rules) {
    if (!is_replaced(rule, open)) continue;
    std::string reason = why_not_kept(rule, analysis, open);
    if (!reason.empty()) return reason;
  }
  return "";
}

OpenProgram keep_open_rules(lang::Program& program, const logic::Analysis& analysis,
                            const logic::AnswerOptions& options, lang::Session& session,
                            std::vector<OpenFold> folds) {
  return Rewriter(program, analysis, options, session, std::move(folds)).run();
}

}  // namespace xlog::incremental
