#include "solve/unit_exchange.h"

namespace xlog::solve {

void UnitExchange::need_variables(int32_t count) {
  const auto wanted = static_cast<size_t>(count);
  if (wanted <= room_) return;
  const size_t room = std::max(wanted, 2 * room_);
  auto places = std::make_unique<Place[]>(room);
  for (size_t i = 0; i < room_; ++i) {
    places[i].unit.store(places_[i].unit.load(std::memory_order_relaxed),
                         std::memory_order_relaxed);
    places[i].is_known.store(places_[i].is_known.load(std::memory_order_relaxed),
                             std::memory_order_relaxed);
  }
  places_ = std::move(places);
  room_ = room;
}

void UnitExchange::share(Literal unit) {
  const auto variable = static_cast<size_t>(variable_of(unit)) - 1;
  if (variable >= room_) return;
  if (places_[variable].is_known.exchange(true, std::memory_order_relaxed)) return;
  // Each variable comes this far once, so there is a place for each.
  const size_t place = used_.fetch_add(1, std::memory_order_relaxed);
  places_[place].unit.store(unit, std::memory_order_release);
}

Literal UnitExchange::take(size_t& cursor) const {
  if (cursor >= room_) return 0;
  // A place that is taken but not yet written reads as 0: the cursor stays before it.
  const Literal unit = places_[cursor].unit.load(std::memory_order_acquire);
  if (unit != 0) ++cursor;
  return unit;
}

}  // namespace xlog::solve
