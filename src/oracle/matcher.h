// Enumerates the solutions of a rule body over relations, in the order that the analysis found.
// Predicates are either settled (their rows are exactly what holds in every world) or open (their
// rows are what may hold). Over settled predicates the matcher decides every literal; over open
// ones it reports what is left to decide as ground literals.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <vector>

#include "base/parallel.h"
#include "lang/program.h"
#include "logic/analysis.h"
#include "oracle/bindings.h"
#include "oracle/context.h"
#include "oracle/derived.h"
#include "oracle/ground.h"
#include "oracle/relation.h"

namespace xlog::oracle {

enum class PredicateState : uint8_t { Settled, Open };

// Rows and atom numbers of all predicates.
struct Database {
  std::vector<Relation> relations;     // by predicate
  std::vector<PredicateState> states;  // by predicate
  // By open predicate: so many of its rows, the first ones, hold in every world. Literals over
  // these are decided.
  std::vector<size_t> certain;
  bool is_certain(lang::PredId pred, size_t row) const { return row < certain[pred.index]; }

  // Atoms of open predicates, numbered as they are met.
  struct Atom {
    lang::PredId pred;  // invalid for "one of these atoms holds", which `_` under `not` or a modal
                        // operator needs
    uint32_t row = 0;
  };
  std::vector<Atom> atoms;
  std::vector<std::vector<AtomId>> row_atoms;  // by predicate and row
  std::map<std::vector<AtomId>, AtomId> unions;

  AtomId atom(lang::PredId pred, size_t row);
  // The same for a row that may be certain; a fact then says so.
  AtomId atom(lang::PredId pred, size_t row, GroundProgram& ground);
  // An atom that holds when one of `members` does; adds the rules that say so.
  AtomId union_of(std::vector<AtomId> members, GroundProgram& ground);
};

class Matcher {
 public:
  // Called for each solution with the bindings and the literals that remain (none over settled
  // predicates).
  using Visit = std::function<void(const Bindings&, const std::vector<GroundLiteral>&)>;

  // Restricts a literal of a body to rows [first, last) of its relation.
  struct Delta {
    uint32_t literal;
    size_t first, last;
  };

  // In place of an atom while relations still grow: only that something is left to decide matters
  // then.
  static constexpr uint32_t kUndecided = UINT32_MAX;

  // `ground` receives aggregates and unions of atoms. It is null while relations still grow: then
  // literals over open predicates are taken as possible, and what remains is counted but not named.
  // Relations must not grow during solve().
  Matcher(Context& context, Database& database, GroundProgram* ground)
      : context_(context), database_(database), ground_(ground) {}

  // Predicates of this component are still growing.
  void set_component(uint32_t component) { component_ = component; }
  // Restricts literal `literal` of the top-level body to rows [first, last) of its relation
  // (semi-naive rounds).
  void set_delta(uint32_t literal, size_t first, size_t last) {
    delta_ = Delta{literal, first, last};
  }

  void solve(uint32_t rule_index, const std::vector<lang::Literal>& body,
             const logic::BodyOrder& order, Bindings& bindings, const Visit& visit);
  // The same until a visit returns false; then this matcher, be it inside another solve(), visits
  // nothing more.
  using VisitWhile = std::function<bool(const Bindings&, const std::vector<GroundLiteral>&)>;
  void solve_while(uint32_t rule_index, const std::vector<lang::Literal>& body,
                   const logic::BodyOrder& order, Bindings& bindings, const VisitWhile& visit);

  // "The aggregate has this result", recorded in the ground program.
  GroundLiteral open_aggregate(std::shared_ptr<const AggregateInput> input,
                               std::vector<Value> result);

  // A term whose variables are bound; nullopt when its arithmetic has no value.
  std::optional<Value> value_of(const lang::Term& term, const Bindings& bindings);

 private:
  // One body under enumeration. Nested bodies (aggregates, findall) have frames of their own.
  struct Frame {
    const std::vector<lang::Literal>& body;
    const logic::BodyOrder& order;
    Bindings& bindings;
    const Visit& visit;
    std::optional<Delta> delta;
    std::vector<GroundLiteral> remaining;
  };
  using Next = std::function<void()>;

  void step(Frame& frame, size_t position);
  void positive_atom(Frame& frame, const lang::Literal& literal, uint32_t index, const Next& next);
  void binding_modal(Frame& frame, const lang::Literal& literal, uint32_t index, const Next& next);
  void test_atom(Frame& frame, const lang::Literal& literal, const Next& next);
  void compare(Frame& frame, const lang::Literal& literal, const Next& next);
  void builtin(Frame& frame, const lang::Literal& literal, const Next& next);
  void check_interval(const Value& lo, const Value& hi) const;
  void aggregate(Frame& frame, const lang::Literal& literal, uint32_t index, const Next& next);
  void findall(Frame& frame, const lang::Literal& literal, uint32_t index, const Next& next);
  void maplist(Frame& frame, const lang::Literal& literal, const Next& next);
  static std::vector<uint32_t> rows_of_element(Relation& relation, const Value& element,
                                               bool has_output);
  void with_results(Frame& frame, const std::shared_ptr<const AggregateInput>& input,
                    const lang::Term& result, const Next& next);

  GroundLiteral open_atom(lang::PredId pred, size_t row);

  void with_match(Frame& frame, const lang::Term& pattern, const Value& value, const Next& next);
  bool match(const lang::Term& pattern, const Value& value, Bindings& bindings);
  void for_each_row(lang::PredId pred, const std::vector<lang::Term>& args, Bindings& bindings,
                    const std::optional<Delta>& delta, const std::function<void(size_t)>& visit);
  void record_no_value(const lang::Term& term, const Bindings& bindings);

  Context& context_;
  Database& database_;
  GroundProgram* ground_;
  uint32_t component_ = UINT32_MAX;
  std::optional<Delta> delta_;
  uint32_t rule_index_ = 0;
  bool is_stopped_ = false;
};

// A body that a matcher is asked to enumerate.
struct BodyTask {
  uint32_t rule;
  const std::vector<lang::Literal>& body;
  const logic::BodyOrder& order;
  Bindings& bindings;
  const Matcher::Visit& visit;
  std::optional<Matcher::Delta> delta;
  Matcher& matcher;
  Database& database;
  std::optional<uint32_t> growing;  // relations of this component still grow, and atoms have no
                                    // names yet
};

// A rule all of whose instances are asked for at once.
struct RuleTask {
  uint32_t rule;
  std::optional<Matcher::Delta> delta;
  Database& database;
  std::optional<uint32_t> growing;  // as in a BodyTask
};

// Another way to the solutions of bodies that need no more than joins, which an evaluator may bring
// along. What returns false, or NotDone, did nothing: the matcher has to do it.
struct Shortcut {
  enum class Grounding : uint8_t { NotDone, Done, DoneWithEmptyBodies };

  std::function<bool(const BodyTask&)> solve;
  std::function<bool(const RuleTask&, Derived&)> derive = nullptr;
  std::function<Grounding(const RuleTask&, GroundProgram&)> ground = nullptr;
  Parallel parallel = in_turn;
};

}  // namespace xlog::oracle
