// Lines, tokens and terms of RIR text (rir.h). Functions that read give false after they have set
// the error.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "lang/lexer.h"
#include "lang/load.h"
#include "plan/rir_types.h"

namespace xlog::plan {

class RirReader {
 public:
  RirReader(std::string_view text, std::string_view name, lang::Session& session)
      : session_(session), name_(name), text_(text) {}

 protected:
  struct Line {
    std::vector<lang::Token> tokens;
    std::string remark;
    uint32_t number = 0;
  };

  bool fail(std::string_view what, std::string help = "");
  bool fail_at(uint32_t line, std::string_view what, std::string help = "");
  bool read_lines();
  void begin(const Line& line) {
    line_ = &line;
    next_ = 0;
  }

  // ---- of the present line ----

  std::string_view text_of(const lang::Token& token) const {
    return session_.sources.text(token.span);
  }
  bool at_end() const { return next_ == line_->tokens.size(); }
  bool at(lang::TokenKind kind) const { return !at_end() && line_->tokens[next_].kind == kind; }
  bool at_word(std::string_view word) const {
    return at(lang::TokenKind::Identifier) && text_of(line_->tokens[next_]) == word;
  }
  bool at_after(lang::TokenKind kind) const {
    return next_ + 1 < line_->tokens.size() && line_->tokens[next_ + 1].kind == kind;
  }
  // A name of a predicate; those of helpers begin as variables do.
  bool at_name() const { return at(lang::TokenKind::Identifier) || at(lang::TokenKind::Variable); }
  bool take(lang::TokenKind kind);
  bool take_word(std::string_view word);
  bool expect(lang::TokenKind kind);
  bool expect_word(std::string_view word);
  std::string here() const;

  lang::VarId named_variable(Symbol name);
  bool term(RirTerm& to);
  bool compare(lang::CompareOp& op);

  lang::Session& session_;
  std::vector<Line> lines_;
  const Line* line_ = nullptr;
  size_t next_ = 0;  // token
  lang::Rule rule_;  // whose variables were met
  std::optional<Error> error_;

 private:
  uint32_t helper_number(const lang::Token& token) const;
  lang::VarId variable(const lang::Token& token);
  bool conditional(RirTerm& to);
  bool sum(RirTerm& to);
  bool product(RirTerm& to);
  bool unary(RirTerm& to);
  bool primary(RirTerm& to);
  bool word(RirTerm& to);
  bool call(RirTerm& to);
  bool structure(RirTerm& to);
  bool said_type(RirTerm& to);
  bool type(lang::Type& to);

  std::string_view name_, text_;
  uint32_t depth_ = 0;
};

}  // namespace xlog::plan
