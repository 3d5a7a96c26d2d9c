#include "oracle/derived.h"

namespace xlog::oracle {

void Derived::Rows::keep_new(const Relation& relation, size_t arity) {
  const std::span<const Value> all(values.data(), values.size());
  Relation seen;
  Column<Value> kept;
  for (size_t i = 0; i < count; ++i) {
    const auto row = all.subspan(i * arity, arity);
    if (relation.find(row) || !seen.insert(row)) continue;
    for (const Value& value : row) kept.push_back(value);
  }
  values = std::move(kept);
  count = known_new = seen.size();
}

}  // namespace xlog::oracle
