#include "relation/loop_cut.h"

#include "base/check.h"

namespace xlog::relation {

using kernel::Buffer;
using kernel::Type;

LoopCut::LoopCut(KernelBuilder& k, Buffer state, Value place, Value rows, Value budget,
                 uint32_t loops)
    : k_(k), state_(state), place_(place), rows_(rows), budget_(budget), loops_(loops) {}

Value LoopCut::number_of(uint32_t loop, LoopNumber which) {
  return place_ + k_.u32(kPieceWidth + loop * kLoopWidth + which);
}

void LoopCut::begin() {
  zero_ = k_.u32(0);
  const auto cell = [&](Value value) {
    const Buffer made = k_.private_array(value.type(), 1);
    k_.store(made, zero_, value);
    return made;
  };
  for (uint32_t l = 0; l < loops_; ++l) {
    at_.push_back(state_[number_of(l, kLoopAt)]);
    end_.push_back(state_[number_of(l, kLoopEnd)]);
    way_.push_back(state_[number_of(l, kLoopWay)]);
    now_.push_back(cell(at_[l]));
    next_.push_back(cell(zero_));
    ends_.push_back(cell(end_[l]));
    ways_.push_back(cell(way_[l]));
  }
  path_ = cell(state_[place_ + k_.u32(kPieceDepth)]);
  looked_ = cell(zero_);
  stopped_ = cell(k_.boolean(false));
  depth_ = cell(zero_);
}

void LoopCut::end() {
  k_.store(state_, place_ + k_.u32(kPieceDepth), depth_[zero_]);
  k_.store(state_, place_ + k_.u32(kPieceStopped), k_.cast(Type::U32, stopped_[zero_]));
  for (uint32_t l = 0; l < loops_; ++l) {
    k_.store(state_, number_of(l, kLoopAt), now_[l][zero_]);
    k_.store(state_, number_of(l, kLoopEnd), ends_[l][zero_]);
    k_.store(state_, number_of(l, kLoopWay), ways_[l][zero_]);
  }
}

Value LoopCut::stopped() { return stopped_[zero_]; }

Value LoopCut::is_on_path(uint32_t loop) {
  return loop == 0 ? k_.boolean(true) : k_.u32(loop) <= path_[zero_];
}

void LoopCut::enter(uint32_t loop) { k_.store(next_[loop], zero_, zero_); }

// Only now is it known how many items there were.
void LoopCut::leave(uint32_t loop) {
  k_.if_then(stopped(), [&] {
    const Value last = k_.select(is_on_path(loop), end_[loop], k_.u32(UINT32_MAX));
    k_.store(ends_[loop], zero_, k_.min(last, next_[loop][zero_]));
  });
}

// Nothing may be looked at any more.
void LoopCut::stop_at(uint32_t loop, Value number) {
  k_.store(stopped_, zero_, k_.boolean(true));
  k_.store(looked_, zero_, k_.u32(UINT32_MAX));
  k_.store(depth_, zero_, k_.u32(loop));
  k_.store(now_[loop], zero_, number);
}

void LoopCut::stop() {
  XLOG_CHECK(!here_.empty(), "code that stops is inside a loop");
  k_.if_then(!stopped(), [&] { stop_at(here_.back().loop, here_.back().number); });
}

void LoopCut::at_item(uint32_t loop, Value number, const std::function<void()>& body) {
  here_.push_back({loop, number});
  body();
  here_.pop_back();
}

void LoopCut::item(uint32_t loop, Value number, const std::function<void()>& body) {
  if (is_last(loop)) return at_item(loop, number, body);
  k_.if_then(
      looked_[zero_] < budget_,
      [&] {
        k_.store(looked_, zero_, looked_[zero_] + 1);
        k_.store(now_[loop], zero_, number);
        at_item(loop, number, body);
        // The next item is behind where the piece begins.
        k_.store(path_, zero_, k_.min(path_[zero_], k_.u32(loop)));
      },
      [&] { k_.if_then(!stopped(), [&] { stop_at(loop, number); }); });
}

void LoopCut::part(uint32_t loop, Range rows,
                   const std::function<void(Range, const NumberOf&)>& body) {
  const Value number = next_[loop][zero_];
  const Value on_path = is_on_path(loop);
  const Value from = k_.select(on_path, at_[loop], zero_);
  const Value to = k_.select(on_path, end_[loop], k_.u32(UINT32_MAX));
  const Value count = rows.hi - rows.lo;
  const Value skipped = k_.min(k_.max(from, number) - number, count);
  const Value wanted = k_.min(k_.max(to, number) - number, count) - skipped;
  const Value looked = looked_[zero_];
  const Value allowed = k_.min(wanted, budget_ - k_.min(looked, budget_));
  k_.store(next_[loop], zero_, number + count);
  // Items of other loops are counted one by one: what is inside them counts too.
  if (is_last(loop)) k_.store(looked_, zero_, looked + allowed);
  const Value first = rows.lo + skipped;
  body({first, first + allowed}, [&](Value row) { return number + (row - rows.lo); });
  k_.if_then((allowed < wanted) & !stopped(), [&] { stop_at(loop, number + skipped + allowed); });
}

void LoopCut::walk(uint32_t loop, Range rows, const std::function<void(Value row)>& body) {
  part(loop, rows, [&](Range here, const NumberOf& number) {
    const Value count = here.hi - here.lo;
    k_.for_range(zero_, loop == 0 ? k_.min(rows_, count) : count, [&](Value i) {
      const Value row = here.lo + i;
      item(loop, number(row), [&] { body(row); });
    });
  });
}

void LoopCut::look(Value items) {
  k_.store(looked_, zero_, looked_[zero_] + k_.min(items, budget_));
}

Value LoopCut::way(uint32_t loop, Value otherwise) {
  return k_.select(is_on_path(loop), way_[loop], otherwise);
}

void LoopCut::note_way(uint32_t loop, Value way) { k_.store(ways_[loop], zero_, way); }

}  // namespace xlog::relation
