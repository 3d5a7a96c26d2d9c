#include "relation/sweep_kernel.h"

#include <functional>

namespace xlog::relation {

using kernel::Fold;

// ---- steps ----

StepsKernel::StepsKernel(kernel::Graph& graph, const lang::Program& program,
                         const std::vector<CarriedRule>& rules, size_t carried,
                         const RelationOf& relation_of, lang::PredId into, bool fills)
    : k_(graph, fills ? "carry_steps" : "carry_step_count"),
      rules_(static_cast<uint32_t>(rules.size())),
      fills_(fills) {
  instances_ = k_.val(Type::U32, "instances");
  nodes_ = k_.val(Type::U32, "nodes");
  if (fills_) {
    places_ = k_.in(Type::U32, "places");
    ends_ = k_.race(Type::U32, "ends");
    sources_ = k_.out(Type::U32, "sources");
  } else {
    total_ = k_.acc(Type::U64, "total");
    sizes_ = k_.acc(Type::U32, "sizes");
    waits_ = k_.acc(Type::U32, "waits");
  }
  code_.emplace(k_, program, rules, carried, relation_of, into, kernel::Mode::In);
}

kernel::Id StepsKernel::build() {
  const Value instance = k_.grid(instances_);
  const Value zero = k_.u32(0), one = k_.u32(1);
  const kernel::Buffer found = k_.private_array(Type::U64, 1);
  k_.store(found, zero, k_.number(Type::U64, 0));
  code_->begin(instance);
  const Value times = (nodes_ - instance + instances_ - 1) / instances_;
  k_.for_range(zero, times, [&](Value t) {
    const Value node = instance + t * instances_;
    code_->follow(node, [&](uint32_t rule, Value next) {
      k_.if_then(next != node, [&] {
        if (fills_) {
          const Value list = places_[next] * rules_ + rule;
          k_.store(sources_, k_.atomic(Fold::Add, ends_, list, one), node);
        } else {
          k_.store(found, zero, found[zero] + 1);
          k_.atomic(Fold::Add, sizes_, next * rules_ + rule, one);
          k_.atomic(Fold::Add, waits_, next, one);
        }
      });
    });
  });
  code_->end();
  if (!fills_) k_.atomic(Fold::Add, total_, zero, found[zero]);
  return k_.finish();
}

// ---- levels ----

LevelsKernel::LevelsKernel(kernel::Graph& graph, const lang::Program& program,
                           const std::vector<CarriedRule>& rules, size_t carried,
                           const RelationOf& relation_of, lang::PredId into, uint32_t lanes)
    : k_(graph, "carry_levels", lanes), rules_(static_cast<uint32_t>(rules.size())), lanes_(lanes) {
  nodes_ = k_.val(Type::U32, "nodes");
  most_ = k_.val(Type::U32, "most");
  state_ = k_.race(Type::U32, "state");
  sizes_ = k_.in(Type::U32, "sizes");
  waits_ = k_.race(Type::U32, "waits");
  order_ = k_.race(Type::U32, "order");
  places_ = k_.out(Type::U32, "places");
  met_ = k_.race(Type::U32, "met");
  starts_ = k_.own(Type::U32, "starts");
  code_.emplace(k_, program, rules, carried, relation_of, into, kernel::Mode::In);
}

kernel::Id LevelsKernel::build() {
  k_.group(k_.u32(1));
  lane_ = k_.lane();
  zero_ = k_.u32(0);
  now_ = k_.local(Type::U32, kLevelState);
  code_->begin(lane_);
  tell();
  k_.if_then(now_[kBegun] == 0, [&] { find_roots(); });
  const auto more = [&] { return now_[kPlacedNodes] < nodes_; };
  k_.loop(most_, more(), {}, [&](Value t, const Values&) -> std::pair<Value, Values> {
    k_.if_then(
        now_[kLevelBegin] < now_[kPlacedNodes], [&] { visit_level(); }, [&] { break_cycles(); });
    return {more() & (t + 1 < most_), {}};
  });
  code_->end();
  k_.if_then((now_[kPlacedNodes] == nodes_) & (lane_ == 0), [&] {
    finish_level();
    k_.store(starts_, now_[kLevel] + 1, nodes_);
    keep(kLevel, now_[kLevel] + 1);
  });
  return k_.finish();
}

void LevelsKernel::share(Value count, const std::function<void(Value)>& visit) {
  k_.for_range(zero_, (count + (lanes_ - 1)) / lanes_, [&](Value t) {
    const Value i = t * lanes_ + lane_;
    k_.if_then(i < count, [&] { visit(i); });
  });
}

// All lanes have come; what they have done is known to each.
void LevelsKernel::tell() {
  k_.barrier();
  k_.if_then(lane_ == 0, [&] {
    for (uint32_t i = 0; i < kLevelState; ++i) k_.store(now_, k_.u32(i), state_[i]);
  });
  k_.barrier();
}

void LevelsKernel::keep(LevelState state, Value value) { k_.store(state_, k_.u32(state), value); }

void LevelsKernel::place(Value node) {
  const Value at = k_.atomic(Fold::Add, state_, k_.u32(kPlacedNodes), k_.u32(1));
  k_.store(order_, at, node);
  k_.store(places_, node, at);
}

void LevelsKernel::find_roots() {
  share(nodes_, [&](Value node) { k_.if_then(waits_[node] == 0, [&] { place(node); }); });
  k_.if_then(lane_ == 0, [&] { keep(kBegun, k_.u32(1)); });
  tell();
}

void LevelsKernel::finish_level() { k_.store(starts_, now_[kLevel], now_[kLevelBegin]); }

void LevelsKernel::visit_level() {
  const Value begin = now_[kLevelBegin], end = now_[kPlacedNodes];
  share(end - begin, [&](Value i) {
    const Value node = order_[begin + i];
    code_->follow(node,
                  [&](uint32_t, Value next) { k_.if_then(next != node, [&] { meet(next); }); });
  });
  k_.if_then(lane_ == 0, [&] {
    finish_level();
    keep(kLevel, now_[kLevel] + 1);
    keep(kLevelBegin, end);
  });
  tell();
}

// One less of those that lead to a node has no place. A node at which a cycle was broken counts on
// below zero.
void LevelsKernel::meet(Value node) {
  const Value waited = k_.atomic(Fold::Add, waits_, node, k_.u32(UINT32_MAX));
  Value all = zero_;
  for (uint32_t r = 0; r < rules_; ++r) all = all + sizes_[node * rules_ + r];
  k_.if_then(
      waited == 1, [&] { place(node); },
      [&] {
        k_.if_then(waited == all, [&] {
          k_.store(met_, k_.atomic(Fold::Add, state_, k_.u32(kMet), k_.u32(1)), node);
        });
      });
}

void LevelsKernel::break_cycles() {
  const Value takes_met = now_[kMetTaken] < now_[kMet];
  const Value from = k_.select(takes_met, now_[kMetTaken], now_[kRootTaken]);
  const Value last = k_.select(takes_met, now_[kMet], nodes_);
  const Value wanted = k_.u32(1) << k_.min(now_[kBroken], k_.u32(kWordBits - 1));
  const Value count = k_.min(wanted, last - from);
  share(count, [&](Value i) {
    const kernel::Buffer node = k_.private_array(Type::U32, 1);
    k_.store(node, zero_, from + i);
    k_.if_then(takes_met, [&] { k_.store(node, zero_, met_[from + i]); });
    const Value waits_for = waits_[node[zero_]];
    k_.if_then((zero_ < waits_for) & (waits_for < k_.u32(1u << (kWordBits - 1))), [&] {
      k_.store(waits_, node[zero_], zero_);
      place(node[zero_]);
    });
  });
  k_.if_then(lane_ == 0, [&] {
    keep(kBroken, now_[kBroken] + 1);
    k_.if_then(
        takes_met, [&] { keep(kMetTaken, from + count); }, [&] { keep(kRootTaken, from + count); });
  });
  tell();
}

// ---- rows ----

SweepKernel::SweepKernel(kernel::Graph& graph, size_t rules, const Relation& relation,
                         uint32_t lanes)
    : k_(graph, "carry_sweep", lanes), rules_(static_cast<uint32_t>(rules)), lanes_(lanes) {
  groups_ = k_.val(Type::U32, "groups");
  first_block_ = k_.val(Type::U32, "first_block");
  line_ = k_.val(Type::U32, "line");
  levels_ = k_.val(Type::U32, "levels");
  most_ = k_.val(Type::U32, "most");
  state_ = k_.own(Type::U32, "state");
  order_ = k_.in(Type::U32, "order");
  starts_ = k_.in(Type::U32, "starts");
  ends_ = k_.in(Type::U32, "ends");
  sources_ = k_.in(Type::U32, "sources");
  added_ = k_.acc(Type::U64, "added");
  set_ = declare_set(k_, relation.set_shape(), relation.types(), kernel::Mode::Race);
}

kernel::Id SweepKernel::build() {
  const Value g = k_.group(groups_);
  lane_ = k_.lane();
  zero_ = k_.u32(0);
  in_line_ = (first_block_ + g) * kSweepWords + lane_ % kSweepWords;
  changed_ = k_.private_array(Type::U32, 1);
  found_ = k_.private_array(Type::U32, rules_);
  for (uint32_t r = 0; r < rules_; ++r) k_.store(found_, k_.u32(r), zero_);
  const kernel::Buffer times = k_.local(Type::U32, 1);
  k_.if_then(lane_ == 0, [&] { k_.store(times, zero_, state_[first_block_ + g]); });
  k_.barrier();
  const Value before = times[zero_];
  k_.if_then(before != kSwept, [&] {
    const Values last = k_.loop(most_, k_.boolean(true), {k_.u32(1)},
                                [&](Value t, const Values&) -> std::pair<Value, Values> {
                                  go_through(before + t);
                                  const Value changed = k_.greduce(Fold::Max, changed_[zero_]);
                                  return {(changed != 0) & (t + 1 < most_), {changed}};
                                });
    k_.if_then(lane_ == 0, [&] {
      k_.store(state_, first_block_ + g, k_.select(last[0] == 0, k_.u32(kSwept), before + most_));
    });
    for (uint32_t r = 0; r < rules_; ++r) {
      const Value all = k_.greduce(Fold::Add, k_.cast(Type::U64, found_[r]));
      k_.if_then(lane_ == 0, [&] { k_.atomic(Fold::Add, added_, k_.u32(r), all); });
    }
  });
  return k_.finish();
}

// Every other time from the last level to the first: what leads back comes along then.
void SweepKernel::go_through(Value time) {
  const uint32_t at_once = lanes_ / kSweepWords;  // nodes
  const Value slot = lane_ / kSweepWords;
  const Value forward = (time & 1) == 0;
  k_.store(changed_, zero_, zero_);
  k_.for_range(zero_, levels_, [&](Value l) {
    const Value level = k_.select(forward, l, levels_ - 1 - l);
    const Value begin = starts_[level], end = starts_[level + 1];
    k_.for_range(zero_, (end - begin + (at_once - 1)) / at_once, [&](Value t) {
      const Value place = begin + t * at_once + slot;
      k_.if_then(place < end, [&] { take(place); });
    });
    k_.barrier();
  });
}

// A few nodes are read at once, the last one again where there are fewer: what one has is not
// waited for before the next is asked.
void SweepKernel::take(Value place) {
  constexpr uint32_t kAtOnce = 4;
  const Value to = order_[place] * line_ + in_line_;
  const Value before = set_.cells[to];
  Value now = before;
  for (uint32_t r = 0; r < rules_; ++r) {
    const Value list = place * rules_ + r;
    const Value begin = k_.select(list == 0, zero_, ends_[k_.max(list, k_.u32(1)) - 1]);
    const Value end = ends_[list];
    const Values all =
        k_.for_range(zero_, (end - begin + (kAtOnce - 1)) / kAtOnce, {now},
                     [&](Value t, const Values& carried) -> Values {
                       Values words;
                       for (uint32_t i = 0; i < kAtOnce; ++i) {
                         const Value from = sources_[k_.min(begin + t * kAtOnce + i, end - 1)];
                         words.push_back(set_.cells[from * line_ + in_line_]);
                       }
                       return {carried[0] | (words[0] | words[1]) | (words[2] | words[3])};
                     });
    k_.store(found_, k_.u32(r), found_[r] + k_.popc(all[0] ^ now));
    now = all[0];
  }
  k_.if_then(now != before, [&] {
    k_.store(set_.cells, to, now);
    k_.store(changed_, zero_, k_.u32(1));
  });
}

}  // namespace xlog::relation
