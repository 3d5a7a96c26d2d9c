// What the rules of one round derive: rows of each predicate in the order in which they are found,
// those included that are repeated or were there before.
#pragma once

#include <span>
#include <vector>

#include "base/column.h"
#include "lang/program.h"
#include "oracle/relation.h"

namespace xlog::oracle {

struct Derived {
  struct Rows {
    lang::PredId pred;
    size_t count = 0;
    Column<Value> values;
    size_t known_new = 0;  // the first ones: they differ, and the relation has none of them

    // Leaves out what is repeated and what `relation`, that of `pred`, has.
    void keep_new(const Relation& relation, size_t arity);
  };
  std::vector<Rows> of_predicates;

  Rows& of(lang::PredId pred) {
    for (Rows& rows : of_predicates) {
      if (rows.pred == pred) return rows;
    }
    return of_predicates.emplace_back(Rows{pred, 0, {}, 0});
  }
  Rows& add(lang::PredId pred, std::span<const Value> tuple) {
    Rows& rows = of(pred);
    ++rows.count;
    for (const Value& value : tuple) rows.values.push_back(value);
    return rows;
  }
};

}  // namespace xlog::oracle
