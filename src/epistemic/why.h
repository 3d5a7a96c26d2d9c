// Why a row of a program with several worlds is known, possible or impossible.
//
// A row that is known is shown with a rule instance that gives it in every world of a view, and so
// on for what the instance rests on; `know p` rests on p in every world, `possible p` on one world.
// A row that is only possible is shown with a world that has it and one that has not. A row that is
// impossible is shown with the rule instances that might have given it and the literal that each
// fails for; where that is a question about what is known or possible, with what becomes of the
// opposite guess.
#pragma once

#include <gmpxx.h>

#include <optional>
#include <string>
#include <vector>

#include "epistemic/findings.h"

namespace xlog::epistemic {

enum class WhyKind : uint8_t {
  Derived,     // by a rule; the children are its literals
  Chosen,      // by a choice or disjunction
  Cases,       // by different rules in different worlds: the children
  Fact,        // the program states it
  Determined,  // a row with the same value in all worlds, for whoever has its proof
  Modal,       // know, possible and their negations
  Absent,      // a negated literal
  Condition,   // a comparison, built-in or aggregate
  Again,       // shown before
  Cut,         // not shown: the explanation is long enough
};
std::string_view spelling(WhyKind kind);  // "derived"

// A world, as far as it differs from other worlds of its view.
struct ShownWorld {
  std::vector<std::string> atoms;
  uint64_t left_out = 0;
};

struct WhyNode {
  WhyKind kind = WhyKind::Derived;
  std::string text;
  std::string note;  // "in all 4 worlds"
  std::string rule;  // as `xlog fmt` prints it; empty: none
  Span rule_span;
  std::optional<ShownWorld> world;
  std::vector<uint32_t> children;
  Span span;  // of a fact
  // Determined.
  lang::PredId pred;
  std::vector<lang::Value> row;
};

struct FailedInstance {
  std::string rule;
  Span rule_span;
  bool head_fits = true;
  std::vector<std::string> holds;
  std::string fails;
  std::string note;  // what becomes of the opposite guess
  std::optional<ShownWorld> world;
  uint64_t others = 0;  // instances of the rule that are not shown
};

struct RowWhy {
  std::string fact;
  mpz_class known_in, possible_in;          // so many views
  AtomStatus status = AtomStatus::Never;    // in the view that is shown
  mpz_class worlds = 1;                     // of its part of the program, in that view
  std::vector<WhyNode> nodes;               // the root first, where it holds in some world
  std::optional<ShownWorld> with, without;  // where it holds in some worlds
  std::vector<FailedInstance> failed;       // where it does not hold
};

struct WorldsWhy {
  mpz_class views;
  uint64_t matches = 0;      // rows that fit the goal and hold, or fail to, as asked
  std::vector<RowWhy> rows;  // the first of them in canonical order
  bool answered = false;     // there is a row to explain
};

enum class WhyQuestion : uint8_t { Why, WhyNot };

// Explains rows that fit the program's goal. Where none is possible (Why), or all are known
// (WhyNot), `answered` is false and the first one is explained all the same. The program has views,
// and its ground rules were kept.
WorldsWhy explain_rows(Findings& findings, WhyQuestion question, uint64_t limit);

}  // namespace xlog::epistemic
