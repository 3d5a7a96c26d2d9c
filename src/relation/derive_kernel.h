// The kernel of a derivation (derive.h).
//
// Parameters, in order: chunks (of this launch), the first of them, length (rows of a chunk), first
// and last (of the driver's rows), region (rows of one), most (rows that an instance takes), state,
// mishaps, the columns of the regions, the set that rows are put into, and what the pipeline
// reads.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "relation/pipeline_code.h"

namespace xlog::relation {

// The state of a chunk: the row it goes on with, how many rows its region holds, how many of those
// it went on with, and how many were new in this launch.
enum ChunkState : uint32_t { kRow, kFilled, kHandled, kNew, kStateWidth };

class DeriveKernel {
 public:
  struct Options {
    std::vector<Type> types;             // of a row
    std::optional<lang::PredId> claims;  // the relation whose set the kernel fills
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
  Value derive(const std::function<void()>& body);
  void walk_chunk();
  void walk_own_rows();
  Values row_of(Value in_region, Value at, Value own);
  void count_mishap(Mishap mishap);
  Value state_of(ChunkState which) { return c_ * kStateWidth + static_cast<uint32_t>(which); }

  kernel::KernelBuilder k_;
  const std::vector<lang::Term>& head_;
  const Options& options_;
  Value chunks_, first_chunk_, length_, first_, last_, region_, most_;
  kernel::Buffer state_, mishaps_;
  kernel::Columns out_;
  std::optional<ClaimedSet> claimed_;
  std::optional<PipelineCode> code_;

  // Of the instance.
  Value c_, base_, from_, to_, zero_;
  kernel::Buffer filled_, added_, full_;  // one cell each
  kernel::Columns waiting_;               // rows whose cells have been asked for
  kernel::Buffer waits_;                  // how many
};

}  // namespace xlog::relation
