// Worlds that refuted guesses, as demands on all later ones.
//
// Where what holds in a world follows from its choices and the answers to the questions, a world
// that contradicts a guess says more than that: make the same choices under any other guess, and
// what follows is a world of that guess too, unless a constraint forbids it. So a copy of what
// depends on choices, with these choices made, joins the program that generates guesses, and the
// guesses must agree with it. (Janota, Klieber, Marques-Silva, Clarke: Solving QBF with
// counterexample guided refinement, 2012, does so for formulas.)
#pragma once

#include <vector>

#include "epistemic/translate.h"
#include "solve/ground_program.h"

namespace xlog::epistemic {

class Counterexamples {
 public:
  // `program`: the rules of the unit, with a choice for each question. Both must outlive this.
  Counterexamples(const solve::GroundProgram& program, const std::vector<Question>& questions);

  // Whether what holds in a world follows from choices and answers: the rules are stratified and
  // have no disjunctive heads.
  bool can_copy() const { return can_copy_; }

  // The atoms whose choices make a world.
  const std::vector<solve::Atom>& choices() const { return choices_; }

  // Adds a copy with the choices of `world`, by atom, to a program that contains the unit's.
  void add_copy(const std::vector<bool>& world, solve::GroundProgram& to) const;

 private:
  void find_varying();
  bool is_stratified() const;

  const solve::GroundProgram& program_;
  const std::vector<Question>& questions_;
  std::vector<bool> is_question_;  // by atom
  std::vector<bool> varies_;       // by atom: depends on choices
  std::vector<size_t> to_copy_;    // rules
  std::vector<solve::Atom> choices_;
  bool can_copy_ = false;
};

}  // namespace xlog::epistemic
