// One rule, constraint or query on its way from the surface syntax to the Program: its variables,
// the literals made so far, and the scopes of its braces. Function calls have been expanded before.
#pragma once

#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "lang/lower.h"

namespace xlog::lang {

// Names of variables outside inner braces.
using NameSet = std::unordered_set<Symbol>;
void collect_names(const ast::Expr& expr, NameSet& out);
void collect_names(const std::vector<ast::Literal>& literals, NameSet& out);

class RuleLowering {
 public:
  RuleLowering(Lowering& lowering, Span span);

  Rule rule;
  bool never = false;   // a test decided here is false: the body holds nowhere
  bool failed = false;  // something was reported: the rule is not worth keeping

  // Names at the rule's own level, outside all braces. To be filled before a rule with braces is
  // lowered.
  NameSet& own_names() { return root_.names; }

  // lower_literal.cc
  void body(const std::vector<ast::Literal>& literals);  // to rule.body
  // The element of a choice: its condition has variables of its own.
  void choice_element(const ast::HeadElement& source, HeadElement& element);

  // lower_term.cc. Literals that a term needs (helpers for arithmetic, aggregates) go to the
  // current body.
  Term argument(const ast::Expr& expr);  // no Arith
  Term value(const ast::Expr& expr,
             bool arithmetic);  // may be Arith; arithmetic: f(X) must be a function
  Term variable(Symbol name, Span span);
  Term anonymous(Span span);
  Term helper(Span span);
  std::vector<Term> head_arguments(const ast::Atom& atom);
  void head_aggregates(const ast::Atom& atom, HeadElement& element);

 private:
  struct Scope {
    Scope* parent = nullptr;
    std::vector<Literal>* out = nullptr;
    NameSet names;  // at this level, outside inner braces
    std::unordered_map<Symbol, VarId> ids;
    std::unordered_set<uint32_t>
        bound;  // by the literals of `out` up to bound_upto, in source order
    size_t bound_upto = 0;
  };

  void emit(Literal literal) { scope_->out->push_back(std::move(literal)); }
  Diagnostic& fail(Code code, Span span, std::string message);

  // lower_literal.cc
  void literal(const ast::Literal& literal);
  void atom(const ast::Literal& literal);
  void compare(const ast::Literal& literal);
  void assignment(const ast::Literal& literal);
  void builtin(const ast::Literal& literal, const BuiltinInfo& info);
  void findall(const ast::Literal& literal);
  void maplist(const ast::Literal& literal, const BuiltinInfo& info);
  bool binding_test(const ast::Literal& literal);
  void between(const ast::Expr& x, const ast::Expr& interval, Span span, uint8_t nots);
  void impossible(Span span);
  void enter(Scope& scope, std::vector<Literal>& out);
  void leave() { scope_ = scope_->parent; }
  void note_bound();
  bool is_bound(VarId var) const;
  VarId find_variable(Symbol name) const;
  bool is_ground_here(const ast::Expr& expr) const;

  // lower_term.cc
  Term variable_of(Scope& owner, Symbol name, Span span);  // a new one
  Term make_variable(Symbol name, Span span, bool is_anonymous, bool is_helper);
  Term name_term(const ast::Expr& expr);
  Term builtin_call(const ast::Expr& expr);
  Term unknown_function(const ast::Expr& expr);
  Term conditional(const ast::Expr& expr);
  Term computed(const ast::Expr& expr);
  Term head_argument(const ast::Expr& expr);
  void aggregate(const ast::Expr& expr, Term lhs, bool is_assignment, Span span);
  Term dummy(Span span) const;

  Lowering& low_;
  Scope root_;
  Scope* scope_;
  int in_branch_ = 0;
};

}  // namespace xlog::lang
