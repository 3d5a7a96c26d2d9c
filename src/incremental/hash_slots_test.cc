#include "incremental/hash_slots.h"

#include <gtest/gtest.h>

#include <map>
#include <random>

namespace xlog::incremental {
namespace {

// Against a map; few hashes, so that many numbers want the same place and the last places, from
// which they go on at the beginning.
TEST(HashSlots, FindsWhatIsThere) {
  for (uint64_t seed = 0; seed < 50; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937_64 random(seed);
    const uint64_t hashes = 1 + random() % 40;
    const auto hash_of = [&](uint32_t number) {
      const uint64_t h = number * 0x9E3779B97F4A7C15u % hashes;
      return h % 3 == 0 ? ~(h << 32) : h << 61 | h << 32;
    };
    HashSlots slots;
    std::map<uint32_t, uint64_t> wanted;
    if (random() % 2 == 0) {
      const uint64_t count = random() % 100, part = 1 + random() % 60;
      while (!slots.make_room(count, part)) {
        slots.add(hash_of(1'000), 1'000);
        slots.remove(hash_of(1'000), 1'000);
      }
    }
    for (int step = 0; step < 2000; ++step) {
      const auto number = static_cast<uint32_t>(random() % (seed % 2 == 0 ? 60 : 600));
      const uint64_t hash = hash_of(number);
      const auto is_it = [&](uint32_t n) { return n == number; };
      const bool is_there = wanted.contains(number);
      ASSERT_EQ(slots.find(hash, is_it), is_there ? number : HashSlots::kNone);
      if (is_there) {
        ASSERT_NE(slots.likely(hash), HashSlots::kNone);
        slots.remove(hash, number);
        wanted.erase(number);
      } else {
        slots.add(hash, number);
        wanted[number] = hash;
      }
      if (step % 700 == 0) {
        slots.remove_if([](uint32_t n) { return n % 4 != 0; });
        std::erase_if(wanted, [](const auto& entry) { return entry.first % 4 != 0; });
        ASSERT_EQ(slots.size(), wanted.size());
      }
      if (step % 100 != 0) continue;
      for (const auto& [n, h] : wanted) {
        ASSERT_EQ(slots.find(h, [&, only = n](uint32_t other) { return other == only; }), n);
      }
    }
  }
}

}  // namespace
}  // namespace xlog::incremental
