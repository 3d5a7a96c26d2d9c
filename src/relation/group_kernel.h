// The kernel of a derivation on groups (group_code.h).
//
// A group takes a tile of the driver's rows. What it derives goes to one output that all groups
// share. No row may get into a set and then find no place: before a group puts rows into a set of
// keys, it reserves room for as many as it asks about; out of a set of bits it takes them again.
// Without room the group stops, and its tile is done again in another launch: what it had put into
// the set is found there and does not come twice. A bag has no set to remember that: it counts on
// past its room, and the whole launch is repeated with as much as was asked for.
//
// Parameters, in order: groups, first and last (of the driver's rows), tile (rows of one), room,
// again (whether some tiles are done), done (by group), counters, total, mishaps, the columns of
// the output, the set that rows are put into, and what the pipeline reads.
#pragma once

#include "relation/group_code.h"

namespace xlog::relation {

// kEnd: where places without room begin, counted down from the greatest number. kCrowded: whether a
// row found no place in the set.
enum GroupCounter : uint32_t { kReserved, kPlaced, kStopped, kEnd, kCrowded, kGroupCounters };

class GroupKernel {
 public:
  struct Options {
    std::vector<Type> types;             // of a row; none: solutions are only counted
    std::optional<lang::PredId> claims;  // the relation whose set the kernel fills
    const Marks* marks = nullptr;
  };
  GroupKernel(kernel::Graph& graph, const lang::Program& program, const plan::Pipeline& pipeline,
              const std::vector<lang::Term>& head, const RelationOf& relation_of,
              const Options& options);

  kernel::Id build();

 private:
  void emit(const Slots& slots, Value active);
  void flush();
  void count_mishap(Mishap mishap);
  Value claim(Values& is_new);
  void claim_and_place();
  void place_or_take_back();
  void store_new(const Values& is_new, Value at);
  void stop();
  void tell_if_crowded();
  void place();
  // What one lane adds to a counter: all lanes are told what was there before.
  Value add(GroupCounter counter, Value amount);
  void store_row(const Values& row, Value at, Value active);

  kernel::KernelBuilder k_;
  const std::vector<lang::Term>& head_;
  Value groups_, first_, last_, tile_, room_, again_;
  kernel::Buffer done_, counters_, total_, mishaps_;
  kernel::Columns out_;
  std::optional<ClaimedSet> claimed_;
  std::optional<GroupCode> code_;

  Value lane_, zero_;
  kernel::Buffer told_;             // by counter, in local memory
  kernel::Buffer found_, stopped_;  // of the lane: solutions, and whether its group has stopped
  struct Pending {
    Values row;
    Value active;
  };
  std::vector<Pending> pending_;  // emitted since the last flush
};

}  // namespace xlog::relation
