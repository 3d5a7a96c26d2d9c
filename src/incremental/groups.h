// The groups of an aggregate in a head. Only groups that a batch touches are folded again; counts
// and sums of integers are carried along instead, without a bag.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "incremental/cells.h"
#include "incremental/table.h"
#include "lang/program.h"
#include "oracle/aggregates.h"

namespace xlog::incremental {

class Groups {
 public:
  Groups(const lang::Rule& rule, const lang::Program& program);

  // Whether solutions are summed up as they come; else the table of the bag has to be kept.
  bool is_linear() const { return linear_; }
  uint32_t key_columns() const { return static_cast<uint32_t>(key_kinds_.size()); }
  uint32_t bag_columns() const { return bag_columns_; }

  // A solution, given as a row of the bag, comes or goes.
  void add(const uint64_t* row, int64_t sign, const Cells& cells, const lang::Names& names);
  // The results of touched groups: each that changed is given with the head row it had and the one
  // it has. `bag` holds the solutions where the groups are not linear.
  using Replace = std::function<void(const uint64_t* before, const uint64_t* after)>;
  // Some groups a time; false: there are more.
  bool fold_touched(Table& bag, Cells& cells, lang::Names& names, const Replace& replace);
  // That they need, best made while there are no rows.
  void index(Table& bag) const;

  void clear();
  const Table& table() const { return groups_; }  // weight: number of solutions
  void for_each_head(const std::function<void(const uint64_t* cells)>& visit) const;

 private:
  bool matters(uint32_t group, const uint64_t* row, int64_t sign, const Cells& cells,
               const lang::Names& names) const;
  std::vector<uint32_t> bag_key() const;  // the columns of the group
  bool fold(uint32_t group, Table& bag, Cells& cells, lang::Names& names,
            std::vector<uint64_t>& head) const;
  void make_head(const uint64_t* key, std::span<const uint64_t> results,
                 std::vector<uint64_t>& head) const;

  const lang::Rule& rule_;
  bool linear_ = true;
  bool extremes_ = true;  // only minima and maxima
  uint32_t bag_columns_ = 0;
  std::vector<lang::TypeKind> key_kinds_;
  std::vector<uint32_t> key_columns_;  // of the head
  std::vector<oracle::Fold> folds_;
  std::vector<lang::TypeKind> value_kinds_, result_kinds_;  // by aggregate
  std::vector<uint32_t> value_columns_;                     // of the bag; kNoRow: none

  Table groups_;
  uint32_t last_ = 0;              // that something was added to
  std::vector<uint64_t> sums_;     // by group and aggregate
  std::vector<uint64_t> results_;  // by group and aggregate, as they are in the head
  std::vector<bool> has_result_;   // by group
  std::vector<uint32_t> touched_;
  size_t folded_ = 0;  // of those
};

}  // namespace xlog::incremental
