// Surface syntax -> text: the inverse of the parser. parse(print(m)) equals m but for spans.
#pragma once

#include <string>

#include "lang/ast.h"
#include "lang/parser.h"

namespace xlog::lang {

std::string print(const ast::Expr& expr, const Interner& names);
std::string print(const ast::Atom& atom, const Interner& names);
std::string print(const ast::Literal& literal, const Interner& names);
std::string print(const std::vector<ast::Literal>& body, const Interner& names);  // "a, b"
std::string print(const ast::Statement& statement, const Module& module, const Interner& names);
std::string print(const Module& module, const Interner& names);
// The statement with each literal of its body on a line of its own.
std::string print_tall(const ast::Statement& statement, const Module& module,
                       const Interner& names);

// `xlog fmt`: the whole file in canonical layout (100 columns, one statement a line, long bodies
// one literal a line, blank lines between groups kept, at most one), every comment kept at its
// statement. A statement with a comment inside is left as written. The module must have been parsed
// with bulk_facts = false and keep_comments = true and without errors.
std::string format(const Module& module, const SourceMap& sources, const Interner& names);

// Structural equality without spans, for the round-trip test.
bool equal(const ast::Statement& a, const ast::Statement& b);

}  // namespace xlog::lang
