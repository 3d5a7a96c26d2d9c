// The part of a pipeline's nested loops that an instance goes through: a piece (pieces.h).
//
// It stops between two items of any loop: where there is no room for what it has found, or where it
// has looked at as many items as it may. Loops then come to their end without doing anything, and
// the instance tells where it was.
//
//   LoopCut cut(k, state, place, budget, 2);
//   cut.begin();
//   cut.enter(0);
//   cut.walk(0, rows, [&](Value row) {
//     cut.enter(1);
//     for_each_range(..., [&](Range found) { cut.walk(1, found, [&](Value other) { ... }); });
//     cut.leave(1);
//   });
//   cut.leave(0);
//   cut.end();
#pragma once

#include <functional>
#include <vector>

#include "kernel/library.h"
#include "relation/pieces.h"

namespace xlog::relation {

using kernel::KernelBuilder;
using kernel::Range;
using kernel::Value;

class LoopCut {
 public:
  // `state`: the numbers of the piece from `place` on. `budget`: items that may be looked at.
  // `rows`: loop 0 has no more items in any piece of the launch, so that a device sees beforehand
  // how much there is to do.
  LoopCut(KernelBuilder& k, kernel::Buffer state, Value place, Value rows, Value budget,
          uint32_t loops);

  // Around the code of an instance.
  void begin();
  void end();
  // Around all items of a loop inside one item of the loop around it.
  void enter(uint32_t loop);
  void leave(uint32_t loop);

  // Calls `body` for the items of `rows` that belong to the piece. They follow those of the calls
  // before, since the loop was entered.
  void walk(uint32_t loop, Range rows, const std::function<void(Value row)>& body);
  // The same as a part of `rows`, for code that goes through them in its own way: it is given the
  // items and a function that tells what number in the loop one has, and calls item() for those
  // that it wants.
  using NumberOf = std::function<Value(Value row)>;
  void part(uint32_t loop, Range rows, const std::function<void(Range, const NumberOf&)>& body);
  // Unless the instance has stopped.
  void item(uint32_t loop, Value number, const std::function<void()>& body);

  // Items that are looked at otherwise.
  void look(Value items);
  // At the item that a loop is at: it has to be done again.
  void stop();
  // Whether it has.
  Value stopped();
  // Which list a meet walks where the piece begins inside of it, else `otherwise`; and the note
  // which one it was.
  Value way(uint32_t loop, Value otherwise);
  void note_way(uint32_t loop, Value way);

 private:
  bool is_last(uint32_t loop) const { return loop + 1 == loops_; }
  void stop_at(uint32_t loop, Value number);
  Value is_on_path(uint32_t loop);
  Value number_of(uint32_t loop, LoopNumber which);
  void at_item(uint32_t loop, Value number, const std::function<void()>& body);

  KernelBuilder& k_;
  kernel::Buffer state_;
  Value place_, rows_, budget_;
  uint32_t loops_;

  Value zero_;
  std::vector<Value> at_, end_, way_;  // where the piece begins and ends
  kernel::Buffer path_;                // loops up to here are at the item where it begins
  kernel::Buffer looked_, stopped_, depth_;
  std::vector<kernel::Buffer> now_, next_, ends_, ways_;  // one cell each, by loop
  struct Here {
    uint32_t loop;
    Value number;
  };
  std::vector<Here> here_;  // the item that code is written for
};

}  // namespace xlog::relation
