#include "incremental/instances.h"

#include <map>

namespace xlog::incremental {

void Instances::prepare() {
  heads_.assign(program_.open.size(), {});
  literals_.assign(program_.open.size(), {});
  elements_.assign(program_.tables.size(), {});
  results_.assign(program_.tables.size(), {});
  folded_.assign(program_.tables.size(), {});
  for (uint32_t i = 0; i < program_.tables.size(); ++i) {
    const InstanceTable& table = program_.tables[i];
    for (const Mention& head : table.heads) {
      heads_[head.pred.index].push_back(access_by(i, head.args));
    }
    for (const Mention& literal : table.body) {
      literals_[literal.pred.index].push_back(access_by(i, literal.args));
    }
    if (table.fold) {
      heads_[table.fold->fold.index].push_back(access_by_group(i, table.table));
      literals_[table.fold->element.index].push_back(access_by_group(i, table.table));
      results_[i] = access_by_group(i, table.fold->fold.index);
      folded_[i] = access_by_group(i, table.fold->element.index);
    }
    if (table.bound == InstanceTable::kNone) continue;
    std::vector<Place> shared(table.body_columns);
    for (uint32_t c = 0; c < shared.size(); ++c) shared[c].column = c;
    elements_[i] = access_by(i, shared);
  }
}

void Instances::swap(Instances& other) {
  heads_.swap(other.heads_);
  literals_.swap(other.literals_);
  elements_.swap(other.elements_);
  results_.swap(other.results_);
  folded_.swap(other.folded_);
}

// From a row of a fold whose first columns are the group.
Instances::Access Instances::access_by_group(uint32_t instances, uint32_t table) {
  Access access;
  access.instances = instances;
  access.table = table;
  const uint32_t columns = program_.tables[instances].fold->group_columns;
  for (uint32_t c = 0; c < columns; ++c) access.key.push_back(c);
  if (columns == kept_.table(table).arity()) {
    access.way = Access::Way::One;
  } else if (columns > 0) {
    access.way = Access::Way::Index;
    access.index = kept_.table(table).index(access.key);
  }
  return access;
}

// The given cells stand in the order of the places.
Instances::Access Instances::access_by(uint32_t instances, const std::vector<Place>& places) {
  Access access;
  access.instances = instances;
  access.table = program_.tables[instances].table;
  std::map<uint32_t, uint32_t> given_of;  // by column
  for (uint32_t g = 0; g < places.size(); ++g) {
    if (!places[g].column) {
      access.constant.emplace_back(g, kept_.cells().cell(places[g].kind, places[g].value));
      continue;
    }
    const auto [it, is_new] = given_of.try_emplace(*places[g].column, g);
    if (!is_new) access.equal.emplace_back(it->second, g);
  }
  std::vector<uint32_t> columns;
  for (const auto& [column, given] : given_of) {
    columns.push_back(column);
    access.key.push_back(given);
  }
  Table& table = kept_.table(access.table);
  if (columns.size() == table.arity()) {
    access.way = Access::Way::One;
  } else if (!columns.empty()) {
    access.way = Access::Way::Index;
    access.index = table.index(columns);
  }
  return access;
}

AtomRow Instances::atom(Instance at, const Mention& mention) {
  const uint64_t* row = rows(at.table).row(at.row);
  cells_.clear();
  for (const Place& place : mention.args) {
    cells_.push_back(place.column ? row[*place.column]
                                  : kept_.cells().cell(place.kind, place.value));
  }
  return {mention.pred.index, kept_.table(mention.pred.index).find(cells_.data())};
}

Instance Instances::bound_of(Instance element) {
  const uint32_t bound = table(element).bound;
  const uint64_t* row = rows(element.table).row(element.row);
  return {bound, rows(bound).find(row)};
}

int64_t Instances::number(Instance at, const Place& place) const {
  lang::Value value = place.value;
  if (place.column) {
    value = kept_.cells().value(place.kind, rows(at.table).row(at.row)[*place.column]);
  }
  if (value.kind == lang::TypeKind::U64 && value.bits > INT64_MAX) return INT64_MAX;
  return value.as_signed();
}

}  // namespace xlog::incremental
