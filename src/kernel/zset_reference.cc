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

// Weights as they come out of linear operators and joins, in 128 bits: whether they fit is looked
// at where a plan consolidates, so the order of addition does not matter. More than 128 bits are an
// error at once; no plan that counts its rows in 32 bits can reach them.
class Sum {
 public:
  Sum() = default;
  explicit Sum(const ZSet& set) { add(set); }

  void add(const ZRow& row, __int128 weight) {
    __int128& sum = rows_[row];
    is_lost_ |= __builtin_add_overflow(sum, weight, &sum);
  }
  void add_product(const ZRow& row, __int128 a, int64_t b) {
    __int128 product = 0;
    is_lost_ |= __builtin_mul_overflow(a, static_cast<__int128>(b), &product);
    add(row, product);
  }
  template <typename Set>
  void add(const Set& set) {
    for (const auto& [row, weight] : set) add(row, weight);
  }
  template <typename Set>
  void subtract(const Set& set) {
    for (const auto& [row, weight] : set) add_product(row, weight, -1);
  }

  bool is_lost() const { return is_lost_; }
  auto begin() const { return rows_.begin(); }
  auto end() const { return rows_.end(); }

  Result<ZSet> consolidated() const {
    if (is_lost_) return overflow();
    ZSet set;
    for (const auto& [row, weight] : rows_) {
      if (weight > kGreatestWeight || weight < -kGreatestWeight) return overflow();
      if (weight != 0) set[row] = static_cast<int64_t>(weight);
    }
    return set;
  }

 private:
  std::map<ZRow, __int128, ZRowLess> rows_;
  bool is_lost_ = false;
};

// Runs the body of a flatmap on one row.
class BodyRun {
 public:
  explicit BodyRun(const Graph& graph) : graph_(graph) {}

  std::vector<ZRow> rows(Id node, const ZRow& row) {
    for (uint32_t c = 0; c < row.size(); ++c) args_[{graph_.tag(node), c + 1}] = row[c];
    run(graph_.body(node));
    return std::move(emitted_);
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
  std::vector<ZRow> emitted_;
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

Sum difference(const ZSet& a, const ZSet& b) {
  Sum sum(a);
  sum.subtract(b);
  return sum;
}

Sum join(const Sum& a, const ZSet& b, uint32_t keys) {
  Sum sum;
  for (const auto& [left, wa] : a) {
    for (const auto& [right, wb] : b) {
      const ZRow left_key(left.begin(), left.begin() + keys);
      const ZRow right_key(right.begin(), right.begin() + keys);
      if (ZRowLess()(left_key, right_key) || ZRowLess()(right_key, left_key)) continue;
      ZRow row = left;
      row.insert(row.end(), right.begin() + keys, right.end());
      sum.add_product(row, wa, wb);
    }
  }
  return sum;
}

Sum flat_map(const Graph& graph, Id node, const Sum& a) {
  Sum sum;
  for (const auto& [row, weight] : a) {
    for (const ZRow& made : BodyRun(graph).rows(node, row)) sum.add(made, weight);
  }
  return sum;
}

ZSet find(const std::map<Id, ZSet>& sets, Id id) {
  auto found = sets.find(id);
  return found == sets.end() ? ZSet() : found->second;
}

class Evaluation {
 public:
  Evaluation(const ZSets& zsets, const ZState& state) : zsets_(zsets), state_(state) {}

  Result<ZSet> consolidated(Id node) const {
    Result<Sum> value = sum(node);
    if (!value.ok()) return value.error();
    return value->consolidated();
  }

 private:
  Result<Sum> sum(Id node) const {
    const Op op = graph().op(node);
    const bool is_leaf = op == Op::Input || op == Op::Delta || op == Op::Prev;
    const bool adds = op == Op::Plus || op == Op::Negate || op == Op::FlatMap || op == Op::Join;
    Result<Sum> value = is_leaf ? leaf(node) : adds ? linear(node) : looked_at(node);
    if (value.ok() && value->is_lost()) return overflow();
    return value;
  }

  Result<Sum> leaf(Id node) const {
    const Op op = graph().op(node);
    if (op == Op::Input) {
      return as_sum(add_zsets(find(state_.before, node), find(state_.change, node)));
    }
    const Id of = graph().operand(node, 0);
    if (op == Op::Prev && state_.before.contains(of)) return Sum(find(state_.before, of));
    if (graph().op(of) == Op::Input) {
      return Sum(find(op == Op::Prev ? state_.before : state_.change, of));
    }
    // By definition: the query over the inputs as they were, and as they are.
    ZState was = state_;
    was.change.clear();
    Result<ZSet> old = Evaluation(zsets_, was).consolidated(of);
    if (op == Op::Prev || !old.ok()) return as_sum(old);
    Result<ZSet> now = consolidated(of);
    if (!now.ok()) return now.error();
    return difference(*now, *old);
  }

  // Linear in the first operand: its weights need not fit yet.
  Result<Sum> linear(Id node) const {
    const auto operands = relations(graph(), node);
    Result<Sum> first = sum(operands[0]);
    if (!first.ok()) return first;
    switch (graph().op(node)) {
      case Op::Plus: {
        Result<Sum> second = sum(operands[1]);
        if (second.ok()) second->add(*first);
        return second;
      }
      case Op::Negate: {
        Sum negated;
        negated.subtract(*first);
        return negated;
      }
      case Op::FlatMap:
        return flat_map(graph(), node, *first);
      default: {
        Result<ZSet> right = consolidated(operands[1]);
        if (!right.ok()) return right.error();
        return join(*first, *right, graph()[node].imm);
      }
    }
  }

  // Operators that look at the whole weight of each row.
  Result<Sum> looked_at(Id node) const {
    std::vector<ZSet> operands;
    for (Id operand : relations(graph(), node)) {
      Result<ZSet> value = consolidated(operand);
      if (!value.ok()) return value.error();
      operands.push_back(*value);
    }
    const uint32_t keys = graph()[node].imm;
    const Fold fold = graph().fold(node);
    const Op op = graph().op(node);
    if (op == Op::Distinct) return Sum(distinct(operands[0]));
    if (op == Op::Aggregate) return Sum(aggregate(operands[0], fold, keys));
    XLOG_CHECK(op == Op::DistinctDelta || op == Op::AggregateDelta, "this node is no Z-set");
    Result<ZSet> after = add_zsets(operands[0], operands[1]);
    if (!after.ok()) return after.error();
    if (op == Op::DistinctDelta) return difference(distinct(*after), distinct(operands[0]));
    return difference(aggregate(*after, fold, keys), aggregate(operands[0], fold, keys));
  }

  static Result<Sum> as_sum(const Result<ZSet>& set) {
    if (!set.ok()) return set.error();
    return Sum(*set);
  }

  const Graph& graph() const { return zsets_.graph(); }

  const ZSets& zsets_;
  const ZState& state_;
};

}  // namespace

bool ZRowLess::operator()(const ZRow& a, const ZRow& b) const {
  return std::ranges::lexicographical_compare(a, b, std::less<>(), order_of, order_of);
}

Result<ZSet> add_zsets(const ZSet& a, const ZSet& b) {
  Sum sum(a);
  sum.add(b);
  return sum.consolidated();
}

Result<ZSet> evaluate_zset(const ZSets& zsets, Id node, const ZState& state) {
  return Evaluation(zsets, state).consolidated(node);
}

}  // namespace xlog::kernel
