#include "plan/estimate.h"

#include <algorithm>
#include <span>

#include "logic/needed.h"
#include "plan/relational.h"

namespace xlog::plan {

using lang::Literal;
using lang::LiteralKind;
using lang::Rule;
using lang::TermKind;

namespace {

constexpr uint64_t kAnyNumber = UINT64_MAX;
constexpr uint64_t kMostCounted = 1u << 20;  // facts whose degrees are counted

uint64_t times(uint64_t a, uint64_t b) { return b != 0 && a > kAnyNumber / b ? kAnyNumber : a * b; }

// As the engine bounds them: values are below the greatest one, where they are numbers from 0;
// others are counted in a sample.
uint64_t distinct_values(const lang::FactColumn& column, uint64_t rows) {
  switch (column.type().kind) {
    case lang::TypeKind::U32:
    case lang::TypeKind::Bool:
    case lang::TypeKind::Symbol: {
      uint64_t below = 0;
      for (uint32_t value : column.narrow()) below = std::max(below, uint64_t{value} + 1);
      return std::min(below, rows);
    }
    default:
      break;
  }
  if (rows < kLeastSampled) return rows;
  const uint64_t sampled = std::min(rows, kSampledRows);
  std::vector<uint64_t> bits;
  for (uint64_t row = 0; row < sampled; ++row) bits.push_back(column.at(row).bits);
  std::ranges::sort(bits);
  const auto distinct = static_cast<uint64_t>(std::ranges::unique(bits).begin() - bits.begin());
  return distinct_from_sample(distinct, sampled, rows);
}

// In a table by value where that is small, else in a sorted copy of few rows.
template <typename T>
std::optional<Degrees> count_values(std::span<const T> values) {
  constexpr uint64_t kCellsForRow = 4;
  const uint64_t greatest = *std::ranges::max_element(values);
  Degrees degrees;
  if (greatest / kCellsForRow < values.size()) {
    std::vector<uint32_t> counts(greatest + 1, 0);
    for (const T value : values) ++counts[value];
    for (const uint32_t times : counts) degrees.add(times);
    return degrees;
  }
  if (values.size() > kSampledRows) return std::nullopt;
  std::vector<T> sorted(values.begin(), values.end());
  std::ranges::sort(sorted);
  for (size_t first = 0, end = 0; first < sorted.size(); first = end) {
    while (end < sorted.size() && sorted[end] == sorted[first]) ++end;
    degrees.add(end - first);
  }
  return degrees;
}

// Whether variables can get their values from an atom.
bool brings_values(const Literal& literal) {
  return literal.modal == lang::Modal::Know || literal.modal == lang::Modal::Possible ||
         (literal.modal == lang::Modal::None && literal.nots == 0);
}

// The head's columns that are no aggregates: what tells its rows apart.
bool is_group(const Rule& rule, uint32_t column) {
  return std::ranges::none_of(rule.aggregates,
                              [&](const auto& aggregate) { return aggregate.column == column; });
}

// How often a pipeline hands something to its sink. Tests are taken to hold.
double solutions_of(const Pipeline& pipeline) {
  double solutions = 1;
  for (const Step& step : pipeline.steps) {
    const bool finds =
        step.kind == StepKind::Match || step.kind == StepKind::Meet || step.kind == StepKind::Range;
    if (finds) solutions *= step.rows;
  }
  return solutions;
}

}  // namespace

Estimates::Estimates(const lang::Program& program, const logic::Analysis& analysis)
    : program_(program),
      analysis_(analysis),
      known_(program.predicates.size()),
      values_(program.predicates.size()),
      degrees_(program.predicates.size()) {}

StatisticsOf Estimates::statistics() const {
  return [this](PredId pred) {
    Statistics known = known_[pred.index];
    known.degrees = [this, pred](uint32_t column) { return count_degrees(pred, column); };
    return known;
  };
}

// As the engine counts them, of facts that are not too many to count on the host.
std::optional<Degrees> Estimates::count_degrees(PredId pred, uint32_t column) const {
  const lang::Predicate& predicate = program_[pred];
  if (predicate.facts == nullptr || !predicate.rules.empty()) return std::nullopt;
  std::map<uint32_t, Degrees>& known = degrees_[pred.index];
  if (const auto found = known.find(column); found != known.end()) return found->second;
  const lang::FactColumn& values = predicate.facts->columns[column];
  const uint64_t rows = predicate.facts->rows;
  // Values of a term column are no numbers here.
  const bool numbered = values.type().kind != lang::TypeKind::Term;
  if (rows == 0 || rows > kMostCounted || !numbered) return std::nullopt;
  std::optional<Degrees> degrees = lang::width(values.type().kind) == 8
                                       ? count_values(std::span(values.wide().data(), rows))
                                       : count_values(std::span(values.narrow().data(), rows));
  if (degrees) known.emplace(column, *degrees);
  return degrees;
}

bool Estimates::is_unknown(PredId pred) const {
  const lang::Predicate& predicate = program_[pred];
  return predicate.rules.empty() && predicate.facts == nullptr && !predicate.is_input;
}

// Its rows are told apart by their first column, more or less (host_tables.h).
bool Estimates::is_host_table(PredId pred) const {
  return is_unknown(pred) && program_[pred].helper;
}

bool Estimates::reads(const Rule& rule, uint32_t component) const {
  return std::ranges::any_of(rule.body, [&](const Literal& literal) {
    return literal.kind == LiteralKind::Atom &&
           analysis_.component_of[literal.pred.index] == component;
  });
}

// How many values each variable can have: the fewest of all atoms that bring it.
void Estimates::look_at(const std::vector<Literal>& body, std::vector<uint64_t>& fewest) const {
  for (const Literal& literal : body) {
    if (literal.kind != LiteralKind::Atom || !brings_values(literal)) continue;
    for (uint32_t c = 0; c < literal.args.size(); ++c) {
      const Term& arg = literal.args[c];
      if (arg.kind != TermKind::Variable) continue;
      fewest[arg.var.index] = std::min(fewest[arg.var.index], values_[literal.pred.index][c]);
    }
  }
}

// Raises what the columns of the component can hold until no rule asks for more. Each change takes
// over a number from below, so it ends.
void Estimates::bound(uint32_t component) {
  for (bool changed = true; changed;) {
    changed = false;
    for (uint32_t r : analysis_.components[component].rules) {
      const Rule& rule = program_.rules[r];
      std::vector<uint64_t> of_body(rule.variables.size(), kAnyNumber);
      look_at(rule.body, of_body);
      for (const lang::HeadElement& head : rule.head) {
        std::vector<uint64_t> fewest = of_body;
        look_at(head.condition, fewest);
        for (uint32_t c = 0; c < head.args.size(); ++c) {
          const Term& term = head.args[c];
          uint64_t values = kAnyNumber;
          if (is_group(rule, c) && term.kind == TermKind::Constant) values = 1;
          if (is_group(rule, c) && term.kind == TermKind::Variable) values = fewest[term.var.index];
          uint64_t& now = values_[head.pred.index][c];
          changed |= values > now;
          now = std::max(now, values);
        }
      }
    }
  }
}

// The rows that a rule adds to its head.
void Estimates::add(const Rule& rule, double solutions) {
  for (const lang::HeadElement& head : rule.head) {
    uint64_t most = 1;
    for (uint32_t c = 0; c < head.args.size(); ++c) {
      if (is_group(rule, c)) most = times(most, values_[head.pred.index][c]);
    }
    constexpr double kMost = 1e18;  // fits into the integer
    Statistics& statistics = known_[head.pred.index];
    statistics.rows += std::min(static_cast<uint64_t>(std::min(solutions, kMost)), most);
    statistics.rows = std::min(statistics.rows, static_cast<uint64_t>(kMost));
  }
}

void Estimates::begin(uint32_t c) {
  const logic::Component& component = analysis_.components[c];
  for (PredId pred : component.predicates) {
    const lang::Predicate& predicate = program_[pred];
    Statistics& statistics = known_[pred.index];
    values_[pred.index].assign(predicate.columns.size(), 0);
    if (is_unknown(pred)) {
      statistics.rows = kUnknownRows;
      values_[pred.index].assign(predicate.columns.size(), kAnyNumber);
    } else if (predicate.facts != nullptr) {
      statistics.rows = predicate.facts->rows;
      for (uint32_t i = 0; i < predicate.facts->columns.size(); ++i) {
        values_[pred.index][i] = distinct_values(predicate.facts->columns[i], statistics.rows);
      }
    }
  }
  bound(c);
  for (uint32_t r : component.rules) {
    const Rule& rule = program_.rules[r];
    if (reads(rule, c)) continue;
    if (why_not_relational(program_, rule)) {
      add(rule, static_cast<double>(kUnknownRows));
    } else {
      add(rule, solutions_of(build_pipeline(program_, r, {}, statistics())));
    }
  }
  for (PredId pred : component.predicates) {
    Statistics& statistics = known_[pred.index];
    if (is_host_table(pred)) statistics.distinct.assign(program_[pred].arity, statistics.rows);
    if (is_unknown(pred)) continue;  // no distinct values are known either
    for (uint64_t values : values_[pred.index]) {
      statistics.distinct.push_back(component.recursive ? statistics.rows
                                                        : std::min(values, statistics.rows));
    }
  }
}

// What recursion adds is not known before it runs: as many rows as its columns have room for, but
// not more than of an unknown relation.
void Estimates::finish(uint32_t c) {
  if (!analysis_.components[c].recursive) return;
  for (PredId pred : analysis_.components[c].predicates) {
    Statistics& statistics = known_[pred.index];
    uint64_t room = 1;
    for (uint64_t values : values_[pred.index]) room = times(room, values);
    statistics.rows = std::max(statistics.rows, std::min(room, kUnknownRows));
    for (size_t i = 0; i < statistics.distinct.size(); ++i) {
      statistics.distinct[i] = std::min(values_[pred.index][i], statistics.rows);
    }
  }
}

double expected_rows(const lang::Program& program, const logic::Analysis& analysis) {
  Estimates estimates(program, analysis);
  const std::vector<bool> needed = logic::needed_for_answers(program, analysis);
  double rows = 0;
  for (uint32_t c = 0; c < analysis.components.size(); ++c) {
    estimates.begin(c);
    estimates.finish(c);
    for (PredId pred : analysis.components[c].predicates) {
      const bool derives = needed[pred.index] && !program[pred].rules.empty();
      if (derives) rows += static_cast<double>(estimates[pred].rows);
    }
  }
  return rows;
}

}  // namespace xlog::plan
