// One walk over the surface syntax for every pass that looks at all names of a statement. A pass
// derives from AstVisitor and overrides what it wants to see; nodes may be changed in place.
#pragma once

#include "lang/ast.h"

namespace xlog::lang {

struct AstVisitor {
  virtual ~AstVisitor() = default;
  virtual void on_atom(ast::Atom&) {}
  virtual void on_literal(ast::Literal&) {}
  // Before its arguments. An aggregate's value and body are visited after it, and then on_leave.
  virtual void on_expr(ast::Expr&) {}
  virtual void on_leave(ast::Expr&) {}
  // maplist(p, ...): p names a predicate of that many arguments, not a value.
  virtual void on_predicate_reference(ast::Expr&, uint32_t /*arity*/) {}
};

struct AstWalk {
  AstVisitor& visitor;
  const Interner& names;

  void expr(ast::Expr& e) {
    visitor.on_expr(e);
    // The second argument of cast(x, type) is a type.
    const bool is_cast =
        e.kind == ast::ExprKind::Name && e.args.size() == 2 && names.text(e.name) == "cast";
    const size_t count = is_cast ? 1 : e.args.size();
    for (size_t i = 0; i < count; ++i) expr(e.args[i]);
    body(e.body);
    visitor.on_leave(e);
  }

  void atom(ast::Atom& a) {
    visitor.on_atom(a);
    size_t first = 0;
    if (a.args.size() >= 2 && names.text(a.name) == "maplist") {
      visitor.on_predicate_reference(a.args[0], static_cast<uint32_t>(a.args.size()) - 1);
      first = 1;
    }
    for (size_t i = first; i < a.args.size(); ++i) expr(a.args[i]);
  }

  void literal(ast::Literal& l) {
    visitor.on_literal(l);
    if (l.kind == ast::LiteralKind::Atom) {
      atom(l.atom);
    } else {
      expr(l.lhs);
      expr(l.rhs);
    }
  }

  void body(std::vector<ast::Literal>& literals) {
    for (ast::Literal& l : literals) literal(l);
  }

  void rule(ast::Rule& r) {
    for (ast::HeadElement& element : r.head) {
      if (element.probability) expr(*element.probability);
      atom(element.atom);
      body(element.condition);
    }
    if (r.lower) expr(*r.lower);
    if (r.upper) expr(*r.upper);
    if (r.trainable_weight) expr(*r.trainable_weight);
    body(r.body);
  }

  void function(ast::FuncDef& f) {
    expr(f.result);
    body(f.goals);
  }

  void statement(ast::Statement& s) {
    if (auto* r = std::get_if<ast::Rule>(&s.node)) {
      rule(*r);
    } else if (auto* q = std::get_if<ast::Query>(&s.node)) {
      body(q->body);
    } else if (auto* f = std::get_if<ast::FuncDef>(&s.node)) {
      function(*f);
    } else if (auto* p = std::get_if<ast::ProbQuery>(&s.node)) {
      atom(p->atom);
    } else if (auto* e = std::get_if<ast::Evidence>(&s.node)) {
      atom(e->atom);
    } else if (auto* n = std::get_if<ast::NeuralDecl>(&s.node)) {
      atom(n->atom);
      for (ast::Expr& label : n->labels) expr(label);
    }
  }
};

}  // namespace xlog::lang
