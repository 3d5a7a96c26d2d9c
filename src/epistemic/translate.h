// A unit as a ground program of solve/: atoms keep their numbers, counted from 1, and each modal
// question that the unit asks about its own atoms becomes an atom that a choice leaves open.
#pragma once

#include <array>
#include <map>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "epistemic/aggregate_rules.h"
#include "epistemic/views.h"
#include "lang/value.h"
#include "logic/answer.h"
#include "oracle/ground.h"
#include "solve/ground_program.h"

namespace xlog::epistemic {

// Is the atom in all worlds, or is it in some?
struct Question {
  oracle::AtomId atom = 0;
  bool all = false;
  solve::Atom proposition = 0;  // "yes"
};

// Whether a modal literal asks for all worlds, and whether it holds where the answer is no.
bool asks_for_all(lang::Modal modal);
bool is_negated(lang::Modal modal);
// Whether it holds where its atom has this status.
bool holds_by(lang::Modal modal, AtomStatus status);

class Translation {
 public:
  Translation(const oracle::GroundProgram& unit, lang::Names& names);
  Translation(const Translation&) = delete;
  Translation& operator=(const Translation&) = delete;

  // The rules, with a choice for each question.
  const solve::GroundProgram& program() const { return program_; }
  solve::GroundProgram take() { return std::move(program_); }
  const std::vector<Question>& questions() const { return questions_; }

  static solve::Atom atom(oracle::AtomId id) { return static_cast<solve::Atom>(id) + 1; }
  // Of the unit's atoms; further ones are the translation's own.
  oracle::AtomId atom_count() const { return unit_.atom_count; }

  // The question of a modal literal, by its number, and one about an atom, if it is asked.
  size_t question(const oracle::GroundLiteral& modal) const;
  std::optional<size_t> question(oracle::AtomId atom, bool all) const;

  // Adds rules that say what is founded where only the supported questions count: the atoms
  // founded(a) for atoms a, given the worlds of the program itself. The atoms supported(q) and
  // asked(q) are open.
  struct Foundation {
    // A rule of the unit as it founds its head.
    struct Rule {
      oracle::AtomId head = 0;
      std::vector<oracle::AtomId> positive;          // have to be founded
      std::vector<size_t> questions;                 // have to be supported
      std::vector<std::pair<size_t, bool>> answers;  // that questions have to have
      std::vector<solve::Literal> others;            // have to hold, the head of a choice too
    };
    std::vector<Rule> rules;
    std::vector<solve::Atom> supported;  // by question; 0 where no literal has to be founded
    std::vector<solve::Atom> asked;      // likewise
    // An atom of a question that is asked is founded (of one about all worlds: it is not).
    solve::Atom answered = 0;
    solve::Atom unfounded = 0;  // some atom holds and is not founded
  };
  Foundation add_foundation(logic::Mode mode);

  // Which questions the bodies of rules ask whose other literals hold in a world.
  std::vector<bool> relevant_questions(const oracle::Interpretation& world) const;

 private:
  using Body = std::vector<oracle::GroundLiteral>;

  void find_questions();
  void add_rules();
  std::vector<solve::WeightedLiteral> terms_of(const oracle::GroundBound& bound);
  void add_bound(const oracle::GroundBound& bound);
  std::vector<solve::Literal> body_of(oracle::GroundBody body);
  solve::Literal literal_of(const oracle::GroundLiteral& literal);
  solve::Literal not_not(oracle::AtomId atom);
  solve::Atom conjunction(oracle::GroundBody body);
  solve::Atom at_least(int64_t bound, const std::vector<solve::WeightedLiteral>& terms);
  solve::Atom aggregate(uint32_t index);
  void add_rule(std::vector<solve::Atom> head, std::vector<solve::Literal> body,
                solve::HeadKind kind = solve::HeadKind::Disjunction);

  const oracle::GroundProgram& unit_;
  lang::Names& names_;
  solve::GroundProgram program_;
  std::vector<Question> questions_;
  static constexpr uint32_t kNone = UINT32_MAX;
  std::vector<std::array<uint32_t, 2>> question_of_;  // by atom, and whether of all worlds
  std::map<oracle::AtomId, solve::Atom> negations_;   // n :- not a.
  std::vector<std::optional<solve::Atom>> aggregates_;
  std::unordered_map<const oracle::AggregateInput*, AggregateRules> inputs_;
};

}  // namespace xlog::epistemic
