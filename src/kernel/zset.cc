#include "kernel/zset.h"

#include <fmt/format.h>

#include "base/check.h"

namespace xlog::kernel {

std::span<const Id> relations(const Graph& graph, Id node) {
  const auto operands = graph.operands(node);
  return graph.op(node) == Op::FlatMap ? operands.first(1) : operands;
}

Id ZSets::input(std::string_view name, Schema schema) {
  XLOG_CHECK(!schema.empty(), "a Z-set has a column");
  const auto number = static_cast<uint32_t>(inputs_.size());
  inputs_.push_back({std::string(name), std::move(schema)});
  return graph_.add(Op::Input, Type::Void, 0, number, {});
}

Id ZSets::flat_map(Id a, const std::function<void(RowBuilder&, const Values&)>& body) {
  const uint32_t tag = graph_.new_tag();
  RowBuilder builder(graph_, "flatmap");
  const Id block = builder.block_of([&] {
    Values row;
    for (Type type : schema(a)) {
      row.push_back(builder.wrap(graph_.arg(tag, static_cast<uint32_t>(row.size()) + 1, type)));
    }
    body(builder, row);
  });
  const Id operands[] = {a, block};
  const Id node = graph_.loop(Op::FlatMap, tag, operands);
  XLOG_CHECK(!schema(node).empty(), "a flat map emits rows of at least one column");
  return node;
}

Id ZSets::join(uint32_t keys, Id a, Id b) {
  const Schema left = schema(a);
  const Schema right = schema(b);
  XLOG_CHECK(keys <= left.size() && keys <= right.size(), "a join has that many columns");
  for (uint32_t c = 0; c < keys; ++c) {
    XLOG_CHECK(left[c] == right[c], "key columns have one type on both sides");
  }
  const Id operands[] = {a, b};
  return graph_.add(Op::Join, Type::Void, 0, keys, operands);
}

Id ZSets::plus(Id a, Id b) {
  XLOG_CHECK(schema(a) == schema(b), "Z-sets that are added have the same columns");
  return graph_.make(Op::Plus, {a, b});
}

Id ZSets::negate(Id a) { return graph_.make(Op::Negate, {a}); }
Id ZSets::distinct(Id a) { return graph_.make(Op::Distinct, {a}); }
Id ZSets::delta(Id a) { return graph_.make(Op::Delta, {a}); }
Id ZSets::prev(Id a) { return graph_.make(Op::Prev, {a}); }

Id ZSets::aggregate(Fold fold, uint32_t keys, Id a) {
  const Schema columns = schema(a);
  XLOG_CHECK(keys < columns.size(), "an aggregate has a column besides its keys");
  XLOG_CHECK(in_domain(Domain::Num, columns.back()), "an aggregate folds numbers");
  return graph_.add(Op::Aggregate, Type::Void, static_cast<uint8_t>(fold), keys, std::span(&a, 1));
}

Schema ZSets::schema(Id node) const {
  const auto operands = graph_.operands(node);
  switch (graph_.op(node)) {
    case Op::Input:
      return inputs_[graph_[node].imm].schema;
    case Op::FlatMap:
      return body_columns(graph_, node);
    case Op::Join: {
      Schema columns = schema(operands[0]);
      const Schema right = schema(operands[1]);
      columns.insert(columns.end(), right.begin() + graph_[node].imm, right.end());
      return columns;
    }
    case Op::Aggregate:
    case Op::AggregateDelta: {
      const Schema columns = schema(operands[0]);
      Schema result(columns.begin(), columns.begin() + graph_[node].imm);
      result.push_back(columns.back());
      return result;
    }
    default:
      XLOG_CHECK(info(graph_.op(node)).tier == Tier::Relation, "this node is no Z-set");
      return schema(operands[0]);
  }
}

std::string ZSets::text(Id node) const {
  const Op op = graph_.op(node);
  if (op == Op::Input) return std::string(input_name(node));
  std::string text = fmt::format("({}", spelling(op));
  if (op == Op::FlatMap) text += fmt::format(" #{}", graph_.tag(node));
  if (op == Op::Join) text += fmt::format(" {}", graph_[node].imm);
  if (op == Op::Aggregate || op == Op::AggregateDelta) {
    text += fmt::format(" {} {}", spelling(graph_.fold(node)), graph_[node].imm);
  }
  for (Id operand : relations(graph_, node)) text += fmt::format(" {}", this->text(operand));
  return text + ")";
}

}  // namespace xlog::kernel
