// Values as 64-bit cells. The kind of a value is that of its column or variable; where that is
// `term`, each value carries its own, so the cell is a number for the whole value.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "lang/program.h"

namespace xlog::incremental {

class Cells {
 public:
  uint64_t cell(lang::TypeKind kind, const lang::Value& value) {
    return kind == lang::TypeKind::Term ? number(value) : value.bits;
  }
  lang::Value value(lang::TypeKind kind, uint64_t cell) const {
    return kind == lang::TypeKind::Term ? terms_[cell] : lang::Value{kind, cell};
  }

 private:
  uint64_t number(const lang::Value& value) {
    const auto [it, is_new] = numbers_.try_emplace(value, terms_.size());
    if (is_new) terms_.push_back(value);
    return it->second;
  }

  std::vector<lang::Value> terms_;
  std::unordered_map<lang::Value, uint64_t> numbers_;
};

}  // namespace xlog::incremental
