#include "solve/stable_check.h"

#include <algorithm>
#include <numeric>

namespace xlog::solve {

FoundedCheck::FoundedCheck(const GroundProgram& program)
    : program_(program), begin_(static_cast<size_t>(program.atoms()) + 2, 0) {
  for (size_t r = 0; r < program.rules(); ++r) {
    for (const Literal l : program.rule(r).body) {
      if (l > 0) ++begin_[static_cast<size_t>(l) + 1];
    }
  }
  std::partial_sum(begin_.begin(), begin_.end(), begin_.begin());
  occurrences_.resize(begin_.back());
  std::vector<size_t> next = begin_;
  for (size_t r = 0; r < program.rules(); ++r) {
    const Rule rule = program.rule(r);
    for (size_t i = 0; i < rule.body.size(); ++i) {
      if (rule.body[i] < 0) continue;
      occurrences_[next[static_cast<size_t>(rule.body[i])]++] = {
          static_cast<uint32_t>(r), rule.weighted ? rule.weights[i] : 1};
    }
  }
}

void FoundedCheck::derive(std::span<const Atom> head, const std::vector<bool>& in_set) {
  for (const Atom a : head) {
    const auto i = static_cast<size_t>(a);
    if (!in_set[i] || is_derived_[i]) continue;
    is_derived_[i] = true;
    derived_.push_back(a);
  }
}

bool FoundedCheck::holds(const std::vector<bool>& in_set, const std::vector<bool>& given) {
  const auto is_true = [&](Literal l) {
    return in_set[static_cast<size_t>(variable_of(l))] == (l > 0);
  };
  missing_.assign(program_.rules(), 0);
  is_derived_.assign(static_cast<size_t>(program_.atoms()) + 1, false);
  derived_.clear();
  for (Atom a = 1; a <= program_.atoms(); ++a) {
    if (given[static_cast<size_t>(a)]) derive(std::span(&a, 1), in_set);
  }
  for (size_t r = 0; r < program_.rules(); ++r) {
    const Rule rule = program_.rule(r);
    bool body = true;
    int64_t open = 0;
    if (rule.weighted) {
      open = std::max<int64_t>(rule.bound, 0);
      int64_t weight = 0;
      for (size_t i = 0; i < rule.body.size(); ++i) {
        if (!is_true(rule.body[i])) continue;
        weight += rule.weights[i];
        if (rule.body[i] < 0) open -= rule.weights[i];
      }
      body = weight >= rule.bound;
    } else {
      for (const Literal l : rule.body) {
        body = body && is_true(l);
        open += l > 0;
      }
    }
    if (!body) continue;
    if (rule.head_kind == HeadKind::Disjunction && std::ranges::none_of(rule.head, is_true)) {
      return false;
    }
    missing_[r] = open;
    if (open <= 0) derive(rule.head, in_set);
  }
  while (!derived_.empty()) {
    const auto a = static_cast<size_t>(derived_.back());
    derived_.pop_back();
    for (size_t i = begin_[a]; i < begin_[a + 1]; ++i) {
      const auto [r, weight] = occurrences_[i];
      if (missing_[r] <= 0) continue;
      missing_[r] -= weight;
      if (missing_[r] <= 0) derive(program_.rule(r).head, in_set);
    }
  }
  return in_set == is_derived_;
}

}  // namespace xlog::solve
