#include "device/work_estimate.h"

#include <algorithm>

namespace xlog::device {

using kernel::Graph;
using kernel::Id;
using kernel::Op;
using kernel::Scalar;

// Of a loop that only data knows the length of.
constexpr double kGuessedRounds = 4;

WorkEstimate::WorkEstimate(const Graph& graph, const kernel::Lowered& lowered) {
  bodies_.emplace_back();
  walk(graph, lowered.placement, graph.body(lowered.kernel), 0);
}

void WorkEstimate::walk(const Graph& graph, const kernel::Placement& placement, Id block,
                        uint32_t body) {
  for (Id node : placement.in(block)) {
    ++bodies_[body].nodes;
    const Op op = graph.op(node);
    if (op == Op::If) {
      for (Id branch : graph.operands(node).subspan(1)) walk(graph, placement, branch, body);
    } else if (is_loop(op)) {
      Body inner{.outer = body};
      // A Loop ends when data says so; its bound is only the most that it may do.
      if (op == Op::For) {
        const auto kept = static_cast<ptrdiff_t>(terms_.size());
        inner.lo = term(graph, graph.operand(node, 0));
        inner.hi = inner.lo == kUnknown ? kUnknown : term(graph, graph.operand(node, 1));
        if (inner.hi == kUnknown) terms_.erase(terms_.begin() + kept, terms_.end());
      }
      bodies_.push_back(inner);
      walk(graph, placement, graph.body(node), static_cast<uint32_t>(bodies_.size() - 1));
    }
  }
}

// The smaller of two numbers is at most the one that is known.
uint32_t WorkEstimate::known_of(const Graph& graph, Id smaller) {
  const auto kept = static_cast<ptrdiff_t>(terms_.size());
  const uint32_t first = term(graph, graph.operand(smaller, 0));
  if (first == kUnknown) terms_.erase(terms_.begin() + kept, terms_.end());
  const auto both = static_cast<ptrdiff_t>(terms_.size());
  const uint32_t second = term(graph, graph.operand(smaller, 1));
  if (second == kUnknown) terms_.erase(terms_.begin() + both, terms_.end());
  if (first == kUnknown || second == kUnknown) return std::min(first, second);
  terms_.push_back({.op = Op::Min, .type = graph.type(smaller), .terms = {first, second}});
  return static_cast<uint32_t>(terms_.size() - 1);
}

uint32_t WorkEstimate::term(const Graph& graph, Id value) {
  if (graph.op(value) == Op::Min) return known_of(graph, value);
  // Limits are short formulas, and each launch computes them: a longer one counts as unknown.
  constexpr size_t kMostTerms = 64;
  if (terms_.size() >= kMostTerms) return kUnknown;
  Term made{.op = graph.op(value), .type = graph.type(value), .terms = {}};
  if (is_arithmetic(made.op)) {
    for (Id operand : graph.operands(value)) {
      const uint32_t known = term(graph, operand);
      if (known == kUnknown) return kUnknown;
      made.terms.push_back(known);
    }
  } else if (made.op == Op::Const) {
    made.value = graph.value(value);
  } else if (made.op == Op::Param) {
    made.position = graph.position(value);
  } else if (made.op != Op::Grid && made.op != Op::Group) {
    return kUnknown;
  }
  terms_.push_back(std::move(made));
  return static_cast<uint32_t>(terms_.size() - 1);
}

double WorkEstimate::nodes(const BoundLaunch& launch) const {
  if (bodies_.size() == 1) return bodies_[0].nodes;
  std::vector<Scalar> values;
  values.reserve(terms_.size());
  std::vector<Scalar> operands;
  for (const Term& term : terms_) {
    operands.clear();
    for (uint32_t operand : term.terms) operands.push_back(values[operand]);
    switch (term.op) {
      case Op::Const:
        values.push_back(term.value);
        break;
      case Op::Param:
        values.push_back(launch.arguments[term.position].value);
        break;
      case Op::Grid:
      case Op::Group:
        values.push_back(Scalar::u32(launch.instances / 2));
        break;
      case Op::Cast:
        values.push_back(kernel::cast(term.type, operands[0]));
        break;
      case Op::Bitcast:
        values.push_back(kernel::bitcast(term.type, operands[0], true));
        break;
      default:
        values.push_back(kernel::evaluate(term.op, operands));
    }
  }
  double all = 0;
  std::vector<double> rounds;
  rounds.reserve(bodies_.size());
  for (const Body& body : bodies_) {
    double times = rounds.empty() ? 1 : rounds[body.outer];
    if (body.hi != kUnknown) {
      const double lo = values[body.lo].as_u32(), hi = values[body.hi].as_u32();
      times *= std::max(0.0, hi - lo);
    } else if (!rounds.empty()) {
      times *= kGuessedRounds;
    }
    rounds.push_back(times);
    all += times * body.nodes;
  }
  return all;
}

}  // namespace xlog::device
