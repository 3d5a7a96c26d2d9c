#include "relation/carry_kernel.h"

#include <algorithm>

namespace xlog::relation {

using plan::ColumnUse;
using plan::Step;
using plan::StepKind;

namespace {

bool is_plain(const lang::Term& term) {
  return term.kind == lang::TermKind::Variable || term.kind == lang::TermKind::Constant;
}

// Whether a step looks rows up or compares, and computes nothing.
bool only_looks(const Step& step) {
  switch (step.kind) {
    case StepKind::Match:
    case StepKind::Exists:
    case StepKind::Absent:
    case StepKind::Meet:
      return true;
    case StepKind::Filter:
      return is_plain(step.lhs) && is_plain(step.rhs);
    case StepKind::Let:
    case StepKind::Range:
    case StepKind::Host:
      return false;
  }
  return false;
}

void collect(const Step& step, std::vector<lang::VarId>& variables) {
  for (const plan::ColumnArg& column : step.columns) {
    if (column.use != ColumnUse::Ignore) lang::collect_variables(column.term, variables);
  }
  if (step.kind == StepKind::Filter) {
    lang::collect_variables(step.lhs, variables);
    lang::collect_variables(step.rhs, variables);
  }
  for (const Step& member : step.members) collect(member, variables);
}

}  // namespace

std::vector<uint32_t> carried_columns(const plan::Pipeline& pipeline,
                                      const std::vector<lang::Term>& head, lang::PredId into) {
  const std::optional<size_t> driver = driver_of(pipeline);
  if (!driver || !std::ranges::all_of(pipeline.steps, only_looks)) return {};
  if (!std::ranges::all_of(head, is_plain)) return {};
  const Step& step = pipeline.steps[*driver];
  const bool drives = step.pred == into && step.part == plan::Part::New;
  if (!drives || asks_set(pipeline, into) || looks_up(pipeline, into)) return {};
  std::vector<lang::VarId> used;  // each variable once for each place
  for (const Step& any : pipeline.steps) collect(any, used);
  for (const lang::Term& term : head) lang::collect_variables(term, used);
  std::vector<uint32_t> carried;
  for (uint32_t c = 0; c < head.size(); ++c) {
    if (step.columns[c].use != ColumnUse::Bind) continue;
    if (head[c].kind != lang::TermKind::Variable || head[c].var != step.columns[c].term.var) {
      continue;
    }
    // In the driver and in the head.
    if (std::ranges::count(used, head[c].var) == 2) carried.push_back(c);
  }
  return carried.size() < head.size() ? carried : std::vector<uint32_t>{};
}

CarryKernel::CarryKernel(kernel::Graph& graph, const lang::Program& program,
                         const plan::Pipeline& pipeline, const std::vector<lang::Term>& head,
                         const RelationOf& relation_of, lang::PredId into, const Marks& marks)
    : k_(graph, "carry"), head_(head), set_{into, {}} {
  const Relation& relation = relation_of(into);
  moving_ = relation.set_shape().order;
  moving_.resize(moving_.size() - carried_columns(pipeline, head, into).size());
  blocks_ = k_.val(Type::U32, "blocks");
  first_block_ = k_.val(Type::U32, "first_block");
  nodes_ = k_.val(Type::U32, "nodes");
  line_ = k_.val(Type::U32, "line");
  most_ = k_.val(Type::U32, "most");
  state_ = k_.own(Type::U32, "state");
  waiting_ = k_.own(Type::U32, "waiting");
  queue_ = k_.own(Type::U32, "queue");
  set_.set = declare_set(k_, relation.set_shape(), relation.types(), kernel::Mode::Own);
  code_.emplace(k_, program, pipeline, relation_of, marks, set_);
  zero_ = k_.u32(0);
}

Values CarryKernel::row_of_node(Value node) {
  Values row(head_.size(), zero_);
  Value rest = node;
  for (size_t p = moving_.size() - 1; p > 0; --p) {
    const Value size = k_.cast(Type::U32, set_.set.sizes[moving_[p]]);
    row[moving_[p]] = rest % size;
    rest = rest / size;
  }
  row[moving_[0]] = rest;
  return row;
}

Value CarryKernel::node_of_head(const Slots& slots) {
  Value node = term_code(k_, head_[moving_[0]], slots).value;
  for (size_t p = 1; p < moving_.size(); ++p) {
    node = node * k_.cast(Type::U32, set_.set.sizes[moving_[p]]) +
           term_code(k_, head_[moving_[p]], slots).value;
  }
  return node;
}

kernel::Id CarryKernel::build() {
  instance_ = k_.grid(blocks_);
  in_line_ = (first_block_ + instance_) * kBlockWords;
  const auto state = [&](QueueState which) {
    return instance_ * kQueueState + static_cast<uint32_t>(which);
  };
  first_ = k_.private_array(Type::U32, 1);
  count_ = k_.private_array(Type::U32, 1);
  added_ = k_.private_array(Type::U32, 1);
  moves_ = k_.private_array(Type::U32, kBlockWords);
  fresh_ = k_.private_array(Type::U32, kBlockWords);
  k_.store(first_, zero_, state_[state(kFirst)]);
  k_.store(count_, zero_, state_[state(kWaiting)]);
  k_.store(added_, zero_, zero_);
  code_->begin(instance_);
  k_.if_then(state_[state(kSeeded)] == 0, [&] { seed(); });
  k_.loop(most_, zero_ < count_[zero_], {},
          [&](Value t, const Values&) -> std::pair<Value, Values> {
            const Value at = first_[zero_];
            const Value node = queue_[instance_ * nodes_ + at];
            k_.store(first_, zero_, k_.select(at + 1 == nodes_, zero_, at + 1));
            k_.store(count_, zero_, count_[zero_] - 1);
            take(node);
            return {(zero_ < count_[zero_]) & (t + 1 < most_), {}};
          });
  code_->end();
  k_.store(state_, state(kSeeded), k_.u32(1));
  k_.store(state_, state(kFirst), first_[zero_]);
  k_.store(state_, state(kWaiting), count_[zero_]);
  k_.store(state_, state(kAdded), added_[zero_]);
  return k_.finish();
}

// All nodes fit: each is there at most once.
void CarryKernel::enqueue(Value node) {
  const Value end = first_[zero_] + count_[zero_];
  const Value at = k_.select(end < nodes_, end, end - nodes_);
  k_.store(queue_, instance_ * nodes_ + at, node);
  k_.store(count_, zero_, count_[zero_] + 1);
}

void CarryKernel::seed() {
  k_.for_range(zero_, nodes_, [&](Value node) {
    const Value from = node * line_ + in_line_;
    const Value to = (instance_ * nodes_ + node) * kBlockWords;
    const Values any = k_.for_range(zero_, k_.u32(kBlockWords), {zero_},
                                    [&](Value w, const Values& carried) -> Values {
                                      const Value bits = set_.set.cells[from + w];
                                      k_.store(waiting_, to + w, bits);
                                      return {carried[0] | bits};
                                    });
    k_.if_then(any[0] != 0, [&] { enqueue(node); });
  });
}

// What waits at a node goes through the rule.
void CarryKernel::take(Value node) {
  const Value from = (instance_ * nodes_ + node) * kBlockWords;
  k_.for_range(zero_, k_.u32(kBlockWords), [&](Value w) {
    k_.store(moves_, w, waiting_[from + w]);
    k_.store(waiting_, from + w, zero_);
  });
  // Nothing is computed that could have no value.
  code_->run(row_of_node(node),
             {[&](const Slots& slots) { give(node_of_head(slots)); }, [] {}, [] {}, {}});
}

void CarryKernel::give(Value node) {
  const Value to = node * line_ + in_line_;
  const Value block = k_.u32(kBlockWords);
  const Values any =
      k_.for_range(zero_, block, {zero_}, [&](Value w, const Values& carried) -> Values {
        const Value comes = moves_[w] & (set_.set.cells[to + w] ^ UINT32_MAX);
        k_.store(fresh_, w, comes);
        return {carried[0] | comes};
      });
  k_.if_then(any[0] != 0, [&] {
    const Value waits = (instance_ * nodes_ + node) * kBlockWords;
    const Values sums =
        k_.for_range(zero_, block, {zero_, zero_}, [&](Value w, const Values& carried) -> Values {
          const Value comes = fresh_[w];
          const Value before = waiting_[waits + w];
          k_.store(set_.set.cells, to + w, set_.set.cells[to + w] | comes);
          k_.store(waiting_, waits + w, before | comes);
          return {carried[0] | before, carried[1] + k_.popc(comes)};
        });
    k_.store(added_, zero_, added_[zero_] + sums[1]);
    k_.if_then(sums[0] == 0, [&] { enqueue(node); });
  });
}

}  // namespace xlog::relation
