// Proofs: why a fact of the determined part of a program holds, and why one does not.
//
// A proof is a tree of rule instances over rows that hold, acyclic and of least height. It is found
// backwards from the goal, level by level: all instances that derive a fact of one level give the
// facts of the next. A fact that the program states has rank 0; a derived one the least
// 1 + (greatest rank of the rows its instance uses). After D levels every proof of height at most D
// is made of what was visited, so the search ends when the goal's rank is at most D. What the
// search visits is what lies within that height of the goal, not the relations.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "engine/instances.h"

namespace xlog::engine {

enum class ProofKind : uint8_t {
  Derived,    // by a rule; the children are the literals of its body, in order
  Fact,       // the program states it
  Input,      // a row of a data file
  Absent,     // no row fits a negated literal
  Compare,    // a comparison or equation, with its values
  Builtin,    // a built-in predicate
  Aggregate,  // of the body or of the head: a value folded from rows
};
std::string_view spelling(ProofKind kind);  // "derived"

struct ProofNode {
  ProofKind kind = ProofKind::Derived;
  std::string text;  // the fact or literal with its values

  // Facts, stated or derived.
  lang::PredId pred;
  std::vector<lang::Value> values;
  uint32_t height = 0;
  Span span;  // of a stated fact

  // Derived.
  uint32_t rule = 0;
  std::vector<std::optional<lang::Value>> bindings;  // by variable of the rule
  std::vector<uint32_t>
      children;  // one a body literal; of a rule with an aggregate in its head one

  // Aggregate.
  std::string result;             // "3", or "2, 7" of a head with two
  uint64_t rows = 0;              // solutions that were folded
  std::vector<std::string> some;  // the first of them in canonical order
};

struct Proof {
  std::vector<ProofNode> nodes;  // the root first
};

// How far a rule comes that could have derived what does not hold.
struct FailedRule {
  uint32_t rule = 0;
  bool head_fits = true;
  std::vector<std::string> holds;  // the best beginning of the body, in the order of the search
  std::string fails;               // the literal that stops it
};

struct Explanation {
  uint64_t matches = 0;            // rows that fit the goal
  std::vector<Proof> proofs;       // of the first of them in canonical order
  bool has_facts = false;          // the predicate has stated facts
  std::vector<FailedRule> failed;  // when nothing fits: each rule with that head
};

struct ProofOptions {
  uint64_t limit = 1;          // rows to be explained
  uint64_t max_rows = 0;       // facts and instances that are visited; 0: ten million
  double timeout_seconds = 0;  // 0: none
  uint64_t memory_limit = 0;   // bytes of the process; 0: none
  // When the time began: an evaluation before the search counts too.
  std::chrono::steady_clock::time_point start = std::chrono::steady_clock::now();
};

// Explains the program's goal over the rows of the settled program. Reports limits.
std::optional<Explanation> explain_goal(const lang::Program& program,
                                        const logic::Analysis& analysis, const Settled& settled,
                                        lang::Session& session, const ProofOptions& options);

// Whether the goal's predicate has one outcome, so that its facts have proofs.
bool is_settled(const lang::Program& program, const logic::Analysis& analysis,
                const logic::AnswerOptions& options);
// Reports why it has not.
void report_undetermined(const lang::Program& program, const logic::Analysis& analysis,
                         const logic::AnswerOptions& options, lang::Session& session);

}  // namespace xlog::engine
