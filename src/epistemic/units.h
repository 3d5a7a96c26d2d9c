// Splits a ground program into units (SEMANTICS section 4). Atoms that one rule, constraint or
// bound mentions objectively belong together; a modal literal only directs an edge from the group
// that is asked about to the one that asks, and groups that ask each other are one unit. A
// constraint of modal literals alone belongs to the last unit that it asks about. Units that are
// connected by questions form a cluster; clusters do not influence each other.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "base/parallel.h"
#include "oracle/ground.h"

namespace xlog::epistemic {

class Units {
 public:
  explicit Units(const oracle::GroundProgram& program, const Parallel& parallel = in_turn);

  uint32_t size() const { return static_cast<uint32_t>(atoms_.starts.size() - 1); }
  std::span<const oracle::AtomId> atoms(uint32_t unit) const { return atoms_[unit]; }
  std::span<const uint32_t> rules(uint32_t unit) const { return rules_[unit]; }
  std::span<const uint32_t> bounds(uint32_t unit) const { return bounds_[unit]; }

  uint32_t unit_of(oracle::AtomId atom) const { return unit_of_[atom]; }  // kNone: not mentioned
  // Among the atoms of its unit.
  uint32_t place_of(oracle::AtomId atom) const { return place_of_[atom]; }
  static constexpr uint32_t kNone = UINT32_MAX;

  // In the order of their least atoms. Their units in an order in which each asks only those
  // before it.
  uint32_t clusters() const { return static_cast<uint32_t>(clusters_.starts.size() - 1); }
  std::span<const uint32_t> units_of(uint32_t cluster) const { return clusters_[cluster]; }
  uint32_t cluster_of(uint32_t unit) const { return cluster_of_[unit]; }
  uint32_t place_in_cluster(uint32_t unit) const { return place_in_cluster_[unit]; }

  // Which unit asks which other one: pairs of their numbers, in increasing order.
  std::vector<std::pair<uint32_t, uint32_t>> asking_and_asked() const;

  // The unit as a program over its own atoms, with questions to other units answered by `holds`.
  // `put_key` appends the same numbers for units that are the same but for their atoms' numbers.
  using Holds = std::function<bool(const oracle::GroundLiteral&)>;
  void put_key(uint32_t unit, const Holds& holds, std::vector<uint64_t>& key) const;
  oracle::GroundProgram program(uint32_t unit, const Holds& holds) const;

 private:
  // Lists by number, in one array.
  struct Lists {
    std::vector<uint32_t> starts{0}, values;
    std::span<const uint32_t> operator[](uint32_t i) const {
      return std::span(values).subspan(starts[i], starts[i + 1] - starts[i]);
    }
    static Lists by(const std::vector<uint32_t>& list_of, uint32_t lists);
  };

  class Copier;
  class KeyWriter;

  void find_groups(const Parallel& parallel);
  void find_units();
  void settle_waiting();
  void find_clusters();
  bool is_foreign(uint32_t unit, const oracle::GroundLiteral& literal) const;
  template <typename Visit>
  bool for_each_left(uint32_t unit, oracle::GroundBody body, const Holds& holds,
                     const Visit& visit) const;

  const oracle::GroundProgram& program_;
  std::vector<uint32_t> group_of_atom_, group_of_rule_, group_of_bound_;
  uint32_t groups_ = 0;
  std::vector<std::pair<uint32_t, uint32_t>> edges_;  // between groups: asked, asking
  std::vector<uint32_t> unit_of_group_;
  // What mentions no atom objectively, of rules, then of bounds, and an atom that it asks about.
  std::vector<std::pair<uint32_t, oracle::AtomId>> waiting_;
  std::vector<std::pair<uint32_t, uint32_t>> connected_;  // by these questions: units
  std::vector<uint32_t> unit_of_, place_of_;
  Lists atoms_, rules_, bounds_;
  Lists clusters_;
  std::vector<uint32_t> cluster_of_, place_in_cluster_;
};

}  // namespace xlog::epistemic
