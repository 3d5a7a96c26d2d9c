// The surface syntax, exactly as written: nothing is resolved, expanded or typed here. The parser
// makes it, the printer (lang/printer.h) is its inverse, and lang/lower.h turns it into a checked
// Program. Plain structs; one Expr for terms and arithmetic, because `p(X + 1)` and `f(a, [b | T])`
// share one grammar.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/source.h"
#include "base/symbol.h"

namespace xlog::lang::ast {

// Nesting of brackets, terms and operator trees is limited, so that recursive passes are safe.
inline constexpr int kMaxDepth = 500;

enum class BinaryOp : uint8_t { Add, Sub, Mul, Div, Mod };
enum class CompareOp : uint8_t { Eq, Ne, Lt, Le, Gt, Ge };  // `=` and `==` are the same

std::string_view spelling(BinaryOp op);
std::string_view spelling(CompareOp op);
CompareOp negate(CompareOp op);
CompareOp swap_sides(CompareOp op);

struct Literal;

enum class ExprKind : uint8_t {
  Variable,   // name
  Anonymous,  // _
  Integer,    // magnitude, negative; spelling kept in name when not plain decimal (0xff, 1_000)
  Float,      // number; spelling kept in name when it is not the shortest one
  String,     // name: the unescaped text
  Name,  // name, with args when has_parens: symbol, compound term, function call, aggregate in a
         // head
  List,  // args, and the tail as the last of args when has_tail: [a, b | T]
  Interval,     // args = {lo, hi}
  Negate,       // args = {x}: arithmetic minus (a minus before a number literal is folded into it)
  Binary,       // binary_op, args = {l, r}
  Conditional,  // if args[0] compare_op args[1] then args[2] else args[3]
  Aggregate,    // name = count|sum|..., args = {} or {value}; body: `sum X : { p(X) }`
};

struct Expr {
  ExprKind kind = ExprKind::Anonymous;
  BinaryOp binary_op = BinaryOp::Add;
  CompareOp compare_op = CompareOp::Eq;
  bool negative = false;
  bool has_parens = false;
  bool has_tail = false;
  uint16_t depth = 1;  // of this tree, at most kMaxDepth
  Span span;
  Symbol name;
  uint64_t magnitude = 0;
  double number = 0;
  std::vector<Expr> args;
  std::vector<Literal> body;  // Aggregate only
};

struct Atom {
  bool strong_negation = false;  // -p(X)
  bool has_parens = false;       // `rain()` and `rain` are the same atom, printed as written
  Symbol name;
  std::vector<Expr> args;
  Span span;
  Span name_span;
};

enum class PrefixOp : uint8_t { Not, Know, Possible };

enum class LiteralKind : uint8_t {
  Atom,     // prefix* atom
  Compare,  // prefix* lhs op rhs      (prefix holds only Not)
  Is,       // lhs is rhs
  Univ,     // lhs =.. rhs
};

struct Literal {
  LiteralKind kind = LiteralKind::Atom;
  CompareOp op = CompareOp::Eq;
  std::vector<PrefixOp> prefix;  // outermost first: `not know not p` = {Not, Know, Not}
  Atom atom;
  Expr lhs, rhs;
  Span span;
};

enum class HeadKind : uint8_t {
  None,         // :- body.
  Atom,         // p(X) [:- body].
  Disjunction,  // a ; b [:- body].
  Choice,       // lo { a : c ; b } hi [:- body].
  Annotated,    // 0.3::a ; 0.2::b [:- body].   One element: a probabilistic fact or rule.
};

struct HeadElement {
  std::optional<Expr> probability;  // Annotated
  Atom atom;
  std::vector<Literal> condition;  // Choice: after `:`
};

// Facts, rules, constraints, choice rules, disjunctive and probabilistic rules.
struct Rule {
  HeadKind head_kind = HeadKind::Atom;
  std::vector<HeadElement> head;
  std::optional<Expr> lower, upper;  // Choice bounds
  std::vector<Literal> body;
  std::optional<Symbol> learnable_mask;  // learnable(Mask) :: head :- body.
  std::optional<Symbol> trainable_name;  // trainable_rule(name, weight=w) :: head :- body.
  std::optional<Expr> trainable_weight;
};

struct TypeExpr {
  Symbol name;  // u32, ..., list, term, compound, predref, or a domain name
  std::vector<TypeExpr> args;
  Span span;
};

struct UseDecl {
  std::vector<Symbol> path;  // use a/b.
  Span path_span;
  bool selective = false;
  std::vector<Symbol> names;  // ::{x, y}
  std::vector<Span> name_spans;
};

struct DomainDecl {
  Symbol name;
  Span name_span;
  TypeExpr type;
};

struct PredColumn {
  Symbol name;  // empty when not named
  TypeExpr type;
};

struct PredDecl {
  bool is_private = false;
  Symbol name;
  Span name_span;
  std::vector<PredColumn> columns;
};

struct FuncParam {
  Symbol name;
  Span span;
  std::optional<TypeExpr> type;
};

struct FuncDef {
  bool is_private = false;
  Symbol name;
  Span name_span;
  std::vector<FuncParam> params;
  std::optional<TypeExpr> result_type;
  Expr result;             // the expression, or the result variable of a predicate body
  bool has_goals = false;  // func f(X) = R :- goals.
  std::vector<Literal> goals;
};

struct PragmaDecl {
  Symbol key;
  Span key_span;
  Expr value;  // Name, Integer or Float
};

struct ConstDef {  // #const name = expr.
  Symbol name;
  Span name_span;
  Expr value;
};

struct Query {  // ?- body.
  std::vector<Literal> body;
};

struct ProbQuery {  // query(atom).
  Atom atom;
};

struct Evidence {  // evidence(atom, true|false).
  Atom atom;
  bool value = true;
  Span value_span;
};

struct NeuralDecl {  // nn(net, [In, ...], Out, [labels]) :: atom.   Without labels: an embedding.
  Symbol network;
  std::vector<Expr> inputs;  // variables
  Expr output;               // variable
  bool has_labels = false;
  std::vector<Expr> labels;  // integers or names
  Atom atom;
};

// A run of consecutive plain facts of one predicate that the parser put straight into columns
// (Module::facts), without making a Rule for each.
struct FactRun {
  uint32_t table = 0;  // index in Module::facts
  size_t first_row = 0;
  size_t rows = 0;
};

struct Statement {
  Span span;  // from its first to its last character, the period included
  std::variant<Rule, Query, UseDecl, DomainDecl, PredDecl, FuncDef, PragmaDecl, ConstDef, ProbQuery,
               Evidence, NeuralDecl, FactRun>
      node;
};

struct Comment {
  Span span;  // with its // or /* */
};

}  // namespace xlog::lang::ast
