// Counting by independent parts: atoms that are the same in all models fall away, and what is left
// splits into groups whose counts multiply. A group without cycles through the heads of
// disjunctions is a formula to count. Another one with many models is counted with an atom that
// couples much taken as true and as false, which lets it fall apart further; groups that look the
// same are counted once.
#include "solve/count_by_parts.h"

#include <algorithm>
#include <string>
#include <unordered_map>

#include "base/check.h"
#include "solve/stable_formula.h"

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

class Counter {
 public:
  Counter(const StableOptions& options, const Limits& limits)
      : options_(options), limits_(limits) {}

  // Of all models, or of some where a limit ended it.
  mpz_class count(GroundProgram program) {
    std::vector<GroundProgram> parts;
    {
      StableModels whole(options_);
      start(whole, std::move(program));
      const Outcome found = whole.solve(limits_);
      if (found != Outcome::Sat) {
        if (found != Outcome::Unsat) outcome_ = found;
        return 0;
      }
      const GroundProgram& kept = whole.program();
      std::vector<AtomState> states(static_cast<size_t>(kept.atoms()) + 1, AtomState::Open);
      for (Atom a = 1; a <= kept.atoms(); ++a) {
        if (whole.fixed_value(a) < 0) states[at(a)] = AtomState::False;
      }
      mark_founded(kept, states);
      parts = Splitter(kept, states).split();
    }
    mpz_class models = 1;
    for (const GroundProgram& part : parts) models *= count_part(part);
    return models;
  }

  // Sat: the count is exact.
  Outcome outcome() const { return outcome_; }

 private:
  void start(StableModels& models, GroundProgram program) const {
    const Status added = models.add(std::move(program));
    XLOG_CHECK(added.ok(), "a part of a program is no harder than the whole");
  }

  static std::string key_of(const GroundProgram& program) {
    std::string key;
    const auto put = [&](int64_t number) {
      key.append(reinterpret_cast<const char*>(&number), sizeof(number));
    };
    for (size_t r = 0; r < program.rules(); ++r) {
      const Rule rule = program.rule(r);
      put(static_cast<int64_t>(rule.head_kind));
      for (const Atom a : rule.head) put(a);
      put(0);
      put(rule.weighted ? rule.bound : -1);
      for (const Literal l : rule.body) put(l);
      put(0);
      for (const int64_t weight : rule.weights) put(weight);
    }
    return key;
  }

  mpz_class count_part(const GroundProgram& part) {
    if (outcome_ != Outcome::Sat) return 1;
    std::string key = key_of(part);
    if (const auto known = counted_.find(key); known != counted_.end()) return known->second;
    Atom chosen = 0;
    mpz_class models = 0;
    if (const std::optional<StableFormula> plain = stable_formula(part)) {
      const ModelCount found = count_models(plain->formula, limits_);
      models = found.models;
      if (found.outcome != Outcome::Sat && found.outcome != Outcome::Unsat) {
        outcome_ = found.outcome;
      }
    } else {
      StableModels solver(options_);
      start(solver, part);
      uint64_t seen = 0;
      const Enumeration few = solver.enumerate(
          limits_, [&](const StableModels&) { return ++seen < options_.few_models; });
      models = static_cast<unsigned long>(few.models);
      if (few.outcome == Outcome::Sat) {
        chosen = coupling_atom(solver.program(), solver);
      } else if (few.outcome != Outcome::Unsat) {
        outcome_ = few.outcome;
      }
    }
    if (chosen != 0) {
      models = count(with(part, chosen));
      models += count(with(part, -chosen));
    }
    if (outcome_ == Outcome::Sat) counted_.emplace(std::move(key), models);
    return models;
  }

  static bool is_free_choice(const Rule& rule) {
    return rule.head_kind == HeadKind::Choice && rule.body.empty() && rule.bound <= 0;
  }

  // An open atom that many rules mention; one that nothing but a choice decides, if there is one,
  // because its truth needs no further support. 0: there is no open atom, and so one model.
  static Atom coupling_atom(const GroundProgram& program, const StableModels& solver) {
    std::vector<uint64_t> mentions(static_cast<size_t>(program.atoms()) + 1, 0);
    std::vector<bool> free(mentions.size(), false);
    for (size_t r = 0; r < program.rules(); ++r) {
      const Rule rule = program.rule(r);
      for (const Literal l : rule.body) ++mentions[at(l)];
      for (const Atom a : rule.head) {
        ++mentions[at(a)];
        if (is_free_choice(rule)) free[at(a)] = true;
      }
    }
    Atom best = 0;
    const auto rank = [&](Atom a) { return std::pair(bool{free[at(a)]}, mentions[at(a)]); };
    for (Atom a = 1; a <= program.atoms(); ++a) {
      if (solver.fixed_value(a) == 0 && (best == 0 || rank(a) > rank(best))) best = a;
    }
    return best;
  }

  // The program whose models are those in which the literal holds.
  static GroundProgram with(const GroundProgram& program, Literal literal) {
    GroundProgram made;
    made.need_atoms(program.atoms());
    const Atom atom = variable_of(literal);
    for (size_t r = 0; r < program.rules(); ++r) {
      const Rule rule = program.rule(r);
      if (is_free_choice(rule) && rule.head.size() == 1 && rule.head[0] == atom) {
        if (literal > 0) made.add_rule(HeadKind::Disjunction, rule.head, {});
        continue;
      }
      made.add_rule(rule);
    }
    made.add_rule(HeadKind::Disjunction, {}, {-literal});
    return made;
  }

  const StableOptions& options_;
  const Limits& limits_;
  std::unordered_map<std::string, mpz_class> counted_;  // parts
  Outcome outcome_ = Outcome::Sat;
};

}  // namespace

ModelCount count_by_parts(GroundProgram program, const StableOptions& options,
                          const Limits& limits) {
  Counter counter(options, limits);
  ModelCount result;
  result.models = counter.count(std::move(program));
  result.outcome = counter.outcome();
  if (result.outcome == Outcome::Sat && result.models == 0) result.outcome = Outcome::Unsat;
  return result;
}

}  // namespace xlog::solve
