#include "incremental/fact_set.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <numeric>

namespace xlog::incremental {
namespace {

using lang::PredId;
using lang::Value;
using Row = std::span<const Value>;

Row row_of(const FactChanges& changes, size_t row, uint32_t arity) {
  return Row(changes.values).subspan(row * arity, arity);
}

// The canonical order of the rows of a predicate; integers are compared without looking up names.
class RowOrder {
 public:
  RowOrder(const lang::Predicate& predicate, const lang::Names& names) : names_(names) {
    for (const lang::PredicateColumn& column : predicate.columns) {
      kinds_.push_back(lang::type_class(column.type.kind));
    }
  }
  bool operator()(Row a, Row b) const {
    for (size_t i = 0; i < kinds_.size(); ++i) {
      if (a[i] == b[i]) continue;
      switch (kinds_[i]) {
        case lang::TypeClass::Unsigned:
          return a[i].bits < b[i].bits;
        case lang::TypeClass::Signed:
          return a[i].as_signed() < b[i].as_signed();
        default:
          if (const auto order = lang::compare(a[i], b[i], names_); order != 0) return order < 0;
      }
    }
    return false;
  }

 private:
  const lang::Names& names_;
  std::vector<lang::TypeClass> kinds_;
};

bool same_row(Row a, Row b) { return std::ranges::equal(a, b); }

// Rows by canonical order.
std::vector<size_t> sorted_rows(const FactChanges& changes, const lang::Predicate& predicate,
                                const lang::Names& names) {
  std::vector<size_t> order(changes.weights.size());
  std::iota(order.begin(), order.end(), 0);
  const RowOrder row_order(predicate, names);
  const uint32_t arity = predicate.arity;
  const auto comes_before = [&](size_t a, size_t b) {
    return row_order(row_of(changes, a, arity), row_of(changes, b, arity));
  };
  // Mostly they are sorted: batches of a log and checkpoints were.
  if (!std::ranges::is_sorted(order, comes_before)) std::ranges::sort(order, comes_before);
  return order;
}

}  // namespace

std::string fact_text(PredId pred, Row row, const lang::Program& program,
                      const lang::Names& names) {
  std::string text = lang::predicate_name(program[pred], names);
  for (size_t i = 0; i < row.size(); ++i) {
    text += (i == 0 ? "(" : ", ") + lang::to_source(row[i], names);
  }
  return row.empty() ? text : text + ")";
}

Error weight_overflow(const std::string& fact) {
  return {fmt::format("the weight of `{}` would leave 64 bits", fact),
          "retract it as often as it was inserted"};
}

Error cannot_retract(PredId pred, Row row, int64_t weight, int64_t change,
                     const lang::Program& program, const lang::Names& names) {
  const std::string fact = fact_text(pred, row, program, names);
  if (weight > 0) {
    return Error{fmt::format("`{}` is there {} and cannot be retracted {} times", fact,
                             weight == 1 ? "once" : fmt::format("{} times", weight), -change),
                 ""};
  }
  const bool derived = !program[pred].rules.empty();
  return Error{fmt::format("`{}` is not there, so it cannot be retracted", fact),
               derived ? "only stated facts can be retracted; if rules derive it, retract what "
                         "they derive it from"
                       : ""};
}

Result<std::vector<FactChanges>> net_changes(std::span<const FactChanges> batch,
                                             const lang::Program& program,
                                             const lang::Names& names) {
  std::vector<FactChanges> by_predicate(program.predicates.size());
  for (const FactChanges& part : batch) {
    FactChanges& all = by_predicate[part.pred.index];
    all.values.insert(all.values.end(), part.values.begin(), part.values.end());
    all.weights.insert(all.weights.end(), part.weights.begin(), part.weights.end());
  }
  std::vector<FactChanges> net;
  for (uint32_t p = 0; p < by_predicate.size(); ++p) {
    const FactChanges& all = by_predicate[p];
    if (all.weights.empty()) continue;
    const uint32_t arity = program.predicates[p].arity;
    const std::vector<size_t> order = sorted_rows(all, program.predicates[p], names);
    FactChanges sum{{p}, {}, {}};
    for (size_t i = 0; i < order.size();) {
      const Row row = row_of(all, order[i], arity);
      int64_t weight = 0;
      for (; i < order.size() && same_row(row, row_of(all, order[i], arity)); ++i) {
        if (__builtin_add_overflow(weight, all.weights[order[i]], &weight)) {
          return weight_overflow(fact_text({p}, row, program, names));
        }
      }
      if (weight == 0) continue;
      sum.values.insert(sum.values.end(), row.begin(), row.end());
      sum.weights.push_back(weight);
    }
    if (!sum.weights.empty()) net.push_back(std::move(sum));
  }
  return net;
}

std::vector<FactChanges> negated(std::span<const FactChanges> batch) {
  std::vector<FactChanges> out(batch.begin(), batch.end());
  for (FactChanges& part : out) {
    for (int64_t& weight : part.weights) weight = -weight;
  }
  return out;
}

size_t FactSet::HashRow::operator()(const std::vector<Value>& row) const {
  size_t hash = 0x9E3779B97F4A7C15u;
  for (const Value& value : row) {
    hash = (hash ^ std::hash<Value>()(value)) * 0xD6E8FEB86659FD93u;
    hash ^= hash >> 29;
  }
  return hash;
}

FactSet::FactSet(const lang::Program& program, const lang::Names& names)
    : program_(program), names_(names), rows_(program.predicates.size()) {}

Status FactSet::apply(std::span<const FactChanges> batch) {
  Result<std::vector<FactChanges>> net = net_changes(batch, program_, names_);
  if (!net.ok()) return net.error();
  const auto each_row = [&](const auto& act) -> Status {
    std::vector<Value> row;
    for (const FactChanges& part : *net) {
      for (size_t i = 0; i < part.weights.size(); ++i) {
        const Row values = row_of(part, i, program_[part.pred].arity);
        row.assign(values.begin(), values.end());
        if (Status status = act(part.pred, row, part.weights[i]); !status.ok()) return status;
      }
    }
    return Done{};
  };
  Status possible = each_row([&](PredId pred, const auto& row, int64_t change) -> Status {
    const auto found = rows_[pred.index].find(row);
    const int64_t weight = found == rows_[pred.index].end() ? 0 : found->second;
    int64_t sum = 0;
    if (__builtin_add_overflow(weight, change, &sum)) {
      return weight_overflow(fact_text(pred, row, program_, names_));
    }
    if (sum >= 0) return Done{};
    return cannot_retract(pred, row, weight, change, program_, names_);
  });
  if (!possible.ok()) return possible;
  return each_row([&](PredId pred, const auto& row, int64_t change) -> Status {
    Rows& rows = rows_[pred.index];
    const auto [place, is_new] = rows.try_emplace(row, 0);
    place->second += change;
    if (place->second == 0) rows.erase(place);
    return Done{};
  });
}

void FactSet::add_tables(const lang::Program& program) {
  for (uint32_t p = 0; p < program.predicates.size(); ++p) {
    const lang::FactTable* table = program.predicates[p].facts.get();
    if (table == nullptr) continue;
    std::vector<Value> row(table->arity);
    for (size_t r = 0; r < table->rows; ++r) {
      for (size_t c = 0; c < row.size(); ++c) row[c] = table->columns[c].at(r);
      ++rows_[p].try_emplace(row, 0).first->second;
    }
  }
}

FactChanges FactSet::of(PredId pred) const {
  const uint32_t arity = program_[pred].arity;
  FactChanges unsorted{pred, {}, {}};
  for (const auto& [row, weight] : rows_[pred.index]) {
    unsorted.values.insert(unsorted.values.end(), row.begin(), row.end());
    unsorted.weights.push_back(weight);
  }
  FactChanges sorted{pred, {}, {}};
  sorted.values.reserve(unsorted.values.size());
  sorted.weights.reserve(unsorted.weights.size());
  for (const size_t i : sorted_rows(unsorted, program_[pred], names_)) {
    const Row row = row_of(unsorted, i, arity);
    sorted.values.insert(sorted.values.end(), row.begin(), row.end());
    sorted.weights.push_back(unsorted.weights[i]);
  }
  return sorted;
}

std::vector<FactChanges> FactSet::all() const {
  std::vector<FactChanges> out;
  for (uint32_t p = 0; p < rows_.size(); ++p) {
    if (!rows_[p].empty()) out.push_back(of({p}));
  }
  return out;
}

std::vector<FactChanges> FactSet::repeated() const {
  std::vector<FactChanges> out;
  for (uint32_t p = 0; p < rows_.size(); ++p) {
    FactChanges more{{p}, {}, {}};
    for (const auto& [row, weight] : rows_[p]) {
      if (weight == 1) continue;
      more.values.insert(more.values.end(), row.begin(), row.end());
      more.weights.push_back(weight - 1);
    }
    if (!more.weights.empty()) out.push_back(std::move(more));
  }
  return out;
}

void FactSet::write_tables(lang::Program& to, lang::Names& to_names) const {
  for (uint32_t p = 0; p < rows_.size(); ++p) {
    lang::Predicate& predicate = to.predicates[p];
    predicate.facts.reset();
    if (rows_[p].empty()) continue;
    predicate.facts = std::make_unique<lang::FactTable>();
    lang::FactTable& table = *predicate.facts;
    table.name = predicate.name;
    table.strong_negation = predicate.strong_negation;
    table.arity = predicate.arity;
    table.columns.resize(predicate.arity);
    for (size_t c = 0; c < predicate.arity; ++c) {
      table.columns[c].convert(predicate.columns[c].type, to_names);
    }
    const FactChanges rows = of({p});
    for (size_t r = 0; r < rows.weights.size(); ++r) {
      for (size_t c = 0; c < predicate.arity; ++c) {
        table.columns[c].append_typed(rows.values[r * predicate.arity + c]);
      }
    }
    table.rows = rows.weights.size();
    table.runs.push_back({0, 0});
  }
}

lang::Program copy_without_facts(const lang::Program& program) {
  lang::Program copy;
  copy.predicates.reserve(program.predicates.size());
  for (const lang::Predicate& from : program.predicates) {
    lang::Predicate& to = copy.predicates.emplace_back();
    to.name = from.name;
    to.strong_negation = from.strong_negation;
    to.opposite = from.opposite;
    to.arity = from.arity;
    to.columns = from.columns;
    to.declared = from.declared;
    to.is_private = from.is_private;
    to.helper = from.helper;
    to.is_input = from.is_input;
    to.data = from.data;
    to.neural = from.neural;
    to.module = from.module;
    to.span = from.span;
    to.rules = from.rules;
  }
  copy.rules = program.rules;
  copy.queries = program.queries;
  copy.prob_queries = program.prob_queries;
  copy.evidence = program.evidence;
  copy.neural = program.neural;
  copy.goal = program.goal;
  copy.modules = program.modules;
  copy.pragmas = program.pragmas;
  return copy;
}

}  // namespace xlog::incremental
