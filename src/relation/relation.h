// The rows of one relation on a device: columns, the set of the rows, and indexes.
//
// In a component that is evaluated in rounds, `fresh` is the first row that the last round added;
// rows that the current round adds lie past `rows` until next_round(). Among those before `fresh`,
// and among those from there to `rows`, an index may change the order.
//
// A relation whose set is one of bits may forget the columns of rows that are not new: the bits say
// it all. They are made again for those who need them. One that does not grow in rounds, where no
// row is ever new to somebody, never has columns once they would take more memory than the bits.
//
// A relation that keeps the best value of a column has one row for each group of the others, once
// it is finished. Before that a round may add rows that improve on others, which stay where they
// are; those who look rows up ask is_best(). Where nobody does, only new rows have columns.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "lang/types.h"
#include "plan/degrees.h"
#include "relation/bag.h"
#include "relation/index.h"
#include "relation/machine.h"
#include "relation/row_set.h"

namespace xlog::relation {

class Relation {
 public:
  Relation(Machine& machine, std::string name, const std::vector<lang::Type>& types);

  const std::string& name() const { return name_; }
  // A relation without columns has one here, which holds 0.
  const std::vector<lang::TypeKind>& kinds() const { return kinds_; }
  const std::vector<Type>& types() const { return bag_.types(); }
  uint32_t arity() const { return static_cast<uint32_t>(types().size()); }

  uint32_t rows() const { return rows_; }    // that steps may see
  uint32_t fresh() const { return fresh_; }  // the first of those that the last round added
  // With those of this round.
  uint32_t stored() const { return forgotten_ + skipped_ + bag_.rows() + waiting_.rows(); }
  uint64_t bytes() const;
  uint32_t index_count() const { return static_cast<uint32_t>(indexes_.size()); }

  // Columns hold the rows from `forgotten` on; need_columns() makes that all rows.
  const device::Buffer& column(uint32_t c) const { return bag_.columns()[c]; }
  uint32_t forgotten() const { return forgotten_; }
  Status need_columns();
  // Before rows come: of rows that agree in all other columns, only the best in this one counts.
  void keep_best(const BestColumn& best);
  const BestColumn& best() const { return best_; }
  // Nobody will look up rows of this relation while it grows.
  void allow_forgetting() { may_forget_ = true; }
  bool may_forget() const { return may_forget_; }
  bool forgets() const;
  // Rows that kernels have put into the bits and handled; they will not count as new and have no
  // columns.
  Status add_forgotten(uint64_t count);
  // All rows of this round are handled.
  Status handle_all();
  // Whether to walk the bits rather than columns that are not there.
  bool is_only_bits() const { return forgotten_ > 0 && bag_.rows() == 0; }
  uint32_t bit_words() const { return static_cast<uint32_t>(cells_); }
  // The sizes of the columns in the bits.
  const std::vector<uint64_t>& bit_sizes() const { return domain_; }

  // ---- the set ----

  // Before rows come: the values of column c are below sizes[c]. Where that makes few rows possible
  // the set may become one of bits.
  void set_domain(const std::vector<uint64_t>& sizes);
  // It will grow in rounds.
  void expect_rounds() { grows_ = true; }
  // Changes only in reserve() and finish().
  SetKind set_kind() const { return set_kind_; }
  SetShape set_shape() const { return {set_kind_, best_, bit_order_}; }
  // Arranges the bits, from now on or from when it becomes a set of bits, so that rows that agree
  // in all but these columns lie together, in whole blocks of so many bits. False where that is not
  // possible, or would take much more memory.
  Result<bool> put_innermost(const std::vector<uint32_t>& columns, uint32_t block_bits);
  // Whether room for so many more rows makes it a set of bits, if it is none.
  bool becomes_bits(uint64_t more) const;
  // Makes room for so many more rows. A set that is not wide takes rows in by kernels, so this
  // comes before them.
  Status reserve(uint64_t more);
  // Before the first rows come, about so many, which are known to differ from each other: where to
  // put them. They need no set until somebody asks it; nullptr where one of bits takes less memory.
  Result<Bag*> rows_without_set(uint64_t expected);
  // Nobody asks the set of this relation now, which is finished; reserve() makes it again.
  void release_set();
  uint64_t set_bytes() const { return cell_count() * size_of(cell_type(set_kind_)); }
  // So many more rows need no larger set.
  uint64_t room() const;
  // Whether some row that a kernel has brought since found no place in the set. Then
  // spread_out() puts all that is stored where there is place, and the kernel has to run again:
  // rows of this round that count as handled are new from there on.
  Result<bool> is_crowded();
  Status spread_out();
  // What a kernel takes for the parameters of declare_set.
  void append_set_arguments(std::vector<device::Argument>& arguments) const;

  // ---- rows ----

  // Rows that kernels have put into the set already. Where some of a round are handled, they will
  // not count as new in the next one.
  enum class Next : uint8_t { New, Handled, NewBesideHandled };
  Status append(const std::vector<device::Buffer>& from, std::span<const Bag::Part> parts,
                Next next);
  // Candidates that may repeat each other and rows that are there: adds the new ones. Gives their
  // number.
  Result<uint32_t> absorb(const std::vector<device::Buffer>& from, uint32_t count);
  // The same from the host: `columns` hold `count` values each, of the column's width.
  Result<uint32_t> load(const std::vector<std::span<const std::byte>>& columns, uint32_t count);

  // What this round added becomes new; false when it added nothing.
  Result<bool> next_round();
  // All rows become new, for the first round of a component that reads them.
  void restart() { fresh_ = 0; }

  // The index by these columns, in this order, up to date with rows() and with the new rows at
  // the end. Rows with one key are sorted by column `then` first. The index of a finished
  // relation has one segment a key.
  Result<Index*> index(const std::vector<uint32_t>& keys, std::optional<uint32_t> then = {});
  // The same for one who walks all rows in its order.
  Result<Index*> sorted(const std::vector<uint32_t>& keys);
  // What kernels have to know of it.
  TableKind index_kind(const std::vector<uint32_t>& keys, std::optional<uint32_t> then = {}) const;
  // No more rows will come.
  Status finish();
  bool is_finished() const { return finished_; }

  // The greatest value of a u32 column; nullopt where it is of another type or has no rows.
  Result<std::optional<uint32_t>> greatest(uint32_t column);
  // How many values the first rows of a column have.
  Result<uint32_t> distinct(uint32_t column, uint32_t first_rows);
  // About how many values a column has, where there is an index by it.
  std::optional<uint64_t> groups(uint32_t column) const;
  // How often the values of a column occur, in a relation that is finished; nullopt where it would
  // have to be sorted for that and is not small.
  Result<std::optional<plan::Degrees>> degrees(uint32_t column);
  // What all values of a column are below; nullopt where that is not known.
  Result<std::optional<uint64_t>> bound(uint32_t column);

 private:
  bool prefers_bits(uint64_t cells) const;
  bool size_bits(const std::vector<uint32_t>& order, uint32_t block_bits);
  uint64_t cells_for(uint64_t rows) const;
  uint64_t cell_count() const { return cells_ + (has_last_cell(set_kind_) ? 1 : 0); }
  std::vector<uint64_t> set_numbers() const;
  std::string set_name() const;
  Status rebuild_set(SetKind kind, uint64_t cells);
  Status fill_set(SetKind kind, uint64_t cells);
  Status insert_stored();
  Index* find_index(const std::vector<uint32_t>& order, size_t keys) const;
  std::vector<uint32_t> sort_order(const std::vector<uint32_t>& keys,
                                   std::optional<uint32_t> then) const;
  Result<Index*> index(const std::vector<uint32_t>& keys, std::optional<uint32_t> then,
                       bool all_columns);
  IndexColumns columns_for_index(bool all) const;
  const Index* index_with_starts(uint32_t column) const;
  Result<plan::Degrees> degrees_of(const device::Buffer& numbers, uint32_t count, bool starts);
  Result<device::PlanRunner*> distinct_plan(Type type);
  Status update_others(const Index* index);
  kernel::Id absorb_plan(const std::string& name);

  // Of a relation that keeps the best (relation_best.cc).
  Status reserve_best(uint64_t more);
  Status move_best(const device::Buffer& cells, uint64_t count, const device::Buffer& values);
  Result<bool> next_round_of_best();
  Status count_groups();
  Status finish_best();
  Status append_best(const Bag& from, Bag& to);
  Status append_groups(Bag& to);
  bool has_only_new() const { return set_kind_ == SetKind::Best && may_forget_; }

  Machine& machine_;
  std::string name_;
  std::vector<lang::TypeKind> kinds_;
  Bag bag_;
  Bag waiting_;  // new rows of this round, beside handled ones: they come after those
  uint32_t rows_ = 0, fresh_ = 0;
  uint32_t handled_ = 0;  // of the rows of this round
  bool finished_ = false;
  bool may_forget_ = false;
  bool grows_ = false;
  uint32_t forgotten_ = 0;  // rows that are in the set alone
  uint32_t skipped_ = 0;    // of those that were handled in this round: they never had columns

  SetKind set_kind_;
  device::Buffer set_;
  uint64_t cells_ = 0;            // of the set: a power of two, beside the last one
  uint64_t mixing_attempt_ = 0;   // of a compact set
  std::vector<uint64_t> bounds_;  // what values are below, by column; empty: not known
  std::vector<uint64_t> domain_;  // the same where it makes a set of bits possible, else empty
  uint64_t domain_words_ = 0;
  std::vector<uint32_t> bit_order_;  // of the columns, the outermost first
  BestColumn best_;
  device::Buffer values_;  // the best ones, beside the cells
  uint64_t groups_ = 0;    // in the set: at most so many, without those of this round
  std::vector<std::unique_ptr<Index>> indexes_;
  std::map<uint32_t, uint32_t> greatest_;  // by column, of a finished relation
};

}  // namespace xlog::relation
