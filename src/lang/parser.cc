#include "lang/parser.h"

#include <utility>

#include "lang/bulk_facts.h"
#include "lang/parse_parts.h"
#include "lang/token_stream.h"

namespace xlog::lang {

namespace {

// After a statement that could not be read. Always moves on.
void recover(TokenStream& in, uint32_t begin) {
  if (in.peek().span.begin == begin && in.take().kind == TokenKind::Period) return;
  in.skip_statement();
}

}  // namespace

Module parse(const SourceFile& file, Interner& names, Diagnostics& diagnostics,
             const ParseOptions& options) {
  Module module;
  module.file = &file;
  check_utf8(file, diagnostics);
  TokenStream in(file, names, diagnostics, options.keep_comments ? &module.comments : nullptr);
  BulkFacts facts(module, in.lexer, names);
  while (!in.lexer.full()) {
    if (options.bulk_facts && in.at_boundary()) facts.read();
    if (in.at(TokenKind::End)) break;
    facts.close_block();
    const uint32_t begin = in.peek().span.begin;
    ast::Statement statement;
    if (parse_statement(in, statement)) {
      module.statements.push_back(std::move(statement));
    } else {
      recover(in, begin);
    }
  }
  facts.close_block();
  facts.shrink_to_fit();
  if (in.lexer.full()) in.lexer.note_that_reading_stopped();
  return module;
}

std::vector<ast::Literal> parse_body(const SourceFile& file, Interner& names,
                                     Diagnostics& diagnostics) {
  check_utf8(file, diagnostics);
  TokenStream in(file, names, diagnostics, nullptr);
  const size_t errors = diagnostics.error_count();
  std::vector<ast::Literal> body;
  bool ok = parse_body(in, body);
  if (ok && !in.at(TokenKind::End)) ok = in.fail("`,` or the end");
  if (!ok || diagnostics.error_count() > errors) body.clear();
  return body;
}

}  // namespace xlog::lang
