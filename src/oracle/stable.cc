#include "oracle/stable.h"

#include <fmt/format.h>

#include <algorithm>

#include "oracle/well_founded.h"

namespace xlog::oracle {

namespace {

std::vector<AtomId> guessed_atoms(const GroundProgram& program) {
  std::vector<bool> guessed(program.atom_count, false);
  for (const GroundRule rule : program.rules) {
    if (rule.kind == GroundHead::Constraint)
      continue;  // looked at only when a candidate is complete
    if (rule.kind != GroundHead::Normal) {
      for (AtomId head : rule.heads) guessed[head] = true;
    }
    for (const GroundLiteral& literal : rule.body) {
      if (literal.kind == GroundKind::Pos) continue;
      for_each_atom(literal, program,
                    [&](AtomId atom, const GroundLiteral&) { guessed[atom] = true; });
    }
  }
  std::vector<AtomId> atoms;
  for (AtomId a = 0; a < program.atom_count; ++a) {
    if (guessed[a]) atoms.push_back(a);
  }
  return atoms;
}

// The least model of the rules when everything but positive atoms is decided by `guess`: a choice
// derives its head if guessed, a disjunction those of its heads that are in `disjuncts`.
Interpretation derive(const GroundProgram& program, const Interpretation& guess,
                      const Interpretation& disjuncts, Context& context) {
  Interpretation derived(program.atom_count, false);
  for (bool changed = true; changed;) {
    changed = false;
    for (const GroundRule rule : program.rules) {
      const auto open_head = [&](AtomId head) {
        if (derived[head]) return false;
        if (rule.kind == GroundHead::Choice) return bool{guess[head]};
        return rule.kind == GroundHead::Normal || disjuncts[head];
      };
      if (std::none_of(rule.heads.begin(), rule.heads.end(), open_head)) continue;
      const bool fires =
          std::all_of(rule.body.begin(), rule.body.end(), [&](const GroundLiteral& l) {
            return l.kind == GroundKind::Pos ? bool{derived[l.index]}
                                             : holds(l, program, guess, context.names());
          });
      if (!fires) continue;
      for (AtomId head : rule.heads) {
        if (!open_head(head)) continue;
        derived[head] = true;
        changed = true;
      }
    }
  }
  return derived;
}

bool satisfies_disjunctions_and_constraints(const GroundProgram& program,
                                            const Interpretation& world, Context& context) {
  for (const GroundRule rule : program.rules) {
    if (rule.kind != GroundHead::Disjunction && rule.kind != GroundHead::Constraint) continue;
    if (std::any_of(rule.heads.begin(), rule.heads.end(), [&](AtomId a) { return world[a]; }))
      continue;
    if (holds(rule.body, program, world, context.names())) return false;
  }
  return std::all_of(program.bounds.begin(), program.bounds.end(), [&](const GroundBound& b) {
    return holds(b, program, world, context.names());
  });
}

// Is there a smaller model of the reduct by `world`? Only disjunctions leave room for one, and a
// minimal one is derived from the disjunctive heads that it holds.
bool is_minimal(const GroundProgram& program, const Interpretation& world, Context& context) {
  std::vector<AtomId> loose;
  for (const GroundRule rule : program.rules) {
    if (rule.kind != GroundHead::Disjunction) continue;
    std::vector<AtomId> held;
    std::copy_if(rule.heads.begin(), rule.heads.end(), std::back_inserter(held),
                 [&](AtomId a) { return world[a]; });
    if (held.size() >= 2) loose.insert(loose.end(), held.begin(), held.end());
  }
  std::sort(loose.begin(), loose.end());
  loose.erase(std::unique(loose.begin(), loose.end()), loose.end());
  if (loose.size() >= 63)
    throw LimitExceeded{"a disjunction too large for the reference evaluator", ""};

  const uint64_t all = (uint64_t{1} << loose.size()) - 1;
  for (uint64_t subset = 0; subset < all; ++subset) {  // the full set gives `world` itself
    context.count_candidate();
    Interpretation disjuncts = world;
    for (size_t i = 0; i < loose.size(); ++i) disjuncts[loose[i]] = (subset >> i & 1) != 0;
    const Interpretation smaller = derive(program, world, disjuncts, context);
    if (smaller == world) continue;
    const bool model =
        std::all_of(program.rules.begin(), program.rules.end(), [&](const GroundRule& rule) {
          if (rule.kind != GroundHead::Disjunction) return true;
          const bool fires =
              std::all_of(rule.body.begin(), rule.body.end(), [&](const GroundLiteral& l) {
                return l.kind == GroundKind::Pos ? bool{smaller[l.index]}
                                                 : holds(l, program, world, context.names());
              });
          return !fires || std::any_of(rule.heads.begin(), rule.heads.end(),
                                       [&](AtomId a) { return smaller[a]; });
        });
    if (model) return false;
  }
  return true;
}

}  // namespace

std::vector<Interpretation> stable_models_by_guessing(const GroundProgram& program,
                                                      Context& context) {
  const std::vector<AtomId> guessed = guessed_atoms(program);
  if (guessed.size() >= 63 || (uint64_t{1} << guessed.size()) > context.options.max_candidates) {
    throw LimitExceeded{
        fmt::format(
            "{} open atoms depend on each other: 2^{} candidates, and the reference evaluator "
            "tries at most {}",
            guessed.size(), guessed.size(), context.options.max_candidates),
        "raise it with `--max-candidates N` if that many can be tried at all"};
  }
  std::vector<Interpretation> models;
  for (uint64_t bits = 0; bits < (uint64_t{1} << guessed.size()); ++bits) {
    context.count_candidate();
    Interpretation guess(program.atom_count, false);
    for (size_t i = 0; i < guessed.size(); ++i) guess[guessed[i]] = (bits >> i & 1) != 0;
    Interpretation world = derive(program, guess, guess, context);
    const bool as_guessed =
        std::all_of(guessed.begin(), guessed.end(), [&](AtomId a) { return world[a] == guess[a]; });
    if (!as_guessed || !satisfies_disjunctions_and_constraints(program, world, context)) continue;
    if (is_minimal(program, world, context)) models.push_back(std::move(world));
  }
  return models;
}

std::vector<Interpretation> stable_models(const GroundProgram& program, Context& context) {
  // The mode does not matter: there are no modal literals.
  const Bounds bounds = well_founded_bounds(program, logic::Mode::G91, context);
  std::vector<Interpretation> models =
      stable_models_by_guessing(residual(program, bounds, context.names()), context);
  for (Interpretation& model : models) {
    for (AtomId a = 0; a < program.atom_count; ++a) model[a] = model[a] || bounds.lower[a];
  }
  return models;
}

}  // namespace xlog::oracle
