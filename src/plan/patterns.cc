#include "plan/patterns.h"

#include <fmt/format.h>

#include <algorithm>

#include "plan/relational.h"

namespace xlog::plan {

using lang::Literal;
using lang::LiteralKind;
using lang::Modal;
using lang::Rule;
using lang::Term;
using lang::TermKind;
using lang::VarId;

namespace {

class Lifting {
 public:
  Lifting(Rule& rule, lang::Program& program, lang::Session& session, std::vector<Rule>& helpers)
      : rule_(rule), program_(program), session_(session), helpers_(helpers) {}

  bool run() {
    for (lang::HeadElement& head : rule_.head) {
      for (Term& arg : head.args) lift(arg, Brings::No);
    }
    for (lang::HeadAggregate& aggregate : rule_.aggregates) fold(aggregate);
    // By index: equations are added behind.
    for (size_t i = 0, literals = rule_.body.size(); i < literals; ++i) {
      if (rule_.body[i].kind == LiteralKind::Atom) atom(i);
    }
    return changed_;
  }

 private:
  enum class Brings : bool { No, Yes };  // as an atom does, the bits of floats

  void lift(Term& term, Brings brings) {
    if (is_simple(term)) return;
    changed_ = true;
    Literal equation;
    equation.kind = LiteralKind::Compare;
    equation.span = term.span;
    equation.brings = brings == Brings::Yes;
    equation.rhs = std::move(term);
    term = Term();
    term.kind = TermKind::Variable;
    term.var = {static_cast<uint32_t>(rule_.variables.size())};
    term.type = equation.rhs.type;
    term.span = equation.rhs.span;
    rule_.variables.push_back({{}, false, true, term.type, term.span});
    equation.lhs = term;
    rule_.body.push_back(std::move(equation));
  }

  void fold(lang::HeadAggregate& aggregate) {
    if (!aggregate.has_value) return;
    if (needs_host(aggregate.value)) lift(aggregate.value, Brings::No);
  }

  static bool is_test(const Literal& literal) {
    switch (literal.modal) {
      case Modal::None:
        return literal.nots > 0;
      case Modal::Know:
      case Modal::Possible:
        return false;
      default:
        return true;
    }
  }

  void atom(size_t i) {
    const bool positive = !is_test(rule_.body[i]);
    // `know p(X, _)` is one solution for each X, which matters to who counts them.
    const bool projects =
        positive && rule_.body[i].modal != Modal::None && !rule_.aggregates.empty();
    if (projects && std::ranges::any_of(rule_.body[i].args,
                                        [&](const Term& arg) { return has_any_value(arg); })) {
      return use_helper(rule_.body[i]);
    }
    if (std::ranges::all_of(rule_.body[i].args, is_simple)) return;
    const bool tests_some =
        !positive && std::ranges::any_of(rule_.body[i].args, [&](const Term& arg) {
          return !is_simple(arg) && has_any_value(arg);
        });
    if (tests_some) return use_helper(rule_.body[i]);
    for (size_t c = 0; c < rule_.body[i].args.size(); ++c) {
      Term arg = std::move(rule_.body[i].args[c]);
      lift(arg, positive ? Brings::Yes : Brings::No);
      rule_.body[i].args[c] = std::move(arg);
    }
  }

  // Whether it has a `_` in it.
  bool has_any_value(const Term& term) const {
    std::vector<VarId> variables;
    lang::collect_variables(term, variables);
    return std::ranges::any_of(variables,
                               [&](VarId v) { return rule_.variables[v.index].anonymous; });
  }

  // A relation of the values for which the atom has a row.
  void use_helper(Literal& literal) {
    changed_ = true;
    std::vector<VarId> named;
    lang::collect_variables(literal, named);
    std::ranges::sort(named);
    named.erase(std::ranges::unique(named).begin(), named.end());
    std::erase_if(named, [&](VarId v) { return rule_.variables[v.index].anonymous; });

    Rule helper;
    helper.origin = lang::RuleOrigin::Function;
    helper.span = rule_.span;
    helper.head_span = literal.span;
    helper.variables = rule_.variables;
    Literal found = literal;
    found.nots = 0;
    found.modal = Modal::None;
    helper.body = {found};
    lang::Predicate predicate;
    predicate.name =
        session_.names.symbols.intern(fmt::format("__xlog_match_{}", program_.predicates.size()));
    predicate.helper = true;
    predicate.span = literal.span;
    predicate.arity = static_cast<uint32_t>(named.size());
    literal.args.clear();
    for (VarId v : named) {
      Term term;
      term.kind = TermKind::Variable;
      term.var = v;
      term.type = rule_.variables[v.index].type;
      term.span = literal.span;
      literal.args.push_back(term);
      predicate.columns.push_back({{}, term.type, literal.span});
    }
    literal.pred = {static_cast<uint32_t>(program_.predicates.size())};
    helper.head = {{literal.pred, literal.args, {}, 1, literal.span}};
    program_.predicates.push_back(std::move(predicate));
    lift_patterns(helper, program_, session_, helpers_);
    helpers_.push_back(std::move(helper));
  }

  Rule& rule_;
  lang::Program& program_;
  lang::Session& session_;
  std::vector<Rule>& helpers_;
  bool changed_ = false;
};

}  // namespace

bool lift_patterns(Rule& rule, lang::Program& program, lang::Session& session,
                   std::vector<Rule>& helpers) {
  return Lifting(rule, program, session, helpers).run();
}

}  // namespace xlog::plan
