#include "plan/aggregates.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "logic/binding.h"
#include "plan/relational.h"

namespace xlog::plan {

using lang::AggregateFn;
using lang::Literal;
using lang::LiteralKind;
using lang::PredId;
using lang::Rule;
using lang::Term;
using lang::TermKind;

namespace {

// Each aggregate with a value for nothing doubles the rules.
constexpr size_t kMostAggregates = 4;

// A built-in that no pipeline has.
bool is_opaque(const Literal& literal) {
  using lang::BuiltinId;
  return literal.kind == LiteralKind::Builtin &&
         (literal.builtin == BuiltinId::Findall || literal.builtin == BuiltinId::Maplist2 ||
          literal.builtin == BuiltinId::Maplist3);
}

class Expansion {
 public:
  Expansion(lang::Program& program, const logic::Analysis& analysis, lang::Session& session)
      : program_(program), analysis_(analysis), session_(session) {}

  bool run() {
    const size_t rules = program_.rules.size();
    for (uint32_t r = 0; r < rules; ++r) {
      Rule before = program_.rules[r];
      for (size_t i = 0; i < before.body.size(); ++i) {
        if (is_plain_findall(before, i)) to_aggregate(program_.rules[r], i);
      }
      if (can_expand(r)) {
        expand(r);
      } else {
        program_.rules[r] = std::move(before);
      }
    }
    return changed_;
  }

 private:
  // ---- findall ----

  // Whether it is an aggregate that gives a list: nothing but its goal groups or binds.
  static bool is_plain_findall(const Rule& rule, size_t i) {
    const Literal& literal = rule.body[i];
    if (literal.kind != LiteralKind::Builtin || literal.nots > 0) return false;
    if (literal.builtin != lang::BuiltinId::Findall) return false;
    const Term& value = literal.args[0];
    const Term& result = literal.args[1];
    if (result.type.kind != lang::TypeKind::List) return false;
    Variables inside;
    collect(literal.body, inside);
    const auto is_inside = [&](lang::VarId v) { return inside.contains(v); };
    std::vector<lang::VarId> collected, bound;
    lang::collect_variables(value, collected);
    lang::collect_variables(result, bound);
    return std::ranges::all_of(collected, is_inside) && std::ranges::none_of(bound, is_inside);
  }

  // A variable that an equation binds to the term.
  static Term named(Rule& rule, const Term& term, std::vector<Literal>& body) {
    Literal equation;
    equation.kind = LiteralKind::Compare;
    equation.span = term.span;
    equation.brings = true;
    equation.lhs.kind = TermKind::Variable;
    equation.lhs.var = {static_cast<uint32_t>(rule.variables.size())};
    equation.lhs.type = term.type;
    equation.rhs = term;
    rule.variables.push_back({{}, false, true, term.type, term.span});
    body.push_back(equation);
    return equation.lhs;
  }

  static void to_aggregate(Rule& rule, size_t i) {
    Literal literal = rule.body[i];
    literal.kind = LiteralKind::Aggregate;
    literal.aggregate = AggregateFn::Findall;
    literal.has_value = true;
    const Term value = literal.args[0], result = literal.args[1];
    literal.args.clear();
    literal.rhs = value.kind == TermKind::Variable ? value : named(rule, value, literal.body);
    literal.lhs = is_simple(result) ? result : named(rule, result, rule.body);
    rule.body[i] = std::move(literal);
  }

  // ---- which rules ----

  // Whether no solutions have a result: 0, or the empty list where nothing groups.
  static bool has_default(const Rule& rule, size_t i) {
    switch (rule.body[i].aggregate) {
      case AggregateFn::Count:
      case AggregateFn::Sum:
        return true;
      case AggregateFn::Findall:
        return group_of(rule, i).empty();
      default:
        return false;
    }
  }

  bool is_determined(PredId pred) const {
    const uint32_t c = analysis_.component_of[pred.index];
    return analysis_.components[c].klass == logic::ComponentClass::Determined;
  }

  bool is_determined(const std::vector<Literal>& body) const {
    return std::ranges::all_of(body, [&](const Literal& literal) {
      const bool fine = literal.kind != LiteralKind::Atom || is_determined(literal.pred);
      return fine && is_determined(literal.body);
    });
  }

  bool can_expand(uint32_t r) const {
    const Rule& rule = program_.rules[r];
    size_t aggregates = 0;
    for (const Literal& literal : rule.body) {
      if (literal.kind != LiteralKind::Aggregate) continue;
      ++aggregates;
      // One level: what is nested deeper stays where it is.
      for (const Literal& inner : literal.body) {
        if (inner.kind == LiteralKind::Aggregate || is_opaque(inner)) return false;
      }
    }
    if (aggregates == 0 || aggregates > kMostAggregates) return false;
    // A violated constraint is shown as it was written.
    if (rule.head_kind != lang::HeadKind::Atom || rule.annotated || rule.learnable) return false;
    if (!is_determined(rule.head[0].pred) || !is_determined(rule.body)) return false;
    for (size_t i = 0; i < rule.body.size(); ++i) {
      if (is_opaque(rule.body[i])) return false;
      if (rule.body[i].kind != LiteralKind::Aggregate) continue;
      // Two rules would fold in the head apart.
      if (has_default(rule, i) && !rule.aggregates.empty()) return false;
      if (reads_itself(rule) && !binds_all(rule, rule.body[i].body, wanted_of(rule, i)))
        return false;
      // The bits of a float that an equation computes may differ from those it is equal to.
      if (std::ranges::any_of(group_of(rule, i), [&](lang::VarId v) {
            return lang::is_float(rule.variables[v.index].type.kind);
          })) {
        return false;
      }
    }
    return true;
  }

  // Whether the helper for the groups would make the aggregate part of the recursion.
  bool reads_itself(const Rule& rule) const {
    const uint32_t component = analysis_.component_of[rule.head[0].pred.index];
    return std::ranges::any_of(rule.body, [&](const Literal& literal) {
      return literal.kind == LiteralKind::Atom &&
             analysis_.component_of[literal.pred.index] == component;
    });
  }

  // ---- variables ----

  using Variables = std::set<lang::VarId>;

  static void collect(const std::vector<Literal>& body, Variables& out) {
    for (const Literal& literal : body) {
      std::vector<lang::VarId> found;
      lang::collect_variables(literal, found);
      out.insert(found.begin(), found.end());
    }
  }

  // Variables inside the braces that stand outside of them too.
  static std::vector<lang::VarId> group_of(const Rule& rule, size_t index) {
    const Literal& aggregate = rule.body[index];
    Variables inside;
    collect(aggregate.body, inside);
    std::vector<lang::VarId> found;
    if (aggregate.has_value) lang::collect_variables(aggregate.rhs, found);
    inside.insert(found.begin(), found.end());
    Variables outside;
    for (size_t i = 0; i < rule.body.size(); ++i) {
      if (i != index) collect({rule.body[i]}, outside);
    }
    found.clear();
    lang::collect_variables(aggregate.lhs, found);
    for (const lang::HeadElement& head : rule.head) {
      for (const Term& arg : head.args) lang::collect_variables(arg, found);
    }
    for (const lang::HeadAggregate& head : rule.aggregates) {
      if (head.has_value) lang::collect_variables(head.value, found);
    }
    outside.insert(found.begin(), found.end());
    std::vector<lang::VarId> group;
    std::ranges::set_intersection(inside, outside, std::back_inserter(group));
    return group;
  }

  // Whether a body binds all of `wanted` and what its literals use, by itself.
  bool binds_all(const Rule& rule, const std::vector<Literal>& body,
                 const std::vector<lang::VarId>& wanted) const {
    const logic::Scope scope{program_, rule, analysis_.component_of, {}};
    Variables bound;
    const auto is_bound = [&](lang::VarId v) { return bound.contains(v); };
    for (size_t before = SIZE_MAX; before != bound.size();) {
      before = bound.size();
      for (const Literal& literal : body) {
        if (logic::has_braces(literal)) continue;
        const logic::Binding binding = logic::binding_of(literal, scope);
        const bool ready = std::ranges::any_of(
            binding.ways, [&](const auto& way) { return std::ranges::all_of(way, is_bound); });
        if (ready) bound.insert(binding.outputs.begin(), binding.outputs.end());
      }
    }
    Variables used(wanted.begin(), wanted.end());
    collect(body, used);
    return std::ranges::includes(bound, used);
  }

  // What the braces have to bind.
  static std::vector<lang::VarId> wanted_of(const Rule& rule, size_t index) {
    std::vector<lang::VarId> wanted = group_of(rule, index);
    const Literal& aggregate = rule.body[index];
    if (aggregate.has_value) lang::collect_variables(aggregate.rhs, wanted);
    return wanted;
  }

  // ---- rewriting ----

  Term variable(const Rule& rule, lang::VarId v) const {
    Term term;
    term.kind = TermKind::Variable;
    term.var = v;
    term.type = rule.variables[v.index].type;
    return term;
  }

  PredId add_predicate(const std::vector<lang::Type>& types, Span span) {
    lang::Predicate predicate;
    predicate.name = session_.names.symbols.intern(
        fmt::format("__xlog_aggregate_{}", program_.predicates.size()));
    predicate.arity = static_cast<uint32_t>(types.size());
    for (const lang::Type& type : types) predicate.columns.push_back({{}, type, span});
    predicate.helper = true;
    predicate.span = span;
    program_.predicates.push_back(std::move(predicate));
    return {static_cast<uint32_t>(program_.predicates.size() - 1)};
  }

  void add_rule(Rule rule) {
    const uint32_t index = static_cast<uint32_t>(program_.rules.size());
    for (const lang::HeadElement& head : rule.head) program_[head.pred].rules.push_back(index);
    program_.rules.push_back(std::move(rule));
  }

  // A rule for the groups that are asked for: what is evaluated before the aggregate.
  PredId add_context(const Rule& rule, uint32_t r, size_t index,
                     const std::vector<lang::VarId>& group) {
    Rule context = rule;
    context.origin = lang::RuleOrigin::Function;
    context.head_kind = lang::HeadKind::Atom;
    context.aggregates.clear();
    context.body.clear();
    for (uint32_t i : analysis_.orders[r].body.sequence) {
      if (i == index) break;
      context.body.push_back(rule.body[i]);
    }
    std::vector<lang::Type> types;
    lang::HeadElement head;
    for (lang::VarId v : group) {
      head.args.push_back(variable(rule, v));
      types.push_back(head.args.back().type);
    }
    head.pred = add_predicate(types, rule.span);
    context.head = {head};
    add_rule(std::move(context));
    return head.pred;
  }

  // The aggregate as a relation of groups and results.
  PredId add_aggregate(const Rule& rule, uint32_t r, size_t index,
                       const std::vector<lang::VarId>& group) {
    const Literal& literal = rule.body[index];
    Rule made = rule;
    made.origin = lang::RuleOrigin::Function;
    made.head_kind = lang::HeadKind::Atom;
    made.aggregates.clear();
    made.body = literal.body;
    // A join is worth computing only for the groups that are asked for.
    const auto atoms = std::ranges::count_if(
        literal.body, [](const Literal& inner) { return inner.kind == LiteralKind::Atom; });
    const bool selects = atoms > 1 && !group.empty() && !reads_itself(rule);
    if (selects || !binds_all(rule, literal.body, wanted_of(rule, index))) {
      Literal asked;
      asked.pred = add_context(rule, r, index, group);
      asked.span = literal.span;
      for (lang::VarId v : group) asked.args.push_back(variable(rule, v));
      made.body.insert(made.body.begin(), asked);
    }
    lang::HeadElement head;
    std::vector<lang::Type> types;
    for (lang::VarId v : group) {
      head.args.push_back(variable(rule, v));
      types.push_back(head.args.back().type);
    }
    Term dummy;
    dummy.type = literal.lhs.type;
    dummy.value.kind = dummy.type.kind;
    head.args.push_back(dummy);
    types.push_back(dummy.type);
    head.pred = add_predicate(types, literal.span);
    made.aggregates = {
        {static_cast<uint32_t>(group.size()), literal.aggregate, literal.has_value, literal.rhs}};
    made.head = {head};
    add_rule(std::move(made));
    return head.pred;
  }

  Term nothing(const lang::Type& type) {
    Term zero;
    zero.type = type;
    zero.value.kind = type.kind;
    if (type.kind == lang::TypeKind::List) zero.value = session_.names.terms.list({});
    return zero;
  }

  void expand(uint32_t r) {
    changed_ = true;
    std::vector<Rule> variants = {program_.rules[r]};
    for (size_t i = 0; i < variants[0].body.size(); ++i) {
      if (variants[0].body[i].kind != LiteralKind::Aggregate) continue;
      const Rule original = program_.rules[r];
      const Literal& aggregate = original.body[i];
      const std::vector<lang::VarId> group = group_of(original, i);
      Literal found;
      found.span = aggregate.span;
      found.pred = add_aggregate(original, r, i, group);
      for (lang::VarId v : group) found.args.push_back(variable(original, v));
      Literal absent = found;
      found.args.push_back(aggregate.lhs);
      std::vector<Rule> next;
      for (const Rule& variant : variants) {
        next.push_back(variant);
        next.back().body[i] = found;
        if (!has_default(original, i)) continue;
        Rule empty = variant;
        Literal gone = absent;
        gone.nots = 1;
        const lang::VarId any = {static_cast<uint32_t>(empty.variables.size())};
        empty.variables.push_back({{}, true, true, aggregate.lhs.type, aggregate.span});
        gone.args.push_back(variable(empty, any));
        empty.body[i] = gone;
        Literal zero;
        zero.kind = LiteralKind::Compare;
        zero.span = aggregate.span;
        zero.lhs = aggregate.lhs;
        zero.rhs = nothing(aggregate.lhs.type);
        empty.body.push_back(zero);
        next.push_back(std::move(empty));
      }
      variants = std::move(next);
    }
    // What `is` computes, the helper's atom may bring too.
    for (Rule& variant : variants) {
      for (Literal& literal : variant.body) literal.is_assignment = false;
    }
    program_.rules[r] = variants[0];
    for (size_t v = 1; v < variants.size(); ++v) add_rule(std::move(variants[v]));
  }

  lang::Program& program_;
  const logic::Analysis& analysis_;
  lang::Session& session_;
  bool changed_ = false;
};

}  // namespace

bool expand_aggregates(lang::Program& program, const logic::Analysis& analysis,
                       lang::Session& session) {
  return Expansion(program, analysis, session).run();
}

}  // namespace xlog::plan
