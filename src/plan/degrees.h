// How often the values of a column occur.
#pragma once

#include <array>
#include <cstdint>
#include <string>

namespace xlog::plan {

constexpr uint32_t kDegreePowers = 32;

struct Degrees {
  // counts[p]: values that occur 2^p times or more, and less than twice as often.
  std::array<uint64_t, kDegreePowers> counts{};
  uint64_t values = 0;
  uint64_t rows = 0;
  double squares = 0;  // the sum of the squares of how often each value occurs

  // A value that occurs so often.
  void add(uint64_t times);
  // How many rows have an average value, and how many have the value of an average row: much more,
  // where few values have most rows.
  double rows_of_value() const;
  double rows_of_row() const;
};

// "40 values: 30 in 1 row, 10 in 2 to 3 rows".
std::string to_text(const Degrees& degrees);

}  // namespace xlog::plan
