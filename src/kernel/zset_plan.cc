// Which plan pieces a query takes, node by node; the pieces are in zset_plan_ops.cc.
#include "kernel/zset_plan.h"

#include <fmt/format.h>

#include <map>

#include "base/check.h"
#include "kernel/rebuild.h"

namespace xlog::kernel {

namespace {

class QueryPlanner {
 public:
  QueryPlanner(const ZSets& zsets, std::string_view name)
      : zsets_(zsets), graph_(zsets.graph()), plan_(zsets.graph(), name) {}

  ZSetPlan plan(const std::vector<Id>& roots) {
    // Parameters come before everything else, so leaves are found first.
    for (Id root : roots) find_leaves(root);
    for (Id leaf : leaves_) {
      Columns columns = made_.at(leaf).columns;
      columns.push_back(made_.at(leaf).weights);
      plan_.require_equal_lengths(columns, fmt::format("the Z-set {}", zsets_.text(leaf)));
    }
    Columns results;
    for (Id root : roots) {
      ZColumns value = consolidate(plan_, relation(root));
      results.insert(results.end(), value.columns.begin(), value.columns.end());
      results.push_back(value.weights);
    }
    return {plan_.finish(results), leaves_};
  }

 private:
  void find_leaves(Id node) {
    if (made_.contains(node)) return;
    const Op op = graph_.op(node);
    if (op != Op::Input && op != Op::Delta && op != Op::Prev) {
      for (Id operand : relations(graph_, node)) find_leaves(operand);
      return;
    }
    XLOG_CHECK(op != Op::Delta || graph_.op(graph_.operand(node, 0)) == Op::Input,
               "a query that is planned has delta on inputs only");
    ZColumns leaf;
    const std::string name = fmt::format("r{}", leaves_.size());
    for (Type type : zsets_.schema(node)) {
      leaf.columns.push_back(plan_.in(type, fmt::format("{}_{}", name, leaf.columns.size())));
    }
    leaf.weights = plan_.in(Type::I64, name + "_weight");
    leaf.consolidated = true;
    leaves_.push_back(node);
    made_.emplace(node, leaf);
  }

  ZColumns relation(Id node) {
    if (auto known = made_.find(node); known != made_.end()) return known->second;
    ZColumns value = make(node);
    // A Z-set with several users is consolidated once, not by each of them.
    made_[node] = value;
    return value;
  }

  ZColumns sorted(Id node) {
    ZColumns value = consolidate(plan_, relation(node));
    made_[node] = value;
    return value;
  }

  ZColumns make(Id node) {
    const auto operands = relations(graph_, node);
    const uint32_t keys = graph_[node].imm;
    switch (graph_.op(node)) {
      case Op::FlatMap:
        return flat_map(node, relation(operands[0]));
      case Op::Join: {
        const ZColumns right = sorted(operands[1]);
        return zset_join(plan_, keys, relation(operands[0]), right);
      }
      case Op::Plus:
        return zset_plus(plan_, relation(operands[0]), relation(operands[1]));
      case Op::Negate:
        return zset_negate(plan_, relation(operands[0]));
      case Op::Distinct:
        return zset_distinct(plan_, sorted(operands[0]));
      case Op::Aggregate:
        return zset_aggregate(plan_, graph_.fold(node), keys, sorted(operands[0]));
      case Op::DistinctDelta: {
        const ZColumns before = sorted(operands[0]);
        return zset_distinct_delta(plan_, before, sorted(operands[1]));
      }
      case Op::AggregateDelta: {
        const ZColumns before = sorted(operands[0]);
        return zset_aggregate_delta(plan_, graph_.fold(node), keys, before, sorted(operands[1]));
      }
      default:
        XLOG_UNREACHABLE("this node is no Z-set");
    }
  }

  ZColumns flat_map(Id node, const ZColumns& a) {
    const Rows rows = plan_.expand(plan_.len(a.weights), [&](Value i) {
      Rebuild body(graph_);
      for (uint32_t c = 0; c < a.columns.size(); ++c) {
        body.set(graph_.arg(graph_.tag(node), c + 1, a.columns[c].type()), a.columns[c][i].id);
      }
      const Value weight = a.weights[i];
      body.before = [&](Id original, std::vector<Id>& out, Id& replacement) {
        const Op op = graph_.op(original);
        if (is_loop(op)) {
          replacement = fresh_loop(body, original);
          out.push_back(replacement);
          return true;
        }
        if (op != Op::Emit) return false;
        std::vector<Id> row;
        for (Id value : graph_.operands(original)) row.push_back(body(value));
        row.push_back(weight.id);
        out.push_back(graph_.make(Op::Emit, row));
        return true;
      };
      std::vector<Id> effects;
      body.effects(graph_.operands(graph_.body(node)), effects);
      for (Id effect : effects) plan_.append(effect);
    });
    ZColumns result{rows.columns, rows.columns.back(), false};
    result.columns.pop_back();
    return result;
  }

  // The loop with a tag of its own: one body may stand in a plan several times.
  Id fresh_loop(Rebuild& body, Id loop) {
    const uint32_t tag = graph_.new_tag();
    const auto inits = graph_.inits(loop);
    body.set(graph_.arg(graph_.tag(loop), 0, Type::U32), graph_.arg(tag, 0, Type::U32));
    for (uint32_t k = 0; k < inits.size(); ++k) {
      const Type type = graph_.type(inits[k]);
      body.set(graph_.arg(graph_.tag(loop), k + 1, type), graph_.arg(tag, k + 1, type));
    }
    std::vector<Id> operands;
    for (Id operand : graph_.operands(loop)) {
      operands.push_back(graph_.op(operand) == Op::Block ? body.block(operand) : body(operand));
    }
    return graph_.loop(graph_.op(loop), tag, operands);
  }

  const ZSets& zsets_;
  Graph& graph_;
  PlanBuilder plan_;
  std::map<Id, ZColumns> made_;
  std::vector<Id> leaves_;
};

}  // namespace

ZSetPlan zset_plan(const ZSets& zsets, std::string_view name, const std::vector<Id>& roots) {
  return QueryPlanner(zsets, name).plan(roots);
}

}  // namespace xlog::kernel
