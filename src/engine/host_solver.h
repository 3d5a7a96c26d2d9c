// Solves literals on the host, for many bindings at once. What they say is said by the reference
// evaluator itself: lists and terms are made and taken apart by its matcher, which also maps and
// folds what no rule of its own does. The relations that it reads then are finished, and come to
// the host when they are first asked for.
#pragma once

#include <vector>

#include "base/result.h"
#include "engine/database.h"
#include "lang/program.h"
#include "logic/analysis.h"
#include "logic/answer.h"
#include "oracle/context.h"
#include "oracle/matcher.h"

namespace xlog::engine {

// Bindings of a rule's variables on the host: one column for each, as the device stores it.
struct HostRows {
  std::vector<lang::VarId> variables;
  std::vector<std::vector<std::byte>> columns;
  uint32_t rows = 0;
};

// Literals of a rule, in the order in which they are solved: all but atoms.
struct HostQuestion {
  uint32_t rule = 0;    // whose variables they have
  uint32_t source = 0;  // that the user knows, for reports
  std::vector<lang::Literal> literals;
  std::vector<lang::VarId> wanted;  // afterwards
};

class HostSolver {
 public:
  HostSolver(const lang::Program& program, const logic::Analysis& analysis, lang::Session& session,
             const logic::AnswerOptions& options, Database& database);

  // Each solution for each row, in order.
  Result<HostRows> solve(const HostQuestion& question, HostRows rows);

  // Instances of arithmetic without a value since the last call. Each counts once.
  uint64_t take_valueless();
  // Those that were met since then do not count.
  void forget_valueless();

  lang::Names& names() { return context_.names(); }

 private:
  Status fetch(const std::vector<lang::Literal>& literals);
  Status fetch(lang::PredId pred);

  oracle::Context context_;
  Database& database_;
  oracle::Database fetched_;      // rows that literals read
  std::vector<bool> is_fetched_;  // by predicate
  oracle::Matcher matcher_;
  decltype(oracle::Context::valueless) counted_;
};

// ---- values as a device has them: bits of the column's width, of a `term` its number ----

uint64_t to_word(const lang::Value& value, lang::TypeKind column, lang::Names& names);
lang::Value from_word(uint64_t word, lang::TypeKind column, const lang::Names& names);

}  // namespace xlog::engine
