// Ground programs: what is left of a program when its variables are gone and the parts with a
// single outcome are evaluated.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "lang/program.h"
#include "oracle/aggregates.h"
#include "oracle/relation.h"

namespace xlog::oracle {

using AtomId = uint32_t;

enum class GroundKind : uint8_t { Pos, Neg, NotNot, Modal, Aggregate };

struct GroundLiteral {
  GroundKind kind = GroundKind::Pos;
  lang::Modal modal = lang::Modal::None;
  uint32_t index = 0;  // an AtomId; for Aggregate an index into GroundProgram::aggregates

  friend auto operator<=>(const GroundLiteral&, const GroundLiteral&) = default;
};

// The solutions that an aggregate folds over, each with the condition under which it counts.
struct AggregateInput {
  struct Element {
    std::vector<Value> values;  // one a column; none for a plain count
    std::vector<GroundLiteral> condition;
  };
  std::vector<Fold> folds;  // one a column
  bool nonempty = false;    // head aggregates: a group without solutions has no row
  std::vector<Element> elements;
};

// "The aggregate over the elements that count equals this result."
struct GroundAggregate {
  std::shared_ptr<const AggregateInput> input;
  std::vector<Value> result;
};

enum class GroundHead : uint8_t { Constraint, Normal, Disjunction, Choice };

struct GroundRule {
  GroundHead kind = GroundHead::Normal;
  std::vector<AtomId> heads;  // Normal, Choice: one. Disjunction: two or more.
  std::vector<GroundLiteral> body;
  uint32_t source = 0;  // the rule it is an instance of
};

// lower { a : c ; ... } upper: when the body holds, the number of distinct atoms that count lies in
// the bounds.
struct GroundBound {
  int64_t lower = INT64_MIN, upper = INT64_MAX;
  struct Element {
    AtomId atom;                           // only tells elements apart
    std::vector<GroundLiteral> condition;  // that the atom holds, and its condition
  };
  std::vector<Element> elements;
  std::vector<GroundLiteral> body;
  uint32_t source = 0;
};

struct GroundProgram {
  uint32_t atom_count = 0;
  std::vector<GroundRule> rules;
  std::vector<GroundBound> bounds;
  std::vector<GroundAggregate> aggregates;
};

// Calls `visit` for every atom that a literal mentions, those in aggregate conditions included.
void for_each_atom(const GroundLiteral& literal, const GroundProgram& program,
                   const std::function<void(AtomId, const GroundLiteral&)>& visit);

// True atoms of one interpretation, indexed by AtomId.
using Interpretation = std::vector<bool>;

// Truth of objective literals, bodies and bounds in one world (modal literals have been replaced).
bool holds(const GroundLiteral& literal, const GroundProgram& program, const Interpretation& world,
           lang::Names& names);
bool holds(const std::vector<GroundLiteral>& body, const GroundProgram& program,
           const Interpretation& world, lang::Names& names);
bool holds(const GroundBound& bound, const GroundProgram& program, const Interpretation& world,
           lang::Names& names);

// A literal that is neither true nor false yet.
enum class Truth : uint8_t { False, Unknown, True };

// Replaces literals by their truth where `truth` knows it: rules and bounds with a false body go,
// true literals go. Aggregates keep the conditions that are still open. The heads are left alone.
GroundProgram replace_literals(const GroundProgram& program,
                               const std::function<Truth(const GroundLiteral&)>& truth);

}  // namespace xlog::oracle
