#include "plan/rir_read.h"

#include <fmt/format.h>

#include <algorithm>

namespace xlog::plan {

using lang::Token;
using lang::TokenKind;

namespace {

constexpr uint32_t kMostNested = 200;
constexpr uint32_t kMostHelpers = 100'000;

RirTerm apply(lang::ArithOp op, std::vector<RirTerm> args) {
  RirTerm made;
  made.kind = lang::TermKind::Arith;
  made.op = op;
  made.args = std::move(args);
  return made;
}

}  // namespace

bool RirReader::fail(std::string_view what, std::string help) {
  return fail_at(line_ == nullptr ? 1 : line_->number, what, std::move(help));
}

bool RirReader::fail_at(uint32_t line, std::string_view what, std::string help) {
  error_ = Error{fmt::format("{}:{}: {}", name_, line, what), std::move(help)};
  return false;
}

// ---- lines ----

bool RirReader::read_lines() {
  const SourceFile* file = session_.sources.add(std::string(name_), "", std::string(text_));
  if (file == nullptr) return fail("no room for another text", "begin a new session");
  Diagnostics diagnostics;
  std::vector<lang::ast::Comment> comments;
  lang::Lexer lexer(*file, session_.names.symbols, diagnostics, &comments);
  for (Token token = lexer.next(); token.kind != TokenKind::End; token = lexer.next()) {
    const uint32_t number = session_.sources.place(token.span).line;
    if (lines_.empty() || lines_.back().number != number) lines_.push_back({{}, "", number});
    if (token.kind == TokenKind::Error) {
      line_ = &lines_.back();
      return fail(diagnostics.all().front().message);
    }
    lines_.back().tokens.push_back(token);
  }
  for (const lang::ast::Comment& comment : comments) {
    const uint32_t number = session_.sources.place(comment.span).line;
    const auto line = std::ranges::find(lines_, number, &Line::number);
    if (line == lines_.end()) continue;
    std::string_view text = session_.sources.text(comment.span);
    text.remove_prefix(std::min<size_t>(text.size(), 2));
    if (text.starts_with(' ')) text.remove_prefix(1);
    line->remark = text;
  }
  // Helpers are numbered in the order of the rule's variables.
  uint32_t helpers = 0;
  for (const Line& line : lines_) {
    for (const Token& token : line.tokens) {
      if (token.kind == TokenKind::Variable) helpers = std::max(helpers, helper_number(token));
    }
  }
  if (helpers > kMostHelpers) return fail("a helper with a number past 100000");
  for (uint32_t h = 0; h < helpers; ++h) {
    rule_.variables.emplace_back().helper = true;
  }
  return true;
}

// 3 for `_3`, 0 for all other names.
uint32_t RirReader::helper_number(const Token& token) const {
  const std::string_view text = text_of(token);
  if (text.size() < 2 || text[0] != '_' || text[1] == '0') return 0;
  uint32_t number = 0;
  for (const char c : text.substr(1)) {
    if (c < '0' || c > '9') return 0;
    number = std::min(number * 10 + static_cast<uint32_t>(c - '0'), kMostHelpers + 1);
  }
  return number;
}

// ---- tokens of a line ----

bool RirReader::take(TokenKind kind) {
  if (!at(kind)) return false;
  ++next_;
  return true;
}
bool RirReader::take_word(std::string_view word) {
  if (!at_word(word)) return false;
  ++next_;
  return true;
}
std::string RirReader::here() const {
  return at_end() ? "the end of the line" : fmt::format("`{}`", text_of(line_->tokens[next_]));
}
bool RirReader::expect(TokenKind kind) {
  if (take(kind)) return true;
  return fail(fmt::format("expected `{}`, found {}", lang::spelling(kind), here()));
}
bool RirReader::expect_word(std::string_view word) {
  if (take_word(word)) return true;
  return fail(fmt::format("expected `{}`, found {}", word, here()));
}

// ---- terms ----

bool RirReader::term(RirTerm& to) {
  const size_t first = next_;
  if (depth_ == kMostNested) return fail("a term is nested too deep");
  ++depth_;
  const bool good = at_word("if") ? conditional(to) : sum(to);
  --depth_;
  to.line = line_->number;
  if (good && to.kind == lang::TermKind::Arith) {
    const uint32_t end = line_->tokens[next_ - 1].span.end;
    to.text = session_.sources.text({line_->tokens[first].span.begin, end});
  }
  return good;
}

bool RirReader::conditional(RirTerm& to) {
  expect_word("if");
  std::vector<RirTerm> args(4);
  lang::CompareOp op{};
  if (!sum(args[0]) || !compare(op) || !sum(args[1]) || !expect_word("then") || !term(args[2]) ||
      !expect_word("else") || !term(args[3])) {
    return false;
  }
  to = apply(lang::ArithOp::If, std::move(args));
  to.compare = op;
  return true;
}

bool RirReader::sum(RirTerm& to) {
  if (!product(to)) return false;
  while (at(TokenKind::Plus) || at(TokenKind::Minus)) {
    const auto op = at(TokenKind::Plus) ? lang::ArithOp::Add : lang::ArithOp::Sub;
    ++next_;
    RirTerm right;
    if (!product(right)) return false;
    to = apply(op, {std::move(to), std::move(right)});
  }
  return true;
}

bool RirReader::product(RirTerm& to) {
  if (!unary(to)) return false;
  for (;;) {
    lang::ArithOp op{};
    if (take(TokenKind::Star)) {
      op = lang::ArithOp::Mul;
    } else if (take(TokenKind::Slash)) {
      op = lang::ArithOp::Div;
    } else if (take(TokenKind::Percent)) {
      op = lang::ArithOp::Mod;
    } else {
      return true;
    }
    RirTerm right;
    if (!unary(right)) return false;
    to = apply(op, {std::move(to), std::move(right)});
  }
}

bool RirReader::unary(RirTerm& to) {
  if (!take(TokenKind::Minus)) return primary(to);
  const bool is_number = at(TokenKind::Integer) || at(TokenKind::Float) || at_word("inf");
  if (is_number) {
    to.negative = true;
    return primary(to);
  }
  if (depth_ == kMostNested) return fail("a term is nested too deep");
  ++depth_;
  RirTerm of;
  const bool good = unary(of);
  --depth_;
  if (good) to = apply(lang::ArithOp::Neg, {std::move(of)});
  return good;
}

bool RirReader::primary(RirTerm& to) {
  if (at_end()) return fail("a term is missing at the end of the line");
  const Token& token = line_->tokens[next_];
  to.text = text_of(token);
  to.line = line_->number;
  switch (token.kind) {
    case TokenKind::Variable:
      ++next_;
      to.kind = lang::TermKind::Variable;
      to.var = variable(token);
      return true;
    case TokenKind::Integer:
    case TokenKind::Float:
    case TokenKind::String:
      ++next_;
      to.literal = token.kind == TokenKind::Integer ? RirLiteral::Integer
                   : token.kind == TokenKind::Float ? RirLiteral::Float
                                                    : RirLiteral::String;
      to.magnitude = token.magnitude;
      to.name = token.name;
      return said_type(to);
    case TokenKind::LeftParen:
      ++next_;
      if (!term(to) || !expect(TokenKind::RightParen)) return false;
      // No constant is put in parentheses: this one is minus a number.
      if (to.kind == lang::TermKind::Constant && to.negative) {
        to.negative = false;
        to = apply(lang::ArithOp::Neg, {std::move(to)});
      }
      return true;
    case TokenKind::LeftBracket:
      return structure(to);
    case TokenKind::Identifier:
      return at_after(TokenKind::LeftParen) ? call(to) : word(to);
    default:
      return fail(fmt::format("expected a term, found {}", here()));
  }
}

bool RirReader::word(RirTerm& to) {
  to.literal = RirLiteral::Word;
  to.name = line_->tokens[next_++].name;
  return said_type(to);
}

// [:TYPE]
bool RirReader::said_type(RirTerm& to) {
  if (!take(TokenKind::Colon)) return true;
  return type(to.type.emplace());
}

bool RirReader::type(lang::Type& to) {
  const auto kind = at_end() ? std::nullopt : lang::find_type(text_of(line_->tokens[next_]));
  if (!kind) return fail(fmt::format("expected a type, found {}", here()));
  ++next_;
  to.kind = *kind;
  if (*kind != lang::TypeKind::List) return true;
  lang::Type element;
  if (!expect(TokenKind::Less) || !type(element)) return false;
  to = lang::Type::list_of(std::move(element));
  return expect(TokenKind::Greater);
}

bool RirReader::call(RirTerm& to) {
  using lang::ArithOp;
  for (const ArithOp op : {ArithOp::Abs, ArithOp::Min, ArithOp::Max, ArithOp::Pow}) {
    if (!at_word(lang::spelling(op))) continue;
    next_ += 2;
    std::vector<RirTerm> args;
    do {
      if (!term(args.emplace_back())) return false;
    } while (take(TokenKind::Comma));
    const size_t wanted = op == ArithOp::Abs ? 1 : 2;
    if (args.size() != wanted) {
      return fail(fmt::format("{} takes {} arguments", lang::spelling(op), wanted));
    }
    to = apply(op, std::move(args));
    return expect(TokenKind::RightParen);
  }
  if (!at_word("cast")) return structure(to);
  next_ += 2;
  RirTerm of;
  if (!term(of) || !expect(TokenKind::Comma)) return false;
  to = apply(ArithOp::Cast, {std::move(of)});
  return type(to.type.emplace()) && expect(TokenKind::RightParen);
}

// A list or compound term: one that is known by its text.
bool RirReader::structure(RirTerm& to) {
  const size_t first = next_;
  size_t open = 0;
  do {
    if (at_end()) return fail("a list or term without its end");
    open += at(TokenKind::LeftBracket) || at(TokenKind::LeftParen) ? 1 : 0;
    const bool closes = at(TokenKind::RightBracket) || at(TokenKind::RightParen);
    open -= closes ? 1 : 0;
    ++next_;
    if (closes && open == 0) break;
  } while (true);
  to.literal = RirLiteral::Structure;
  to.text =
      session_.sources.text({line_->tokens[first].span.begin, line_->tokens[next_ - 1].span.end});
  return said_type(to);
}

lang::VarId RirReader::variable(const Token& token) {
  if (const uint32_t number = helper_number(token); number > 0) return {number - 1};
  return named_variable(token.name);
}

lang::VarId RirReader::named_variable(Symbol name) {
  for (uint32_t v = 0; v < rule_.variables.size(); ++v) {
    const lang::Variable& known = rule_.variables[v];
    if (known.name == name && !known.helper && !known.anonymous) return {v};
  }
  rule_.variables.emplace_back().name = name;
  return {static_cast<uint32_t>(rule_.variables.size() - 1)};
}

bool RirReader::compare(lang::CompareOp& op) {
  using lang::CompareOp;
  for (const CompareOp any :
       {CompareOp::Eq, CompareOp::Ne, CompareOp::Lt, CompareOp::Le, CompareOp::Gt, CompareOp::Ge}) {
    if (at_end() || text_of(line_->tokens[next_]) != lang::ast::spelling(any)) continue;
    ++next_;
    op = any;
    return true;
  }
  return fail(fmt::format("expected a comparison, found {}", here()));
}

}  // namespace xlog::plan
