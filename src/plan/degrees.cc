#include "plan/degrees.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

namespace xlog::plan {

void Degrees::add(uint64_t times) {
  if (times == 0) return;
  const auto power = static_cast<uint32_t>(std::bit_width(times) - 1);
  ++counts[std::min(power, kDegreePowers - 1)];
  ++values;
  rows += times;
  squares += static_cast<double>(times) * static_cast<double>(times);
}

double Degrees::rows_of_value() const {
  return values == 0 ? 0 : static_cast<double>(rows) / static_cast<double>(values);
}

double Degrees::rows_of_row() const { return rows == 0 ? 0 : squares / static_cast<double>(rows); }

std::string to_text(const Degrees& degrees) {
  std::string text = fmt::format("{} value{}", degrees.values, degrees.values == 1 ? "" : "s");
  bool first = true;
  for (uint32_t p = 0; p < kDegreePowers; ++p) {
    if (degrees.counts[p] == 0) continue;
    const uint64_t least = uint64_t{1} << p;
    text += fmt::format("{} {} in {}", first ? ":" : ",", degrees.counts[p],
                        p == 0 ? "1 row" : fmt::format("{} to {} rows", least, 2 * least - 1));
    first = false;
  }
  return text;
}

}  // namespace xlog::plan
