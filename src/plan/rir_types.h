// Terms of RIR text before their types are known, and how these are found: columns have them, what
// is compared or computed has those of its parts, and a number that nothing says more of is i64, or
// f64 where it has a point.
#pragma once

#include <initializer_list>
#include <optional>
#include <string>
#include <vector>

#include "lang/program.h"

namespace xlog::plan {

enum class RirLiteral : uint8_t { Integer, Float, String, Word, Structure };

struct RirTerm {
  lang::TermKind kind = lang::TermKind::Constant;  // Variable, Constant or Arith
  std::string text;                                // as written
  uint32_t line = 0;
  lang::VarId var;
  // Of a Constant.
  RirLiteral literal = RirLiteral::Word;
  bool negative = false;
  uint64_t magnitude = 0;
  Symbol name;
  // Of an Arith.
  lang::ArithOp op{};
  lang::CompareOp compare{};
  std::vector<RirTerm> args;
  std::optional<lang::Type> type;
};

class RirTypes {
 public:
  // The types of the rule's variables are filled in.
  RirTypes(lang::Rule& rule, lang::Names& names)
      : rule_(rule), names_(names), known_(rule.variables.size()) {}

  // The terms have to stay where they are.
  void has_type(RirTerm& term, const std::optional<lang::Type>& type);
  void same_type(std::initializer_list<RirTerm*> terms);
  // Once all is said.
  void solve();
  lang::Term term(const RirTerm& term);
  // What no term can be, if something was, and in which line.
  struct Problem {
    uint32_t line;
    std::string what;
  };
  const std::optional<Problem>& problem() const { return problem_; }

 private:
  bool learn(RirTerm& term, const lang::Type& type);
  bool unify(const std::vector<RirTerm*>& terms);
  bool spread(RirTerm& term);
  bool guess(RirTerm& term);
  lang::Value value(const RirTerm& term, const lang::Type& type);
  std::optional<lang::Value> structure(const RirTerm& term, const lang::Type& type) const;

  lang::Rule& rule_;
  lang::Names& names_;
  std::vector<std::optional<lang::Type>> known_;  // by variable
  std::vector<RirTerm*> terms_;
  std::vector<std::vector<RirTerm*>> same_;
  std::optional<Problem> problem_;
};

}  // namespace xlog::plan
