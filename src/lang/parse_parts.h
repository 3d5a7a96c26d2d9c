// The parts of the recursive-descent parser. Each reads one construct from the stream into `out`
// and returns false once it has reported an error. Grammar, with [] optional and {} repeated:
//
//   expr      = "if" expr compare expr "then" expr "else" expr | sum [".." sum]
//   sum       = product {("+" | "-") product}
//   product   = unary {("*" | "/" | "%") unary}
//   unary     = "-" unary | primary
//   primary   = variable | "_" | number | string | "(" expr ")" | name [arguments]
//             | "[" [expr {"," expr} ["|" expr]] "]" | aggregate [expr] ":" "{" body "}"
//   arguments = "(" [expr {"," expr}] ")"
//   atom      = ["-"] name [arguments]
//   literal   = {"not" | "know" | "possible"} (atom | expr compare expr)
//             | expr "is" expr | expr "=.." expr
//   body      = literal {"," literal}
//   head      = atom {or atom} | expr "::" atom {or expr "::" atom} | [expr] choice [expr]
//   choice    = "{" [element {";" element}] "}"
//   element   = atom [":" body]
//   statement = declaration | [head] ":-" body "." | head "." | "?-" body "."
//
// where `or` is ";" or "|". parse_statement.cc has the declarations.
#pragma once

#include <optional>
#include <vector>

#include "lang/ast.h"
#include "lang/token_stream.h"

namespace xlog::lang {

bool parse_expr(TokenStream& in, ast::Expr& out);
bool parse_signed_number(TokenStream& in, ast::Expr& out);  // at a number or a minus before one
bool parse_body(TokenStream& in, std::vector<ast::Literal>& out);

// A rule from its head on, up to but not including the period.
bool parse_rule(TokenStream& in, ast::Rule& out);
// The same when the first expression of the head has been read.
bool parse_rule_after(TokenStream& in, ast::Expr first, ast::Rule& out);

// One whole statement with its period.
bool parse_statement(TokenStream& in, ast::Statement& out);

std::optional<ast::CompareOp> compare_op(TokenKind kind);

// `p`, `p(X)` and their strong negation read as expressions are atoms too. False leaves `expr` as
// it was.
bool to_atom(ast::Expr& expr, const Interner& names, ast::Atom& out);

}  // namespace xlog::lang
