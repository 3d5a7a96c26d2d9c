// Control of the chunked interpreter: which lanes are active, and the values that loops carry.
#include <cstring>

#include "render/chunked_simd.h"

namespace xlog::render::chunked {

using kernel::Type;

namespace {

// Keeps the lanes of `from` for which `keep` holds; `from` and `to` may be the same list.
template <typename Keep>
void filter(const Lanes& from, Lanes& to, const Keep& keep) {
  if (from.full()) {
    // All or none is common, and counting is vector code.
    uint32_t kept = 0;
    for (uint32_t i = 0; i < kLanes; ++i) kept += keep(i);
    if (kept == 0 || kept == kLanes) {
      if (kept != 0 && &from != &to) std::memcpy(to.list, from.list, sizeof to.list);
      to.count = kept;
      return;
    }
  }
  uint32_t count = 0;
  const uint32_t all = from.count;
  for (uint32_t k = 0; k < all; ++k) {
    const uint16_t lane = from.list[k];
    to.list[count] = lane;
    count += keep(lane);
  }
  to.count = count;
}

void jump(Frame& frame, uint32_t target) { frame.next = frame.begin + target; }

template <typename T>
XLOG_LANE_LOOP void fill(Frame& frame, const Step& step) {
  T* to = frame.at<T>(step.to);
  const T value = static_cast<T>(step.bits);
  for_lanes(frame, [=](uint32_t i) { to[i] = value; });
}

template <typename T, bool kBool>
XLOG_LANE_LOOP void parameter(Frame& frame, const Step& step) {
  T* to = frame.at<T>(step.to);
  T value;
  std::memcpy(&value, frame.args[step.extra], sizeof value);
  if constexpr (kBool) value = value != 0 ? 1 : 0;
  for_lanes(frame, [=](uint32_t i) { to[i] = value; });
}

template <typename T>
XLOG_LANE_LOOP void copy(Frame& frame, const Step& step) {
  T* to = frame.at<T>(step.to);
  const T* a = frame.at<T>(step.a);
  for_active(frame, [=](uint32_t i) { to[i] = a[i]; });
}

}  // namespace

Run fill_step(Type type) {
  switch (kernel::size_of(type)) {
    case 1:
      return best<fill<uint8_t>>();
    case 4:
      return best<fill<uint32_t>>();
    default:
      return best<fill<uint64_t>>();
  }
}

Run parameter_step(Type type) {
  if (type == Type::Bool) return best<parameter<uint8_t, true>>();
  switch (kernel::size_of(type)) {
    case 1:
      return best<parameter<uint8_t, false>>();
    case 4:
      return best<parameter<uint32_t, false>>();
    default:
      return best<parameter<uint64_t, false>>();
  }
}

Run copy_step(Type type) {
  switch (kernel::size_of(type)) {
    case 1:
      return best<copy<uint8_t>>();
    case 4:
      return best<copy<uint32_t>>();
    default:
      return best<copy<uint64_t>>();
  }
}

void instances(Frame& frame, const Step& step) {
  uint32_t* to = frame.at<uint32_t>(step.to);
  const uint32_t first = frame.first;
  for_lanes(frame, [=](uint32_t i) { to[i] = first + i; });
}

void split(Frame& frame, const Step& step) {
  const uint8_t* condition = frame.at<uint8_t>(step.a);
  filter(*frame.now, frame.lists[step.extra], [=](uint32_t i) { return uint32_t{condition[i]}; });
  if (step.extra2 == kNoRegister) return;
  filter(*frame.now, frame.lists[step.extra2],
         [=](uint32_t i) { return uint32_t{condition[i]} ^ 1; });
}

void enter(Frame& frame, const Step& step) {
  frame.now = &frame.lists[step.extra];
  if (frame.now->count == 0) jump(frame, step.extra2);
}

void leave(Frame& frame, const Step& step) { frame.now = &frame.lists[step.extra]; }

void enter_for(Frame& frame, const Step& step) {
  const uint32_t* counter = frame.at<uint32_t>(step.a);
  const uint32_t* end = frame.at<uint32_t>(step.b);
  filter(*frame.now, frame.lists[step.extra],
         [=](uint32_t i) { return static_cast<uint32_t>(counter[i] < end[i]); });
}

void next_for(Frame& frame, const Step& step) {
  uint32_t* counter = frame.at<uint32_t>(step.a);
  const uint32_t* end = frame.at<uint32_t>(step.b);
  for_active(frame, [=](uint32_t i) { ++counter[i]; });
  Lanes& lanes = frame.lists[step.extra];
  filter(lanes, lanes, [=](uint32_t i) { return static_cast<uint32_t>(counter[i] < end[i]); });
  if (lanes.count != 0) jump(frame, step.extra2);
}

void enter_loop(Frame& frame, const Step& step) {
  const uint32_t* counter = frame.at<uint32_t>(step.a);
  const uint32_t* bound = frame.at<uint32_t>(step.b);
  const uint8_t* go = frame.at<uint8_t>(step.c);
  filter(*frame.now, frame.lists[step.extra], [=](uint32_t i) {
    return static_cast<uint32_t>(counter[i] < bound[i]) & uint32_t{go[i]};
  });
}

void next_loop(Frame& frame, const Step& step) {
  uint32_t* counter = frame.at<uint32_t>(step.a);
  const uint32_t* bound = frame.at<uint32_t>(step.b);
  const uint8_t* go = frame.at<uint8_t>(step.c);
  for_active(frame, [=](uint32_t i) { ++counter[i]; });
  Lanes& lanes = frame.lists[step.extra];
  filter(lanes, lanes, [=](uint32_t i) {
    return static_cast<uint32_t>(counter[i] < bound[i]) & uint32_t{go[i]};
  });
  if (lanes.count != 0) jump(frame, step.extra2);
}

}  // namespace xlog::render::chunked
