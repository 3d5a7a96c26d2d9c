// Memory as the oracle sees it: every cell remembers who touched it, so that each promise of a mode
// (op.h) is checked at the access that breaks it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "kernel/op.h"
#include "kernel/scalar.h"

namespace xlog::kernel {

// Who touches a cell. A barrier interval belongs to one group and lies between two barriers;
// intervals of a launch have numbers of their own.
struct Toucher {
  uint32_t instance = 0;  // the group, in a group kernel
  uint32_t lane = 0;
  uint64_t interval = 0;
};

// A buffer parameter, or an array made by Alloc. The accesses give "" or the promise they break.
class Cells {
 public:
  // `written`: the cells that hold something before the launch; nullptr: all do.
  static Cells parameter(Mode mode, Type type, std::byte* data, uint32_t count,
                         const std::vector<bool>* written);
  static Cells array(Space space, Type type, uint32_t count);

  uint32_t count() const { return count_; }
  Type type() const { return type_; }
  // What a person calls the kind of this memory: "in u32", "local f32".
  std::string kind() const;

  std::string load(uint32_t index, const Toucher& who, Scalar& value);
  std::string store(uint32_t index, const Toucher& who, Scalar value);
  std::string atomic(uint32_t index, const Toucher& who, Fold fold, Scalar value, Scalar& old);
  std::string cas(uint32_t index, const Toucher& who, Scalar expected, Scalar desired, Scalar& old);
  // An array begins anew: nothing in it is written.
  void forget();

 private:
  enum Access : uint8_t { kRead = 1, kWrite = 2, kAtomic = 4 };

  // What happened to a cell in the barrier interval that touched it last.
  struct Touch {
    uint64_t interval = 0;
    uint32_t lane = 0;
    bool several_lanes = false;
    uint8_t accesses = 0;
    Fold fold = Fold::Exch;  // of its atomics
    bool several_folds = false;
  };

  static constexpr uint32_t kNobody = UINT32_MAX;

  std::string bounds_problem(uint32_t index) const;
  // Ownership, and races between the lanes of a group.
  std::string touch(uint32_t index, const Toucher& who, Access access, Fold fold = Fold::Exch);
  std::string unwritten_problem(uint32_t index) const;
  void* at(uint32_t index) { return data_ + size_t{index} * size_of(type_); }

  bool is_array_ = false;
  Mode mode_ = Mode::Race;
  Space space_ = Space::Private;
  Type type_ = Type::Void;
  uint32_t count_ = 0;
  std::byte* data_ = nullptr;
  std::vector<std::byte> storage_;   // of an array
  std::vector<bool> written_;        // empty: all are
  std::vector<uint32_t> instances_;  // out: who stored the cell; own: who owns it
  std::vector<uint8_t> folds_;       // acc: what the cell is folded with, plus one
  std::vector<Touch> touches_;       // own and local
};

}  // namespace xlog::kernel
