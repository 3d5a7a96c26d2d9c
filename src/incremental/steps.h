// Rules as steps over registers. A rule has one version for each atom of its body: that atom takes
// the rows that changed, the other literals follow in an order that finds bound what it can.
//
// Equations and built-ins go the way that the reference evaluator takes them (analysis.orders):
// 0.0 = -0.0 holds, but where the equation binds a variable it derives another row.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "incremental/cells.h"
#include "incremental/kept_program.h"

namespace xlog::incremental {

// What a row of the target table stands for.
enum class RuleTarget : uint8_t {
  Rows,        // of the head's predicate
  Bag,         // the group and the values of an aggregate in the head
  Candidates,  // for a row of the head's predicate, which keeps the best
  Violations,  // of a constraint; a row without columns
  NoValue,     // the variables of a term whose arithmetic has no value
};

// One thing that is counted: the solutions of some literals of a rule, by what they give.
struct KeptRule {
  uint32_t rule = 0;
  RuleTarget target = RuleTarget::Rows;
  uint32_t table = 0;                     // numbers of predicates, then of other tables (kept.h)
  std::vector<uint32_t> literals;         // of the body, ascending
  const lang::Term* term = nullptr;       // NoValue
  std::vector<const lang::Term*> valued;  // NoValue: what is computed before it, and has a value
};

struct Operand {
  enum class Kind : uint8_t { Register, Constant, Computed };
  Kind kind = Kind::Register;
  lang::TypeKind type{};
  uint32_t reg = 0;
  uint64_t cell = 0;                 // Constant
  const lang::Term* term = nullptr;  // Computed
};

struct ColumnUse {
  enum class Kind : uint8_t { Set, Check, Constant };
  uint32_t column = 0;
  Kind kind = Kind::Set;
  uint32_t reg = 0;
  uint64_t cell = 0;  // Constant
};

enum class StepKind : uint8_t {
  Find,     // the one row with these values
  Probe,    // the rows with these values in some columns
  Scan,     // all rows
  Absent,   // no row with these values
  Compare,  // both sides have values
  Match,    // a value has the form of a pattern, whose free variables it binds
  Builtin,
  NoValue,  // a term has no value
  HasValue,
  Emit,
};

struct Step {
  StepKind kind = StepKind::Emit;
  bool own = false;     // a predicate of the rule's own component
  bool before = false;  // it stands before the atom with the changed rows
  uint32_t table = 0;
  uint32_t index = 0;             // Probe
  std::vector<uint32_t> columns;  // of the key
  std::vector<Operand> key;       // Find, Probe, Absent; the values of an emitted row
  std::vector<ColumnUse> uses;    // of the other columns
  const lang::Literal* literal = nullptr;
  lang::CompareOp op{};
  Operand left, right;                    // Compare; the others take the left one
  const lang::Term* pattern = nullptr;    // Match
  std::vector<lang::VarId> reads, binds;  // Match, Builtin
  std::vector<bool> given;                // Builtin: the arguments that it starts from
};

struct Version {
  uint32_t kept_rule = 0;  // in the list it was made from
  const lang::Rule* rule = nullptr;
  std::optional<uint32_t> delta;  // the literal with the changed rows; none: all solutions
  bool negative = false;          // a row that comes takes solutions away
  bool own = false;
  uint32_t table = 0;  // of the changed rows
  std::vector<ColumnUse> start;
  std::vector<Step> steps;
  uint32_t registers = 0;
  bool has_rows = false;     // the rule has a plain atom
  uint32_t index_epoch = 0;  // when the numbers of its indexes were right (kept.h)
};

std::vector<Version> make_versions(const KeptRule& rule, uint32_t number, const KeptProgram& kept,
                                   uint32_t component, Cells& cells);
// All solutions, whatever changed.
Version make_whole_version(const KeptRule& rule, const KeptProgram& kept, uint32_t component,
                           Cells& cells);

}  // namespace xlog::incremental
