#include "engine/table.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "base/check.h"
#include "base/memory.h"
#include "oracle/relation.h"

namespace xlog::engine {

using lang::PredId;
using lang::Value;

// ---- Table ----

Table::Table(Rows rows, Budget& budget)
    : budget_(budget),
      own_(std::make_unique<std::vector<lang::FactColumn>>(std::move(rows.columns))),
      columns_(own_.get()),
      rows_(rows.count) {}

Table::Table(const lang::FactTable& facts, Budget& budget)
    : budget_(budget), columns_(&facts.columns), rows_(static_cast<uint32_t>(facts.rows)) {
  XLOG_CHECK(facts.rows < UINT32_MAX, "the engine refuses more facts than 32 bits count");
}

std::vector<Value> Table::row(uint32_t row) const {
  std::vector<Value> values;
  for (uint32_t c = 0; c < columns_->size(); ++c) values.push_back(at(row, c));
  return values;
}

uint64_t Table::hash_of(uint32_t row, const std::vector<uint32_t>& columns) const {
  Value few[8];
  if (columns.size() <= std::size(few)) {
    for (size_t i = 0; i < columns.size(); ++i) few[i] = at(row, columns[i]);
    return oracle::hash_values({few, columns.size()});
  }
  std::vector<Value> key;
  for (uint32_t c : columns) key.push_back(at(row, c));
  return oracle::hash_values(key);
}

const std::vector<uint32_t>& Table::index(const std::vector<uint32_t>& columns) {
  auto [it, is_new] = indexes_.try_emplace(columns);
  if (!is_new) return it->second;
  using Key = std::pair<uint64_t, uint32_t>;
  if (!budget_.has_memory_for(rows_ * (sizeof(Key) + sizeof(uint32_t)))) return it->second;
  std::vector<Key> keys(rows_);
  for (uint32_t r = 0; r < rows_ && !budget_.tick(); ++r) keys[r] = {hash_of(r, columns), r};
  if (budget_.stopped()) return it->second;
  std::ranges::sort(keys);
  it->second.reserve(rows_);
  for (const auto& [hash, row] : keys) it->second.push_back(row);
  return it->second;
}

std::span<const uint32_t> Table::candidates(const std::vector<uint32_t>& columns,
                                            std::span<const Value> key) {
  const std::vector<uint32_t>& order = index(columns);
  const uint64_t wanted = oracle::hash_values(key);
  const auto hash = [&](uint32_t row) { return hash_of(row, columns); };
  const auto range = std::ranges::equal_range(order, wanted, {}, hash);
  return {range.begin(), range.end()};
}

std::optional<uint32_t> Table::find(std::span<const Value> values) {
  std::vector<uint32_t> all(values.size());
  std::iota(all.begin(), all.end(), 0);
  for (uint32_t row : candidates(all, values)) {
    bool same = true;
    for (uint32_t c = 0; c < values.size() && same; ++c) same = at(row, c) == values[c];
    if (same) return row;
  }
  return std::nullopt;
}

// ---- Budget ----

bool Budget::tick() {
  if (stopped()) return true;
  if ((++ticks_ & 0xFFF) != 0) return false;
  // The system says what is in use much more slowly than what time it is.
  if ((ticks_ & 0xFFFF) == 0 && !has_memory_for(0)) return true;
  if (limits_.seconds <= 0) return false;
  const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - limits_.start;
  if (passed.count() < limits_.seconds) return false;
  fail({fmt::format("no proof was found in {} seconds", limits_.seconds),
        "raise it with `--timeout SECONDS`", ErrorKind::Limit});
  return true;
}

void Budget::take_row() {
  if (++rows_ <= limits_.rows) return;
  fail({fmt::format("the search for a proof visited more than {} facts and rule instances",
                    limits_.rows),
        "raise it with `--max-rows N`, or ask about a fact with a shorter proof",
        ErrorKind::Limit});
}

bool Budget::has_memory_for(uint64_t bytes) {
  if (stopped()) return false;
  if (limits_.memory == 0) return true;
  const uint64_t used = own_memory();
  if (used + bytes <= limits_.memory) return true;
  std::string details = fmt::format("the process takes {}", size_text(used));
  if (bytes > 0) details += fmt::format(", an index of rows {} more", size_text(bytes));
  fail({std::move(details), "", ErrorKind::MemoryLimit});
  return false;
}

void Budget::fail(Error error) {
  if (stopped()) return;
  error_ = std::move(error);
}

// ---- Tables ----

Table& Tables::rows(PredId pred) {
  if (auto found = rows_.find(pred); found != rows_.end()) return found->second;
  Result<Rows> fetched = settled_.rows(pred);
  if (!fetched.ok()) budget_.fail(fetched.error());
  return rows_.try_emplace(pred, fetched.ok() ? std::move(*fetched) : Rows{}, budget_)
      .first->second;
}

Table& Tables::facts(PredId pred) {
  if (auto found = facts_.find(pred); found != facts_.end()) return found->second;
  const lang::FactTable* facts = program_[pred].facts.get();
  if (facts == nullptr) return facts_.try_emplace(pred, Rows{}, budget_).first->second;
  return facts_.try_emplace(pred, *facts, budget_).first->second;
}

std::strong_ordering compare_rows(std::span<const Value> a, std::span<const Value> b,
                                  const lang::Names& names) {
  for (size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    const std::strong_ordering order = lang::compare(a[i], b[i], names);
    if (order != 0) return order;
  }
  return a.size() <=> b.size();
}

}  // namespace xlog::engine
