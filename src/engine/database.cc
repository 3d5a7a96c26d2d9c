#include "engine/database.h"

#include <cstring>
#include <list>
#include <set>

#include "base/check.h"
#include "engine/host_solver.h"
#include "logic/memory_report.h"

namespace xlog::engine {

using lang::PredId;
using relation::Relation;

Relation& Database::operator[](PredId pred) {
  if (pred.index >= relations_.size()) relations_.resize(program_.predicates.size());
  std::shared_ptr<Relation>& relation = relations_[pred.index];
  if (relation == nullptr) {
    const lang::Predicate& predicate = program_[pred];
    std::vector<lang::Type> types;
    for (const lang::PredicateColumn& column : predicate.columns) types.push_back(column.type);
    relation =
        std::make_shared<Relation>(machine_, lang::predicate_signature(predicate, names_), types);
  }
  return *relation;
}

void Database::clear(PredId pred) {
  relations_[pred.index].reset();
  statistics_.erase(pred);
  degrees_.erase(pred);
}

void Database::share(PredId pred, PredId other) {
  clear(other);
  relations_[other.index] = relations_[pred.index];
}

Status Database::load_facts(PredId pred) {
  const lang::FactTable* facts = program_[pred].facts.get();
  if (facts == nullptr || facts->rows == 0) return Done{};
  if (facts->rows > UINT32_MAX) {
    return Error{"more facts than 32 bits count", "split the relation"};
  }
  std::vector<std::span<const std::byte>> columns;
  std::list<std::vector<uint32_t>> numbers;  // of terms
  const uint32_t nothing = 0;
  uint32_t rows = static_cast<uint32_t>(facts->rows);
  for (const lang::FactColumn& column : facts->columns) {
    if (column.type().kind == lang::TypeKind::Term) {
      std::vector<uint32_t>& terms = numbers.emplace_back();
      for (const lang::Value& value : column.mixed()) terms.push_back(names_.terms.number(value));
      columns.push_back(std::as_bytes(std::span(terms)));
    } else if (lang::width(column.type().kind) == 8) {
      columns.push_back(std::as_bytes(std::span(column.wide().data(), rows)));
    } else {
      columns.push_back(std::as_bytes(std::span(column.narrow().data(), rows)));
    }
  }
  if (columns.empty()) {
    rows = 1;
    columns.push_back(std::as_bytes(std::span(&nothing, 1)));
  }
  Result<uint32_t> loaded = (*this)[pred].load(columns, rows);
  return loaded.ok() ? Status(Done{}) : loaded.error();
}

namespace {

// Numbers from 0 are bounded by the greatest, other values counted in a sample.
Result<uint64_t> distinct_values(Relation& relation, uint32_t column) {
  if (relation.is_only_bits()) {
    Result<std::optional<uint64_t>> below = relation.bound(column);
    return below.ok() ? Result<uint64_t>(below->value_or(relation.rows())) : below.error();
  }
  Result<std::optional<uint32_t>> greatest = relation.greatest(column);
  if (!greatest.ok()) return greatest.error();
  if (greatest->has_value()) return uint64_t{**greatest} + 1;
  if (relation.rows() < plan::kLeastSampled) return uint64_t{relation.rows()};
  const uint64_t sampled = std::min<uint64_t>(relation.rows(), plan::kSampledRows);
  Result<uint32_t> seen = relation.distinct(column, static_cast<uint32_t>(sampled));
  if (!seen.ok()) return seen.error();
  return plan::distinct_from_sample(*seen, sampled, relation.rows());
}

}  // namespace

Result<plan::Statistics> Database::statistics(PredId pred) {
  if (auto known = statistics_.find(pred); known != statistics_.end()) return known->second;
  Relation& relation = (*this)[pred];
  plan::Statistics statistics{relation.rows(), {}};
  if (!relation.is_finished()) {
    for (uint32_t c = 0; c < relation.arity(); ++c) {
      const uint64_t groups = relation.groups(c).value_or(relation.rows());
      statistics.distinct.push_back(std::min<uint64_t>(groups, relation.rows()));
    }
    return statistics;
  }
  for (uint32_t c = 0; c < relation.arity(); ++c) {
    Result<uint64_t> values = distinct_values(relation, c);
    if (!values.ok()) return values.error();
    statistics.distinct.push_back(std::min<uint64_t>(*values, relation.rows()));
  }
  statistics.degrees = [this, pred](uint32_t column) { return degrees(pred, column); };
  statistics_.emplace(pred, statistics);
  return statistics;
}

// Where the device fails, the planner does without; its trouble shows in what follows.
std::optional<plan::Degrees> Database::degrees(PredId pred, uint32_t column) {
  std::map<uint32_t, plan::Degrees>& known = degrees_[pred];
  if (const auto found = known.find(column); found != known.end()) return found->second;
  const Result<std::optional<plan::Degrees>> counted = (*this)[pred].degrees(column);
  if (!counted.ok() || !counted->has_value()) return std::nullopt;
  known.emplace(column, **counted);
  return *counted;
}

std::vector<RelationFigures> Database::figures() const {
  std::vector<RelationFigures> all;
  std::set<const Relation*> listed;  // predicates may share one
  for (uint32_t p = 0; p < relations_.size(); ++p) {
    if (relations_[p] == nullptr || !listed.insert(relations_[p].get()).second) continue;
    const Relation& relation = *relations_[p];
    RelationFigures& figures = all.emplace_back();
    figures.name = logic::relation_name({p}, program_, names_);
    figures.pred = {p};
    figures.rows = relation.stored();
    figures.bytes = relation.bytes();
    figures.set = relation.set_kind();
    figures.indexes = relation.index_count();
    if (const auto known = degrees_.find({p}); known != degrees_.end()) {
      figures.degrees = known->second;
    }
  }
  return all;
}

Result<std::vector<std::vector<lang::Value>>> Database::rows(PredId pred) {
  Relation& relation = (*this)[pred];
  if (Status ready = relation.need_columns(); !ready.ok()) return ready.error();
  std::vector<device::Buffer> columns;
  std::vector<lang::TypeKind> kinds;
  for (uint32_t c = 0; c < program_[pred].columns.size(); ++c) {
    columns.push_back(relation.column(c));
    kinds.push_back(relation.kinds()[c]);
  }
  return download_rows(machine_.device(), columns, kinds, relation.rows(), names_);
}

namespace {

template <typename T>
void widen(const std::byte* from, std::vector<uint64_t>& to) {
  for (size_t i = 0; i < to.size(); ++i) {
    T value;
    std::memcpy(&value, from + i * sizeof(T), sizeof(T));
    to[i] = value;
  }
}

std::vector<uint64_t> bits_of(kernel::Type type, const std::vector<std::byte>& bytes,
                              uint32_t count) {
  std::vector<uint64_t> bits(count);
  if (size_of(type) == sizeof(uint32_t)) {
    widen<uint32_t>(bytes.data(), bits);
  } else if (size_of(type) == sizeof(uint64_t)) {
    widen<uint64_t>(bytes.data(), bits);
  } else {
    for (uint32_t i = 0; i < count; ++i) {
      bits[i] = kernel::load_scalar(type, bytes.data() + uint64_t{i} * size_of(type)).bits;
    }
  }
  return bits;
}

}  // namespace

Result<Rows> Database::columns(PredId pred, PredId like) {
  Relation& relation = (*this)[pred];
  if (Status ready = relation.need_columns(); !ready.ok()) return ready.error();
  Rows rows;
  rows.count = relation.rows();
  for (uint32_t c = 0; c < program_[like].columns.size(); ++c) {
    const kernel::Type type = relation::column_type(relation.kinds()[c]);
    Result<std::vector<std::byte>> bytes =
        device::download(machine_.device(), {relation.column(c), type, rows.count});
    if (!bytes.ok()) return bytes.error();
    const std::vector<uint64_t> bits = bits_of(type, *bytes, rows.count);
    lang::FactColumn& column = rows.columns.emplace_back();
    lang::Names none;  // an empty column has no values to convert
    column.convert(program_[like].columns[c].type, none);
    if (relation.kinds()[c] == lang::TypeKind::Term) {
      for (uint64_t word : bits) column.append_typed(from_word(word, relation.kinds()[c], names_));
    } else {
      column.append_typed(bits);
    }
  }
  return rows;
}

Result<std::vector<std::vector<lang::Value>>> download_rows(
    device::Device& device, const std::vector<device::Buffer>& columns,
    const std::vector<lang::TypeKind>& kinds, uint32_t rows, const lang::Names& names) {
  std::vector<std::vector<lang::Value>> values(rows);
  for (size_t c = 0; c < columns.size(); ++c) {
    const kernel::Type type = relation::column_type(kinds[c]);
    Result<std::vector<std::byte>> bytes = device::download(device, {columns[c], type, rows});
    if (!bytes.ok()) return bytes.error();
    for (uint32_t r = 0; r < rows; ++r) {
      const kernel::Scalar scalar =
          kernel::load_scalar(type, bytes->data() + uint64_t{r} * size_of(type));
      values[r].push_back(from_word(scalar.bits, kinds[c], names));
    }
  }
  return values;
}

}  // namespace xlog::engine
