#include "solve/count_components.h"

#include <xxhash.h>

#include <algorithm>
#include <numeric>

#include "base/check.h"

namespace xlog::solve {
namespace {

constexpr uint32_t variable_at(uint32_t slot) { return (slot + 1) / 2; }

// Of something with so many open variables: what is about to imply something counts more. The
// numbers halved the decisions on random formulas, compared with ones.
constexpr uint32_t importance_of(size_t open) { return open == 2 ? 8 : open == 3 ? 2 : 1; }

}  // namespace

CountComponents::CountComponents(const CountFormula& formula, const CountTrail& trail,
                                 const std::vector<bool>& kept)
    : formula_(formula), trail_(trail), states_(static_cast<size_t>(formula.variables()) + 1) {
  const CountGates gates = find_gates(formula, trail, kept);
  for (uint32_t v = 1; v < states_.size(); ++v) {
    states_[v].output = gates.is_output[v];
    states_[v].derived = formula.is_derived(static_cast<int32_t>(v));
  }
  add_clauses(gates);
  for (uint32_t s = 0; s < formula.sums.size(); ++s) {
    for (const CountSum::Threshold& t : formula.sums[s].thresholds) {
      State& state = states_[static_cast<size_t>(variable_of(t.holds))];
      if (state.output && state.gate == kNone) state.sum = s;
    }
  }
  sum_marks_.resize(formula.sums.size());

  for (uint32_t v = 1; v < states_.size(); ++v) stack_.push_back(v);
  whole_.items = static_cast<uint32_t>(stack_.size());
  for (uint32_t i = 0; i < items_.size(); ++i) stack_.push_back(i);
  whole_.sums = static_cast<uint32_t>(stack_.size());
  for (uint32_t s = 0; s < formula.sums.size(); ++s) stack_.push_back(s);
  whole_.end = static_cast<uint32_t>(stack_.size());
}

void CountComponents::add_clauses(const CountGates& gates) {
  items_ = gates.clauses;
  first_gate_ = static_cast<uint32_t>(items_.size());
  for (size_t g = 0; g < gates.gates.size(); ++g) {
    const std::span<const uint32_t> slots = gates.gates[g];
    states_[variable_at(slots[0])].gate = static_cast<uint32_t>(items_.size());
    items_.items.insert(items_.items.end(), slots.begin(), slots.end());
    items_.close();
  }
  item_marks_.resize(items_.size());
  std::vector<std::pair<uint32_t, uint32_t>> pairs;
  for (const auto& [a, b] : gates.pairs) pairs.emplace_back(variable_at(a), variable_at(b));
  std::ranges::sort(pairs);
  pairs.erase(std::ranges::unique(pairs).begin(), pairs.end());
  auto next = pairs.begin();
  for (uint32_t v = 0; v < states_.size(); ++v) {
    for (; next != pairs.end() && next->first == v; ++next) pairs_.items.push_back(next->second);
    pairs_.close();
  }
}

void CountComponents::need(uint32_t variable, uint32_t importance) {
  State& state = states_[variable];
  if (state.needed != time_) {
    state.needed = time_;
    state.up = variable;
    state.degree = 0;
    state.part = kNone;
    if (state.output) woken_.push_back(variable);
  }
  state.degree += importance;
}

uint32_t CountComponents::find(uint32_t variable) {
  while (states_[variable].up != variable) {
    uint32_t& up = states_[variable].up;
    up = states_[up].up;
    variable = up;
  }
  return variable;
}

void CountComponents::unite(uint32_t a, uint32_t b) {
  a = find(a);
  b = find(b);
  states_[std::max(a, b)].up = std::min(a, b);
}

void CountComponents::tie_together(Mark& mark, uint32_t importance) {
  mark = {time_, together_[0]};
  for (const uint32_t v : together_) {
    need(v, importance);
    unite(v, together_[0]);
  }
}

void CountComponents::wake_pairs(uint32_t variable) {
  for (const uint32_t other : pairs_[variable]) {
    if (!is_open(other)) continue;
    need(variable, importance_of(2));
    need(other, importance_of(2));
    unite(variable, other);
  }
}

// A clause that nothing satisfies; a gate whose output is needed, or false while its inputs may all
// be true.
void CountComponents::wake_item(uint32_t item) {
  Mark& mark = item_marks_[item];
  if (mark.time == time_) return;
  std::span<const uint32_t> slots = items_[item];
  together_.clear();
  // What ends it: a true literal of a clause, a false input of a gate, or its output.
  int end = 1;
  if (item >= first_gate_) {
    const int output = trail_.value_at(slots[0]);
    if (output > 0) return;
    if (output == 0) together_.push_back(variable_at(slots[0]));
    slots = slots.subspan(1);
    end = -1;
  }
  for (const uint32_t s : slots) {
    const int value = trail_.value_at(s);
    if (value == end) return;
    if (value == 0) together_.push_back(variable_at(s));
  }
  if (!together_.empty()) tie_together(mark, importance_of(together_.size()));
}

// Whether something is required of the sum: a threshold that is assigned, or not defined by it.
bool CountComponents::is_undecided(uint32_t sum) const {
  const int64_t reached = trail_.reached(sum);
  const int64_t reachable = trail_.reachable(sum);
  return std::ranges::any_of(formula_.sums[sum].thresholds, [&](const CountSum::Threshold& t) {
    const bool open = t.bound > reached && t.bound <= reachable;
    return open && (trail_.value(t.holds) != 0 ||
                    states_[static_cast<size_t>(variable_of(t.holds))].sum != sum);
  });
}

void CountComponents::wake_sum(uint32_t sum) {
  if (sum_marks_[sum].time == time_) return;
  together_.clear();
  for (const WeightedLiteral& t : formula_.sums[sum].terms) {
    if (trail_.value(t.literal) == 0) {
      together_.push_back(static_cast<uint32_t>(variable_of(t.literal)));
    }
  }
  for (const CountSum::Threshold& t : formula_.sums[sum].thresholds) {
    const auto v = static_cast<uint32_t>(variable_of(t.holds));
    const State& state = states_[v];
    if (!is_open(v)) continue;
    if (state.sum != sum || state.needed == time_) together_.push_back(v);
  }
  if (!together_.empty()) tie_together(sum_marks_[sum], 1);
}

bool CountComponents::split(const CountComponent& component) {
  ++time_;
  found_.clear();
  assigned_.clear();
  free_.clear();
  woken_.clear();
  for (const uint32_t v : variables(component)) {
    if (is_open(v)) wake_pairs(v);
  }
  for (uint32_t i = component.items; i < component.sums; ++i) {
    const uint32_t item = stack_[i];
    if (item < first_gate_ || !is_open(variable_at(items_[item][0]))) wake_item(item);
  }
  for (uint32_t i = component.sums; i < component.end; ++i) {
    if (is_undecided(stack_[i])) wake_sum(stack_[i]);
  }
  while (!woken_.empty()) {
    const uint32_t v = woken_.back();
    woken_.pop_back();
    const State& state = states_[v];
    if (state.gate != kNone) wake_item(state.gate);
    if (state.sum == kNone) continue;
    wake_sum(state.sum);
    unite(v, sum_marks_[state.sum].variable);
  }
  return collect(component);
}

// The lists of the component, in their order, to those of its parts.
bool CountComponents::collect(const CountComponent& component) {
  uint32_t parts = 0;
  sizes_.clear();
  has_plain_.clear();
  for (const uint32_t v : variables(component)) {
    const auto variable = static_cast<int32_t>(v);
    const int value = trail_.value(variable);
    const State& state = states_[v];
    if (value != 0) {
      if (!state.derived) assigned_.push_back(value > 0 ? variable : -variable);
      continue;
    }
    if (state.needed != time_) {
      if (state.derived) return false;
      if (!state.output) free_.push_back(variable);
      continue;
    }
    uint32_t& part = states_[find(v)].part;
    if (part == kNone) {
      part = parts++;
      sizes_.insert(sizes_.end(), {0, 0, 0});
      has_plain_.push_back(false);
    }
    ++sizes_[3 * size_t{part}];
    if (!state.derived) has_plain_[part] = true;
  }
  if (std::ranges::find(has_plain_, false) != has_plain_.end()) return false;
  if (parts == 0) return true;

  const auto part_of = [&](size_t list, uint32_t item) {
    if (list == 0) {
      const bool in = is_open(item) && states_[item].needed == time_;
      return in ? states_[find(item)].part : kNone;
    }
    const Mark& mark = list == 1 ? item_marks_[item] : sum_marks_[item];
    return mark.time == time_ ? states_[find(mark.variable)].part : kNone;
  };
  const uint32_t bounds[] = {component.begin, component.items, component.sums, component.end};
  for (size_t list = 1; list < 3; ++list) {
    for (uint32_t i = bounds[list]; i < bounds[list + 1]; ++i) {
      const uint32_t part = part_of(list, stack_[i]);
      if (part != kNone) ++sizes_[3 * size_t{part} + list];
    }
  }
  auto at = static_cast<uint32_t>(stack_.size());
  for (uint32_t part = 0; part < parts; ++part) {
    uint32_t* const size = &sizes_[3 * size_t{part}];
    CountComponent& made = found_.emplace_back();
    made.begin = at;
    made.items = made.begin + size[0];
    made.sums = made.items + size[1];
    made.end = at = made.sums + size[2];
    size[0] = made.begin;
    size[1] = made.items;
    size[2] = made.sums;
  }
  stack_.resize(at);
  for (size_t list = 0; list < 3; ++list) {
    for (uint32_t i = bounds[list]; i < bounds[list + 1]; ++i) {
      const uint32_t part = part_of(list, stack_[i]);
      if (part != kNone) stack_[sizes_[3 * size_t{part} + list]++] = stack_[i];
    }
  }
  return true;
}

// Variables and items say what is left of each clause: of a clause of two it is all or nothing, and
// of a longer one what is not among the variables is false; a gate likewise. Of a sum it is what
// the true terms reach, and which thresholds are still to be met.
CountKey CountComponents::key(const CountComponent& component) {
  const XXH128_hash_t lists = XXH3_128bits(stack_.data() + component.begin,
                                           (component.sums - component.begin) * sizeof(uint32_t));
  text_.assign({static_cast<int64_t>(lists.low64), static_cast<int64_t>(lists.high64),
                component.items - component.begin});
  for (uint32_t i = component.sums; i < component.end; ++i) {
    const uint32_t sum = stack_[i];
    const int64_t reached = trail_.reached(sum);
    const int64_t reachable = trail_.reachable(sum);
    int64_t least = 0;  // the highest bound that must be met, and the lowest that must not
    int64_t most = 0;
    bool any_open = false;
    for (const CountSum::Threshold& t : formula_.sums[sum].thresholds) {
      if (t.bound <= reached || t.bound > reachable) continue;
      const int value = trail_.value(t.holds);
      // One that sleeps is not among the variables.
      any_open = any_open || (value == 0 && std::ranges::binary_search(
                                                variables(component),
                                                static_cast<uint32_t>(variable_of(t.holds))));
      if (value > 0) least = std::max(least, t.bound - reached);
      if (value < 0) most = most == 0 ? t.bound - reached : std::min(most, t.bound - reached);
    }
    text_.insert(text_.end(), {sum, any_open ? reached : 0, least, most});
  }
  const XXH128_hash_t digest = XXH3_128bits(text_.data(), text_.size() * sizeof(int64_t));
  return {digest.low64, digest.high64};
}

}  // namespace xlog::solve
