// The steps of the chunked interpreter and the memory they work on.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernel/op.h"
#include "kernel/type.h"

namespace xlog::render::chunked {

constexpr uint32_t kLanes = 256;
// With fewer active lanes than this, going through the list beats computing all lanes.
constexpr uint32_t kDense = 48;
constexpr uint32_t kNoRegister = UINT32_MAX;

// The active lanes of a block, in order.
struct Lanes {
  uint32_t count;
  uint16_t list[kLanes];

  bool full() const { return count == kLanes; }
  bool dense() const { return count >= kDense; }
};

struct Step;

// What a chunk works on. A register is kLanes values of one type, named by its offset in `memory`.
// A private array has its lanes side by side: element e of lane l is at e * kLanes + l, or with
// another stride where chunks are smaller.
struct Frame {
  std::byte* memory;
  Lanes* lists;
  Lanes* now;  // the active ones
  void* const* args;
  uint32_t first;  // instance of lane 0
  uint32_t lanes;  // stride of private arrays
  const Step* begin;
  const Step* next;

  template <typename T>
  T* at(uint32_t offset) const {
    return reinterpret_cast<T*>(memory + offset);
  }
};

// One step: a function and what it works on, mostly offsets of registers.
struct Step {
  void (*run)(Frame& frame, const Step& step) = nullptr;
  uint32_t to = kNoRegister;
  uint32_t a = kNoRegister, b = kNoRegister, c = kNoRegister;
  uint32_t extra = 0;  // a list, a parameter, a jump target, by step
  uint32_t extra2 = 0;
  uint64_t bits = 0;  // a constant
};

using Run = void (*)(Frame& frame, const Step& step);

// ---- chunked_arithmetic.cc, chunked_cast.cc: to = op(a, b, c) for the type of the operands ----
Run arithmetic_step(kernel::Op op, kernel::Type type);  // nullptr: lowering should have removed it
Run cast_step(kernel::Type from, kernel::Type to);

// ---- chunked_memory.cc. `extra` is the parameter, or for arrays the offset of the array ----
enum class Where : uint8_t {
  Buffer,
  SharedBuffer,  // of mode `race`
  Array,         // private
};
Run load_step(kernel::Type type, Where where);                       // to = memory[a]
Run store_step(kernel::Type type, Where where);                      // memory[a] = b
Run atomic_step(kernel::Type type, kernel::Fold fold, Where where);  // to = old; folds b
Run cas_step(kernel::Type type);  // to = old; b -> c, in a buffer of mode `race`
// The index is the instance itself: rows that lie side by side.
Run load_row_step(kernel::Type type);
Run store_row_step(kernel::Type type);

// ---- chunked_control.cc ----
Run fill_step(kernel::Type type);                 // to = bits, for all lanes
Run parameter_step(kernel::Type type);            // to = val parameter `extra`, for all lanes
Run copy_step(kernel::Type type);                 // to = a for the active lanes
void instances(Frame& frame, const Step& step);   // to = number of the instance
void split(Frame& frame, const Step& step);       // list extra: a holds; extra2: it does not
void enter(Frame& frame, const Step& step);       // list extra is active; empty: jump to extra2
void leave(Frame& frame, const Step& step);       // list extra is active again
void enter_for(Frame& frame, const Step& step);   // list extra: those with a < b
void next_for(Frame& frame, const Step& step);    // ++a; those with a < b; any: jump to extra2
void enter_loop(Frame& frame, const Step& step);  // list extra: those with c and a < b
void next_loop(Frame& frame, const Step& step);   // ++a; those with c and a < b; jump to extra2

// Lanes do not depend on each other: a promise that GCC needs for vector code at -O2, since it
// cannot know that registers do not overlap. Clang tests that at run time by itself.
#ifdef __clang__
#define XLOG_LANES_ARE_INDEPENDENT
#else
#define XLOG_LANES_ARE_INDEPENDENT _Pragma("GCC ivdep")
#endif

// Calls f(lane) for every active lane, or for all lanes where that is cheaper.
template <typename F>
inline void for_lanes(const Frame& frame, const F& f) {
  const Lanes& lanes = *frame.now;
  if (lanes.dense()) {
    XLOG_LANES_ARE_INDEPENDENT
    for (uint32_t i = 0; i < kLanes; ++i) f(i);
  } else {
    for (uint32_t k = 0; k < lanes.count; ++k) f(lanes.list[k]);
  }
}

// Calls f(lane) for the active lanes and no other.
template <typename F>
inline void for_active(const Frame& frame, const F& f) {
  const Lanes& lanes = *frame.now;
  if (lanes.full()) {
    XLOG_LANES_ARE_INDEPENDENT
    for (uint32_t i = 0; i < kLanes; ++i) f(i);
  } else {
    for (uint32_t k = 0; k < lanes.count; ++k) f(lanes.list[k]);
  }
}

}  // namespace xlog::render::chunked
