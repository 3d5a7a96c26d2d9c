#include "oracle/best_rows.h"

#include <map>

#include "logic/monotone.h"

namespace xlog::oracle {

Key key_of(const std::vector<Value>& values) {
  Key key;
  for (const Value& v : values) key.push_back({static_cast<uint8_t>(v.kind), v.bits});
  return key;
}

bool keep_best(Relation& relation, const logic::Best& best, std::vector<Tuple> candidates,
               Context& context) {
  const bool least = best.fn == lang::AggregateFn::Min;
  std::map<Key, Tuple> kept;  // by the other columns
  auto offer = [&](Tuple tuple) {
    Tuple group = tuple;
    group.erase(group.begin() + best.column);
    auto [it, is_new] = kept.try_emplace(key_of(group), tuple);
    if (is_new) return true;
    const auto order = lang::compare(tuple[best.column], it->second[best.column], context.names());
    if (least ? order >= 0 : order <= 0) return false;
    it->second = std::move(tuple);
    return true;
  };
  const size_t before = relation.size();
  for (size_t r = 0; r < before; ++r) {
    const std::span<const Value> row = relation.row(r);
    offer(Tuple(row.begin(), row.end()));
  }
  bool changed = kept.size() < before;
  for (Tuple& tuple : candidates) {
    if (!offer(std::move(tuple))) continue;
    context.count_row(logic::kNoBestHelp);
    changed = true;
  }
  relation = Relation();
  for (const auto& [group, tuple] : kept) relation.insert(tuple);
  return changed;
}

}  // namespace xlog::oracle
