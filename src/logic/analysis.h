// Checked program -> components. What depends on what and how, in which order it can be evaluated,
// and of which class each part is. Every evaluator starts from an Analysis.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lang/load.h"
#include "lang/program.h"

namespace xlog::logic {

using lang::PredId;

// How a head depends on a body predicate. Aggregate covers head and body aggregates, findall and
// maplist: the input must be complete, unless the head is in Analysis::best. `not not p` and the
// conditions of a choice are Negative where they are evaluated in the finished world (not not),
// Positive where they generate (conditions).
enum class EdgeKind : uint8_t { Positive, Negative, Aggregate, ModalPositive, ModalNegative };
std::string_view spelling(EdgeKind kind);

struct Edge {
  PredId from;  // in the body
  PredId to;    // in the head
  EdgeKind kind;
  uint32_t rule;
  Span span;  // of the literal
};

// DESIGN section 6.
enum class ComponentClass : uint8_t {
  Determined,  // no choice, disjunction or cycle through negation at or below: one world, know p =
               // possible p = p
  PositiveModalCycle,  // recursion through positive know/possible, otherwise determined
  Undetermined,  // choice, disjunction, a cycle through negation (objective or modal), or depends
                 // on such
};
std::string_view spelling(ComponentClass klass);

struct Component {
  std::vector<PredId> predicates;  // in order of id
  std::vector<uint32_t>
      rules;  // with a head in it, in order. A rule with heads in several components joins them.
  bool recursive = false;
  uint32_t stratum = 0;  // longest chain of negative, aggregate or modal edges below it
  ComponentClass klass = ComponentClass::Determined;
  std::string reason;  // why it is not Determined: "choice in rule at 3:1", "not p <- q <- p"
};

// The order in which the literals of one body are evaluated: each is ready when its turn comes
// (bound as its modes need).
struct BodyOrder {
  std::vector<uint32_t> sequence;  // indexes into the body, a permutation
  std::vector<BodyOrder>
      nested;  // by body index: the inner body of an aggregate or findall; empty for others
};

struct RuleOrder {
  BodyOrder body;
  std::vector<BodyOrder> conditions;  // by head element of a choice
};

// A predicate with a minimum or maximum inside its own recursion (monotone.h): of the rows that
// agree in all other columns only the one with the best value in `column` is there. Its facts and
// all its rules give candidates.
struct Best {
  uint32_t column;
  lang::AggregateFn fn;  // Min or Max
};

struct Analysis {
  std::vector<Edge> edges;                // sorted by (to, from, kind, rule)
  std::vector<Component> components;      // dependencies first
  std::vector<uint32_t> component_of;     // by predicate index
  std::vector<std::optional<Best>> best;  // by predicate index
  std::vector<uint32_t> constraints;      // rules without a head, in order
  std::vector<RuleOrder> orders;          // by rule index
  bool determined = true;                 // every component is Determined: plain stratified Datalog
  bool has_modal = false;                 // some rule, constraint or query uses know or possible
};

// Reports unsafe variables, aggregates and findall inside their own recursion (except for min and
// max that are used monotonically), modal misuse.
// nullopt on errors.
std::optional<Analysis> analyze(const lang::Program& program, lang::Session& session);

// Safety (order.cc). `bound` holds variables already bound outside (for nested bodies). A positive
// `know p(X)` or `possible p(X)` binds X only if p lies in a component strictly below the rule's
// head, so the components must be known. (analyze() calls this for every rule.)

// Text, JSON and Graphviz forms of the stages of `xlog explain`.
enum class ExplainFormat : uint8_t { Text, Json, Dot };
std::string explain_types(const lang::Program& program, const lang::Session& session,
                          ExplainFormat format);
std::string explain_components(const lang::Program& program, const Analysis& analysis,
                               const lang::Session& session, ExplainFormat format);
// EIR, the modal normal form: every rule with its modal literals in one of the six forms, grouped
// by component.
std::string explain_eir(const lang::Program& program, const Analysis& analysis,
                        const lang::Session& session, ExplainFormat format);

}  // namespace xlog::logic
