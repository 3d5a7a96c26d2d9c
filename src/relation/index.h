// An index of a relation by some of its columns: where the rows with a key are.
//
// While a relation grows, the rows of each round are sorted by key and stand one after another: a
// *segment* is the rows of one round with one key. A table finds the newest segment of a key, and
// each segment names the one before it, so a lookup meets only what is there, however many rounds
// there were. Once segments have doubled, those of each key are put together again.
//
// A relation that is finished and has a key with a small domain needs no segments: its table says
// where the rows of each value start. Where few of the values have rows, the table has a bit for
// each value, and counts how many have rows: only those have a place that says where they start.
//
// One index of a relation may have the relation's own columns put into its order, and none of its
// own. Others copy the columns that lookups read: a table by value finds rows without reading keys.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "kernel/library.h"
#include "relation/bag.h"
#include "relation/machine.h"
#include "relation/row_code.h"

namespace xlog::relation {

// Numbers of a segment: first row, rows, the one before.
constexpr uint32_t kSegmentWidth = 3;

// What the table of an index is indexed by.
enum class TableKind : uint8_t {
  Hash,    // of the key: the number of its newest segment
  Value,   // the only key, whose domain is small: the same
  Starts,  // the only key: its first row
  Ranks,   // the only key by blocks: which values have rows, and how many have before the block
};

// Numbers of a block of kWordBits values.
constexpr uint32_t kBlockWidth = 2;

// Which columns an index has.
enum class IndexColumns : uint8_t {
  Relation,  // those of the relation, in the order of this index
  Read,      // copies of those that a lookup reads
  All,       // copies of all
};

class Index {
 public:
  // `rows`: of the relation. `order`: the columns by which rows are sorted, of which the first
  // `keys` are the key. `domain`: what the only key is below, where a table by value is small
  // enough; else 0.
  Index(Machine& machine, Bag& rows, std::vector<uint32_t> order, size_t keys, uint32_t domain,
        IndexColumns columns);

  const std::vector<uint32_t>& order() const { return order_; }
  size_t key_count() const { return keys_.size(); }
  TableKind kind() const { return kind_; }
  IndexColumns columns() const { return kept_; }
  uint32_t covered() const { return covered_; }  // rows
  uint64_t bytes() const;
  // Keys, about: those of the last time when all rows were sorted.
  uint64_t groups() const { return merged_segments_; }

  // From here on the rows of a segment are sorted by all columns.
  void keep_sorted();
  // Takes in rows up to `rows` of the relation's columns. Those before `fresh` are old.
  Status update(uint32_t fresh, uint32_t rows);
  // Makes one segment a key, where the relation will not change.
  Status merge_all();
  // The same with a table of starts, where the only key is below `domain` and there are `rows`.
  Status finish(uint32_t rows, uint32_t domain);
  // The same with a table of ranks, where `last` is the greatest value of the only key.
  Status rank(uint32_t rows, uint32_t last);
  // Whether one of these was done, and the rows of a key are in order where keep_sorted() was asked
  // for.
  bool is_done() const {
    return (kind_ == TableKind::Starts || kind_ == TableKind::Ranks) && (!sorted_ || in_order_);
  }
  // What the only key of a table by value is below; else 0.
  uint32_t domain() const { return kind_ == TableKind::Value ? domain_ : 0; }

  const device::Buffer& column(uint32_t c) const {
    return kept_ == IndexColumns::Relation ? rows_.columns()[c] : columns_[c];
  }
  // Of an index with them: where the rows of each value start, and one past the last.
  device::Column starts() const { return {table_, Type::U32, static_cast<uint32_t>(table_cells_)}; }
  // In the order of declare_index. `limit`: rows from there on are not seen.
  void append_arguments(uint32_t limit, std::vector<device::Argument>& arguments) const;

 private:
  Status begin();
  Status add_run(uint32_t first, uint32_t last);
  Status merge(uint32_t rows);
  Status sort_again(uint32_t rows);
  Status build(uint32_t first, uint32_t count);
  Status put(uint32_t c, uint32_t at, const device::Buffer& from, uint32_t count);
  Status link(uint32_t first_segment, uint32_t count, const std::vector<device::Buffer>& keys,
              uint32_t base);
  // Without sorting (index_merge.cc).
  bool can_gather() const;
  Result<device::Column> starts_of_cells();
  Status gather(const device::Column& starts);
  Status name_segments(const device::Column& starts);
  Status make_table(uint64_t cells);
  Status grow_table();
  kernel::Columns sort_plan(kernel::PlanBuilder& p, Value first, Value count,
                            const kernel::Columns& source) const;
  Status grow(device::Buffer& buffer, uint64_t& capacity, Type type, uint64_t used,
              uint64_t wanted);
  std::string suffix() const;
  bool copies(uint32_t c) const;
  std::vector<device::Buffer> key_columns() const;
  Status have_starts(const device::Column& starts);
  Status have_ranks(const device::Column& table, const device::Column& starts);
  Status sort_for_starts(uint32_t rows, uint32_t domain);
  Status sort_for_ranks(uint32_t rows, uint32_t last);
  Status take_sorted(std::span<const device::PlanValue> sorted, uint32_t rows);
  Status leave_out(uint32_t c);
  // Without sorting either (index_count.cc).
  bool can_count() const { return can_gather(); }
  Result<device::Column> ranks_of_values(uint32_t rows, uint32_t last);
  Result<device::Column> count_and_move(uint32_t rows, uint32_t cells,
                                        const std::optional<device::Column>& ranks);
  Status scatter(uint32_t c, uint32_t rows, const device::Buffer& places);
  kernel::Id build_plan();
  kernel::Id link_kernel(const std::string& name);

  Machine& machine_;
  Bag& rows_;
  const std::vector<Type>& types_;
  IndexColumns kept_;
  bool sorted_ = false;    // rows of a segment have to be
  bool in_order_ = false;  // those of a key are, in a table of starts or ranks
  std::vector<uint32_t> order_, keys_;
  TableKind kind_;
  uint32_t domain_;
  uint32_t covered_ = 0;  // rows
  uint32_t segment_count_ = 0;
  uint32_t merged_segments_ = 0;  // as many as there were when all rows were sorted
  std::vector<device::Buffer> columns_;
  std::vector<uint64_t> capacities_;
  device::Buffer segments_;  // kSegmentWidth numbers each; of ranks: where their rows start
  uint64_t segment_capacity_ = 0;
  device::Buffer table_;
  uint64_t table_cells_ = 0;
};

// ---- inside kernels ----

struct IndexCode {
  TableKind kind = TableKind::Hash;
  std::vector<uint32_t> keys;           // columns
  std::vector<kernel::Buffer> columns;  // all of the relation
  kernel::Buffer table, segments;
  Value limit;

  // A column that the index has, whatever its kind: as long as there are rows, or longer.
  const kernel::Buffer& longest() const;
};
IndexCode declare_index(kernel::KernelBuilder& k, TableKind kind, const std::vector<Type>& types,
                        std::vector<uint32_t> keys);

// In a table of ranks: one more than the rank of a value that is there, else 0.
Value find_rank(Builder& k, const kernel::Buffer& table, Value key);

// The rows of a key in parts: a number for each, 0 is none.
struct IndexPart {
  kernel::Range rows;
  Value next;
};
Value first_part(Builder& k, const IndexCode& index, const Values& key);
IndexPart read_part(Builder& k, const IndexCode& index, const Values& key, Value part);

// Calls `body` for all ranges of rows with a key, in code that stands once.
void for_each_range(Builder& k, const IndexCode& index, const Values& key,
                    const std::function<void(kernel::Range)>& body);
Value count_rows(Builder& k, const IndexCode& index, const Values& key);
Value has_rows(Builder& k, const IndexCode& index, const Values& key);

}  // namespace xlog::relation
