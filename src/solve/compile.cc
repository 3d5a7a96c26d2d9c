#include "solve/compile.h"

namespace xlog::solve {
namespace {

struct CircuitTally {
  using Value = Circuit::Node;
  struct Branch {
    std::vector<Literal> literals;
    std::vector<int32_t> free;
    std::vector<Value> children;
  };

  static Value none() { return Circuit::kFalse; }
  static bool is_none(Value value) { return value == Circuit::kFalse; }
  static Branch begin(std::span<const Literal> assigned, std::span<const int32_t> free) {
    return {{assigned.begin(), assigned.end()}, {free.begin(), free.end()}, {}};
  }
  static void include(Branch& branch, Value value) { branch.children.push_back(value); }
  Value either(const Branch* a, const Branch* b) {
    const auto node = [&](const Branch* branch) {
      return branch == nullptr ? none()
                               : circuit.add_all(branch->literals, branch->free, branch->children);
    };
    const Value first = node(a);
    const Value second = node(b);
    if (is_none(first)) return second;
    return is_none(second) ? first : circuit.add_either(first, second);
  }
  static size_t bytes(Value) { return 0; }

  Circuit circuit;
};

}  // namespace

Compiled compile(const CountFormula& formula, const std::vector<bool>& kept, const Limits& limits,
                 const CountOptions& options) {
  CircuitTally tally{Circuit(formula.variables())};
  CountSearch<CircuitTally> search(formula, kept, tally, options, limits);
  const std::optional<Circuit::Node> root = search.run();
  Compiled result;
  if (!root) {
    result.outcome = search.outcome();
    return result;
  }
  result.circuit = std::move(tally.circuit);
  result.circuit.set_root(*root);
  result.outcome = CircuitTally::is_none(*root) ? Outcome::Unsat : Outcome::Sat;
  return result;
}

}  // namespace xlog::solve
