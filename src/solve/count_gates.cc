#include "solve/count_gates.h"

#include <algorithm>

namespace xlog::solve {
namespace {

constexpr uint32_t kNone = UINT32_MAX;
constexpr uint32_t variable_at(uint32_t slot) { return (slot + 1) / 2; }
constexpr uint32_t negated(uint32_t slot) { return slot & 1 ? slot + 1 : slot - 1; }

class GateFinder {
 public:
  GateFinder(const CountFormula& formula, const CountTrail& trail, const std::vector<bool>& kept)
      : formula_(formula),
        trail_(trail),
        kept_(kept),
        variables_(static_cast<size_t>(formula.variables()) + 1) {
    read_clauses();
    found_.is_output.assign(variables_, false);
  }

  CountGates run() {
    index_pairs();
    find_candidates();
    break_circles();
    emit();
    return std::move(found_);
  }

 private:
  struct Candidate {
    uint32_t clause = kNone;  // in clauses_
    uint32_t output = 0;
  };

  void read_clauses() {
    std::vector<uint32_t> open;
    for (size_t c = 0; c < formula_.clauses.size(); ++c) {
      const std::span<const Literal> clause = formula_.clauses[c];
      if (std::ranges::any_of(clause, [&](Literal l) { return trail_.value(l) > 0; })) continue;
      open.clear();
      for (const Literal l : clause) {
        if (trail_.value(l) == 0) open.push_back(static_cast<uint32_t>(slot(l)));
      }
      std::ranges::sort(open);
      open.erase(std::ranges::unique(open).begin(), open.end());
      const auto both = [](uint32_t a, uint32_t b) { return variable_at(a) == variable_at(b); };
      if (std::ranges::adjacent_find(open, both) != open.end()) continue;
      if (open.size() == 2) {
        pairs_.emplace_back(open[0], open[1]);
      } else {
        clauses_.items.insert(clauses_.items.end(), open.begin(), open.end());
        clauses_.close();
      }
    }
    std::ranges::sort(pairs_);
    pairs_.erase(std::ranges::unique(pairs_).begin(), pairs_.end());
  }

  void index_pairs() {
    pairs_with_.assign(2 * variables_, 0);
    for (const auto& [a, b] : pairs_) {
      ++pairs_with_[a];
      ++pairs_with_[b];
    }
  }

  size_t find_pair(uint32_t a, uint32_t b) const {
    const std::pair pair(std::min(a, b), std::max(a, b));
    const auto found = std::ranges::lower_bound(pairs_, pair);
    return found != pairs_.end() && *found == pair ? static_cast<size_t>(found - pairs_.begin())
                                                   : SIZE_MAX;
  }
  bool is_kept(size_t v) const { return v < kept_.size() && kept_[v]; }
  bool may_be_part(uint32_t s) const {
    return !formula_.is_derived(static_cast<int32_t>(variable_at(s)));
  }

  // o | -a | -b | -c with -o | a, -o | b and -o | c makes o the conjunction of a, b and c.
  bool defines(uint32_t clause, uint32_t output) const {
    const std::span<const uint32_t> slots = clauses_[clause];
    if (pairs_with_[negated(output)] + 1 < slots.size()) return false;
    return std::ranges::all_of(slots, [&](uint32_t s) {
      return s == output || find_pair(negated(output), negated(s)) != SIZE_MAX;
    });
  }

  void find_candidates() {
    gate_of_.resize(variables_);
    sum_of_.assign(variables_, kNone);
    for (uint32_t c = 0; c < clauses_.size(); ++c) {
      if (!std::ranges::all_of(clauses_[c], [&](uint32_t s) { return may_be_part(s); })) continue;
      for (const uint32_t output : clauses_[c]) {
        Candidate& candidate = gate_of_[variable_at(output)];
        if (is_kept(variable_at(output)) || candidate.clause != kNone) continue;
        if (defines(c, output)) candidate = {c, output};
      }
    }
    for (uint32_t s = 0; s < formula_.sums.size(); ++s) {
      for (const CountSum::Threshold& t : formula_.sums[s].thresholds) {
        const auto v = static_cast<size_t>(variable_of(t.holds));
        const bool may = trail_.value(t.holds) == 0 && !is_kept(v) &&
                         may_be_part(static_cast<uint32_t>(slot(t.holds)));
        if (may && gate_of_[v].clause == kNone) {
          // One that is compared twice is defined by neither.
          sum_of_[v] = sum_of_[v] == kNone ? s : kNone - 1;
        }
      }
    }
    for (uint32_t& s : sum_of_) s = s == kNone - 1 ? kNone : s;
  }

  bool is_candidate(size_t v) const { return gate_of_[v].clause != kNone || sum_of_[v] != kNone; }

  void inputs_of(size_t v, std::vector<uint32_t>& inputs) const {
    inputs.clear();
    if (gate_of_[v].clause != kNone) {
      for (const uint32_t s : clauses_[gate_of_[v].clause]) {
        if (variable_at(s) != v) inputs.push_back(variable_at(s));
      }
    } else if (sum_of_[v] != kNone) {
      for (const WeightedLiteral& t : formula_.sums[sum_of_[v]].terms) {
        inputs.push_back(static_cast<uint32_t>(variable_of(t.literal)));
      }
    }
  }

  // Depth first; a definition that needs what is under way is none.
  void break_circles() {
    enum : uint8_t { kNew, kUnderWay, kDone };
    struct Frame {
      size_t variable = 0;
      size_t next = 0;
      std::vector<uint32_t> inputs = {};
    };
    std::vector<uint8_t> state(variables_, kNew);
    std::vector<Frame> frames;
    const auto enter = [&](size_t v) {
      state[v] = kUnderWay;
      inputs_of(v, frames.emplace_back(Frame{v}).inputs);
    };
    for (size_t v = 1; v < variables_; ++v) {
      if (state[v] != kNew || !is_candidate(v)) continue;
      enter(v);
      while (!frames.empty()) {
        Frame& frame = frames.back();
        if (frame.next == frame.inputs.size()) {
          state[frame.variable] = kDone;
          frames.pop_back();
          continue;
        }
        const size_t input = frame.inputs[frame.next++];
        if (state[input] == kUnderWay) {
          gate_of_[frame.variable] = {};
          sum_of_[frame.variable] = kNone;
          frame.next = frame.inputs.size();
        } else if (state[input] == kNew && is_candidate(input)) {
          enter(input);
        }
      }
    }
  }

  void emit() {
    std::vector<bool> clause_used(clauses_.size(), false);
    std::vector<bool> pair_used(pairs_.size(), false);
    for (size_t v = 1; v < gate_of_.size(); ++v) {
      if (is_candidate(v)) found_.is_output[v] = true;
      const auto [clause, output] = gate_of_[v];
      if (clause == kNone) continue;
      clause_used[clause] = true;
      found_.gates.items.push_back(output);
      for (const uint32_t s : clauses_[clause]) {
        if (s == output) continue;
        found_.gates.items.push_back(negated(s));
        pair_used[find_pair(negated(output), negated(s))] = true;
      }
      found_.gates.close();
    }
    for (uint32_t c = 0; c < clauses_.size(); ++c) {
      if (clause_used[c]) continue;
      found_.clauses.items.insert(found_.clauses.items.end(), clauses_[c].begin(),
                                  clauses_[c].end());
      found_.clauses.close();
    }
    for (size_t p = 0; p < pairs_.size(); ++p) {
      if (!pair_used[p]) found_.pairs.push_back(pairs_[p]);
    }
  }

  const CountFormula& formula_;
  const CountTrail& trail_;
  const std::vector<bool>& kept_;
  const size_t variables_;
  CountLists clauses_;
  std::vector<std::pair<uint32_t, uint32_t>> pairs_;  // ascending
  std::vector<uint32_t> pairs_with_;                  // by slot
  std::vector<Candidate> gate_of_;                    // by variable
  std::vector<uint32_t> sum_of_;                      // by variable
  CountGates found_;
};

}  // namespace

CountGates find_gates(const CountFormula& formula, const CountTrail& trail,
                      const std::vector<bool>& kept) {
  return GateFinder(formula, trail, kept).run();
}

}  // namespace xlog::solve
