#include "solve/ground_program.h"

#include <numeric>

#include "base/check.h"

namespace xlog::solve {

std::string_view name_of(ExternalValue value) {
  switch (value) {
    case ExternalValue::Free:
      return "free";
    case ExternalValue::True:
      return "true";
    case ExternalValue::False:
      return "false";
    case ExternalValue::Release:
      return "release";
  }
  XLOG_UNREACHABLE("all values are covered");
}

void GroundProgram::know(std::span<const Literal> literals) {
  for (const Literal literal : literals) {
    XLOG_CHECK(literal != 0 && literal != INT32_MIN && variable_of(literal) <= kMostAtoms,
               "a literal is an atom or its negation");
    need_atoms(variable_of(literal));
  }
}

void GroundProgram::add_rule(HeadKind kind, std::span<const Atom> head,
                             std::span<const Literal> body) {
  know(head);
  know(body);
  for (const Atom atom : head) XLOG_CHECK(atom > 0, "heads hold atoms");
  XLOG_CHECK(heads_.size() <= UINT32_MAX && bodies_.size() <= UINT32_MAX,
             "rules have less than 2^32 heads and literals");
  rules_.push_back({static_cast<uint32_t>(heads_.size()), static_cast<uint32_t>(bodies_.size()),
                    kind == HeadKind::Choice, 0});
  heads_.insert(heads_.end(), head.begin(), head.end());
  bodies_.insert(bodies_.end(), body.begin(), body.end());
}

void GroundProgram::add_weight_rule(HeadKind kind, std::span<const Atom> head, int64_t bound,
                                    std::span<const Literal> body,
                                    std::span<const int64_t> weights) {
  XLOG_CHECK(body.size() == weights.size(), "each literal has a weight");
  int64_t left = INT64_MAX;
  for (const int64_t weight : weights) {
    XLOG_CHECK(weight > 0, "weights are positive");
    XLOG_CHECK(weight <= left, "the sum of the weights fits in 63 bits");
    left -= weight;
  }
  add_rule(kind, head, body);
  weighted_.push_back({weights_.size(), bound});
  rules_.back().weighted = static_cast<uint32_t>(weighted_.size());
  weights_.insert(weights_.end(), weights.begin(), weights.end());
}

std::optional<std::string_view> GroundProgram::name(Atom atom) const {
  for (const Shown& item : shown) {
    if (item.condition.size() == 1 && item.condition[0] == atom) return item.text;
  }
  return std::nullopt;
}

GroundProgram program_of(const Cnf& cnf) {
  GroundProgram program;
  std::vector<Atom> all(static_cast<size_t>(cnf.variables()));
  std::iota(all.begin(), all.end(), 1);
  program.add_rule(HeadKind::Choice, all, {});
  std::vector<Literal> body;
  for (size_t i = 0; i < cnf.size(); ++i) {
    body.clear();
    for (const Literal literal : cnf[i]) body.push_back(-literal);
    program.add_rule(HeadKind::Disjunction, std::span<const Atom>(), body);
  }
  return program;
}

}  // namespace xlog::solve
