// One lane of the oracle: walks the blocks of a kernel with a stack of its own, so that it can stop
// at a barrier and go on later. Pure nodes are computed when an effect asks for them, from what
// stands in the lane at that moment; placement (place.h) has no part in it, and is tested by it.
//
//   lane.start(instance, number);
//   while (lane.run(), lane.state() == LaneState::Waiting) { ... lane.resume(value); }
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "kernel/graph.h"
#include "kernel/oracle.h"
#include "kernel/oracle_memory.h"

namespace xlog::kernel {

// What all lanes of a launch share.
struct OracleLaunch {
  OracleLaunch(const Graph& graph, Id kernel);

  uint32_t slot(Id id) const { return slot_of[id.index]; }
  void fail(uint32_t code, uint32_t instance);

  const Graph& graph;
  Id kernel;
  std::vector<Id> nodes;          // of the kernel
  std::vector<uint32_t> slot_of;  // by Id: position in `nodes`
  std::vector<Scalar> scalars;    // by parameter position; buffers leave theirs void
  std::deque<Cells> parameters;   // by parameter position; val parameters leave theirs empty
  std::unordered_map<uint32_t, Cells> locals;  // arrays of the group that runs, by slot
  uint64_t interval = 1;                       // the barrier interval that runs
  std::optional<CheckFailure> failure;
  std::optional<Error> error;  // the first broken promise; everything stops
};

enum class LaneState : uint8_t { Running, Waiting, Done };

class Lane {
 public:
  explicit Lane(OracleLaunch& launch);

  void start(uint32_t instance, uint32_t number);
  // Goes on until the lane waits, is done, or launch.error is set.
  void run();
  // The collective has its value; after a barrier there is none.
  void resume(Scalar result = {});

  LaneState state() const { return state_; }
  Id waits_at() const { return waits_at_; }
  Scalar brings() const { return brings_; }  // to the collective it waits at
  // Where it stands: effects passed and loop counters, from the kernel inwards.
  std::vector<uint32_t> place() const;
  // "kernel k, group 3, lane 5"
  std::string who() const;

 private:
  struct Frame {
    Id block;
    uint32_t next = 0;  // effect
    Id loop;            // whose body this is; invalid for the kernel and If
    uint32_t end = 0;   // hi of a For, bound of a Loop
  };
  struct LoopState {
    uint32_t counter = 0;
    bool go = false;
    std::vector<Scalar> carried;
  };

  // The number a failed check reports: counts lanes in a group kernel.
  uint32_t check_number() const;
  bool failed() const { return launch_.error.has_value(); }
  void broken(Id effect, std::string_view problem);
  Scalar value(Id id);
  std::optional<Scalar> leaf(Id id);
  Cells& cells(Id buffer);
  std::string buffer_text(Id buffer) const;

  void execute(Id effect);
  void access(Id effect);
  void enter_loop(Id loop);
  void leave_block();
  void finish_loop(Id loop);
  void keep(Id effect, Scalar result);

  OracleLaunch& launch_;
  const Graph& graph_;
  uint32_t instance_ = 0;
  uint32_t number_ = 0;
  LaneState state_ = LaneState::Done;
  Id waits_at_;
  Scalar brings_;
  std::vector<Frame> frames_;
  std::unordered_map<uint32_t, LoopState> loops_;              // by tag
  std::unordered_map<uint32_t, std::vector<Scalar>> results_;  // of loops, by slot
  std::unordered_map<uint32_t, Cells> arrays_;                 // private, by slot
  std::vector<Scalar> values_;                                 // by slot
  // A pure value counts if it was computed in this epoch; a new iteration begins a new one. The
  // result of an effect counts until the instance ends.
  std::vector<uint64_t> made_in_;  // by slot
  uint64_t epoch_ = 0;
  uint64_t first_epoch_ = 0;
};

}  // namespace xlog::kernel
