// What is founded in the worlds that a solver has shown so far, as a least fixpoint over rules: one
// world mostly witnesses many questions, and what follows from these needs no solver.
//
//   FoundedWorlds worlds(unit.atom_count, foundation, questions, guess, context);
//   worlds.add(solver);       // each model that is found
//   worlds.support(question); // where the solver knows better
//
// Beside them stands what is founded in every world, whichever these are: by rules that need
// nothing but such atoms and supported questions.
#pragma once

#include <vector>

#include "epistemic/translate.h"
#include "oracle/context.h"
#include "solve/stable_models.h"

namespace xlog::epistemic {

class FoundedWorlds {
 public:
  // The guess has an answer for each question.
  FoundedWorlds(oracle::AtomId atoms, const Translation::Foundation& foundation,
                const std::vector<Question>& questions, const std::vector<solve::Literal>& guess,
                oracle::Context& context);

  // The model that the solver has found.
  void add(const solve::StableModels& solver);
  // A question whose atom is founded as it asks for.
  void support(size_t question);

  bool is_supported(size_t question) const { return is_supported_[question]; }
  // Questions that may get support: of atoms that should be founded in some world and are in none
  // of these, or (`all`) that should be founded in all and are in all of these.
  std::vector<size_t> waiting(bool all) const;

 private:
  using Rule = Translation::Foundation::Rule;
  struct World {
    std::vector<uint32_t> missing;  // by rule: atoms and questions; kNever where others fail
    std::vector<bool> is_founded;   // by atom
    // Atoms that hold and are not founded so far; not counted of what all worlds have in common.
    size_t unfounded = 0;
  };
  static constexpr uint32_t kNever = UINT32_MAX;

  bool fits_guess(const Rule& rule) const;
  template <typename MayFire>
  void start(World& world, const MayFire& may_fire);
  void spread(World& world);
  void note(size_t question);
  void settle();

  const Translation::Foundation& foundation_;
  const std::vector<Question>& questions_;
  const std::vector<solve::Literal>& guess_;
  oracle::Context& context_;
  std::vector<std::vector<uint32_t>> rules_of_atom_, rules_of_question_;  // that wait for it
  std::vector<std::vector<size_t>> questions_of_atom_;                    // that need support
  std::vector<bool> is_supported_;
  std::vector<size_t> supported_;      // what follows from these has not been looked at
  std::vector<oracle::AtomId> found_;  // likewise, in one world
  World in_all_;
  std::vector<World> worlds_;  // with atoms that are not founded yet
};

}  // namespace xlog::epistemic
