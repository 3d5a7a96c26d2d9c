#include "epistemic/world_views.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <span>
#include <utility>

#include "base/check.h"
#include "epistemic/solve_unit.h"
#include "epistemic/translate.h"

namespace xlog::epistemic {

using oracle::AtomId;
using oracle::GroundLiteral;

namespace {

constexpr size_t kSmall = 8;  // atoms of a unit, of which few views and worlds can come

}  // namespace

WorldViews::WorldViews(Units units, oracle::Context& context, SearchCounts& counts,
                       const Batching& batching, SolvedUnits* solved)
    : context_(context),
      counts_(counts),
      units_(std::move(units)),
      solved_(solved != nullptr ? *solved : own_solved_),
      batching_(batching),
      presolve_(units_, solved_, context.options.enough_views, context, counts),
      decisions_(units_.size(), nullptr),
      is_solved_(units_.clusters(), false),
      cluster_views_(units_.clusters()) {
  counts_.clusters = units_.clusters();
}

void WorldViews::solve(Search search) {
  const uint64_t enough = context_.options.enough_views;
  presolve_.run(batching_);
  for (const uint32_t c : cheapest_first()) {
    // Views of a unit may have none above them, so that more of them are needed.
    for (uint64_t most = enough; !solve_cluster(c, most); most *= 2) {
    }
    ++counts_.clusters_done;
    is_solved_[c] = true;
    if (views_of(c) > 1) several_.push_back(c);
    if (cluster_views_[c].empty() && search == Search::UntilNoView) return;  // there is none
  }
}

// A cluster that takes long keeps none waiting that is likely to be done soon: those with large
// units come last. Small ones stay in their order.
std::vector<uint32_t> WorldViews::cheapest_first() const {
  std::vector<uint32_t> small;
  std::vector<std::pair<size_t, uint32_t>> large;  // atoms of the largest unit, cluster
  for (uint32_t c = 0; c < units_.clusters(); ++c) {
    size_t most = 0;
    for (const uint32_t unit : units_.units_of(c)) most = std::max(most, units_.atoms(unit).size());
    if (most <= kSmall) {
      small.push_back(c);
    } else {
      large.emplace_back(most, c);
    }
  }
  std::ranges::sort(large);
  for (const auto& [atoms, cluster] : large) small.push_back(cluster);
  return small;
}

// Unit by unit, each once for every combination of the views below it that differs in what it asks.
bool WorldViews::solve_cluster(uint32_t cluster, uint64_t most) {
  bool all = true;
  size_t width = 0;  // units so far; a combination has a view for each of them
  size_t count = 1;
  combinations_.clear();
  for (const uint32_t unit : units_.units_of(cluster)) {
    extended_.clear();
    for (size_t c = 0; c < count; ++c) {
      context_.tick();
      const std::span<const View* const> below = std::span(combinations_).subspan(c * width, width);
      const Units::Holds answered = [&](const GroundLiteral& literal) {
        const View& view = *below[units_.place_in_cluster(units_.unit_of(literal.index))];
        return holds_by(literal.modal, view.status[units_.place_of(literal.index)]);
      };
      const Solution& found = solution(unit, answered, most);
      all &= found.all_found;
      if (found.views.size() > 1) context_.count_candidate();
      for (const View& view : found.views) {
        extended_.insert(extended_.end(), below.begin(), below.end());
        extended_.push_back(&view);
      }
    }
    std::swap(combinations_, extended_);
    count = combinations_.size() / ++width;
    if (count == 0) return all;
  }
  if (!all && count < context_.options.enough_views) return false;
  all_found_ &= all;
  cluster_views_[cluster] = combinations_;
  return true;
}

const Solution& WorldViews::solution(uint32_t unit, const Units::Holds& answered, uint64_t most) {
  const bool is_first = most == context_.options.enough_views;
  SolvedUnits::Entry* entry = is_first ? presolve_.only_solution(unit) : nullptr;
  if (entry == nullptr) {
    key_.clear();
    units_.put_key(unit, answered, key_);
    key_.push_back(most);
    entry = &solved_.entry(key_);
  }
  if (!entry->solved) {
    const SearchCounts before = counts_;
    entry->solution = solve_unit(units_.program(unit, answered), most, context_, counts_);
    entry->counts = counts_ - before;
    entry->solved = true;
  } else if (entry->used) {
    ++counts_.reused;
  }
  if (!entry->used) entry->unit = unit;
  entry->used = true;
  if (decisions_[unit] == nullptr) decisions_[unit] = entry;
  return entry->solution;
}

mpz_class WorldViews::count() const {
  std::map<size_t, uint64_t> sizes;  // how many clusters have so many views
  for (uint32_t c = 0; c < units_.clusters(); ++c) {
    ++sizes[views_of(c)];
  }
  mpz_class product = 1;
  for (const auto& [views, clusters] : sizes) {
    mpz_class power;
    mpz_ui_pow_ui(power.get_mpz_t(), views, clusters);
    product *= power;
  }
  return product;
}

mpz_class WorldViews::worlds_of(uint32_t cluster, uint32_t cluster_view) const {
  mpz_class product = 1;
  for (const uint32_t unit : units_.units_of(cluster)) product *= view(unit, cluster_view).worlds;
  return product;
}

std::string WorldViews::key_of(uint32_t cluster) const {
  const std::span<const std::byte> views = std::as_bytes(std::span(cluster_views_[cluster]));
  std::string key(reinterpret_cast<const char*>(views.data()), views.size());
  const size_t units = units_.units_of(cluster).size();
  return key.append(reinterpret_cast<const char*>(&units), sizeof(units));
}

logic::WorldCounts WorldViews::world_counts() const {
  std::unordered_map<std::string, std::pair<uint32_t, uint64_t>> equal;  // one of them, how many
  for (uint32_t c = 0; c < units_.clusters(); ++c) {
    ++equal.try_emplace(key_of(c), c, 0).first->second.second;
  }
  logic::WorldCounts counts{1, 1, 1};
  const auto multiply = [](mpz_class& product, const mpz_class& factor, uint64_t times) {
    mpz_class power;
    mpz_pow_ui(power.get_mpz_t(), factor.get_mpz_t(), times);
    product *= power;
  };
  for (const auto& [key, some] : equal) {
    const auto& [cluster, times] = some;
    logic::WorldCounts of{0, worlds_of(cluster, 0), worlds_of(cluster, 0)};
    for (uint32_t v = 0; v < views_of(cluster); ++v) {
      const mpz_class worlds = worlds_of(cluster, v);
      of.all += worlds;
      of.least = std::min(of.least, worlds);
      of.most = std::max(of.most, worlds);
    }
    multiply(counts.all, of.all, times);
    multiply(counts.least, of.least, times);
    multiply(counts.most, of.most, times);
  }
  return counts;
}

void WorldViews::put_in_order(const Before& before) {
  std::vector<AtomId> least(several_.size()), atoms;
  std::vector<uint32_t> order;
  std::vector<const View*> views;
  for (size_t i = 0; i < several_.size(); ++i) {
    const uint32_t cluster = several_[i];
    const std::span<const uint32_t> units = units_.units_of(cluster);
    atoms.clear();
    for (const uint32_t unit : units) {
      const std::span<const AtomId> own = units_.atoms(unit);
      atoms.insert(atoms.end(), own.begin(), own.end());
    }
    std::ranges::sort(atoms, before);
    least[i] = atoms.front();
    order.resize(views_of(cluster));
    std::iota(order.begin(), order.end(), 0);
    std::ranges::stable_sort(order, [&](uint32_t v, uint32_t w) {
      for (const AtomId atom : atoms) {
        const uint32_t unit = units_.unit_of(atom), place = units_.place_of(atom);
        const AtomStatus by_v = view(unit, v).status[place], by_w = view(unit, w).status[place];
        if (by_v != by_w) return by_v > by_w;
      }
      return false;
    });
    views = cluster_views_[cluster];
    for (size_t v = 0; v < order.size(); ++v) {
      std::copy_n(views.begin() + static_cast<ptrdiff_t>(order[v] * units.size()), units.size(),
                  cluster_views_[cluster].begin() + static_cast<ptrdiff_t>(v * units.size()));
    }
  }
  // Nobody lists so many views that clusters before the last ones get their turn.
  order.resize(several_.size());
  std::iota(order.begin(), order.end(), 0);
  const size_t last = std::min(order.size(), kClustersThatCount);
  std::ranges::partial_sort(order, order.begin() + static_cast<ptrdiff_t>(last),
                            [&](uint32_t a, uint32_t b) { return before(least[b], least[a]); });
  std::vector<uint32_t> in_order(last);
  for (size_t i = 0; i < last; ++i) in_order[last - 1 - i] = several_[order[i]];
  several_ = std::move(in_order);
}

bool WorldViews::advance(Choice& choice) const {
  for (size_t c = several_.size(); c-- > 0;) {
    uint32_t& view = choice[several_[c]];
    if (++view < views_of(several_[c])) return true;
    view = 0;
  }
  return false;
}

const View& WorldViews::view(uint32_t unit, uint32_t cluster_view) const {
  const uint32_t cluster = units_.cluster_of(unit);
  const size_t units = units_.units_of(cluster).size();
  return *cluster_views_[cluster][cluster_view * units + units_.place_in_cluster(unit)];
}

oracle::GroundProgram WorldViews::unit_program(uint32_t unit, uint32_t cluster_view) const {
  return units_.program(unit, [&](const GroundLiteral& literal) {
    const View& below = view(units_.unit_of(literal.index), cluster_view);
    return holds_by(literal.modal, below.status[units_.place_of(literal.index)]);
  });
}

const View& WorldViews::view_of(uint32_t unit, const Choice& choice) const {
  return view(unit, choice[units_.cluster_of(unit)]);
}

AtomStatus WorldViews::status(AtomId atom, const Choice& choice) const {
  const uint32_t unit = units_.unit_of(atom);
  XLOG_CHECK(unit != Units::kNone, "an atom that is open is mentioned");
  return view_of(unit, choice).status[units_.place_of(atom)];
}

mpz_class WorldViews::worlds(const Choice& choice) const {
  std::map<const View*, uint64_t> equal;
  for (uint32_t u = 0; u < units_.size(); ++u) {
    context_.tick();
    ++equal[&view_of(u, choice)];
  }
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
      context_.tick();
      const std::span<const AtomId> own = units_.atoms(u);
      for (const AtomId place : view_of(u, choice).listed[world[u]]) {
        context_.tick();
        atoms.push_back(own[place]);
      }
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
