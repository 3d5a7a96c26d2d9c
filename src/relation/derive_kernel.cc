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
  chunks_ = k_.val(Type::U32, "chunks");
  first_chunk_ = k_.val(Type::U32, "first_chunk");
  length_ = k_.val(Type::U32, "length");
  first_ = k_.val(Type::U32, "first");
  last_ = k_.val(Type::U32, "last");
  region_ = k_.val(Type::U32, "region");
  most_ = k_.val(Type::U32, "most");
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
  const Value i = k_.grid(chunks_);
  c_ = first_chunk_ + i;
  zero_ = k_.u32(0);
  base_ = i * region_;
  from_ = state_[state_of(kRow)];
  to_ = first_ + k_.min(last_ - first_, (c_ + 1) * length_);
  filled_ = k_.private_array(Type::U32, 1);
  added_ = k_.private_array(Type::U32, 1);
  full_ = k_.private_array(Type::Bool, 1);
  k_.store(filled_, zero_, options_.keeps_rows ? zero_ : state_[state_of(kFilled)]);
  k_.store(added_, zero_, zero_);
  k_.store(full_, zero_, k_.boolean(false));
  if (options_.claims_late) {
    for (Type type : options_.types) waiting_.push_back(k_.private_array(type, kMostWaiting));
    waits_ = k_.private_array(Type::U32, 1);
    k_.store(waits_, zero_, zero_);
  }
  code_->begin(i);
  options_.takes_own_rows ? walk_own_rows() : walk_chunk();
  code_->end();
  if (options_.claims_late) claim_waiting();
  k_.store(state_, state_of(kFilled), filled_[zero_]);
  k_.store(state_, state_of(kNew), added_[zero_]);
  return k_.finish();
}

void DeriveKernel::count_mishap(Mishap mishap) {
  k_.atomic(kernel::Fold::Add, mishaps_, k_.u32(mishap), k_.u32(1));
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
      [&] { k_.store(full_, zero_, k_.boolean(true)); });
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

void DeriveKernel::count(Value bindings) {
  const Value filled = filled_[zero_];
  k_.if_then(
      bindings <= region_ - filled, [&] { k_.store(filled_, zero_, filled + bindings); },
      [&] { k_.store(full_, zero_, k_.boolean(true)); });
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
        filled_[zero_] < room, [&] { claimed_ ? claim(row) : store_row(row); },
        [&] { k_.store(full_, zero_, k_.boolean(true)); });
  };
  if (!exists) return keep();
  k_.if_then(*exists, keep, [&] { count_mishap(kValueless); });
}

// What one row of the driver gives, or one word of its bits: whether the region was full before its
// end. A bag then forgets it: the row comes again.
Value DeriveKernel::derive(const std::function<void()>& body) {
  const Value mark = filled_[zero_];
  body();
  if (!claimed_) k_.store(filled_, zero_, k_.select(full_[zero_], mark, filled_[zero_]));
  return full_[zero_];
}

void DeriveKernel::walk_chunk() {
  auto run = [&](const Values& row) { code_->run(row, sink()); };
  const Buffer next = k_.private_array(Type::U32, 1);
  k_.store(next, zero_, from_);
  // A counted loop, so that the device sees how much there is to do.
  k_.for_range(zero_, most_, [&](Value j) {
    const Value at = from_ + j;
    Value goes_on = (!full_[zero_]) & (at < to_);
    // Whoever found it.
    if (options_.ends_with_one_row) goes_on = goes_on & !find_row(k_, claimed_->set, {zero_});
    k_.if_then(goes_on, [&] {
      const Value stopped = derive([&] {
        if (const SetCode* bits = code_->driver_bits()) {
          const BitWord word = code_->driver_word(at);
          return for_each_bit(k_, *bits, word.word, word.bits, run);
        }
        Values row;
        if (code_->drives_range()) row.push_back(at);
        for (const Buffer& column : code_->driver_columns()) row.push_back(column[at]);
        run(row);
      });
      k_.store(next, zero_, k_.select(stopped, at, at + 1));
    });
  });
  k_.store(state_, state_of(kRow), next[zero_]);
  k_.store(state_, state_of(kHandled), zero_);
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
  const Value waits = zero_ < filled_[zero_];
  const Values end = k_.loop(
      most_, (from_ < to_) | waits, {from_, zero_},
      [&](Value t, const Values& at) -> std::pair<Value, Values> {
        const Value height = filled_[zero_];
        const Value in_region = options_.keeps_rows ? at[1] < height : zero_ < height;
        const Value own = options_.keeps_rows ? at[1] : height - k_.cast(Type::U32, in_region);
        const Values row = row_of(in_region, at[0], own);
        if (!options_.keeps_rows) k_.store(filled_, zero_, own);
        const Value stopped = derive([&] {
          auto run = [&] { code_->run(row, sink()); };
          // What a better row has overtaken since it was put there gives nothing that counts.
          if (!keeps_best(claimed_->set.kind)) return run();
          k_.if_then(is_best(k_, claimed_->set, row), run);
        });
        // A row of a stack that was not done goes back.
        if (!options_.keeps_rows) k_.if_then(stopped & in_region, [&] { store_row(row); });
        const Value next = k_.select(stopped | in_region, at[0], at[0] + 1);
        const Value handled = k_.select(stopped | !in_region, at[1], at[1] + 1);
        const Value left = options_.keeps_rows ? handled < filled_[zero_] : zero_ < filled_[zero_];
        return {((next < to_) | left) & !stopped & (t + 1 < most_), {next, handled}};
      });
  k_.store(state_, state_of(kRow), end[0]);
  k_.store(state_, state_of(kHandled), end[1]);
}

}  // namespace xlog::relation
