#include "relation/group_code.h"

#include "base/check.h"

namespace xlog::relation {

using kernel::Buffer;
using kernel::Fold;
using kernel::Range;
using plan::ColumnUse;
using plan::Step;
using plan::StepKind;

namespace {

// Rows of one lane that are shared out at a time: the sum over all lanes fits 32 bits.
constexpr uint32_t kMostAtATime = 1u << 23;
// Rows that a lane takes at a time at the last step: lanes wait for memory and for each other once
// for all of them.
constexpr uint32_t kRowsOfALane = 4;

}  // namespace

GroupCode::GroupCode(kernel::KernelBuilder& k, const lang::Program& program,
                     const plan::Pipeline& pipeline, const std::vector<lang::Term>& head,
                     const RelationOf& relation_of, const Marks& marks,
                     const std::optional<ClaimedSet>& claimed)
    : PipelineCode(k, program, pipeline, relation_of, marks, claimed) {
  declare_shared(head);
}

// The variables that steps from `step` on, or the head, read.
std::vector<bool> GroupCode::used_from(size_t step, const std::vector<lang::Term>& head) const {
  std::vector<lang::VarId> variables;
  auto read = [&](const Step& here) {
    for (const plan::ColumnArg& column : here.columns) {
      if (column.use == ColumnUse::Key || column.use == ColumnUse::Same) {
        lang::collect_variables(column.term, variables);
      }
    }
    lang::collect_variables(here.lhs, variables);
    lang::collect_variables(here.rhs, variables);
  };
  for (size_t s = step; s < pipeline_.steps.size(); ++s) {
    read(pipeline_.steps[s]);
    for (const Step& member : pipeline_.steps[s].members) read(member);
  }
  for (const lang::Term& term : head) lang::collect_variables(term, variables);
  std::vector<bool> used(slots_.size(), false);
  for (lang::VarId v : variables) used[v.index] = true;
  return used;
}

// Arrays of a group are made at the top of its kernel.
void GroupCode::declare_shared(const std::vector<lang::Term>& head) {
  std::vector<std::optional<Type>> bound(slots_.size());
  shared_.resize(pipeline_.steps.size());
  for (size_t s = 0; s < pipeline_.steps.size(); ++s) {
    const Step& here = pipeline_.steps[s];
    const bool walks_bits = driver_ == s && driver_bits() != nullptr;
    const bool walks_range = here.kind == StepKind::Range && driver_ != s;
    const bool shares = here.kind == StepKind::Meet || walks_bits || walks_range ||
                        (here.kind == StepKind::Match && driver_ != s && !access_[s].keys.empty());
    if (shares || (here.kind == StepKind::Match && driver_ != s)) last_loop_ = s;
    if (shares) {
      Shared& shared = shared_[s].emplace();
      shared.before = k_.local(Type::U32, kGroupLanes);
      shared.first = k_.local(Type::U32, kGroupLanes);
      // The target of a range is its first value, until a lane takes one.
      if (walks_range) {
        const Type type = column_type(here.lhs.type.kind);
        shared.slots.emplace_back(here.target.index, k_.local(type, kGroupLanes));
      }
      if (here.kind == StepKind::Meet || walks_bits) {
        shared.extra = k_.local(Type::U32, kGroupLanes);
      }
      // The keys of a lookup are not asked for again once its rows are found.
      const std::vector<bool> used =
          used_from(here.kind == StepKind::Meet || walks_bits ? s : s + 1, head);
      for (uint32_t v = 0; v < bound.size(); ++v) {
        if (bound[v] && used[v]) {
          shared.slots.emplace_back(v, k_.local(*bound[v], kGroupLanes));
        }
      }
    }
    for (const plan::ColumnArg& column : here.columns) {
      if (column.use == ColumnUse::Bind) {
        bound[column.term.var.index] = column_type(column.term.type.kind);
      }
    }
    if (here.kind == StepKind::Let || here.kind == StepKind::Range) {
      bound[here.target.index] = column_type(here.lhs.type.kind);
    }
    if (here.kind == StepKind::Meet) {
      const Step& first = here.members[0];
      const lang::Term& term = first.columns[plan::target_column(first)].term;
      bound[here.target.index] = column_type(term.type.kind);
    }
  }
}

Value GroupCode::ask(Value active, const std::function<Value()>& condition) {
  const Buffer answer = k_.private_array(Type::Bool, 1);
  k_.store(answer, k_.u32(0), k_.boolean(false));
  k_.if_then(active, [&] { k_.store(answer, k_.u32(0), condition()); });
  return answer[0u];
}

// Until no lane has another part.
void GroupCode::for_each_part(Value active, const std::function<Value()>& first,
                              const std::function<IndexPart(Value)>& read,
                              const std::function<void(Range)>& walk) {
  const Value zero = k_.u32(0);
  const Buffer part = k_.private_array(Type::U32, 1);
  const Buffer lo = k_.private_array(Type::U32, 1);
  const Buffer hi = k_.private_array(Type::U32, 1);
  k_.store(part, zero, zero);
  k_.if_then(active, [&] { k_.store(part, zero, first()); });
  auto any = [&] { return k_.greduce(Fold::Max, part[zero]) != 0; };
  k_.loop(k_.u32(UINT32_MAX), any(), {}, [&](Value, const Values&) -> std::pair<Value, Values> {
    k_.store(lo, zero, zero);
    k_.store(hi, zero, zero);
    k_.if_then(part[zero] != 0, [&] {
      const IndexPart here = read(part[zero]);
      k_.store(lo, zero, here.rows.lo);
      k_.store(hi, zero, here.rows.hi);
      k_.store(part, zero, here.next);
    });
    walk({lo[zero], hi[zero]});
    return {any(), {}};
  });
}

void GroupCode::run_driver(Value row, Value active, const GroupSink& sink) {
  group_sink_ = sink;
  lane_ = k_.lane();
  row_ = row;
  step(0, active);
  if (!last_loop_) group_sink_.flush();
}

void GroupCode::driver(size_t s, Value active) {
  if (drives_range()) {
    const Step& here = pipeline_.steps[s];
    const Value lo = term_code(k_, here.lhs, slots_).value;
    slots_[here.target.index] = range_value(lo, row_);
    return step(s + 1, active);
  }
  const SetCode* bits = driver_bits();
  if (bits == nullptr) {
    Values values;
    for (const Buffer& column : driver_columns()) values.push_back(column[row_]);
    return bind_row(
        s, [&](size_t c) { return values[c]; }, true, active);
  }
  const Shared& shared = *shared_[s];
  const BitWord word = driver_word(row_);
  share_out(
      s, k_.select(active, k_.popc(word.bits), k_.u32(0)), k_.u32(kWordBits),
      [&] {
        k_.store(shared.first, lane_, word.word);
        k_.store(shared.extra, lane_, word.bits);
      },
      [&](Value source, Value offset, Value is_there) {
        // The bits before it go.
        const Value left =
            k_.for_range(k_.u32(0), offset, {shared.extra[source]},
                         [&](Value, const Values& w) { return Values{w[0] & (w[0] - 1)}; })[0];
        const Values values = row_of_bit(k_, *bits, shared.first[source], k_.ctz(left));
        bind_row(
            s, [&](size_t c) { return values[c]; }, true, is_there);
      });
}

void GroupCode::share_out(size_t s, Value count, Value most, const std::function<void()>& tell,
                          const Visit& visit) {
  const Shared& shared = *shared_[s];
  const Slots mine = slots_;
  const Value zero = k_.u32(0);
  k_.for_range(zero, divide_up(most, kMostAtATime), [&](Value part) {
    const Value begin = part * kMostAtATime;
    const Value here = k_.min(count - k_.min(count, begin), k_.u32(kMostAtATime));
    // Collectives are barriers too: nobody reads any more what was told before.
    const Value before = k_.gscan(Fold::Add, here);
    const Value total = k_.greduce(Fold::Add, here);
    tell();
    for (const auto& [v, array] : shared.slots) k_.store(array, lane_, *mine[v]);
    k_.store(shared.before, lane_, before);
    k_.barrier();
    const uint32_t rows = s == last_loop_ ? kRowsOfALane : 1;
    k_.for_range(zero, divide_up(total, kGroupLanes * rows), [&](Value t) {
      for (uint32_t r = 0; r < rows; ++r) {
        const Value number = (t * rows + r) * kGroupLanes + lane_;
        const Value is_there = number < total;
        const Value item = k_.min(number, total - 1);
        // The last lane with no more rows before it.
        Value source = zero;
        for (uint32_t half = kGroupLanes / 2; half > 0; half /= 2) {
          const Value next = source + half;
          source = k_.select(shared.before[next] <= item, next, source);
        }
        for (const auto& [v, array] : shared.slots) slots_[v] = array[source];
        visit(source, begin + (item - shared.before[source]), is_there);
      }
      if (s == last_loop_) group_sink_.flush();
    });
  });
  slots_ = mine;
}

// Binds what a row gives, and goes on where it agrees with what it must.
void GroupCode::bind_row(size_t s, const std::function<Value(size_t)>& value, bool check_keys,
                         Value active) {
  const Step& here = pipeline_.steps[s];
  for (size_t c = 0; c < here.columns.size(); ++c) {
    const plan::ColumnArg& column = here.columns[c];
    switch (column.use) {
      case ColumnUse::Bind:
        slots_[column.term.var.index] = value(c);
        break;
      case ColumnUse::Same:
        active = active & same_words(k_, value(c), *slots_[column.term.var.index]);
        break;
      case ColumnUse::Key:
        if (check_keys) {
          active = active & same_words(k_, value(c), term_code(k_, column.term, slots_).value);
        }
        break;
      case ColumnUse::Ignore:
        break;
    }
  }
  step(s + 1, active);
}

void GroupCode::match(size_t s, Value active) {
  const Access& access = access_[s];
  if (access.keys.empty()) {
    // All lanes take the same row: nothing to share out.
    const Slots mine = slots_;
    k_.for_range(access.first, access.last, [&](Value row) {
      bind_row(
          s, [&](size_t c) { return access.columns[c][row]; }, false, active);
      if (s == last_loop_) group_sink_.flush();
    });
    slots_ = mine;
    return;
  }
  const Shared& shared = *shared_[s];
  const Values key = key_values(pipeline_.steps[s]);
  auto walk = [&](Range rows) {
    share_out(
        s, rows.hi - rows.lo, k_.len(access.index.longest()),
        [&] { k_.store(shared.first, lane_, rows.lo); },
        [&](Value source, Value offset, Value is_there) {
          const Value row = shared.first[source] + offset;
          bind_row(
              s, [&](size_t c) { return access.columns[c][row]; }, false, is_there);
        });
  };
  if (access.index.kind == TableKind::Starts) {
    const Range rows = read_part(k_, access.index, key, k_.u32(1)).rows;
    return walk({rows.lo, k_.select(active, rows.hi, rows.lo)});
  }
  for_each_part(
      active, [&] { return first_part(k_, access.index, key); },
      [&](Value part) { return read_part(k_, access.index, key, part); }, walk);
}

// Each lane has a shortest list of its own.
void GroupCode::meet(size_t s, Value active) {
  const Shared& shared = *shared_[s];
  MeetCode& code = *access_[s].meet;
  const Value way = code.shortest(slots_);
  auto walk = [&](Range rows) {
    share_out(
        s, rows.hi - rows.lo, code.most_rows(),
        [&] {
          k_.store(shared.first, lane_, rows.lo);
          k_.store(shared.extra, lane_, way);
        },
        [&](Value source, Value offset, Value is_there) {
          const Value walked = shared.extra[source];
          const Value row = shared.first[source] + offset;
          const Value value = code.value_at(walked, row);
          const Value passes = ask(
              is_there, [&] { return code.is_in_all(slots_, walked, row, offset == 0, value); });
          slots_[pipeline_.steps[s].target.index] = value;
          step(s + 1, passes);
        });
  };
  for_each_part(
      active, [&] { return code.first_part(way); },
      [&](Value part) {
        code.set_keys(slots_);
        return code.rows_of(way, part);
      },
      walk);
}

void GroupCode::range(size_t s, Value active) {
  const Step& here = pipeline_.steps[s];
  const Value lo = term_code(k_, here.lhs, slots_).value;
  const Value hi = term_code(k_, here.rhs, slots_).value;
  const RangeSize size = range_size(here, lo, hi);
  k_.if_then(active & size.too_long, group_sink_.too_long);
  std::optional<Value>& target = slots_[here.target.index];
  target = lo;
  const Value count = k_.select(active, size.count, k_.u32(0));
  share_out(
      s, count, k_.greduce(Fold::Max, count), [] {},
      [&](Value, Value offset, Value is_there) {
        target = range_value(*target, offset);
        step(s + 1, is_there);
      });
}

void GroupCode::lose(Value active, const TermCode& code) {
  if (!code.exists) return;
  k_.if_then(active & !*code.exists, group_sink_.no_value);
}

void GroupCode::step(size_t s, Value active) {
  if (s == pipeline_.steps.size()) return group_sink_.emit(slots_, active);
  const Step& here = pipeline_.steps[s];
  if (driver_ == s) return driver(s, active);
  switch (here.kind) {
    case StepKind::Match:
      return match(s, active);
    case StepKind::Meet:
      return meet(s, active);
    case StepKind::Range:
      return range(s, active);
    case StepKind::Exists:
      return step(s + 1, ask(active, [&] { return exists(s); }));
    case StepKind::Absent:
      return step(s + 1, ask(active, [&] { return !exists(s); }));
    case StepKind::Filter: {
      const TermCode a = term_code(k_, here.lhs, slots_);
      lose(active, a);
      if (a.exists) active = active & *a.exists;
      const TermCode b = term_code(k_, here.rhs, slots_);
      lose(active, b);
      if (b.exists) active = active & *b.exists;
      return step(s + 1,
                  active & compare_code(k_, here.compare, here.lhs.type.kind, a.value, b.value));
    }
    case StepKind::Let: {
      const TermCode made = term_code(k_, here.lhs, slots_);
      lose(active, made);
      slots_[here.target.index] = made.value;
      return step(s + 1, made.exists ? active & *made.exists : active);
    }
    case StepKind::Host:
      XLOG_UNREACHABLE("a pipeline is divided where it needs the host");
  }
}

}  // namespace xlog::relation
