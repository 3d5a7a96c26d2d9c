// Worlds that refuted guesses, as demands on all later ones.
//
// Where what holds in a world follows from its choices and the answers to the questions, a world
// that contradicts a guess says more than that: make the same choices under any other guess, and
// what follows is a world of that guess too, unless a constraint forbids it. So a copy of what
// depends on choices, with these choices made, joins the program that generates guesses, and the
// guesses must agree with it. (Janota, Klieber, Marques-Silva, Clarke: Solving QBF with
// counterexample guided refinement, 2012, does so for formulas.)
#pragma once

#include <functional>
#include <utility>
#include <vector>

#include "epistemic/translate.h"
#include "solve/ground_program.h"

namespace xlog::epistemic {

class Counterexamples {
 public:
  // `program`: the rules of the unit, with a choice for each question, so many as `rules` says;
  // others may stand behind them. Both must outlive this.
  Counterexamples(const solve::GroundProgram& program, size_t rules,
                  const std::vector<Question>& questions);

  // Whether what holds in a world follows from choices and answers: the rules are stratified and
  // have no disjunctive heads.
  bool can_copy() const { return can_copy_; }

  // The atoms whose choices make a world.
  const std::vector<solve::Atom>& choices() const { return choices_; }

  // Adds a copy with the choices of a world to a program that knows the unit's atoms. What all
  // copies share goes into the program of the first one.
  using Holds = std::function<bool(solve::Atom)>;
  void add_copy(const Holds& world, solve::GroundProgram& to);

 private:
  class Copy;
  static constexpr uint32_t kNone = UINT32_MAX;

  void find_varying();
  void find_rules_to_copy();
  void add_shared(solve::GroundProgram& to);
  bool is_stratified() const;

  const solve::GroundProgram& program_;
  const size_t rules_;
  const std::vector<Question>& questions_;
  std::vector<bool> is_question_;  // by atom
  std::vector<uint32_t> varying_;  // by atom: depends on choices, as which of these; else kNone
  uint32_t varying_count_ = 0;
  std::vector<size_t> to_copy_;          // rules
  std::vector<uint32_t> asked_varying_;  // questions about what varies
  // Rules that derive what varies, but whose bodies do not vary, each with its head; then an atom
  // for each head that says that one of these bodies holds.
  std::vector<std::pair<solve::Atom, size_t>> not_to_copy_;
  std::vector<std::pair<solve::Atom, solve::Atom>> shared_;
  std::vector<solve::Atom> choices_;
  bool can_copy_ = false;
};

}  // namespace xlog::epistemic
