#include "relation/group_kernel.h"

namespace xlog::relation {

using kernel::Buffer;
using kernel::Fold;

GroupKernel::GroupKernel(kernel::Graph& graph, const lang::Program& program,
                         const plan::Pipeline& pipeline, const std::vector<lang::Term>& head,
                         const RelationOf& relation_of, const Options& options)
    : k_(graph, "derive_by_groups", kGroupLanes), head_(head) {
  groups_ = k_.val(Type::U32, "groups");
  first_ = k_.val(Type::U32, "first");
  last_ = k_.val(Type::U32, "last");
  tile_ = k_.val(Type::U32, "tile");
  room_ = k_.val(Type::U32, "room");
  again_ = k_.val(Type::Bool, "again");
  done_ = k_.own(Type::U32, "done");
  counters_ = k_.race(Type::U32, "counters");
  total_ = k_.acc(Type::U64, "total");
  mishaps_ = k_.acc(Type::U32, "mishaps");
  for (Type type : options.types) out_.push_back(k_.out(type, "out"));
  if (options.claims) {
    const Relation& relation = relation_of(*options.claims);
    claimed_ = ClaimedSet{*options.claims,
                          declare_set(k_, relation.set_shape(), options.types, kernel::Mode::Race)};
  }
  told_ = k_.local(Type::U32, kGroupCounters);
  code_.emplace(k_, program, pipeline, head, relation_of, *options.marks, claimed_);
}

kernel::Id GroupKernel::build() {
  const Value g = k_.group(groups_);
  lane_ = k_.lane();
  zero_ = k_.u32(0);
  found_ = k_.private_array(Type::U64, 1);
  stopped_ = k_.private_array(Type::Bool, 1);
  k_.store(found_, zero_, k_.number(Type::U64, 0));
  k_.store(stopped_, zero_, k_.boolean(false));
  // One lane looks: whether the tile is done, and whether there is room for more.
  const Buffer is_open = k_.local(Type::U32, 1);
  k_.if_then(lane_ == 0, [&] {
    k_.store(is_open, zero_, k_.u32(1));
    k_.if_then(again_, [&] { k_.store(is_open, zero_, k_.u32(1) - done_[g]); });
    if (!claimed_) return;
    k_.if_then((is_open[zero_] != 0) & (room_ <= counters_[k_.u32(kPlaced)]), [&] {
      k_.store(is_open, zero_, zero_);
      k_.atomic(Fold::Add, counters_, k_.u32(kStopped), k_.u32(1));
    });
  });
  k_.barrier();
  k_.if_then(is_open[zero_] != 0, [&] {
    const Value begin = first_ + g * tile_;
    const Value active = (lane_ < tile_) & (lane_ < last_ - begin);
    // Idle lanes look at a row that is there.
    const Value row = k_.select(active, begin + lane_, begin);
    code_->run_driver(
        row, active,
        {[&](const Slots& slots, Value passed) { emit(slots, passed); }, [&] { flush(); },
         [&] { count_mishap(kValueless); }, [&] { count_mishap(kTooLong); }});
    if (!claimed_) {
      const Value all = k_.greduce(Fold::Add, found_[zero_]);
      k_.if_then(lane_ == 0, [&] { k_.atomic(Fold::Add, total_, zero_, all); });
    }
    if (claimed_ && claimed_->set.kind == SetKind::Compact) tell_if_crowded();
    k_.if_then(lane_ == 0, [&] {
      k_.if_then(
          stopped_[zero_], [&] { k_.atomic(Fold::Add, counters_, k_.u32(kStopped), k_.u32(1)); },
          [&] { k_.store(done_, g, k_.u32(1)); });
    });
  });
  return k_.finish();
}

void GroupKernel::emit(const Slots& slots, Value active) {
  if (out_.empty()) {
    return k_.store(found_, zero_, found_[zero_] + k_.cast(Type::U64, active));
  }
  Values row;
  for (const lang::Term& term : head_) {
    const TermCode value = term_code(k_, term, slots);
    if (value.exists) {
      k_.if_then(active & !*value.exists, [&] { count_mishap(kValueless); });
      active = active & *value.exists;
    }
    row.push_back(value.value);
  }
  if (row.size() < out_.size()) row.push_back(zero_);  // a relation without columns
  pending_.push_back({std::move(row), active});
}

void GroupKernel::count_mishap(Mishap mishap) {
  k_.atomic(Fold::Add, mishaps_, k_.u32(mishap), k_.u32(1));
}

void GroupKernel::flush() {
  if (!pending_.empty()) claimed_ ? claim_and_place() : place();
  pending_.clear();
}

Value GroupKernel::add(GroupCounter counter, Value amount) {
  const Value at = k_.u32(counter);
  k_.if_then(lane_ == 0, [&] { k_.store(told_, at, k_.atomic(Fold::Add, counters_, at, amount)); });
  k_.barrier();
  return told_[at];
}

void GroupKernel::store_row(const Values& row, Value at, Value active) {
  k_.if_then(active, [&] {
    for (size_t j = 0; j < row.size(); ++j) k_.store(out_[j], at, row[j]);
  });
}

// Puts the pending rows into the set: which are new, and how many of this lane.
Value GroupKernel::claim(Values& is_new) {
  Value fresh = zero_;
  for (const Pending& pending : pending_) {
    const Buffer claimed = k_.private_array(Type::Bool, 1);
    k_.store(claimed, zero_, k_.boolean(false));
    k_.if_then(pending.active,
               [&] { k_.store(claimed, zero_, claim_row(k_, claimed_->set, pending.row)); });
    is_new.push_back(claimed[zero_]);
    fresh = fresh + k_.cast(Type::U32, is_new.back());
  }
  return fresh;
}

void GroupKernel::store_new(const Values& is_new, Value at) {
  for (size_t p = 0; p < pending_.size(); ++p) {
    store_row(pending_[p].row, at, is_new[p]);
    at = at + k_.cast(Type::U32, is_new[p]);
  }
}

void GroupKernel::stop() { k_.store(stopped_, zero_, k_.boolean(true)); }

// The set itself knows; the host reads the counters anyway.
void GroupKernel::tell_if_crowded() {
  k_.barrier();
  k_.if_then(lane_ == 0, [&] {
    const Buffer& cells = claimed_->set.cells;
    const Value crowded = k_.atomic(Fold::Or, cells, k_.len(cells) - 1, zero_);
    k_.if_then(crowded != 0, [&] { k_.atomic(Fold::Max, counters_, k_.u32(kCrowded), k_.u32(1)); });
  });
}

void GroupKernel::place_or_take_back() {
  for (Pending& pending : pending_) pending.active = pending.active & !stopped_[zero_];
  Values is_new;
  const Value fresh = claim(is_new);
  const Value before = k_.gscan(Fold::Add, fresh);
  const Value all = k_.greduce(Fold::Add, fresh);
  k_.if_then(all != 0, [&] {
    const Value first = add(kPlaced, all);
    k_.if_then(
        first + all <= room_, [&] { store_new(is_new, first + before); },
        [&] {
          stop();
          for (size_t p = 0; p < pending_.size(); ++p) {
            k_.if_then(is_new[p], [&] { take_back(k_, claimed_->set, pending_[p].row); });
          }
          k_.if_then(lane_ == 0, [&] {
            k_.atomic(Fold::Max, counters_, k_.u32(kEnd), k_.u32(UINT32_MAX) - first);
          });
        });
  });
}

void GroupKernel::claim_and_place() {
  if (claimed_->set.kind == SetKind::Bits) return place_or_take_back();
  Value mine = zero_;
  for (Pending& pending : pending_) {
    pending.active = pending.active & !stopped_[zero_];
    mine = mine + k_.cast(Type::U32, pending.active);
  }
  const Value asked = k_.greduce(Fold::Add, mine);
  k_.if_then(asked != 0, [&] {
    const Value reserved = add(kReserved, asked);
    k_.if_then(
        reserved + asked <= room_,
        [&] {
          Values is_new;
          const Value fresh = claim(is_new);
          const Value before = k_.gscan(Fold::Add, fresh);
          const Value all = k_.greduce(Fold::Add, fresh);
          const Value first = add(kPlaced, all);
          k_.if_then(lane_ == 0,
                     [&] { k_.atomic(Fold::Add, counters_, k_.u32(kReserved), all - asked); });
          store_new(is_new, first + before);
        },
        [&] {
          stop();
          k_.if_then(lane_ == 0,
                     [&] { k_.atomic(Fold::Add, counters_, k_.u32(kReserved), zero_ - asked); });
        });
  });
}

void GroupKernel::place() {
  Value mine = zero_;
  for (const Pending& pending : pending_) mine = mine + k_.cast(Type::U32, pending.active);
  k_.store(found_, zero_, found_[zero_] + k_.cast(Type::U64, mine));
  const Value before = k_.gscan(Fold::Add, mine);
  const Value count = k_.greduce(Fold::Add, mine);
  k_.if_then(count != 0, [&] {
    Value at = add(kPlaced, count) + before;
    for (const Pending& pending : pending_) {
      store_row(pending.row, at, pending.active & (at < room_));
      at = at + k_.cast(Type::U32, pending.active);
    }
  });
}

}  // namespace xlog::relation
