#include "epistemic/chosen_world.h"

#include <algorithm>
#include <cstdlib>
#include <numeric>

namespace xlog::epistemic {

using solve::Atom;
using solve::GroundProgram;
using solve::HeadKind;
using solve::Literal;
using solve::Rule;

namespace {

int64_t weight_of(const Rule& rule, size_t i) { return rule.weighted ? rule.weights[i] : 1; }

int64_t bound_of(const Rule& rule) {
  return rule.weighted ? rule.bound : static_cast<int64_t>(rule.body.size());
}

}  // namespace

ChosenWorld::ChosenWorld(const GroundProgram& program, const std::vector<uint32_t>& varying,
                         std::vector<Derivation> derivations, const std::vector<Atom>& choices)
    : program_(program), varying_(varying), derivations_(std::move(derivations)) {
  const auto is_varying = [](uint32_t number) { return number != kNone; };
  const auto numbers = static_cast<size_t>(std::ranges::count_if(varying, is_varying));
  read_from_.assign(numbers + 1, 0);
  derived_from_.assign(numbers + 1, 0);
  for (uint32_t d = 0; d < derivations_.size(); ++d) {
    const Rule rule = program.rule(derivations_[d].rule);
    const Atom head = derivations_[d].head;
    heads_.push_back(head == 0 ? kNone : number(head));
    const bool is_choice = head != 0 && rule.head_kind == HeadKind::Choice;
    const auto place = std::ranges::lower_bound(choices, head);
    choice_.push_back(is_choice ? static_cast<uint32_t>(place - choices.begin()) : kNone);
    Left left = {bound_of(rule), -bound_of(rule)};
    for (size_t i = 0; i < rule.body.size(); ++i) {
      left.room += weight_of(rule, i);
      if (number(rule.body[i]) != kNone) ++read_from_[number(rule.body[i]) + 1];
    }
    open_.push_back(left);
    if (head == 0) {
      constraints_.push_back(d);
    } else {
      ++derived_from_[heads_[d] + 1];
    }
  }
  std::partial_sum(read_from_.begin(), read_from_.end(), read_from_.begin());
  std::partial_sum(derived_from_.begin(), derived_from_.end(), derived_from_.begin());
  readers_.resize(read_from_.back());
  derived_by_.resize(derived_from_.back());
  std::vector<size_t> next_reader = read_from_, next_derived = derived_from_;
  for (uint32_t d = 0; d < derivations_.size(); ++d) {
    const Rule rule = program.rule(derivations_[d].rule);
    for (size_t i = 0; i < rule.body.size(); ++i) {
      const uint32_t read = number(rule.body[i]);
      if (read == kNone) continue;
      readers_[next_reader[read]++] = {d, rule.body[i] < 0, weight_of(rule, i)};
    }
    if (heads_[d] != kNone) derived_by_[next_derived[heads_[d]]++] = d;
  }
}

uint32_t ChosenWorld::number(Literal literal) const {
  const auto atom = static_cast<size_t>(std::abs(literal));
  return atom < varying_.size() ? varying_[atom] : kNone;
}

int ChosenWorld::value(Literal literal) const {
  const uint32_t n = number(literal);
  const int value = n == kNone ? 0 : values_[n];
  return literal < 0 ? -value : value;
}

bool ChosenWorld::is_open(size_t derivation) const {
  const Left& left = left_[derivation];
  const uint32_t head = heads_[derivation];
  return left.room >= 0 && left.missing > 0 && (head == kNone || values_[head] == 0);
}

bool ChosenWorld::may_be_violated() const {
  return std::ranges::any_of(constraints_, [&](uint32_t c) { return is_open(c); });
}

void ChosenWorld::evaluate(const std::vector<bool>& choices) { start(choices, open_); }

void ChosenWorld::evaluate_given(const std::vector<bool>& choices) { start(choices, given_); }

void ChosenWorld::give(const Holds& rest) {
  given_ = open_;
  for (uint32_t d = 0; d < derivations_.size(); ++d) {
    const Rule rule = program_.rule(derivations_[d].rule);
    work_ += rule.body.size();
    for (size_t i = 0; i < rule.body.size(); ++i) {
      const Literal literal = rule.body[i];
      if (number(literal) != kNone) continue;
      const bool is_true = rest(std::abs(literal)) == (literal > 0);
      (is_true ? given_[d].missing : given_[d].room) -= weight_of(rule, i);
    }
  }
}

void ChosenWorld::start(const std::vector<bool>& choices, const std::vector<Left>& left) {
  left_ = left;
  is_violated_ = false;
  const size_t numbers = derived_from_.size() - 1;
  values_.assign(numbers, 0);
  supports_.resize(numbers);
  for (size_t n = 0; n < numbers; ++n) {
    supports_[n] = static_cast<uint32_t>(derived_from_[n + 1] - derived_from_[n]);
    if (supports_[n] == 0) decide(static_cast<uint32_t>(n), -1);
  }
  for (uint32_t d = 0; d < derivations_.size(); ++d) {
    if (choice_[d] != kNone && !choices[choice_[d]]) left_[d].room = -1;
    settle(d);
  }
  work_ += numbers + derivations_.size();
  propagate();
}

// Called once when a body holds, and once when it cannot.
void ChosenWorld::settle(uint32_t derivation) {
  const uint32_t head = heads_[derivation];
  if (left_[derivation].room < 0) {
    if (head != kNone && --supports_[head] == 0) decide(head, -1);
  } else if (left_[derivation].missing <= 0) {
    if (head == kNone) {
      is_violated_ = true;
    } else {
      decide(head, 1);
    }
  }
}

void ChosenWorld::decide(uint32_t number, int8_t value) {
  if (values_[number] != 0) return;
  values_[number] = value;
  todo_.push_back(number);
}

void ChosenWorld::propagate() {
  while (!todo_.empty()) {
    const uint32_t decided = todo_.back();
    todo_.pop_back();
    const bool is_true = values_[decided] > 0;
    work_ += read_from_[decided + 1] - read_from_[decided];
    for (size_t i = read_from_[decided]; i < read_from_[decided + 1]; ++i) {
      const Reader& reader = readers_[i];
      Left& left = left_[reader.derivation];
      if (left.room < 0 || left.missing <= 0) continue;
      (is_true != reader.negative ? left.missing : left.room) -= reader.weight;
      settle(reader.derivation);
    }
  }
}

std::vector<size_t> ChosenWorld::needed(std::span<const Literal> literals) {
  std::vector<bool> is_needed(values_.size(), false);
  std::vector<uint32_t> todo;
  std::vector<size_t> found;
  const auto need = [&](Literal literal) {
    const uint32_t n = number(literal);
    if (n == kNone || values_[n] != 0 || is_needed[n]) return;
    is_needed[n] = true;
    todo.push_back(n);
  };
  const auto take = [&](size_t derivation) {
    if (!is_open(derivation)) return;
    found.push_back(derivation);
    const Rule rule = program_.rule(derivations_[derivation].rule);
    work_ += rule.body.size();
    std::ranges::for_each(rule.body, need);
  };
  std::ranges::for_each(constraints_, take);
  std::ranges::for_each(literals, need);
  while (!todo.empty()) {
    const uint32_t n = todo.back();
    todo.pop_back();
    for (size_t i = derived_from_[n]; i < derived_from_[n + 1]; ++i) take(derived_by_[i]);
  }
  std::ranges::sort(found);
  return found;
}

}  // namespace xlog::epistemic
