#include "solve/local_search_kernel.h"

#include "kernel/builder.h"
#include "kernel/library_hash.h"

namespace xlog::solve {

using kernel::Buffer;
using kernel::Fold;
using kernel::Id;
using kernel::KernelBuilder;
using kernel::Scalar;
using kernel::Type;
using kernel::Value;
using kernel::Values;

namespace {

// Steps of the counters behind the random numbers: odd, so that none comes twice.
constexpr uint64_t kWalkStep = 0xd1b54a32d192ed03;
constexpr uint64_t kFlipStep = 0x9e3779b97f4a7c15;

// A number that no other walk and no other counter of this one has.
Value random_number(KernelBuilder& k, Value seed, Value walk, Value counter) {
  const Value of_walk =
      kernel::hash_of(k, seed + k.cast(Type::U64, walk + 1) * k.constant(Scalar::u64(kWalkStep)));
  return kernel::hash_of(k, of_walk + counter * k.constant(Scalar::u64(kFlipStep)));
}

// One flip after another of one walk.
class WalkKernel {
 public:
  explicit WalkKernel(kernel::Graph& graph) : k_(graph, "walk") {}
  Id build();

 private:
  Value choose_literal(Value false_count, Value counter);
  Value make_true(Value literal, Value variable, Value false_count);
  Value make_false(Value literal, Value variable, Value false_count);
  void add_to(Buffer buffer, Value at, int64_t amount) {
    k_.store(buffer, at, buffer[at] + amount);
  }

  KernelBuilder k_;
  Value shift_, seed_;
  Buffer clause_starts_, literals_, occurrence_starts_, occurrences_, weights_;
  Buffer values_, words_, breaks_, false_clauses_;

  Value walk_;
  Value clauses_at_, variables_at_;  // where the walk's own cells begin
  Value one_, variable_bits_;        // a true literal in a word, and its lower bits
};

// A literal of a false clause, by the weights of the variables.
Value WalkKernel::choose_literal(Value false_count, Value counter) {
  const Value drawn = random_number(k_, seed_, walk_, counter);
  const Value which = k_.mulhi(k_.cast(Type::U32, drawn >> 32), false_count);
  const Value clause = false_clauses_[clauses_at_ + which];
  const Value begin = clause_starts_[clause];
  const Value end = clause_starts_[clause + 1];
  const auto weight_of = [&](Value literal) {
    const Value breaks = breaks_[variables_at_ + (literal >> 1)];
    return k_.cast(Type::U64, weights_[k_.min(breaks, k_.u32(kBreakWeights - 1))]);
  };
  const Value nothing = k_.number(Type::U64, 0);
  const Values total = k_.for_range(begin, end, {nothing}, [&](Value l, const Values& sum) {
    return Values{sum[0] + weight_of(literals_[l])};
  });
  const Value wanted = ((drawn & UINT32_MAX) * total[0]) >> 32;
  const Values chosen =
      k_.for_range(begin, end, {nothing, k_.u32(0)}, [&](Value l, const Values& now) {
        const Value literal = literals_[l];
        return Values{now[0] + weight_of(literal), k_.select(now[0] <= wanted, literal, now[1])};
      });
  return chosen[1];
}

Value WalkKernel::make_true(Value literal, Value variable, Value false_count) {
  const Value begin = occurrence_starts_[literal];
  const Value end = occurrence_starts_[literal + 1];
  const Values after =
      k_.for_range(begin, end, {false_count, k_.u32(0)}, [&](Value o, const Values& now) {
        const Value at = clauses_at_ + occurrences_[o];
        const Value word = words_[at];
        const Value was_false = word < one_;
        const Value rest = word & variable_bits_;
        k_.if_then(was_false, [&] {
          // The last of the list takes its place. It may be this clause itself, whose word comes
          // later.
          const Value last = false_clauses_[clauses_at_ + now[0] - 1];
          k_.store(false_clauses_, clauses_at_ + rest, last);
          k_.store(words_, clauses_at_ + last, rest);
        });
        k_.if_then((word >> shift_) == 1, [&] { add_to(breaks_, variables_at_ + rest, -1); });
        k_.store(words_, at, k_.select(was_false, one_ | variable, (word ^ variable) + one_));
        const Value made = k_.cast(Type::U32, was_false);
        return Values{now[0] - made, now[1] + made};
      });
  // What broke with the old value is false from now on.
  k_.store(breaks_, variables_at_ + variable, after[1]);
  return after[0];
}

Value WalkKernel::make_false(Value literal, Value variable, Value false_count) {
  const Value begin = occurrence_starts_[literal];
  const Value end = occurrence_starts_[literal + 1];
  const Values after = k_.for_range(begin, end, {false_count}, [&](Value o, const Values& now) {
    const Value clause = occurrences_[o];
    const Value at = clauses_at_ + clause;
    const Value word = (words_[at] ^ variable) - one_;
    const Value is_false = word < one_;
    k_.if_then(is_false, [&] { k_.store(false_clauses_, clauses_at_ + now[0], clause); });
    k_.if_then((word >> shift_) == 1,
               [&] { add_to(breaks_, variables_at_ + (word & variable_bits_), 1); });
    k_.store(words_, at, k_.select(is_false, now[0], word));
    return Values{now[0] + k_.cast(Type::U32, is_false)};
  });
  return after[0];
}

Id WalkKernel::build() {
  const Value walks = k_.val(Type::U32, "walks");
  const Value clauses = k_.val(Type::U32, "clauses");
  const Value variables = k_.val(Type::U32, "variables");
  shift_ = k_.val(Type::U32, "shift");
  seed_ = k_.val(Type::U64, "seed");
  const Value first = k_.val(Type::U64, "first");
  const Value flips = k_.val(Type::U32, "flips");
  clause_starts_ = k_.in(Type::U32, "clause_starts");
  literals_ = k_.in(Type::U32, "literals");
  occurrence_starts_ = k_.in(Type::U32, "occurrence_starts");
  occurrences_ = k_.in(Type::U32, "occurrences");
  weights_ = k_.in(Type::U32, "weights");
  values_ = k_.own(Type::U8, "values");
  words_ = k_.own(Type::U32, "words");
  breaks_ = k_.own(Type::U32, "breaks");
  false_clauses_ = k_.own(Type::U32, "false_clauses");
  const Buffer false_count = k_.own(Type::U32, "false_count");
  const Buffer flipped = k_.out(Type::U32, "flipped");

  walk_ = k_.grid(walks);
  clauses_at_ = walk_ * clauses;
  variables_at_ = walk_ * variables;
  one_ = k_.u32(1) << shift_;
  variable_bits_ = one_ - 1;
  const Value at_start = false_count[walk_];
  const Value goes = (at_start != 0) & (k_.u32(0) < flips);
  const Values end =
      k_.loop(flips, goes, {at_start, k_.u32(0)},
              [&](Value t, const Values& now) -> std::pair<Value, Values> {
                const Value literal = choose_literal(now[0], first + k_.cast(Type::U64, t));
                const Value variable = literal >> 1;
                const Value negated = literal & 1;
                k_.store(values_, variables_at_ + variable, k_.cast(Type::U8, negated ^ 1));
                const Value fewer = make_true(literal, variable, now[0]);
                const Value left = make_false(literal ^ 1, variable, fewer);
                const Value done = t + 1;
                return {(left != 0) & (done < flips), {left, done}};
              });
  k_.store(false_count, walk_, end[0]);
  k_.store(flipped, walk_, end[1]);
  return k_.finish();
}

}  // namespace

Id start_values_kernel(kernel::Graph& graph) {
  KernelBuilder k(graph, "start_values");
  const Value cells = k.val(Type::U32, "cells");
  const Value variables = k.val(Type::U32, "variables");
  const Value seed = k.val(Type::U64, "seed");
  const Buffer values = k.out(Type::U8, "values");
  const Buffer breaks = k.out(Type::U32, "breaks");
  const Value i = k.grid(cells);
  // Flips count from 0 up, so these count from the other end.
  const Value counter = k.cast(Type::U64, i % variables) ^ -1;
  const Value drawn = random_number(k, seed, i / variables, counter);
  k.store(values, i, k.cast(Type::U8, drawn >> 63));
  k.store(breaks, i, k.u32(0));
  return k.finish();
}

Id start_words_kernel(kernel::Graph& graph) {
  KernelBuilder k(graph, "start_words");
  const Value cells = k.val(Type::U32, "cells");
  const Value clauses = k.val(Type::U32, "clauses");
  const Value variables = k.val(Type::U32, "variables");
  const Value shift = k.val(Type::U32, "shift");
  const Buffer clause_starts = k.in(Type::U32, "clause_starts");
  const Buffer literals = k.in(Type::U32, "literals");
  const Buffer values = k.in(Type::U8, "values");
  const Buffer words = k.out(Type::U32, "words");
  const Buffer breaks = k.acc(Type::U32, "breaks");
  const Value i = k.grid(cells);
  const Value clause = i % clauses;
  const Value variables_at = i / clauses * variables;
  const Value nothing = k.u32(0);
  const Values counted = k.for_range(
      clause_starts[clause], clause_starts[clause + 1], {nothing, nothing},
      [&](Value l, const Values& now) {
        const Value literal = literals[l];
        const Value variable = literal >> 1;
        const Value holds = k.cast(Type::U32, values[variables_at + variable]) != (literal & 1);
        return Values{now[0] + k.cast(Type::U32, holds),
                      now[1] ^ k.select(holds, variable, nothing)};
      });
  k.store(words, i, (counted[0] << shift) | counted[1]);
  k.if_then(counted[0] == 1,
            [&] { k.atomic(Fold::Add, breaks, variables_at + counted[1], k.u32(1)); });
  return k.finish();
}

Id start_false_clauses_kernel(kernel::Graph& graph) {
  KernelBuilder k(graph, "start_false_clauses");
  const Value walks = k.val(Type::U32, "walks");
  const Value clauses = k.val(Type::U32, "clauses");
  const Value shift = k.val(Type::U32, "shift");
  const Buffer words = k.own(Type::U32, "words");
  const Buffer false_clauses = k.own(Type::U32, "false_clauses");
  const Buffer false_count = k.out(Type::U32, "false_count");
  const Value walk = k.grid(walks);
  const Value clauses_at = walk * clauses;
  const Values end = k.for_range(k.u32(0), clauses, {k.u32(0)}, [&](Value c, const Values& now) {
    const Value at = clauses_at + c;
    const Value is_false = (words[at] >> shift) == 0;
    k.if_then(is_false, [&] {
      k.store(words, at, now[0]);
      k.store(false_clauses, clauses_at + now[0], c);
    });
    return Values{now[0] + k.cast(Type::U32, is_false)};
  });
  k.store(false_count, walk, end[0]);
  return k.finish();
}

Id walk_kernel(kernel::Graph& graph) { return WalkKernel(graph).build(); }

}  // namespace xlog::solve
