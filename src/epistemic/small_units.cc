#include "epistemic/small_units.h"

#include <algorithm>
#include <array>
#include <bit>

#include "base/check.h"
#include "epistemic/translate.h"
#include "oracle/well_founded.h"

namespace xlog::epistemic {

using oracle::AtomId;
using oracle::GroundBody;
using oracle::GroundBound;
using oracle::GroundHead;
using oracle::GroundKind;
using oracle::GroundLiteral;
using oracle::GroundProgram;
using oracle::GroundRule;

uint32_t UnitShape::instances() const {
  const uint32_t together = std::max(guessed, 6u);
  return 1u << (std::max(guessed + questions, 6u) - together);
}

// One unit on its way. Slots are known when all is seen, so codes name things first.
class SmallUnits::Packing {
 public:
  Packing(const GroundProgram& unit, logic::Mode mode, SmallUnits& units)
      : unit_(unit), mode_(mode), units_(units) {}

  UnitFit run() {
    if (unit_.atom_count > kMostAtoms) return UnitFit::TooLarge;
    if (!unit_.aggregates.empty()) return UnitFit::Aggregate;
    shape_.atoms = unit_.atom_count;
    shape_.derived = unit_.atom_count + 1;
    for (const GroundRule rule : unit_.rules) note_rule(rule);
    if (disjunctive_ && (shape_.founding || has_head_cycle())) return UnitFit::Disjunction;
    for (const GroundRule rule : unit_.rules) {
      if (!rule.heads.empty()) add_rule(rule);
    }
    const size_t checks = names_.size();
    for (const GroundRule rule : unit_.rules) {
      if (!rule.heads.empty()) continue;
      add_check_body(rule.body);
      end_body(broken());
    }
    for (const GroundBound& bound : unit_.bounds) add_bound(bound);
    shape_.guessed = static_cast<uint32_t>(std::popcount(guessed_));
    if (!fits()) return UnitFit::TooLarge;
    write(checks);
    return UnitFit::Fits;
  }

 private:
  // What a code is about, before slots are given out.
  enum class Kind : uint8_t { Derived, Guessed, Asked, Founded };
  struct Name {
    Kind kind;
    uint8_t index;  // of a derived thing, an atom, a question
    uint8_t flags;
  };
  struct Counted {
    AtomId atom;
    Name name;
  };

  // Above every slot; what has it does not fit.
  static constexpr uint32_t kTooMany = 128;

  bool fits() const {
    const uint32_t questions = static_cast<uint32_t>(questions_.size());
    const uint32_t slots = shape_.derived + shape_.guessed + questions * (shape_.founding ? 2 : 1);
    return questions <= kMostQuestions && shape_.guessed + questions <= kMostGuessed &&
           slots <= kSlots && names_.size() <= kMostCodes;
  }

  uint8_t broken() const { return static_cast<uint8_t>(unit_.atom_count); }
  uint8_t new_derived() { return static_cast<uint8_t>(std::min(shape_.derived++, kTooMany)); }

  void note_rule(const GroundRule& rule) {
    disjunctive_ |= rule.heads.size() > 1;
    if (rule.heads.empty()) return;
    uint32_t needed = 0;
    for (const GroundLiteral& literal : rule.body) {
      if (literal.kind == GroundKind::Pos) needed |= 1u << literal.index;
      if (literal.kind != GroundKind::Modal) continue;
      shape_.founding |= oracle::needs_foundation(literal.modal, mode_);
    }
    for (const AtomId head : rule.heads) needs_[head] |= needed;
  }

  // Whether atoms of one head need each other. Where they do not, each is derived by a rule of its
  // own once the others are guessed to be false (Ben-Eliyahu and Dechter 1994).
  bool has_head_cycle() {
    for (uint32_t through = 0; through < unit_.atom_count; ++through) {
      for (uint32_t a = 0; a < unit_.atom_count; ++a) {
        if ((needs_[a] >> through & 1) != 0) needs_[a] |= needs_[through];
      }
    }
    for (const GroundRule rule : unit_.rules) {
      for (const AtomId a : rule.heads) {
        for (const AtomId b : rule.heads) {
          if (a != b && (needs_[a] >> b & needs_[b] >> a & 1) != 0) return true;
        }
      }
    }
    return false;
  }

  void add_rule(const GroundRule& rule) {
    for (const AtomId head : rule.heads) {
      for (const GroundLiteral& literal : rule.body) add_literal(literal);
      if (rule.kind == GroundHead::Choice) add_guessed(head, 0);
      for (const AtomId other : rule.heads) {
        if (other != head) add_guessed(other, kNegated);
      }
      end_body(static_cast<uint8_t>(head));
    }
  }

  // In bodies of rules: what is not derived is looked up in the guess.
  void add_literal(const GroundLiteral& literal) {
    switch (literal.kind) {
      case GroundKind::Pos:
        return names_.push_back({Kind::Derived, static_cast<uint8_t>(literal.index), 0});
      case GroundKind::Neg:
        return add_guessed(literal.index, kNegated);
      case GroundKind::NotNot:
        return add_guessed(literal.index, 0);
      case GroundKind::Modal:
        return names_.push_back(asked(literal, oracle::needs_foundation(literal.modal, mode_)));
      case GroundKind::Aggregate:
        break;
    }
    XLOG_UNREACHABLE("a unit with aggregates is not packed");
  }

  void add_guessed(AtomId atom, uint8_t flags) {
    guessed_ |= 1u << atom;
    names_.push_back({Kind::Guessed, static_cast<uint8_t>(atom), flags});
  }

  Name asked(const GroundLiteral& modal, bool founded) {
    const bool all = asks_for_all(modal.modal);
    uint8_t& number = question_of_[all ? 1 : 0][modal.index];
    if (number == 0) {
      questions_.push_back(static_cast<uint8_t>(modal.index | (all ? kAsksForAll : 0)));
      number = static_cast<uint8_t>(questions_.size());
    }
    return {founded ? Kind::Founded : Kind::Asked, static_cast<uint8_t>(number - 1),
            is_negated(modal.modal) ? kNegated : uint8_t{0}};
  }

  void end_body(uint8_t head) { names_.push_back({Kind::Derived, head, kHead}); }

  // When all is derived nothing need be guessed to be known.
  Name check_name(const GroundLiteral& literal) {
    if (literal.kind == GroundKind::Modal) return asked(literal, false);
    const bool negated = literal.kind == GroundKind::Neg;
    return {Kind::Derived, static_cast<uint8_t>(literal.index), negated ? kNegated : uint8_t{0}};
  }

  void add_check_body(GroundBody body) {
    for (const GroundLiteral& literal : body) names_.push_back(check_name(literal));
  }

  // Counts one by one: `at_least[j]` becomes true with the element that makes j + 1.
  void add_bound(const GroundBound& bound) {
    const std::vector<Name> elements = elements_of(bound);
    const auto count = static_cast<int64_t>(elements.size());
    const int64_t registers = std::min(
        count, std::max<int64_t>({bound.lower, bound.upper < count ? bound.upper + 1 : 0, 0}));
    std::vector<uint8_t> at_least;
    for (int64_t j = 0; j < registers && shape_.derived < kTooMany; ++j) {
      at_least.push_back(new_derived());
    }
    for (const Name& element : elements) {
      for (size_t j = at_least.size(); j-- > 0;) {
        if (j > 0) names_.push_back({Kind::Derived, at_least[j - 1], 0});
        names_.push_back(element);
        end_body(at_least[j]);
      }
    }
    // With too many of them the unit does not fit anyway.
    const auto has = [&](int64_t least, uint8_t flags) {
      const auto at = static_cast<size_t>(least - 1);
      if (at < at_least.size()) names_.push_back({Kind::Derived, at_least[at], flags});
    };
    if (bound.lower > 0) {
      add_check_body(bound.body);
      if (bound.lower <= count) has(bound.lower, kNegated);
      end_body(broken());
    }
    if (bound.upper < count) {
      add_check_body(bound.body);
      if (bound.upper >= 0) has(bound.upper + 1, 0);
      end_body(broken());
    }
  }

  // An atom counts once, whichever of its conditions hold.
  std::vector<Name> elements_of(const GroundBound& bound) {
    std::vector<Counted> counted;
    std::vector<Name> names;
    for (const GroundBound::Element& element : bound.elements) {
      auto known = std::ranges::find(counted, element.atom, &Counted::atom);
      if (known == counted.end()) {
        counted.push_back({element.atom, {Kind::Derived, new_derived(), 0}});
        known = counted.end() - 1;
        names.push_back(known->name);
      }
      add_check_body(element.condition);
      end_body(known->name.index);
    }
    return names;
  }

  uint8_t slot_of(const Name& name) const {
    const uint32_t guesses = shape_.derived;
    const uint32_t questions = guesses + shape_.guessed;
    switch (name.kind) {
      case Kind::Derived:
        return name.index;
      case Kind::Guessed:
        return static_cast<uint8_t>(
            guesses + static_cast<uint32_t>(std::popcount(guessed_ & ((1u << name.index) - 1))));
      case Kind::Asked:
        return static_cast<uint8_t>(questions + name.index);
      case Kind::Founded:
        return static_cast<uint8_t>(questions + questions_.size() + name.index);
    }
    XLOG_UNREACHABLE("all kinds are covered");
  }

  void write(size_t checks) {
    std::vector<uint8_t>& codes = units_.codes_;
    shape_.questions = static_cast<uint32_t>(questions_.size());
    for (uint32_t left = guessed_; left != 0; left &= left - 1) {
      codes.push_back(static_cast<uint8_t>(std::countr_zero(left)));
    }
    codes.insert(codes.end(), questions_.begin(), questions_.end());
    for (size_t n = 0; n < names_.size(); ++n) {
      if (n == checks) units_.checks_.push_back(static_cast<uint32_t>(codes.size()));
      codes.push_back(slot_of(names_[n]) | names_[n].flags);
    }
    if (checks == names_.size()) units_.checks_.push_back(static_cast<uint32_t>(codes.size()));
    XLOG_CHECK(codes.size() <= UINT32_MAX, "batches are divided long before");
    units_.starts_.push_back(static_cast<uint32_t>(codes.size()));
    units_.shapes_.push_back(shape_.packed());
    units_.instances_ += shape_.instances();
  }

  const GroundProgram& unit_;
  const logic::Mode mode_;
  SmallUnits& units_;
  UnitShape shape_;
  bool disjunctive_ = false;
  std::array<uint32_t, kMostAtoms> needs_{};  // by atom: what its rules need, a bit each
  uint32_t guessed_ = 0;
  std::array<std::array<uint8_t, kMostAtoms>, 2> question_of_{};  // number + 1
  std::vector<uint8_t> questions_;
  std::vector<Name> names_;
};

UnitFit SmallUnits::add(const GroundProgram& unit) { return Packing(unit, mode_, *this).run(); }

void SmallUnits::clear() {
  codes_.clear();
  starts_.assign(1, 0);
  checks_.clear();
  shapes_.clear();
  instances_ = 0;
}

}  // namespace xlog::epistemic
