#include "oracle/ground.h"

#include <algorithm>
#include <unordered_map>

#include "base/check.h"

namespace xlog::oracle {

void for_each_atom(const GroundLiteral& literal, const GroundProgram& program,
                   const std::function<void(AtomId, const GroundLiteral&)>& visit) {
  if (literal.kind != GroundKind::Aggregate) return visit(literal.index, literal);
  for (const auto& element : program.aggregates[literal.index].input->elements) {
    for (const GroundLiteral& inner : element.condition) for_each_atom(inner, program, visit);
  }
}

namespace {

bool aggregate_holds(const GroundAggregate& aggregate, const GroundProgram& program,
                     const Interpretation& world, lang::Names& names) {
  std::vector<const std::vector<Value>*> rows;
  for (const auto& element : aggregate.input->elements) {
    if (holds(element.condition, program, world, names)) rows.push_back(&element.values);
  }
  const auto result = fold_rows(aggregate.input->folds, aggregate.input->nonempty, rows, names);
  return result && *result == aggregate.result;
}

}  // namespace

bool holds(const GroundLiteral& literal, const GroundProgram& program, const Interpretation& world,
           lang::Names& names) {
  switch (literal.kind) {
    case GroundKind::Pos:
    case GroundKind::NotNot:
      return world[literal.index];
    case GroundKind::Neg:
      return !world[literal.index];
    case GroundKind::Aggregate:
      return aggregate_holds(program.aggregates[literal.index], program, world, names);
    case GroundKind::Modal:
      break;
  }
  XLOG_UNREACHABLE("modal literals are replaced before worlds are looked at");
}

bool holds(GroundBody body, const GroundProgram& program, const Interpretation& world,
           lang::Names& names) {
  return std::all_of(body.begin(), body.end(),
                     [&](const GroundLiteral& l) { return holds(l, program, world, names); });
}

bool holds(const GroundBound& bound, const GroundProgram& program, const Interpretation& world,
           lang::Names& names) {
  if (!holds(bound.body, program, world, names)) return true;
  std::vector<uint32_t> counted;
  for (const auto& element : bound.elements) {
    if (holds(element.condition, program, world, names)) counted.push_back(element.atom);
  }
  std::sort(counted.begin(), counted.end());
  const auto distinct = std::unique(counted.begin(), counted.end()) - counted.begin();
  return bound.lower <= distinct && distinct <= bound.upper;
}

bool is_broken(const GroundBound& bound) {
  if (!bound.body.empty()) return false;
  const auto distinct = [&](const auto& counts) {
    std::vector<uint32_t> counted;
    for (const auto& element : bound.elements) {
      if (counts(element)) counted.push_back(element.atom);
    }
    std::ranges::sort(counted);
    return std::ranges::unique(counted).begin() - counted.begin();
  };
  return distinct([](const auto& e) { return e.condition.empty(); }) > bound.upper ||
         distinct([](const auto&) { return true; }) < bound.lower;
}

namespace {

using Body = std::vector<GroundLiteral>;
using TruthOf = std::function<Truth(const GroundLiteral&)>;

class Replacement {
 public:
  Replacement(const GroundProgram& program, const TruthOf& truth, GroundProgram& out)
      : program_(program), truth_(truth), out_(out) {}

  // Puts the remaining literals of a body into `left`, and those of its aggregates into `out`;
  // false when the body is.
  bool replace(GroundBody body, Body& left) {
    left.clear();
    for (const GroundLiteral& literal : body) {
      const Truth value = truth_(literal);
      if (value == Truth::False) return false;
      if (value == Truth::True) continue;
      left.push_back(literal);
      if (literal.kind != GroundKind::Aggregate) continue;
      const GroundAggregate& aggregate = program_.aggregates[literal.index];
      auto input = replaced(aggregate.input);
      left.back().index = static_cast<uint32_t>(out_.aggregates.size());
      out_.aggregates.push_back({std::move(input), aggregate.result});
    }
    return true;
  }

 private:
  // The results of an aggregate share its input.
  std::shared_ptr<const AggregateInput> replaced(
      const std::shared_ptr<const AggregateInput>& input) {
    const auto [entry, is_new] = inputs_.emplace(input.get(), nullptr);
    if (!is_new) return entry->second;
    auto made = std::make_shared<AggregateInput>();
    made->folds = input->folds;
    made->nonempty = input->nonempty;
    made->span = input->span;
    for (const auto& element : input->elements) {
      Body condition;
      if (!replace(element.condition, condition)) continue;
      made->elements.push_back({element.values, std::move(condition)});
    }
    return inputs_[input.get()] = std::move(made);
  }

  const GroundProgram& program_;
  const TruthOf& truth_;
  GroundProgram& out_;
  std::unordered_map<const AggregateInput*, std::shared_ptr<const AggregateInput>> inputs_;
};

void replace_bounds(const GroundProgram& program, Replacement& replacement, GroundProgram& out) {
  Body body;
  for (const GroundBound& bound : program.bounds) {
    if (!replacement.replace(bound.body, body)) continue;
    GroundBound kept{bound.lower, bound.upper, {}, body, bound.source};
    for (const auto& element : bound.elements) {
      Body condition;
      if (!replacement.replace(element.condition, condition)) continue;
      kept.elements.push_back({element.atom, std::move(condition)});
    }
    out.bounds.push_back(std::move(kept));
  }
}

}  // namespace

void replace_in_bounds(const GroundProgram& program, const TruthOf& truth, GroundProgram& out) {
  Replacement replacement(program, truth, out);
  replace_bounds(program, replacement, out);
}

GroundProgram replace_literals(const GroundProgram& program, const TruthOf& truth) {
  GroundProgram out;
  out.atom_count = program.atom_count;
  Replacement replacement(program, truth, out);
  Body body;
  for (const GroundRule rule : program.rules) {
    if (!replacement.replace(rule.body, body)) continue;
    out.rules.add(rule.kind, rule.heads, body, rule.source);
  }
  replace_bounds(program, replacement, out);
  return out;
}

}  // namespace xlog::oracle
