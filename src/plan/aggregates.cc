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

// Rules of which there are two, one for each of two cases: so often is one rule divided.
constexpr size_t kMostDoublings = 2;

class Expansion {
 public:
  Expansion(lang::Program& program, const logic::Analysis& analysis, lang::Session& session)
      : program_(program), analysis_(analysis), session_(session) {}

  bool run() {
    const size_t rules = program_.rules.size();
    for (uint32_t r = 0; r < rules; ++r) {
      if (may_expand(program_.rules[r])) expand(r);
    }
    return changed_;
  }

 private:
  // The rule as it becomes while its aggregates are replaced. What is added to its body belongs to
  // an aggregate each.
  struct Variant {
    Rule rule;
    std::vector<size_t> owners;  // by literal that was added
  };

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

  static void to_aggregate(Variant& variant, size_t i) {
    Rule& rule = variant.rule;
    Literal literal = rule.body[i];
    literal.kind = LiteralKind::Aggregate;
    literal.aggregate = AggregateFn::Findall;
    literal.has_value = true;
    const Term value = literal.args[0], result = literal.args[1];
    literal.args.clear();
    literal.rhs = value.kind == TermKind::Variable ? value : named(rule, value, literal.body);
    literal.lhs = is_simple(result) ? result : named(rule, result, rule.body);
    if (!is_simple(result)) variant.owners.push_back(i);
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

  bool may_expand(const Rule& rule) const {
    return std::ranges::any_of(rule.body, logic::has_braces) &&
           rule.head_kind == lang::HeadKind::Atom && !rule.annotated && !rule.learnable &&
           is_determined(rule.head[0].pred);
  }

  // Where solutions are missing: nothing has a result, or two rules say what follows from one, or
  // the result for nothing is a row of a relation of results.
  enum class Nothing : uint8_t { NoResult, Doubles, Row };

  // How an aggregate becomes a relation; nothing where the host has to fold.
  std::optional<Nothing> way_of(const Rule& rule, size_t i, size_t doublings) const {
    const std::vector<lang::VarId> group = group_of(rule, i);
    // The bits of a float that an equation computes may differ from those it is equal to.
    if (std::ranges::any_of(group, [&](lang::VarId v) {
          return lang::is_float(rule.variables[v.index].type.kind);
        })) {
      return std::nullopt;
    }
    if (recursive_ && !binds_group(rule, i)) return std::nullopt;
    if (!has_default(rule, i)) return Nothing::NoResult;
    // Two rules would fold in the head apart, which only the best of a recursion may.
    const bool apart = rule.aggregates.empty() || analysis_.best[rule.head[0].pred.index];
    if (apart && doublings < kMostDoublings) return Nothing::Doubles;
    if (recursive_ && !group.empty()) return std::nullopt;
    return Nothing::Row;
  }

  // Whether the helper for the groups would make the aggregate part of the recursion. The rule is
  // as it was analysed: helpers have no component yet.
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

  // Whether nothing has to say which groups are asked for.
  bool binds_group(const Rule& rule, size_t index) const {
    return group_of(rule, index).empty() ||
           binds_all(rule, rule.body[index].body, wanted_of(rule, index));
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

  Literal atom(PredId pred, const Rule& rule, const std::vector<lang::VarId>& args, Span span,
               uint8_t nots = 0) const {
    Literal literal;
    literal.pred = pred;
    literal.span = span;
    literal.nots = nots;
    for (lang::VarId v : args) literal.args.push_back(variable(rule, v));
    return literal;
  }

  // A rule with the variables of another one.
  static Rule helper(const Rule& rule, PredId head, std::vector<Term> args,
                     std::vector<Literal> body) {
    Rule made = rule;
    made.origin = lang::RuleOrigin::Function;
    made.head_kind = lang::HeadKind::Atom;
    made.aggregates.clear();
    made.head = {{head, std::move(args), {}, 1, {}}};
    made.body = std::move(body);
    return made;
  }

  std::vector<Term> terms_of(const Rule& rule, const std::vector<lang::VarId>& variables) const {
    std::vector<Term> terms;
    for (lang::VarId v : variables) terms.push_back(variable(rule, v));
    return terms;
  }

  static std::vector<lang::Type> types_of(const std::vector<Term>& terms) {
    std::vector<lang::Type> types;
    for (const Term& term : terms) types.push_back(term.type);
    return types;
  }

  // Rules for the groups that are asked for: what is evaluated before the aggregate.
  PredId add_context(const std::vector<Variant>& variants, const std::vector<size_t>& before,
                     const std::vector<lang::VarId>& group) {
    const std::vector<Term> args = terms_of(variants[0].rule, group);
    const PredId context = add_predicate(types_of(args), variants[0].rule.span);
    for (const Variant& variant : variants) {
      const std::vector<Literal>& all = variant.rule.body;
      std::vector<Literal> body;
      for (size_t i : before) body.push_back(all[i]);
      const size_t written = all.size() - variant.owners.size();
      for (size_t i = written; i < all.size(); ++i) {
        if (std::ranges::count(before, variant.owners[i - written]) > 0) body.push_back(all[i]);
      }
      add_rule(helper(variant.rule, context, args, std::move(body)));
    }
    return context;
  }

  // The aggregate as a relation of groups and results.
  PredId add_aggregate(const Rule& rule, size_t index, const std::vector<lang::VarId>& group,
                       std::optional<PredId> context) {
    const Literal& literal = rule.body[index];
    std::vector<Literal> body = literal.body;
    if (context) body.insert(body.begin(), atom(*context, rule, group, literal.span));
    std::vector<Term> args = terms_of(rule, group);
    args.push_back(dummy(literal.lhs.type));
    const PredId pred = add_predicate(types_of(args), literal.span);
    Rule made = helper(rule, pred, std::move(args), std::move(body));
    made.aggregates = {
        {static_cast<uint32_t>(group.size()), literal.aggregate, literal.has_value, literal.rhs}};
    add_rule(std::move(made));
    return pred;
  }

  // The same with a row where there are no solutions.
  PredId add_results(const Rule& rule, size_t index, const std::vector<lang::VarId>& group,
                     PredId aggregate, std::optional<PredId> context) {
    const Literal& literal = rule.body[index];
    Rule with_result = rule;
    const lang::VarId result = {static_cast<uint32_t>(rule.variables.size())};
    with_result.variables.push_back({{}, false, true, literal.lhs.type, literal.span});
    std::vector<lang::VarId> columns = group;
    columns.push_back(result);
    std::vector<Term> args = terms_of(with_result, columns);
    const PredId pred = add_predicate(types_of(args), literal.span);
    add_rule(
        helper(with_result, pred, args, {atom(aggregate, with_result, columns, literal.span)}));
    with_result.variables[result.index].anonymous = true;
    std::vector<Literal> body;
    if (!group.empty()) body.push_back(atom(*context, rule, group, literal.span));
    body.push_back(atom(aggregate, with_result, columns, literal.span, 1));
    args.back() = nothing(literal.lhs.type);
    add_rule(helper(with_result, pred, std::move(args), std::move(body)));
    return pred;
  }

  static Term dummy(const lang::Type& type) {
    Term term;
    term.type = type;
    term.value.kind = type.kind;
    return term;
  }

  Term nothing(const lang::Type& type) {
    Term zero = dummy(type);
    if (type.kind == lang::TypeKind::List) zero.value = session_.names.terms.list({});
    return zero;
  }

  // The variant for groups without solutions.
  Variant without(const Variant& variant, size_t index, const std::vector<lang::VarId>& group,
                  PredId aggregate) {
    Variant empty = variant;
    const Literal replaced = empty.rule.body[index];
    const lang::VarId any = {static_cast<uint32_t>(empty.rule.variables.size())};
    empty.rule.variables.push_back({{}, true, true, replaced.lhs.type, replaced.span});
    std::vector<lang::VarId> columns = group;
    columns.push_back(any);
    empty.rule.body[index] = atom(aggregate, empty.rule, columns, replaced.span, 1);
    Literal zero;
    zero.kind = LiteralKind::Compare;
    zero.span = replaced.span;
    zero.lhs = replaced.lhs;
    zero.rhs = nothing(replaced.lhs.type);
    empty.rule.body.push_back(zero);
    empty.owners.push_back(index);
    return empty;
  }

  void replace(std::vector<Variant>& variants, size_t index, const std::vector<size_t>& before,
               Nothing way) {
    // What `is` computes, the helper's atom may bring too.
    for (Variant& variant : variants) {
      for (Literal& literal : variant.rule.body) literal.is_assignment = false;
    }
    const Rule rule = variants[0].rule;
    const Literal& literal = rule.body[index];
    const std::vector<lang::VarId> group = group_of(rule, index);
    // A join is worth computing only for the groups that are asked for.
    const auto atoms = std::ranges::count_if(
        literal.body, [](const Literal& inner) { return inner.kind == LiteralKind::Atom; });
    const bool selects = atoms > 1 && !group.empty() && !recursive_;
    std::optional<PredId> context;
    const bool binds = binds_group(rule, index);
    if (selects || !binds || (way == Nothing::Row && !group.empty())) {
      context = add_context(variants, before, group);
    }
    const bool joins_context = selects || !binds;
    const PredId aggregate =
        add_aggregate(rule, index, group, joins_context ? context : std::nullopt);
    const PredId found =
        way == Nothing::Row ? add_results(rule, index, group, aggregate, context) : aggregate;
    std::vector<Variant> next;
    for (const Variant& variant : variants) {
      Literal with = atom(found, variant.rule, group, literal.span);
      with.args.push_back(variant.rule.body[index].lhs);
      next.push_back(variant);
      next.back().rule.body[index] = std::move(with);
      if (way == Nothing::Doubles) next.push_back(without(variant, index, group, aggregate));
    }
    variants = std::move(next);
  }

  void expand(uint32_t r) {
    std::vector<Variant> variants = {{program_.rules[r], {}}};
    recursive_ = reads_itself(program_.rules[r]);
    size_t doublings = 0;
    std::vector<size_t> before;
    // In the order of evaluation: what is asked for follows from the results before.
    for (uint32_t i : analysis_.orders[r].body.sequence) {
      std::vector<Variant> tried = variants;
      if (is_plain_findall(tried[0].rule, i)) {
        for (Variant& variant : tried) to_aggregate(variant, i);
      }
      const bool folds = tried[0].rule.body[i].kind == LiteralKind::Aggregate;
      const auto way = folds ? way_of(tried[0].rule, i, doublings) : std::nullopt;
      if (way) {
        doublings += *way == Nothing::Doubles ? 1 : 0;
        variants = std::move(tried);
        replace(variants, i, before, *way);
        changed_ = true;
      }
      before.push_back(i);
    }
    program_.rules[r] = std::move(variants[0].rule);
    for (size_t i = 1; i < variants.size(); ++i) add_rule(std::move(variants[i].rule));
  }

  lang::Program& program_;
  const logic::Analysis& analysis_;
  lang::Session& session_;
  bool recursive_ = false;  // the rule that is expanded
  bool changed_ = false;
};

}  // namespace

bool expand_aggregates(lang::Program& program, const logic::Analysis& analysis,
                       lang::Session& session) {
  return Expansion(program, analysis, session).run();
}

}  // namespace xlog::plan
