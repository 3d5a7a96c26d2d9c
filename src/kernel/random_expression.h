// Random expressions over val parameters, and their values: for the tests of rules and facts.
#pragma once

#include <unordered_map>
#include <vector>

#include "kernel/graph.h"
#include "kernel/random_values.h"
#include "kernel/rewrite.h"

namespace xlog::kernel {

class RandomExpressions {
 public:
  RandomExpressions(Graph& graph, Random& random) : graph_(graph), random_(random) {}

  // A new parameter.
  Id parameter(Type type) {
    params_.push_back(graph_.parameter(static_cast<uint32_t>(params_.size()), type, Mode::Val));
    return params_.back();
  }

  Id constant(Type type) {
    Scalar value = random_value(random_, type);
    const uint32_t choice = random_.below(6);
    if (is_int(type) && choice == 0) value = Scalar::of(type, random_.below(bits_of(type)));
    if (is_int(type) && choice <= 2) {  // next to an edge
      value.bits = (value.bits + (random_.below(2) == 0 ? 1 : mask_of(type))) & mask_of(type);
    }
    return graph_.constant(value);
  }

  // A value with something to know about it: masked, shifted, clamped, widened.
  Id leaf(Type type) {
    if (!is_int(type) || random_.below(3) == 0) return parameter(type);
    const Id x = parameter(type);
    const Id c = constant(type);
    const Id amount = graph_.constant(Scalar::of(type, random_.below(bits_of(type))));
    const Id small = graph_.constant(Scalar::of(type, 1 + random_.below(40)));
    switch (random_.below(10)) {
      case 0:
        return graph_.make(Op::And, {x, c});
      case 1:
        return graph_.make(Op::Or, {x, c});
      case 2:
        return graph_.make(Op::Shl, {x, amount});
      case 3:
        return graph_.make(Op::Shr, {x, amount});
      case 4:
        return graph_.make(Op::And, {x, small});
      case 5:
        return graph_.make(Op::Min, {x, c});
      case 6:
        return graph_.make(Op::Add, {graph_.make(Op::And, {x, small}), c});
      case 7:
        return graph_.make(Op::Select, {parameter(Type::Bool), c, small});
      case 8:
        return graph_.cast(type, parameter(Type::U8));
      default:
        return graph_.cast(type, parameter(Type::Bool));
    }
  }

  // An op over given operands, chosen at random among those that fit; or the first operand.
  Id node(const std::vector<Id>& pool) {
    for (int tries = 0; tries < 40; ++tries) {
      const Op op = static_cast<Op>(static_cast<uint32_t>(Op::Add) + random_.below(kArithmetic));
      if (op == Op::Exp2 || op == Op::Log2) continue;
      std::vector<Id> operands;
      for (int k = 0; k < info(op).operands; ++k)
        operands.push_back(pool[random_.below(pool.size())]);
      if (op == Op::Cast || op == Op::Bitcast) {
        const Type to = kValueTypes[random_.below(kValueTypes.size())];
        if (!cast_problem(op, graph_.type(operands[0]), to).empty()) continue;
        return op == Op::Cast ? graph_.cast(to, operands[0]) : graph_.bitcast(to, operands[0]);
      }
      if (type_problem(graph_, op, operands).empty()) return graph_.make(op, operands);
    }
    return pool[0];
  }

  // New values for all parameters.
  void draw() {
    values_.clear();
    known_.clear();
    for (Id param : params_) values_.push_back(random_value(random_, graph_.type(param)));
  }

  Scalar value(Id id) {
    if (graph_.is_const(id)) return graph_.value(id);
    if (graph_.op(id) == Op::Param) return values_[graph_.position(id)];
    if (auto found = known_.find(id); found != known_.end()) return found->second;
    Scalar operands[3];
    size_t count = 0;
    for (Id operand : graph_.operands(id)) operands[count++] = value(operand);
    Scalar result;
    if (graph_.op(id) == Op::Cast) {
      result = cast(graph_.type(id), operands[0]);
    } else if (graph_.op(id) == Op::Bitcast) {
      result = bitcast(graph_.type(id), operands[0], graph_.is_raw(id));
    } else {
      result = evaluate(graph_.op(id), std::span(operands, count));
    }
    return known_[id] = result;
  }

 private:
  static constexpr uint32_t kArithmetic =
      static_cast<uint32_t>(Op::Log2) - static_cast<uint32_t>(Op::Add) + 1;

  Graph& graph_;
  Random& random_;
  std::vector<Id> params_;
  std::vector<Scalar> values_;
  std::unordered_map<Id, Scalar> known_;
};

}  // namespace xlog::kernel
