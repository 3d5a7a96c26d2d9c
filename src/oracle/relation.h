// A set of rows in order of insertion, with hash indexes on any subset of the columns, built when
// first asked for. The values of all rows stand in one array.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "base/column.h"
#include "base/parallel.h"
#include "lang/value.h"

namespace xlog::oracle {

using lang::Value;
using Tuple = std::vector<Value>;

uint64_t hash_values(std::span<const Value> values);

class Relation {
 public:
  // Rows by the values of some columns. Valid until rows are added.
  class Index {
   public:
    static constexpr uint32_t kNone = UINT32_MAX;
    // The rows with these values in ascending order: the first one, and the one after `row`.
    uint32_t first(std::span<const Value> key) const;
    uint32_t next(uint32_t row) const { return next_[row]; }
    size_t keys() const { return keys_; }  // that have rows

   private:
    friend class Relation;
    Index(const Relation& relation, std::vector<uint32_t> columns)
        : relation_(&relation), columns_(std::move(columns)) {}
    void cover();
    void rehash(size_t slots);
    size_t slot_of(std::span<const Value> key) const;
    void key_of(uint32_t row, std::vector<Value>& key) const;

    struct Slot {
      uint32_t first = kNone, last = kNone;
    };
    const Relation* relation_;
    std::vector<uint32_t> columns_;
    size_t keys_ = 0;
    std::vector<Slot> slots_;     // a power of two; by the hash of the key, then the next free one
    std::vector<uint32_t> next_;  // by row that is covered
  };

  size_t size() const { return count_; }
  // Valid until rows are added.
  std::span<const Value> row(size_t i) const {
    return std::span(values_).subspan(i * arity_, arity_);
  }
  uint64_t bytes() const;  // about

  bool insert(std::span<const Value> tuple);                       // false when it was there
  void append(std::span<const Value> tuple);                       // it was not there
  std::optional<size_t> find(std::span<const Value> tuple) const;  // its row

  // Many rows at once. Those that were there, or come before among these, are left out; how many
  // were not.
  size_t insert_all(std::span<const Value> tuples, size_t arity, size_t count,
                    const Parallel& parallel);
  // Rows that were not there, which the caller writes.
  Value* extend(size_t arity, size_t count);

  // Looks for tuples as find() does, several at a time on threads of their own. Between
  // prepare_finders() and the last look no row is added and nothing else is looked for.
  class Finder {
   public:
    explicit Finder(const Relation& relation) : relation_(&relation) {}
    std::optional<size_t> find(std::span<const Value> tuple) {
      if (relation_->is_direct_) return relation_->find_in_slots(tuple);
      std::optional<size_t> row = relation_->find_behind(next_, tuple);
      if (!row) row = relation_->find_in_slots(tuple);
      if (row) next_ = *row + 1;
      return row;
    }

   private:
    const Relation* relation_;
    size_t next_ = 0;
  };
  void prepare_finders(const Parallel& parallel) const;

  // By `columns`, ascending and not all of them: for those there is find().
  const Index& index(const std::vector<uint32_t>& columns);

 private:
  size_t slot_of(std::span<const Value> tuple) const;
  void cover(size_t rows, const Value* next) const;
  void choose_slots(size_t rows, const Value* next) const;
  void make_slots_fit() const;
  uint32_t put_row(uint32_t row, uint64_t hash) const;
  void put_rows(const Parallel& parallel, uint32_t* slot_of_new, size_t first_new) const;
  void drop_repeated(std::span<const uint32_t> slot_of_new, size_t first_new);
  std::optional<size_t> find_behind(size_t row, std::span<const Value> tuple) const;
  std::optional<size_t> find_in_slots(std::span<const Value> tuple) const;
  bool has_direct_slot(const Value& value) const {
    return value.kind == direct_kind_ && value.bits < slots_.size();
  }

  size_t arity_ = 0;  // known from the first row on
  size_t count_ = 0;
  Column<Value> values_;
  // Rows, as in an index; built when a tuple is first looked for. Single values of one kind, whose
  // numbers are not much larger than there are rows, have the slot of their number: neighbours in
  // memory are then neighbours in what is looked for.
  mutable std::vector<uint32_t> slots_;
  mutable bool is_direct_ = false;
  mutable lang::TypeKind direct_kind_{};
  mutable size_t covered_ = 0;  // rows in the slots
  // Tuples are often looked for in the order of the rows: behind the one that was found last.
  mutable size_t next_found_ = 0;
  std::map<std::vector<uint32_t>, Index> indexes_;
};

}  // namespace xlog::oracle
