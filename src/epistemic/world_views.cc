#include "epistemic/world_views.h"

#include <algorithm>
#include <iterator>
#include <map>

#include "base/check.h"
#include "epistemic/solve_unit.h"
#include "epistemic/translate.h"

namespace xlog::epistemic {

using oracle::AtomId;
using oracle::GroundLiteral;

namespace {

bool answer(const GroundLiteral& modal, AtomStatus status) {
  const bool yes =
      asks_for_all(modal.modal) ? status == AtomStatus::Always : status != AtomStatus::Never;
  return is_negated(modal.modal) ? !yes : yes;
}

}  // namespace

WorldViews::WorldViews(const oracle::GroundProgram& program, Units units, oracle::Context& context,
                       SearchCounts& counts)
    : program_(program), context_(context), counts_(counts), units_(std::move(units)) {
  const uint64_t enough = context.options.enough_views;
  counts_.clusters = units_.clusters();
  cluster_views_.resize(units_.clusters());
  for (uint32_t c = 0; c < units_.clusters(); ++c) {
    // Views of a unit may have none above them, so that more of them are needed.
    for (uint64_t most = enough; !solve_cluster(c, most); most *= 2) {
    }
    ++counts_.clusters_done;
    if (cluster_views_[c].empty()) return;  // then the program has none
  }
}

// Unit by unit, each once for every combination of the views below it that differs in what it asks.
bool WorldViews::solve_cluster(uint32_t cluster, uint64_t most) {
  using Combination = std::vector<const View*>;  // a view for each unit so far
  bool all = true;
  std::vector<Combination> combinations(1);
  for (const uint32_t unit : units_.units_of(cluster)) {
    std::vector<Combination> extended;
    for (Combination& below : combinations) {
      context_.tick();
      const Units::Holds holds = [&](const GroundLiteral& literal) {
        const View& view = *below[units_.place_in_cluster(units_.unit_of(literal.index))];
        return answer(literal, view.status[units_.place_of(literal.index)]);
      };
      std::string key = units_.key(unit, holds);
      key.append(reinterpret_cast<const char*>(&most), sizeof(most));
      auto found = solved_.find(key);
      if (found == solved_.end()) {
        Solution solution = solve_unit(units_.program(unit, holds), most, context_, counts_);
        found = solved_.emplace(std::move(key), std::move(solution)).first;
      } else {
        ++counts_.reused;
      }
      all &= found->second.all_found;
      const std::vector<View>& views = found->second.views;
      if (views.size() > 1) context_.count_candidate();
      for (size_t v = 0; v < views.size(); ++v) {
        extended.push_back(v + 1 < views.size() ? below : std::move(below));
        extended.back().push_back(&views[v]);
      }
    }
    combinations = std::move(extended);
    if (combinations.empty()) return all;
  }
  if (!all && combinations.size() < context_.options.enough_views) return false;
  all_found_ &= all;
  for (const Combination& made : combinations) {
    std::ranges::copy(made, std::back_inserter(cluster_views_[cluster]));
  }
  return true;
}

mpz_class WorldViews::count() const {
  std::map<size_t, uint64_t> sizes;  // how many clusters have so many views
  for (uint32_t c = 0; c < units_.clusters(); ++c) {
    const size_t units = units_.units_of(c).size();
    ++sizes[cluster_views_[c].size() / units];
  }
  mpz_class product = 1;
  for (const auto& [views, clusters] : sizes) {
    mpz_class power;
    mpz_ui_pow_ui(power.get_mpz_t(), views, clusters);
    product *= power;
  }
  return product;
}

bool WorldViews::advance(Choice& choice) const {
  for (size_t c = choice.size(); c-- > 0;) {
    const size_t units = units_.units_of(static_cast<uint32_t>(c)).size();
    if (++choice[c] < cluster_views_[c].size() / units) return true;
    choice[c] = 0;
  }
  return false;
}

const View& WorldViews::view_of(uint32_t unit, const Choice& choice) const {
  const uint32_t cluster = units_.cluster_of(unit);
  const size_t units = units_.units_of(cluster).size();
  return *cluster_views_[cluster][choice[cluster] * units + units_.place_in_cluster(unit)];
}

AtomStatus WorldViews::status(AtomId atom, const Choice& choice) const {
  const uint32_t unit = units_.unit_of(atom);
  XLOG_CHECK(unit != Units::kNone, "an atom that is open is mentioned");
  return view_of(unit, choice).status[units_.place_of(atom)];
}

mpz_class WorldViews::worlds(const Choice& choice) const {
  std::map<const View*, uint64_t> equal;
  for (uint32_t u = 0; u < units_.size(); ++u) ++equal[&view_of(u, choice)];
  mpz_class product = 1;
  for (const auto& [view, times] : equal) {
    mpz_class power;
    mpz_pow_ui(power.get_mpz_t(), view->worlds.get_mpz_t(), times);
    product *= power;
  }
  return product;
}

std::vector<std::vector<AtomId>> WorldViews::list_worlds(const Choice& choice,
                                                         uint64_t most) const {
  std::vector<std::vector<AtomId>> listed;
  std::vector<size_t> world(units_.size(), 0);
  while (listed.size() < most) {
    std::vector<AtomId>& atoms = listed.emplace_back();
    for (uint32_t u = 0; u < units_.size(); ++u) {
      const std::span<const AtomId> own = units_.atoms(u);
      for (const AtomId place : view_of(u, choice).listed[world[u]]) atoms.push_back(own[place]);
    }
    std::ranges::sort(atoms);
    size_t u = world.size();
    for (; u > 0; --u) {
      if (++world[u - 1] < view_of(static_cast<uint32_t>(u - 1), choice).listed.size()) break;
      world[u - 1] = 0;
    }
    if (u == 0) break;
  }
  return listed;
}

}  // namespace xlog::epistemic
