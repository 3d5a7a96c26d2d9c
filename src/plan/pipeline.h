// RIR, the relational form of a rule: a pipeline of steps. Each step takes every binding of the
// slots that the steps before it let through, and either drops it, passes it on, or passes it on
// once for each row that it finds. A slot is a variable of the rule. What the last step lets
// through is handed to the sink: a row of the head, a group of an aggregate.
//
//   reach(X, Z) :- reach(X, Y), edge(Y, Z), X != Z.      version for new rows of reach:
//
//     scan    new reach(X, Y)
//     lookup  edge(=Y, Z)
//     filter  X != Z
//     insert  reach(X, Z)
//
// A cyclic body binds a variable from all atoms that have it at once, so that no step makes more
// bindings than the shortest of their lists has values (a worst-case-optimal join):
//
//   triangle(X, Y, Z) :- edge(X, Y), edge(Y, Z), edge(X, Z).
//
//     scan    edge(X, Y) by X
//     meet    Z: edge(=Y, Z), edge(=X, Z)
//     insert  triangle(X, Y, Z)
//
// What a device cannot compute from the numbers that it has for values, the host does: it takes the
// bindings, and gives back those that satisfy a literal, with the values that this binds.
//
//   path(X, L) :- edge(X, Y), path(Y, P), not member(X, P), L = [X | P].
//
//     scan    new path(Y, P)
//     lookup  edge(X, =Y)
//     host    not member(X, P)
//     host    L = [X | P]
//     insert  path(X, L)
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "lang/program.h"

namespace xlog::plan {

using lang::PredId;
using lang::Term;
using lang::VarId;

// Which rows of a relation a step sees. In a component that is evaluated in rounds, New are the
// rows that the last round added, Old those before.
enum class Part : uint8_t { All, New, Old };

enum class ColumnUse : uint8_t {
  Bind,    // the column's value becomes the slot's
  Key,     // must equal a term that is known before the step
  Same,    // must equal a slot that an earlier column of this step binds
  Ignore,  // any value
};

struct ColumnArg {
  ColumnUse use = ColumnUse::Ignore;
  Term term;  // Bind, Same: a variable; Key: a variable or a constant
};

enum class StepKind : uint8_t {
  Match,   // each row of `part` of `pred` that agrees with the columns
  Exists,  // such a row exists: passes once
  Absent,  // no such row exists
  Filter,  // lhs compare rhs
  Let,     // slot `target` becomes `lhs`; drops the binding where that has no value
  Meet,    // each value of slot `target` that all `members` have
  Range,   // slot `target` becomes each integer from `lhs` to `rhs`
  Host,    // each solution of literal `literal` of the rule, which binds the slots `outputs`
};

// Rows of a relation that grows are never taken for few where they are all walked.
inline constexpr double kEndless = 1e15;

struct Step {
  StepKind kind = StepKind::Filter;
  PredId pred;
  Part part = Part::All;
  std::vector<ColumnArg> columns;
  lang::CompareOp compare = lang::CompareOp::Eq;
  Term lhs, rhs;
  VarId target;
  uint32_t literal = 0;
  std::vector<VarId> outputs;
  // Of a Meet: atoms whose columns are keys, ignored, or, in one place, the target. The first is
  // the one whose keys change most often.
  std::vector<Step> members;
  // Of the first Match: its rows come sorted by these columns.
  std::vector<uint32_t> order;
  // Of a Match or Meet: how many rows or values an average binding finds; steers only.
  double rows = 1;
  std::string reason;  // why it was chosen, for people
  Span span;           // the literal
};

struct Pipeline {
  uint32_t rule = 0;
  std::vector<Step> steps;
};

// The columns of a step that are known before it, in order.
std::vector<uint32_t> key_columns(const Step& step);
// Whether some column binds a slot; a Match that binds nothing finds at most one row of interest.
bool binds(const Step& step);
// The column of a Meet's member that is its target.
uint32_t target_column(const Step& member);
// How many values a Range with constant bounds has; nothing where a bound is a variable.
std::optional<uint64_t> constant_size(const Step& range);
// For estimates: of one with variable bounds a guess.
double expected_size(const Step& range);
// Whether it is known beforehand how many rows or values a step has: they can be divided among
// instances. The first such step drives the pipeline, unless the host has to begin.
bool can_drive(const Step& step);
std::optional<size_t> driver_of(const Pipeline& pipeline);
bool needs_host(const Pipeline& pipeline);
// The steps that read relations: the step itself, or the members of a Meet.
std::vector<const Step*> atoms_of(const Step& step);

// Whether bindings that pass all steps differ in these variables, so that no two of them give the
// same row: each relation is a set, so a binding is known by what its rows and values bind.
bool tells_bindings_apart(const std::vector<Term>& row, const Pipeline& pipeline);

// One step a line, as above; with estimates, how many rows each step is expected to find.
enum class Show : uint8_t { Steps, Estimates };
std::string to_text(const Pipeline& pipeline, const lang::Program& program,
                    const lang::Names& names, Show show = Show::Steps);

}  // namespace xlog::plan
