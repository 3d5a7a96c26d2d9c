#include "solve/fingerprint.h"

#include <fmt/format.h>
#include <xxhash.h>

#include <array>

namespace xlog::solve {

std::string Fingerprint::text() const { return fmt::format("{:016x}{:016x}", high, low); }

Fingerprint fingerprint(const Cnf& cnf) {
  // A sum of the clauses' hashes does not depend on their order.
  std::array<uint64_t, 4> sum = {0, 0, cnf.size(), static_cast<uint64_t>(cnf.variables())};
  std::vector<Literal> clause;
  for (size_t i = 0; i < cnf.size(); ++i) {
    clause.assign(cnf[i].begin(), cnf[i].end());
    std::ranges::sort(clause);
    clause.erase(std::unique(clause.begin(), clause.end()), clause.end());
    const XXH128_hash_t hash = XXH3_128bits(clause.data(), clause.size() * sizeof(Literal));
    sum[0] += hash.high64;
    sum[1] += hash.low64;
  }
  const XXH128_hash_t all = XXH3_128bits(sum.data(), sizeof sum);
  return {all.high64, all.low64};
}

}  // namespace xlog::solve
