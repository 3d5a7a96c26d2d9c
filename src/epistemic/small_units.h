// Small units as code for the kernels of unit_batch_kernel.h, one after another in flat arrays.
//
// Under a guess and an interpretation a unit is a list of rules without negation: what is negated,
// doubly negated or chosen is looked up in the interpretation, questions in the guess. Only the
// atoms that are looked up there need be guessed at all: the least model of the rules gives the
// others, and it is a world where it agrees with what was guessed and no constraint is broken.
//
// Truth values stand in numbered slots: derived atoms first, then what is derived to break a
// constraint, then counters of bounds; behind them what is guessed, in this order: atoms,
// questions, and questions that have to be founded.
#pragma once

#include <cstdint>
#include <vector>

#include "epistemic/batch_trace.h"
#include "logic/answer.h"
#include "oracle/ground.h"

namespace xlog::epistemic {

// A code is a slot with two flags. Literals of a body follow each other; a code with kHead ends the
// body and derives its slot.
constexpr uint8_t kSlotBits = 6;
constexpr uint32_t kSlots = 1u << kSlotBits;
constexpr uint8_t kHead = 1u << 6;
constexpr uint8_t kNegated = 1u << 7;
// In the list of questions: whether one asks for all worlds.
constexpr uint8_t kAsksForAll = 1u << 7;

// What a unit has of everything, in the bits of a number.
struct UnitShape {
  uint32_t atoms = 0, derived = 0, guessed = 0, questions = 0;
  bool founding = false;

  // Where each begins in the number; each but the flag has seven bits.
  static constexpr uint32_t kAtoms = 0, kDerived = 7, kGuessed = 14, kQuestions = 21,
                            kFounding = 28;
  static constexpr uint32_t kMask = 127;

  uint32_t packed() const {
    return atoms << kAtoms | derived << kDerived | guessed << kGuessed | questions << kQuestions |
           static_cast<uint32_t>(founding) << kFounding;
  }
  // Instances of the kernel: each has as many guesses as fit into 64 bits, at least one.
  uint32_t instances() const;
};

class SmallUnits {
 public:
  static constexpr uint32_t kMostAtoms = 32;
  static constexpr uint32_t kMostQuestions = 12;
  // Guessed atoms and questions together: 2^14 cases are 256 words of bits.
  static constexpr uint32_t kMostGuessed = 14;
  static constexpr uint32_t kMostCodes = 4096;

  explicit SmallUnits(logic::Mode mode) : mode_(mode) {}

  // Adds a unit if it fits.
  UnitFit add(const oracle::GroundProgram& unit);
  void clear();

  uint32_t size() const { return static_cast<uint32_t>(shapes_.size()); }
  uint64_t instances() const { return instances_; }

  // Codes of unit u from starts()[u] on: guessed atoms, questions, rules, and from checks()[u] to
  // starts()[u + 1] what is looked at once when all is derived.
  const std::vector<uint8_t>& codes() const { return codes_; }
  const std::vector<uint32_t>& starts() const { return starts_; }
  const std::vector<uint32_t>& checks() const { return checks_; }
  const std::vector<uint32_t>& shapes() const { return shapes_; }
  uint32_t atoms(uint32_t unit) const { return shapes_[unit] & UnitShape::kMask; }

 private:
  class Packing;

  logic::Mode mode_;
  std::vector<uint8_t> codes_;
  std::vector<uint32_t> starts_{0}, checks_, shapes_;
  uint64_t instances_ = 0;
};

}  // namespace xlog::epistemic
