#include "epistemic/group_bounds.h"

#include <utility>
#include <vector>

namespace xlog::epistemic {

using logic::OnePerGroup;
using oracle::GroundBound;
using oracle::GroundLiteral;
using oracle::GroundProgram;
using oracle::Relation;
using Grounding = oracle::Shortcut::Grounding;

namespace {

// The number of a tuple, in the order in which they are met.
size_t number_of(const std::vector<lang::Value>& tuple, Relation& tuples) {
  return tuples.insert(tuple) ? tuples.size() - 1 : *tuples.find(tuple);
}

// What the groups have, and which of their values count in every world.
class Groups {
 public:
  Groups(const OnePerGroup& constraint, uint32_t source)
      : constraint_(constraint), source_(source) {}

  void add(const oracle::Bindings& bindings, const std::vector<GroundLiteral>& condition) {
    tuple_.clear();
    for (const lang::VarId v : constraint_.group) {
      // A row that is only tested for may leave some open.
      if (bindings.bound(v)) tuple_.push_back(bindings[v]);
    }
    const size_t group = number_of(tuple_, keys_);
    tuple_.assign({lang::Value::u64(group), bindings[constraint_.value]});
    const auto value = static_cast<uint32_t>(number_of(tuple_, values_));
    if (group == groups_.size()) groups_.emplace_back();
    Group& at = groups_[group];
    at.bound.elements.push_back({value, condition});
    at.has_several |= at.bound.elements.front().atom != value;
    if (!condition.empty()) return;
    is_violated_ |= at.certain && *at.certain != value;
    at.certain = value;
  }

  // Whether some group has two values in every world.
  bool is_violated() const { return is_violated_; }

  void move_to(GroundProgram& ground, oracle::Context& context) {
    for (Group& group : groups_) {
      if (!group.has_several) continue;
      context.count_rows(group.bound.elements.size());
      group.bound.upper = 1;
      group.bound.source = source_;
      ground.bounds.push_back(std::move(group.bound));
    }
  }

 private:
  struct Group {
    GroundBound bound;
    bool has_several = false;
    std::optional<uint32_t> certain;
  };

  const OnePerGroup& constraint_;
  const uint32_t source_;
  Relation keys_;    // of groups
  Relation values_;  // a group's number and a value
  std::vector<Group> groups_;
  std::vector<lang::Value> tuple_;
  bool is_violated_ = false;
};

}  // namespace

Grounding GroupBounds::ground(const oracle::RuleTask& task, GroundProgram& ground) {
  // The well-founded semantics asks for the constraint that is violated in its own way.
  if (context_.options.well_founded) return Grounding::NotDone;
  const auto [entry, is_new] = found_.try_emplace(task.rule);
  if (is_new) {
    entry->second =
        logic::one_per_group(context_.program, task.rule, context_.analysis.component_of);
  }
  if (!entry->second) return Grounding::NotDone;
  const OnePerGroup& constraint = *entry->second;
  oracle::Matcher matcher(context_, task.database, &ground);
  oracle::Bindings bindings(context_.program.rules[task.rule].variables.size());
  Groups groups(constraint, task.rule);
  matcher.solve(task.rule, constraint.body, constraint.order, bindings,
                [&](const oracle::Bindings& values, const std::vector<GroundLiteral>& condition) {
                  groups.add(values, condition);
                });
  groups.move_to(ground, context_);
  return groups.is_violated() ? Grounding::DoneWithEmptyBodies : Grounding::Done;
}

}  // namespace xlog::epistemic
