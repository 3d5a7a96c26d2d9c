// Memory of the chunked interpreter: buffers (shared with other threads, hence real atomics) and
// private arrays (one lane's, hence plain ones).
#include <atomic>
#include <cstring>
#include <type_traits>

#include "render/chunked_simd.h"

namespace xlog::render::chunked {

using kernel::Fold;
using kernel::Type;

namespace {

// Cells are moved as bits; a bool from outside becomes 0 or 1.
template <typename T, bool kBool>
T cell(T bits) {
  if constexpr (kBool) {
    return bits != 0 ? 1 : 0;
  } else {
    return bits;
  }
}

// The address of element `index` for a lane.
template <typename T>
struct InBuffer {
  T* base;
  InBuffer(const Frame& frame, const Step& step) : base(static_cast<T*>(frame.args[step.extra])) {}
  T& operator()(uint32_t index, uint32_t) const { return base[index]; }
};
template <typename T>
struct InArray {
  T* base;
  uint32_t stride;
  InArray(const Frame& frame, const Step& step)
      : base(frame.at<T>(step.extra)), stride(frame.lanes) {}
  T& operator()(uint32_t index, uint32_t lane) const { return base[size_t{index} * stride + lane]; }
};

// Other threads change the cells of a `race` buffer meanwhile: plain accesses would be undefined.
template <typename T>
struct InSharedBuffer {
  struct Cell {
    T& cell;
    // NOLINTNEXTLINE(google-explicit-constructor): a cell stands for its value
    operator T() const { return std::atomic_ref<T>(cell).load(std::memory_order_relaxed); }
    void operator=(T value) const {
      std::atomic_ref<T>(cell).store(value, std::memory_order_relaxed);
    }
  };
  T* base;
  InSharedBuffer(const Frame& frame, const Step& step)
      : base(static_cast<T*>(frame.args[step.extra])) {}
  Cell operator()(uint32_t index, uint32_t) const { return {base[index]}; }
};

template <typename T, template <typename> class Place, bool kBool>
void load(Frame& frame, const Step& step) {
  const Place<T> place(frame, step);
  T* to = frame.at<T>(step.to);
  const uint32_t* index = frame.at<uint32_t>(step.a);
  for_active(frame, [=](uint32_t i) { to[i] = cell<T, kBool>(place(index[i], i)); });
}

template <typename T, template <typename> class Place>
void store(Frame& frame, const Step& step) {
  const Place<T> place(frame, step);
  const uint32_t* index = frame.at<uint32_t>(step.a);
  const T* value = frame.at<T>(step.b);
  for_active(frame, [=](uint32_t i) { place(index[i], i) = value[i]; });
}

template <typename T, bool kBool>
XLOG_LANE_LOOP void load_row(Frame& frame, const Step& step) {
  const T* row = static_cast<const T*>(frame.args[step.extra]) + frame.first;
  T* to = frame.at<T>(step.to);
  for_active(frame, [=](uint32_t i) { to[i] = cell<T, kBool>(row[i]); });
}

template <typename T>
XLOG_LANE_LOOP void store_row(Frame& frame, const Step& step) {
  T* row = static_cast<T*>(frame.args[step.extra]) + frame.first;
  const T* value = frame.at<T>(step.b);
  for_active(frame, [=](uint32_t i) { row[i] = value[i]; });
}

template <typename T, Fold kFold>
T folded(T a, T b) {
  using U = std::make_unsigned_t<T>;
  switch (kFold) {
    case Fold::Add:
      return static_cast<T>(static_cast<U>(a) + static_cast<U>(b));
    case Fold::Min:
      return b < a ? b : a;
    case Fold::Max:
      return a < b ? b : a;
    case Fold::And:
      return static_cast<T>(a & b);
    case Fold::Or:
      return static_cast<T>(a | b);
    case Fold::Xor:
      return static_cast<T>(a ^ b);
    case Fold::Exch:
      return b;
  }
  return b;
}

template <typename T, Fold kFold>
T fold_shared(T& cell, T value) {
  constexpr auto kRelaxed = std::memory_order_relaxed;
  std::atomic_ref<T> shared(cell);
  if constexpr (kFold == Fold::Add) return shared.fetch_add(value, kRelaxed);
  if constexpr (kFold == Fold::And) return shared.fetch_and(value, kRelaxed);
  if constexpr (kFold == Fold::Or) return shared.fetch_or(value, kRelaxed);
  if constexpr (kFold == Fold::Xor) return shared.fetch_xor(value, kRelaxed);
  if constexpr (kFold == Fold::Exch) return shared.exchange(value, kRelaxed);
  T old = shared.load(kRelaxed);
  // Most values do not improve a minimum: then there is nothing to write.
  while (folded<T, kFold>(old, value) != old &&
         !shared.compare_exchange_weak(old, folded<T, kFold>(old, value), kRelaxed)) {
  }
  return old;
}

template <typename T, Fold kFold, bool kArray>
void atomic(Frame& frame, const Step& step) {
  const uint32_t* index = frame.at<uint32_t>(step.a);
  const T* value = frame.at<T>(step.b);
  T* to = step.to == kNoRegister ? nullptr : frame.at<T>(step.to);
  const std::conditional_t<kArray, InArray<T>, InBuffer<T>> place(frame, step);
  for_active(frame, [=](uint32_t i) {
    T& cell = place(index[i], i);
    T old;
    if constexpr (kArray) {
      old = cell;
      cell = folded<T, kFold>(old, value[i]);
    } else {
      old = fold_shared<T, kFold>(cell, value[i]);
    }
    if (to != nullptr) to[i] = old;
  });
}

template <typename T>
void cas(Frame& frame, const Step& step) {
  const uint32_t* index = frame.at<uint32_t>(step.a);
  const T* expected = frame.at<T>(step.b);
  const T* desired = frame.at<T>(step.c);
  T* to = step.to == kNoRegister ? nullptr : frame.at<T>(step.to);
  const InBuffer<T> place(frame, step);
  for_active(frame, [=](uint32_t i) {
    T old = expected[i];
    std::atomic_ref<T>(place(index[i], i))
        .compare_exchange_strong(old, desired[i], std::memory_order_relaxed);
    if (to != nullptr) to[i] = old;
  });
}

template <typename T, bool kArray>
Run atomic_of(Fold fold) {
  switch (fold) {
    case Fold::Add:
      return atomic<T, Fold::Add, kArray>;
    case Fold::Min:
      return atomic<T, Fold::Min, kArray>;
    case Fold::Max:
      return atomic<T, Fold::Max, kArray>;
    case Fold::And:
      return atomic<T, Fold::And, kArray>;
    case Fold::Or:
      return atomic<T, Fold::Or, kArray>;
    case Fold::Xor:
      return atomic<T, Fold::Xor, kArray>;
    case Fold::Exch:
      return atomic<T, Fold::Exch, kArray>;
  }
  return nullptr;
}

template <bool kArray>
Run atomic_for(Type type, Fold fold) {
  switch (type) {
    case Type::U32:
      return atomic_of<uint32_t, kArray>(fold);
    case Type::U64:
      return atomic_of<uint64_t, kArray>(fold);
    case Type::I32:
      return atomic_of<int32_t, kArray>(fold);
    case Type::I64:
      return atomic_of<int64_t, kArray>(fold);
    default:
      return nullptr;
  }
}

template <typename T, bool kBool = false>
Run load_from(Where where) {
  switch (where) {
    case Where::Buffer:
      return load<T, InBuffer, kBool>;
    case Where::SharedBuffer:
      return load<T, InSharedBuffer, kBool>;
    case Where::Array:
      return load<T, InArray, kBool>;
  }
  return nullptr;
}

template <typename T>
Run store_to(Where where) {
  switch (where) {
    case Where::Buffer:
      return store<T, InBuffer>;
    case Where::SharedBuffer:
      return store<T, InSharedBuffer>;
    case Where::Array:
      return store<T, InArray>;
  }
  return nullptr;
}

}  // namespace

Run load_step(Type type, Where where) {
  if (type == Type::Bool) return load_from<uint8_t, true>(where);
  switch (kernel::size_of(type)) {
    case 1:
      return load_from<uint8_t>(where);
    case 4:
      return load_from<uint32_t>(where);
    default:
      return load_from<uint64_t>(where);
  }
}

Run store_step(Type type, Where where) {
  switch (kernel::size_of(type)) {
    case 1:
      return store_to<uint8_t>(where);
    case 4:
      return store_to<uint32_t>(where);
    default:
      return store_to<uint64_t>(where);
  }
}

Run load_row_step(Type type) {
  if (type == Type::Bool) return best<load_row<uint8_t, true>>();
  switch (kernel::size_of(type)) {
    case 1:
      return best<load_row<uint8_t, false>>();
    case 4:
      return best<load_row<uint32_t, false>>();
    default:
      return best<load_row<uint64_t, false>>();
  }
}

Run store_row_step(Type type) {
  switch (kernel::size_of(type)) {
    case 1:
      return best<store_row<uint8_t>>();
    case 4:
      return best<store_row<uint32_t>>();
    default:
      return best<store_row<uint64_t>>();
  }
}

Run atomic_step(Type type, Fold fold, Where where) {
  return where == Where::Array ? atomic_for<true>(type, fold) : atomic_for<false>(type, fold);
}

Run cas_step(Type type) { return kernel::size_of(type) == 4 ? cas<uint32_t> : cas<uint64_t>; }

}  // namespace xlog::render::chunked
