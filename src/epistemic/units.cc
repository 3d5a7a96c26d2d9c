#include "epistemic/units.h"

#include <algorithm>
#include <atomic>
#include <map>
#include <numeric>
#include <unordered_map>
#include <utility>

#include "base/check.h"

namespace xlog::epistemic {

using oracle::AtomId;
using oracle::GroundAggregate;
using oracle::GroundBody;
using oracle::GroundBound;
using oracle::GroundKind;
using oracle::GroundLiteral;
using oracle::GroundProgram;
using oracle::GroundRule;
using Body = std::vector<GroundLiteral>;
using Input = std::shared_ptr<const oracle::AggregateInput>;

namespace {

constexpr uint32_t kAtATime = 1 << 14;  // atoms or rules, by one thread

// Sets of numbers, each named by its least one; threads may unite them at once. A number that has
// another one above it never becomes the least of a set again, so what is above it may be replaced
// by what is above that, whoever else does so.
class UnionFind {
 public:
  explicit UnionFind(uint32_t size) : above_(size) { std::iota(above_.begin(), above_.end(), 0); }
  uint32_t find(uint32_t a) {
    while (true) {
      const uint32_t above = at(a).load(std::memory_order_relaxed);
      if (above == a) return a;
      const uint32_t next = at(above).load(std::memory_order_relaxed);
      if (next != above) at(a).store(next, std::memory_order_relaxed);
      a = next;
    }
  }
  void unite(uint32_t a, uint32_t b) {
    while (true) {
      a = find(a);
      b = find(b);
      if (a == b) return;
      if (a < b) std::swap(a, b);
      uint32_t least = a;
      if (at(a).compare_exchange_strong(least, b, std::memory_order_relaxed)) return;
    }
  }

 private:
  std::atomic_ref<uint32_t> at(uint32_t i) { return std::atomic_ref(above_[i]); }

  std::vector<uint32_t> above_;
};

template <typename Visit>
void for_each_body(const GroundBound& bound, const Visit& visit) {
  visit(bound.body);
  for (const GroundBound::Element& element : bound.elements) visit(element.condition);
}

}  // namespace

Units::Lists Units::Lists::by(const std::vector<uint32_t>& list_of, uint32_t lists) {
  Lists made;
  made.starts.assign(lists + 1, 0);
  for (const uint32_t list : list_of) {
    if (list != kNone) ++made.starts[list + 1];
  }
  for (uint32_t i = 0; i < lists; ++i) made.starts[i + 1] += made.starts[i];
  made.values.resize(made.starts.back());
  std::vector<uint32_t> at(made.starts.begin(), made.starts.end() - 1);
  for (uint32_t i = 0; i < list_of.size(); ++i) {
    if (list_of[i] != kNone) made.values[at[list_of[i]]++] = i;
  }
  return made;
}

Units::Units(const GroundProgram& program, const Parallel& parallel) : program_(program) {
  find_groups(parallel);
  find_units();
  find_clusters();
}

// ---- groups: what is mentioned together ----

namespace {

// What rules and bounds mention together, and what they ask. Those of a range are looked at one
// after another by one of these.
class Mentions {
 public:
  Mentions(const GroundProgram& program, UnionFind& together, std::vector<uint8_t>& is_mentioned)
      : program_(program), together_(together), is_mentioned_(is_mentioned) {}

  // An objective atom of it, or kNone.
  uint32_t look_at(uint32_t what, const GroundRule& rule) {
    begin(what);
    for (const AtomId head : rule.heads) mention(head);
    look_at(rule.body);
    return anchor_;
  }
  uint32_t look_at(uint32_t what, const GroundBound& bound) {
    begin(what);
    for_each_body(bound, [&](GroundBody body) { look_at(body); });
    return anchor_;
  }

  std::vector<std::pair<uint32_t, AtomId>> questions;  // rule or bound, asked atom

 private:
  void begin(uint32_t what) {
    what_ = what;
    anchor_ = Units::kNone;
  }
  void mark(AtomId atom) {
    std::atomic_ref(is_mentioned_[atom]).store(1, std::memory_order_relaxed);
  }
  void mention(AtomId atom) {
    mark(atom);
    if (anchor_ != Units::kNone) together_.unite(anchor_, atom);
    anchor_ = atom;
  }
  void look_at(GroundBody body) {
    for (const GroundLiteral& literal : body) {
      if (literal.kind == GroundKind::Aggregate) {
        oracle::for_each_atom(literal, program_,
                              [&](AtomId, const GroundLiteral& inner) { look_at(inner); });
      } else {
        look_at(literal);
      }
    }
  }
  void look_at(const GroundLiteral& plain) {
    if (plain.kind != GroundKind::Modal) return mention(plain.index);
    mark(plain.index);
    questions.emplace_back(what_, plain.index);
  }

  const GroundProgram& program_;
  UnionFind& together_;
  std::vector<uint8_t>& is_mentioned_;
  uint32_t what_ = 0;
  uint32_t anchor_ = Units::kNone;
};

}  // namespace

void Units::find_groups(const Parallel& parallel) {
  const uint32_t atoms = program_.atom_count;
  const auto rules = static_cast<uint32_t>(program_.rules.size());
  const auto all = rules + static_cast<uint32_t>(program_.bounds.size());  // rules, then bounds
  const auto pieces = [](uint32_t n) { return (n + kAtATime - 1) / kAtATime; };
  UnionFind together(atoms);
  std::vector<uint8_t> is_mentioned(atoms, 0);
  std::vector<uint32_t> anchors(all);
  std::vector<Mentions> mentions(pieces(all), Mentions(program_, together, is_mentioned));
  parallel(all, kAtATime, [&](uint32_t lo, uint32_t hi) {
    Mentions& mine = mentions[lo / kAtATime];
    for (uint32_t what = lo; what < hi; ++what) {
      anchors[what] = what < rules ? mine.look_at(what, program_.rules[what])
                                   : mine.look_at(what, program_.bounds[what - rules]);
    }
  });

  // In the order of their least atoms.
  std::vector<uint32_t> firsts(pieces(atoms), 0);
  parallel(atoms, kAtATime, [&](uint32_t lo, uint32_t hi) {
    uint32_t count = 0;
    for (AtomId a = lo; a < hi; ++a) count += is_mentioned[a] != 0 && together.find(a) == a ? 1 : 0;
    firsts[lo / kAtATime] = count;
  });
  for (uint32_t& first : firsts) groups_ += std::exchange(first, groups_);
  group_of_atom_.assign(atoms, kNone);
  parallel(atoms, kAtATime, [&](uint32_t lo, uint32_t hi) {
    uint32_t group = firsts[lo / kAtATime];
    for (AtomId a = lo; a < hi; ++a) {
      if (is_mentioned[a] != 0 && together.find(a) == a) group_of_atom_[a] = group++;
    }
  });
  parallel(atoms, kAtATime, [&](uint32_t lo, uint32_t hi) {
    for (AtomId a = lo; a < hi; ++a) {
      const AtomId least = is_mentioned[a] != 0 ? together.find(a) : a;
      if (least != a) group_of_atom_[a] = group_of_atom_[least];
    }
  });

  // What mentions no atom objectively waits for the units that it asks, or is a group of its own.
  std::vector<uint32_t> group_of(all);
  for (uint32_t piece = 0; piece < mentions.size(); ++piece) {
    const uint32_t end = std::min(all, (piece + 1) * kAtATime);
    auto question = mentions[piece].questions.begin();
    for (uint32_t what = piece * kAtATime; what < end; ++what) {
      const bool has_anchor = anchors[what] != kNone;
      bool asks = false;
      for (; question != mentions[piece].questions.end() && question->first == what; ++question) {
        const uint32_t from = group_of_atom_[question->second];
        if (!has_anchor) waiting_.push_back(*question);
        if (has_anchor && from != group_of_atom_[anchors[what]]) {
          edges_.emplace_back(from, group_of_atom_[anchors[what]]);
        }
        asks = true;
      }
      group_of[what] = has_anchor ? group_of_atom_[anchors[what]] : asks ? kNone : groups_++;
    }
  }
  group_of_rule_.assign(group_of.begin(), group_of.begin() + rules);
  group_of_bound_.assign(group_of.begin() + rules, group_of.end());
  if (!std::ranges::is_sorted(edges_)) std::ranges::sort(edges_);
  edges_.erase(std::ranges::unique(edges_).begin(), edges_.end());
}

// ---- units: groups that ask each other ----

// Strong components by Tarjan's algorithm over the groups that a group asks, without recursion:
// components come out after those that they ask.
void Units::find_units() {
  std::vector<uint32_t> asking(edges_.size());
  for (size_t e = 0; e < edges_.size(); ++e) asking[e] = edges_[e].second;
  const Lists asks = Lists::by(asking, groups_);  // edges of an asking group
  std::vector<uint32_t> number(groups_, 0), low(groups_, 0);
  std::vector<bool> open(groups_, false);
  unit_of_group_.assign(groups_, kNone);
  std::vector<uint32_t> stack;
  struct Frame {
    uint32_t group, next;
  };
  std::vector<Frame> frames;
  uint32_t numbered = 0, units = 0;
  const auto enter = [&](uint32_t group) {
    number[group] = low[group] = ++numbered;
    open[group] = true;
    stack.push_back(group);
    frames.push_back({group, 0});
  };
  for (uint32_t start = 0; start < groups_; ++start) {
    if (number[start] != 0) continue;
    enter(start);
    while (!frames.empty()) {
      Frame& frame = frames.back();
      const std::span<const uint32_t> below = asks[frame.group];
      if (frame.next < below.size()) {
        const uint32_t asked = edges_[below[frame.next++]].first;
        if (number[asked] == 0) {
          enter(asked);
        } else if (open[asked]) {
          low[frame.group] = std::min(low[frame.group], number[asked]);
        }
        continue;
      }
      const uint32_t group = frame.group;
      frames.pop_back();
      if (!frames.empty()) {
        low[frames.back().group] = std::min(low[frames.back().group], low[group]);
      }
      if (low[group] != number[group]) continue;
      for (uint32_t member = kNone; member != group;) {
        member = stack.back();
        stack.pop_back();
        open[member] = false;
        unit_of_group_[member] = units;
      }
      ++units;
    }
  }
  const auto to_units = [&](std::vector<uint32_t>& groups) {
    for (uint32_t& group : groups) group = group == kNone ? kNone : unit_of_group_[group];
  };
  to_units(group_of_atom_);
  to_units(group_of_rule_);
  to_units(group_of_bound_);
  unit_of_ = std::move(group_of_atom_);
  settle_waiting();
  atoms_ = Lists::by(unit_of_, units);
  rules_ = Lists::by(group_of_rule_, units);
  bounds_ = Lists::by(group_of_bound_, units);
  place_of_.assign(program_.atom_count, 0);
  for (uint32_t u = 0; u < units; ++u) {
    uint32_t place = 0;
    for (const AtomId a : atoms_[u]) place_of_[a] = place++;
  }
}

// A constraint of questions alone removes world views of what it asks about, whether it is part of
// it or not. As part of the last unit that it asks, it keeps them from being generated.
void Units::settle_waiting() {
  const auto rules = static_cast<uint32_t>(group_of_rule_.size());
  const auto unit_of_waiting = [&](uint32_t what) -> uint32_t& {
    return what < rules ? group_of_rule_[what] : group_of_bound_[what - rules];
  };
  for (const auto& [what, atom] : waiting_) {
    uint32_t& unit = unit_of_waiting(what);
    unit = unit == kNone ? unit_of_[atom] : std::max(unit, unit_of_[atom]);
  }
  for (const auto& [what, atom] : waiting_) {
    connected_.emplace_back(unit_of_[atom], unit_of_waiting(what));
  }
}

// ---- clusters: units that questions connect ----

void Units::find_clusters() {
  UnionFind together(size());
  for (const auto& [asked, asking] : edges_) {
    together.unite(unit_of_group_[asked], unit_of_group_[asking]);
  }
  for (const auto& [asked, asking] : connected_) together.unite(asked, asking);
  // By the least atom; those without atoms come last.
  std::vector<uint32_t> cluster_of_root(size(), kNone);
  cluster_of_.assign(size(), kNone);
  uint32_t clusters = 0;
  const auto number = [&](uint32_t unit) {
    uint32_t& cluster = cluster_of_root[together.find(unit)];
    if (cluster == kNone) cluster = clusters++;
    cluster_of_[unit] = cluster;
  };
  for (AtomId a = 0; a < program_.atom_count; ++a) {
    if (unit_of_[a] != kNone) number(unit_of_[a]);
  }
  for (uint32_t u = 0; u < size(); ++u) number(u);
  clusters_ = Lists::by(cluster_of_, clusters);  // units are numbered in the order of asking
  place_in_cluster_.assign(size(), 0);
  for (uint32_t c = 0; c < clusters; ++c) {
    uint32_t place = 0;
    for (const uint32_t u : clusters_[c]) place_in_cluster_[u] = place++;
  }
}

std::vector<std::pair<uint32_t, uint32_t>> Units::asking_and_asked() const {
  std::vector<std::pair<uint32_t, uint32_t>> pairs;
  const auto add = [&](uint32_t asked, uint32_t asking) {
    if (asked != asking) pairs.emplace_back(asking, asked);
  };
  for (const auto& [asked, asking] : edges_) add(unit_of_group_[asked], unit_of_group_[asking]);
  for (const auto& [asked, asking] : connected_) add(asked, asking);
  std::ranges::sort(pairs);
  pairs.erase(std::ranges::unique(pairs).begin(), pairs.end());
  return pairs;
}

// ---- one unit ----

bool Units::is_foreign(uint32_t unit, const GroundLiteral& literal) const {
  return literal.kind == GroundKind::Modal && unit_of_[literal.index] != unit;
}

// The literals of a body but for questions to other units that are answered with yes; false where
// one is answered with no, and then perhaps not all literals were visited.
template <typename Visit>
bool Units::for_each_left(uint32_t unit, GroundBody body, const Holds& holds,
                          const Visit& visit) const {
  for (const GroundLiteral& literal : body) {
    if (!is_foreign(unit, literal)) {
      visit(literal);
    } else if (!holds(literal)) {
      return false;
    }
  }
  return true;
}

// Copies a unit, with its own numbers of atoms.
class Units::Copier {
 public:
  Copier(const Units& units, uint32_t unit, const Holds& holds)
      : units_(units), program_(units.program_), unit_(unit), holds_(holds) {}

  GroundProgram run() {
    made_.atom_count = static_cast<uint32_t>(units_.atoms(unit_).size());
    for (const uint32_t r : units_.rules(unit_)) copy_rule(program_.rules[r]);
    for (const uint32_t b : units_.bounds(unit_)) copy_bound(program_.bounds[b]);
    return std::move(made_);
  }

 private:
  void copy_rule(const GroundRule& rule) {
    const auto body = left_of(rule.body);
    if (!body) return;
    heads_.clear();
    for (const AtomId head : rule.heads) heads_.push_back(units_.place_of_[head]);
    made_.rules.add(rule.kind, heads_, *body, rule.source);
  }

  void copy_bound(const GroundBound& bound) {
    auto body = left_of(bound.body);
    if (!body) return;
    GroundBound copy{bound.lower, bound.upper, {}, std::move(*body), bound.source};
    for (const auto& element : bound.elements) {
      if (auto condition = left_of(element.condition)) {
        copy.elements.push_back({element.atom, std::move(*condition)});
      }
    }
    made_.bounds.push_back(std::move(copy));
  }

  // nullopt for a body that cannot hold.
  std::optional<Body> left_of(GroundBody body) {
    Body left;
    const bool may_hold =
        units_.for_each_left(unit_, body, holds_, [&](const GroundLiteral& literal) {
          left.push_back(literal);
          left.back().index = literal.kind == GroundKind::Aggregate
                                  ? copy_aggregate(program_.aggregates[literal.index])
                                  : units_.place_of_[literal.index];
        });
    if (!may_hold) return std::nullopt;
    return left;
  }

  uint32_t copy_aggregate(const GroundAggregate& aggregate) {
    auto input = copy_input(*aggregate.input);
    made_.aggregates.push_back({std::move(input), aggregate.result});
    return static_cast<uint32_t>(made_.aggregates.size()) - 1;
  }

  // The results of an aggregate share its input.
  Input copy_input(const oracle::AggregateInput& input) {
    if (const auto found = inputs_.find(&input); found != inputs_.end()) return found->second;
    auto copy = std::make_shared<oracle::AggregateInput>();
    copy->folds = input.folds;
    copy->nonempty = input.nonempty;
    copy->span = input.span;
    for (const auto& element : input.elements) {
      if (auto condition = left_of(element.condition)) {
        copy->elements.push_back({element.values, std::move(*condition)});
      }
    }
    return inputs_[&input] = std::move(copy);
  }

  const Units& units_;
  const GroundProgram& program_;
  const uint32_t unit_;
  const Holds& holds_;
  GroundProgram made_;
  std::vector<AtomId> heads_;  // of the rule at hand
  std::unordered_map<const oracle::AggregateInput*, Input> inputs_;
};

GroundProgram Units::program(uint32_t unit, const Holds& holds) const {
  return Copier(*this, unit, holds).run();
}

// Writes behind what is there; what cannot hold is taken back.
class Units::KeyWriter {
 public:
  KeyWriter(const Units& units, uint32_t unit, const Holds& holds, std::vector<uint64_t>& key)
      : units_(units), program_(units.program_), unit_(unit), holds_(holds), key_(key) {}

  void run() {
    put(units_.atoms(unit_).size());
    for (const uint32_t r : units_.rules(unit_)) put_rule(program_.rules[r]);
    for (const uint32_t b : units_.bounds(unit_)) put_bound(program_.bounds[b]);
    // Conditions may mention further ones.
    for (size_t i = 0; i < inputs_.size(); ++i) put_input(*inputs_[i]);
  }

 private:
  void put(uint64_t number) { key_.push_back(number); }

  void put_rule(const GroundRule& rule) {
    const size_t before = key_.size();
    put(static_cast<uint8_t>(rule.kind));
    for (const AtomId head : rule.heads) put(units_.place_of_[head]);
    put(uint64_t{1} << 59);
    if (!put_body(rule.body)) key_.resize(before);
  }

  void put_bound(const GroundBound& bound) {
    const size_t before = key_.size();
    put(uint64_t{1} << 60);
    put(static_cast<uint64_t>(bound.lower));
    put(static_cast<uint64_t>(bound.upper));
    if (!put_body(bound.body)) return key_.resize(before);
    std::map<AtomId, uint64_t> numbers;  // only tell elements apart
    for (const auto& element : bound.elements) {
      const size_t before_element = key_.size();
      put(uint64_t{1} << 61 | numbers.emplace(element.atom, numbers.size()).first->second);
      if (!put_body(element.condition)) key_.resize(before_element);
    }
  }

  bool put_body(GroundBody body) {
    const size_t before = key_.size();
    const bool may_hold = units_.for_each_left(
        unit_, body, holds_, [&](const GroundLiteral& literal) { put_literal(literal); });
    put(uint64_t{1} << 58);
    if (!may_hold) key_.resize(before);
    return may_hold;
  }

  void put_literal(const GroundLiteral& literal) {
    const uint64_t tag = uint64_t{static_cast<uint8_t>(literal.kind)} << 48 |
                         uint64_t{static_cast<uint8_t>(literal.modal)} << 40;
    if (literal.kind != GroundKind::Aggregate) return put(tag | units_.place_of_[literal.index]);
    const GroundAggregate& aggregate = program_.aggregates[literal.index];
    put(tag | number_of(*aggregate.input));
    for (const lang::Value& value : aggregate.result) put_value(value);
  }

  // The results of an aggregate share its input, which stands once, at the end.
  uint64_t number_of(const oracle::AggregateInput& input) {
    const auto [entry, is_new] = number_of_.emplace(&input, inputs_.size());
    if (is_new) inputs_.push_back(&input);
    return entry->second;
  }

  void put_input(const oracle::AggregateInput& input) {
    put(uint64_t{input.nonempty});
    put(input.folds.size());
    for (const oracle::Fold& fold : input.folds) {
      put(static_cast<uint8_t>(fold.kind));
      put(static_cast<uint8_t>(fold.result.kind));
    }
    for (const auto& element : input.elements) {
      const size_t before = key_.size();
      put(uint64_t{1} << 56);
      for (const lang::Value& value : element.values) put_value(value);
      if (!put_body(element.condition)) key_.resize(before);
    }
    put(uint64_t{1} << 57);
  }

  void put_value(const lang::Value& value) {
    put(static_cast<uint8_t>(value.kind));
    put(value.bits);
  }

  const Units& units_;
  const GroundProgram& program_;
  const uint32_t unit_;
  const Holds& holds_;
  std::vector<uint64_t>& key_;
  std::vector<const oracle::AggregateInput*> inputs_;  // in the order in which they are mentioned
  std::unordered_map<const oracle::AggregateInput*, uint64_t> number_of_;
};

void Units::put_key(uint32_t unit, const Holds& holds, std::vector<uint64_t>& key) const {
  KeyWriter(*this, unit, holds, key).run();
}

}  // namespace xlog::epistemic
