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
#pragma once

#include <cstdint>
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
};

struct Step {
  StepKind kind = StepKind::Filter;
  PredId pred;
  Part part = Part::All;
  std::vector<ColumnArg> columns;
  lang::CompareOp compare = lang::CompareOp::Eq;
  Term lhs, rhs;
  VarId target;
  Span span;  // the literal
};

struct Pipeline {
  uint32_t rule = 0;
  std::vector<Step> steps;
};

// The columns of a step that are known before it, in order.
std::vector<uint32_t> key_columns(const Step& step);
// Whether some column binds a slot; a Match that binds nothing finds at most one row of interest.
bool binds(const Step& step);

// One step a line, as above.
std::string to_text(const Pipeline& pipeline, const lang::Program& program,
                    const lang::Names& names);

}  // namespace xlog::plan
