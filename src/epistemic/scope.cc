#include "epistemic/scope.h"

#include <algorithm>
#include <unordered_set>

#include "epistemic/translate.h"

namespace xlog::epistemic {

using oracle::AtomId;
using oracle::GroundHead;
using oracle::GroundKind;
using oracle::GroundLiteral;
using oracle::GroundRule;
using oracle::Truth;

namespace {

constexpr size_t kMostAtoms = 200'000;  // that are looked at for one explanation

}  // namespace

RulesByHead::RulesByHead(const oracle::GroundProgram& program)
    : starts_(size_t{program.atom_count} + 1, 0) {
  for (const GroundRule rule : program.rules) {
    for (const AtomId head : rule.heads) ++starts_[head + 1];
  }
  for (size_t a = 0; a < program.atom_count; ++a) starts_[a + 1] += starts_[a];
  rules_.resize(starts_.back());
  std::vector<uint32_t> at(starts_.begin(), starts_.end() - 1);
  uint32_t r = 0;
  for (const GroundRule rule : program.rules) {
    for (const AtomId head : rule.heads) rules_[at[head]++] = r;
    ++r;
  }
}

Scope::Scope(const Findings& findings, const RulesByHead& rules, uint32_t cluster_view,
             uint32_t cluster)
    : findings_(findings),
      rules_(rules),
      cluster_view_(cluster_view),
      cluster_(cluster),
      bounds_(findings.bounds()) {
  if (cluster == Units::kNone) return;
  const Units& units = findings.views().units();
  for (const uint32_t unit : units.units_of(cluster)) {
    for (const AtomId atom : units.atoms(unit)) {
      const AtomStatus status = findings.status(atom, cluster_view);
      bounds_.lower[atom] = status == AtomStatus::Always;
      bounds_.upper[atom] = status != AtomStatus::Never;
    }
  }
}

Scope::Scope(const Findings& findings, const RulesByHead& rules, uint32_t cluster_view,
             uint32_t cluster, uint32_t unit, const std::vector<AtomId>& world)
    : Scope(findings, rules, cluster_view, cluster) {
  is_one_world_ = true;
  for (const AtomId atom : findings.views().units().atoms(unit)) {
    bounds_.lower[atom] = bounds_.upper[atom] = false;
  }
  for (const AtomId atom : world) bounds_.lower[atom] = bounds_.upper[atom] = true;
}

Truth Scope::truth(const GroundLiteral& literal) const {
  if (literal.kind != GroundKind::Modal) {
    return oracle::bounded_truth(literal, findings_.instance().ground, bounds_,
                                 findings_.context().names());
  }
  const AtomStatus status = findings_.status(literal.index, cluster_view_);
  return holds_by(literal.modal, status) ? Truth::True : Truth::False;
}

Truth Scope::truth(const oracle::GroundAggregate& aggregate) const {
  oracle::GroundProgram alone;
  alone.aggregates.push_back(aggregate);
  return oracle::bounded_truth({GroundKind::Aggregate, lang::Modal::None, 0}, alone, bounds_,
                               findings_.context().names());
}

std::optional<std::vector<AtomId>> Scope::rests_on(uint32_t r, AtomId head, bool believes) const {
  const GroundRule rule = findings_.instance().ground.rules[r];
  if (rule.kind == GroundHead::Choice && !is_one_world_) return std::nullopt;
  for (const AtomId other : rule.heads) {
    if (other != head && bounds_.upper[other]) return std::nullopt;
  }
  std::vector<AtomId> atoms;
  for (const GroundLiteral& literal : rule.body) {
    if (truth(literal) != Truth::True) return std::nullopt;
    // What is believed is founded in all worlds, not in this one alone.
    const bool is_founded_belief =
        literal.kind == GroundKind::Modal && !believes && !is_one_world_ &&
        oracle::needs_foundation(literal.modal, findings_.context().options.mode) &&
        findings_.status(literal.index, cluster_view_) == AtomStatus::Always;
    if (literal.kind == GroundKind::Pos || is_founded_belief) atoms.push_back(literal.index);
  }
  std::ranges::sort(atoms);
  atoms.erase(std::ranges::unique(atoms).begin(), atoms.end());
  return atoms;
}

uint32_t Scope::rank_by(uint32_t rule, AtomId head, bool believes) const {
  const std::optional<std::vector<AtomId>> needed = rests_on(rule, head, believes);
  if (!needed) return kUnranked;
  uint32_t rank = 0;
  for (const AtomId atom : *needed) {
    const auto found = ranks_.find(atom);
    if (found == ranks_.end()) return kUnranked;
    rank = std::max(rank, found->second);
  }
  return rank + 1;
}

void Scope::rank_from(AtomId goal) {
  std::unordered_set<AtomId> seen = {goal};
  std::vector<AtomId> atoms = {goal};
  for (size_t next = 0; next < atoms.size() && atoms.size() < kMostAtoms; ++next) {
    for (const uint32_t r : rules_[atoms[next]]) {
      const oracle::GroundBody body = findings_.instance().ground.rules[r].body;
      const auto fails = [&](const GroundLiteral& l) { return truth(l) == Truth::False; };
      if (std::ranges::any_of(body, fails)) continue;
      for (const GroundLiteral& literal : body) {
        if (literal.kind == GroundKind::Aggregate || !bounds_.lower[literal.index]) continue;
        if (seen.insert(literal.index).second) atoms.push_back(literal.index);
      }
    }
  }
  // First what is founded, then what rests on beliefs alone.
  rank(atoms, false);
  if (!ranks_.contains(goal)) rank(atoms, true);
}

// Breadth first from what rests on nothing, so that the first rank of an atom is its least.
void Scope::rank(const std::vector<AtomId>& atoms, bool believes) {
  struct Waiting {
    AtomId head;
    size_t left;  // atoms without a rank that the rule rests on
  };
  std::vector<Waiting> rules;
  std::unordered_map<AtomId, std::vector<size_t>> readers;
  std::vector<AtomId> ranked;
  const auto give = [&](AtomId atom, uint32_t rank) {
    if (ranks_.try_emplace(atom, rank).second) ranked.push_back(atom);
  };
  std::vector<std::pair<AtomId, uint32_t>> at_once;
  for (const AtomId atom : atoms) {
    if (!bounds_.lower[atom] || ranks_.contains(atom)) continue;
    for (const uint32_t r : rules_[atom]) {
      const std::optional<std::vector<AtomId>> needed = rests_on(r, atom, believes);
      if (!needed) continue;
      size_t left = 0;
      for (const AtomId other : *needed) {
        if (ranks_.contains(other)) continue;
        readers[other].push_back(rules.size());
        ++left;
      }
      if (left == 0) at_once.emplace_back(atom, rank_by(r, atom, believes));
      rules.push_back({atom, left});
    }
  }
  std::ranges::stable_sort(at_once, {}, &std::pair<AtomId, uint32_t>::second);
  for (const auto& [atom, rank] : at_once) give(atom, rank);
  for (size_t next = 0; next < ranked.size(); ++next) {
    const uint32_t here = ranks_[ranked[next]];
    for (const size_t reader : readers[ranked[next]]) {
      if (--rules[reader].left == 0) give(rules[reader].head, here + 1);
    }
  }
}

std::optional<uint32_t> Scope::founding_rule(AtomId atom) {
  if (!ranks_.contains(atom)) rank_from(atom);
  const auto found = ranks_.find(atom);
  if (found == ranks_.end()) return std::nullopt;
  for (const bool believes : {false, true}) {
    for (const uint32_t r : rules_[atom]) {
      if (rank_by(r, atom, believes) <= found->second) return r;
    }
  }
  return std::nullopt;
}

}  // namespace xlog::epistemic
