// For tests: random ground programs, and the stable models of small ones from the definition.
#pragma once

#include <cstdint>
#include <random>
#include <vector>

#include "solve/ground_program.h"

namespace xlog::solve {

// Sets of atoms as bits: atom a is bit a - 1.
using AtomSet = uint32_t;

inline bool in_set(AtomSet set, Literal l) {
  return ((set >> (variable_of(l) - 1)) & 1) == (l > 0 ? 1u : 0u);
}

inline bool body_holds(const Rule& rule, AtomSet positive, AtomSet negative) {
  int64_t weight = 0;
  bool all = true;
  for (size_t i = 0; i < rule.body.size(); ++i) {
    const bool holds = in_set(rule.body[i] > 0 ? positive : negative, rule.body[i]);
    all = all && holds;
    if (rule.weighted && holds) weight += rule.weights[i];
  }
  return rule.weighted ? weight >= rule.bound : all;
}

// Whether `smaller` satisfies the reduct by `set`.
inline bool satisfies_reduct(const GroundProgram& program, AtomSet smaller, AtomSet set) {
  for (size_t r = 0; r < program.rules(); ++r) {
    const Rule rule = program.rule(r);
    if (!body_holds(rule, smaller, set)) continue;
    bool some = false;
    bool all_chosen = true;
    for (const Atom a : rule.head) {
      some = some || in_set(smaller, a);
      all_chosen = all_chosen && (!in_set(set, a) || in_set(smaller, a));
    }
    if (rule.head_kind == HeadKind::Choice ? !all_chosen : !some) return false;
  }
  return true;
}

// Ascending. `given` are external atoms that may hold without a rule.
inline std::vector<AtomSet> stable_models_by_definition(const GroundProgram& program,
                                                        AtomSet given = 0) {
  std::vector<AtomSet> models;
  const AtomSet end = AtomSet{1} << program.atoms();
  for (AtomSet set = 0; set < end; ++set) {
    if (!satisfies_reduct(program, set, set)) continue;
    bool minimal = true;
    // All proper subsets that keep the given atoms.
    const AtomSet kept = set & given;
    const AtomSet may_go = set & ~given;
    for (AtomSet gone = may_go; gone != 0 && minimal; gone = (gone - 1) & may_go) {
      minimal = !satisfies_reduct(program, kept | (may_go & ~gone), set);
    }
    if (minimal) models.push_back(set);
  }
  return models;
}

struct RandomProgramShape {
  int32_t atoms = 6;
  int32_t rules = 10;
  bool choices = true;
  bool weights = true;
  bool disjunctions = true;
  bool positive_cycles = true;
  bool constraints = true;
};

inline GroundProgram random_program(std::mt19937& random, const RandomProgramShape& shape) {
  const auto below = [&](int32_t n) {
    return static_cast<int32_t>(random() % static_cast<uint32_t>(n));
  };
  GroundProgram program;
  program.need_atoms(shape.atoms);
  for (int32_t r = 0; r < shape.rules; ++r) {
    std::vector<Atom> head;
    HeadKind kind = HeadKind::Disjunction;
    const int32_t what = below(10);
    int32_t heads = 1;
    if (what == 0 && shape.constraints) heads = 0;
    if (what >= 1 && what <= 3 && shape.choices) {
      kind = HeadKind::Choice;
      heads = 1 + below(3);
    }
    if (what >= 4 && what <= 6 && shape.disjunctions) heads = 1 + below(3);
    Atom lowest = shape.atoms + 1;
    for (int32_t i = 0; i < heads; ++i) {
      head.push_back(1 + below(shape.atoms));
      lowest = std::min(lowest, head.back());
    }
    std::vector<Literal> body;
    std::vector<int64_t> weights;
    int64_t total = 0;
    for (int32_t n = below(4); n > 0; --n) {
      Literal l = 1 + below(shape.atoms);
      if (below(2) == 0 || (!shape.positive_cycles && l >= lowest)) l = -l;
      body.push_back(l);
      weights.push_back(1 + below(3));
      total += weights.back();
    }
    if (shape.weights && below(3) == 0) {
      const auto bound = static_cast<int64_t>(below(static_cast<int32_t>(total) + 2));
      program.add_weight_rule(kind, head, bound, body, weights);
    } else {
      program.add_rule(kind, head, body);
    }
  }
  return program;
}

}  // namespace xlog::solve
