// Worlds that refuted guesses, as demands on all later ones.
//
// Where what holds in a world follows from its choices and the answers to the questions, a world
// that contradicts a guess says more than that: make the same choices under any other guess, and
// what follows is a world of that guess too, unless a constraint forbids it. So a copy of what
// depends on choices, with these choices made, joins the program that generates guesses, and the
// guesses must agree with it. (Janota, Klieber, Marques-Silva, Clarke: Solving QBF with
// counterexample guided refinement, 2012, does so for formulas.)
#pragma once

#include <unordered_map>
#include <vector>

#include "epistemic/chosen_world.h"
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

  // The atoms whose choices make a world, ascending.
  const std::vector<solve::Atom>& choices() const { return choices_; }

  // Whether worlds lately could be made to demand much more.
  bool strengthens() const { return patience_ > 0; }

  // Adds copies of worlds that refute a guess, each given by which of the choices it makes, to a
  // program that knows the unit's atoms. `rest`: what holds under the guess whatever the choices.
  // Worlds that demand more are taken instead where they are near. What all copies share goes into
  // the program of the first ones.
  using Holds = ChosenWorld::Holds;
  void add_copies(std::vector<std::vector<bool>> worlds, const Holds& rest,
                  const std::vector<solve::Literal>& guess, solve::GroundProgram& to);

 private:
  class Copy;
  class Strengthening;
  struct Contradicted {
    uint32_t question;
    solve::Literal answer;  // that a world contradicts
    solve::Literal by;      // in which this holds
  };
  static constexpr uint32_t kPatience = 8;

  void find_varying();
  void find_rules_to_copy();
  bool is_stratified() const;
  bool varies(solve::Literal literal) const;  // depends on choices
  bool reads_varying(const solve::Rule& rule) const;
  // Answers that a world may contradict.
  std::vector<Contradicted> contradicted(const ChosenWorld& world) const;
  void add_shared(solve::GroundProgram& to);
  void add_copy(ChosenWorld& world, solve::GroundProgram& to) const;

  const solve::GroundProgram& program_;
  const size_t rules_;
  const std::vector<Question>& questions_;
  std::vector<bool> is_question_;  // by atom
  std::vector<uint32_t> varying_;  // by atom: depends on choices, as which of these; else none
  std::vector<ChosenWorld::Derivation> to_copy_;
  std::vector<uint32_t> asked_varying_;  // questions about what varies
  // Derivations of what varies whose bodies do not vary, by head; then an atom for each head that
  // says that one of these bodies holds.
  std::vector<ChosenWorld::Derivation> not_to_copy_;
  std::unordered_map<solve::Atom, solve::Atom> shared_;
  std::vector<solve::Atom> choices_;
  uint32_t patience_ = kPatience;  // worlds to strengthen in vain before none is
  bool can_copy_ = false;
};

}  // namespace xlog::epistemic
