#include "oracle/groups.h"

#include <algorithm>
#include <map>
#include <numeric>

namespace xlog::oracle {

namespace {

using Body = std::vector<GroundLiteral>;

void collect(GroundBody body, const GroundProgram& program, std::vector<AtomId>& out) {
  for (const GroundLiteral& literal : body) {
    for_each_atom(literal, program,
                  [&](AtomId atom, const GroundLiteral&) { out.push_back(atom); });
  }
}

std::vector<AtomId> atoms_of(const GroundRule& rule, const GroundProgram& program) {
  std::vector<AtomId> atoms(rule.heads.begin(), rule.heads.end());
  collect(rule.body, program, atoms);
  return atoms;
}

std::vector<AtomId> atoms_of(const GroundBound& bound, const GroundProgram& program) {
  std::vector<AtomId> atoms;
  collect(bound.body, program, atoms);
  for (const auto& element : bound.elements) collect(element.condition, program, atoms);
  return atoms;
}

// Copies rules of the whole program into one part, with local atom numbers.
class Copier {
 public:
  Copier(const GroundProgram& whole, const std::vector<AtomId>& local, GroundProgram& part)
      : whole_(whole), local_(local), part_(part) {}

  Body body(GroundBody source) {
    Body copy;
    for (GroundLiteral literal : source) {
      literal.index =
          literal.kind == GroundKind::Aggregate ? aggregate(literal.index) : local_[literal.index];
      copy.push_back(literal);
    }
    return copy;
  }

 private:
  uint32_t aggregate(uint32_t index) {
    if (auto it = copied_.find(index); it != copied_.end()) return it->second;
    auto input = std::make_shared<AggregateInput>(*whole_.aggregates[index].input);
    for (auto& element : input->elements) element.condition = body(element.condition);
    const auto id = static_cast<uint32_t>(part_.aggregates.size());
    part_.aggregates.push_back({std::move(input), whole_.aggregates[index].result});
    copied_[index] = id;
    return id;
  }

  const GroundProgram& whole_;
  const std::vector<AtomId>& local_;
  GroundProgram& part_;
  std::map<uint32_t, uint32_t> copied_;
};

}  // namespace

std::vector<Part> independent_parts(const GroundProgram& program) {
  std::vector<AtomId> parent(program.atom_count);
  std::iota(parent.begin(), parent.end(), 0);
  const auto find = [&](AtomId a) {
    while (parent[a] != a) a = parent[a] = parent[parent[a]];
    return a;
  };
  std::vector<bool> mentioned(program.atom_count, false);
  const auto unite = [&](const std::vector<AtomId>& atoms) {
    for (AtomId a : atoms) {
      mentioned[a] = true;
      const AtomId x = find(a), y = find(atoms[0]);
      parent[std::max(x, y)] = std::min(x, y);  // the root is the smallest atom
    }
  };
  for (const GroundRule rule : program.rules) unite(atoms_of(rule, program));
  for (const GroundBound& bound : program.bounds) unite(atoms_of(bound, program));

  std::vector<Part> parts;
  std::vector<uint32_t> part_of(program.atom_count, UINT32_MAX);
  std::vector<AtomId> local(program.atom_count, 0);
  for (AtomId a = 0; a < program.atom_count; ++a) {
    if (!mentioned[a]) continue;
    const AtomId root = find(a);
    if (root == a) {
      part_of[a] = static_cast<uint32_t>(parts.size());
      parts.emplace_back();
    }
    Part& part = parts[part_of[root]];
    local[a] = static_cast<AtomId>(part.atoms.size());
    part.atoms.push_back(a);
    part.program.atom_count += 1;
  }
  std::vector<Copier> copiers;
  for (Part& part : parts) copiers.emplace_back(program, local, part.program);
  for (const GroundRule rule : program.rules) {
    const std::vector<AtomId> atoms = atoms_of(rule, program);
    if (atoms.empty()) continue;
    const uint32_t p = part_of[find(atoms[0])];
    std::vector<AtomId> heads;
    for (AtomId head : rule.heads) heads.push_back(local[head]);
    parts[p].program.rules.add(rule.kind, heads, copiers[p].body(rule.body), rule.source);
  }
  for (const GroundBound& bound : program.bounds) {
    const std::vector<AtomId> atoms = atoms_of(bound, program);
    if (atoms.empty()) continue;
    const uint32_t p = part_of[find(atoms[0])];
    GroundBound copy{bound.lower, bound.upper, {}, copiers[p].body(bound.body), bound.source};
    for (const auto& element : bound.elements)
      copy.elements.push_back({element.atom, copiers[p].body(element.condition)});
    parts[p].program.bounds.push_back(std::move(copy));
  }
  return parts;
}

bool contradiction(const GroundProgram& program, lang::Names& names) {
  for (const GroundRule rule : program.rules) {
    if (rule.kind == GroundHead::Constraint && rule.body.empty()) return true;
  }
  const Interpretation nothing(program.atom_count, false);
  return std::any_of(program.bounds.begin(), program.bounds.end(), [&](const GroundBound& bound) {
    return is_broken(bound) ||
           (atoms_of(bound, program).empty() && !holds(bound, program, nothing, names));
  });
}

}  // namespace xlog::oracle
