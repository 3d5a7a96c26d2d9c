// A set of rows in order of insertion, with hash indexes on any subset of the columns, built when
// first asked for.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "lang/value.h"

namespace xlog::oracle {

using lang::Value;
using Tuple = std::vector<Value>;

uint64_t hash_values(std::span<const Value> values);

class Relation {
 public:
  size_t size() const { return rows_.size(); }
  const Tuple& row(size_t i) const { return rows_[i]; }
  const std::vector<Tuple>& rows() const { return rows_; }
  uint64_t bytes() const;  // about

  bool insert(Tuple tuple);                              // false when it was there
  std::optional<size_t> find(const Tuple& tuple) const;  // its row

  // Numbers of the rows whose columns in `columns` (ascending) may equal `key`, ascending; rows
  // with the same hash are included, so the caller compares. Valid until rows are added.
  const std::vector<uint32_t>& candidates(const std::vector<uint32_t>& columns,
                                          std::span<const Value> key);

 private:
  struct Index {
    size_t covered = 0;  // rows already in it
    std::unordered_map<uint64_t, std::vector<uint32_t>> buckets;
  };
  std::vector<Tuple> rows_;
  std::unordered_map<uint64_t, std::vector<uint32_t>> by_hash_;
  std::map<std::vector<uint32_t>, Index> indexes_;
};

}  // namespace xlog::oracle
