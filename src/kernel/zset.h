// Queries over Z-sets: relations whose rows have signed weights. Nodes of the relation tier of
// op.def in a Graph; docs/zsets.md says which laws hold.
//
//   ZSets z(graph);
//   Id edge = z.input("edge", {Type::U32, Type::U32});
//   Id back = z.flat_map(edge, [](RowBuilder& b, const Values& row) { b.emit({row[1], row[0]}); });
//   Id path = z.distinct(z.join(1, back, edge));       // y, x, z: x -> y -> z
//   Id change = incremental(z, path);                  // zset_rules.h
//
// Layout of the nodes, all pure:
//   input            imm: its number
//   flatmap          operands: relation, block; imm: the tag; Arg c + 1 is column c; Emits rows
//   join             imm: k, the number of key columns; columns: keys, rest of a, rest of b
//   aggregate        imm: k; flags: the Fold; columns: keys, the fold of the last column
//   aggregate_delta  as aggregate
// The others have no attributes.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "kernel/plan_builder.h"

namespace xlog::kernel {

using Schema = std::vector<Type>;

// Weights go from -kGreatestWeight to kGreatestWeight, so that each has a negative.
constexpr int64_t kGreatestWeight = INT64_MAX;

// Builds the body of a flat_map; `emit` gives a row.
using RowBuilder = PlanBuilder;

class ZSets {
 public:
  explicit ZSets(Graph& graph) : graph_(graph) {}

  Graph& graph() const { return graph_; }

  Id input(std::string_view name, Schema schema);
  Id flat_map(Id a, const std::function<void(RowBuilder&, const Values& row)>& body);
  Id join(uint32_t keys, Id a, Id b);
  Id plus(Id a, Id b);
  Id negate(Id a);
  Id distinct(Id a);
  // Folds the last column for each key. Rows of positive weight count once each, so columns
  // between keys and last one keep rows apart: a count sums a column of ones.
  Id aggregate(Fold fold, uint32_t keys, Id a);
  Id delta(Id a);
  Id prev(Id a);

  Schema schema(Id node) const;
  std::string_view input_name(Id input) const { return inputs_[graph_[input].imm].name; }
  size_t input_count() const { return inputs_.size(); }

  // "(distinct (join 1 edge (delta edge)))"; a flat_map shows the number of its body.
  std::string text(Id node) const;

 private:
  struct Input {
    std::string name;
    Schema schema;
  };

  Graph& graph_;
  std::vector<Input> inputs_;
};

// The operands of a relation node that are relations.
std::span<const Id> relations(const Graph& graph, Id node);

}  // namespace xlog::kernel
