#include "relation/pipeline_code.h"

#include <fmt/format.h>

#include <algorithm>
#include <ranges>

#include "base/check.h"

namespace xlog::relation {

using kernel::KernelBuilder;
using plan::ColumnUse;
using plan::Step;
using plan::StepKind;

namespace {

// How a step reads its relation.
enum class AccessKind : uint8_t { None, Scan, Count, Set, Index };

bool is_atom(const Step& step) {
  return step.kind == StepKind::Match || step.kind == StepKind::Exists ||
         step.kind == StepKind::Absent;
}

AccessKind access_kind(const Step& step, bool is_driver) {
  if (!is_atom(step)) return AccessKind::None;
  if (is_driver) return AccessKind::Scan;
  const std::vector<uint32_t> keys = plan::key_columns(step);
  if (step.kind == StepKind::Match) return keys.empty() ? AccessKind::Scan : AccessKind::Index;
  if (keys.empty()) return AccessKind::Count;  // `p` and `p(_)`: is there any row
  return keys.size() == step.columns.size() ? AccessKind::Set : AccessKind::Index;
}

// Whether rows that a step finds may have been overtaken: it asks the set.
bool asks_for_best(const Step& step, bool is_driver, const Relation& relation) {
  return step.kind == StepKind::Match && !is_driver && keeps_best(relation.set_kind());
}

bool walks_bits(const Step& step, const Relation& relation) {
  return step.part == plan::Part::All && relation.is_only_bits();
}

// What a column has to be, where the step says so.
std::optional<uint64_t> constant_of(const Step& step, size_t c) {
  if (c >= step.columns.size()) return std::nullopt;  // a relation without columns has one
  const plan::ColumnArg& column = step.columns[c];
  const bool is_known =
      column.use == plan::ColumnUse::Key && column.term.kind == lang::TermKind::Constant;
  return is_known ? std::optional(column.term.value.bits & UINT32_MAX) : std::nullopt;
}

// The driver's rows, and where it has no columns the bits of each word.
uint32_t driver_loops(bool walks_bits) { return walks_bits ? 2 : 1; }

// Loops of the steps before this one, but for the driver's.
uint32_t loops_before(const plan::Pipeline& pipeline, size_t step) {
  const std::optional<size_t> driver = driver_of(pipeline);
  uint32_t loops = 0;
  for (size_t s = 0; s < step; ++s) {
    const StepKind kind = pipeline.steps[s].kind;
    const bool is_loop =
        kind == StepKind::Match || kind == StepKind::Range || kind == StepKind::Meet;
    if (is_loop && driver != s) ++loops;
  }
  return loops;
}

// Rows of a relation that still grows are too dear to sort; others lie in an index as one run.
bool sorts(const Step& step, const Relation& relation) {
  return !step.order.empty() && relation.is_finished() && !relation.is_only_bits();
}

}  // namespace

bool looks_up(const plan::Pipeline& pipeline, lang::PredId pred) {
  const std::optional<size_t> driver = driver_of(pipeline);
  for (size_t s = 0; s < pipeline.steps.size(); ++s) {
    if (driver == s) continue;
    for (const Step* atom : plan::atoms_of(pipeline.steps[s])) {
      if (atom->pred == pred && access_kind(*atom, false) != AccessKind::Set) return true;
    }
  }
  return false;
}

bool asks_set(const plan::Pipeline& pipeline, lang::PredId pred) {
  return std::ranges::any_of(pipeline.steps, [&](const Step& step) {
    return std::ranges::any_of(plan::atoms_of(step), [&](const Step* atom) {
      if (atom->pred != pred) return false;
      return step.kind == StepKind::Meet || access_kind(*atom, false) == AccessKind::Set;
    });
  });
}

uint32_t loop_count(const plan::Pipeline& pipeline, const RelationOf& relation_of, bool counted) {
  const std::optional<size_t> driver = driver_of(pipeline);
  const Step* first = driver ? &pipeline.steps[*driver] : nullptr;
  const bool has_relation = first != nullptr && first->kind == StepKind::Match;
  const bool bits = has_relation && walks_bits(*first, relation_of(first->pred));
  const size_t steps = pipeline.steps.size();
  const bool counts_last = counted && steps > 0 && pipeline.steps.back().kind == StepKind::Meet;
  return driver_loops(bits) + loops_before(pipeline, counts_last ? steps - 1 : steps);
}

Status Marks::prepare(Machine& machine, const plan::Pipeline& pipeline,
                      const RelationOf& relation_of, uint32_t instances) {
  words_.assign(pipeline.steps.size(), 0);
  bits_.resize(pipeline.steps.size());
  capacity_.resize(pipeline.steps.size(), 0);
  for (size_t s = 0; s < pipeline.steps.size(); ++s) {
    const Step& step = pipeline.steps[s];
    if (step.kind != StepKind::Meet) continue;
    Result<uint32_t> words = mark_words(machine, step, relation_of);
    if (!words.ok()) return words.error();
    words_[s] = *words;
    const uint64_t all = uint64_t{*words} * instances * marks_of(step);
    if (all <= capacity_[s]) continue;
    Result<device::Buffer> made = make_buffer(machine.device(), Type::U32, all);
    if (!made.ok()) return made.error();
    if (Status s0 = machine.device().fill({*made, 0, all * 4}, std::byte{0}); !s0.ok()) return s0;
    bits_[s] = *made;
    capacity_[s] = all;
  }
  return Done{};
}

std::string shape_text(const Relation& relation) {
  const SetShape shape = relation.set_shape();
  return fmt::format("{}{}", static_cast<int>(shape.kind), fmt::join(shape.order, ","));
}

std::string shape_text(const plan::Pipeline& pipeline, const RelationOf& relation_of,
                       const Marks& marks) {
  std::string text;
  for (size_t s = 0; s < pipeline.steps.size(); ++s) {
    const bool meets = pipeline.steps[s].kind == StepKind::Meet;
    text += fmt::format("{}", marks.words(s) > 0);
    for (const Step* atom : plan::atoms_of(pipeline.steps[s])) {
      const Relation& relation = relation_of(atom->pred);
      const std::vector<uint32_t> keys = plan::key_columns(*atom);
      const auto then = meets ? std::optional(plan::target_column(*atom)) : std::nullopt;
      text += fmt::format("{}{}{}", shape_text(relation), relation.is_only_bits(),
                          static_cast<int>(relation.index_kind(keys, then)));
    }
  }
  return text;
}

uint32_t row_limit(const Relation& relation, plan::Part part) {
  return part == plan::Part::Old ? relation.fresh() : relation.rows();
}

RowRange rows_of(const Relation& relation, plan::Part part) {
  if (part == plan::Part::All && relation.is_only_bits()) return {0, relation.bit_words()};
  const uint32_t base = relation.forgotten();
  switch (part) {
    case plan::Part::All:
      return {0, relation.rows() - base};
    case plan::Part::New:
      return {relation.fresh() - base, relation.rows() - base};
    case plan::Part::Old:
      return {0, relation.fresh() - base};
  }
  XLOG_UNREACHABLE("all parts are covered");
}

RowRange driven_rows(const Relation& relation, const Step& step) {
  if (!walks_bits(step, relation)) return rows_of(relation, step.part);
  const std::vector<uint64_t>& sizes = relation.bit_sizes();
  const uint32_t innermost = relation.set_shape().order.back();
  uint64_t words = 1;
  for (size_t c = 0; c < sizes.size(); ++c) {
    const std::optional<uint64_t> known = constant_of(step, c);
    if (known && *known >= sizes[c]) return {0, 0};
    const uint64_t parts = c == innermost ? sizes[c] / kWordBits : sizes[c];
    if (!known) words *= parts;
  }
  return {0, static_cast<uint32_t>(words)};
}

// The number is one among the values of the columns that are not known; the innermost one's come in
// words.
BitWord PipelineCode::driver_word(Value at) {
  const SetCode& set = *driver_bits();
  const Step& step = pipeline_.steps[*driver_];
  const uint32_t innermost = set.order.back();
  const auto parts_of = [&](uint32_t c) {
    return c == innermost ? set.sizes[c] / kWordBits : set.sizes[c];
  };
  const auto is_known = [&](uint32_t c) { return constant_of(step, c).has_value(); };
  Value word = at;
  if (std::ranges::any_of(set.order, is_known)) {
    const auto unknown = std::ranges::find_if_not(set.order, is_known);  // the outermost that is
    Value rest = k_.cast(Type::U64, at);
    Values parts(set.order.size());
    for (uint32_t c : set.order | std::views::reverse) {
      if (const std::optional<uint64_t> known = constant_of(step, c)) {
        parts[c] = k_.number(Type::U64, c == innermost ? *known / kWordBits : *known);
      } else if (c == *unknown) {
        parts[c] = rest;
      } else {
        parts[c] = rest % parts_of(c);
        rest = rest / parts_of(c);
      }
    }
    Value number = parts[set.order.front()];
    for (uint32_t c : set.order | std::views::drop(1)) number = number * parts_of(c) + parts[c];
    word = k_.cast(Type::U32, number);
  }
  const Value bits = set.cells[word];
  const std::optional<uint64_t> value = constant_of(step, innermost);
  return {word, value ? bits & (1u << (*value % kWordBits)) : bits};
}

PipelineCode::PipelineCode(KernelBuilder& k, const lang::Program& program,
                           const plan::Pipeline& pipeline, const RelationOf& relation_of,
                           const Marks& marks, const std::optional<ClaimedSet>& claimed)
    : k_(k),
      pipeline_(pipeline),
      driver_(driver_of(pipeline)),
      slots_(program.rules[pipeline.rule].variables.size()) {
  for (size_t s = 0; s < pipeline.steps.size(); ++s) {
    declare(s, relation_of, marks, claimed);
  }
}

// The parameters, in the order of pipeline_arguments.
void PipelineCode::declare(size_t s, const RelationOf& relation_of, const Marks& marks,
                           const std::optional<ClaimedSet>& claimed) {
  const Step& step = pipeline_.steps[s];
  const bool is_driver = driver_ == s;
  Access& access = access_.emplace_back();
  if (step.kind == StepKind::Meet) {
    access.meet = std::make_unique<MeetCode>(k_, step, relation_of, marks.words(s) > 0, claimed);
    return;
  }
  const AccessKind kind = access_kind(step, is_driver);
  if (kind == AccessKind::None) return;
  const Relation& relation = relation_of(step.pred);
  access.keys = plan::key_columns(step);
  if (kind == AccessKind::Count) {
    access.last = k_.val(Type::U32, "rows");
    return;
  }
  if (is_driver && walks_bits(step, relation)) {
    access.set = declare_set(k_, relation.set_shape(), relation.types(), kernel::Mode::In);
    return;
  }
  if (kind == AccessKind::Set || asks_for_best(step, is_driver, relation)) {
    access.set = claimed && claimed->pred == step.pred
                     ? claimed->set
                     : declare_set(k_, relation.set_shape(), relation.types(), kernel::Mode::In);
    if (kind == AccessKind::Set) return;
  }
  if (kind == AccessKind::Index) {
    access.index =
        declare_index(k_, relation.index_kind(access.keys), relation.types(), access.keys);
    access.columns = access.index.columns;
    return;
  }
  for (Type type : relation.types()) access.columns.push_back(k_.in(type, "column"));
  if (is_driver) return;
  access.first = k_.val(Type::U32, "first");
  access.last = k_.val(Type::U32, "last");
}

Status prepare_columns(const plan::Pipeline& pipeline, const RelationOf& relation_of) {
  const std::optional<size_t> driver = driver_of(pipeline);
  for (size_t s = 0; s < pipeline.steps.size(); ++s) {
    if (driver == s) continue;
    for (const Step* atom : plan::atoms_of(pipeline.steps[s])) {
      const AccessKind kind = access_kind(*atom, false);
      if (kind != AccessKind::Scan && kind != AccessKind::Index) continue;
      if (Status ready = relation_of(atom->pred).need_columns(); !ready.ok()) return ready;
    }
  }
  return Done{};
}

Result<std::vector<device::Argument>> pipeline_arguments(const plan::Pipeline& pipeline,
                                                         const RelationOf& relation_of,
                                                         const Marks& marks,
                                                         std::optional<lang::PredId> claimed) {
  using kernel::Scalar;
  std::vector<device::Argument> arguments;
  const std::optional<size_t> driver = driver_of(pipeline);
  for (size_t s = 0; s < pipeline.steps.size(); ++s) {
    const Step& step = pipeline.steps[s];
    if (step.kind == StepKind::Meet) {
      if (Status added = append_meet_arguments(step, relation_of, marks.words(s), marks.bits(s),
                                               claimed, arguments);
          !added.ok()) {
        return added.error();
      }
      continue;
    }
    const AccessKind kind = access_kind(step, driver == s);
    if (kind == AccessKind::None) continue;
    Relation& relation = relation_of(step.pred);
    if (kind == AccessKind::Count) {
      arguments.emplace_back(Scalar::u32(relation.rows()));
      continue;
    }
    if (asks_for_best(step, driver == s, relation) && claimed != step.pred) {
      if (Status ready = relation.reserve(0); !ready.ok()) return ready.error();
      relation.append_set_arguments(arguments);
    }
    if (kind == AccessKind::Index) {
      Result<Index*> index = relation.index(plan::key_columns(step));
      if (!index.ok()) return index.error();
      (*index)->append_arguments(row_limit(relation, step.part), arguments);
      continue;
    }
    if (Status ready = relation.reserve(0); !ready.ok()) return ready.error();
    if (driver == s && walks_bits(step, relation)) {
      relation.append_set_arguments(arguments);
      continue;
    }
    if (kind == AccessKind::Set) {
      if (claimed != step.pred) relation.append_set_arguments(arguments);
      continue;
    }
    if (driver == s && sorts(step, relation)) {
      Result<Index*> sorted = relation.sorted(step.order);
      if (!sorted.ok()) return sorted.error();
      for (uint32_t c = 0; c < relation.arity(); ++c) {
        arguments.emplace_back(device::View{(*sorted)->column(c)});
      }
      continue;
    }
    for (uint32_t c = 0; c < relation.arity(); ++c) {
      arguments.emplace_back(device::View{relation.column(c)});
    }
    if (kind == AccessKind::Scan && driver != s) {
      const RowRange range = rows_of(relation, step.part);
      arguments.emplace_back(Scalar::u32(range.first));
      arguments.emplace_back(Scalar::u32(range.last));
    }
  }
  return arguments;
}

const SetCode* PipelineCode::driver_bits() const {
  const bool walks = driver_ && !drives_range() && access_[*driver_].columns.empty();
  return walks ? &access_[*driver_].set : nullptr;
}

bool PipelineCode::drives_range() const {
  return driver_ && pipeline_.steps[*driver_].kind == StepKind::Range;
}

const kernel::Columns& PipelineCode::driver_columns() const {
  static const kernel::Columns kNone;
  return driver_ ? access_[*driver_].columns : kNone;
}

void PipelineCode::begin(Value instance) {
  for (Access& access : access_) {
    if (access.meet) access.meet->begin(instance);
  }
}

void PipelineCode::end() {
  for (Access& access : access_) {
    if (access.meet) access.meet->end();
  }
}

void PipelineCode::run(const Values& row, const Sink& sink) {
  sink_ = sink;
  driver_row_ = row;
  step(0);
}

Values PipelineCode::key_values(const Step& step) const {
  Values key;
  for (const plan::ColumnArg& column : step.columns) {
    if (column.use == ColumnUse::Key) key.push_back(term_code(k_, column.term, slots_).value);
  }
  return key;
}

void PipelineCode::when(const TermCode& code, const std::function<void()>& then) {
  if (!code.exists) return then();
  k_.if_then(*code.exists, then, sink_.no_value);
}

// Binds what the row of step s gives, checks what it must agree with, and goes on.
void PipelineCode::with_row(size_t s, const std::function<Value(size_t column)>& value,
                            bool check_keys) {
  const Step& step_here = pipeline_.steps[s];
  std::optional<Value> agrees;
  auto require = [&](Value condition) { agrees = agrees ? *agrees & condition : condition; };
  for (size_t c = 0; c < step_here.columns.size(); ++c) {
    const plan::ColumnArg& column = step_here.columns[c];
    switch (column.use) {
      case ColumnUse::Bind:
        slots_[column.term.var.index] = value(c);
        break;
      case ColumnUse::Same:
        require(same_words(k_, value(c), *slots_[column.term.var.index]));
        break;
      case ColumnUse::Key:
        if (check_keys) {
          require(same_words(k_, value(c), term_code(k_, column.term, slots_).value));
        }
        break;
      case ColumnUse::Ignore:
        break;
    }
  }
  if (agrees) {
    k_.if_then(*agrees, [&] { step(s + 1); });
  } else {
    step(s + 1);
  }
}

void PipelineCode::match(size_t s) {
  const Access& access = access_[s];
  auto go_on = [&](Value row) {
    auto found = [&] {
      with_row(
          s, [&](size_t c) { return access.columns[c][row]; }, false);
    };
    if (!keeps_best(access.set.kind)) return found();
    Values values;
    for (const kernel::Buffer& column : access.columns) values.push_back(column[row]);
    k_.if_then(is_best(k_, access.set, values), found);
  };
  walk_rows(
      s,
      [&](const std::function<void(kernel::Range)>& walk) {
        if (access.keys.empty()) return walk({access.first, access.last});
        for_each_range(k_, access.index, key_values(pipeline_.steps[s]), walk);
      },
      go_on);
}

uint32_t PipelineCode::loop_of(size_t s) const {
  return driver_loops(driver_bits() != nullptr) + loops_before(pipeline_, s);
}

void PipelineCode::walk_rows(
    size_t s, const std::function<void(const std::function<void(kernel::Range)>&)>& ranges,
    const std::function<void(Value row)>& body) {
  if (cut_ == nullptr) {
    return ranges([&](kernel::Range rows) { k_.for_range(rows.lo, rows.hi, body); });
  }
  const uint32_t loop = loop_of(s);
  cut_->enter(loop);
  ranges([&](kernel::Range rows) { cut_->walk(loop, rows, body); });
  cut_->leave(loop);
}

Value PipelineCode::range_value(Value first, Value offset) {
  return first + k_.cast(first.type(), offset);
}

PipelineCode::RangeSize PipelineCode::range_size(const Step& step, Value lo, Value hi) {
  const bool is_signed = lang::type_class(step.lhs.type.kind) == lang::TypeClass::Signed;
  const auto wide = [&](Value v) {
    return k_.cast(Type::U64, k_.cast(is_signed ? Type::I64 : Type::U64, v));
  };
  const Value steps = wide(hi) - wide(lo);
  const Value is_empty = hi < lo;
  const Value too_long = (!is_empty) & !(steps < k_.number(Type::U64, kMostRange));
  return {k_.select(is_empty | too_long, k_.u32(0), k_.cast(Type::U32, steps) + 1), too_long};
}

void PipelineCode::range(size_t s) {
  const Step& here = pipeline_.steps[s];
  const Value lo = term_code(k_, here.lhs, slots_).value;
  const Value hi = term_code(k_, here.rhs, slots_).value;
  const RangeSize size = range_size(here, lo, hi);
  k_.if_then(size.too_long, sink_.too_long);
  walk_rows(
      s,
      [&](const auto& walk) {
        walk({k_.u32(0), size.count});
      },
      [&](Value offset) {
        slots_[here.target.index] = range_value(lo, offset);
        step(s + 1);
      });
}

Value PipelineCode::exists(size_t s) {
  const Step& here = pipeline_.steps[s];
  const Access& access = access_[s];
  switch (access_kind(here, false)) {
    case AccessKind::Count:
      return access.last != 0;
    case AccessKind::Set:
      return find_row(k_, access.set, key_values(here));
    default:
      break;
  }
  return has_rows(k_, access.index, key_values(here));
}

void PipelineCode::step(size_t s) {
  if (s == pipeline_.steps.size()) return sink_.emit(slots_);
  const Step& here = pipeline_.steps[s];
  if (driver_ == s && here.kind == StepKind::Range) {
    slots_[here.target.index] = range_value(term_code(k_, here.lhs, slots_).value, driver_row_[0]);
    return step(s + 1);
  }
  if (driver_ == s)
    return with_row(
        s, [&](size_t c) { return driver_row_[c]; }, true);
  const std::function<void()> next = [&] { step(s + 1); };
  switch (here.kind) {
    case StepKind::Match:
      return match(s);
    case StepKind::Exists:
      return k_.if_then(exists(s), next);
    case StepKind::Absent:
      return k_.if_then(!exists(s), next);
    case StepKind::Filter: {
      const TermCode a = term_code(k_, here.lhs, slots_);
      const TermCode b = term_code(k_, here.rhs, slots_);
      return when(a, [&] {
        when(b, [&] {
          k_.if_then(compare_code(k_, here.compare, here.lhs.type.kind, a.value, b.value), next);
        });
      });
    }
    case StepKind::Let: {
      const TermCode made = term_code(k_, here.lhs, slots_);
      slots_[here.target.index] = made.value;
      return when(made, next);
    }
    case StepKind::Range:
      return range(s);
    case StepKind::Meet: {
      MeetCode& meet = *access_[s].meet;
      if (sink_.count && s + 1 == pipeline_.steps.size()) {
        return sink_.count(meet.count(slots_, cut_));
      }
      const auto bind = [&](Value value) {
        slots_[here.target.index] = value;
        next();
      };
      if (cut_ == nullptr) return meet.run(slots_, bind);
      return meet.run(slots_, bind, *cut_, loop_of(s));
    }
    case StepKind::Host:
      XLOG_UNREACHABLE("a pipeline is divided where it needs the host");
  }
}

}  // namespace xlog::relation
