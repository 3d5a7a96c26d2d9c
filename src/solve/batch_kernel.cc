#include "solve/batch_kernel.h"

#include <fmt/format.h>

#include <vector>

#include "kernel/builder.h"

namespace xlog::solve {

using kernel::Buffer;
using kernel::Id;
using kernel::KernelBuilder;
using kernel::Type;
using kernel::Value;
using kernel::Values;

namespace {

// What a pass folds, in this order. kLeft is what is left of the table, and without a table the
// least of what is left of clauses: either way 0 is a conflict.
enum Folded : uint8_t { kImpliedYes, kImpliedNo, kOpen, kDuePositive, kDueNegative, kLeft };

// How often variables occur is counted in so many bits.
constexpr size_t kOccurrenceBits = 4;

// The search of one question: depth first, with unit propagation. A pass looks at all clauses and
// only folds with `or` and `and`, so a compiler makes vector code of it; all else is a few steps
// between passes, and an instance goes round one loop only, which suits GPUs.
class BatchKernel {
 public:
  BatchKernel(kernel::Graph& graph, const BatchShape& shape)
      : shape_(shape), k_(graph, shape.name()) {}

  Id build();

 private:
  // Variables known to be true and to be false; the assignments to the table's that are left.
  struct State {
    Value yes, no, left;
  };
  struct Seen {
    State implied;       // what the pass has found, with what was known before
    Value open;          // variables of clauses that are not satisfied
    Value due_positive;  // of those with two literals left, as they occur
    Value due_negative;
    Value conflict;
  };

  // What goes from round to round. Values of the state come last.
  struct Search {
    Value level;     // how many decisions have another branch to come
    Value finished;  // everything was tried, or enough
    Value found, model;
    Value count;
    State state;
  };

  Value mask(int64_t number) { return k_.number(shape_.mask, number); }
  Value flipped(Value v) { return v ^ -1; }
  Value only_if(Value condition, Value v) { return k_.select(condition, v, v ^ v); }
  State pick(Value condition, const State& a, const State& b);
  Values values_of(const State& state);
  State state_of(const Values& values, size_t at);
  Values values_of(const Search& search);
  Search search_of(const Values& values);

  void declare();
  void find_clauses(Value formula);
  Value cell_of(Value clause) { return shape_.interleaved ? first_cell_ + clause * kTile : clause; }
  State assumed(Value question);
  Value possible_words();
  void count_occurrences();
  Seen pass(const State& state);
  Value branch_variable(const Seen& seen);
  Value model_of(const State& state);
  Value models_of(const State& state);
  void push(Value at, const State& state);
  State at_level(Value level);
  void branch(const State& state, const Seen& seen, Value level);
  Search round(const Search& now);
  Value is_model(Value model, Value question);
  void store_answer(const Search& end, Value question);

  const BatchShape shape_;
  KernelBuilder k_;
  Value n_, first_, passes_;
  Buffer starts_, lengths_, tiles_, variables_, positive_, negative_, words_;
  Buffer formula_, assumed_true_, assumed_false_;
  Buffer outcome_, model_, count_;

  // The clauses of the formula, and where the first lies if they are interleaved.
  Value begin_, end_, first_cell_;
  Value variable_count_;
  Values occurrences_;  // bit by bit: the last has each variable's highest
  Value high_;          // variables that are not in the table
  std::vector<Buffer> stack_;
};

void BatchKernel::declare() {
  n_ = k_.val(Type::U32, "n");
  first_ = k_.val(Type::U32, "first");
  passes_ = k_.val(Type::U32, "passes");
  if (shape_.interleaved) {
    lengths_ = k_.in(Type::U32, "lengths");
    tiles_ = k_.in(Type::U32, "tiles");
  } else {
    starts_ = k_.in(Type::U32, "starts");
  }
  variables_ = k_.in(Type::U32, "variables");
  positive_ = k_.in(shape_.mask, "positive");
  negative_ = k_.in(shape_.mask, "negative");
  if (shape_.table) words_ = k_.in(Type::U64, "words");
  if (shape_.cubes) {
    formula_ = k_.in(Type::U32, "formula");
    assumed_true_ = k_.in(shape_.mask, "assumed_true");
    assumed_false_ = k_.in(shape_.mask, "assumed_false");
  }
  outcome_ = k_.out(Type::U8, "outcome");
  model_ = k_.out(shape_.mask, "model");
  if (shape_.counts) count_ = k_.out(Type::U64, "count");
}

void BatchKernel::find_clauses(Value formula) {
  if (shape_.interleaved) {
    begin_ = k_.u32(0);
    end_ = lengths_[formula];
    first_cell_ = tiles_[formula / kTile] + formula % kTile;
  } else {
    begin_ = starts_[formula];
    end_ = starts_[formula + 1];
  }
}

BatchKernel::State BatchKernel::pick(Value condition, const State& a, const State& b) {
  State picked = {k_.select(condition, a.yes, b.yes), k_.select(condition, a.no, b.no), {}};
  if (shape_.table) picked.left = k_.select(condition, a.left, b.left);
  return picked;
}

Values BatchKernel::values_of(const State& state) {
  Values values = {state.yes, state.no};
  if (shape_.table) values.push_back(state.left);
  return values;
}

BatchKernel::State BatchKernel::state_of(const Values& values, size_t at) {
  State state = {values[at], values[at + 1], {}};
  if (shape_.table) state.left = values[at + 2];
  return state;
}

Values BatchKernel::values_of(const Search& search) {
  Values values = {search.level, search.finished, search.found, search.model};
  if (shape_.counts) values.push_back(search.count);
  for (const Value& part : values_of(search.state)) values.push_back(part);
  return values;
}

BatchKernel::Search BatchKernel::search_of(const Values& values) {
  Search search = {values[0], values[1], values[2], values[3], {}, {}};
  if (shape_.counts) search.count = values[4];
  search.state = state_of(values, shape_.counts ? 5 : 4);
  return search;
}

// The assignments to the table's variables that a formula with fewer than six has.
Value BatchKernel::possible_words() {
  const Value one = k_.number(Type::U64, 1);
  const Value rows = one << (one << k_.cast(Type::U64, variable_count_));
  return k_.select(variable_count_ < kTableVariables, rows - 1, k_.number(Type::U64, -1));
}

BatchKernel::State BatchKernel::assumed(Value question) {
  State state = {mask(0), mask(0), {}};
  if (shape_.table) state.left = possible_words();
  if (!shape_.cubes) return state;
  state.yes = assumed_true_[question];
  state.no = assumed_false_[question];
  if (!shape_.table) return state;
  for (uint32_t v = 0; v < kTableVariables; ++v) {
    const Value holds = k_.constant(kernel::Scalar::u64(kTableWords[v]));
    const Value every = k_.number(Type::U64, -1);
    const int64_t bit = int64_t{1} << v;
    state.left = state.left & k_.select((state.yes & bit) != 0, holds, every) &
                 k_.select((state.no & bit) != 0, flipped(holds), every);
  }
  state.yes = state.yes & high_;
  state.no = state.no & high_;
  return state;
}

// Counters of all variables at once: each bit of a counter has a word of its own, and a full
// counter stays full. Four clauses are added together; up to three at the end do not count.
void BatchKernel::count_occurrences() {
  const auto add = [](Value a, Value b, Value c) {
    const Value differ = a ^ b;
    return std::pair(differ ^ c, (a & b) | (differ & c));
  };
  const Values zeros(kOccurrenceBits, mask(0));
  const Value rounds = (end_ - begin_) >> 2;
  occurrences_ = k_.for_range(k_.u32(0), rounds, zeros, [&](Value round, const Values& before) {
    Values occurs;
    for (uint32_t c = 0; c < 4; ++c) {
      const Value at = cell_of(begin_ + (round << 2) + c);
      occurs.push_back(positive_[at] | negative_[at]);
    }
    const auto [first, twos] = add(before[0], occurs[0], occurs[1]);
    const auto [ones, more_twos] = add(first, occurs[2], occurs[3]);
    const auto [second, fours] = add(before[1], twos, more_twos);
    const Value eights = before[2] & fours;
    const Value full = before[3] & eights;
    return Values{ones | full, second | full, (before[2] ^ fours) | full,
                  (before[3] ^ eights) | full};
  });
}

BatchKernel::Seen BatchKernel::pass(const State& state) {
  const Value not_yes = flipped(state.yes);
  const Value not_no = flipped(state.no);
  const Value zero = mask(0);
  Values start = {zero, zero, zero, zero, zero};
  start.push_back(shape_.table ? state.left : mask(-1));
  const Values end = k_.for_range(begin_, end_, start, [&](Value c, const Values& seen) {
    const Value at = cell_of(c);
    Value positive = positive_[at];
    Value negative = negative_[at];
    if (shape_.table) {
      positive = positive & high_;
      negative = negative & high_;
    }
    // Literals that are not false; a true one among them counts like one that is open. Where it is
    // the last, implying it again does no harm.
    const Value open_positive = positive & not_no;
    const Value open_negative = negative & not_yes;
    const Value rest = open_positive | open_negative;
    const Value without_one = rest & (rest - 1);
    const Value without_two = without_one & (without_one - 1);
    Value last = without_one == 0;
    Value last_two = without_two == 0;
    Value satisfied = ((positive & state.yes) | (negative & state.no)) != 0;
    Value next_left;
    if (shape_.table) {
      const Value word = words_[at];
      const Value needed = (word & state.left) == 0;  // a literal outside the table
      next_left = seen[kLeft] & k_.select(rest == 0, word, k_.number(Type::U64, -1));
      last_two = last | (last_two & needed);
      last = last & needed;
      satisfied = satisfied | ((state.left & flipped(word)) == 0);
    } else {
      next_left = k_.min(seen[kLeft], rest);
    }
    const Value due = last_two & !satisfied;
    return Values{seen[kImpliedYes] | only_if(last, open_positive),
                  seen[kImpliedNo] | only_if(last, open_negative),
                  seen[kOpen] | only_if(!satisfied, rest),
                  seen[kDuePositive] | only_if(due, open_positive),
                  seen[kDueNegative] | only_if(due, open_negative),
                  next_left};
  });
  Seen seen;
  seen.implied = {state.yes | end[kImpliedYes], state.no | end[kImpliedNo], {}};
  seen.open = end[kOpen];
  seen.due_positive = end[kDuePositive];
  seen.due_negative = end[kDueNegative];
  if (shape_.table) seen.implied.left = end[kLeft];
  seen.conflict = ((seen.implied.yes & seen.implied.no) != 0) | (end[kLeft] == 0);
  return seen;
}

// A variable that each value of implies another, if there is one; of several, one that occurs
// most often in the formula.
Value BatchKernel::branch_variable(const Seen& seen) {
  const auto prefer = [&](Value wanted, Value otherwise) {
    return k_.select(wanted != 0, wanted, otherwise);
  };
  Value candidates = prefer(seen.due_positive | seen.due_negative, seen.open);
  candidates = prefer(seen.due_positive & seen.due_negative, candidates);
  for (size_t bit = occurrences_.size(); bit-- > 0;) {
    candidates = prefer(candidates & occurrences_[bit], candidates);
  }
  return candidates & (mask(0) - candidates);
}

// Variables that no clause needs are false.
Value BatchKernel::model_of(const State& state) {
  return shape_.table ? state.yes | k_.cast(shape_.mask, k_.ctz(state.left)) : state.yes;
}

Value BatchKernel::models_of(const State& state) {
  const Value fixed = k_.popc((state.yes | state.no) & high_);
  const Value here =
      shape_.table ? k_.cast(Type::U64, k_.popc(state.left)) : k_.number(Type::U64, 1);
  const Value six = k_.u32(shape_.table ? kTableVariables : 0);
  const Value outside = k_.max(variable_count_, six) - six - fixed;
  // 2^64 is one more than fits; the table's shape has no more than 58 variables outside.
  const Value models = here << k_.cast(Type::U64, outside);
  return k_.select(outside == 64, k_.number(Type::U64, -1), models);
}

void BatchKernel::push(Value at, const State& state) {
  const Values values = values_of(state);
  for (size_t p = 0; p < values.size(); ++p) k_.store(stack_[p], at, values[p]);
}

BatchKernel::State BatchKernel::at_level(Value level) {
  Values values;
  for (const Buffer& part : stack_) values.push_back(part[level]);
  return state_of(values, 0);
}

// The branch that comes later goes to this level, the one that comes first above it.
void BatchKernel::branch(const State& state, const Seen& seen, Value level) {
  const Value variable = branch_variable(seen);
  const Value positive_first = (seen.due_positive & variable) != 0;
  State with = state;
  State without = state;
  with.yes = with.yes | variable;
  without.no = without.no | variable;
  push(level, pick(positive_first, without, with));
  push(level + 1, pick(positive_first, with, without));
}

BatchKernel::Search BatchKernel::round(const Search& now) {
  const State& state = now.state;
  const Seen seen = pass(state);
  Value more = (seen.implied.yes != state.yes) | (seen.implied.no != state.no);
  if (shape_.table) more = more | (seen.implied.left != state.left);
  const Value settled = !(seen.conflict | more);
  const Value is_solution = settled & (seen.open == 0);
  const Value decides = settled & (seen.open != 0);
  const Value goes_back = shape_.counts ? seen.conflict | is_solution : seen.conflict;
  const Value exhausted = goes_back & (now.level == 0);
  k_.if_then(decides, [&] { branch(state, seen, now.level); });

  Search next;
  const Value below = k_.select(now.level == 0, now.level, now.level - 1);
  const Value at = k_.select(decides, now.level + 1, below);
  const Value moves = goes_back | decides;
  next.state = pick(moves, at_level(at), seen.implied);
  next.level = k_.select(moves, at, now.level);
  next.finished = shape_.counts ? exhausted : exhausted | is_solution;
  next.found = now.found | is_solution;
  const Value is_first = is_solution & !now.found;
  next.model = k_.select(is_first, model_of(state), now.model);
  if (shape_.counts) {
    const Value sum = now.count + only_if(is_solution, models_of(state));
    next.count = k_.select(sum < now.count, k_.number(Type::U64, -1), sum);
  }
  return next;
}

Value BatchKernel::is_model(Value model, Value question) {
  const Values wrong = k_.for_range(begin_, end_, {mask(0)}, [&](Value c, const Values& before) {
    const Value at = cell_of(c);
    const Value holds = (positive_[at] & model) | (negative_[at] & flipped(model));
    return Values{before[0] | only_if(holds == 0, mask(1))};
  });
  const Value satisfies = wrong[0] == 0;
  if (!shape_.cubes) return satisfies;
  const Value broken =
      (assumed_true_[question] & flipped(model)) | (assumed_false_[question] & model);
  return satisfies & (broken == 0);
}

void BatchKernel::store_answer(const Search& end, Value question) {
  k_.if_then(end.found, [&] { k_.check(kCheckModel, is_model(end.model, question)); });
  const auto code = [&](uint8_t number) { return k_.constant(kernel::Scalar::u8(number)); };
  const Value decided = k_.select(end.found, code(kBatchSat), code(kBatchUnsat));
  k_.store(outcome_, question, k_.select(end.finished, decided, code(kBatchUnknown)));
  k_.store(model_, question, end.model);
  if (shape_.counts) k_.store(count_, question, end.count);
}

Id BatchKernel::build() {
  declare();
  const Value question = first_ + k_.grid(n_);
  const Value formula = shape_.cubes ? formula_[question] : question;
  find_clauses(formula);
  variable_count_ = variables_[formula];
  high_ = mask(shape_.table ? -int64_t{1 << kTableVariables} : -1);
  if (!shape_.table) count_occurrences();

  const auto levels = static_cast<uint32_t>(size_of(shape_.mask)) * 8 + 1;
  stack_ = {k_.private_array(shape_.mask, levels), k_.private_array(shape_.mask, levels)};
  if (shape_.table) stack_.push_back(k_.private_array(Type::U64, levels));
  const Value none = k_.u32(0);
  const Value no = k_.boolean(false);
  const Search start = {none, no, no, mask(0), k_.number(Type::U64, 0), assumed(question)};
  push(none, start.state);  // every round reads some level
  const Values end = k_.loop(passes_, none < passes_, values_of(start),
                             [&](Value t, const Values& now) -> std::pair<Value, Values> {
                               const Search next = round(search_of(now));
                               const Value may_go_on = t + 1 < passes_;
                               return {may_go_on & !next.finished, values_of(next)};
                             });
  store_answer(search_of(end), question);
  return k_.finish();
}

}  // namespace

std::string BatchShape::name() const {
  return fmt::format("batch_{}{}{}{}{}", mask == Type::U32 ? "u32" : "u64", table ? "_table" : "",
                     counts ? "_counts" : "", cubes ? "_cubes" : "",
                     interleaved ? "_interleaved" : "");
}

Id batch_kernel(kernel::Graph& graph, const BatchShape& shape) {
  return BatchKernel(graph, shape).build();
}

Id interleave_kernel(kernel::Graph& graph, Type mask) {
  KernelBuilder k(graph, mask == Type::U32 ? "interleave_u32" : "interleave_u64");
  const Value formulas = k.val(Type::U32, "formulas");
  const Buffer starts = k.in(Type::U32, "starts");
  const Buffer lengths = k.in(Type::U32, "lengths");
  const Buffer tiles = k.in(Type::U32, "tiles");
  const Buffer positive = k.in(mask, "positive");
  const Buffer negative = k.in(mask, "negative");
  const Buffer positive_out = k.out(mask, "positive_out");
  const Buffer negative_out = k.out(mask, "negative_out");
  const Value f = k.grid(formulas);
  const Value from = starts[f];
  const Value to = tiles[f / kTile] + f % kTile;
  k.for_range(k.u32(0), lengths[f], [&](Value c) {
    k.store(positive_out, to + c * kTile, positive[from + c]);
    k.store(negative_out, to + c * kTile, negative[from + c]);
  });
  return k.finish();
}

Id table_words_kernel(kernel::Graph& graph, Type mask) {
  KernelBuilder k(graph, mask == Type::U32 ? "table_words_u32" : "table_words_u64");
  const Value n = k.val(Type::U32, "n");
  const Buffer positive = k.in(mask, "positive");
  const Buffer negative = k.in(mask, "negative");
  const Buffer words = k.out(Type::U64, "words");
  const Value c = k.grid(n);
  const Value p = positive[c];
  const Value q = negative[c];
  const Value none = k.number(Type::U64, 0);
  Value word = none;
  for (uint32_t v = 0; v < kTableVariables; ++v) {
    const Value holds = k.constant(kernel::Scalar::u64(kTableWords[v]));
    const int64_t bit = int64_t{1} << v;
    word =
        word | k.select((p & bit) != 0, holds, none) | k.select((q & bit) != 0, holds ^ -1, none);
  }
  k.store(words, c, word);
  return k.finish();
}

}  // namespace xlog::solve
