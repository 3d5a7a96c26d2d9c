// Terms and arithmetic. They share one grammar: what an expression means is decided where it stands
// (lang/lower.h).
#include <fmt/format.h>

#include <algorithm>

#include "lang/parse_parts.h"

namespace xlog::lang {

using ast::Expr;
using ast::ExprKind;

namespace {

bool parse_binary(TokenStream& in, Expr& out, int lowest);

uint16_t deepest(const std::vector<ast::Literal>& body) {
  uint16_t depth = 0;
  for (const ast::Literal& literal : body) {
    depth = std::max({depth, literal.lhs.depth, literal.rhs.depth});
    for (const Expr& arg : literal.atom.args) depth = std::max(depth, arg.depth);
  }
  return depth;
}

// Sets the depth of `expr` from its parts; reports when it passes the limit.
bool measure(TokenStream& in, Expr& expr) {
  uint16_t depth = deepest(expr.body);
  for (const Expr& arg : expr.args) depth = std::max(depth, arg.depth);
  expr.depth = static_cast<uint16_t>(depth + 1);
  return expr.depth <= ast::kMaxDepth || in.too_deep(expr.span);
}

Span since(TokenStream& in, uint32_t begin) { return {begin, in.previous().span.end}; }

bool starts_operand(const Token& token) {
  switch (token.kind) {
    case TokenKind::Variable:
    case TokenKind::Anonymous:
    case TokenKind::Integer:
    case TokenKind::Float:
    case TokenKind::String:
    case TokenKind::LeftBracket:
      return true;
    case TokenKind::Identifier:
      return !is_reserved(token.word);
    default:
      return false;
  }
}

// ---- Conditionals ----

// `if` is an ordinary name unless something follows that cannot follow a name. Inside functions,
// where conditionals belong, `if (` and `if -` start one too.
bool at_conditional(TokenStream& in) {
  if (!in.at(Word::If)) return false;
  const Token& next = in.peek(1);
  if (starts_operand(next)) return true;
  return in.in_function && (next.kind == TokenKind::LeftParen || next.kind == TokenKind::Minus);
}

bool expect_word(TokenStream& in, Word word, std::string_view what) {
  if (!in.at(word)) return in.fail(what);
  in.take();
  return true;
}

bool parse_conditional(TokenStream& in, Expr& out) {
  const uint32_t begin = in.take().span.begin;
  Expr parts[4];
  if (!parse_expr(in, parts[0])) return false;
  const auto op = compare_op(in.peek().kind);
  if (!op) return in.fail("a comparison in the condition of `if`");
  in.take();
  if (!parse_expr(in, parts[1]) || !expect_word(in, Word::Then, "`then`")) return false;
  if (!parse_expr(in, parts[2])) return false;
  if (!expect_word(in, Word::Else, "`else`: a conditional has both branches")) return false;
  if (!parse_expr(in, parts[3])) return false;
  out = Expr{};
  out.kind = ExprKind::Conditional;
  out.compare_op = *op;
  for (Expr& part : parts) out.args.push_back(std::move(part));
  out.span = since(in, begin);
  return measure(in, out);
}

// ---- Names, lists, aggregates ----

// Expressions up to `close`, separated by commas; the opening bracket has been taken.
bool parse_arguments(TokenStream& in, TokenKind close, std::string_view what, Span open,
                     std::vector<Expr>& out) {
  if (in.accept(close)) return true;
  do {
    out.emplace_back();
    if (!parse_expr(in, out.back())) return false;
  } while (in.accept(TokenKind::Comma));
  return in.expect_close(close, what, open);
}

bool parse_list(TokenStream& in, Expr& out) {
  const Span open = in.take().span;
  out.kind = ExprKind::List;
  if (!in.accept(TokenKind::RightBracket)) {
    do {
      out.args.emplace_back();
      if (!parse_expr(in, out.args.back())) return false;
    } while (in.accept(TokenKind::Comma));
    if (in.accept(TokenKind::Bar)) {
      out.has_tail = true;
      out.args.emplace_back();
      if (!parse_expr(in, out.args.back())) return false;
    }
    const std::string_view what = out.has_tail ? "`]`" : "`,`, `|` or `]`";
    if (!in.expect_close(TokenKind::RightBracket, what, open)) return false;
  }
  out.span = since(in, open.begin);
  return measure(in, out);
}

// At `: {` after the function and its value.
bool parse_aggregate_body(TokenStream& in, Word word, uint32_t begin, Expr& out) {
  out.kind = ExprKind::Aggregate;
  out.has_parens = false;
  if (out.args.empty() && word != Word::Count)
    return in.fail("the value to aggregate", "as in `sum X : { p(X) }`");
  if (!in.expect(TokenKind::Colon, "`: {` and the body of the aggregate")) return false;
  const Span open = in.peek().span;
  if (!in.expect(TokenKind::LeftBrace, "`{` and the body of the aggregate")) return false;
  if (!parse_body(in, out.body)) return false;
  if (!in.expect_close(TokenKind::RightBrace, "`,` or `}`", open)) return false;
  out.span = since(in, begin);
  return measure(in, out);
}

bool at_aggregate_body(TokenStream& in) {
  return in.at(TokenKind::Colon) && in.peek(1).kind == TokenKind::LeftBrace;
}

bool parse_name(TokenStream& in, Expr& out) {
  const Token token = in.take();
  if (is_reserved(token.word)) {
    const bool is_modal = token.word == Word::Know || token.word == Word::Possible;
    in.lexer
        .report(Code::UnexpectedToken, token.span,
                fmt::format("expected an expression, found the reserved word `{}`",
                            in.names.text(token.name)))
        .help(is_modal
                  ? fmt::format("`{0}` stands before an atom in a body, in no head, expression or "
                                "goal of a list; a rule gives its rows a name: `q(X) :- {0} p(X).`",
                                in.names.text(token.name))
                  : fmt::format("as a symbol it is written \"{}\"", in.names.text(token.name)));
    return false;
  }
  out.kind = ExprKind::Name;
  out.name = token.name;
  if (is_aggregate(token.word)) {
    // `then` and `else` may follow the constant `max` in a condition.
    const bool has_value = starts_operand(in.peek()) && !in.at(Word::Then) && !in.at(Word::Else);
    if (has_value) {
      out.args.emplace_back();
      if (!parse_expr(in, out.args.back())) return false;
    }
    if (has_value || at_aggregate_body(in))
      return parse_aggregate_body(in, token.word, token.span.begin, out);
  }
  if (in.at(TokenKind::LeftParen)) {
    const Span open = in.take().span;
    out.has_parens = true;
    if (!parse_arguments(in, TokenKind::RightParen, "`,` or `)`", open, out.args)) return false;
    if (is_aggregate(token.word) && out.args.size() <= 1 && at_aggregate_body(in)) {
      return parse_aggregate_body(in, token.word, token.span.begin, out);
    }
  }
  out.span = since(in, token.span.begin);
  return measure(in, out);
}

bool parse_variable(TokenStream& in, Expr& out) {
  const Token token = in.take();
  out.kind = ExprKind::Variable;
  out.name = token.name;
  out.span = token.span;
  const Token& next = in.peek();
  if (next.kind != TokenKind::LeftParen || next.span.begin != token.span.end) return true;
  in.lexer
      .report(Code::UnexpectedToken, token.span,
              fmt::format("`{}` starts like a variable, so it cannot have arguments",
                          in.names.text(token.name)))
      .help("names of predicates and functions start with a lower-case letter");
  return false;
}

// ---- Numbers ----

}  // namespace

bool parse_signed_number(TokenStream& in, Expr& out) {
  const uint32_t begin = in.peek().span.begin;
  const bool negative = in.accept(TokenKind::Minus);
  const Token token = in.take();
  out.span = {begin, token.span.end};
  out.name = token.name;
  if (token.kind == TokenKind::Float) {
    out.kind = ExprKind::Float;
    out.number = negative ? -token.number : token.number;
    return true;
  }
  constexpr uint64_t kLargestNegative = uint64_t{1} << 63;
  out.kind = ExprKind::Integer;
  out.magnitude = token.magnitude;
  out.negative = negative && token.magnitude != 0;
  if (negative && token.magnitude > kLargestNegative) {
    in.lexer.report(Code::InvalidNumber, out.span, "an integer below -2^63");
  }
  return true;
}

namespace {

bool is_number(const Token& token) {
  return token.kind == TokenKind::Integer || token.kind == TokenKind::Float;
}

// ---- Operators ----

bool parse_primary(TokenStream& in, Expr& out) {
  const Token& token = in.peek();
  switch (token.kind) {
    case TokenKind::Variable:
      return parse_variable(in, out);
    case TokenKind::Identifier:
      return parse_name(in, out);
    case TokenKind::LeftBracket:
      return parse_list(in, out);
    case TokenKind::Anonymous:
      out.kind = ExprKind::Anonymous;
      out.span = in.take().span;
      return true;
    case TokenKind::Integer:
    case TokenKind::Float:
      return parse_signed_number(in, out);
    case TokenKind::String:
      out.kind = ExprKind::String;
      out.name = token.name;
      out.span = in.take().span;
      return true;
    case TokenKind::LeftParen: {
      const Span open = in.take().span;
      return parse_expr(in, out) && in.expect_close(TokenKind::RightParen, "`)`", open);
    }
    case TokenKind::Less:
    case TokenKind::Greater:
      if (in.previous().kind == TokenKind::Equal)
        return in.fail("an expression", "write `<=` or `>=`");
      if (in.previous().kind == TokenKind::Less)
        return in.fail("an expression", "`not equal` is written `!=`");
      return in.fail("an expression");
    case TokenKind::Percent:
      return in.fail("an expression", "comments start with `//`");
    default:
      return in.fail("an expression");
  }
}

bool parse_unary(TokenStream& in, Expr& out) {
  if (!in.at(TokenKind::Minus)) return parse_primary(in, out);
  if (is_number(in.peek(1))) return parse_signed_number(in, out);
  const uint32_t begin = in.take().span.begin;
  const Nesting nesting(in);
  if (nesting.too_deep()) return in.too_deep(in.peek().span);
  out.kind = ExprKind::Negate;
  out.args.emplace_back();
  if (!parse_unary(in, out.args.back())) return false;
  out.span = since(in, begin);
  return measure(in, out);
}

struct Operator {
  ast::BinaryOp op;
  int level;  // 1: sums, 2: products
};

std::optional<Operator> binary_operator(TokenKind kind) {
  switch (kind) {
    case TokenKind::Plus:
      return Operator{ast::BinaryOp::Add, 1};
    case TokenKind::Minus:
      return Operator{ast::BinaryOp::Sub, 1};
    case TokenKind::Star:
      return Operator{ast::BinaryOp::Mul, 2};
    case TokenKind::Slash:
      return Operator{ast::BinaryOp::Div, 2};
    case TokenKind::Percent:
      return Operator{ast::BinaryOp::Mod, 2};
    default:
      return std::nullopt;
  }
}

bool combine(TokenStream& in, ExprKind kind, Expr& left, Expr&& right, uint32_t begin) {
  Expr whole;
  whole.kind = kind;
  whole.args.reserve(2);
  whole.args.push_back(std::move(left));
  whole.args.push_back(std::move(right));
  whole.span = since(in, begin);
  left = std::move(whole);
  return measure(in, left);
}

// Operators of at least the level `lowest`; all are left-associative.
bool parse_binary(TokenStream& in, Expr& out, int lowest) {
  const uint32_t begin = in.peek().span.begin;
  if (!parse_unary(in, out)) return false;
  while (const auto next = binary_operator(in.peek().kind)) {
    if (next->level < lowest) break;
    in.take();
    Expr right;
    if (!parse_binary(in, right, next->level + 1)) return false;
    if (!combine(in, ExprKind::Binary, out, std::move(right), begin)) return false;
    out.binary_op = next->op;
  }
  return true;
}

}  // namespace

bool parse_expr(TokenStream& in, Expr& out) {
  const Nesting nesting(in);
  if (nesting.too_deep()) return in.too_deep(in.peek().span);
  if (at_conditional(in)) return parse_conditional(in, out);
  const uint32_t begin = in.peek().span.begin;
  if (!parse_binary(in, out, 1)) return false;
  if (!in.accept(TokenKind::DotDot)) return true;
  Expr last;
  if (!parse_binary(in, last, 1)) return false;
  return combine(in, ExprKind::Interval, out, std::move(last), begin);
}

std::optional<ast::CompareOp> compare_op(TokenKind kind) {
  switch (kind) {
    case TokenKind::Equal:
    case TokenKind::EqualEqual:
      return ast::CompareOp::Eq;
    case TokenKind::NotEqual:
      return ast::CompareOp::Ne;
    case TokenKind::Less:
      return ast::CompareOp::Lt;
    case TokenKind::LessEqual:
      return ast::CompareOp::Le;
    case TokenKind::Greater:
      return ast::CompareOp::Gt;
    case TokenKind::GreaterEqual:
      return ast::CompareOp::Ge;
    default:
      return std::nullopt;
  }
}

}  // namespace xlog::lang
