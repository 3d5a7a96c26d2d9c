// Counting by independent parts: atoms that are the same in all models fall away, and what is left
// splits into groups whose counts multiply.
#include <algorithm>

#include "base/check.h"
#include "solve/stable_models.h"

namespace xlog::solve {
namespace {

size_t at(Literal atom) { return static_cast<size_t>(variable_of(atom)); }

// Atoms that follow from rules whose bodies hold in all models: the least fixpoint over atoms that
// are founded and negations of atoms that are false.
void mark_founded(const GroundProgram& program, std::vector<AtomState>& states) {
  std::vector<int64_t> missing(program.rules());
  std::vector<std::vector<std::pair<uint32_t, int64_t>>> waiting(states.size());
  std::vector<Atom> derived;
  const auto derive = [&](const Rule& rule) {
    if (rule.head_kind == HeadKind::Choice || rule.head.size() != 1) return;
    AtomState& state = states[at(rule.head[0])];
    if (state == AtomState::Founded) return;
    state = AtomState::Founded;
    derived.push_back(rule.head[0]);
  };
  for (size_t r = 0; r < program.rules(); ++r) {
    const Rule rule = program.rule(r);
    missing[r] =
        rule.weighted ? std::max<int64_t>(rule.bound, 0) : static_cast<int64_t>(rule.body.size());
    for (size_t i = 0; i < rule.body.size(); ++i) {
      const Literal l = rule.body[i];
      const int64_t weight = rule.weighted ? rule.weights[i] : 1;
      if (l > 0) {
        waiting[at(l)].push_back({static_cast<uint32_t>(r), weight});
      } else if (states[at(l)] == AtomState::False) {
        missing[r] -= weight;
      }
    }
  }
  for (size_t r = 0; r < program.rules(); ++r) {
    if (missing[r] <= 0) derive(program.rule(r));
  }
  while (!derived.empty()) {
    const Atom a = derived.back();
    derived.pop_back();
    for (const auto& [r, weight] : waiting[at(a)]) {
      if (missing[r] <= 0) continue;
      missing[r] -= weight;
      if (missing[r] <= 0) derive(program.rule(r));
    }
  }
}

// One program for each group, over its atoms alone.
class Splitter {
 public:
  Splitter(const GroundProgram& program, const std::vector<AtomState>& states)
      : program_(program),
        states_(states),
        groups_(independent_groups(program, states)),
        parts_(groups_.count),
        number_(states.size(), 0) {
    for (Atom a = 1; a <= program.atoms(); ++a) {
      if (groups_.of_atom[at(a)] != kNoGroup) number_[at(a)] = part(a).new_atom();
    }
  }

  std::vector<GroundProgram> split() {
    for (size_t r = 0; r < program_.rules(); ++r) add(program_.rule(r));
    return std::move(parts_);
  }

 private:
  GroundProgram& part(Literal l) { return parts_[groups_.of_atom[at(l)]]; }
  bool is_open(Literal l) const { return states_[at(l)] == AtomState::Open; }
  bool holds(Literal l) const {
    return states_[at(l)] == (l > 0 ? AtomState::Founded : AtomState::False);
  }
  Literal renamed(Literal l) const { return l > 0 ? number_[at(l)] : -number_[at(l)]; }

  void add(const Rule& rule) {
    std::vector<Literal> body;
    std::vector<int64_t> weights;
    int64_t bound = std::max<int64_t>(rule.bound, 0);
    Literal any = 0;
    for (size_t i = 0; i < rule.body.size(); ++i) {
      const Literal l = rule.body[i];
      if (is_open(l)) {
        any = l;
        body.push_back(renamed(l));
        if (rule.weighted) weights.push_back(rule.weights[i]);
      } else if (rule.weighted) {
        if (holds(l)) bound -= rule.weights[i];
      } else if (!holds(l)) {
        return;
      }
    }
    std::vector<Atom> heads;
    for (const Atom a : rule.head) {
      if (is_open(a)) {
        heads.push_back(a);
      } else if (states_[at(a)] == AtomState::Founded && rule.head_kind == HeadKind::Disjunction) {
        return;
      }
    }
    if (heads.empty() && (any == 0 || rule.head_kind == HeadKind::Choice)) return;
    // A choice whose body is gone may name atoms of several groups.
    if (rule.head_kind == HeadKind::Choice) {
      for (const Atom a : heads) emit(part(a), rule, {&a, 1}, bound, body, weights);
    } else {
      emit(part(heads.empty() ? any : heads[0]), rule, heads, bound, body, weights);
    }
  }

  void emit(GroundProgram& out, const Rule& rule, std::span<const Atom> heads, int64_t bound,
            const std::vector<Literal>& body, const std::vector<int64_t>& weights) {
    std::vector<Atom> named;
    for (const Atom a : heads) named.push_back(renamed(a));
    if (rule.weighted) {
      out.add_weight_rule(rule.head_kind, named, bound, body, weights);
    } else {
      out.add_rule(rule.head_kind, named, body);
    }
  }

  const GroundProgram& program_;
  const std::vector<AtomState>& states_;
  Groups groups_;
  std::vector<GroundProgram> parts_;
  std::vector<Atom> number_;
};

}  // namespace

ModelCount StableModels::count(const Limits& limits) const {
  // All that is fixed from outside becomes part of one program.
  GroundProgram program;
  program.need_atoms(program_.atoms());
  for (size_t r = 0; r < program_.rules(); ++r) {
    const Rule rule = program_.rule(r);
    if (rule.weighted) {
      program.add_weight_rule(rule.head_kind, rule.head, rule.bound, rule.body, rule.weights);
    } else {
      program.add_rule(rule.head_kind, rule.head, rule.body);
    }
  }
  for (Atom a = 1; a <= program_.atoms(); ++a) {
    if (!given_[at(a)]) continue;
    const ExternalValue value = external_values_[at(a)];
    if (value == ExternalValue::Free) program.add_rule(HeadKind::Choice, {a}, {});
    if (value == ExternalValue::True) program.add_rule(HeadKind::Disjunction, {a}, {});
  }
  const auto forbid_body = [&](std::span<const Literal> body) {
    program.add_rule(HeadKind::Disjunction, std::span<const Atom>(), body);
  };
  for (const std::vector<Literal>& body : forbidden_) forbid_body(body);
  for (const std::vector<Literal>* list : {&program_.assumptions, &assumptions_}) {
    for (const Literal l : *list) {
      const Literal other = -l;
      forbid_body(std::span(&other, 1));
    }
  }

  StableModels whole(options_);
  const Status added = whole.add(std::move(program));
  XLOG_CHECK(added.ok(), "the program was accepted before");
  ModelCount result;
  result.outcome = whole.solve(limits);
  if (result.outcome != Outcome::Sat) return result;
  std::vector<AtomState> states(static_cast<size_t>(program_.atoms()) + 1, AtomState::Open);
  for (Atom a = 1; a <= program_.atoms(); ++a) {
    if (whole.fixed_value(a) < 0) states[at(a)] = AtomState::False;
  }
  mark_founded(whole.program(), states);
  result.models = 1;
  for (GroundProgram& part : Splitter(whole.program(), states).split()) {
    StableModels models(options_);
    const Status split = models.add(std::move(part));
    XLOG_CHECK(split.ok(), "a part of a program is no harder than the whole");
    const Enumeration found = models.enumerate(limits, nullptr);
    if (found.outcome != Outcome::Unsat) {
      result.outcome = found.outcome;
      result.models *= std::max<unsigned long>(1, found.models);
      continue;
    }
    XLOG_CHECK(found.models > 0, "a part of a program with models has models");
    result.models *= found.models;
  }
  return result;
}

}  // namespace xlog::solve
