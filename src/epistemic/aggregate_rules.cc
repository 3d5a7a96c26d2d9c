#include "epistemic/aggregate_rules.h"

#include <fmt/format.h>

#include <cmath>

#include "oracle/context.h"
#include "oracle/possible_results.h"

namespace xlog::epistemic {

using lang::Value;
using oracle::AggregateInput;
using oracle::Fold;
using oracle::PartialResults;
using solve::Atom;
using solve::HeadKind;
using solve::Literal;

namespace {

constexpr int64_t kMostSum = int64_t{1} << 60;
constexpr double kMostExact = 0x1p53;
constexpr size_t kMostNodes = 4 * oracle::kMostResults;

}  // namespace

AggregateRules::AggregateRules(const AggregateInput& input, std::vector<Atom> counts,
                               solve::GroundProgram& program, lang::Names& names)
    : input_(input),
      counts_(std::move(counts)),
      program_(program),
      names_(names),
      ones_{std::vector<int64_t>(counts_.size(), 1)},
      columns_(input.folds.size()) {
  if (!input.nonempty) return;
  some_ = program_.new_atom();
  for (const Atom counted : counts_) add_rule(some_, {counted});
}

std::vector<Literal> AggregateRules::equals(const std::vector<Value>& result) {
  std::vector<Literal> body;
  if (input_.nonempty) body.push_back(some_);
  for (size_t column = 0; column < columns_.size(); ++column) {
    for (const Literal literal : column_equals(column, result[column])) body.push_back(literal);
  }
  return body;
}

std::vector<Literal> AggregateRules::column_equals(size_t column, const Value& result) {
  const Fold& fold = input_.folds[column];
  if (fold.kind == Fold::Kind::Count) {
    return sum_equals(ones_, static_cast<int64_t>(result.bits));
  }
  if (fold.kind == Fold::Kind::Min || fold.kind == Fold::Kind::Max) {
    return best_equals(column, result);
  }
  prepare(column);
  Column& known = columns_[column];
  if (!known.weights) {
    const auto found = known.by_result.find({result.kind, result.bits});
    return {found == known.by_result.end() ? program_.new_atom() : found->second};
  }
  if (fold.kind == Fold::Kind::Avg) return average_equals(*known.weights, result.as_double());
  if (lang::is_integer(result.kind)) return sum_equals(*known.weights, result.as_signed());
  return sum_equals(*known.weights, result.as_double());
}

std::vector<Literal> AggregateRules::best_equals(size_t column, const Value& result) {
  const bool is_least = input_.folds[column].kind == Fold::Kind::Min;
  const Atom equal = program_.new_atom(), better = program_.new_atom();
  for (size_t e = 0; e < counts_.size(); ++e) {
    const auto order = lang::compare(input_.elements[e].values[column], result, names_);
    if (order == 0) add_rule(equal, {counts_[e]});
    if (is_least ? order < 0 : order > 0) add_rule(better, {counts_[e]});
  }
  return {equal, -better};
}

// ---- sums that are exact ----

std::vector<Literal> AggregateRules::sum_equals(Weights& weights, double sum) {
  const double units = std::ldexp(sum, -weights.unit);
  if (!(std::abs(units) < kMostExact) || units != std::trunc(units)) return {program_.new_atom()};
  return sum_equals(weights, static_cast<int64_t>(units));
}

std::vector<Literal> AggregateRules::sum_equals(Weights& weights, int64_t sum) {
  return {at_least(weights, sum), -at_least(weights, sum + 1)};
}

// Some number of elements has the sum which, divided by it, gives the average.
std::vector<Literal> AggregateRules::average_equals(Weights& weights, double average) {
  const Atom equal = program_.new_atom();
  for (size_t number = 1; number <= counts_.size(); ++number) {
    const auto divisor = static_cast<double>(number);
    const double units = std::ldexp(average * divisor, -weights.unit);
    if (!(std::abs(units) < kMostExact)) continue;
    const int64_t near = std::llround(units);
    for (const int64_t sum : {near - 1, near, near + 1}) {
      if (std::ldexp(static_cast<double>(sum), weights.unit) / divisor != average) continue;
      std::vector<Literal> body = sum_equals(weights, sum);
      for (const Literal literal : sum_equals(ones_, static_cast<int64_t>(number))) {
        body.push_back(literal);
      }
      add_rule(equal, std::move(body));
    }
  }
  return {equal};
}

Atom AggregateRules::at_least(Weights& weights, int64_t bound) {
  const auto [entry, is_new] = weights.at_least.emplace(bound, 0);
  if (!is_new) return entry->second;
  const Atom made = entry->second = program_.new_atom();
  std::vector<Literal> literals;
  std::vector<int64_t> positive;
  for (size_t e = 0; e < counts_.size(); ++e) {
    const int64_t weight = weights.weights[e];
    if (weight == 0) continue;
    literals.push_back(weight > 0 ? counts_[e] : -counts_[e]);
    positive.push_back(std::abs(weight));
    if (weight < 0) bound -= weight;
  }
  if (bound <= 0) {
    add_rule(made, {});
  } else {
    const Atom head[] = {made};
    program_.add_weight_rule(HeadKind::Disjunction, std::span<const Atom>(head), bound,
                             std::span<const Literal>(literals),
                             std::span<const int64_t>(positive));
  }
  return made;
}

// ---- columns ----

std::optional<AggregateRules::Weights> AggregateRules::integers(size_t column) const {
  Weights found;
  int64_t sum = 0;
  for (const AggregateInput::Element& element : input_.elements) {
    const int64_t weight = element.values[column].as_signed();
    if (weight <= -kMostSum || weight >= kMostSum) return std::nullopt;
    sum += std::abs(weight);
    if (sum >= kMostSum) return std::nullopt;
    found.weights.push_back(weight);
  }
  return found;
}

std::optional<AggregateRules::Weights> AggregateRules::floats(size_t column) const {
  std::vector<double> values;
  for (const AggregateInput::Element& element : input_.elements) {
    values.push_back(element.values[column].as_double());
  }
  const std::optional<int> unit = oracle::exact_unit(values);
  if (!unit) return std::nullopt;
  Weights found;
  found.unit = *unit;
  for (const double value : values) {
    found.weights.push_back(static_cast<int64_t>(std::ldexp(value, -*unit)));
  }
  return found;
}

void AggregateRules::prepare(size_t column) {
  Column& known = columns_[column];
  if (known.is_prepared) return;
  known.is_prepared = true;
  const Fold& fold = input_.folds[column];
  if (fold.kind == Fold::Kind::Sum && lang::is_integer(fold.result.kind)) {
    known.weights = integers(column);
  } else if (fold.kind == Fold::Kind::Sum || fold.kind == Fold::Kind::Avg) {
    known.weights = floats(column);
  }
  if (!known.weights) find_results(column);
}

// Elements are taken or left one after another, and atoms say what is known after each of them: a
// diagram of decisions, with a result at each end.
void AggregateRules::find_results(size_t column) {
  std::vector<std::vector<Value>> values;
  for (const AggregateInput::Element& element : input_.elements) {
    values.push_back({element.values[column]});
  }
  std::vector<PartialResults::Row> rows;
  for (const std::vector<Value>& row : values) rows.push_back(&row);
  const PartialResults partial({input_.folds[column]}, false, std::move(rows), names_);

  using Level = std::map<PartialResults::State, Atom>;
  Level level = {{partial.start(), 0}};  // 0: always
  size_t nodes = 0;
  for (const uint32_t e : partial.order()) {
    Level next;
    const auto go = [&](Atom from, PartialResults::State to, std::optional<Literal> condition) {
      Atom& node = next[std::move(to)];
      if (node == 0) node = program_.new_atom();
      std::vector<Literal> body;
      if (from != 0) body.push_back(from);
      if (condition) body.push_back(*condition);
      add_rule(node, std::move(body));
    };
    const bool is_certain = input_.elements[e].condition.empty();
    for (const auto& [state, node] : level) {
      if (is_certain) {
        go(node, partial.taken(state, e), std::nullopt);
      } else {
        go(node, partial.taken(state, e), counts_[e]);
        go(node, state, -counts_[e]);
      }
    }
    level = std::move(next);
    nodes += level.size();
    if (nodes > kMostNodes) {
      throw oracle::LimitExceeded{
          fmt::format("an aggregate over {} rows has more than {} partial results",
                      input_.elements.size(), kMostNodes),
          "aggregate over fewer rows that may or may not hold", input_.span};
    }
  }
  for (const auto& [state, node] : level) {
    const auto result = partial.result(state, names_);
    if (!result) continue;
    Atom& equal = columns_[column].by_result[{result->front().kind, result->front().bits}];
    if (equal == 0) equal = program_.new_atom();
    std::vector<Literal> body;
    if (node != 0) body.push_back(node);
    add_rule(equal, std::move(body));
  }
}

void AggregateRules::add_rule(Atom head, std::vector<Literal> body) {
  const Atom heads[] = {head};
  program_.add_rule(HeadKind::Disjunction, std::span<const Atom>(heads),
                    std::span<const Literal>(body));
}

}  // namespace xlog::epistemic
