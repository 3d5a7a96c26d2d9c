#include "relation/derive_kernel.h"

namespace xlog::relation {

using kernel::Buffer;

namespace {

// So many rows are found while the cells of those before them come from memory (Chen et al.,
// "Improving hash join performance through prefetching", 2004).
constexpr uint32_t kMostWaiting = 16;

}  // namespace

DeriveKernel::DeriveKernel(kernel::Graph& graph, const lang::Program& program,
                           const plan::Pipeline& pipeline, const std::vector<lang::Term>& head,
                           const RelationOf& relation_of, const Options& options)
    : k_(graph, "derive"), head_(head), options_(options) {
  instances_ = k_.val(Type::U32, "instances");
  length_ = k_.val(Type::U32, "length");
  if (options.takes_own_rows) {
    first_ = k_.val(Type::U32, "first");
    last_ = k_.val(Type::U32, "last");
  }
  region_ = k_.val(Type::U32, "region");
  (options.takes_own_rows ? most_ : budget_) = k_.val(Type::U32, "most");
  state_ = k_.own(Type::U32, "state");
  mishaps_ = k_.acc(Type::U32, "mishaps");
  for (Type type : options.types) {
    out_.push_back(options.takes_own_rows ? k_.own(type, "out") : k_.out(type, "out"));
  }
  if (options.claims) {
    const Relation& relation = relation_of(*options.claims);
    claimed_ = ClaimedSet{*options.claims,
                          declare_set(k_, relation.set_shape(), options.types, kernel::Mode::Race)};
  }
  code_.emplace(k_, program, pipeline, relation_of, *options.marks, claimed_);
}

kernel::Id DeriveKernel::build() {
  c_ = k_.grid(instances_);
  zero_ = k_.u32(0);
  base_ = c_ * region_;
  filled_ = k_.private_array(Type::U32, 1);
  added_ = k_.private_array(Type::U32, 1);
  full_ = k_.private_array(Type::Bool, 1);
  k_.store(filled_, zero_, options_.keeps_rows ? zero_ : state_[state_of(kChunkFilled)]);
  k_.store(added_, zero_, zero_);
  k_.store(full_, zero_, k_.boolean(false));
  if (options_.claims_late) {
    for (Type type : options_.types) waiting_.push_back(k_.private_array(type, kMostWaiting));
    waits_ = k_.private_array(Type::U32, 1);
    k_.store(waits_, zero_, zero_);
  }
  code_->begin(c_);
  options_.takes_own_rows ? walk_own_rows() : walk_piece();
  code_->end();
  return k_.finish();
}

// What comes after an instance has stopped is done again.
void DeriveKernel::count_mishap(Mishap mishap) {
  const auto add = [&] { k_.atomic(kernel::Fold::Add, mishaps_, k_.u32(mishap), k_.u32(1)); };
  cut_ ? k_.if_then(!cut_->stopped(), add) : add();
}

void DeriveKernel::store_row(const Values& row) {
  const Value place = filled_[zero_];
  for (size_t j = 0; j < row.size(); ++j) k_.store(out_[j], base_ + place, row[j]);
  k_.store(filled_, zero_, place + 1);
}

void DeriveKernel::claim(const Values& row) {
  k_.if_then(claim_row(k_, claimed_->set, row), [&] {
    store_row(row);
    k_.store(added_, zero_, added_[zero_] + 1);
  });
}

// Each row that waits may be new and want room.
void DeriveKernel::claim_later(const Values& row, Value room) {
  const Value waits = waits_[zero_];
  k_.if_then((waits == kMostWaiting) | (filled_[zero_] + waits >= room), [&] { claim_waiting(); });
  k_.if_then(
      filled_[zero_] < room,
      [&] {
        prefetch_row(k_, claimed_->set, row);
        const Value place = waits_[zero_];
        for (size_t j = 0; j < row.size(); ++j) k_.store(waiting_[j], place, row[j]);
        k_.store(waits_, zero_, place + 1);
      },
      [&] { refuse(); });
}

void DeriveKernel::claim_waiting() {
  k_.for_range(zero_, waits_[zero_], [&](Value j) {
    Values row;
    for (const Buffer& column : waiting_) row.push_back(column[j]);
    claim(row);
  });
  k_.store(waits_, zero_, zero_);
}

PipelineCode::Sink DeriveKernel::sink() {
  PipelineCode::Sink sink{[&](const Slots& slots) { emit(slots); },
                          [&] { count_mishap(kValueless); },
                          [&] { count_mishap(kTooLong); },
                          {}};
  if (out_.empty()) sink.count = [&](Value bindings) { count(bindings); };
  return sink;
}

// There is no room.
void DeriveKernel::refuse() {
  if (cut_) return cut_->stop();
  k_.store(full_, zero_, k_.boolean(true));
}

void DeriveKernel::count(Value bindings) {
  const Value filled = filled_[zero_];
  k_.if_then((bindings <= region_ - filled) & !cut_->stopped(),
             [&] { k_.store(filled_, zero_, filled + bindings); }, [&] { refuse(); });
}

// A binding that has passed all steps.
void DeriveKernel::emit(const Slots& slots) {
  Values row;
  std::optional<Value> exists;
  for (const lang::Term& term : head_) {
    const TermCode value = term_code(k_, term, slots);
    if (value.exists) exists = exists ? *exists & *value.exists : *value.exists;
    row.push_back(value.value);
  }
  if (row.size() < out_.size()) row.push_back(zero_);  // a relation without columns
  auto keep = [&] {
    // A stack keeps one place free, for the row that it stops at.
    const Value room = options_.keeps_rows ? region_ : region_ - 1;
    if (options_.claims_late) return claim_later(row, room);
    k_.if_then(
        filled_[zero_] < room, [&] { claimed_ ? claim(row) : store_row(row); }, [&] { refuse(); });
  };
  if (!exists) return keep();
  k_.if_then(*exists, keep, [&] { count_mishap(kValueless); });
}

void DeriveKernel::walk_piece() {
  const Value place = c_ * Pieces(options_.loops).width();
  cut_.emplace(k_, state_, place, length_, budget_, options_.loops);
  code_->cut_loops(*cut_);
  cut_->begin();
  const auto run = [&](const Values& row) { code_->run(row, sink()); };
  cut_->enter(0);
  cut_->walk(0, {zero_, k_.u32(UINT32_MAX)}, [&](Value at) {
    if (const SetCode* bits = code_->driver_bits()) return walk_bits(*bits, at, run);
    Values row;
    if (code_->drives_range()) row.push_back(at);
    for (const Buffer& column : code_->driver_columns()) row.push_back(column[at]);
    // Whoever found the only row there can be.
    if (!options_.ends_with_one_row) return run(row);
    k_.if_then(!find_row(k_, claimed_->set, {zero_}), [&] { run(row); });
  });
  cut_->leave(0);
  if (options_.claims_late) claim_waiting();
  cut_->end();
  k_.store(state_, place + k_.u32(kPieceFilled), filled_[zero_]);
  k_.store(state_, place + k_.u32(kPieceNew), added_[zero_]);
}

// The bits of a word are a loop of their own.
void DeriveKernel::walk_bits(const SetCode& bits, Value at,
                             const std::function<void(const Values& row)>& run) {
  const BitWord word = code_->driver_word(at);
  k_.if_then(word.bits != 0, [&] {
    cut_->enter(1);
    cut_->part(1, {zero_, k_.u32(kWordBits)}, [&](kernel::Range here, const LoopCut::NumberOf&) {
      // Bits lo .. hi of the word; a shift by all of its width is none.
      const auto below = [&](Value bit) {
        return k_.select(bit == kWordBits, k_.u32(UINT32_MAX), (k_.u32(1) << (bit & 31)) - 1);
      };
      const Value wanted = word.bits & below(here.hi) & (below(here.lo) ^ UINT32_MAX);
      for_each_bit(k_, bits, word.word, wanted, [&](const Values& row) {
        const Value number = row[bits.order.back()] & (kWordBits - 1);
        cut_->item(1, k_.cast(Type::U32, number), [&] { run(row); });
      });
    });
    cut_->leave(1);
  });
}

// A row of the region, or of the driver.
Values DeriveKernel::row_of(Value in_region, Value at, Value own) {
  Values row;
  const kernel::Columns& columns = code_->driver_columns();
  for (size_t j = 0; j < columns.size(); ++j) {
    const Buffer loaded = k_.private_array(columns[j].type(), 1);
    k_.if_then(
        in_region, [&] { k_.store(loaded, zero_, out_[j][base_ + own]); },
        [&] { k_.store(loaded, zero_, columns[j][at]); });
    row.push_back(loaded[zero_]);
  }
  return row;
}

// Its own rows come first, so that few of them wait at a time.
void DeriveKernel::walk_own_rows() {
  const Value from = state_[state_of(kChunkRow)];
  const Value to = first_ + k_.min(last_ - first_, (c_ + 1) * length_);
  const Value waits = zero_ < filled_[zero_];
  const Values end = k_.loop(
      most_, (from < to) | waits, {from, zero_},
      [&](Value t, const Values& at) -> std::pair<Value, Values> {
        const Value height = filled_[zero_];
        const Value in_region = options_.keeps_rows ? at[1] < height : zero_ < height;
        const Value own = options_.keeps_rows ? at[1] : height - k_.cast(Type::U32, in_region);
        const Values row = row_of(in_region, at[0], own);
        if (!options_.keeps_rows) k_.store(filled_, zero_, own);
        const auto run = [&] { code_->run(row, sink()); };
        // What a better row has overtaken since it was put there gives nothing that counts.
        if (keeps_best(claimed_->set.kind)) {
          k_.if_then(is_best(k_, claimed_->set, row), run);
        } else {
          run();
        }
        const Value stopped = full_[zero_];
        // A row of a stack that was not done goes back.
        if (!options_.keeps_rows) k_.if_then(stopped & in_region, [&] { store_row(row); });
        const Value next = k_.select(stopped | in_region, at[0], at[0] + 1);
        const Value handled = k_.select(stopped | !in_region, at[1], at[1] + 1);
        const Value left = options_.keeps_rows ? handled < filled_[zero_] : zero_ < filled_[zero_];
        return {((next < to) | left) & !stopped & (t + 1 < most_), {next, handled}};
      });
  k_.store(state_, state_of(kChunkRow), end[0]);
  k_.store(state_, state_of(kChunkHandled), end[1]);
  k_.store(state_, state_of(kChunkFilled), filled_[zero_]);
  k_.store(state_, state_of(kChunkNew), added_[zero_]);
}

}  // namespace xlog::relation
