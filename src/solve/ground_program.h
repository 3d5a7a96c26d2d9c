// Ground logic programs under the stable-model semantics. Atoms count from 1; a literal is an atom
// or, negative, its default negation.
//
//   GroundProgram program;
//   const Atom rain = program.new_atom(), wet = program.new_atom();
//   program.add_rule(HeadKind::Choice, {rain}, {});           // {rain}.
//   program.add_rule(HeadKind::Disjunction, {wet}, {rain});   // wet :- rain.
//   program.add_rule(HeadKind::Disjunction, {}, {-wet});      // :- not wet.
//
// A set of atoms is a stable model when it satisfies every rule, and no proper subset satisfies
// every rule of the reduct: the rules whose negative literals hold in the set, without these
// literals, where a choice keeps only those of its head atoms that are in the set. The weight of
// the negative literals that hold lowers the bound of a weighted body in the reduct.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "solve/cnf.h"

namespace xlog::solve {

using Atom = int32_t;
constexpr Atom kMostAtoms = INT32_MAX / 4;  // leaves numbers for what the solver adds

enum class HeadKind : uint8_t {
  Disjunction,  // some atom of the head holds; none: a constraint, one: a normal rule
  Choice,       // any atoms of the head may hold
};

// A rule as the program hands it out; valid until the next rule is added.
struct Rule {
  HeadKind head_kind = HeadKind::Disjunction;
  std::span<const Atom> head;
  std::span<const Literal> body;
  bool weighted = false;             // the body holds when its true literals weigh `bound` or more
  int64_t bound = 0;                 // weighted bodies only
  std::span<const int64_t> weights;  // of the body's literals, all positive; weighted bodies only
};

struct WeightedLiteral {
  Literal literal = 0;
  int64_t weight = 0;

  bool operator==(const WeightedLiteral&) const = default;
};

// Models with a smaller sum of the weights (of any sign) of their true literals are better; a
// higher priority counts before all lower ones. Statements of the same priority add up.
struct Minimize {
  int64_t priority = 0;
  std::vector<WeightedLiteral> literals;

  bool operator==(const Minimize&) const = default;
};

// An external atom without rules takes the value given; one with rules is an ordinary atom, and so
// is one released. The last word about an atom counts.
enum class ExternalValue : uint8_t { Free, True, False, Release };
std::string_view name_of(ExternalValue value);

struct External {
  Atom atom = 0;
  ExternalValue value = ExternalValue::False;

  bool operator==(const External&) const = default;
};

// A text that belongs to the answer of each model in which its condition holds.
struct Shown {
  std::string text;
  std::vector<Literal> condition;  // a conjunction; empty: always

  bool operator==(const Shown&) const = default;
};

class GroundProgram {
 public:
  int32_t atoms() const { return atoms_; }
  Atom new_atom() { return ++atoms_; }
  void need_atoms(int32_t count) { atoms_ = std::max(atoms_, count); }

  // Also makes the rule's atoms known.
  void add_rule(HeadKind kind, std::span<const Atom> head, std::span<const Literal> body);
  void add_rule(HeadKind kind, std::initializer_list<Atom> head,
                std::initializer_list<Literal> body) {
    add_rule(kind, std::span(head.begin(), head.size()), std::span(body.begin(), body.size()));
  }
  // One positive weight for each literal; their sum fits in 63 bits.
  void add_weight_rule(HeadKind kind, std::span<const Atom> head, int64_t bound,
                       std::span<const Literal> body, std::span<const int64_t> weights);
  void add_weight_rule(HeadKind kind, std::initializer_list<Atom> head, int64_t bound,
                       std::initializer_list<Literal> body,
                       std::initializer_list<int64_t> weights) {
    add_weight_rule(kind, std::span(head.begin(), head.size()), bound,
                    std::span(body.begin(), body.size()),
                    std::span(weights.begin(), weights.size()));
  }

  void add_rule(const Rule& rule) {
    if (rule.weighted) {
      add_weight_rule(rule.head_kind, rule.head, rule.bound, rule.body, rule.weights);
    } else {
      add_rule(rule.head_kind, rule.head, rule.body);
    }
  }

  size_t rules() const { return rules_.size(); }
  Rule rule(size_t index) const;

  // The name of an atom: the first text that is shown exactly when the atom holds.
  std::optional<std::string_view> name(Atom atom) const;

  std::vector<Shown> shown;
  std::vector<Minimize> minimize;
  std::vector<External> externals;
  std::vector<Literal> assumptions;             // models must agree with each
  std::optional<std::vector<Atom>> projection;  // models that agree on these atoms count as one

  bool operator==(const GroundProgram&) const = default;

 private:
  // Where a rule lies in the flat vectors below. Programs have millions of them: three words do.
  struct Place {
    uint32_t head_begin = 0;
    uint32_t body_begin = 0;
    uint32_t is_choice : 1 = 0;
    uint32_t weighted : 31 = 0;  // 0: not; else behind its place in weighted_

    bool operator==(const Place&) const = default;
  };
  struct WeightedBody {
    size_t weights_begin = 0;
    int64_t bound = 0;

    bool operator==(const WeightedBody&) const = default;
  };

  void know(std::span<const Literal> literals);

  int32_t atoms_ = 0;
  std::vector<Place> rules_;
  std::vector<Atom> heads_;
  std::vector<Literal> bodies_;
  std::vector<WeightedBody> weighted_;
  std::vector<int64_t> weights_;
};

inline Rule GroundProgram::rule(size_t index) const {
  const Place& place = rules_[index];
  const bool last = index + 1 == rules_.size();
  const size_t head_end = last ? heads_.size() : rules_[index + 1].head_begin;
  const size_t body_end = last ? bodies_.size() : rules_[index + 1].body_begin;
  Rule rule;
  rule.head_kind = place.is_choice ? HeadKind::Choice : HeadKind::Disjunction;
  rule.head = std::span(heads_).subspan(place.head_begin, head_end - place.head_begin);
  rule.body = std::span(bodies_).subspan(place.body_begin, body_end - place.body_begin);
  if (place.weighted == 0) return rule;
  const WeightedBody& body = weighted_[place.weighted - 1];
  rule.weighted = true;
  rule.bound = body.bound;
  rule.weights = std::span(weights_).subspan(body.weights_begin, rule.body.size());
  return rule;
}

// Its stable models are the models of the formula: atoms are variables, each of which may hold, and
// clauses are constraints.
GroundProgram program_of(const Cnf& cnf);

}  // namespace xlog::solve
