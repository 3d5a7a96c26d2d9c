// One batch on its way into the world views (worlds.h). Nothing that is kept changes before all is
// found, so a batch that turns out to be too large leaves the views as they were.
//
//   find_affected   atoms whose rules changed, and all that depends on them
//   bound           their well-founded bounds, with those of all others as they are
//   find_region     the open atoms whose units have changed
//   solve           their views; where other answers come out, or not one view alone, the region
//                   grows by those who ask
//   install         all at once
//
// The well-founded model is the bounds alone.
#pragma once

#include <optional>
#include <set>
#include <span>
#include <unordered_set>
#include <utility>
#include <vector>

#include "epistemic/world_views.h"
#include "incremental/worlds.h"
#include "oracle/context.h"

namespace xlog::incremental {

class WorldsUpdate {
 public:
  WorldsUpdate(Worlds& worlds, bool building)
      : worlds_(worlds),
        kept_(worlds.kept_),
        instances_(worlds.instances_),
        building_(building),
        only_bounds_(worlds.options_.well_founded) {}

  // Can rest. Where it fails, or has to stop, the allowance says so.
  Work run();

  uint64_t instances() const { return steps_; }
  uint64_t units_solved() const { return counts_.units; }

 private:
  struct Stopped {};
  using Truth = oracle::Truth;

  // Marks of atoms.
  static constexpr uint8_t kAffected = 1;  // gets new bounds
  static constexpr uint8_t kSeed = 2;      // its rules changed
  static constexpr uint8_t kReached = 4;   // its unit is found again
  static constexpr uint8_t kNumbered = 8;
  // Marks of instances.
  static constexpr uint8_t kUsed = 1;     // by the step at hand
  static constexpr uint8_t kTouched = 2;  // an atom of it has changed
  static constexpr uint8_t kAsked = 4;    // of a group of a fold: somebody needs to know, or
  static constexpr uint8_t kIgnored = 8;  // nobody does

  void tick();
  oracle::Context& new_context();
  Worlds::Atom& at(AtomRow atom) { return worlds_.atoms_[atom.pred][atom.row]; }
  bool is_there(AtomRow atom) const { return instances_.is_there(atom); }
  bool is_reached(AtomRow atom) { return (at(atom).marks & kReached) != 0; }
  bool mark(Instance instance, uint8_t mark);
  void forget_marks();
  void prepare();

  // ---- what gets new bounds ----

  Work find_affected();
  void affect(AtomRow atom, uint8_t marks);
  void find_changed_atoms(uint32_t pred);
  bool is_stated(AtomRow atom) const;
  void affect_dependent(AtomRow atom);

  Work bound();
  uint32_t number_of(AtomRow atom, oracle::GroundProgram& ground);
  void add_rule(Instance instance, oracle::GroundProgram& ground);
  oracle::GroundHead kind_of(const InstanceTable& table);
  template <typename ConditionOf, typename NumberOf>
  void add_fold(Instance group, oracle::GroundProgram& to, const ConditionOf& condition_of,
                const NumberOf& number_of_result);

  // ---- truth by the new bounds ----

  Truth truth(AtomRow atom);
  Truth truth(Instance instance, const Mention& mention);
  Truth truth(Instance instance, std::span<const Mention> body);
  std::span<const Mention> condition_of(Instance element) const;
  Truth counts(Instance element);
  bool is_left(Instance instance);
  bool is_counted(Instance element);
  bool is_asked(Instance group);
  bool is_ignored(AtomRow atom);
  bool is_violated(Instance instance);
  bool is_judged(Instance instance) const;
  int64_t lower_of(Instance bound) const;
  int64_t upper_of(Instance bound) const;

  // ---- the region ----

  template <typename Visit>
  void for_each_atom(Instance instance, const Visit& visit);
  Work find_region();
  void reach(AtomRow atom);
  void touch(Instance instance);
  void walk();
  void walk_from(AtomRow atom);
  void use(Instance instance);
  void ask(AtomRow atom);
  bool is_fixed(uint32_t cluster) const;
  bool merge_circles();
  void reach_askers(AtomRow atom);

  Work solve();
  Work make_open_program();
  bool grow_region();
  bool has_one_view(uint32_t cluster) const;
  std::optional<std::vector<oracle::GroundLiteral>> left_of(Instance instance,
                                                            std::span<const Mention> body);
  void add_open(Instance instance);
  void add_open_bound(Instance instance);
  void add_open_fold(Instance group);

  Work install();
  Work install_views();
  void install_cluster(std::span<const uint32_t> units, uint32_t cluster);
  void remember();

  Worlds& worlds_;
  Kept& kept_;
  Instances& instances_;
  const bool building_;
  const bool only_bounds_;
  std::optional<oracle::Context> context_;
  uint64_t steps_ = 0;

  std::vector<AtomRow> affected_;
  std::vector<Instance> changed_;  // that came or went
  std::vector<Instance> marked_;
  std::vector<AtomRow> numbered_;  // of the ground program of the bounds
  std::vector<oracle::AtomId> heads_;
  std::vector<oracle::GroundLiteral> body_;

  std::vector<AtomRow> reached_;
  size_t walked_ = 0;                       // so many of them
  std::unordered_set<uint32_t> dissolved_;  // clusters
  std::vector<AtomRow> region_;             // open atoms that are reached
  std::vector<Instance> used_;              // by their units
  std::set<uint32_t> asked_;                // clusters outside that are asked
  bool whole_ = false;  // all that questions connect is found again, not units alone
  std::vector<std::pair<Instance, bool>> judged_;

  oracle::GroundProgram open_;
  epistemic::SearchCounts counts_;
  std::optional<epistemic::WorldViews> views_;
};

// The rules of the results of a group: `condition_of` says when an element counts, nothing where it
// does not, and `number_of_result` which results have rules.
template <typename ConditionOf, typename NumberOf>
void WorldsUpdate::add_fold(Instance group, oracle::GroundProgram& to,
                            const ConditionOf& condition_of, const NumberOf& number_of_result) {
  const InstanceTable& table = instances_.table(group);
  auto input = std::make_shared<oracle::AggregateInput>();
  input->folds = table.fold->folds;
  input->nonempty = table.fold->nonempty;
  instances_.for_each_folded(group, [&](AtomRow element) {
    if (!is_there(element)) return;
    std::optional<std::vector<oracle::GroundLiteral>> condition = condition_of(element);
    if (!condition) return;
    input->elements.push_back(
        {kept_.folded_values(*table.fold, element.row), std::move(*condition)});
  });
  instances_.for_each_result(group, [&](AtomRow result) {
    const std::optional<oracle::AtomId> number = number_of_result(result);
    if (!number) return;
    std::vector<lang::Value> values = kept_.values({result.pred}, result.row);
    values.erase(values.begin(), values.begin() + table.fold->group_columns);
    const auto index = static_cast<uint32_t>(to.aggregates.size());
    to.aggregates.push_back({input, std::move(values)});
    to.rules.add(oracle::GroundHead::Normal, {*number},
                 {{oracle::GroundKind::Aggregate, lang::Modal::None, index}}, table.rule);
  });
}

}  // namespace xlog::incremental
