#include "solve/dependencies.h"

#include <algorithm>
#include <map>
#include <numeric>

#include <fmt/format.h>

#include "base/check.h"

namespace xlog::solve {
namespace {

constexpr size_t kMostWeightRules = 1u << 19;  // of one body

// Rules by the atoms in their heads, in one vector.
struct HeadIndex {
  std::vector<uint32_t> begin;
  std::vector<uint32_t> rules;

  explicit HeadIndex(const GroundProgram& program)
      : begin(static_cast<size_t>(program.atoms()) + 2, 0) {
    for (size_t r = 0; r < program.rules(); ++r) {
      for (const Atom a : program.rule(r).head) ++begin[static_cast<size_t>(a) + 1];
    }
    std::partial_sum(begin.begin(), begin.end(), begin.begin());
    rules.resize(begin.back());
    std::vector<uint32_t> next = begin;
    for (size_t r = 0; r < program.rules(); ++r) {
      for (const Atom a : program.rule(r).head) {
        rules[next[static_cast<size_t>(a)]++] = static_cast<uint32_t>(r);
      }
    }
  }
};

// Tarjan's algorithm with a stack of its own: programs are deeper than the machine's.
class ComponentFinder {
 public:
  explicit ComponentFinder(const GroundProgram& program)
      : program_(program),
        heads_(program),
        number_(static_cast<size_t>(program.atoms()) + 1, 0),
        low_(number_.size(), 0),
        on_stack_(number_.size(), false),
        in_own_body_(number_.size(), false) {
    result_.of_atom.assign(number_.size(), Components::kAlone);
  }

  Components find() {
    for (Atom a = 1; a <= program_.atoms(); ++a) {
      if (number_[at(a)] == 0) visit(a);
    }
    return std::move(result_);
  }

 private:
  struct Frame {
    Atom atom;
    uint32_t rule;     // in heads_.rules
    uint32_t literal;  // of its body
  };
  static size_t at(Atom a) { return static_cast<size_t>(a); }

  void enter(Atom atom) {
    number_[at(atom)] = low_[at(atom)] = ++count_;
    stack_.push_back(atom);
    on_stack_[at(atom)] = true;
    frames_.push_back({atom, heads_.begin[at(atom)], 0});
  }

  void visit(Atom start) {
    enter(start);
    while (!frames_.empty()) {
      Frame& frame = frames_.back();
      const Atom atom = frame.atom;
      if (frame.rule == heads_.begin[at(atom) + 1]) {
        leave(atom);
        continue;
      }
      const std::span<const Literal> body = program_.rule(heads_.rules[frame.rule]).body;
      if (frame.literal == body.size()) {
        ++frame.rule;
        frame.literal = 0;
        continue;
      }
      const Literal next = body[frame.literal++];
      if (next < 0) continue;
      if (next == atom) in_own_body_[at(atom)] = true;
      if (number_[at(next)] == 0) {
        enter(next);
      } else if (on_stack_[at(next)]) {
        low_[at(atom)] = std::min(low_[at(atom)], number_[at(next)]);
      }
    }
  }

  void leave(Atom atom) {
    frames_.pop_back();
    if (!frames_.empty()) {
      uint32_t& low = low_[at(frames_.back().atom)];
      low = std::min(low, low_[at(atom)]);
    }
    if (low_[at(atom)] != number_[at(atom)]) return;
    std::vector<Atom> members;
    Atom member = 0;
    do {
      member = stack_.back();
      stack_.pop_back();
      on_stack_[at(member)] = false;
      members.push_back(member);
    } while (member != atom);
    if (members.size() == 1 && !in_own_body_[at(atom)]) return;
    std::ranges::sort(members);
    for (const Atom a : members) {
      result_.of_atom[at(a)] = static_cast<uint32_t>(result_.members.size());
    }
    result_.members.push_back(std::move(members));
  }

  const GroundProgram& program_;
  HeadIndex heads_;
  std::vector<uint32_t> number_;  // 0: not seen
  std::vector<uint32_t> low_;
  std::vector<bool> on_stack_;
  std::vector<bool> in_own_body_;
  std::vector<Atom> stack_;
  std::vector<Frame> frames_;
  uint32_t count_ = 0;
  Components result_;
};

// The atoms "literals from i on weigh k or more" of one weighted body, made as they are needed.
class WeightExpansion {
 public:
  WeightExpansion(const Rule& rule, GroundProgram& out) : out_(out) {
    for (size_t i = 0; i < rule.body.size(); ++i) {
      literals_.push_back({rule.body[i], rule.weights[i]});
    }
    // Heavy literals first: fewer sums to tell apart.
    std::ranges::stable_sort(literals_, std::ranges::greater{}, &WeightedLiteral::weight);
    rest_.resize(literals_.size() + 1, 0);
    for (size_t i = literals_.size(); i-- > 0;) rest_[i] = rest_[i + 1] + literals_[i].weight;
  }

  // 0 when it can never hold. The bound is positive.
  Atom reach(size_t from, int64_t bound) {
    if (rest_[from] < bound) return 0;
    const auto [it, added] = atoms_.try_emplace({from, bound}, 0);
    if (!added) return it->second;
    const Atom atom = out_.new_atom();
    it->second = atom;
    todo_.push_back({from, bound});
    return atom;
  }

  bool run(int64_t bound, Atom& result) {
    result = reach(0, bound);
    while (!todo_.empty()) {
      const auto [from, needed] = todo_.back();
      todo_.pop_back();
      const Atom atom = atoms_[{from, needed}];
      const auto [literal, weight] = literals_[from];
      if (weight >= needed) {
        out_.add_rule(HeadKind::Disjunction, {atom}, {literal});
      } else if (const Atom rest = reach(from + 1, needed - weight); rest != 0) {
        out_.add_rule(HeadKind::Disjunction, {atom}, {literal, rest});
      }
      if (const Atom rest = reach(from + 1, needed); rest != 0) {
        out_.add_rule(HeadKind::Disjunction, {atom}, {rest});
      }
      if (atoms_.size() > kMostWeightRules || out_.atoms() >= kMostAtoms - 2) return false;
    }
    return true;
  }

 private:
  GroundProgram& out_;
  std::vector<WeightedLiteral> literals_;
  std::vector<int64_t> rest_;  // the weight of the literals from i on
  std::map<std::pair<size_t, int64_t>, Atom> atoms_;
  std::vector<std::pair<size_t, int64_t>> todo_;
};

bool is_recursive(const Rule& rule, const Components& components) {
  return std::ranges::any_of(rule.body, [&](Literal l) {
    return l > 0 &&
           std::ranges::any_of(rule.head, [&](Atom head) { return components.together(head, l); });
  });
}

}  // namespace

Components positive_components(const GroundProgram& program) {
  Components components = ComponentFinder(program).find();
  components.head_cycles.assign(components.members.size(), false);
  for (size_t r = 0; r < program.rules(); ++r) {
    const Rule rule = program.rule(r);
    if (rule.head_kind != HeadKind::Disjunction || rule.head.size() < 2) continue;
    for (size_t i = 0; i < rule.head.size(); ++i) {
      for (size_t j = i + 1; j < rule.head.size(); ++j) {
        if (rule.head[i] == rule.head[j] || !components.together(rule.head[i], rule.head[j])) {
          continue;
        }
        components.head_cycles[components.of_atom[static_cast<size_t>(rule.head[i])]] = true;
      }
    }
  }
  return components;
}

Result<std::optional<GroundProgram>> without_recursive_weights(const GroundProgram& program) {
  bool any_weights = false;
  for (size_t r = 0; r < program.rules() && !any_weights; ++r) {
    any_weights = program.rule(r).weighted;
  }
  if (!any_weights) return std::optional<GroundProgram>();
  const Components components = positive_components(program);
  bool any_recursive = false;
  for (size_t r = 0; r < program.rules() && !any_recursive; ++r) {
    const Rule rule = program.rule(r);
    any_recursive = rule.weighted && is_recursive(rule, components);
  }
  if (!any_recursive) return std::optional<GroundProgram>();
  GroundProgram out;
  out.need_atoms(program.atoms());
  out.shown = program.shown;
  out.minimize = program.minimize;
  out.externals = program.externals;
  out.assumptions = program.assumptions;
  out.projection = program.projection;
  for (size_t r = 0; r < program.rules(); ++r) {
    const Rule rule = program.rule(r);
    if (!rule.weighted || !is_recursive(rule, components)) {
      out.add_rule(rule);
    } else if (rule.bound <= 0) {
      out.add_rule(rule.head_kind, rule.head, {});
    } else {
      Atom body = 0;
      if (!WeightExpansion(rule, out).run(rule.bound, body)) {
        return Error{fmt::format("a weighted body of {} literals with the bound {} depends on its "
                                 "own head, and spelling it out takes more than {} rules",
                                 rule.body.size(), rule.bound, kMostWeightRules),
                     "smaller weights, or a body that does not depend on the head, can be solved"};
      }
      if (body != 0) out.add_rule(rule.head_kind, rule.head, std::span<const Literal>(&body, 1));
    }
  }
  return std::optional(std::move(out));
}

Groups independent_groups(const GroundProgram& program, const std::vector<AtomState>& states) {
  std::vector<Atom> parent(static_cast<size_t>(program.atoms()) + 1);
  std::iota(parent.begin(), parent.end(), 0);
  const auto find = [&](Atom a) {
    while (parent[static_cast<size_t>(a)] != a) {
      Atom& up = parent[static_cast<size_t>(a)];
      up = parent[static_cast<size_t>(up)];
      a = up;
    }
    return a;
  };
  const auto is_open = [&](Literal l) {
    return states[static_cast<size_t>(variable_of(l))] == AtomState::Open;
  };
  Atom last = 0;
  const auto join = [&](Literal literal) {
    const Atom a = variable_of(literal);
    if (!is_open(a)) return;
    if (last != 0) {
      const Atom x = find(last);
      const Atom y = find(a);
      parent[static_cast<size_t>(std::max(x, y))] = std::min(x, y);
    }
    last = a;
  };
  for (size_t r = 0; r < program.rules(); ++r) {
    const Rule rule = program.rule(r);
    if (!rule.weighted && std::ranges::any_of(rule.body, [&](Literal l) {
          return states[static_cast<size_t>(variable_of(l))] ==
                 (l > 0 ? AtomState::False : AtomState::Founded);
        })) {
      continue;
    }
    // A choice whose body holds ties nothing together.
    const bool free =
        rule.head_kind == HeadKind::Choice && std::ranges::none_of(rule.body, is_open);
    last = 0;
    for (const Atom a : rule.head) {
      if (free) last = 0;
      join(a);
    }
    for (const Literal l : rule.body) join(l);
  }
  Groups groups;
  groups.of_atom.assign(parent.size(), kNoGroup);
  for (Atom a = 1; a <= program.atoms(); ++a) {
    if (!is_open(a)) continue;
    const Atom top = find(a);
    if (top == a) groups.of_atom[static_cast<size_t>(a)] = groups.count++;
    groups.of_atom[static_cast<size_t>(a)] = groups.of_atom[static_cast<size_t>(top)];
  }
  return groups;
}

}  // namespace xlog::solve
