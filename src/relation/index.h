// An index of a relation by some of its columns: the rows sorted by them, as a few runs that are
// merged as they grow, and for each run a directory from a key to its rows.
//
// Runs lie one after another in one set of buffers, largest first, so a kernel loops over them:
// kernels do not depend on how many there are. The index of a relation that is finished by one
// column with a small domain is one run, and its directory a table of where each value starts.
#pragma once

#include <span>
#include <vector>

#include "kernel/library.h"
#include "relation/machine.h"
#include "relation/row_code.h"

namespace xlog::relation {

class Index {
 public:
  // `order`: the columns by which rows are sorted, of which the first `keys` are the key.
  Index(Machine& machine, std::vector<Type> types, std::vector<uint32_t> order, size_t keys);

  const std::vector<uint32_t>& order() const { return order_; }
  size_t key_count() const { return keys_.size(); }
  uint32_t run_count() const { return static_cast<uint32_t>(runs_.size()); }
  uint32_t covered() const { return covered_; }
  uint64_t bytes() const;
  uint64_t groups() const;  // distinct keys, counted once for each run

  // Takes in rows up to `rows` of the relation's columns; those from `fresh` on stay in a run of
  // their own until the next call.
  Status update(const std::vector<device::Buffer>& columns, uint32_t fresh, uint32_t rows);
  // Makes one run of all rows, where the relation will not change.
  Status merge_all();
  // The same with a table, where the only key is below `domain`.
  Status finish(const std::vector<device::Buffer>& columns, uint32_t rows, uint32_t domain);
  bool is_direct() const { return direct_; }
  // Whether the last run is the one of the rows from `fresh` on.
  bool has_fresh_run() const { return fresh_run_; }

  // What a kernel takes: the columns of the relation in the order of the runs, the directory, and
  // the table of runs.
  const device::Buffer& column(uint32_t c) const { return columns_[c]; }
  const device::Buffer& cells() const { return cells_; }
  const device::Buffer& table() const { return table_; }  // where values start, where direct

 private:
  struct Run {
    uint32_t begin, end;         // rows
    uint32_t first_cell, cells;  // of the directory; a power of two
    uint32_t groups;
  };

  Status add_run(const std::vector<device::Buffer>& columns, uint32_t first, uint32_t last);
  Status merge_tail(size_t first_run);
  Status build(const std::vector<device::PlanValue>& source, uint32_t begin, uint32_t count);
  kernel::Columns sort_plan(kernel::PlanBuilder& p, Value first, Value count,
                            const kernel::Columns& source) const;
  Status grow(device::Buffer& buffer, uint64_t& capacity, Type type, uint64_t used,
              uint64_t wanted);
  Status write_table();
  kernel::Id build_plan();

  Machine& machine_;
  std::vector<Type> types_;
  std::vector<uint32_t> order_, keys_;
  uint32_t covered_ = 0;
  bool fresh_run_ = false;
  bool direct_ = false;
  std::vector<Run> runs_;
  std::vector<device::Buffer> columns_;
  std::vector<uint64_t> capacities_;
  device::Buffer cells_;
  uint64_t cell_capacity_ = 0;
  device::Buffer table_;
};

// The rows of a run that have a key, inside a kernel.
struct IndexParams {
  bool direct = false;
  std::vector<kernel::Buffer> columns;  // by column of the relation
  kernel::Buffer cells, table;          // direct: the table alone
  Value runs;                           // how many to look at; not of a direct one
};
kernel::Range find_rows_directly(Builder& k, const IndexParams& index, Value key);
kernel::Range find_rows(Builder& k, const IndexParams& index, const std::vector<uint32_t>& keys,
                        Value run, const Values& key);

}  // namespace xlog::relation
