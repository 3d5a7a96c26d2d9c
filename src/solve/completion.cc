#include "solve/completion.h"

#include <xxhash.h>

#include <algorithm>
#include <unordered_map>

#include "base/check.h"

namespace xlog::solve {
namespace {

// Nodes are what a variable of the search may stand for: 1 always holds, atom a is a + 1, bodies
// follow. Node literals that always agree are one class.
constexpr Literal kTrue = 1;
Literal node_of(Literal atom) { return atom > 0 ? atom + 1 : atom - 1; }

class Classes {
 public:
  int32_t nodes() const { return static_cast<int32_t>(up_.size()) - 1; }
  Literal add() {
    up_.push_back(static_cast<Literal>(up_.size()));
    return up_.back();
  }
  Literal find(Literal literal) {
    Literal& up = up_[static_cast<size_t>(variable_of(literal))];
    if (variable_of(up) != variable_of(up_[static_cast<size_t>(variable_of(up))])) up = top(up);
    return literal > 0 ? up : -up;
  }
  // False when that is a contradiction. The smaller node stands for both.
  bool unite(Literal a, Literal b) {
    a = find(a);
    b = find(b);
    if (a == b) return true;
    if (a == -b) return false;
    if (variable_of(a) < variable_of(b)) std::swap(a, b);
    up_[static_cast<size_t>(variable_of(a))] = a > 0 ? b : -b;
    return true;
  }

 private:
  Literal top(Literal literal) const {
    for (;;) {
      const Literal up = up_[static_cast<size_t>(variable_of(literal))];
      if (variable_of(up) == variable_of(literal)) return literal;
      literal = literal > 0 ? up : -up;
    }
  }

  std::vector<Literal> up_{0};
};

class Completer {
 public:
  Completer(const GroundProgram& program, const std::vector<bool>& external, CompletionSink& sink,
            std::span<const Literal> known)
      : program_(program),
        external_(external),
        sink_(sink),
        known_(known),
        components_(positive_components(program)) {
    classes_.add();
    for (Atom a = 1; a <= program.atoms(); ++a) classes_.add();
  }

  Completion run() {
    for (size_t r = 0; r < program_.rules(); ++r) read_rule(program_.rule(r));
    sort_supports();
    merge_atoms();
    merge_bodies();
    make_variables();
    for (const Body& body : bodies_) {
      if (!body.fails) define(body);
    }
    for (size_t c = 0; c < clause_begins_.size(); ++c) add_clause(clause(c));
    for (Atom a = 1; a <= program_.atoms(); ++a) define_atom(a);
    Completion completion;
    for (int32_t node = 1; node <= program_.atoms() + 1; ++node) {
      completion.literals.push_back(literal(node));
    }
    collect_loops(completion);
    return completion;
  }

 private:
  // A conjunction of two or more node literals, or a weighted sum of them.
  struct Body {
    Literal node = 0;
    uint32_t begin = 0;  // in body_literals_
    uint32_t end = 0;
    bool weighted = false;
    bool fails = false;  // its literals contradict each other
    int64_t bound = 0;
    size_t weights_begin = 0;
  };
  struct Support {
    Atom atom = 0;
    Literal body = 0;       // a node literal
    Literal loop_body = 0;  // what counts for foundedness: weaker where heads are on a cycle
    bool forces = false;    // the atom holds whenever the body does
  };
  // A rule of a component with head cycles, in atoms and node literals.
  struct CycleRule {
    uint32_t component = 0;
    std::vector<Atom> heads;
    std::vector<Atom> needs;
    std::vector<Literal> conditions;
    bool choice = false;
  };

  Literal literal(Literal node) {
    const Literal root = classes_.find(node);
    const Literal mapped = variables_[static_cast<size_t>(variable_of(root))];
    return root > 0 ? mapped : -mapped;
  }
  bool in_cycle_component(Atom a) const {
    const uint32_t c = components_.of_atom[static_cast<size_t>(a)];
    return c != Components::kAlone && components_.head_cycles[c];
  }

  // ---- rules to supports ----

  // The rule's body as a sorted conjunction of node literals; false when it never holds.
  bool read_body(const Rule& rule, std::vector<Literal>& body) {
    body.clear();
    if (rule.weighted) {
      const Literal node = weight_body(rule);
      if (node == -kTrue) return false;
      if (node != kTrue) body.push_back(node);
      return true;
    }
    for (const Literal l : rule.body) body.push_back(node_of(l));
    return tidy(body);
  }

  static bool tidy(std::vector<Literal>& body) {
    std::ranges::sort(body, {}, [](Literal l) { return slot(l); });
    body.erase(std::ranges::unique(body).begin(), body.end());
    return std::ranges::adjacent_find(body, [](Literal a, Literal b) { return a == -b; }) ==
           body.end();
  }

  Literal weight_body(const Rule& rule) {
    if (rule.bound <= 0) return kTrue;
    std::vector<WeightedLiteral> terms;
    for (size_t i = 0; i < rule.body.size(); ++i) {
      terms.push_back({node_of(rule.body[i]), rule.weights[i]});
    }
    std::ranges::sort(terms, {}, [](const WeightedLiteral& t) { return slot(t.literal); });
    int64_t total = 0;
    size_t kept = 0;
    for (const WeightedLiteral& term : terms) {
      total += term.weight;
      if (kept > 0 && terms[kept - 1].literal == term.literal) {
        terms[kept - 1].weight += term.weight;
      } else {
        terms[kept++] = term;
      }
    }
    terms.resize(kept);
    if (total < rule.bound) return -kTrue;
    Body body{.node = 0,
              .begin = static_cast<uint32_t>(body_literals_.size()),
              .end = static_cast<uint32_t>(body_literals_.size() + terms.size()),
              .weighted = true,
              .bound = rule.bound,
              .weights_begin = body_weights_.size()};
    for (const WeightedLiteral& term : terms) {
      body_literals_.push_back(term.literal);
      body_weights_.push_back(term.weight);
    }
    return shared(body);
  }

  // The node literal of a tidy conjunction.
  Literal conjunction(const std::vector<Literal>& literals) {
    if (literals.empty()) return kTrue;
    if (literals.size() == 1) return literals[0];
    const auto begin = static_cast<uint32_t>(body_literals_.size());
    body_literals_.insert(body_literals_.end(), literals.begin(), literals.end());
    return shared({.node = 0, .begin = begin, .end = static_cast<uint32_t>(body_literals_.size())});
  }

  // The node of the same body if there is one; `body` lies at the end of the flat vectors.
  Literal shared(Body body) {
    const std::span literals = std::span(body_literals_).subspan(body.begin);
    const std::span weights =
        std::span(body_weights_).subspan(body.weighted ? body.weights_begin : body_weights_.size());
    uint64_t hash = XXH3_64bits_withSeed(literals.data(), literals.size_bytes(),
                                         static_cast<uint64_t>(body.bound));
    hash = XXH3_64bits_withSeed(weights.data(), weights.size_bytes(), hash);
    for (auto [it, end] = by_hash_.equal_range(hash); it != end; ++it) {
      const Body& other = bodies_[it->second];
      if (other.weighted != body.weighted || other.bound != body.bound ||
          !std::ranges::equal(literals, literals_of(other)) ||
          !std::ranges::equal(weights, weights_of(other))) {
        continue;
      }
      body_literals_.resize(body.begin);
      body_weights_.resize(body_weights_.size() - weights.size());
      return other.node;
    }
    body.node = classes_.add();
    by_hash_.emplace(hash, static_cast<uint32_t>(bodies_.size()));
    bodies_.push_back(body);
    return body.node;
  }

  std::span<const Literal> literals_of(const Body& body) const {
    return std::span(body_literals_).subspan(body.begin, body.end - body.begin);
  }
  std::span<const int64_t> weights_of(const Body& body) const {
    if (!body.weighted) return {};
    return std::span(body_weights_).subspan(body.weights_begin, body.end - body.begin);
  }

  void read_rule(const Rule& rule) {
    std::vector<Literal>& body = body_;
    if (!read_body(rule, body)) return;
    std::vector<Atom>& heads = heads_;
    heads.assign(rule.head.begin(), rule.head.end());
    std::ranges::sort(heads);
    heads.erase(std::ranges::unique(heads).begin(), heads.end());
    // A rule with a head in its own body says nothing.
    const auto in_body = [&](Atom head) {
      return std::ranges::find(body, node_of(head)) != body.end();
    };
    if (rule.head_kind == HeadKind::Choice) {
      std::erase_if(heads, in_body);
      if (heads.empty()) return;
      const Literal node = conjunction(body);
      for (const Atom a : heads) supports_.push_back({a, node, node, false});
      note_cycle_rule(heads, body, true);
      return;
    }
    if (std::ranges::any_of(heads, in_body)) return;
    if (heads.size() == 1) {
      const Literal node = conjunction(body);
      supports_.push_back({heads[0], node, node, true});
      note_cycle_rule(heads, body, false);
      return;
    }
    clause_begins_.push_back(clause_literals_.size());
    for (const Literal l : body) clause_literals_.push_back(-l);
    for (const Atom a : heads) clause_literals_.push_back(node_of(a));
    if (!heads.empty()) shift(heads, body);
  }

  // a | b :- body supports a where b is false. On a head cycle b may be founded together with a.
  void shift(const std::vector<Atom>& heads, const std::vector<Literal>& body) {
    std::vector<Literal> shifted;
    for (const Atom a : heads) {
      shifted = body;
      for (const Atom other : heads) {
        if (other != a) shifted.push_back(-node_of(other));
      }
      Support support{a, -kTrue, -kTrue, true};
      if (tidy(shifted)) support.body = support.loop_body = conjunction(shifted);
      if (in_cycle_component(a)) {
        shifted = body;
        for (const Atom other : heads) {
          if (!components_.together(a, other)) shifted.push_back(-node_of(other));
        }
        if (tidy(shifted)) support.loop_body = conjunction(shifted);
      }
      supports_.push_back(support);
    }
    note_cycle_rule(heads, body, false);
  }

  void note_cycle_rule(const std::vector<Atom>& heads, const std::vector<Literal>& body,
                       bool choice) {
    std::vector<uint32_t> seen;
    for (const Atom a : heads) {
      const uint32_t component = components_.of_atom[static_cast<size_t>(a)];
      if (!in_cycle_component(a) || std::ranges::find(seen, component) != seen.end()) continue;
      seen.push_back(component);
      CycleRule rule;
      rule.component = component;
      rule.choice = choice;
      for (const Atom head : heads) {
        if (components_.together(a, head)) {
          rule.heads.push_back(head);
        } else if (!choice) {
          rule.conditions.push_back(-node_of(head));
        }
      }
      for (const Literal l : body) {
        if (needs(a, l)) {
          rule.needs.push_back(l - 1);
        } else {
          rule.conditions.push_back(l);
        }
      }
      cycle_rules_.push_back(std::move(rule));
    }
  }

  // Whether a node literal is an atom of the same component.
  bool needs(Atom a, Literal node) const {
    return node > kTrue && node <= program_.atoms() + 1 && components_.together(a, node - 1);
  }

  // ---- supports to clauses ----

  void sort_supports() {
    std::ranges::stable_sort(supports_, {}, &Support::atom);
    supports_begin_.assign(static_cast<size_t>(program_.atoms()) + 2, 0);
    for (const Support& s : supports_) ++supports_begin_[static_cast<size_t>(s.atom) + 1];
    for (size_t i = 1; i < supports_begin_.size(); ++i)
      supports_begin_[i] += supports_begin_[i - 1];
  }
  std::span<const Support> supports_of(Atom a) const {
    const size_t begin = supports_begin_[static_cast<size_t>(a)];
    return std::span(supports_).subspan(begin, supports_begin_[static_cast<size_t>(a) + 1] - begin);
  }

  void merge_atoms() {
    merged_.assign(static_cast<size_t>(program_.atoms()) + 1, false);
    for (Atom a = 1; a <= program_.atoms(); ++a) {
      const std::span supports = supports_of(a);
      const bool is_known = static_cast<size_t>(a) < known_.size();
      XLOG_CHECK(!is_known || supports.empty(), "atoms that are known have all their rules");
      if (is_known || (external_[static_cast<size_t>(a)] && supports.empty())) {
        merged_[static_cast<size_t>(a)] = true;
        continue;
      }
      const bool fact = std::ranges::any_of(
          supports, [](const Support& s) { return s.forces && s.body == kTrue; });
      Literal same = 0;
      if (supports.empty()) {
        same = -kTrue;
      } else if (fact) {
        same = kTrue;
      } else if (supports.size() == 1 && supports[0].forces) {
        same = supports[0].body;
      } else {
        continue;
      }
      merged_[static_cast<size_t>(a)] = true;
      if (!classes_.unite(node_of(a), same)) contradictory_ = true;
    }
  }

  // Where atoms are the same, a body that needs one without the other never holds.
  void merge_bodies() {
    for (Body& body : bodies_) {
      if (body.weighted) continue;
      mapped_.assign(1, kTrue);
      for (const Literal node : literals_of(body)) mapped_.push_back(classes_.find(node));
      body.fails = !tidy(mapped_);
      if (body.fails && !classes_.unite(body.node, -kTrue)) contradictory_ = true;
    }
  }

  void make_variables() {
    variables_.resize(static_cast<size_t>(classes_.nodes()) + 1);
    for (int32_t node = 1; node <= classes_.nodes(); ++node) {
      if (classes_.find(node) != node) continue;
      // Node 1 is what always holds, and so is the first literal.
      if (static_cast<size_t>(node) <= known_.size()) {
        variables_[static_cast<size_t>(node)] = known_[static_cast<size_t>(node) - 1];
        continue;
      }
      // Few atoms hold in a model, but a body is worth trying.
      variables_[static_cast<size_t>(node)] = sink_.new_variable(node > program_.atoms() + 1);
    }
    if (known_.empty()) sink_.add({literal(kTrue)});
    if (contradictory_) sink_.add(std::span<const Literal>());
  }

  std::span<const Literal> clause(size_t c) const {
    const bool is_last = c + 1 == clause_begins_.size();
    const size_t end = is_last ? clause_literals_.size() : clause_begins_[c + 1];
    return std::span(clause_literals_).subspan(clause_begins_[c], end - clause_begins_[c]);
  }

  void add_clause(std::span<const Literal> nodes) {
    mapped_.clear();
    for (const Literal node : nodes) mapped_.push_back(literal(node));
    sink_.add(mapped_);
  }

  void define(const Body& body) {
    const Literal holds = literal(body.node);
    if (body.weighted) {
      define_weighted(body, holds);
      return;
    }
    mapped_.assign(1, holds);
    for (const Literal node : literals_of(body)) {
      const Literal l = literal(node);
      sink_.add({-holds, l});
      mapped_.push_back(-l);
    }
    sink_.add(mapped_);
  }

  void define_weighted(const Body& body, Literal holds) {
    std::vector<WeightedLiteral> terms;
    const std::span nodes = literals_of(body);
    const std::span weights = weights_of(body);
    int64_t bound = body.bound;
    for (size_t i = 0; i < nodes.size(); ++i) {
      const Literal l = literal(nodes[i]);
      if (l == literal(kTrue)) bound -= weights[i];
      if (variable_of(l) != variable_of(literal(kTrue))) terms.push_back({l, weights[i]});
    }
    sink_.add_weighted_sum(holds, bound, std::move(terms));
  }

  void define_atom(Atom a) {
    if (merged_[static_cast<size_t>(a)]) return;
    const Literal atom = literal(node_of(a));
    mapped_.assign(1, -atom);
    for (const Support& s : supports_of(a)) {
      const Literal body = literal(s.body);
      if (s.forces) sink_.add({-body, atom});
      mapped_.push_back(body);
    }
    sink_.add(mapped_);
  }

  // ---- what the propagators need ----

  void collect_loops(Completion& completion) {
    std::vector<uint32_t> loop_index(static_cast<size_t>(program_.atoms()) + 1, 0);
    std::vector<uint32_t> within(loop_index.size(), 0);  // the number of an atom in its component
    uint32_t count = 0;
    for (const std::vector<Atom>& members : components_.members) {
      if (members.size() == 1) continue;
      for (uint32_t i = 0; i < members.size(); ++i) {
        loop_index[static_cast<size_t>(members[i])] = count++;
        within[static_cast<size_t>(members[i])] = i;
      }
    }
    for (const std::vector<Atom>& members : components_.members) {
      if (members.size() == 1) continue;
      for (const Atom a : members) {
        LoopAtom& loop_atom = completion.loop_atoms.emplace_back();
        loop_atom.literal = literal(node_of(a));
        for (const Support& s : supports_of(a)) {
          loop_atom.supports.push_back({literal(s.loop_body), loop_needs(a, s, loop_index)});
        }
      }
    }
    std::vector<size_t> cycle_index(components_.members.size(), SIZE_MAX);
    for (uint32_t c = 0; c < components_.members.size(); ++c) {
      if (!components_.head_cycles[c]) continue;
      cycle_index[c] = completion.head_cycles.size();
      HeadCycle& cycle = completion.head_cycles.emplace_back();
      for (const Atom a : components_.members[c]) cycle.atoms.push_back(literal(node_of(a)));
    }
    for (const CycleRule& rule : cycle_rules_) {
      HeadCycleRule& out = completion.head_cycles[cycle_index[rule.component]].rules.emplace_back();
      for (const Atom a : rule.heads) out.heads.push_back(within[static_cast<size_t>(a)]);
      for (const Atom a : rule.needs) out.needs.push_back(within[static_cast<size_t>(a)]);
      for (const Literal l : rule.conditions) out.conditions.push_back(literal(l));
      out.choice = rule.choice;
    }
  }

  std::vector<uint32_t> loop_needs(Atom a, const Support& support,
                                   const std::vector<uint32_t>& loop_index) const {
    std::vector<uint32_t> found;
    const auto look = [&](Literal node) {
      if (needs(a, node)) found.push_back(loop_index[static_cast<size_t>(node) - 1]);
    };
    const int32_t first_body = program_.atoms() + 2;
    if (support.loop_body < first_body) {
      look(support.loop_body);
    } else {
      const Body& body = bodies_[static_cast<size_t>(support.loop_body - first_body)];
      for (const Literal node : literals_of(body)) look(node);
    }
    return found;
  }

  const GroundProgram& program_;
  const std::vector<bool>& external_;
  CompletionSink& sink_;
  const std::span<const Literal> known_;  // by node, from the first on
  const Components components_;
  Classes classes_;
  bool contradictory_ = false;
  std::vector<Body> bodies_;  // their nodes ascend without gaps
  std::vector<Literal> body_literals_;
  std::vector<int64_t> body_weights_;
  std::unordered_multimap<uint64_t, uint32_t> by_hash_;
  std::vector<Support> supports_;
  std::vector<size_t> supports_begin_;
  // Constraints and disjunctions, as clauses of node literals.
  std::vector<Literal> clause_literals_;
  std::vector<size_t> clause_begins_;
  std::vector<CycleRule> cycle_rules_;
  std::vector<bool> merged_;        // atoms whose class says all about them
  std::vector<Literal> variables_;  // of the nodes that stand for their class
  std::vector<Literal> body_;
  std::vector<Atom> heads_;
  std::vector<Literal> mapped_;
};

class SearchSink final : public CompletionSink {
 public:
  explicit SearchSink(Search& search) : search_(search) {}
  int32_t new_variable(bool guess) override {
    const int32_t variable = search_.new_variable();
    search_.set_phase(guess ? variable : -variable);
    return variable;
  }
  void add(std::span<const Literal> clause) override { search_.add(clause); }
  void add_weighted_sum(Literal holds, int64_t bound, std::vector<WeightedLiteral> terms) override {
    search_.add_weighted_sum(holds, bound, std::move(terms));
  }

 private:
  Search& search_;
};

}  // namespace

Completion complete(const GroundProgram& program, const std::vector<bool>& external,
                    CompletionSink& sink, std::span<const Literal> known) {
  return Completer(program, external, sink, known).run();
}

Completion complete(const GroundProgram& program, const std::vector<bool>& external, Search& search,
                    std::span<const Literal> known) {
  SearchSink sink(search);
  return complete(program, external, sink, known);
}

}  // namespace xlog::solve
