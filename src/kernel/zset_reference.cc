#include "kernel/zset_reference.h"

#include <algorithm>

#include "base/check.h"

namespace xlog::kernel {

namespace {

uint64_t order_of(Scalar v) {
  if (!is_float(v.type) && !is_signed(v.type)) return v.bits;
  const uint64_t sign = uint64_t{1} << (bits_of(v.type) - 1);
  const uint64_t bits = canonical(v).bits;
  if (is_signed(v.type)) return bits ^ sign;
  return bits ^ ((bits & sign) != 0 ? mask_of(v.type) : sign);
}

Error overflow() { return Error{"a weight does not fit 64 bits", ""}; }

// Sums up in 128 bits and looks at the end, so that the order of addition does not matter.
class Sum {
 public:
  void add(const ZRow& row, __int128 weight) { rows_[row] += weight; }
  void add(const ZSet& set) {
    for (const auto& [row, weight] : set) add(row, weight);
  }
  Result<ZSet> result() const {
    ZSet set;
    for (const auto& [row, weight] : rows_) {
      if (weight > INT64_MAX || weight < INT64_MIN) return overflow();
      if (weight != 0) set[row] = static_cast<int64_t>(weight);
    }
    return set;
  }

 private:
  std::map<ZRow, __int128, ZRowLess> rows_;
};

// Runs the body of a flatmap on one row.
class BodyRun {
 public:
  BodyRun(const Graph& graph, Id node, const ZRow& row, std::vector<ZRow>& emitted)
      : graph_(graph), emitted_(emitted) {
    for (uint32_t c = 0; c < row.size(); ++c) args_[{graph.tag(node), c + 1}] = row[c];
    run(graph.body(node));
  }

 private:
  using Values = std::vector<Scalar>;

  // Gives the values of the Yield that ends the block, if one does.
  Values run(Id block) {
    for (Id effect : graph_.operands(block)) {
      const auto operands = graph_.operands(effect);
      switch (graph_.op(effect)) {
        case Op::Emit: {
          ZRow row = values(operands);
          for (Scalar& v : row) v = canonical(v);
          emitted_.push_back(row);
          break;
        }
        case Op::Yield:
          return values(operands);
        case Op::If:
          if (value(operands[0]).as_bool()) {
            run(operands[1]);
          } else if (operands.size() > 2) {
            run(operands[2]);
          }
          break;
        case Op::For:
          loop(effect);
          break;
        default:
          XLOG_UNREACHABLE("the body of a flatmap computes, branches, counts and emits");
      }
    }
    return {};
  }

  void loop(Id node) {
    const uint32_t hi = value(graph_.operand(node, 1)).as_u32();
    Values carried = values(graph_.inits(node));
    for (uint32_t j = value(graph_.operand(node, 0)).as_u32(); j < hi; ++j) {
      args_[{graph_.tag(node), 0}] = Scalar::u32(j);
      for (uint32_t k = 0; k < carried.size(); ++k) args_[{graph_.tag(node), k + 1}] = carried[k];
      carried = run(graph_.body(node));
    }
    loops_[node] = carried;
  }

  Values values(std::span<const Id> ids) {
    Values all;
    for (Id id : ids) all.push_back(value(id));
    return all;
  }

  Scalar value(Id id) {
    switch (graph_.op(id)) {
      case Op::Const:
        return graph_.value(id);
      case Op::Arg:
        return args_.at({graph_.tag(id), graph_.arg_index(id)});
      case Op::Proj:
        return loops_.at(graph_.operand(id, 0)).at(graph_.result_index(id));
      case Op::Cast:
        return cast(graph_.type(id), value(graph_.operand(id, 0)));
      case Op::Bitcast:
        return bitcast(graph_.type(id), value(graph_.operand(id, 0)));
      default:
        return evaluate(graph_.op(id), values(graph_.operands(id)));
    }
  }

  const Graph& graph_;
  std::vector<ZRow>& emitted_;
  std::map<std::pair<uint32_t, uint32_t>, Scalar> args_;
  std::map<Id, Values> loops_;
};

ZSet distinct(const ZSet& a) {
  ZSet result;
  for (const auto& [row, weight] : a) {
    if (weight > 0) result[row] = 1;
  }
  return result;
}

// The rows of positive weight fold in their order; floats in chunks of 256, then the chunks.
ZSet aggregate(const ZSet& a, Fold fold, uint32_t keys) {
  std::map<ZRow, std::vector<Scalar>, ZRowLess> groups;
  for (const auto& [row, weight] : a) {
    if (weight > 0) groups[ZRow(row.begin(), row.begin() + keys)].push_back(row.back());
  }
  ZSet result;
  for (const auto& [key, column] : groups) {
    const Scalar identity = fold_identity(fold, column[0].type);
    Scalar total = identity;
    for (size_t lo = 0; lo < column.size(); lo += 256) {
      Scalar part = identity;
      for (size_t r = lo; r < std::min(column.size(), lo + 256); ++r) {
        part = fold_step(fold, part, column[r]);
      }
      total = fold_step(fold, total, part);
    }
    ZRow row = key;
    row.push_back(canonical(total));
    result[row] = 1;
  }
  return result;
}

Result<ZSet> subtract(const ZSet& a, const ZSet& b) {
  Sum sum;
  sum.add(a);
  for (const auto& [row, weight] : b) sum.add(row, -static_cast<__int128>(weight));
  return sum.result();
}

Result<ZSet> join(const ZSet& a, const ZSet& b, uint32_t keys) {
  Sum sum;
  for (const auto& [left, wa] : a) {
    for (const auto& [right, wb] : b) {
      const ZRow left_key(left.begin(), left.begin() + keys);
      const ZRow right_key(right.begin(), right.begin() + keys);
      if (ZRowLess()(left_key, right_key) || ZRowLess()(right_key, left_key)) continue;
      const __int128 weight = static_cast<__int128>(wa) * wb;
      if (weight > INT64_MAX || weight < INT64_MIN) return overflow();
      ZRow row = left;
      row.insert(row.end(), right.begin() + keys, right.end());
      sum.add(row, weight);
    }
  }
  return sum.result();
}

ZSet find(const std::map<Id, ZSet>& sets, Id id) {
  auto found = sets.find(id);
  return found == sets.end() ? ZSet() : found->second;
}

}  // namespace

bool ZRowLess::operator()(const ZRow& a, const ZRow& b) const {
  return std::ranges::lexicographical_compare(a, b, std::less<>(), order_of, order_of);
}

Result<ZSet> add_zsets(const ZSet& a, const ZSet& b) {
  Sum sum;
  sum.add(a);
  sum.add(b);
  return sum.result();
}

Result<ZSet> evaluate_zset(const ZSets& zsets, Id node, const ZState& state) {
  const Graph& graph = zsets.graph();
  const Op op = graph.op(node);
  if (op == Op::Input) return add_zsets(find(state.before, node), find(state.change, node));
  if (op == Op::Delta || op == Op::Prev) {
    const Id of = graph.operand(node, 0);
    if (op == Op::Prev && state.before.contains(of)) return find(state.before, of);
    if (graph.op(of) == Op::Input) return find(op == Op::Prev ? state.before : state.change, of);
    // By definition: the query over the inputs as they were, and as they are.
    ZState was = state;
    was.change.clear();
    Result<ZSet> old = evaluate_zset(zsets, of, was);
    if (op == Op::Prev || !old.ok()) return old;
    Result<ZSet> now = evaluate_zset(zsets, of, state);
    return now.ok() ? subtract(*now, *old) : now;
  }
  std::vector<ZSet> operands;
  for (Id operand : relations(graph, node)) {
    Result<ZSet> value = evaluate_zset(zsets, operand, state);
    if (!value.ok()) return value;
    operands.push_back(*value);
  }
  const uint32_t keys = graph[node].imm;
  switch (op) {
    case Op::Plus:
      return add_zsets(operands[0], operands[1]);
    case Op::Negate:
      return subtract({}, operands[0]);
    case Op::Join:
      return join(operands[0], operands[1], keys);
    case Op::FlatMap: {
      Sum sum;
      for (const auto& [row, weight] : operands[0]) {
        std::vector<ZRow> emitted;
        BodyRun(graph, node, row, emitted);
        for (const ZRow& made : emitted) sum.add(made, weight);
      }
      return sum.result();
    }
    case Op::Distinct:
      return distinct(operands[0]);
    case Op::Aggregate:
      return aggregate(operands[0], graph.fold(node), keys);
    case Op::DistinctDelta:
    case Op::AggregateDelta: {
      Result<ZSet> after = add_zsets(operands[0], operands[1]);
      if (!after.ok()) return after;
      if (op == Op::DistinctDelta) return subtract(distinct(*after), distinct(operands[0]));
      return subtract(aggregate(*after, graph.fold(node), keys),
                      aggregate(operands[0], graph.fold(node), keys));
    }
    default:
      XLOG_UNREACHABLE("this node is no Z-set");
  }
}

}  // namespace xlog::kernel
