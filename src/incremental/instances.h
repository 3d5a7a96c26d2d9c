// The ground rules of what worlds differ in, read from the rows that are kept (open_program.h), and
// where an atom stands in them.
#pragma once

#include <compare>
#include <cstdint>
#include <vector>

#include "incremental/kept.h"
#include "incremental/open_program.h"

namespace xlog::incremental {

// A row of a predicate that may hold.
struct AtomRow {
  uint32_t pred = 0;
  uint32_t row = kNoRow;
  friend auto operator<=>(const AtomRow&, const AtomRow&) = default;
};

// An instance of a rule, of a constraint, or of the body of a choice with bounds.
struct Instance {
  uint32_t table = 0;  // in OpenProgram::tables
  uint32_t row = kNoRow;
  friend auto operator<=>(const Instance&, const Instance&) = default;
};

class Instances {
 public:
  Instances(const OpenProgram& program, Kept& kept) : program_(program), kept_(kept) {}

  // Before the rows are counted: what finds them grows with them.
  void prepare();
  void swap(Instances& other);  // of the same program

  const InstanceTable& table(Instance at) const { return program_.tables[at.table]; }
  uint32_t tables() const { return static_cast<uint32_t>(program_.tables.size()); }
  const Table& rows(uint32_t table) const { return kept_.table(program_.tables[table].table); }
  bool is_there(Instance at) const {
    return at.row != kNoRow && (rows(at.table).flags(at.row) & kNew) != 0;
  }
  bool is_there(AtomRow atom) const {
    return atom.row != kNoRow && (kept_.table(atom.pred).flags(atom.row) & kNew) != 0;
  }

  // The row of an atom of an instance. It may have gone in this batch, and so may the instance.
  AtomRow atom(Instance at, const Mention& mention);
  // Of an element: the instance of the body of the choice that it belongs to.
  Instance bound_of(Instance element);
  int64_t number(Instance at, const Place& place) const;

  // The elements of the body of a choice with bounds, of every state.
  template <typename Visit>
  void for_each_element(Instance body, const Visit& visit) {
    for (const uint32_t e : table(body).elements) {
      for_each_row(elements_[e], rows(body.table).row(body.row), [&](uint32_t row) {
        visit(Instance{e, row});
      });
    }
  }

  // Of a group of a fold: its results, and what is folded, of every state.
  template <typename Visit>
  void for_each_result(Instance group, const Visit& visit) {
    const uint32_t pred = table(group).fold->fold.index;
    for_each_row(results_[group.table], rows(group.table).row(group.row), [&](uint32_t row) {
      visit(AtomRow{pred, row});
    });
  }
  template <typename Visit>
  void for_each_folded(Instance group, const Visit& visit) {
    const uint32_t pred = table(group).fold->element.index;
    for_each_row(folded_[group.table], rows(group.table).row(group.row), [&](uint32_t row) {
      visit(AtomRow{pred, row});
    });
  }
  // The atoms in the head of an instance.
  template <typename Visit>
  void for_each_head(Instance at, const Visit& visit) {
    for (const Mention& head : table(at).heads) visit(atom(at, head));
    if (table(at).fold) for_each_result(at, visit);
  }

  // The instances that have an atom in a head or in a body, of every state.
  template <typename Visit>
  void for_each_with_head(AtomRow atom, const Visit& visit) {
    for (const Access& access : heads_[atom.pred]) {
      for_each_row(access, kept_.table(atom.pred).row(atom.row), [&](uint32_t row) {
        visit(Instance{access.instances, row});
      });
    }
  }
  template <typename Visit>
  void for_each_with_literal(AtomRow atom, const Visit& visit) {
    for (const Access& access : literals_[atom.pred]) {
      for_each_row(access, kept_.table(atom.pred).row(atom.row), [&](uint32_t row) {
        visit(Instance{access.instances, row});
      });
    }
  }

 private:
  // How the rows of a table are found from the cells of another row.
  struct Access {
    uint32_t instances = 0;
    uint32_t table = 0;
    enum class Way : uint8_t { All, One, Index } way = Way::All;
    uint32_t index = 0;
    std::vector<uint32_t> key;                            // given cells, by column of the table
    std::vector<std::pair<uint32_t, uint64_t>> constant;  // given cells with these values
    std::vector<std::pair<uint32_t, uint32_t>> equal;     // given cells that are equal
  };

  Access access_by(uint32_t instances, const std::vector<Place>& places);
  Access access_by_group(uint32_t instances, uint32_t table);

  template <typename Visit>
  void for_each_row(const Access& access, const uint64_t* given, const Visit& visit) {
    for (const auto& [cell, value] : access.constant) {
      if (given[cell] != value) return;
    }
    for (const auto& [a, b] : access.equal) {
      if (given[a] != given[b]) return;
    }
    const Table& table = kept_.table(access.table);
    if (access.way == Access::Way::All) {
      for (uint32_t row = 0; row < table.end(); ++row) {
        if (table.is_used(row)) visit(row);
      }
      return;
    }
    // Visits may look for further rows.
    constexpr size_t kFew = 16;
    uint64_t few[kFew];
    std::vector<uint64_t> many(access.key.size() > kFew ? access.key.size() : 0);
    uint64_t* key = many.empty() ? few : many.data();
    for (size_t k = 0; k < access.key.size(); ++k) key[k] = given[access.key[k]];
    if (access.way == Access::Way::One) {
      const uint32_t row = table.find(key);
      if (row != kNoRow) visit(row);
      return;
    }
    for (const uint32_t row : table.rows_with(access.index, key)) visit(row);
  }

  const OpenProgram& program_;
  Kept& kept_;
  std::vector<std::vector<Access>> heads_, literals_;  // by predicate
  std::vector<Access> elements_;                       // by instances: from the row of the body
  std::vector<Access> results_, folded_;               // by instances: from the row of the group
  std::vector<uint64_t> cells_;
};

}  // namespace xlog::incremental
