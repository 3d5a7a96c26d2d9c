#include "epistemic/counterexamples.h"

#include <algorithm>
#include <cstdlib>
#include <iterator>
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

Counterexamples::Counterexamples(const GroundProgram& program,
                                 const std::vector<Question>& questions)
    : program_(program),
      questions_(questions),
      is_question_(static_cast<size_t>(program.atoms()) + 1, false) {
  for (const Question& question : questions) is_question_[at(question.proposition)] = true;
  can_copy_ = is_stratified();
  if (can_copy_) find_varying();
}

// Levels of atoms: a rule's head is at least as high as its positive body, and higher than its
// negative one. In a cycle through negation they rise for ever.
bool Counterexamples::is_stratified() const {
  const size_t atoms = is_question_.size();
  std::vector<std::vector<uint32_t>> rules_of(atoms);  // that read an atom
  std::vector<size_t> todo;
  for (size_t r = 0; r < program_.rules(); ++r) {
    const Rule rule = program_.rule(r);
    if (rule.head.empty()) continue;
    if (rule.head_kind == HeadKind::Disjunction && rule.head.size() > 1) return false;
    for (const Literal literal : rule.body) {
      rules_of[at(literal)].push_back(static_cast<uint32_t>(r));
    }
    todo.push_back(r);
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
      todo.insert(todo.end(), rules_of[at(head)].begin(), rules_of[at(head)].end());
    }
  }
  return true;
}

void Counterexamples::find_varying() {
  varies_.assign(is_question_.size(), false);
  const auto reads_varying = [&](const Rule& rule) {
    return std::ranges::any_of(rule.body, [&](Literal l) { return bool{varies_[at(l)]}; });
  };
  for (bool changed = true; changed;) {
    changed = false;
    for (size_t r = 0; r < program_.rules(); ++r) {
      const Rule rule = program_.rule(r);
      const bool is_choice = rule.head_kind == HeadKind::Choice;
      for (const Atom head : rule.head) {
        if (varies_[at(head)] || is_question_[at(head)]) continue;
        if (!is_choice && !reads_varying(rule)) continue;
        varies_[at(head)] = true;
        changed = true;
      }
    }
  }
  for (size_t r = 0; r < program_.rules(); ++r) {
    const Rule rule = program_.rule(r);
    const bool defines_varying =
        std::ranges::any_of(rule.head, [&](Atom a) { return bool{varies_[at(a)]}; });
    if (rule.head_kind == HeadKind::Choice) {
      std::ranges::copy_if(rule.head, std::back_inserter(choices_),
                           [&](Atom a) { return !is_question_[at(a)]; });
    }
    if (defines_varying || (rule.head.empty() && reads_varying(rule))) to_copy_.push_back(r);
  }
  std::ranges::sort(choices_);
  choices_.erase(std::ranges::unique(choices_).begin(), choices_.end());
}

// ---- copies ----

namespace {

// A copy of rules, simplified while it is made: most of what depends on choices is decided by them.
class Copy {
 public:
  Copy(const GroundProgram& program, const std::vector<bool>& varies,
       const std::vector<size_t>& to_copy, const std::vector<bool>& world)
      : program_(program),
        varies_(varies),
        values_(varies.size(), 0),
        supports_(varies.size(), 0),
        readers_(varies.size()),
        copies_(varies.size(), 0) {
    for (const size_t r : to_copy) {
      const Rule rule = program.rule(r);
      if (rule.head.empty()) take(r, 0, rule);
      for (const Atom head : rule.head) {
        if (rule.head_kind != HeadKind::Choice || world[at(head)]) take(r, head, rule);
      }
    }
    for (const Copied& rule : rules_) decide_if_empty(rule);
    for (size_t a = 0; a < varies.size(); ++a) {
      if (varies[a] && supports_[a] == 0) decide(static_cast<Atom>(a), -1);
    }
    propagate();
  }

  // Whether a constraint forbids the copy whatever the answers.
  bool is_no_world() const { return is_no_world_; }

  // 1: true, -1: false, 0: that depends on the answers.
  int value(Literal literal) const {
    const int value = values_[at(literal)];
    return literal < 0 ? -value : value;
  }

  // The literal of the copy, in the program that it joins.
  Literal literal(Literal original, GroundProgram& to) {
    if (!varies_[at(original)]) return original;
    Atom& copy = copies_[at(original)];
    if (copy == 0) copy = to.new_atom();
    return original < 0 ? -copy : copy;
  }

  // Returns an atom that holds when the copy is no world; 0 where it always is one.
  Atom write(GroundProgram& to) {
    Atom is_none = 0;
    for (const Copied& rule : rules_) {
      if (rule.gone || (rule.head != 0 && values_[at(rule.head)] != 0)) continue;
      if (rule.head == 0 && is_none == 0) is_none = to.new_atom();
      const Atom head = rule.head == 0 ? is_none : literal(rule.head, to);
      write_rule(rule, head, to);
    }
    return is_none;
  }

 private:
  struct Copied {
    size_t source;
    Atom head;  // 0: a constraint
    std::vector<Literal> body;
    bool weighted;
    bool gone = false;  // its body is false
  };

  void take(size_t source, Atom head, const Rule& rule) {
    const auto number = static_cast<uint32_t>(rules_.size());
    rules_.push_back({source, head, {rule.body.begin(), rule.body.end()}, rule.weighted});
    if (head != 0) ++supports_[at(head)];
    if (rule.weighted) return;
    for (const Literal literal : rule.body) {
      if (varies_[at(literal)]) readers_[at(literal)].push_back(number);
    }
  }

  void decide(Atom atom, int value) {
    if (values_[at(atom)] != 0) return;
    values_[at(atom)] = value;
    todo_.push_back(atom);
  }

  void decide_if_empty(const Copied& rule) {
    if (rule.weighted || !rule.body.empty()) return;
    if (rule.head == 0) {
      is_no_world_ = true;
    } else {
      decide(rule.head, 1);
    }
  }

  void propagate() {
    while (!todo_.empty()) {
      const Atom atom = todo_.back();
      todo_.pop_back();
      for (const uint32_t number : readers_[at(atom)]) {
        Copied& rule = rules_[number];
        if (rule.gone) continue;
        std::erase_if(rule.body, [&](Literal l) { return at(l) == at(atom) && value(l) > 0; });
        const bool fails =
            std::ranges::any_of(rule.body, [&](Literal l) { return at(l) == at(atom); });
        if (!fails) {
          decide_if_empty(rule);
          continue;
        }
        rule.gone = true;
        if (rule.head != 0 && --supports_[at(rule.head)] == 0) decide(rule.head, -1);
      }
    }
  }

  void write_rule(const Copied& rule, Atom head, GroundProgram& to) {
    const std::span<const Atom> one(&head, 1);
    std::vector<Literal> body;
    if (!rule.weighted) {
      for (const Literal l : rule.body) body.push_back(literal(l, to));
      return to.add_rule(HeadKind::Disjunction, one, std::span<const Literal>(body));
    }
    const Rule source = program_.rule(rule.source);
    std::vector<int64_t> weights;
    int64_t bound = source.bound;
    for (size_t i = 0; i < rule.body.size(); ++i) {
      const int known = value(rule.body[i]);
      if (known > 0) bound -= source.weights[i];
      if (known != 0) continue;
      body.push_back(literal(rule.body[i], to));
      weights.push_back(source.weights[i]);
    }
    if (bound <= 0) return to.add_rule(HeadKind::Disjunction, one, std::span<const Literal>());
    to.add_weight_rule(HeadKind::Disjunction, one, bound, std::span<const Literal>(body),
                       std::span<const int64_t>(weights));
  }

  const GroundProgram& program_;
  const std::vector<bool>& varies_;
  std::vector<Copied> rules_;
  std::vector<int> values_;                     // by atom, of those that vary
  std::vector<uint32_t> supports_;              // by atom: rules that may derive it
  std::vector<std::vector<uint32_t>> readers_;  // by atom: rules whose bodies mention it
  std::vector<Atom> copies_;                    // by atom; 0: not needed yet
  std::vector<Atom> todo_;
  bool is_no_world_ = false;
};

}  // namespace

void Counterexamples::add_copy(const std::vector<bool>& world, GroundProgram& to) const {
  Copy copy(program_, varies_, to_copy_, world);
  if (copy.is_no_world()) return;
  const Atom is_none = copy.write(to);
  for (const Question& question : questions_) {
    const Atom asked = Translation::atom(question.atom);
    if (!varies_[at(asked)]) continue;
    // The answer that a world contradicts in which this holds.
    const Literal answer = question.all ? question.proposition : -question.proposition;
    const Literal contradiction = question.all ? -asked : asked;
    const int value = copy.value(contradiction);
    if (value < 0) continue;
    std::vector<Literal> body = {answer};
    if (value == 0) body.push_back(copy.literal(contradiction, to));
    if (is_none != 0) body.push_back(-is_none);
    to.add_rule(HeadKind::Disjunction, std::span<const Atom>(), std::span<const Literal>(body));
  }
}

}  // namespace xlog::epistemic
