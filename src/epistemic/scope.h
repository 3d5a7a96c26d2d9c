// Where an explanation is true: in every world of a view, or in one of them.
#pragma once

#include <optional>
#include <unordered_map>
#include <vector>

#include "epistemic/findings.h"

namespace xlog::epistemic {

// The rules of a ground program by the atoms of their heads.
class RulesByHead {
 public:
  explicit RulesByHead(const oracle::GroundProgram& program);
  std::span<const uint32_t> operator[](oracle::AtomId atom) const {
    return std::span(rules_).subspan(starts_[atom], starts_[atom + 1] - starts_[atom]);
  }

 private:
  std::vector<uint32_t> starts_, rules_;
};

class Scope {
 public:
  // In every world of a view of the cluster.
  Scope(const Findings& findings, const RulesByHead& rules, uint32_t cluster_view,
        uint32_t cluster);
  // In one world of a unit of the cluster, given by its atoms.
  Scope(const Findings& findings, const RulesByHead& rules, uint32_t cluster_view, uint32_t cluster,
        uint32_t unit, const std::vector<oracle::AtomId>& world);

  bool is_one_world() const { return is_one_world_; }
  uint32_t cluster_view() const { return cluster_view_; }
  oracle::Truth truth(const oracle::GroundLiteral& literal) const;
  oracle::Truth truth(const oracle::GroundAggregate& aggregate) const;
  bool holds(oracle::AtomId atom) const { return bounds_.lower[atom]; }

  // The rule that founds an atom that holds, with the least number of steps; nothing where
  // different rules do in different worlds.
  std::optional<uint32_t> founding_rule(oracle::AtomId atom);

 private:
  static constexpr uint32_t kUnranked = UINT32_MAX;
  void rank_from(oracle::AtomId goal);
  void rank(const std::vector<oracle::AtomId>& atoms, bool believes);
  // The atoms that a rule rests on where it founds a head; nothing where it does not. What is
  // believed must be founded, unless `believes`.
  std::optional<std::vector<oracle::AtomId>> rests_on(uint32_t rule, oracle::AtomId head,
                                                      bool believes) const;
  // 1 + the greatest rank that the rule rests on; kUnranked where it does not found the head yet.
  uint32_t rank_by(uint32_t rule, oracle::AtomId head, bool believes) const;

  const Findings& findings_;
  const RulesByHead& rules_;
  uint32_t cluster_view_;
  uint32_t cluster_;
  bool is_one_world_ = false;
  oracle::Bounds bounds_;
  std::unordered_map<oracle::AtomId, uint32_t> ranks_;
};

}  // namespace xlog::epistemic
