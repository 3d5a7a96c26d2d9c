#include "incremental/kept_program.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/check.h"
#include "incremental/fact_set.h"
#include "logic/components.h"
#include "logic/memory_report.h"
#include "oracle/instantiate.h"
#include "plan/aggregates.h"

namespace xlog::incremental {

using lang::BuiltinId;
using lang::Literal;
using lang::LiteralKind;
using lang::Modal;
using lang::PredId;
using lang::Rule;
using lang::Term;
using lang::VarId;

namespace {

class Preparation {
 public:
  Preparation(KeptProgram& kept, const logic::AnswerOptions& options, lang::Session& session)
      : kept_(kept), program_(kept.program), options_(options), session_(session) {}

  void run() {
    name_folds();
    keep_worlds();
    while (plan::expand_aggregates(program_, kept_.analysis, session_)) analyze_again();
    const size_t rules = program_.rules.size();
    for (uint32_t r = 0; r < rules; ++r) {
      if (is_settled(program_.rules[r])) name_some_rows(r);
    }
    if (program_.rules.size() > rules) analyze_again();
    for (uint32_t c = 0; c < kept_.analysis.components.size(); ++c) classify(c);
    for (uint32_t p = 0; p < program_.predicates.size(); ++p) kept_.same_as.push_back({p});
    for (const lang::Query& query : program_.queries) find_same(query.pred);
    for (uint32_t r : kept_.analysis.constraints) {
      const bool kept = is_settled(program_.rules[r]) && why_not_kept(program_.rules[r]).empty();
      if (kept) kept_.constraints.push_back(r);
      kept_.has_open_constraints |= !kept;
    }
  }

 private:
  void analyze_again() {
    std::optional<logic::Analysis> again = logic::analyze(program_, session_);
    XLOG_CHECK(again.has_value(), "a rewritten program is as safe as it was");
    kept_.analysis = std::move(*again);
  }

  // ---- helpers for folds inside a recursion ----

  // Groups are folded where nothing is recursive: what a recursion has of a fold over what lies
  // below it comes from a helper.
  //
  //   c(X, count(Y)) :- k(X, Y).          __xlog_folded_2(X, count(Y)) :- k(X, Y).
  //   c(Y, N) :- c(X, N), k(X, Y).        c(X, N) :- __xlog_folded_2(X, N).
  void name_folds() {
    const size_t rules = program_.rules.size();
    for (uint32_t r = 0; r < rules; ++r) {
      if (program_.rules[r].aggregates.empty()) continue;
      const PredId pred = program_.rules[r].head[0].pred;
      const uint32_t c = kept_.analysis.component_of[pred.index];
      const bool best = kept_.analysis.best[pred.index].has_value();
      if (kept_.analysis.components[c].recursive && !best) name_fold(r);
    }
    if (program_.rules.size() > rules) analyze_again();
  }

  void name_fold(uint32_t r) {
    Rule folds = program_.rules[r];
    const lang::HeadElement& head = folds.head[0];
    lang::Predicate predicate;
    predicate.name =
        session_.names.symbols.intern(fmt::format("__xlog_folded_{}", program_.predicates.size()));
    predicate.helper = true;
    predicate.span = folds.span;
    predicate.arity = program_[head.pred].arity;
    predicate.columns = program_[head.pred].columns;
    predicate.rules = {static_cast<uint32_t>(program_.rules.size())};
    const PredId helper{static_cast<uint32_t>(program_.predicates.size())};

    Rule& reads = program_.rules[r];
    reads.aggregates.clear();
    reads.variables.clear();
    Literal literal;
    literal.span = folds.span;
    literal.pred = helper;
    for (uint32_t c = 0; c < predicate.arity; ++c) {
      lang::Variable variable;
      variable.helper = true;
      variable.type = predicate.columns[c].type;
      variable.span = folds.span;
      reads.variables.push_back(variable);
      Term term;
      term.kind = lang::TermKind::Variable;
      term.var = {c};
      term.type = variable.type;
      literal.args.push_back(std::move(term));
    }
    reads.head[0].args = literal.args;
    reads.body = {std::move(literal)};

    folds.head[0].pred = helper;
    program_.predicates.push_back(std::move(predicate));
    program_.rules.push_back(std::move(folds));
  }

  void keep_worlds() {
    OpenProgram& worlds = kept_.worlds;
    worlds.reason = why_worlds_are_not_kept(program_, kept_.analysis, options_);
    if (!worlds.reason.empty()) return;
    std::vector<OpenFold> folds;
    while (expand_open_folds(program_, kept_.analysis,
                             open_predicates(program_, kept_.analysis, options_), session_,
                             folds)) {
      analyze_again();
    }
    const size_t rules = program_.rules.size();
    for (uint32_t r = 0; r < rules; ++r) {
      if (!is_settled(program_.rules[r])) name_some_rows(r);
    }
    if (program_.rules.size() > rules) analyze_again();
    worlds = keep_open_rules(program_, kept_.analysis, options_, session_, std::move(folds));
    analyze_again();
  }

  bool is_settled(PredId pred) const {
    const uint32_t c = kept_.analysis.component_of[pred.index];
    return oracle::is_settled(kept_.analysis.components[c], options_);
  }

  bool is_settled(const Rule& rule) const {
    bool settled =
        std::ranges::all_of(rule.head, [&](const auto& h) { return is_settled(h.pred); });
    logic::for_each_predicate(rule.body, [&](const Literal& literal, const Literal*) {
      settled &= is_settled(literal.pred);
    });
    return settled && rule.head_kind != lang::HeadKind::Choice;
  }

  // ---- helpers for "some row" ----

  void name_some_rows(uint32_t r) {
    name_some_rows(r, [](Rule& rule) -> std::vector<Literal>& { return rule.body; });
    for (size_t e = 0; e < program_.rules[r].head.size(); ++e) {
      name_some_rows(r,
                     [e](Rule& rule) -> std::vector<Literal>& { return rule.head[e].condition; });
    }
  }

  // In the literals of a rule that `of` gives.
  template <typename Of>
  void name_some_rows(uint32_t r, const Of& of) {
    for (size_t i = 0; i < of(program_.rules[r]).size(); ++i) {
      const Literal& literal = of(program_.rules[r])[i];
      if (literal.kind != LiteralKind::Atom) continue;
      if (literal.nots == 0 && literal.modal == Modal::None) continue;
      std::vector<VarId> variables;
      for (const Term& arg : literal.args) lang::collect_variables(arg, variables);
      const auto is_some = [&](VarId v) { return program_.rules[r].variables[v.index].anonymous; };
      if (std::ranges::any_of(variables, is_some)) name_some_rows(r, of, i);
    }
  }

  template <typename Of>
  void name_some_rows(uint32_t r, const Of& of, size_t i) {
    Rule made = program_.rules[r];
    Literal asked = of(made)[i];
    lang::Predicate predicate;
    predicate.name =
        session_.names.symbols.intern(fmt::format("__xlog_some_{}", program_.predicates.size()));
    predicate.helper = true;
    predicate.span = asked.span;
    predicate.rules = {static_cast<uint32_t>(program_.rules.size())};
    lang::HeadElement head;
    std::vector<VarId> named;
    // Constants stay: literals with one are evaluated before those without, and what arithmetic
    // meets depends on the order.
    const auto add = [&](const Term& term) {
      predicate.columns.push_back({{}, term.type, asked.span});
      head.args.push_back(term);
    };
    for (const Term& arg : asked.args) {
      if (arg.kind == lang::TermKind::Constant) add(arg);
      std::vector<VarId> variables;
      lang::collect_variables(arg, variables);
      for (VarId v : variables) {
        if (made.variables[v.index].anonymous || std::ranges::count(named, v) > 0) continue;
        named.push_back(v);
        Term term;
        term.kind = lang::TermKind::Variable;
        term.var = v;
        term.type = made.variables[v.index].type;
        add(term);
      }
    }
    predicate.arity = static_cast<uint32_t>(head.args.size());
    head.pred = {static_cast<uint32_t>(program_.predicates.size())};
    Literal& replaced = of(program_.rules[r])[i];
    replaced.pred = head.pred;
    replaced.args = head.args;
    asked.nots = 0;
    asked.modal = Modal::None;
    made.origin = lang::RuleOrigin::Function;
    made.head_kind = lang::HeadKind::Atom;
    made.aggregates.clear();
    made.lower.reset();
    made.upper.reset();
    made.body = {std::move(asked)};
    made.head = {std::move(head)};
    program_.predicates.push_back(std::move(predicate));
    program_.rules.push_back(std::move(made));
  }

  void find_same(PredId pred) {
    const uint32_t c = kept_.analysis.component_of[pred.index];
    if (kept_.kinds[c] != KeptKind::Counted || program_[pred].rules.size() != 1) return;
    const Rule& rule = program_.rules[program_[pred].rules[0]];
    if (rule.body.size() != 1 || !rule.aggregates.empty()) return;
    const Literal& literal = rule.body[0];
    if (literal.kind != LiteralKind::Atom || is_negative(literal)) return;
    // What may hold is not what shows it.
    if (kept_.worlds.is_open(pred) != kept_.worlds.is_open(literal.pred)) return;
    const std::vector<Term>& shown = rule.head[0].args;
    if (shown.size() != literal.args.size()) return;
    std::vector<VarId> seen;
    for (size_t i = 0; i < shown.size(); ++i) {
      if (shown[i].kind != lang::TermKind::Variable) return;
      if (literal.args[i].kind != lang::TermKind::Variable) return;
      if (shown[i].var != literal.args[i].var || std::ranges::count(seen, shown[i].var) > 0) return;
      seen.push_back(shown[i].var);
    }
    kept_.same_as[pred.index] = literal.pred;
  }

  // ---- kinds ----

  void classify(uint32_t c) {
    const logic::Component& component = kept_.analysis.components[c];
    std::string reason;
    KeptKind kind = component.recursive ? KeptKind::Supported : KeptKind::Counted;
    if (!oracle::is_settled(component, options_)) {
      kind = KeptKind::Open;
      reason = component.reason;
    } else {
      for (uint32_t r : component.rules) {
        if (reason.empty()) reason = why_not_kept(program_.rules[r]);
      }
      const bool has_best = std::ranges::any_of(
          component.predicates, [&](PredId p) { return kept_.analysis.best[p.index].has_value(); });
      // How often arithmetic without a value is met depends on the way to the best values.
      const bool partial = std::ranges::any_of(
          component.rules, [&](uint32_t r) { return may_have_no_value(program_.rules[r]); });
      if (has_best && partial) reason = "a minimum or maximum inside its own recursion";
      if (has_best) kind = KeptKind::Best;
      if (kept_.worlds.fold_of(component.predicates.front()) != nullptr) kind = KeptKind::Results;
      if (!reason.empty()) kind = KeptKind::Recomputed;
    }
    kept_.kinds.push_back(kind);
    kept_.reasons.push_back(std::move(reason));
  }

  static std::string why_not_kept(const Rule& rule) {
    for (const Literal& literal : rule.body) {
      if (literal.kind == LiteralKind::Aggregate) return "an aggregate in a body";
      if (literal.kind != LiteralKind::Builtin) continue;
      if (literal.builtin == BuiltinId::Findall) return "findall";
      if (literal.builtin == BuiltinId::Maplist2) return "maplist";
      if (literal.builtin == BuiltinId::Maplist3) return "maplist";
    }
    return "";
  }

  KeptProgram& kept_;
  lang::Program& program_;
  const logic::AnswerOptions& options_;
  lang::Session& session_;
};

}  // namespace

bool may_have_no_value(const Term& term) {
  if (term.kind == lang::TermKind::Arith) {
    const bool partial = term.op == lang::ArithOp::Div || term.op == lang::ArithOp::Mod ||
                         term.op == lang::ArithOp::Cast;
    if (partial) return true;
  }
  return std::ranges::any_of(term.args, [](const Term& arg) { return may_have_no_value(arg); });
}

namespace {

bool may_have_no_value(const std::vector<Literal>& body) {
  return std::ranges::any_of(body, [](const Literal& literal) {
    return incremental::may_have_no_value(literal.lhs) ||
           incremental::may_have_no_value(literal.rhs) ||
           std::ranges::any_of(
               literal.args, [](const Term& arg) { return incremental::may_have_no_value(arg); }) ||
           may_have_no_value(literal.body);
  });
}

}  // namespace

bool may_have_no_value(const Rule& rule) {
  return may_have_no_value(rule.body) ||
         std::ranges::any_of(rule.head,
                             [](const lang::HeadElement& head) {
                               return may_have_no_value(head.condition) ||
                                      std::ranges::any_of(head.args, [](const Term& arg) {
                                        return may_have_no_value(arg);
                                      });
                             }) ||
         std::ranges::any_of(rule.aggregates, [](const lang::HeadAggregate& aggregate) {
           return may_have_no_value(aggregate.value);
         });
}

bool is_negative(const Literal& literal) {
  return literal.nots == 1 || literal.modal == Modal::NotKnow ||
         literal.modal == Modal::NotPossible;
}

KeptProgram make_kept_program(const lang::Program& source, const logic::Analysis& analysis,
                              const logic::AnswerOptions& options, lang::Session& session) {
  KeptProgram kept;
  kept.program = copy_without_facts(source);
  kept.analysis = analysis;
  Preparation(kept, options, session).run();
  return kept;
}

}  // namespace xlog::incremental
