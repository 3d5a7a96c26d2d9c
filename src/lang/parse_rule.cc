// Literals, bodies and heads.
#include <fmt/format.h>

#include <algorithm>

#include "lang/parse_parts.h"

namespace xlog::lang {

using ast::Expr;
using ast::ExprKind;
using ast::HeadKind;
using ast::LiteralKind;
using ast::PrefixOp;

bool to_atom(Expr& expr, const Interner& names, ast::Atom& out) {
  const bool strong = expr.kind == ExprKind::Negate && expr.args[0].kind == ExprKind::Name;
  if (!strong && expr.kind != ExprKind::Name) return false;
  const Span span = expr.span;
  Expr name = strong ? std::move(expr.args[0]) : std::move(expr);
  out.strong_negation = strong;
  out.has_parens = name.has_parens;
  out.name = name.name;
  out.args = std::move(name.args);
  out.span = span;
  out.name_span = {name.span.begin,
                   name.span.begin + static_cast<uint32_t>(names.text(name.name).size())};
  return true;
}

// ---- Literals ----

namespace {

std::optional<PrefixOp> prefix_op(Word word) {
  switch (word) {
    case Word::Not:
      return PrefixOp::Not;
    case Word::Know:
      return PrefixOp::Know;
    case Word::Possible:
      return PrefixOp::Possible;
    default:
      return std::nullopt;
  }
}

bool parse_prefixes(TokenStream& in, std::vector<PrefixOp>& out) {
  while (const auto op = prefix_op(in.peek().word)) {
    if (out.size() == ast::kMaxDepth) return in.too_deep(in.peek().span);
    out.push_back(*op);
    in.take();
  }
  return true;
}

constexpr std::string_view kChoiceInBody =
    "a choice `{ ... }` stands in the head of a rule; to count in a body, write `N = count : { ... "
    "}`";

bool is_modal(PrefixOp op) { return op != PrefixOp::Not; }

// After the left side of a comparison, `is` or `=..`.
bool parse_right_side(TokenStream& in, ast::Literal& out) {
  if (!parse_expr(in, out.rhs)) return false;
  if (!compare_op(in.peek().kind) && !in.at(Word::Is)) return true;
  return in.fail("`,` or the end of the literal", "comparisons do not chain: write `X < Y, Y < Z`");
}

bool misplaced_prefix(TokenStream& in, Code code, const Token& first, std::string_view what) {
  in.lexer.report(code, first.span, std::string(what));
  return false;
}

bool parse_literal(TokenStream& in, ast::Literal& out) {
  const Token first = in.peek();
  if (!parse_prefixes(in, out.prefix)) return false;
  if (in.at(TokenKind::LeftParen) && std::ranges::any_of(out.prefix, is_modal)) {
    in.lexer
        .report(Code::ModalOverBuiltin, first.span,
                "`know` and `possible` stand before one atom, not before brackets")
        .help("give what is inside a name, `both :- q, r.`, and write `know both`");
    return false;
  }
  if (!parse_expr(in, out.lhs)) return false;
  const TokenKind next = in.peek().kind;
  if (const auto op = compare_op(next)) {
    if (std::ranges::any_of(out.prefix, is_modal)) {
      return misplaced_prefix(in, Code::ModalOverBuiltin, first,
                              "`know` and `possible` stand before atoms, not before comparisons");
    }
    in.take();
    out.kind = LiteralKind::Compare;
    out.op = *op;
    if (!parse_right_side(in, out)) return false;
  } else if (next == TokenKind::Univ || in.at(Word::Is)) {
    if (!out.prefix.empty()) {
      return misplaced_prefix(
          in, Code::UnexpectedToken, first,
          "`is` and `=..` cannot be negated or asked about as known or possible");
    }
    in.take();
    out.kind = next == TokenKind::Univ ? LiteralKind::Univ : LiteralKind::Is;
    if (!parse_right_side(in, out)) return false;
  } else {
    if (next == TokenKind::LeftBrace) return in.fail("a literal", std::string(kChoiceInBody));
    if (!to_atom(out.lhs, in.names, out.atom)) {
      return in.fail("a comparison after this expression",
                     "a literal is an atom `p(X)` or a comparison `X < Y`");
    }
    out.lhs = Expr{};
  }
  out.span = {first.span.begin, in.previous().span.end};
  return true;
}

}  // namespace

bool parse_body(TokenStream& in, std::vector<ast::Literal>& out) {
  do {
    out.emplace_back();
    if (!parse_literal(in, out.back())) return false;
  } while (in.accept(TokenKind::Comma));
  return true;
}

// ---- Heads ----

namespace {

bool invalid_head(TokenStream& in, Span span) {
  in.lexer.report(Code::InvalidHead, span, "this is not an atom, so it cannot stand in a head")
      .help("an atom is a lower-case name with arguments: `p(X)`");
  return false;
}

bool expr_to_head_atom(TokenStream& in, Expr& expr, ast::Atom& out) {
  return to_atom(expr, in.names, out) || invalid_head(in, expr.span);
}

bool parse_head_atom(TokenStream& in, ast::Atom& out) {
  Expr expr;
  return parse_expr(in, expr) && expr_to_head_atom(in, expr, out);
}

bool parse_choice_element(TokenStream& in, ast::HeadElement& out) {
  if (!parse_head_atom(in, out.atom)) return false;
  if (!in.accept(TokenKind::Colon)) return true;
  return parse_body(in, out.condition);
}

// At `{`.
bool parse_choice(TokenStream& in, ast::Rule& out) {
  out.head_kind = HeadKind::Choice;
  const Span open = in.take().span;
  if (!in.accept(TokenKind::RightBrace)) {
    do {
      out.head.emplace_back();
      if (!parse_choice_element(in, out.head.back())) return false;
    } while (in.accept(TokenKind::Semicolon));
    if (in.at(TokenKind::Comma))
      return in.fail("`;` or `}`", "the elements of a choice are separated by `;`");
    if (in.at(TokenKind::If))
      return in.fail("`:`, `;` or `}`", "a condition is written `{ p(X) : q(X) }`");
    if (!in.expect_close(TokenKind::RightBrace, "`;` or `}`", open)) return false;
  }
  if (in.at(TokenKind::If) || in.at(TokenKind::Period) || in.at(TokenKind::End)) return true;
  if (in.peek().first_on_line)
    return true;  // the period is missing rather than an upper bound there
  if (compare_op(in.peek().kind))
    return in.fail("`:-` or a period", "bounds stand beside the braces: `1 { a ; b } 2`");
  return parse_expr(in, out.upper.emplace());
}

bool accept_or(TokenStream& in) {
  return in.accept(TokenKind::Semicolon) || in.accept(TokenKind::Bar);
}

// After the first probability, at `::`.
bool parse_annotated(TokenStream& in, Expr first, ast::Rule& out) {
  out.head_kind = HeadKind::Annotated;
  out.head.emplace_back().probability = std::move(first);
  for (;;) {
    if (!in.expect(TokenKind::DoubleColon, "`::` between a probability and its atom")) return false;
    if (!parse_head_atom(in, out.head.back().atom)) return false;
    if (!accept_or(in)) return true;
    if (!parse_expr(in, out.head.emplace_back().probability.emplace())) return false;
  }
}

bool parse_disjunction(TokenStream& in, Expr first, ast::Rule& out) {
  out.head.emplace_back();
  if (!expr_to_head_atom(in, first, out.head.back().atom)) return false;
  while (accept_or(in)) {
    out.head_kind = HeadKind::Disjunction;
    Expr next;
    if (!parse_expr(in, next)) return false;
    if (in.at(TokenKind::DoubleColon)) {
      return in.fail("`;`, `:-` or `.`", "give every alternative a probability, or none");
    }
    if (!expr_to_head_atom(in, next, out.head.emplace_back().atom)) return false;
  }
  return true;
}

// After the first expression: a probability, a lower bound or an atom.
bool parse_head_after(TokenStream& in, Expr first, ast::Rule& out) {
  if (in.at(TokenKind::DoubleColon)) return parse_annotated(in, std::move(first), out);
  if (in.at(TokenKind::LeftBrace)) {
    out.lower = std::move(first);
    return parse_choice(in, out);
  }
  return parse_disjunction(in, std::move(first), out);
}

bool parse_head(TokenStream& in, ast::Rule& out) {
  if (in.at(TokenKind::If)) {
    out.head_kind = HeadKind::None;
    return true;
  }
  if (in.at(TokenKind::LeftBrace)) return parse_choice(in, out);
  Expr first;
  return parse_expr(in, first) && parse_head_after(in, std::move(first), out);
}

bool parse_optional_body(TokenStream& in, ast::Rule& out) {
  return !in.accept(TokenKind::If) || parse_body(in, out.body);
}

}  // namespace

bool parse_rule(TokenStream& in, ast::Rule& out) {
  return parse_head(in, out) && parse_optional_body(in, out);
}

bool parse_rule_after(TokenStream& in, Expr first, ast::Rule& out) {
  return parse_head_after(in, std::move(first), out) && parse_optional_body(in, out);
}

}  // namespace xlog::lang
