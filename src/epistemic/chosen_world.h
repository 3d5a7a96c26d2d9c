// What follows from choices where not everything else is known: each atom that depends on them is
// true, false or open.
//
//   ChosenWorld world(program, varying, rules, choices);
//   world.evaluate(made);             // which of the choices were made
//   if (world.value(atom) == 0) ...   // that depends on the rest
//
// Rules fire when their true literals suffice and are gone when what is not false does not; an atom
// is true when one of its rules fires and false when all of them are gone. Atoms that only support
// each other stay open.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "solve/ground_program.h"

namespace xlog::epistemic {

class ChosenWorld {
 public:
  static constexpr uint32_t kNone = UINT32_MAX;

  // A rule of the program for one of its heads.
  struct Derivation {
    size_t rule = 0;
    solve::Atom head = 0;  // 0: a constraint
  };

  // `varying`: a number for each atom that depends on choices, by atom, and kNone for others. All
  // but `derivations` must outlive this.
  ChosenWorld(const solve::GroundProgram& program, const std::vector<uint32_t>& varying,
              std::vector<Derivation> derivations, const std::vector<solve::Atom>& choices);

  // Starts anew with these choices, by their places, and nothing known of what does not vary, or
  // all of it.
  using Holds = std::function<bool(solve::Atom)>;
  void evaluate(const std::vector<bool>& choices);
  void give(const Holds& rest);  // for the next calls of evaluate_given
  void evaluate_given(const std::vector<bool>& choices);

  // 1: true, -1: false, 0: open.
  int value(solve::Literal literal) const;
  // Whether a constraint is violated.
  bool is_violated() const { return is_violated_; }
  // Whether a constraint may be violated, given the rest.
  bool may_be_violated() const;

  const std::vector<Derivation>& derivations() const { return derivations_; }
  // Whether its body is open, and so is its head.
  bool is_open(size_t derivation) const;

  // Open derivations on which the literals and the constraints rest, in their order.
  std::vector<size_t> needed(std::span<const solve::Literal> literals);

  // Steps of work done so far.
  uint64_t work() const { return work_; }

 private:
  struct Reader {
    uint32_t derivation;
    bool negative;
    int64_t weight;
  };
  // What a body has left: it holds once nothing is missing, and cannot once there is no room.
  struct Left {
    int64_t missing;  // weight of true literals
    int64_t room;     // weight that may become false
  };

  uint32_t number(solve::Literal literal) const;
  void start(const std::vector<bool>& choices, const std::vector<Left>& left);
  void settle(uint32_t derivation);
  void decide(uint32_t number, int8_t value);
  void propagate();

  const solve::GroundProgram& program_;
  const std::vector<uint32_t>& varying_;
  std::vector<Derivation> derivations_;
  std::vector<uint32_t> heads_;    // by derivation: the head's number, or none
  std::vector<uint32_t> choice_;   // by derivation: which choice it needs, or none
  std::vector<size_t> read_from_;  // by number: its readers begin here
  std::vector<Reader> readers_;
  std::vector<size_t> derived_from_;  // by number: its derivations begin here
  std::vector<uint32_t> derived_by_;
  std::vector<uint32_t> constraints_;
  std::vector<Left> open_, given_;  // by derivation, at the start

  std::vector<Left> left_;
  std::vector<uint32_t> supports_;  // by number: derivations that are not gone
  std::vector<int8_t> values_;      // by number
  std::vector<uint32_t> todo_;
  bool is_violated_ = false;
  uint64_t work_ = 0;
};

}  // namespace xlog::epistemic
