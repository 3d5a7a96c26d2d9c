// What the library_*.cc files share: they write one skeleton each as simpler ones and as launches
// of kernels, into the plan that is being made.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "kernel/plan_builder.h"
#include "kernel/plan_lower.h"

namespace xlog::kernel {

// D6: float folds go left to right in chunks of so many, then over the results of the chunks.
constexpr uint32_t kFloatChunk = 256;
// Tiles of the group kernels: lanes, and the rows that each of them takes.
constexpr uint32_t kTileLanes = 128;
constexpr uint32_t kTileItems = 16;
constexpr uint32_t kTile = kTileLanes * kTileItems;
// A tile in local memory has a gap after every kTileItems cells: lanes that walk consecutive rows
// then meet different memory banks.
constexpr uint32_t kPaddedTile = kTile + kTileLanes;

class Library {
 public:
  Library(Graph& in_graph, const PlanTarget& for_target) : graph(in_graph), target(for_target) {}

  Graph& graph;
  const PlanTarget target;

  // The kernel of this name, built on first use: every launch of it shares one compilation. The
  // name says everything that the kernel depends on.
  Id kernel(const std::string& name, const std::function<void(KernelBuilder&)>& build,
            uint32_t group = 0);

  // How the rows of a chunked kernel are divided: `count` instances of `length` rows, the last one
  // of fewer.
  struct Chunks {
    Value length, count;
  };
  Chunks chunks(PlanBuilder& plan, Value n) const;

  // Runs that were found in this round, by the buffer of their heads, so that several folds over
  // the same runs share one scan. A launch that writes the buffer ends its entry.
  struct Runs {
    Buffer heads;   // u32, 1 where a run starts
    Buffer before;  // how many runs start before each row
    Value count;
  };
  std::map<Id, Runs> runs;

 private:
  std::map<std::string, Id> kernels_;
};

// The cell of row r of a tile.
Value padded(Value r);
// Chunks of whole tiles, not more of them than a GPU needs to be busy: what is kept for each chunk
// stays small.
Library::Chunks tile_chunks(PlanBuilder& plan, Value n, uint32_t tile = kTile,
                            uint32_t most_tiles = UINT32_MAX);

// ceil(n / size), without overflow.
Value divide_up(Value n, Value size);
Value divide_up(Value n, uint32_t size);

// Rows lo <= r < hi of chunk i.
struct Range {
  Value lo, hi;
};
Range chunk_range(Builder& k, Value i, Value length, Value n);

// The parameters that a chunked kernel begins with.
struct ChunkParams {
  explicit ChunkParams(KernelBuilder& k);
  Range range(Builder& k, Value i) const { return chunk_range(k, i, length, n); }

  Value count, length, n;  // how many chunks, rows of a chunk, rows in all
};

// The first of the indexes lo <= r < hi where `reached` holds, or hi; `reached` is monotone. The
// search ends within 32 steps.
Value lower_bound(Builder& k, Value lo, Value hi, const std::function<Value(Value r)>& reached);

// An unsigned integer that is ordered as the value is: signed integers by value; floats by value
// with -0 < +0 and NaN last. u32, or u64 for 64-bit types. Equal values (by bits, NaN made
// canonical) have equal keys.
Value order_key(Builder& k, Value value);
// The value that has this order key.
Value from_order_key(Builder& k, Value key, Type type);

// Rows before each other in the order of sort, and equal rows.
Value rows_less(Builder& k, const Values& a, const Values& b);
Value rows_equal(Builder& k, const Values& a, const Values& b);

Value fold_values(Builder& k, Fold fold, Value a, Value b);

// ---- the skeletons; each makes its results in `plan` ----

struct ScanBuffers {
  Buffer before;  // as long as the column
  Buffer total;   // one element
};
struct ScanOptions {
  bool checked = false;       // for add on u32: a total that does not fit fails kCheckOverflow
  bool only_if_rows = false;  // launches nothing for an empty column, and the total stays unset
};
ScanBuffers library_scan(Library& library, PlanBuilder& plan, Fold fold, Buffer column,
                         const ScanOptions& options = {});
Buffer library_reduce(Library& library, PlanBuilder& plan, Fold fold, Buffer column);
// The bits in which the words (u32 or u64) are not all the same, as a buffer of one.
Buffer library_varying_bits(Library& library, PlanBuilder& plan, Buffer words);
// Without want_permutation there may be none in the result: it costs a third of the time.
Sorted library_sort(Library& library, PlanBuilder& plan, const Columns& columns,
                    bool want_permutation = true);
Partitioned library_partition(PlanBuilder& plan, Buffer ids, Value buckets);
Buffer library_segment(Library& library, PlanBuilder& plan, Fold fold, Buffer heads, Buffer column);
Buffer library_merge(Library& library, PlanBuilder& plan, const Columns& first,
                     const Columns& second);

}  // namespace xlog::kernel
