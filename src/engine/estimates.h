// Rules for the two estimates of a well-founded model (Van Gelder, The alternating fixpoint of
// logic programs with negation, 1993). A predicate p that may have undefined rows gets a twin,
// `possible p`; p itself holds what is true, the twin what is not false:
//
//   win(X) :- move(X, Y), not win(Y).
//
//   win(X)          :- move(X, Y), not possible win(Y).
//   possible win(X) :- move(X, Y), not win(Y).
//
// So each estimate is a component without a cycle through negation, and is evaluated as any other
// one (alternating.h says when). The twins and their rules stand behind the program's own until
// restore().
//
// Where worlds are asked for, the estimates bound what differs between them, as
// oracle/well_founded.h does for ground programs, or more weakly: p holds what is true in every
// world, its twin what may be true in one. A choice makes its atoms possible only; an atom of a
// disjunction is true where the others are not possible; `know p` and the like are judged as p is,
// their negations as `not p`. A literal of its own component that may hold because it is believed
// to (plain_rules.h) is left out of the rule for what is possible. What is possible and not true
// becomes a third relation, `open p`.
//
// From these follow the instances of a rule that can matter to who searches for worlds: those whose
// body may hold and whose head is open. Of each the variables are kept that open atoms have.
//
//   { edge(X, Y) } :- road(X, Y).      reach(X, Z) :- reach(X, Y), edge(Y, Z), not closed(Y).
//
//   instances(X, Y, Z) :- possible reach(X, Y), possible edge(Y, Z), not closed(Y), open reach(X,
//   Z).
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <vector>

#include "engine/plain_rules.h"
#include "lang/program.h"
#include "logic/analysis.h"
#include "logic/answer.h"

namespace xlog::engine {

class Estimates {
 public:
  // `alternates`: by component, whether it is evaluated by estimates. `constraints`: which rules to
  // take in place of some of them (plan/prepare.h). `worlds`: the mode in which worlds are asked
  // for; nothing: the well-founded model is.
  Estimates(lang::Program& program, const logic::Analysis& analysis, lang::Names& names,
            std::vector<bool> alternates, const std::map<uint32_t, uint32_t>& constraints,
            std::optional<logic::Mode> worlds);
  ~Estimates() { restore(); }
  Estimates(const Estimates&) = delete;
  Estimates& operator=(const Estimates&) = delete;

  // The program becomes what it was.
  void restore();

  // Of the program with the twins. Its components are those of the program, where an alternating
  // one has the rules for what is true, and after them those of the twins and of the facts.
  const logic::Analysis& analysis() const { return extended_ ? *extended_ : analysis_; }
  bool alternates(uint32_t component) const { return alternates_[component]; }
  bool alternates(lang::PredId pred) const {
    return alternates_[analysis_.component_of[pred.index]];
  }

  // Of an alternating component.
  struct Parts {
    uint32_t possible = 0;         // the component of the twins
    std::vector<uint32_t> facts;   // components that hold the facts of its predicates
    std::optional<uint32_t> open;  // the component of what is possible and not true
    // Some rule reads its own component through negation.
    bool certain_reads_possible = false, possible_reads_certain = false;
    bool makes_open = false;  // some rule makes what is possible and not true by itself
  };
  const Parts& parts(uint32_t component) const { return parts_.at(component); }
  // The component of the program that one of analysis() belongs to.
  uint32_t source_component(uint32_t component) const {
    return component < analysis_.components.size()
               ? component
               : source_components_[component - analysis_.components.size()];
  }

  lang::PredId possible(lang::PredId pred) const { return possible_.at(pred); }
  lang::PredId open(lang::PredId pred) const { return open_.at(pred); }
  // A relation of instances of a rule.
  struct Instances {
    uint32_t component = 0;              // has nothing but its rules
    std::vector<lang::VarId> variables;  // by column, in ascending order
  };
  // Of a choice one for each element of its head, else one. All that the rule reads is bounded or
  // settled; `has_open`: of which predicates rows are open.
  std::vector<Instances> add_instances(uint32_t rule,
                                       const std::function<bool(lang::PredId)>& has_open,
                                       lang::Names& names);
  // The predicate of the program that this one stands for.
  lang::PredId source(lang::PredId pred) const {
    return pred.index < predicates_ ? pred : source_predicates_[pred.index - predicates_];
  }
  // The rule of the program that this one stands for.
  uint32_t source(uint32_t rule) const;
  // The same constraint over estimates: its body holds where it is true.
  uint32_t constraint(uint32_t rule) const;
  // A body whose solutions are the undefined rows of a query's predicate.
  uint32_t undefined(lang::PredId query) const { return undefined_.at(query); }

 private:
  enum class Side : uint8_t { True, Possible };
  void add_twins(uint32_t component, lang::Names& names);
  void add_rules(uint32_t component);
  void add_rules_of(uint32_t component, uint32_t rule);
  void add_to(uint32_t component, Side side, const lang::Rule& rule, uint32_t source);
  void add_open(uint32_t component, lang::Names& names);
  void add_facts(uint32_t component, lang::PredId pred, lang::Names& names);
  void add_undefined(lang::PredId pred);
  uint32_t add_component(logic::Component component, uint32_t source);
  lang::PredId add_twin(const char* role, lang::PredId source, uint32_t component,
                        lang::Names& names);
  lang::PredId add_predicate(lang::Predicate predicate, lang::PredId source, uint32_t component);
  Instances add_instances_of(uint32_t rule, const std::vector<PlainRule>& plain,
                             const std::function<bool(lang::PredId)>& has_open, lang::Names& names);
  uint32_t add_rule(lang::Rule rule, uint32_t source);
  lang::Rule possible_only(lang::PredId pred, lang::PredId head) const;
  lang::Rule copy_of(const lang::Rule& rule, Side side) const;
  bool is_inside(const lang::Literal& literal, uint32_t component) const;
  bool is_left_out(const lang::Literal& literal, uint32_t component) const;

  lang::Program& program_;
  const logic::Analysis& analysis_;
  std::vector<bool> alternates_;
  const std::optional<logic::Mode> worlds_;
  std::optional<logic::Analysis> extended_;  // nothing: no component alternates
  bool restored_ = false;
  size_t predicates_, rules_;  // of the program
  std::map<uint32_t, Parts> parts_;
  std::map<lang::PredId, lang::PredId> possible_, open_;
  std::map<lang::PredId, lang::PredId> moved_facts_;  // the predicate that holds them now
  std::map<lang::PredId, uint32_t> undefined_;
  std::map<uint32_t, uint32_t> constraints_;  // by constraint: what is evaluated
  std::map<uint32_t, uint32_t> copied_;       // by copy of a constraint
  // Of what was added.
  std::vector<uint32_t> sources_, source_components_;
  std::vector<lang::PredId> source_predicates_;
};

}  // namespace xlog::engine
