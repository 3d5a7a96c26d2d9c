// Statements: which kind one is, and the declarations. Words such as `pred` or `query` start a
// declaration only where what follows fits; elsewhere they are ordinary names.
#include <fmt/format.h>

#include "lang/parse_parts.h"

namespace xlog::lang {

using ast::Expr;
using ast::ExprKind;
using ast::Statement;

namespace {

constexpr std::string_view kLowerCase =
    "names of predicates, functions and constants start with a lower-case letter";

bool expect_name(TokenStream& in, std::string_view what, Symbol& name, Span& span) {
  const Token& token = in.peek();
  if (token.kind == TokenKind::Variable) return in.fail(what, std::string(kLowerCase));
  if (token.kind != TokenKind::Identifier || is_reserved(token.word)) return in.fail(what);
  name = token.name;
  span = in.take().span;
  return true;
}

bool invalid_argument(TokenStream& in, Span span, std::string message, std::string_view help) {
  in.lexer.report(Code::InvalidArgument, span, std::move(message)).help(std::string(help));
  return false;
}

// ---- Types and signatures ----

bool parse_type(TokenStream& in, ast::TypeExpr& out) {
  const Nesting nesting(in);
  if (nesting.too_deep()) return in.too_deep(in.peek().span);
  if (!expect_name(in, "a type", out.name, out.span)) return false;
  if (!in.at(TokenKind::Less)) return true;
  const Span open = in.take().span;
  do {
    if (!parse_type(in, out.args.emplace_back())) return false;
  } while (in.accept(TokenKind::Comma));
  if (!in.expect_close(TokenKind::Greater, "`>`", open)) return false;
  out.span.end = in.previous().span.end;
  return true;
}

bool parse_column(TokenStream& in, ast::PredColumn& out) {
  if (in.at(TokenKind::Identifier) && in.peek(1).kind == TokenKind::Colon) {
    Span span;
    if (!expect_name(in, "the name of a column", out.name, span)) return false;
    in.take();
  }
  return parse_type(in, out.type);
}

bool parse_pred(TokenStream& in, bool is_private, Statement& out) {
  auto& pred = out.node.emplace<ast::PredDecl>();
  pred.is_private = is_private;
  in.take();
  if (!expect_name(in, "the name of a predicate", pred.name, pred.name_span)) return false;
  if (!in.at(TokenKind::LeftParen)) return true;
  const Span open = in.take().span;
  if (in.accept(TokenKind::RightParen)) return true;
  do {
    if (!parse_column(in, pred.columns.emplace_back())) return false;
  } while (in.accept(TokenKind::Comma));
  return in.expect_close(TokenKind::RightParen, "`,` or `)`", open);
}

bool parse_param(TokenStream& in, ast::FuncParam& out) {
  if (!in.at(TokenKind::Variable))
    return in.fail("a parameter", "parameters are variables: `func f(X, Y) = X + Y.`");
  const Token token = in.take();
  out.name = token.name;
  out.span = token.span;
  return !in.accept(TokenKind::Colon) || parse_type(in, out.type.emplace());
}

bool parse_func_body(TokenStream& in, ast::FuncDef& func) {
  if (!parse_expr(in, func.result)) return false;
  if (!in.at(TokenKind::If)) return true;
  if (func.result.kind != ExprKind::Variable) {
    return invalid_argument(in, func.result.span,
                            "the result of a function with goals must be a variable",
                            "write `func f(X) = R :- p(X, R).`");
  }
  in.take();
  func.has_goals = true;
  return parse_body(in, func.goals);
}

bool parse_func(TokenStream& in, bool is_private, Statement& out) {
  auto& func = out.node.emplace<ast::FuncDef>();
  func.is_private = is_private;
  in.take();
  if (!expect_name(in, "the name of a function", func.name, func.name_span)) return false;
  const Span open = in.peek().span;
  if (!in.expect(TokenKind::LeftParen, "`(` and the parameters")) return false;
  if (!in.accept(TokenKind::RightParen)) {
    do {
      if (!parse_param(in, func.params.emplace_back())) return false;
    } while (in.accept(TokenKind::Comma));
    if (!in.expect_close(TokenKind::RightParen, "`,` or `)`", open)) return false;
  }
  if (in.accept(TokenKind::Arrow) && !parse_type(in, func.result_type.emplace())) return false;
  if (!in.expect(TokenKind::Equal, "`=` and the body of the function")) return false;
  in.in_function = true;
  const bool ok = parse_func_body(in, func);
  in.in_function = false;
  return ok;
}

// ---- Other declarations ----

bool parse_domain(TokenStream& in, Statement& out) {
  auto& domain = out.node.emplace<ast::DomainDecl>();
  in.take();
  return expect_name(in, "the name of a domain", domain.name, domain.name_span) &&
         in.expect(TokenKind::Colon, "`:` and a type") && parse_type(in, domain.type);
}

bool parse_use(TokenStream& in, Statement& out) {
  auto& use = out.node.emplace<ast::UseDecl>();
  in.take();
  const uint32_t begin = in.peek().span.begin;
  Span span;
  do {
    if (!expect_name(in, "the name of a module", use.path.emplace_back(), span)) return false;
  } while (in.accept(TokenKind::Slash));
  use.path_span = {begin, span.end};
  if (!in.accept(TokenKind::DoubleColon)) return true;
  use.selective = true;
  const Span open = in.peek().span;
  if (!in.expect(TokenKind::LeftBrace, "`{` and the names to import")) return false;
  do {
    if (!expect_name(in, "a name to import", use.names.emplace_back(),
                     use.name_spans.emplace_back()))
      return false;
  } while (in.accept(TokenKind::Comma));
  return in.expect_close(TokenKind::RightBrace, "`,` or `}`", open);
}

bool parse_const(TokenStream& in, Statement& out) {
  auto& constant = out.node.emplace<ast::ConstDef>();
  in.take();
  return expect_name(in, "the name of a constant", constant.name, constant.name_span) &&
         in.expect(TokenKind::Equal, "`=` and a value") && parse_expr(in, constant.value);
}

bool parse_pragma(TokenStream& in, Statement& out) {
  auto& pragma = out.node.emplace<ast::PragmaDecl>();
  in.take();
  if (!expect_name(in, "the name of a pragma", pragma.key, pragma.key_span)) return false;
  if (!in.expect(TokenKind::Equal, "`=` and a value")) return false;
  // One word or number and nothing more: what follows may be the next statement.
  const Token& token = in.peek();
  if (token.kind == TokenKind::Identifier && !is_reserved(token.word)) {
    pragma.value.kind = ExprKind::Name;
    pragma.value.name = token.name;
    pragma.value.span = in.take().span;
    return true;
  }
  const bool negative = token.kind == TokenKind::Minus;
  const TokenKind number = in.peek(negative ? 1 : 0).kind;
  if (number != TokenKind::Integer && number != TokenKind::Float)
    return in.fail("a word or a number");
  return parse_signed_number(in, pragma.value);
}

bool parse_directive(TokenStream& in, Statement& out) {
  const std::string_view name = in.names.text(in.peek().name);
  if (name == "const") return parse_const(in, out);
  if (name == "pragma") return parse_pragma(in, out);
  const Token token = in.take();
  in.lexer
      .report(Code::UnexpectedToken, token.span, fmt::format("there is no directive `#{}`", name))
      .help(
          "the directives are `#pragma key = value` and `#const name = value.`; comments start "
          "with `//`");
  in.skip_line();
  return false;
}

// ---- What is written before `::` ----

constexpr std::string_view kNeuralForm =
    "write `nn(net, [X], Y, [label, ...]) :: p(X, Y).`, or without the labels";

bool is_bare_name(const Expr& expr) { return expr.kind == ExprKind::Name && !expr.has_parens; }

bool parse_neural(TokenStream& in, Expr decl, Statement& out) {
  auto& neural = out.node.emplace<ast::NeuralDecl>();
  std::vector<Expr>& args = decl.args;
  if (args.size() != 3 && args.size() != 4) {
    return invalid_argument(in, decl.span, "`nn` has three or four arguments", kNeuralForm);
  }
  if (!is_bare_name(args[0]))
    return invalid_argument(in, args[0].span, "the network must be a name", kNeuralForm);
  if (args[1].kind != ExprKind::List || args[1].has_tail) {
    return invalid_argument(in, args[1].span, "the inputs must be a list of variables",
                            kNeuralForm);
  }
  for (const Expr& input : args[1].args) {
    if (input.kind == ExprKind::Variable) continue;
    return invalid_argument(in, input.span, "an input must be a variable", kNeuralForm);
  }
  if (args[2].kind != ExprKind::Variable) {
    return invalid_argument(in, args[2].span, "the output must be a variable", kNeuralForm);
  }
  neural.network = args[0].name;
  neural.inputs = std::move(args[1].args);
  neural.output = std::move(args[2]);
  if (args.size() == 4) {
    neural.has_labels = true;
    if (args[3].kind != ExprKind::List || args[3].has_tail) {
      return invalid_argument(in, args[3].span, "the labels must be a list", kNeuralForm);
    }
    for (const Expr& label : args[3].args) {
      if (label.kind == ExprKind::Integer || is_bare_name(label)) continue;
      return invalid_argument(in, label.span, "a label must be an integer or a name", kNeuralForm);
    }
    neural.labels = std::move(args[3].args);
  }
  in.take();
  Expr atom;
  if (!parse_expr(in, atom)) return false;
  if (to_atom(atom, in.names, neural.atom)) return true;
  return invalid_argument(in, atom.span, "expected the atom that the network defines", kNeuralForm);
}

bool parse_weighted_rule(TokenStream& in, ast::Rule& rule) {
  const Span begin = in.peek().span;
  if (!in.expect(TokenKind::DoubleColon, "`::` and a rule") || !parse_rule(in, rule)) return false;
  if (rule.head_kind == ast::HeadKind::Atom) return true;
  return invalid_argument(in, begin, "only a rule with one atom as its head can be learned",
                          "write `learnable(mask) :: head :- body.`");
}

bool parse_learnable(TokenStream& in, const Expr& decl, Statement& out) {
  auto& rule = out.node.emplace<ast::Rule>();
  if (decl.args.size() != 1 ||
      (decl.args[0].kind != ExprKind::Variable && !is_bare_name(decl.args[0]))) {
    return invalid_argument(in, decl.span, "`learnable` has one argument, the name of a mask",
                            "write `learnable(mask) :: head :- body.`");
  }
  rule.learnable_mask = decl.args[0].name;
  return parse_weighted_rule(in, rule);
}

// trainable_rule(name, weight = ...
bool at_trainable(TokenStream& in) {
  return in.at(Word::TrainableRule) && in.peek(1).kind == TokenKind::LeftParen &&
         (in.peek(2).kind == TokenKind::Identifier || in.peek(2).kind == TokenKind::Variable) &&
         in.peek(3).kind == TokenKind::Comma && in.peek(4).word == Word::Weight &&
         in.peek(5).kind == TokenKind::Equal;
}

bool parse_trainable(TokenStream& in, Statement& out) {
  auto& rule = out.node.emplace<ast::Rule>();
  in.take();
  const Span open = in.take().span;
  rule.trainable_name = in.take().name;
  for (int i = 0; i < 3; ++i) in.take();  // , weight =
  return parse_expr(in, rule.trainable_weight.emplace()) &&
         in.expect_close(TokenKind::RightParen, "`)`", open) && parse_weighted_rule(in, rule);
}

// ---- query(...) and evidence(...) ----

bool is_atom_shape(const Expr& expr) {
  return expr.kind == ExprKind::Name ||
         (expr.kind == ExprKind::Negate && expr.args[0].kind == ExprKind::Name);
}

bool is_truth_value(const Expr& expr, const Interner& names) {
  return is_bare_name(expr) &&
         (names.text(expr.name) == "true" || names.text(expr.name) == "false");
}

// Facts that ask or tell something about the probability of another atom.
void recognize_probability_facts(TokenStream& in, Statement& out) {
  auto& rule = std::get<ast::Rule>(out.node);
  if (rule.head_kind != ast::HeadKind::Atom || !rule.body.empty() || rule.learnable_mask) return;
  ast::Atom& fact = rule.head[0].atom;
  if (fact.strong_negation || fact.args.empty() || !is_atom_shape(fact.args[0])) return;
  const std::string_view name = in.names.text(fact.name);
  if (name == "query" && fact.args.size() == 1) {
    ast::ProbQuery query;
    to_atom(fact.args[0], in.names, query.atom);
    out.node = std::move(query);
  } else if (name == "evidence" && fact.args.size() == 2 &&
             is_truth_value(fact.args[1], in.names)) {
    ast::Evidence evidence;
    evidence.value = in.names.text(fact.args[1].name) == "true";
    evidence.value_span = fact.args[1].span;
    to_atom(fact.args[0], in.names, evidence.atom);
    out.node = std::move(evidence);
  }
}

// ---- Rules ----

bool parse_rule_statement(TokenStream& in, Statement& out) {
  if (in.at(TokenKind::LeftBrace) || in.at(TokenKind::If))
    return parse_rule(in, out.node.emplace<ast::Rule>());
  Expr first;
  if (!parse_expr(in, first)) return false;
  if (in.at(TokenKind::DoubleColon) && first.kind == ExprKind::Name && first.has_parens) {
    const std::string_view name = in.names.text(first.name);
    if (name == "nn") return parse_neural(in, std::move(first), out);
    if (name == "learnable") return parse_learnable(in, first, out);
  }
  if (!parse_rule_after(in, std::move(first), out.node.emplace<ast::Rule>())) return false;
  if (in.at(TokenKind::Period)) recognize_probability_facts(in, out);
  return true;
}

bool at_declaration(TokenStream& in, size_t ahead = 0) {
  const TokenKind next = in.peek(ahead + 1).kind;
  return next == TokenKind::Identifier || next == TokenKind::Variable;
}

bool parse_any(TokenStream& in, Statement& out) {
  switch (in.peek().word) {
    case Word::Pred:
      if (at_declaration(in)) return parse_pred(in, false, out);
      break;
    case Word::Func:
      if (at_declaration(in)) return parse_func(in, false, out);
      break;
    case Word::Domain:
      if (at_declaration(in)) return parse_domain(in, out);
      break;
    case Word::Use:
      if (at_declaration(in)) return parse_use(in, out);
      break;
    case Word::Private:
      if (!at_declaration(in)) break;
      in.take();
      if (in.at(Word::Pred)) return parse_pred(in, true, out);
      if (in.at(Word::Func)) return parse_func(in, true, out);
      return in.fail("`pred` or `func` after `private`");
    case Word::TrainableRule:
      if (at_trainable(in)) return parse_trainable(in, out);
      break;
    default:
      break;
  }
  return parse_rule_statement(in, out);
}

std::string_view what_may_follow(const Statement& statement) {
  const auto* rule = std::get_if<ast::Rule>(&statement.node);
  const bool has_body =
      rule == nullptr ? std::holds_alternative<ast::Query>(statement.node) : !rule->body.empty();
  if (has_body) return "`,` or `.`";
  return rule == nullptr ? "`.`" : "`:-`, `;` or `.`";
}

}  // namespace

bool parse_statement(TokenStream& in, Statement& out) {
  const uint32_t begin = in.peek().span.begin;
  bool needs_period = true;
  bool ok = false;
  switch (in.peek().kind) {
    case TokenKind::Directive:
      ok = parse_directive(in, out);
      needs_period = !std::holds_alternative<ast::PragmaDecl>(out.node);
      break;
    case TokenKind::QueryMark:
      in.take();
      ok = parse_body(in, out.node.emplace<ast::Query>().body);
      break;
    case TokenKind::Percent:
    case TokenKind::Hash:
      in.unexpected("a statement").help("comments start with `//`");
      in.take();
      in.skip_line();
      return false;
    case TokenKind::Identifier:
      ok = parse_any(in, out);
      break;
    default:
      ok = parse_rule_statement(in, out);
      break;
  }
  if (!ok) return false;
  if (needs_period) {
    if (!in.finish_statement(begin, what_may_follow(out))) return false;
  } else {
    in.accept(TokenKind::Period);
  }
  out.span = {begin, in.previous().span.end};
  return true;
}

}  // namespace xlog::lang
