// The checked program: what the rest of the engine works on. Made from the surface syntax by
// lang/load.h in named steps (modules, constants and functions expanded, intervals and nested
// expressions flattened, modal chains collapsed, names resolved, types inferred). Every construct
// of the language has exactly one form here.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/diagnostic.h"
#include "base/source.h"
#include "base/symbol.h"
#include "lang/ast.h"
#include "lang/facts.h"
#include "lang/pragmas.h"
#include "lang/types.h"
#include "lang/value.h"

namespace xlog::lang {

using ast::CompareOp;

struct PredId {
  uint32_t index = UINT32_MAX;
  bool valid() const { return index != UINT32_MAX; }
  friend auto operator<=>(PredId, PredId) = default;
};

struct VarId {
  uint32_t index = UINT32_MAX;  // into Rule::variables
  bool valid() const { return index != UINT32_MAX; }
  friend auto operator<=>(VarId, VarId) = default;
};

enum class TermKind : uint8_t {
  Variable,  // var. Every `_` is a variable of its own (Variable::anonymous).
  Constant,  // value; converted to its type by inference
  List,  // args; the last one is the tail when has_tail. Ground lists become Constant after typing.
  Compound,  // functor, args. Ground ones become Constant after typing.
  Arith,  // op, args: only in comparisons and aggregate values, never in atom or built-in arguments
};

enum class ArithOp : uint8_t { Neg, Add, Sub, Mul, Div, Mod, Abs, Min, Max, Pow, Cast, If };

struct Term {
  TermKind kind = TermKind::Constant;
  ArithOp op = ArithOp::Add;
  CompareOp compare = CompareOp::Eq;  // If: args[0] compare args[1] ? args[2] : args[3]
  bool has_tail = false;
  VarId var;
  Value value;
  Symbol functor;
  Type type;  // filled by inference for every term; for Cast the target type (set when lowered)
  std::vector<Term> args;
  Span span;
};

// The six forms of a modal literal after its chain collapsed (SEMANTICS: a form with a `not` in it
// never needs foundedness).
enum class Modal : uint8_t {
  None,
  Know,            // know p
  Possible,        // possible p
  NotKnow,         // not know p
  NotPossible,     // not possible p
  NotKnowNot,      // not know not p: true when possible p is
  NotPossibleNot,  // not possible not p: true when know p is
};

enum class LiteralKind : uint8_t { Atom, Compare, Builtin, Aggregate };

enum class BuiltinId : uint8_t {
#define XLOG_BUILTIN(name, spelling, arity, modes, help) name,
#include "lang/builtins.def"
#undef XLOG_BUILTIN
};

// Findall is written as a built-in; the engine makes an aggregate of it (plan/aggregates.h).
enum class AggregateFn : uint8_t { Count, Sum, Min, Max, Avg, LogSumExp, Findall };

struct Literal {
  LiteralKind kind = LiteralKind::Atom;
  Span span;

  // Atom: [not [not]] pred(args), or modal over pred(args). Builtin: builtin(args), nots at most 1.
  PredId pred;
  uint8_t nots = 0;  // 0, 1, 2: `p`, `not p`, `not not p`. 0 when modal is set.
  Modal modal = Modal::None;
  BuiltinId builtin{};
  std::vector<Term> args;

  // Compare: lhs op rhs. With op Eq a free variable on either side is bound (logic/order.h
  // decides). is_assignment: written with `is`, so lhs is a variable that nothing else may bind.
  CompareOp op = CompareOp::Eq;
  Term lhs, rhs;
  bool is_assignment = false;
  // The pattern of an atom that became an equation (plan/patterns.h): like the atom it brings the
  // bits of floats, where other equations only compare them.
  bool brings = false;

  // Aggregate: lhs = fn rhs : { body }, over the bag of solutions of body. Variables that also
  // occur outside the braces (in the rule's other literals or head) group; the others are local.
  // Count and sum of nothing are 0; min, max, avg, logsumexp of nothing have no value. For Findall
  // and Maplist, body holds the goal (see Builtin).
  AggregateFn aggregate{};
  std::vector<Literal> body;
  bool has_value = false;  // false: plain count
};
// Findall: builtin = Findall, args = {template, result list}, body = goal literals.
// Maplist2/3: builtin, args = {list [, list]}, pred = the mapped predicate (static), body empty.

enum class HeadKind : uint8_t { None, Atom, Disjunction, Choice };

struct HeadElement {
  PredId pred;
  std::vector<Term> args;          // variables and constants, lists and compounds; no Arith
  std::vector<Literal> condition;  // Choice
  double probability = 1;          // of an annotated element
  Span span;
};

struct HeadAggregate {
  uint32_t column;
  AggregateFn fn;
  bool has_value;  // count() has none
  Term value;      // Variable, Constant or Arith
};

struct Variable {
  Symbol name;  // as written, or empty for `_` and helpers
  bool anonymous = false;
  bool helper = false;
  Type type;
  Span span;  // first occurrence
};

// Where a rule or query came from and how to name it.
enum class RuleOrigin : uint8_t {
  Source,     // written by the user
  Query,      // __xlog_query_i(columns) :- body.
  Coherence,  // :- p(X), -p(X).   for strong negation
  Function,   // introduced for a predicate-bodied function
};

struct Rule {
  RuleOrigin origin = RuleOrigin::Source;
  HeadKind head_kind = HeadKind::Atom;
  std::vector<HeadElement> head;
  std::vector<HeadAggregate>
      aggregates;  // of an Atom head; head[0].args[column] is then a dummy constant
  std::optional<Term> lower, upper;  // Choice bounds
  bool annotated = false;            // probabilistic: head elements carry probabilities
  std::optional<Symbol> learnable;   // mask or trainable name
  std::vector<Literal> body;
  std::vector<Variable> variables;
  Span span;  // the statement
  Span head_span;
};

struct PredicateColumn {
  Symbol name;  // declared, or empty
  Type type;
  Span type_span;  // what fixed the type: a declaration, a literal, a variable of a rule
};

// What a data file holds in one column.
struct DataColumn {
  bool integers = false, floats = false;
  int64_t least = INT64_MAX;  // of the integers
  uint64_t most = 0;          // of those that are not negative
  std::string name;           // a text that is no number, if there is one: then all are names
};

struct Predicate {
  Symbol name;  // without the minus of strong negation
  bool strong_negation = false;
  PredId opposite;  // p for -p and -p for p, when both exist
  uint32_t arity = 0;
  std::vector<PredicateColumn> columns;
  bool declared = false;
  bool is_private = false;
  bool helper = false;           // __xlog_*: never shown
  bool is_input = false;         // gets rows from --input
  std::vector<DataColumn> data;  // what they will be, where that is known
  bool neural = false;           // defined by nn(...)
  uint32_t module =
      0;  // index in Program::modules; two private predicates of different modules are different
  Span span;                         // declaration or first definition
  std::unique_ptr<FactTable> facts;  // null when it has none
  std::vector<uint32_t> rules;       // indexes of rules with it in the head
};

struct Query {
  PredId pred;  // the helper predicate whose rows are the answer
  std::vector<Symbol>
      columns;       // names of its columns: distinct named variables in order of first occurrence
  std::string text;  // as written, one line: "safe(P)"
  Span span;
  bool implicit = false;  // made because the program has no query
};

struct ProbQuery {
  PredId pred;
  std::vector<Term> args;  // ground
  std::string text;
  Span span;
};

struct Evidence {
  PredId pred;
  std::vector<Term> args;
  bool value = true;
  Span span;
};

struct NeuralDecl {
  PredId pred;
  Symbol network;
  uint32_t output = 0;  // the column that holds the label
  std::vector<Term> labels;
  Span span;
};

// One atom that is asked about from outside the program (lang/goal.h).
struct Goal {
  PredId pred;
  std::vector<Term> args;           // constants, variables, and lists and compounds of such; typed
  std::vector<Variable> variables;  // that the arguments name
  std::string text;                 // "reach(1, X)"
  Span span;                        // in its own source text
};

struct ModuleInfo {
  std::string name;  // "a/b"; the main file is module 0 with its file name
  std::string path;
};

struct Program {
  std::vector<Predicate> predicates;
  std::vector<Rule> rules;  // source order, imported modules first, helper rules last
  std::vector<Query> queries;
  std::vector<ProbQuery> prob_queries;
  std::vector<Evidence> evidence;
  std::vector<NeuralDecl> neural;
  std::optional<Goal> goal;  // when LoadOptions::goal asks for one
  std::vector<ModuleInfo> modules;
  Pragmas pragmas;

  const Predicate& operator[](PredId id) const { return predicates[id.index]; }
  Predicate& operator[](PredId id) { return predicates[id.index]; }
};

struct BuiltinInfo {
  BuiltinId id;
  std::string_view spelling;
  uint32_t arity;
  std::string_view modes;
  std::string_view help;
};
const BuiltinInfo& builtin_info(BuiltinId id);
const BuiltinInfo* find_builtin(std::string_view name, uint32_t arity);
bool is_builtin_name(std::string_view name);

std::string_view spelling(AggregateFn fn);
std::optional<AggregateFn> find_aggregate(std::string_view name);
std::string_view spelling(Modal modal);  // "know", "not know not", ...
std::string_view spelling(ArithOp op);

bool is_ground(const Term& term);
void collect_variables(const Term& term, std::vector<VarId>& out);  // with repetitions, in order
void collect_variables(const Literal& literal,
                       std::vector<VarId>& out);  // aggregate bodies included

// Source text of the checked forms, for explain, diagnostics and proofs. "edge/2", "-p/1".
std::string predicate_name(const Predicate& predicate, const Names& names);       // "p" or "-p"
std::string predicate_signature(const Predicate& predicate, const Names& names);  // "p/2"
std::string to_source(const Term& term, const Rule& rule, const Program& program,
                      const Names& names);
std::string to_source(const Literal& literal, const Rule& rule, const Program& program,
                      const Names& names);
std::string to_source(const Rule& rule, const Program& program, const Names& names);

}  // namespace xlog::lang
