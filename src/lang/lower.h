// Surface syntax -> checked but untyped Program. The steps, in the order in which lower() in
// lower.cc calls them:
//
//   1. replace constants, put findall goals into braces   (constants.h, lower.cc)
//   2. apply imports and visibility                       (imports.h)
//   3. declare types, predicates, functions               (declare.cc)
//   4. lower facts, rules and their parts                 (lower_fact, _rule, _literal, _term)
//   5. lower queries                                      (lower_query.cc)
//   6. inputs, strong negation, undefined names           (lower_finish.cc)
//
// This header holds what they share.
#pragma once

#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "lang/functions.h"
#include "lang/imports.h"
#include "lang/load.h"
#include "lang/program.h"

namespace xlog::lang {

struct PredicateKey {
  Symbol name;  // after imports: private predicates have names of their own
  uint32_t arity = 0;
  bool strong_negation = false;

  friend bool operator==(const PredicateKey&, const PredicateKey&) = default;
};

struct PredicateKeyHash {
  size_t operator()(const PredicateKey& key) const {
    return std::hash<Symbol>()(key.name) * 31 + key.arity * 2 + (key.strong_negation ? 1 : 0);
  }
};

// What lowering needs to know about a predicate beyond the Program.
struct PredicateState {
  PredicateKey key;
  bool defined = false;  // some fact, rule or neural declaration
  bool has_rule = false;
  Span first_use;  // in a body, query or evidence
};

struct Domain {
  Type type;
  Span span;
};

struct Lowering {
  Session& session;
  const LoadOptions& options;
  LinkedModules& modules;
  Imports imports;
  Program program;

  FunctionTable functions;
  std::optional<Expander> expander;
  std::unordered_map<Symbol, Domain> domains;
  std::unordered_map<PredicateKey, PredId, PredicateKeyHash> index;
  std::vector<PredicateState> states;  // by predicate
  std::vector<PredId> rule_order;      // predicates with rules, in order of first definition
  std::vector<std::string> query_texts, prob_query_texts;  // of the main file, as written

  Interner& symbols() { return session.names.symbols; }
  std::string_view text(Symbol s) const { return session.names.symbols.text(s); }
  // The name as the user wrote it.
  Symbol written(Symbol name) const;
  std::string_view shown(Symbol name) const { return text(written(name)); }
  std::string show(const PredicateKey& key) const;  // "edge/2"
  uint32_t main_unit() const { return static_cast<uint32_t>(modules.units.size()) - 1; }
  // Program::modules has the main file first.
  uint32_t module_of(uint32_t unit) const { return unit == main_unit() ? 0 : unit + 1; }

  Diagnostic& report(Code code, Span span, std::string message) {
    return session.diagnostics.report(code, span, std::move(message));
  }

  PredId find_predicate(const PredicateKey& key) const;
  PredId predicate(const PredicateKey& key, Span span);      // made when it is new
  PredId use_predicate(const PredicateKey& key, Span span);  // the same, noted as a use
  PredId helper_predicate(std::string_view name, uint32_t arity, Span span);
  bool is_defined(const PredicateKey& key) const;  // by the program, not a built-in

  std::optional<Type> resolve_type(const ast::TypeExpr& type);
  void add_rule(Rule rule);
};

inline PredicateKey key_of(const ast::Atom& atom) {
  return {atom.name, static_cast<uint32_t>(atom.args.size()), atom.strong_negation};
}

void declare_domains(Lowering& lowering, uint32_t unit);                     // declare.cc
void declare_unit(Lowering& lowering, uint32_t unit);                        // declare.cc
void check_function_names(Lowering& lowering);                               // declare.cc
FactTable& facts_of(Lowering& lowering, PredId pred);                        // lower_fact.cc
void merge_fact_tables(Lowering& lowering, uint32_t unit);                   // lower_fact.cc
void lower_fact(Lowering& lowering, const ast::Atom& atom, Span statement);  // lower_fact.cc
// Terms of a ground atom; reports what is not ground.
std::optional<std::vector<Term>> ground_terms(Lowering& lowering,
                                              const std::vector<ast::Expr>& args);
Term constant_term(const Value& value, const Names& names,
                   Span span);  // lists and compounds as terms
void lower_rule(Lowering& lowering, ast::Rule& rule, Span statement);        // lower_rule.cc
void lower_queries(Lowering& lowering);                                      // lower_query.cc
void lower_ground_statement(Lowering& lowering, ast::Statement& statement);  // lower_query.cc
void finish_program(Lowering& lowering);                                     // lower_finish.cc

}  // namespace xlog::lang
