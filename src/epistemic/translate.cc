#include "epistemic/translate.h"

#include <algorithm>
#include <functional>

#include "base/check.h"
#include "oracle/well_founded.h"

namespace xlog::epistemic {

using lang::Modal;
using oracle::AggregateInput;
using oracle::AtomId;
using oracle::GroundBody;
using oracle::GroundBound;
using oracle::GroundHead;
using oracle::GroundKind;
using oracle::GroundLiteral;
using oracle::GroundRule;
using solve::Atom;
using solve::HeadKind;
using solve::Literal;
using solve::WeightedLiteral;

bool asks_for_all(Modal modal) {
  return modal == Modal::Know || modal == Modal::NotKnow || modal == Modal::NotPossibleNot;
}

bool is_negated(Modal modal) { return modal == Modal::NotKnow || modal == Modal::NotPossible; }

bool holds_by(Modal modal, AtomStatus status) {
  const bool yes = asks_for_all(modal) ? status == AtomStatus::Always : status != AtomStatus::Never;
  return is_negated(modal) ? !yes : yes;
}

Translation::Translation(const oracle::GroundProgram& unit, lang::Names& names)
    : unit_(unit),
      names_(names),
      question_of_(unit.atom_count, {kNone, kNone}),
      aggregates_(unit.aggregates.size()) {
  program_.need_atoms(static_cast<int32_t>(unit.atom_count));
  find_questions();
  add_rules();
}

size_t Translation::question(const GroundLiteral& modal) const {
  return question_of_[modal.index][asks_for_all(modal.modal) ? 1 : 0];
}

std::optional<size_t> Translation::question(AtomId atom, bool all) const {
  const uint32_t found = question_of_[atom][all ? 1 : 0];
  return found == kNone ? std::nullopt : std::optional<size_t>(found);
}

void Translation::find_questions() {
  const auto visit = [&](AtomId atom, const GroundLiteral& literal) {
    if (literal.kind != GroundKind::Modal) return;
    const bool all = asks_for_all(literal.modal);
    uint32_t& number = question_of_[atom][all ? 1 : 0];
    if (number != kNone) return;
    number = static_cast<uint32_t>(questions_.size());
    questions_.push_back({atom, all, program_.new_atom()});
  };
  const auto visit_body = [&](GroundBody body) {
    for (const GroundLiteral& literal : body) oracle::for_each_atom(literal, unit_, visit);
  };
  for (const GroundRule rule : unit_.rules) visit_body(rule.body);
  for (const GroundBound& bound : unit_.bounds) {
    visit_body(bound.body);
    for (const auto& element : bound.elements) visit_body(element.condition);
  }
  for (const Question& q : questions_) add_rule({q.proposition}, {}, HeadKind::Choice);
}

void Translation::add_rule(std::vector<Atom> head, std::vector<Literal> body, HeadKind kind) {
  program_.add_rule(kind, std::span<const Atom>(head), std::span<const Literal>(body));
}

void Translation::add_rules() {
  for (const GroundRule rule : unit_.rules) {
    std::vector<Atom> head;
    for (const AtomId a : rule.heads) head.push_back(atom(a));
    add_rule(std::move(head), body_of(rule.body),
             rule.kind == GroundHead::Choice ? HeadKind::Choice : HeadKind::Disjunction);
  }
  for (const GroundBound& bound : unit_.bounds) add_bound(bound);
}

// One literal for each element, which counts once, whichever of its conditions hold.
std::vector<WeightedLiteral> Translation::terms_of(const GroundBound& bound) {
  std::vector<std::pair<uint32_t, const GroundBound::Element*>> elements;
  for (const GroundBound::Element& element : bound.elements) {
    elements.emplace_back(element.atom, &element);
  }
  std::ranges::stable_sort(elements, {}, [](const auto& entry) { return entry.first; });
  std::vector<WeightedLiteral> terms;
  for (size_t i = 0; i < elements.size();) {
    const size_t begin = i;
    while (i < elements.size() && elements[i].first == elements[begin].first) ++i;
    const std::vector<GroundLiteral>& condition = elements[begin].second->condition;
    if (i - begin == 1 && condition.size() == 1) {
      terms.push_back({literal_of(condition[0]), 1});
      continue;
    }
    const Atom counts = program_.new_atom();
    for (size_t k = begin; k < i; ++k) add_rule({counts}, body_of(elements[k].second->condition));
    terms.push_back({counts, 1});
  }
  return terms;
}

void Translation::add_bound(const GroundBound& bound) {
  const std::vector<WeightedLiteral> terms = terms_of(bound);
  const auto most = static_cast<int64_t>(terms.size());
  std::vector<Literal> body = body_of(bound.body);
  if (bound.lower > 0) {
    std::vector<Literal> too_few = body;
    if (bound.lower <= most) too_few.push_back(-at_least(bound.lower, terms));
    add_rule({}, std::move(too_few));
  }
  if (bound.upper < most) {
    if (bound.upper >= 0) body.push_back(at_least(bound.upper + 1, terms));
    add_rule({}, std::move(body));
  }
}

std::vector<Literal> Translation::body_of(GroundBody body) {
  std::vector<Literal> literals;
  for (const GroundLiteral& literal : body) literals.push_back(literal_of(literal));
  std::ranges::sort(literals);
  literals.erase(std::ranges::unique(literals).begin(), literals.end());
  return literals;
}

Literal Translation::literal_of(const GroundLiteral& literal) {
  switch (literal.kind) {
    case GroundKind::Pos:
      return atom(literal.index);
    case GroundKind::Neg:
      return -atom(literal.index);
    case GroundKind::NotNot:
      return not_not(literal.index);
    case GroundKind::Modal: {
      const Atom yes = questions_[question(literal)].proposition;
      return is_negated(literal.modal) ? -yes : yes;
    }
    case GroundKind::Aggregate:
      return aggregate(literal.index);
  }
  XLOG_UNREACHABLE("all literals are covered");
}

Literal Translation::not_not(AtomId id) {
  const auto [entry, is_new] = negations_.emplace(id, 0);
  if (is_new) {
    entry->second = program_.new_atom();
    add_rule({entry->second}, {-atom(id)});
  }
  return -entry->second;
}

Atom Translation::conjunction(GroundBody body) {
  const Atom made = program_.new_atom();
  add_rule({made}, body_of(body));
  return made;
}

// The true terms weigh at least `bound`.
Atom Translation::at_least(int64_t bound, const std::vector<WeightedLiteral>& terms) {
  const Atom made = program_.new_atom();
  std::vector<Literal> literals;
  std::vector<int64_t> weights;
  for (const WeightedLiteral& term : terms) {
    literals.push_back(term.literal);
    weights.push_back(term.weight);
  }
  if (bound <= 0) {
    add_rule({made}, {});
  } else {
    const Atom head[] = {made};
    program_.add_weight_rule(HeadKind::Disjunction, std::span<const Atom>(head), bound,
                             std::span<const Literal>(literals), std::span<const int64_t>(weights));
  }
  return made;
}

Atom Translation::aggregate(uint32_t index) {
  if (aggregates_[index]) return *aggregates_[index];
  const oracle::GroundAggregate& aggregate = unit_.aggregates[index];
  const AggregateInput& input = *aggregate.input;
  auto rules = inputs_.find(&input);
  if (rules == inputs_.end()) {
    std::vector<Atom> counts;
    for (const AggregateInput::Element& element : input.elements) {
      counts.push_back(conjunction(element.condition));
    }
    rules = inputs_.try_emplace(&input, input, std::move(counts), program_, names_).first;
  }
  const Atom holds = program_.new_atom();
  aggregates_[index] = holds;
  add_rule({holds}, rules->second.equals(aggregate.result));
  return holds;
}

// ---- foundedness ----

Translation::Foundation Translation::add_foundation(logic::Mode mode) {
  Foundation foundation;
  std::vector<Atom> founded;
  for (AtomId a = 0; a < unit_.atom_count; ++a) founded.push_back(program_.new_atom());
  foundation.supported.assign(questions_.size(), 0);
  foundation.asked.assign(questions_.size(), 0);
  foundation.answered = program_.new_atom();
  foundation.unfounded = program_.new_atom();
  const auto open_atom = [&] {
    const Atom made = program_.new_atom();
    add_rule({made}, {}, HeadKind::Choice);
    return made;
  };
  for (const GroundRule rule : unit_.rules) {
    XLOG_CHECK(rule.heads.size() <= 1, "disjunctions are founded in another way");
    if (rule.heads.empty()) continue;
    Foundation::Rule& made = foundation.rules.emplace_back();
    made.head = rule.heads[0];
    std::vector<Literal> body;
    for (const GroundLiteral& literal : rule.body) {
      if (literal.kind == GroundKind::Pos) {
        made.positive.push_back(literal.index);
        body.push_back(founded[literal.index]);
        continue;
      }
      body.push_back(literal_of(literal));
      if (literal.kind != GroundKind::Modal) {
        made.others.push_back(body.back());
        continue;
      }
      const size_t q = question(literal);
      made.answers.emplace_back(q, !is_negated(literal.modal));
      if (!oracle::needs_foundation(literal.modal, mode)) continue;
      if (foundation.supported[q] == 0) {
        foundation.supported[q] = open_atom();
        foundation.asked[q] = open_atom();
        const Literal is_founded = founded[questions_[q].atom];
        add_rule({foundation.answered},
                 {foundation.asked[q], questions_[q].all ? -is_founded : is_founded});
      }
      made.questions.push_back(q);
      body.push_back(foundation.supported[q]);
    }
    if (rule.kind == GroundHead::Choice) {
      made.others.push_back(atom(made.head));
      body.push_back(made.others.back());
    }
    add_rule({founded[made.head]}, std::move(body));
  }
  for (AtomId a = 0; a < unit_.atom_count; ++a) {
    add_rule({foundation.unfounded}, {atom(a), -founded[a]});
  }
  return foundation;
}

// ---- what a world depends on ----

std::vector<bool> Translation::relevant_questions(const oracle::Interpretation& world) const {
  std::vector<bool> relevant(questions_.size(), false);
  const auto note = [&](GroundBody body) {
    for (const GroundLiteral& literal : body) {
      oracle::for_each_atom(literal, unit_, [&](AtomId, const GroundLiteral& inner) {
        if (inner.kind == GroundKind::Modal) relevant[question(inner)] = true;
      });
    }
  };
  const auto fails = [&](const GroundLiteral& literal) {
    if (literal.kind == GroundKind::Neg) return bool{world[literal.index]};
    const bool plain = literal.kind == GroundKind::Pos || literal.kind == GroundKind::NotNot;
    return plain && !world[literal.index];
  };
  for (const GroundRule rule : unit_.rules) {
    if (std::ranges::none_of(rule.body, fails)) note(rule.body);
  }
  for (const GroundBound& bound : unit_.bounds) {
    if (std::ranges::any_of(bound.body, fails)) continue;
    note(bound.body);
    for (const auto& element : bound.elements) note(element.condition);
  }
  return relevant;
}

}  // namespace xlog::epistemic
