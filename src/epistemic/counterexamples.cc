#include "epistemic/counterexamples.h"

#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <span>

namespace xlog::epistemic {

using solve::Atom;
using solve::GroundProgram;
using solve::HeadKind;
using solve::Literal;
using solve::Rule;

namespace {

size_t at(Literal literal) { return static_cast<size_t>(std::abs(literal)); }

}  // namespace

Counterexamples::Counterexamples(const GroundProgram& program, size_t rules,
                                 const std::vector<Question>& questions)
    : program_(program),
      rules_(rules),
      questions_(questions),
      is_question_(static_cast<size_t>(program.atoms()) + 1, false) {
  for (const Question& question : questions) is_question_[at(question.proposition)] = true;
  can_copy_ = is_stratified();
  if (!can_copy_) return;
  find_varying();
  find_rules_to_copy();
}

// Levels of atoms: a rule's head is at least as high as its positive body, and higher than its
// negative one. In a cycle through negation they rise for ever.
bool Counterexamples::is_stratified() const {
  const size_t atoms = is_question_.size();
  std::vector<uint32_t> todo;
  std::vector<size_t> begin(atoms + 1, 0);  // of the rules that read an atom
  for (size_t r = 0; r < rules_; ++r) {
    const Rule rule = program_.rule(r);
    if (rule.head.empty()) continue;
    if (rule.head_kind == HeadKind::Disjunction && rule.head.size() > 1) return false;
    for (const Literal literal : rule.body) ++begin[at(literal) + 1];
    todo.push_back(static_cast<uint32_t>(r));
  }
  std::partial_sum(begin.begin(), begin.end(), begin.begin());
  std::vector<uint32_t> readers(begin.back());
  std::vector<size_t> next = begin;
  for (const uint32_t r : todo) {
    for (const Literal literal : program_.rule(r).body) readers[next[at(literal)]++] = r;
  }
  std::vector<uint32_t> level(atoms, 0);
  while (!todo.empty()) {
    const Rule rule = program_.rule(todo.back());
    todo.pop_back();
    uint32_t least = 0;
    for (const Literal literal : rule.body) {
      least = std::max(least, level[at(literal)] + (literal < 0 ? 1 : 0));
    }
    for (const Atom head : rule.head) {
      if (level[at(head)] >= least) continue;
      if (least > atoms) return false;
      level[at(head)] = least;
      todo.insert(todo.end(), readers.begin() + static_cast<ptrdiff_t>(begin[at(head)]),
                  readers.begin() + static_cast<ptrdiff_t>(begin[at(head) + 1]));
    }
  }
  return true;
}

void Counterexamples::find_varying() {
  varying_.assign(is_question_.size(), ChosenWorld::kNone);
  uint32_t count = 0;
  for (bool changed = true; changed;) {
    changed = false;
    for (size_t r = 0; r < rules_; ++r) {
      const Rule rule = program_.rule(r);
      const bool is_choice = rule.head_kind == HeadKind::Choice;
      for (const Atom head : rule.head) {
        if (varies(head) || is_question_[at(head)]) continue;
        if (!is_choice && !reads_varying(rule)) continue;
        varying_[at(head)] = count++;
        changed = true;
      }
    }
  }
}

void Counterexamples::find_rules_to_copy() {
  for (size_t r = 0; r < rules_; ++r) {
    const Rule rule = program_.rule(r);
    const bool is_choice = rule.head_kind == HeadKind::Choice;
    if (rule.head.empty() && reads_varying(rule)) to_copy_.push_back({r, 0});
    for (const Atom head : rule.head) {
      if (!varies(head)) continue;
      if (is_choice) choices_.push_back(head);
      (is_choice || reads_varying(rule) ? to_copy_ : not_to_copy_).push_back({r, head});
    }
  }
  for (uint32_t q = 0; q < questions_.size(); ++q) {
    if (varies(Translation::atom(questions_[q].atom))) asked_varying_.push_back(q);
  }
  std::ranges::stable_sort(not_to_copy_, {}, &ChosenWorld::Derivation::head);
  std::ranges::sort(choices_);
  choices_.erase(std::ranges::unique(choices_).begin(), choices_.end());
}

bool Counterexamples::varies(Literal literal) const {
  return at(literal) < varying_.size() && varying_[at(literal)] != ChosenWorld::kNone;
}

bool Counterexamples::reads_varying(const Rule& rule) const {
  return std::ranges::any_of(rule.body, [&](Literal l) { return varies(l); });
}

// ---- stronger worlds ----

// What a world demands of guesses rests on what its choices leave open. Fewer atoms there forbid
// more guesses: choices are changed one at a time as long as that does not lose, and the world
// still refutes the guess. Changes that gain nothing lead on to others that do.
class Counterexamples::Strengthening {
 public:
  Strengthening(const Counterexamples& from, const std::vector<Literal>& guess, ChosenWorld& world)
      : from_(from), guess_(guess), world_(world), is_counted_(from.is_question_.size(), false) {}

  // Whether half of the atoms could be left out, or more.
  bool improve(std::vector<bool>& choices) {
    const uint64_t limit = world_.work() + kMostWork;
    size_t best = size(choices);
    const size_t at_first = best;
    size_t in_vain = 0;
    for (size_t i = 0; in_vain < choices.size() && best > 0; i = (i + 1) % choices.size()) {
      if (world_.work() > limit) break;
      choices[i].flip();
      const size_t changed = size(choices);
      const bool taken = changed <= best && refutes(choices);
      in_vain = taken && changed < best ? 0 : in_vain + 1;
      if (taken) {
        best = changed;
      } else {
        choices[i].flip();
      }
    }
    return best <= at_first / 2;
  }

 private:
  static constexpr uint64_t kMostWork = 1 << 23;

  // How many atoms decide, beside the choices, what the world demands.
  size_t size(const std::vector<bool>& choices) {
    world_.evaluate(choices);
    if (world_.is_violated()) return SIZE_MAX;
    std::vector<Literal> open;
    for (const Contradicted& c : from_.contradicted(world_)) open.push_back(c.by);
    std::vector<Atom> counted;
    for (const size_t d : world_.needed(open)) {
      for (const Literal literal : from_.program_.rule(world_.derivations()[d].rule).body) {
        if (from_.varies(literal) || is_counted_[at(literal)]) continue;
        is_counted_[at(literal)] = true;
        counted.push_back(std::abs(literal));
      }
    }
    for (const Atom a : counted) is_counted_[at(a)] = false;
    return counted.size();
  }

  bool refutes(const std::vector<bool>& choices) {
    world_.evaluate_given(choices);
    if (world_.is_violated() || world_.may_be_violated()) return false;
    return std::ranges::any_of(from_.contradicted(world_), [&](const Contradicted& c) {
      return guess_[c.question] == c.answer && world_.value(c.by) > 0;
    });
  }

  const Counterexamples& from_;
  const std::vector<Literal>& guess_;
  ChosenWorld& world_;
  std::vector<bool> is_counted_;  // by atom
};

std::vector<Counterexamples::Contradicted> Counterexamples::contradicted(
    const ChosenWorld& world) const {
  std::vector<Contradicted> found;
  for (const uint32_t q : asked_varying_) {
    const Question& question = questions_[q];
    const Atom asked = Translation::atom(question.atom);
    const Literal by = question.all ? -asked : asked;
    if (world.value(by) < 0) continue;
    found.push_back({q, question.all ? question.proposition : -question.proposition, by});
  }
  return found;
}

// ---- copies ----

// Of what a world's choices leave open, in the program that it joins.
class Counterexamples::Copy {
 public:
  Copy(const Counterexamples& from, ChosenWorld& world, GroundProgram& to)
      : from_(from), world_(world), to_(to) {}

  Literal literal(Literal original) {
    if (!from_.varies(original)) return original;
    Atom& copy = copies_[std::abs(original)];
    if (copy == 0) copy = to_.new_atom();
    return original < 0 ? -copy : copy;
  }

  // Returns an atom that holds when the copy is no world; 0 where it always is one. Of the rest
  // only what the asked literals depend on is written.
  Atom write(const std::vector<Literal>& asked) {
    Atom is_none = 0;
    Atom with_shared = 0;  // the last head that has what copies share
    for (const size_t d : world_.needed(asked)) {
      const ChosenWorld::Derivation& derivation = world_.derivations()[d];
      if (derivation.head == 0 && is_none == 0) is_none = to_.new_atom();
      const Atom head = derivation.head == 0 ? is_none : literal(derivation.head);
      if (d < from_.to_copy_.size()) {
        write_rule(from_.program_.rule(derivation.rule), head);
      } else if (with_shared != derivation.head) {
        with_shared = derivation.head;
        to_.add_rule(HeadKind::Disjunction, {head}, {from_.shared_.at(derivation.head)});
      }
    }
    return is_none;
  }

 private:
  void write_rule(const Rule& rule, Atom head) {
    std::vector<Literal> body;
    std::vector<int64_t> weights;
    int64_t bound = rule.bound;
    for (size_t i = 0; i < rule.body.size(); ++i) {
      const int known = world_.value(rule.body[i]);
      if (known == 0) body.push_back(literal(rule.body[i]));
      if (!rule.weighted) continue;
      if (known > 0) bound -= rule.weights[i];
      if (known == 0) weights.push_back(rule.weights[i]);
    }
    const std::span<const Atom> one(&head, 1);
    if (rule.weighted) {
      to_.add_weight_rule(HeadKind::Disjunction, one, bound, std::span<const Literal>(body),
                          std::span<const int64_t>(weights));
    } else {
      to_.add_rule(HeadKind::Disjunction, one, std::span<const Literal>(body));
    }
  }

  const Counterexamples& from_;
  ChosenWorld& world_;
  GroundProgram& to_;
  std::unordered_map<Atom, Atom> copies_;
};

void Counterexamples::add_shared(GroundProgram& to) {
  if (!shared_.empty()) return;
  for (const ChosenWorld::Derivation& derivation : not_to_copy_) {
    Atom& some_body = shared_[derivation.head];
    if (some_body == 0) some_body = to.new_atom();
    Rule rule = program_.rule(derivation.rule);
    rule.head = std::span(&some_body, 1);
    to.add_rule(rule);
  }
}

void Counterexamples::add_copies(std::vector<std::vector<bool>> worlds, const Holds& rest,
                                 const std::vector<Literal>& guess, GroundProgram& to) {
  add_shared(to);
  std::vector<ChosenWorld::Derivation> derivations = to_copy_;
  derivations.insert(derivations.end(), not_to_copy_.begin(), not_to_copy_.end());
  ChosenWorld world(program_, varying_, std::move(derivations), choices_);
  if (patience_ > 0) {
    world.give(rest);
    Strengthening strengthening(*this, guess, world);
    for (std::vector<bool>& choices : worlds) {
      if (patience_ == 0) break;
      patience_ = strengthening.improve(choices) ? kPatience : patience_ - 1;
    }
    std::ranges::sort(worlds);
    worlds.erase(std::ranges::unique(worlds).begin(), worlds.end());
  }
  for (const std::vector<bool>& choices : worlds) {
    world.evaluate(choices);
    if (!world.is_violated()) add_copy(world, to);
  }
}

void Counterexamples::add_copy(ChosenWorld& world, GroundProgram& to) const {
  const std::vector<Contradicted> contradicted = this->contradicted(world);
  std::vector<Literal> asked;
  for (const Contradicted& c : contradicted) asked.push_back(c.by);
  Copy copy(*this, world, to);
  const Atom is_none = copy.write(asked);
  for (const Contradicted& c : contradicted) {
    std::vector<Literal> body = {c.answer};
    if (world.value(c.by) == 0) body.push_back(copy.literal(c.by));
    if (is_none != 0) body.push_back(-is_none);
    to.add_rule(HeadKind::Disjunction, std::span<const Atom>(), std::span<const Literal>(body));
  }
}

}  // namespace xlog::epistemic
