#include "epistemic/counterexamples.h"

#include <algorithm>
#include <cstdlib>
#include <iterator>
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
  varying_.assign(is_question_.size(), kNone);
  const auto varies = [&](Literal l) { return varying_[at(l)] != kNone; };
  const auto reads_varying = [&](const Rule& rule) {
    return std::ranges::any_of(rule.body, varies);
  };
  for (bool changed = true; changed;) {
    changed = false;
    for (size_t r = 0; r < rules_; ++r) {
      const Rule rule = program_.rule(r);
      const bool is_choice = rule.head_kind == HeadKind::Choice;
      for (const Atom head : rule.head) {
        if (varies(head) || is_question_[at(head)]) continue;
        if (!is_choice && !reads_varying(rule)) continue;
        varying_[at(head)] = varying_count_++;
        changed = true;
      }
    }
  }
}

void Counterexamples::find_rules_to_copy() {
  const auto varies = [&](Literal l) { return varying_[at(l)] != kNone; };
  for (size_t r = 0; r < rules_; ++r) {
    const Rule rule = program_.rule(r);
    const bool is_choice = rule.head_kind == HeadKind::Choice;
    const bool reads_varying = std::ranges::any_of(rule.body, varies);
    if (is_choice) {
      std::ranges::copy_if(rule.head, std::back_inserter(choices_),
                           [&](Atom a) { return !is_question_[at(a)]; });
    }
    if (reads_varying || (is_choice && std::ranges::any_of(rule.head, varies))) {
      to_copy_.push_back(r);
    } else if (!rule.head.empty() && varies(rule.head[0])) {
      not_to_copy_.emplace_back(rule.head[0], r);
    }
  }
  for (uint32_t q = 0; q < questions_.size(); ++q) {
    if (varies(Translation::atom(questions_[q].atom))) asked_varying_.push_back(q);
  }
  std::ranges::stable_sort(not_to_copy_, {}, [](const auto& entry) { return entry.first; });
  std::ranges::sort(choices_);
  choices_.erase(std::ranges::unique(choices_).begin(), choices_.end());
}

// ---- copies ----

// A copy of rules, simplified while it is made: most of what depends on choices is decided by them.
// What varies goes by its number among all that does: a program can have a thousand times more
// atoms, and as many copies.
class Counterexamples::Copy {
 public:
  Copy(const Counterexamples& from, const Holds& world)
      : program_(from.program_),
        varying_(from.varying_),
        values_(from.varying_count_, 0),
        supports_(from.varying_count_, 0),
        readers_(from.varying_count_),
        copies_(from.varying_count_, 0) {
    for (const size_t r : from.to_copy_) {
      const Rule rule = program_.rule(r);
      if (rule.head.empty()) take(r, 0, rule);
      for (const Atom head : rule.head) {
        if (rule.head_kind != HeadKind::Choice || world(head)) take(r, head, rule);
      }
    }
    for (const auto& [head, some_body] : from.shared_) {
      rules_.push_back({kNoSource, head, {some_body}, false});
      ++supports_[number(head)];
    }
    for (const Copied& rule : rules_) decide_if_empty(rule);
    for (uint32_t v = 0; v < from.varying_count_; ++v) {
      if (supports_[v] == 0) decide(v, -1);
    }
    propagate();
  }

  // Whether a constraint forbids the copy whatever the answers.
  bool is_no_world() const { return is_no_world_; }

  // 1: true, -1: false, 0: that depends on the answers.
  int value(Literal literal) const {
    const uint32_t v = number(literal);
    const int value = v == kNone ? 0 : values_[v];
    return literal < 0 ? -value : value;
  }

  // The literal of the copy, in the program that it joins.
  Literal literal(Literal original, GroundProgram& to) {
    const uint32_t v = number(original);
    if (v == kNone) return original;
    Atom& copy = copies_[v];
    if (copy == 0) copy = to.new_atom();
    return original < 0 ? -copy : copy;
  }

  // Returns an atom that holds when the copy is no world; 0 where it always is one. Of the rest
  // only what the asked literals depend on is written.
  Atom write(const std::vector<Literal>& asked, GroundProgram& to) {
    const std::vector<bool> is_needed = find_needed(asked);
    Atom is_none = 0;
    for (const Copied& rule : rules_) {
      if (!is_open(rule) || (rule.head != 0 && !is_needed[number(rule.head)])) continue;
      if (rule.head == 0 && is_none == 0) is_none = to.new_atom();
      const Atom head = rule.head == 0 ? is_none : literal(rule.head, to);
      write_rule(rule, head, to);
    }
    return is_none;
  }

 private:
  static constexpr size_t kNoSource = SIZE_MAX;
  struct Copied {
    size_t source;  // the rule, or none for what copies share
    Atom head;      // 0: a constraint
    std::vector<Literal> body;
    bool weighted;
    bool gone = false;  // its body is false
  };

  // Among what varies. What copies share is not there.
  uint32_t number(Literal literal) const {
    return at(literal) < varying_.size() ? varying_[at(literal)] : kNone;
  }

  bool is_open(const Copied& rule) const {
    return !rule.gone && (rule.head == 0 || value(rule.head) == 0);
  }

  std::vector<bool> find_needed(const std::vector<Literal>& asked) const {
    std::vector<std::vector<uint32_t>> rules_for(values_.size());
    std::vector<bool> is_needed(values_.size(), false);
    std::vector<uint32_t> todo;
    const auto need = [&](Literal literal) {
      const uint32_t v = number(literal);
      if (v == kNone || values_[v] != 0 || is_needed[v]) return;
      is_needed[v] = true;
      todo.push_back(v);
    };
    for (uint32_t r = 0; r < rules_.size(); ++r) {
      if (!is_open(rules_[r])) continue;
      if (rules_[r].head != 0) {
        rules_for[number(rules_[r].head)].push_back(r);
      } else {
        std::ranges::for_each(rules_[r].body, need);
      }
    }
    std::ranges::for_each(asked, need);
    while (!todo.empty()) {
      const uint32_t v = todo.back();
      todo.pop_back();
      for (const uint32_t r : rules_for[v]) std::ranges::for_each(rules_[r].body, need);
    }
    return is_needed;
  }

  void take(size_t source, Atom head, const Rule& rule) {
    const auto taken = static_cast<uint32_t>(rules_.size());
    rules_.push_back({source, head, {rule.body.begin(), rule.body.end()}, rule.weighted});
    if (head != 0) ++supports_[number(head)];
    if (rule.weighted) return;
    for (const Literal literal : rule.body) {
      if (number(literal) != kNone) readers_[number(literal)].push_back(taken);
    }
  }

  void decide(uint32_t varying, int value) {
    if (values_[varying] != 0) return;
    values_[varying] = value;
    todo_.push_back(varying);
  }

  void decide_if_empty(const Copied& rule) {
    if (rule.weighted || !rule.body.empty()) return;
    if (rule.head == 0) {
      is_no_world_ = true;
    } else {
      decide(number(rule.head), 1);
    }
  }

  void propagate() {
    while (!todo_.empty()) {
      const uint32_t decided = todo_.back();
      todo_.pop_back();
      const auto is_decided = [&](Literal l) { return number(l) == decided; };
      for (const uint32_t reader : readers_[decided]) {
        Copied& rule = rules_[reader];
        if (rule.gone) continue;
        std::erase_if(rule.body, [&](Literal l) { return is_decided(l) && value(l) > 0; });
        const bool fails = std::ranges::any_of(rule.body, is_decided);
        if (!fails) {
          decide_if_empty(rule);
          continue;
        }
        rule.gone = true;
        if (rule.head == 0) continue;
        const uint32_t head = number(rule.head);
        if (--supports_[head] == 0) decide(head, -1);
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
  const std::vector<uint32_t>& varying_;
  std::vector<Copied> rules_;
  std::vector<int> values_;                     // by number, as all that follows
  std::vector<uint32_t> supports_;              // rules that may derive it
  std::vector<std::vector<uint32_t>> readers_;  // rules whose bodies mention it
  std::vector<Atom> copies_;                    // 0: not needed yet
  std::vector<uint32_t> todo_;
  bool is_no_world_ = false;
};

void Counterexamples::add_shared(GroundProgram& to) {
  for (size_t i = 0; i < not_to_copy_.size();) {
    const Atom head = not_to_copy_[i].first;
    const Atom some_body = to.new_atom();
    for (; i < not_to_copy_.size() && not_to_copy_[i].first == head; ++i) {
      Rule rule = program_.rule(not_to_copy_[i].second);
      rule.head = std::span(&some_body, 1);
      to.add_rule(rule);
    }
    shared_.emplace_back(head, some_body);
  }
  not_to_copy_ = {};
}

void Counterexamples::add_copy(const Holds& world, GroundProgram& to) {
  add_shared(to);
  Copy copy(*this, world);
  if (copy.is_no_world()) return;
  struct Contradicted {
    Literal answer;  // that a world contradicts
    Literal by;      // in which this holds
  };
  std::vector<Contradicted> contradicted;
  std::vector<Literal> open;
  for (const uint32_t q : asked_varying_) {
    const Question& question = questions_[q];
    const Atom asked = Translation::atom(question.atom);
    const Literal by = question.all ? -asked : asked;
    if (copy.value(by) < 0) continue;
    contradicted.push_back({question.all ? question.proposition : -question.proposition, by});
    if (copy.value(by) == 0) open.push_back(by);
  }
  const Atom is_none = copy.write(open, to);
  for (const auto& [answer, by] : contradicted) {
    std::vector<Literal> body = {answer};
    if (copy.value(by) == 0) body.push_back(copy.literal(by, to));
    if (is_none != 0) body.push_back(-is_none);
    to.add_rule(HeadKind::Disjunction, std::span<const Atom>(), std::span<const Literal>(body));
  }
}

}  // namespace xlog::epistemic
