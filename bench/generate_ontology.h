// An ontology to classify, in the manner of the large medical ones: a few categories (of body
// parts, findings, procedures, ...), in each a hierarchy of concepts with more than one parent.
// Concepts are described by what they have, by a role, in a category before theirs; some are
// defined by it, so that others turn out to be below them. Body parts are parts of others, and what
// is in a part is in the whole.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "generate.h"

namespace xlog::bench {

struct OntologyShape {
  uint32_t concepts = 0;
  uint32_t roles = 0;
  double described = 0;  // descriptions of a concept, on average
  double defined = 0;    // chance that a concept is defined by one
};

inline Tables ontology(const OntologyShape& shape, uint64_t seed) {
  constexpr uint32_t kCategories = 6;
  constexpr uint32_t kPartOf = 0;  // the role among concepts of category 0
  Random random(seed);
  Edges sub_class;
  Edges sub_role;
  Edges disjoint;
  using Triples = std::vector<std::array<uint32_t, 3>>;
  Triples conjunction;
  Triples exists_right;
  Triples exists_left;
  Triples role_chain = {{kPartOf, kPartOf, kPartOf}};

  // A role leads from one category to one before it, and may have a role above it that does too.
  struct Role {
    uint32_t id, target;
  };
  std::vector<std::vector<Role>> roles_of(kCategories);
  roles_of[0].push_back({kPartOf, 0});
  for (uint32_t role = 1; role < shape.roles; ++role) {
    const uint32_t source = 1 + role % (kCategories - 1);
    const uint32_t target = random.below(source);
    for (const Role& above : roles_of[source]) {
      if (above.target != target || !random.chance(0.7)) continue;
      sub_role.push_back({role, above.id});
      break;
    }
    if (target == 0) role_chain.push_back({role, kPartOf, role});
    roles_of[source].push_back({role, target});
  }

  // Concepts of a category are those of one remainder. Only ones before c are drawn, so that
  // parents and parts make no cycles.
  const auto earlier_in = [&](uint32_t c, uint32_t category) {
    return random.below(c / kCategories) * kCategories + category;
  };
  // What concepts are described by is general: few body parts are wholes of others.
  const auto filler_in = [&](uint32_t c, uint32_t category) {
    return random.skewed(c / kCategories, 3) * kCategories + category;
  };
  uint32_t next_concept = shape.concepts;  // for the normal form of definitions
  for (uint32_t c = kCategories; c < shape.concepts; ++c) {
    const uint32_t category = c % kCategories;
    const std::vector<Role>& roles = roles_of[category];
    const auto some_role = [&] {
      return roles.empty() ? Role{kPartOf, 0}
                           : roles[random.skewed(static_cast<uint32_t>(roles.size()), 2)];
    };
    sub_class.push_back({c, earlier_in(c, category)});
    if (random.chance(0.2)) sub_class.push_back({c, earlier_in(c, category)});
    const double described = category == 0 ? shape.described / 4 : shape.described;
    for (uint32_t n = random.times(described); n > 0; --n) {
      const Role role = some_role();
      exists_right.push_back({c, role.id, filler_in(c, role.target)});
    }
    if (random.chance(shape.defined)) {
      // What is a `parent` and has, by `role`, some `filler` is a `c`, and the other way round.
      const uint32_t parent = earlier_in(c, category);
      const Role role = some_role();
      const uint32_t filler = filler_in(c, role.target);
      const uint32_t has_filler = next_concept++;
      sub_class.push_back({c, parent});
      exists_right.push_back({c, role.id, filler});
      exists_left.push_back({role.id, filler, has_filler});
      conjunction.push_back({parent, has_filler, c});
    }
    if (random.chance(0.001)) disjoint.push_back({c, earlier_in(c, category)});
  }
  const auto triples = [](std::string relation, Triples rows) {
    std::sort(rows.begin(), rows.end());
    rows.erase(std::unique(rows.begin(), rows.end()), rows.end());
    Table table{std::move(relation), 3, {}};
    for (const auto& row : rows) table.values.insert(table.values.end(), row.begin(), row.end());
    return table;
  };
  return {numbers_table("concept", next_concept),
          table_of("sub_class", std::move(sub_class)),
          triples("conjunction", std::move(conjunction)),
          triples("exists_right", std::move(exists_right)),
          triples("exists_left", std::move(exists_left)),
          table_of("sub_role", std::move(sub_role)),
          triples("role_chain", std::move(role_chain)),
          table_of("disjoint", std::move(disjoint))};
}

}  // namespace xlog::bench
