// Finished rows on the host, column by column, with indexes on any columns, made when first asked
// for. An index is a permutation of the row numbers: four bytes a row.
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "engine/evaluate.h"
#include "lang/facts.h"
#include "lang/program.h"

namespace xlog::engine {

// What a search may use, and why it had to stop.
class Budget {
 public:
  struct Limits {
    uint64_t rows = 0;    // facts and rule instances
    double seconds = 0;   // 0: none
    uint64_t memory = 0;  // bytes of the process; 0: none
    std::chrono::steady_clock::time_point start = std::chrono::steady_clock::now();
  };
  explicit Budget(const Limits& limits) : limits_(limits) {}

  // Called in every inner loop; true when the search has to stop.
  bool tick();
  void take_row();
  // Where `bytes` are about to be taken at once; false when the search has to stop.
  bool has_memory_for(uint64_t bytes);
  void fail(Error error);

  bool stopped() const { return error_.has_value(); }
  const Error& error() const { return *error_; }
  uint64_t most_rows() const { return limits_.rows; }

 private:
  Limits limits_;
  uint64_t ticks_ = 0, rows_ = 0;
  std::optional<Error> error_;
};

class Table {
 public:
  Table(Rows rows, Budget& budget);
  // Of a program: the columns stay where they are.
  Table(const lang::FactTable& facts, Budget& budget);

  uint32_t rows() const { return rows_; }
  lang::Value at(uint32_t row, uint32_t column) const { return (*columns_)[column].at(row); }
  std::vector<lang::Value> row(uint32_t row) const;

  // Rows whose `columns` may equal `key`, in ascending order: those with the same hash. None where
  // the budget does not allow to look.
  std::span<const uint32_t> candidates(const std::vector<uint32_t>& columns,
                                       std::span<const lang::Value> key);
  // The first row with these values.
  std::optional<uint32_t> find(std::span<const lang::Value> values);

 private:
  const std::vector<uint32_t>& index(const std::vector<uint32_t>& columns);
  uint64_t hash_of(uint32_t row, const std::vector<uint32_t>& columns) const;

  Budget& budget_;
  std::unique_ptr<std::vector<lang::FactColumn>> own_;
  const std::vector<lang::FactColumn>* columns_;
  uint32_t rows_ = 0;
  std::map<std::vector<uint32_t>, std::vector<uint32_t>> indexes_;
};

// The tables of a program, fetched when first asked for.
class Tables {
 public:
  Tables(const lang::Program& program, const Settled& settled, Budget& budget)
      : program_(program), settled_(settled), budget_(budget) {}

  // All rows that hold. Where they cannot be fetched the budget says so, and the table is empty.
  Table& rows(lang::PredId pred);
  // Those among them that the program or its input states. Rows may repeat.
  Table& facts(lang::PredId pred);

 private:
  const lang::Program& program_;
  const Settled& settled_;
  Budget& budget_;
  std::map<lang::PredId, Table> rows_, facts_;
};

// The canonical order of rows.
std::strong_ordering compare_rows(std::span<const lang::Value> a, std::span<const lang::Value> b,
                                  const lang::Names& names);

}  // namespace xlog::engine
