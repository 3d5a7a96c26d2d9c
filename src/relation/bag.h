// Rows on a device, in columns that grow; a row may occur more than once.
#pragma once

#include <algorithm>
#include <span>
#include <string>
#include <vector>

#include "relation/machine.h"

namespace xlog::relation {

class Bag {
 public:
  Bag(Machine& machine, std::vector<Type> types)
      : machine_(&machine), types_(std::move(types)), columns_(types_.size()) {}

  const std::vector<Type>& types() const { return types_; }
  uint32_t rows() const { return rows_; }
  uint64_t bytes() const;
  const std::vector<device::Buffer>& columns() const { return columns_; }
  // A column up to row `count`, as plans take it.
  device::Column column(uint32_t c, uint32_t count) const {
    return {columns_[c], types_[c], count};
  }

  // Room for so many rows in all; what is stored stays.
  Status make_room(uint64_t rows);
  // Adds the rows of each part, in order.
  struct Part {
    uint64_t first;
    uint32_t count;
  };
  Status append(const std::vector<device::Buffer>& from, std::span<const Part> parts);
  Status append(const std::vector<device::Buffer>& from, uint32_t count) {
    const Part all{0, count};
    return append(from, std::span(&all, 1));
  }
  void clear() { rows_ = 0; }
  void shorten(uint32_t rows) { rows_ = std::min(rows_, rows); }
  // Forgets the first rows; the others move to the front.
  Status drop(uint32_t count);

 private:
  Machine* machine_;
  std::vector<Type> types_;
  std::vector<device::Buffer> columns_;
  uint64_t capacity_ = 0;
  uint32_t rows_ = 0;
};

// Rows are counted in 32 bits.
Error too_many_rows();

// The next capacity of what grows by copying: by half, by a quarter where it is large.
uint64_t larger_capacity(uint64_t capacity);

// "_u32_u64": the part of a kernel's name that says which columns it is for.
std::string type_names(const std::vector<Type>& types);

}  // namespace xlog::relation
