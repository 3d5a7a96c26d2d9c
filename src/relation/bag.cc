#include "relation/bag.h"

#include <fmt/format.h>

#include <algorithm>

namespace xlog::relation {

std::string type_names(const std::vector<Type>& types) {
  std::string names;
  for (Type type : types) names += fmt::format("_{}", spelling(type));
  return names;
}

uint64_t Bag::bytes() const {
  uint64_t bytes = 0;
  for (Type type : types_) bytes += capacity_ * size_of(type);
  return bytes;
}

uint64_t larger_capacity(uint64_t capacity) {
  constexpr uint64_t kMany = uint64_t{1} << 18;
  return capacity + capacity / (capacity < kMany ? 2 : 4);
}

Error too_many_rows() {
  return {fmt::format("more than {} rows", UINT32_MAX),
          "rows are counted in 32 bits; split the relation"};
}

Status Bag::make_room(uint64_t rows) {
  constexpr uint64_t kLeast = 64;
  if (rows > UINT32_MAX) return too_many_rows();
  if (rows <= capacity_) return Done{};
  const uint64_t larger = std::max({rows, larger_capacity(capacity_), kLeast});
  for (size_t c = 0; c < types_.size(); ++c) {
    Status s = resize_buffer(machine_->device(), columns_[c], types_[c], rows_, larger);
    if (!s.ok()) return s;
  }
  capacity_ = larger;
  return Done{};
}

Status Bag::drop(uint32_t count) {
  const Part rest{count, rows_ - count};
  Bag kept(*machine_, types_);
  if (Status s = kept.append(columns_, std::span(&rest, 1)); !s.ok()) return s;
  if (kept.rows_ == 0 && capacity_ > 0) {
    if (Status s = kept.make_room(1); !s.ok()) return s;
  }
  *this = std::move(kept);
  return Done{};
}

Status Bag::append(const std::vector<device::Buffer>& from, std::span<const Part> parts) {
  uint64_t total = rows_;
  for (const Part& part : parts) total += part.count;
  if (total == rows_) return Done{};
  if (Status s = make_room(total); !s.ok()) return s;
  for (size_t c = 0; c < types_.size(); ++c) {
    const uint64_t size = size_of(types_[c]);
    uint64_t to = rows_;
    for (const Part& part : parts) {
      if (part.count == 0) continue;
      const uint64_t bytes = part.count * size;
      if (Status s = machine_->device().copy({columns_[c], to * size, bytes},
                                             {from[c], part.first * size, bytes});
          !s.ok()) {
        return s;
      }
      to += part.count;
    }
  }
  rows_ = static_cast<uint32_t>(total);
  return Done{};
}

}  // namespace xlog::relation
