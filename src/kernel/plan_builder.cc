#include "kernel/plan_builder.h"

#include <fmt/format.h>

#include <set>

#include "base/check.h"

namespace xlog::kernel {

namespace {

// The first Emit or Yield of a body, which names the columns.
Id find_row(const Graph& graph, Id block, Op op) {
  for (Id effect : graph.operands(block)) {
    if (graph.op(effect) == op) return effect;
    if (op == Op::Yield) continue;  // only that of the body itself, not those of its loops
    for (Id operand : graph.operands(effect)) {
      if (graph.op(operand) != Op::Block) continue;
      if (Id found = find_row(graph, operand, op); found.valid()) return found;
    }
  }
  return Id{};
}

}  // namespace

std::vector<Type> body_columns(const Graph& graph, Id node) {
  const Id row =
      find_row(graph, graph.body(node), graph.op(node) == Op::Map ? Op::Yield : Op::Emit);
  std::vector<Type> types;
  if (!row.valid()) return types;
  for (Id value : graph.operands(row)) types.push_back(graph.type(value));
  return types;
}

Id PlanBuilder::parameter(Type type, Mode mode, std::string_view name) {
  const Id id = graph_->parameter(static_cast<uint32_t>(params_.size()), type, mode);
  graph_->set_name(id, name);
  info_.param_names.emplace_back(name);
  params_.push_back(id);
  return id;
}

Value PlanBuilder::val(Type type, std::string_view name) {
  return wrap(parameter(type, Mode::Val, name));
}

Buffer PlanBuilder::buffer(Type type, Mode mode, std::string_view name) {
  return wrap_buffer(parameter(type, mode, name));
}

Buffer PlanBuilder::buf(Type type, Value count) {
  return wrap_buffer(append(graph_->add(Op::Buf, type, 0, 0, std::span(&count.id, 1))));
}

Buffer PlanBuilder::unset_buf(Type type, Value count) {
  return wrap_buffer(append(graph_->add(Op::Buf, type, kBufUnset, 0, std::span(&count.id, 1))));
}

Buffer PlanBuilder::copy(const Columns& parts) {
  XLOG_CHECK(!parts.empty(), "a copy of no buffers has no type");
  std::vector<Id> ids;
  for (Buffer part : parts) {
    XLOG_CHECK(part.type() == parts[0].type(), "copied buffers have one type");
    ids.push_back(part.id);
  }
  return wrap_buffer(append(graph_->make(Op::Copy, ids)));
}

Value PlanBuilder::read(Buffer b, Value index) {
  return wrap(append(graph_->make(Op::Read, {b.id, index.id})));
}

void PlanBuilder::launch(Id kernel, const std::vector<Id>& arguments) {
  XLOG_CHECK(graph_->params(kernel).size() == arguments.size(),
             "a launch has one argument for each parameter");
  std::vector<Id> operands = {kernel};
  operands.insert(operands.end(), arguments.begin(), arguments.end());
  append(graph_->make(Op::Launch, operands));
}

void PlanBuilder::require(uint32_t code, Value condition, std::string_view what) {
  const Id check = append(graph_->check(code, condition.id));
  graph_->set_name(check, what);
}

void PlanBuilder::require_equal_lengths(const Columns& columns, std::string_view where) {
  // A buffer that was made here has the length that it was made with: most checks need not be made.
  auto length = [&](Buffer column) {
    return graph_->op(column.id) == Op::Buf ? wrap(graph_->operand(column.id, 0)) : len(column);
  };
  const Value first = length(columns[0]);
  std::set<Id> known = {first.id};
  for (Buffer column : columns) {
    const Value other = length(column);
    if (!known.insert(other.id).second) continue;
    require(kCheckLength, first == other, fmt::format("columns of unequal length in {}", where));
  }
}

Columns PlanBuilder::columns_of(Id node, const std::vector<Type>& types, uint32_t first) {
  Columns columns;
  for (Type type : types) {
    const auto k = static_cast<uint32_t>(columns.size()) + first;
    columns.push_back(wrap_buffer(graph_->proj(node, k, type)));
  }
  return columns;
}

Columns PlanBuilder::map(Value n, const std::function<Values(Value)>& body) {
  const uint32_t tag = graph_->new_tag();
  const Id block = block_of([&] {
    std::vector<Id> row;
    for (Value v : body(wrap(graph_->arg(tag, 0, Type::U32)))) row.push_back(v.id);
    append(graph_->make(Op::Yield, row));
  });
  const Id operands[] = {n.id, block};
  const Id node = append(graph_->loop(Op::Map, tag, operands));
  return columns_of(node, body_columns(*graph_, node));
}

Rows PlanBuilder::expand(Value n, const std::function<void(Value)>& body) {
  const uint32_t tag = graph_->new_tag();
  const Id block = block_of([&] { body(wrap(graph_->arg(tag, 0, Type::U32))); });
  const Id operands[] = {n.id, block};
  const Id node = append(graph_->loop(Op::Expand, tag, operands));
  Rows rows;
  rows.columns = columns_of(node, body_columns(*graph_, node));
  rows.count = rows.columns.empty() ? wrap(graph_->proj(node, 0, Type::U32)) : len(rows.columns[0]);
  return rows;
}

void PlanBuilder::emit(const Values& row) {
  std::vector<Id> ids;
  for (Value v : row) ids.push_back(v.id);
  append(graph_->make(Op::Emit, ids));
}

Scanned PlanBuilder::scan(Fold fold, Buffer column) {
  const Id node = append(graph_->fold_node(Op::Scan, fold, std::span(&column.id, 1)));
  return {wrap_buffer(graph_->proj(node, 0, column.type())),
          wrap(graph_->proj(node, 1, column.type()))};
}

Buffer PlanBuilder::reduce(Fold fold, Buffer column) {
  return wrap_buffer(append(graph_->fold_node(Op::Reduce, fold, std::span(&column.id, 1))));
}

Sorted PlanBuilder::sort(const Columns& columns) {
  XLOG_CHECK(!columns.empty(), "a sort needs a column");
  std::vector<Id> ids;
  std::vector<Type> types;
  for (Buffer column : columns) {
    ids.push_back(column.id);
    types.push_back(column.type());
  }
  const Id node = append(graph_->make(Op::Sort, ids));
  return {wrap_buffer(graph_->proj(node, 0, Type::U32)), columns_of(node, types, 1)};
}

Buffer PlanBuilder::segment(Fold fold, Buffer heads, Buffer column) {
  const Id operands[] = {heads.id, column.id};
  const Id node = append(graph_->fold_node(Op::Segment, fold, operands));
  return wrap_buffer(graph_->proj(node, 0, column.type()));
}

Partitioned PlanBuilder::partition(Buffer ids, Value buckets) {
  const Id node = append(graph_->make(Op::Partition, {ids.id, buckets.id}));
  return {wrap_buffer(graph_->proj(node, 0, Type::U32)),
          wrap_buffer(graph_->proj(node, 1, Type::U32))};
}

Buffer PlanBuilder::merge(const Columns& first, const Columns& second) {
  XLOG_CHECK(!first.empty() && first.size() == second.size(), "merged runs have equal columns");
  std::vector<Id> ids;
  for (Buffer column : first) ids.push_back(column.id);
  for (Buffer column : second) ids.push_back(column.id);
  const auto columns = static_cast<uint32_t>(first.size());
  const Id node = append(graph_->add(Op::Merge, Type::Void, 0, columns, ids));
  return wrap_buffer(graph_->proj(node, 0, Type::U32));
}

Columns PlanBuilder::gather(const Columns& columns, Buffer rows) {
  if (columns.empty()) return {};
  return map(len(rows), [&](Value i) {
    const Value row = rows[i];
    Values values;
    for (Buffer column : columns) values.push_back(column[row]);
    return values;
  });
}

Id PlanBuilder::finish(const Columns& results) {
  std::vector<Id> ids;
  for (Buffer column : results) ids.push_back(column.id);
  return finish_ids(ids);
}

Id PlanBuilder::finish_ids(const std::vector<Id>& results) {
  XLOG_CHECK(blocks_.size() == 1, "a block of the plan is still open");
  append(graph_->make(Op::Yield, results));
  return graph_->plan(info_, graph_->block(blocks_.back()), params_);
}

std::vector<Id> PlanBuilder::effects_of(const std::function<void()>& body) {
  blocks_.emplace_back();
  body();
  std::vector<Id> effects = std::move(blocks_.back());
  blocks_.pop_back();
  return effects;
}

}  // namespace xlog::kernel
