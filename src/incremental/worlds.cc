#include "incremental/worlds.h"

#include <algorithm>

#include "epistemic/world_views.h"
#include "incremental/row_changes.h"
#include "oracle/report.h"

namespace xlog::incremental {

using epistemic::AtomStatus;
using epistemic::View;
using lang::PredId;
using logic::RowStatus;
using oracle::Truth;

void Worlds::clear() {
  atoms_.clear();
  looked_at_.clear();
  clusters_.clear();
  free_clusters_.clear();
  solved_ = {};
  clusters_with_.clear();
  first_views_.clear();
  several_.clear();
  violated_.clear();
  before_.clear();
}

void Worlds::swap(Worlds& other) {
  instances_.swap(other.instances_);
  atoms_.swap(other.atoms_);
  looked_at_.swap(other.looked_at_);
  clusters_.swap(other.clusters_);
  free_clusters_.swap(other.free_clusters_);
  std::swap(solved_, other.solved_);
  std::swap(solved_at_build_, other.solved_at_build_);
  clusters_with_.swap(other.clusters_with_);
  first_views_.swap(other.first_views_);
  several_.swap(other.several_);
  violated_.swap(other.violated_);
  std::swap(had_no_view_, other.had_no_view_);
  before_.swap(other.before_);
}

void Worlds::finish() {
  had_no_view_ = has_no_view();
  before_.clear();
}

bool Worlds::is_worn() const {
  constexpr size_t kFew = 100'000;
  return solved_.size() > 2 * solved_at_build_ + kFew;
}

bool Worlds::has_no_view() const {
  return options_.well_founded || kept_.violations() > 0 || !violated_.empty() ||
         clusters_with_.contains(0);
}

// ---- rows ----

AtomStatus Worlds::status_in(const Atom& atom, uint32_t view) const {
  if (atom.cluster == kNone) return AtomStatus::Never;  // no rule is left that might derive it
  const Cluster& cluster = clusters_[atom.cluster];
  return cluster.views[size_t{view} * cluster.units + atom.unit]->status[atom.place];
}

std::optional<RowStatus> Worlds::status(Truth truth, AtomStatus first, bool no_view) const {
  if (truth == Truth::False) return std::nullopt;
  if (truth == Truth::True) return no_view ? RowStatus::True : RowStatus::Known;
  if (no_view) return RowStatus::Undefined;
  if (first == AtomStatus::Never) return std::nullopt;
  return first == AtomStatus::Always ? RowStatus::Known : RowStatus::Possible;
}

std::optional<RowStatus> Worlds::status(AtomRow atom) const {
  const Atom* found = find(atom);
  if (found == nullptr) return std::nullopt;
  const bool no_view = has_no_view();
  const bool open = found->truth == Truth::Unknown && !no_view;
  return status(found->truth, open ? status_in(*found, 0) : AtomStatus::Never, no_view);
}

std::optional<RowStatus> Worlds::status_before(AtomRow atom) const {
  if (const auto it = before_.find(atom); it != before_.end()) {
    return status(it->second.truth, it->second.first, had_no_view_);
  }
  const Atom* found = find(atom);
  if (found == nullptr) return std::nullopt;
  const bool open = found->truth == Truth::Unknown && !had_no_view_;
  return status(found->truth, open ? status_in(*found, 0) : AtomStatus::Never, had_no_view_);
}

std::vector<RowChange> Worlds::changes(PredId pred) const {
  std::vector<RowChange> found;
  const auto note = [&](AtomRow atom) {
    RowChange change;
    change.before = status_before(atom);
    change.after = status(atom);
    if (change.before == change.after) return;
    change.values = kept_.values(pred, atom.row);
    found.push_back(std::move(change));
  };
  if (had_no_view_ == has_no_view()) {
    for (auto it = before_.lower_bound({pred.index, 0}); it != before_.end(); ++it) {
      if (it->first.pred != pred.index) break;
      note(it->first);
    }
  } else {
    const Table& table = kept_.table(pred.index);
    for (uint32_t r = 0; r < table.end(); ++r) {
      if (table.is_used(r)) note({pred.index, r});
    }
  }
  sort_rows(found, session_.names);
  return found;
}

logic::QueryAnswer Worlds::rows_before(PredId pred) const {
  logic::QueryAnswer answer;
  const Table& table = kept_.table(pred.index);
  for (uint32_t r = 0; r < table.end(); ++r) {
    if (!table.is_used(r)) continue;
    if (const std::optional<RowStatus> status = status_before({pred.index, r})) {
      answer.rows.push_back({kept_.values(pred, r), *status});
    }
  }
  return oracle::in_canonical_order(std::move(answer), session_.names);
}

// ---- clusters ----

bool Worlds::is_before(AtomRow a, AtomRow b) const {
  const lang::Program& program = program_.program;
  const bool a_helper = program.predicates[a.pred].helper;
  const bool b_helper = program.predicates[b.pred].helper;
  if (a_helper != b_helper) return b_helper;
  if (a.pred != b.pred) return a.pred < b.pred;
  return compare_rows(kept_.values({a.pred}, a.row), kept_.values({b.pred}, b.row),
                      session_.names) < 0;
}

// Atoms in canonical order, and views by what they say of them.
void Worlds::put_in_order(Cluster& cluster) const {
  std::ranges::sort(cluster.atoms, [&](AtomRow a, AtomRow b) { return is_before(a, b); });
  std::vector<uint32_t> order(cluster.view_count());
  for (uint32_t v = 0; v < order.size(); ++v) order[v] = v;
  const auto said = [&](uint32_t v, const Atom& atom) {
    return cluster.views[size_t{v} * cluster.units + atom.unit]->status[atom.place];
  };
  std::ranges::stable_sort(order, [&](uint32_t v, uint32_t w) {
    for (const AtomRow row : cluster.atoms) {
      const Atom& atom = *find(row);
      if (said(v, atom) != said(w, atom)) return said(v, atom) > said(w, atom);
    }
    return false;
  });
  std::vector<const View*> views;
  for (const uint32_t v : order) {
    const auto begin = cluster.views.begin() + static_cast<ptrdiff_t>(size_t{v} * cluster.units);
    views.insert(views.end(), begin, begin + cluster.units);
  }
  cluster.views = std::move(views);
}

uint32_t Worlds::add_cluster(Cluster cluster) {
  const size_t views = cluster.view_count();
  if (views > 1) put_in_order(cluster);
  uint32_t c = static_cast<uint32_t>(clusters_.size());
  if (free_clusters_.empty()) {
    clusters_.emplace_back();
  } else {
    c = free_clusters_.back();
    free_clusters_.pop_back();
  }
  for (const AtomRow atom : cluster.atoms) at(atom).cluster = c;
  ++clusters_with_[views];
  for (uint32_t u = 0; u < cluster.units && views > 0; ++u) ++first_views_[cluster.views[u]];
  if (views > 1) several_.insert(c);
  clusters_[c] = std::move(cluster);
  return c;
}

void Worlds::remove_cluster(uint32_t c) {
  Cluster& cluster = clusters_[c];
  const size_t views = cluster.view_count();
  if (--clusters_with_[views] == 0) clusters_with_.erase(views);
  for (uint32_t u = 0; u < cluster.units && views > 0; ++u) {
    const auto it = first_views_.find(cluster.views[u]);
    if (--it->second == 0) first_views_.erase(it);
  }
  several_.erase(c);
  cluster = {};
  free_clusters_.push_back(c);
}

// ---- the answer ----

mpz_class Worlds::view_count() const {
  mpz_class product = 1;
  for (const auto& [views, clusters] : clusters_with_) {
    mpz_class power;
    mpz_ui_pow_ui(power.get_mpz_t(), views, clusters);
    product *= power;
  }
  return product;
}

mpz_class Worlds::world_count(const Chosen& chosen) const {
  std::unordered_map<const View*, uint64_t> views = first_views_;
  for (const auto& [c, v] : chosen) {
    const Cluster& cluster = clusters_[c];
    for (uint32_t u = 0; u < cluster.units; ++u) {
      --views[cluster.views[u]];
      ++views[cluster.views[size_t{v} * cluster.units + u]];
    }
  }
  mpz_class product = 1;
  for (const auto& [view, times] : views) {
    mpz_class power;
    mpz_pow_ui(power.get_mpz_t(), view->worlds.get_mpz_t(), times);
    product *= power;
  }
  return product;
}

template <typename StatusOf>
logic::QueryAnswer Worlds::rows_of(PredId pred, const StatusOf& status_of) const {
  logic::QueryAnswer answer;
  const Table& table = kept_.table(pred.index);
  for (uint32_t r = 0; r < table.end(); ++r) {
    const Atom* atom = table.is_used(r) ? find({pred.index, r}) : nullptr;
    if (atom == nullptr) continue;
    if (const std::optional<RowStatus> status = status_of(*atom)) {
      answer.rows.push_back({kept_.values(pred, r), *status});
    }
  }
  return oracle::in_canonical_order(std::move(answer), session_.names);
}

logic::WorldView Worlds::view(const std::vector<std::optional<PredId>>& shown,
                              const Chosen& chosen) const {
  logic::WorldView view;
  view.world_count = world_count(chosen);
  for (const std::optional<PredId>& pred : shown) {
    logic::QueryAnswer& query = view.queries.emplace_back();
    if (!pred) continue;
    query = rows_of(*pred, [&](const Atom& atom) {
      if (atom.truth != Truth::Unknown) return status(atom.truth, AtomStatus::Never, false);
      const auto it = chosen.find(atom.cluster);
      return status(atom.truth, status_in(atom, it == chosen.end() ? 0 : it->second), false);
    });
  }
  return view;
}

void Worlds::answer(const std::vector<std::optional<PredId>>& shown, logic::Answer& answer) {
  if (has_no_view()) {
    answer.view_count = 0;
    if (!options_.well_founded) report_no_view();
    for (const std::optional<PredId>& pred : shown) {
      logic::QueryAnswer& query = answer.well_founded_queries.emplace_back();
      if (!pred) continue;
      query = rows_of(
          *pred, [&](const Atom& atom) { return status(atom.truth, AtomStatus::Never, true); });
    }
    return;
  }
  answer.view_count = view_count();
  // The last cluster counts fastest; those before the last ones never get their turn.
  std::vector<uint32_t> order(several_.begin(), several_.end());
  const size_t last = std::min(order.size(), epistemic::WorldViews::kClustersThatCount);
  std::ranges::partial_sort(
      order, order.begin() + static_cast<ptrdiff_t>(last), [&](uint32_t a, uint32_t b) {
        return is_before(clusters_[b].atoms.front(), clusters_[a].atoms.front());
      });
  order.resize(last);
  std::ranges::reverse(order);
  Chosen chosen;
  while (answer.views.size() < options_.max_views) {
    answer.views.push_back(view(shown, chosen));
    size_t c = order.size();
    for (; c > 0; --c) {
      uint32_t& v = chosen[order[c - 1]];
      if (++v < clusters_[order[c - 1]].view_count()) break;
      chosen.erase(order[c - 1]);
    }
    if (c == 0) break;
  }
  oracle::Context context(source_, analysis_, session_, options_);
  oracle::report_more_views(answer, context);
}

void Worlds::report_no_view() {
  std::optional<uint32_t> rule = kept_.first_violated();
  for (const Instance& constraint : violated_) {
    const InstanceTable& table = instances_.table(constraint);
    if (!table.is_bound()) rule = std::min(rule.value_or(UINT32_MAX), table.rule);
  }
  oracle::Context context(source_, analysis_, session_, options_);
  oracle::report_no_view(rule, context);
}

}  // namespace xlog::incremental
