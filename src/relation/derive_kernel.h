// The kernel of a derivation (derive.h).
//
// Parameters, in order: instances, length (the driver's rows of the longest piece or of a chunk),
// region (rows of one) and most (items of loops, or own rows, that an instance takes), state,
// mishaps, the columns of the regions, the set that rows are put into, and what the pipeline reads.
// Instances that go on with their own rows are given the first and last of all driver's rows behind
// the length.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "relation/pipeline_code.h"

namespace xlog::relation {

// The state of a chunk whose instance goes on with its own rows: the row it goes on with, how many
// rows its region holds, how many of those it went on with, and how many were new in this launch.
enum ChunkState : uint32_t { kChunkRow, kChunkFilled, kChunkHandled, kChunkNew, kChunkWidth };

class DeriveKernel {
 public:
  struct Options {
    std::vector<Type> types;             // of a row
    std::optional<lang::PredId> claims;  // the relation whose set the kernel fills
    uint32_t loops = 1;                  // that are nested (pieces.h)
    bool takes_own_rows = false;         // an instance goes on with the rows of its region
    bool keeps_rows = true;              // false: the region is a stack, what is taken is gone
    bool claims_late = false;            // where the set is large: rows wait for their cells
    bool ends_with_one_row = false;      // the head has no columns: nobody goes on once it is there
    const Marks* marks = nullptr;
  };
  DeriveKernel(kernel::Graph& graph, const lang::Program& program, const plan::Pipeline& pipeline,
               const std::vector<lang::Term>& head, const RelationOf& relation_of,
               const Options& options);

  kernel::Id build();

 private:
  PipelineCode::Sink sink();
  void emit(const Slots& slots);
  void count(Value bindings);
  void store_row(const Values& row);
  void claim(const Values& row);
  void claim_later(const Values& row, Value room);
  void claim_waiting();
  void refuse();
  void walk_piece();
  void walk_bits(const SetCode& bits, Value at, const std::function<void(const Values& row)>& run);
  void walk_own_rows();
  Values row_of(Value in_region, Value at, Value own);
  void count_mishap(Mishap mishap);
  Value state_of(ChunkState which) { return c_ * kChunkWidth + static_cast<uint32_t>(which); }

  kernel::KernelBuilder k_;
  const std::vector<lang::Term>& head_;
  const Options& options_;
  Value instances_, length_, first_, last_, region_, most_, budget_;
  kernel::Buffer state_, mishaps_;
  kernel::Columns out_;
  std::optional<ClaimedSet> claimed_;
  std::optional<PipelineCode> code_;
  std::optional<LoopCut> cut_;  // of a piece

  // Of the instance.
  Value c_, base_, zero_;
  kernel::Buffer filled_, added_, full_;  // one cell each
  kernel::Columns waiting_;               // rows whose cells have been asked for
  kernel::Buffer waits_;                  // how many
};

}  // namespace xlog::relation
