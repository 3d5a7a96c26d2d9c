#include "plan/host_tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "logic/binding.h"
#include "logic/components.h"
#include "plan/patterns.h"
#include "plan/relational.h"

namespace xlog::plan {

using lang::BuiltinId;
using lang::CompareOp;
using lang::Literal;
using lang::LiteralKind;
using lang::PredId;
using lang::Rule;
using lang::Term;
using lang::TermKind;
using lang::Type;
using lang::TypeKind;

namespace {

// A list and all its rests hold about half the square of its elements.
constexpr double kMostSquares = 1 << 26;

std::string_view word(HostTableKind kind) {
  switch (kind) {
    case HostTableKind::Rank:
      return "rank";
    case HostTableKind::Cons:
      return "cons";
    case HostTableKind::Member:
      return "member";
    case HostTableKind::Nth:
      return "nth";
    case HostTableKind::Length:
      return "length";
  }
  return "";
}

Term number(uint32_t value) {
  Term term;
  term.value = lang::Value::u32(value);
  term.type.kind = TypeKind::U32;
  return term;
}

class TableUse {
 public:
  TableUse(lang::Program& program, const logic::Analysis& analysis, lang::Session& session)
      : program_(program),
        analysis_(analysis),
        session_(session),
        off_(program.predicates.size(), false),
        makes_lists_(program.predicates.size(), false) {
    lists_grow_ = std::ranges::any_of(program.rules, [](const Rule& rule) {
      return std::ranges::any_of(rule.aggregates,
                                 [](const auto& a) { return a.fn == lang::AggregateFn::Findall; });
    });
    double squares = 0;
    const lang::TermTable& terms = session.names.terms;
    for (uint32_t id = 0; id < terms.size(); ++id) {
      if (!terms.is_list(id)) continue;
      const double length = static_cast<double>(terms.elements({TypeKind::List, id}).size());
      squares += length * length;
    }
    lists_are_short_ = squares <= kMostSquares;
  }

  std::vector<HostTable> run(bool well_founded) {
    for (component_ = 0; component_ < analysis_.components.size(); ++component_) {
      const logic::Component& component = analysis_.components[component_];
      const bool determined = component.klass == logic::ComponentClass::Determined;
      if (determined && rewrite(component)) continue;
      if (!determined && well_founded) lift(component);
      for (PredId pred : component.predicates) off_[pred.index] = true;
    }
    return std::move(tables_);
  }

  bool changed() const { return changed_; }

 private:
  // What a rewriting has to take back.
  struct Before {
    size_t predicates;
    std::vector<HostTable> tables;
    std::map<std::tuple<HostTableKind, std::string, uint32_t>, PredId> by_use;
    std::vector<Rule> rules;
  };
  Before remember(const logic::Component& component) const {
    Before before{program_.predicates.size(), tables_, by_use_, {}};
    for (uint32_t r : component.rules) before.rules.push_back(program_.rules[r]);
    return before;
  }
  void restore(const logic::Component& component, const Before& before) {
    for (size_t i = 0; i < before.rules.size(); ++i) {
      program_.rules[component.rules[i]] = before.rules[i];
    }
    program_.predicates.erase(
        program_.predicates.begin() + static_cast<ptrdiff_t>(before.predicates),
        program_.predicates.end());
    tables_ = before.tables;
    by_use_ = before.by_use;
  }

  // Whether a component can run on the device, with its rules as they are now. A table knows the
  // lists that there are before a component starts; where some are made, by its own rules or below,
  // the host takes them apart one by one.
  bool rewrite(const logic::Component& component) {
    bool sees_made = false;
    for (PredId pred : component.predicates) {
      for (const logic::Edge& edge : logic::edges_to(analysis_.edges, pred)) {
        if (off_[edge.from.index]) return false;
        sees_made |= makes_lists_[edge.from.index];
      }
    }
    const Before before = remember(component);
    has_list_tables_ = !sees_made;
    std::vector<Rule> helpers = rewrite_rules(component);
    const bool makes = sees_made || std::ranges::any_of(component.rules, [&](uint32_t r) {
                         return makes_lists(program_.rules[r]);
                       });
    if (makes && has_list_tables_) {
      restore(component, before);
      has_list_tables_ = false;
      helpers = rewrite_rules(component);
    }
    if (why_not_relational(program_, component)) {
      restore(component, before);
      return false;
    }
    for (PredId pred : component.predicates) makes_lists_[pred.index] = makes;
    add(std::move(helpers));
    return true;
  }

  std::vector<Rule> rewrite_rules(const logic::Component& component) {
    for (uint32_t r : component.rules) rewrite(program_.rules[r], analysis_.orders[r]);
    return lift_rules(component);
  }

  std::vector<Rule> lift_rules(const logic::Component& component) {
    std::vector<Rule> helpers;
    for (uint32_t r : component.rules) {
      changed_ |= lift_patterns(program_.rules[r], program_, session_, helpers);
    }
    return helpers;
  }

  // Who evaluates the component is not known yet, so it reads no tables.
  void lift(const logic::Component& component) {
    const Before before = remember(component);
    std::vector<Rule> helpers = lift_rules(component);
    if (why_not_relational(program_, component)) return restore(component, before);
    add(std::move(helpers));
  }

  void add(std::vector<Rule> helpers) {
    for (Rule& helper : helpers) {
      const uint32_t index = static_cast<uint32_t>(program_.rules.size());
      program_[helper.head[0].pred].rules.push_back(index);
      program_.rules.push_back(std::move(helper));
    }
  }

  // Whether the host gives values that are lists, or have some inside.
  bool makes_lists(const Rule& rule) const {
    const logic::Scope scope{program_, rule, analysis_.component_of, logic::visible_in_body(rule)};
    return std::ranges::any_of(rule.body, [&](const Literal& literal) {
      if (literal.kind == LiteralKind::Atom || !needs_host(literal)) return false;
      return std::ranges::any_of(logic::binding_of(literal, scope).outputs, [&](lang::VarId v) {
        return lang::type_class(rule.variables[v.index].type.kind) == lang::TypeClass::Structured;
      });
    });
  }

  // What cannot be rewritten stays as it is: the rule is no pipeline.
  void rewrite(Rule& rule, const logic::RuleOrder& order) {
    rule_ = &rule;
    std::vector<Literal> body = std::move(rule.body);
    rule.body.clear();
    const std::vector<bool> is_matched = matched_equations(body, order);
    for (size_t i = 0; i < body.size(); ++i) {
      Literal& literal = body[i];
      span_ = literal.span;
      switch (literal.kind) {
        case LiteralKind::Atom:
          atom(literal);
          break;
        case LiteralKind::Compare:
          compare(literal, is_matched[i]);
          break;
        case LiteralKind::Builtin:
          builtin(literal);
          break;
        case LiteralKind::Aggregate:
          rule.body.push_back(std::move(literal));
          break;
      }
    }
    for (lang::HeadAggregate& aggregate : rule.aggregates) {
      if (aggregate.has_value) choices(aggregate.value);
    }
    if (rule.body.size() == body.size()) return;
    // What `is` computes, a table may bring too.
    for (Literal& literal : rule.body) literal.is_assignment = false;
  }

  // ---- tables ----

  void look_up(HostTableKind kind, const Type& element, std::vector<Term> args, uint8_t nots = 0) {
    const bool shared = kind == HostTableKind::Rank || !lists_grow_;
    const auto use = std::tuple(kind, lang::to_string(element), shared ? 0 : component_);
    auto found = by_use_.find(use);
    if (found == by_use_.end()) {
      lang::Predicate predicate;
      predicate.name = session_.names.symbols.intern(
          fmt::format("__xlog_{}_{}", word(kind), program_.predicates.size()));
      predicate.arity = static_cast<uint32_t>(args.size());
      for (const Term& arg : args) predicate.columns.push_back({{}, arg.type, span_});
      predicate.helper = true;
      predicate.span = span_;
      const PredId pred{static_cast<uint32_t>(program_.predicates.size())};
      program_.predicates.push_back(std::move(predicate));
      tables_.push_back({kind, element.kind, pred, shared});
      changed_ = true;
      found = by_use_.emplace(use, pred).first;
    }
    Literal literal;
    literal.pred = found->second;
    literal.nots = nots;
    literal.span = span_;
    literal.args = std::move(args);
    rule_->body.push_back(std::move(literal));
  }

  Term fresh(const Type& type) {
    Term term;
    term.kind = TermKind::Variable;
    term.var = {static_cast<uint32_t>(rule_->variables.size())};
    term.type = type;
    term.span = span_;
    rule_->variables.push_back({{}, false, true, type, span_});
    return term;
  }

  bool is_anonymous(const Term& term) const {
    return term.kind == TermKind::Variable && rule_->variables[term.var.index].anonymous;
  }

  // ---- the order of symbols ----

  bool orders_symbols(CompareOp op, const Term& a, const Term& b) const {
    return op != CompareOp::Eq && op != CompareOp::Ne && a.type.kind == TypeKind::Symbol &&
           is_simple(a) && is_simple(b);
  }

  void replace_by_rank(Term& term) {
    Term rank = fresh(number(0).type);
    look_up(HostTableKind::Rank, term.type, {term, rank});
    term = std::move(rank);
  }

  // `if X < Y then ... else ...` inside a term.
  void choices(Term& term) {
    for (Term& arg : term.args) choices(arg);
    if (term.kind != TermKind::Arith || term.op != lang::ArithOp::If) return;
    if (!orders_symbols(term.compare, term.args[0], term.args[1])) return;
    replace_by_rank(term.args[0]);
    replace_by_rank(term.args[1]);
  }

  void compare(Literal& literal, bool is_matched) {
    if (is_matched) {
      const bool left = literal.lhs.kind == TermKind::List;
      const Term& pattern = left ? literal.lhs : literal.rhs;
      if (can_match(pattern)) return match(left ? literal.rhs : literal.lhs, pattern);
    }
    choices(literal.lhs);
    choices(literal.rhs);
    if (orders_symbols(literal.op, literal.lhs, literal.rhs)) {
      replace_by_rank(literal.lhs);
      replace_by_rank(literal.rhs);
    }
    rule_->body.push_back(std::move(literal));
  }

  // ---- lists ----

  // By literal: an equation of a list that is known when it is evaluated, and a pattern.
  static std::vector<bool> matched_equations(const std::vector<Literal>& body,
                                             const logic::RuleOrder& order) {
    std::vector<bool> matched(body.size(), false);
    std::vector<lang::VarId> bound;
    for (uint32_t i : order.body.sequence) {
      const Literal& literal = body[i];
      const bool left = literal.lhs.kind == TermKind::List;
      const Term& whole = left ? literal.rhs : literal.lhs;
      const bool equation = literal.kind == LiteralKind::Compare && literal.op == CompareOp::Eq;
      matched[i] = equation && (left || literal.rhs.kind == TermKind::List) &&
                   (whole.kind == TermKind::Constant ||
                    (whole.kind == TermKind::Variable &&
                     std::ranges::find(bound, whole.var) != bound.end()));
      lang::collect_variables(literal, bound);
    }
    return matched;
  }

  // An equation chooses the bits of a float that a list has; an atom brings them.
  bool has_table(const Type& list) const {
    return has_list_tables_ && list.kind == TypeKind::List &&
           list.element->kind != TypeKind::Term && !lang::is_float(list.element->kind);
  }

  bool can_match(const Term& pattern) const {
    if (is_simple(pattern)) return true;
    if (pattern.kind != TermKind::List || !has_table(pattern.type)) return false;
    if (names_rest(pattern) && !lists_are_short_) return false;
    return std::ranges::all_of(pattern.args, [&](const Term& arg) { return can_match(arg); });
  }

  bool names_rest(const Term& pattern) const {
    return pattern.has_tail && !is_anonymous(pattern.args.back());
  }

  // A part of a pattern as a variable or a constant; what it must match itself is left for later.
  Term part(const Term& term, std::vector<std::pair<Term, Term>>& later) {
    if (is_simple(term)) return term;
    later.emplace_back(fresh(term.type), term);
    return later.back().first;
  }

  void match(const Term& list, const Term& pattern) {
    const Type& element = *pattern.type.element;
    const uint32_t heads =
        static_cast<uint32_t>(pattern.args.size()) - (pattern.has_tail ? 1u : 0u);
    std::vector<std::pair<Term, Term>> later;
    Term rest = list;
    if (!pattern.has_tail) look_up(HostTableKind::Length, element, {list, number(heads)});
    for (uint32_t i = 0; i < heads; ++i) {
      const bool is_last = i + 1 == heads;
      if (names_rest(pattern)) {
        const Term next = is_last ? part(pattern.args.back(), later) : fresh(pattern.type);
        look_up(HostTableKind::Cons, element, {rest, part(pattern.args[i], later), next});
        rest = next;
      } else if (!is_anonymous(pattern.args[i]) || (is_last && pattern.has_tail)) {
        look_up(HostTableKind::Nth, element, {list, number(i), part(pattern.args[i], later)});
      }
    }
    for (const auto& [inner, term] : later) match(inner, term);
  }

  void atom(Literal& literal) {
    const bool positive = literal.nots == 0 && literal.modal == lang::Modal::None;
    std::vector<std::pair<Term, Term>> patterns;
    for (Term& arg : literal.args) {
      if (!positive || arg.kind != TermKind::List || !can_match(arg)) continue;
      arg = part(Term(arg), patterns);
    }
    rule_->body.push_back(std::move(literal));
    for (const auto& [list, pattern] : patterns) match(list, pattern);
  }

  void builtin(Literal& literal) {
    std::vector<Term>& args = literal.args;
    if (!std::ranges::all_of(args, is_simple)) {
      rule_->body.push_back(std::move(literal));
      return;
    }
    switch (literal.builtin) {
      case BuiltinId::Member:
      case BuiltinId::MemberCheck:
        if (!has_table(args[1].type)) break;
        return look_up(HostTableKind::Member, *args[1].type.element, {args[1], args[0]},
                       literal.nots);
      case BuiltinId::Length:
        if (!has_table(args[0].type)) break;
        return look_up(HostTableKind::Length, *args[0].type.element, {args[0], args[1]},
                       literal.nots);
      case BuiltinId::Nth:
        if (!has_table(args[1].type)) break;
        return look_up(HostTableKind::Nth, *args[1].type.element, {args[1], args[0], args[2]},
                       literal.nots);
      default:
        break;
    }
    rule_->body.push_back(std::move(literal));
  }

  lang::Program& program_;
  const logic::Analysis& analysis_;
  lang::Session& session_;
  std::vector<bool> off_;          // by predicate: not on the device
  std::vector<bool> makes_lists_;  // the same: it, or what it reads
  bool has_list_tables_ = true;    // the present component
  bool changed_ = false;
  bool lists_grow_ = false;
  bool lists_are_short_ = true;
  uint32_t component_ = 0;
  Rule* rule_ = nullptr;
  Span span_;
  std::vector<HostTable> tables_;
  std::map<std::tuple<HostTableKind, std::string, uint32_t>, PredId> by_use_;
};

}  // namespace

std::vector<HostTable> use_host_tables(lang::Program& program, const logic::Analysis& analysis,
                                       lang::Session& session, bool well_founded, bool& changed) {
  TableUse use(program, analysis, session);
  std::vector<HostTable> tables = use.run(well_founded);
  changed = use.changed();
  return tables;
}

}  // namespace xlog::plan
