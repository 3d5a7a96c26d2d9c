// The truth of what the bounds decide, the atoms whose units are found again, and their views.
#include <algorithm>
#include <map>

#include "epistemic/translate.h"
#include "incremental/worlds_update.h"

namespace xlog::incremental {

using epistemic::AtomStatus;
using oracle::GroundHead;
using oracle::GroundKind;
using oracle::GroundLiteral;
using oracle::Truth;

// ---- truth by the new bounds ----

Truth WorldsUpdate::truth(AtomRow atom) {
  if (!is_there(atom)) return Truth::False;
  const Worlds::Atom& state = at(atom);
  return (state.marks & kAffected) != 0 ? state.next : state.truth;
}

Truth WorldsUpdate::truth(Instance instance, const Mention& mention) {
  const Truth of_atom = truth(instances_.atom(instance, mention));
  const bool negated = mention.kind == GroundKind::Neg ||
                       (mention.kind == GroundKind::Modal && epistemic::is_negated(mention.modal));
  if (!negated || of_atom == Truth::Unknown) return of_atom;
  return of_atom == Truth::True ? Truth::False : Truth::True;
}

Truth WorldsUpdate::truth(Instance instance, std::span<const Mention> body) {
  Truth least = Truth::True;
  for (const Mention& mention : body) {
    least = std::min(least, truth(instance, mention));
    if (least == Truth::False) break;
  }
  return least;
}

// Of an element of a choice with bounds: that it counts.
std::span<const Mention> WorldsUpdate::condition_of(Instance element) const {
  const InstanceTable& table = instances_.table(element);
  return std::span(table.body).subspan(table.body_mentions);
}
Truth WorldsUpdate::counts(Instance element) {
  return std::min(truth(instances_.atom(element, instances_.table(element).heads[0])),
                  truth(element, condition_of(element)));
}

// Whether something of it is left to decide.
bool WorldsUpdate::is_left(Instance instance) {
  const InstanceTable& table = instances_.table(instance);
  if (!instances_.is_there(instance)) return false;
  if (table.fold) return is_asked(instance);
  const Truth body = truth(instance, table.body);
  if (body == Truth::False) return false;
  if (table.heads.empty() && body == Truth::Unknown) return true;
  bool left = false;
  if (table.is_bound()) {
    instances_.for_each_element(instance, [&](Instance element) {
      left |= instances_.is_there(element) && counts(element) == Truth::Unknown;
    });
    return left;
  }
  for (const Mention& mention : table.heads) {
    const AtomRow atom = instances_.atom(instance, mention);
    const Truth head = truth(atom);
    if (head == Truth::True) return false;
    left |= head == Truth::Unknown && !is_ignored(atom);
  }
  return left;
}

// Of an element of a choice with bounds: whether those depend on it, be it chosen or not.
bool WorldsUpdate::is_counted(Instance element) {
  if (instances_.table(element).bound == InstanceTable::kNone) return false;
  if (!instances_.is_there(element) || counts(element) != Truth::Unknown) return false;
  const Instance bound = instances_.bound_of(element);
  return bound.row != kNoRow && is_left(bound);
}

// Whether something that is left to decide depends on a result of a group, or a query shows it.
// Else the fold connects nothing.
bool WorldsUpdate::is_asked(Instance group) {
  const uint8_t known = worlds_.looked_at_[group.table][group.row] & (kAsked | kIgnored);
  if (known != 0) return known == kAsked;
  bool asked = false;
  instances_.for_each_result(group, [&](AtomRow result) {
    if (asked || truth(result) != Truth::Unknown) return;
    asked = worlds_.shown_[result.pred];
    instances_.for_each_with_literal(result, [&](Instance asking) {
      tick();
      asked = asked || is_left(asking) || is_counted(asking);
    });
  });
  mark(group, asked ? kAsked : kIgnored);
  return asked;
}

// An element of groups that are not asked for.
bool WorldsUpdate::is_ignored(AtomRow atom) {
  if (!worlds_.program_.worlds.is_element({atom.pred})) return false;
  bool ignored = true;
  instances_.for_each_with_literal(atom,
                                   [&](Instance group) { ignored = ignored && !is_left(group); });
  return ignored;
}

bool WorldsUpdate::is_violated(Instance instance) {
  const InstanceTable& table = instances_.table(instance);
  if (!instances_.is_there(instance)) return false;
  if (truth(instance, table.body) != Truth::True) return false;
  if (!table.is_bound()) return true;
  bool open = false;
  std::vector<AtomRow> chosen;
  instances_.for_each_element(instance, [&](Instance element) {
    if (!instances_.is_there(element)) return;
    const Truth counted = counts(element);
    open |= counted == Truth::Unknown;
    if (counted == Truth::True) {
      chosen.push_back(instances_.atom(element, instances_.table(element).heads[0]));
    }
  });
  if (open) return false;
  std::ranges::sort(chosen);
  const auto count = static_cast<int64_t>(std::ranges::unique(chosen).begin() - chosen.begin());
  return count < lower_of(instance) || count > upper_of(instance);
}

// The well-founded semantics knows no bounds of choices.
bool WorldsUpdate::is_judged(Instance instance) const {
  const InstanceTable& table = instances_.table(instance);
  return table.is_constraint() && !(only_bounds_ && table.is_bound());
}

int64_t WorldsUpdate::lower_of(Instance bound) const {
  const InstanceTable& table = instances_.table(bound);
  return table.lower ? instances_.number(bound, *table.lower) : INT64_MIN;
}
int64_t WorldsUpdate::upper_of(Instance bound) const {
  const InstanceTable& table = instances_.table(bound);
  return table.upper ? instances_.number(bound, *table.upper) : INT64_MAX;
}

// ---- the region ----

// Calls `visit` with every atom that an instance mentions, and whether it only asks about it.
template <typename Visit>
void WorldsUpdate::for_each_atom(Instance instance, const Visit& visit) {
  const auto visit_all = [&](Instance from, std::span<const Mention> mentions) {
    for (const Mention& mention : mentions) {
      visit(instances_.atom(from, mention), mention.kind == GroundKind::Modal);
    }
  };
  const InstanceTable& table = instances_.table(instance);
  visit_all(instance, table.heads);
  visit_all(instance, table.body);
  if (table.fold) {
    const auto visit_own = [&](AtomRow atom) { visit(atom, false); };
    instances_.for_each_result(instance, visit_own);
    instances_.for_each_folded(instance, visit_own);
  }
  if (!table.is_bound()) return;
  instances_.for_each_element(instance, [&](Instance element) {
    visit_all(element, instances_.table(element).heads);
    visit_all(element, condition_of(element));
  });
}

void WorldsUpdate::reach(AtomRow atom) {
  if (atom.row == kNoRow || is_reached(atom)) return;
  at(atom).marks |= kReached;
  reached_.push_back(atom);
}

// An atom of it has changed, or it came or went. Who is only asked by a rule does not care; a
// constraint may belong to any of those that it asks.
void WorldsUpdate::touch(Instance instance) {
  tick();
  if (!mark(instance, kTouched)) return;
  const InstanceTable& table = instances_.table(instance);
  if (is_judged(instance)) judged_.emplace_back(instance, is_violated(instance));
  for_each_atom(instance, [&](AtomRow atom, bool asks) {
    if (!asks || table.is_constraint()) reach(atom);
  });
  if (table.bound == InstanceTable::kNone) return;
  const Instance bound = instances_.bound_of(instance);
  if (bound.row != kNoRow) touch(bound);
}

Work WorldsUpdate::find_region() {
  if (building_) {
    whole_ = true;
    for (const AtomRow atom : affected_) {
      reach(atom);
      if (truth(atom) == Truth::Unknown) region_.push_back(atom);
    }
    kept_.add_work(affected_.size());
    walked_ = reached_.size();
    for (uint32_t i = 0; i < instances_.tables(); ++i) {
      const Table& rows = instances_.rows(i);
      for (uint32_t r = 0; r < rows.end(); ++r) {
        tick();
        const Instance instance{i, r};
        if (!rows.is_used(r)) continue;
        if (!only_bounds_ && is_left(instance)) used_.push_back(instance);
        const bool violated = is_judged(instance) && is_violated(instance);
        if (violated) judged_.emplace_back(instance, true);
        co_await kept_.rest_if_tired();
      }
    }
    co_return;
  }
  for (const AtomRow atom : affected_) {
    const Worlds::Atom& state = at(atom);
    if ((state.marks & kSeed) == 0 && state.next == state.truth) continue;
    reach(atom);
    const auto touch_it = [&](Instance instance) { touch(instance); };
    instances_.for_each_with_head(atom, touch_it);
    instances_.for_each_with_literal(atom, touch_it);
  }
  for (const Instance& instance : changed_) touch(instance);
  forget_marks();
  if (!only_bounds_) walk();
}

void WorldsUpdate::walk() {
  for (; walked_ < reached_.size(); ++walked_) walk_from(reached_[walked_]);
}

void WorldsUpdate::walk_from(AtomRow atom) {
  tick();
  const uint32_t cluster = at(atom).cluster;
  if (cluster != Worlds::kNone && dissolved_.insert(cluster).second) {
    for (const AtomRow other : worlds_.clusters_[cluster].atoms) reach(other);
  }
  if (truth(atom) != Truth::Unknown) return;
  region_.push_back(atom);
  const auto use_it = [&](Instance instance) { use(instance); };
  instances_.for_each_with_head(atom, use_it);
  instances_.for_each_with_literal(atom, use_it);
}

// An instance belongs to the region with the atoms that it does not only ask about.
void WorldsUpdate::use(Instance instance) {
  tick();
  if (instances_.table(instance).bound != InstanceTable::kNone) {
    const Instance bound = instances_.bound_of(instance);
    if (bound.row != kNoRow) use(bound);
  }
  if (!is_left(instance)) return;
  bool only_asks = true, is_reached_itself = false;
  for_each_atom(instance, [&](AtomRow atom, bool asks) {
    if (asks || truth(atom) != Truth::Unknown) return;
    only_asks = false;
    is_reached_itself |= is_reached(atom);
  });
  if (!whole_ && !only_asks && !is_reached_itself) return;
  if (!mark(instance, kUsed)) return;
  used_.push_back(instance);
  for_each_atom(instance, [&](AtomRow atom, bool asks) {
    if (truth(atom) != Truth::Unknown) return;
    if (asks && !whole_) {
      ask(atom);
    } else {
      reach(atom);
    }
  });
}

bool WorldsUpdate::is_fixed(uint32_t cluster) const {
  const Worlds::Cluster& of = worlds_.clusters_[cluster];
  return of.units == 1 && of.view_count() == 1;
}

// A unit outside that has one view has its answer; others are found again with who asks.
void WorldsUpdate::ask(AtomRow atom) {
  if (is_reached(atom)) return;
  const uint32_t cluster = at(atom).cluster;
  if (cluster != Worlds::kNone && is_fixed(cluster)) {
    asked_.insert(cluster);
  } else {
    reach(atom);
  }
}

// Units outside that are asked and ask the region themselves, perhaps through others, are part of
// it. Whether there were any.
bool WorldsUpdate::merge_circles() {
  if (asked_.empty()) return false;
  std::set<uint32_t> asking;  // clusters
  std::vector<AtomRow> todo = region_;
  const size_t before = reached_.size();
  const auto look_at = [&](Instance instance) {
    if (!is_left(instance)) return;
    for_each_atom(instance, [&](AtomRow atom, bool asks) {
      tick();
      if (asks || truth(atom) != Truth::Unknown || is_reached(atom)) return;
      const uint32_t cluster = at(atom).cluster;
      if (cluster == Worlds::kNone || !asking.insert(cluster).second) return;
      const std::vector<AtomRow>& atoms = worlds_.clusters_[cluster].atoms;
      todo.insert(todo.end(), atoms.begin(), atoms.end());
    });
  };
  for (size_t i = 0; i < todo.size(); ++i) {
    instances_.for_each_with_literal(todo[i], [&](Instance instance) {
      look_at(instance);
      if (instances_.table(instance).bound == InstanceTable::kNone) return;
      const Instance bound = instances_.bound_of(instance);
      if (bound.row != kNoRow) look_at(bound);
    });
  }
  for (const uint32_t cluster : asked_) {
    if (!asking.contains(cluster)) continue;
    for (const AtomRow atom : worlds_.clusters_[cluster].atoms) reach(atom);
  }
  walk();
  return reached_.size() > before;
}

// ---- views ----

Work WorldsUpdate::solve() {
  do {
    while (merge_circles()) {
    }
    co_await make_open_program();
    views_.emplace(epistemic::Units(open_), new_context(), counts_, epistemic::Batching{},
                   &worlds_.solved_);
    views_->solve(epistemic::WorldViews::Search::AllClusters);
  } while (grow_region());
  forget_marks();
}

bool WorldsUpdate::has_one_view(uint32_t cluster) const {
  return views_->views_of(cluster) == 1 &&
         std::ranges::all_of(views_->units().units_of(cluster), [&](uint32_t unit) {
           return views_->decision_of(unit)->solution.views.size() == 1;
         });
}

// Whether views tell more than was known outside. Where there is not one view alone, all that
// questions connect is looked at together.
bool WorldsUpdate::grow_region() {
  if (whole_) return false;
  const epistemic::Units& units = views_->units();
  for (uint32_t c = 0; c < units.clusters() && !whole_; ++c) whole_ = !has_one_view(c);
  if (whole_) {
    forget_marks();
    used_.clear();
    region_.clear();
    asked_.clear();
    walked_ = 0;
    walk();
    return true;
  }
  const size_t before = reached_.size();
  for (size_t i = 0; i < before; ++i) {
    const AtomRow atom = reached_[i];
    const Worlds::Atom& state = at(atom);
    if (state.truth != Truth::Unknown || truth(atom) != Truth::Unknown) continue;
    // Where there was not one view alone, who asks was part of the cluster.
    if (state.cluster != Worlds::kNone && !is_fixed(state.cluster)) continue;
    const uint32_t unit = units.unit_of(state.local);
    const AtomStatus now = unit == epistemic::Units::kNone
                               ? AtomStatus::Never
                               : views_->view(unit, 0).status[units.place_of(state.local)];
    if (now != worlds_.status_in(state, 0)) reach_askers(atom);
  }
  walk();
  return reached_.size() > before;
}

void WorldsUpdate::reach_askers(AtomRow atom) {
  const auto reach_own = [&](Instance instance) {
    tick();
    if (!is_left(instance)) return;
    bool only_asks = true;
    for_each_atom(instance, [&](AtomRow other, bool asks) {
      if (asks || truth(other) != Truth::Unknown) return;
      only_asks = false;
      reach(other);
    });
    if (!only_asks) return;
    for_each_atom(instance, [&](AtomRow other, bool) {
      if (truth(other) == Truth::Unknown) reach(other);
    });
  };
  instances_.for_each_with_literal(atom, [&](Instance instance) {
    reach_own(instance);
    if (instances_.table(instance).bound == InstanceTable::kNone) return;
    const Instance bound = instances_.bound_of(instance);
    if (bound.row != kNoRow) reach_own(bound);
  });
}

Work WorldsUpdate::make_open_program() {
  views_.reset();
  std::ranges::sort(region_);
  std::ranges::sort(used_);
  open_ = {};
  open_.atom_count = static_cast<uint32_t>(region_.size());
  for (uint32_t a = 0; a < region_.size(); ++a) at(region_[a]).local = a;
  for (const Instance& instance : used_) {
    add_open(instance);
    kept_.add_work(1);
    co_await kept_.rest_if_tired();
  }
}

// The literals that are left to decide; nothing where one is answered with no from outside.
std::optional<std::vector<GroundLiteral>> WorldsUpdate::left_of(Instance instance,
                                                                std::span<const Mention> body) {
  std::vector<GroundLiteral> left;
  for (const Mention& mention : body) {
    const AtomRow atom = instances_.atom(instance, mention);
    if (truth(atom) != Truth::Unknown) continue;
    if (is_reached(atom)) {
      left.push_back({mention.kind, mention.modal, at(atom).local});
    } else if (!epistemic::holds_by(mention.modal, worlds_.status_in(at(atom), 0))) {
      return std::nullopt;
    }
  }
  return left;
}

void WorldsUpdate::add_open(Instance instance) {
  const InstanceTable& table = instances_.table(instance);
  if (table.is_bound()) return add_open_bound(instance);
  if (table.fold) return add_open_fold(instance);
  const std::optional<std::vector<GroundLiteral>> body = left_of(instance, table.body);
  if (!body) return;
  heads_.clear();
  for (const Mention& mention : table.heads) {
    const AtomRow head = instances_.atom(instance, mention);
    if (truth(head) == Truth::Unknown) heads_.push_back(at(head).local);
  }
  const GroundHead kind = kind_of(table);
  open_.rules.add(kind, heads_, *body, table.rule);
}

void WorldsUpdate::add_open_fold(Instance group) {
  add_fold(
      group, open_,
      [&](AtomRow element) {
        std::optional<std::vector<GroundLiteral>> condition;
        const Truth counts = truth(element);
        if (counts != Truth::False) condition.emplace();
        if (counts == Truth::Unknown) {
          condition->push_back({GroundKind::Pos, lang::Modal::None, at(element).local});
        }
        return condition;
      },
      [&](AtomRow result) -> std::optional<oracle::AtomId> {
        if (truth(result) != Truth::Unknown) return std::nullopt;
        return at(result).local;
      });
}

void WorldsUpdate::add_open_bound(Instance instance) {
  const InstanceTable& table = instances_.table(instance);
  std::optional<std::vector<GroundLiteral>> body = left_of(instance, table.body);
  if (!body) return;
  oracle::GroundBound bound{
      lower_of(instance), upper_of(instance), {}, std::move(*body), table.rule};
  // Heads that are decided need numbers too, which tell elements apart.
  std::map<AtomRow, oracle::AtomId> numbers;
  instances_.for_each_element(instance, [&](Instance element) {
    if (!instances_.is_there(element) || counts(element) == Truth::False) return;
    const Mention& mention = instances_.table(element).heads[0];
    std::optional<std::vector<GroundLiteral>> condition = left_of(element, {&mention, 1});
    const std::optional<std::vector<GroundLiteral>> further =
        left_of(element, condition_of(element));
    if (!further) return;
    condition->insert(condition->end(), further->begin(), further->end());
    const AtomRow head = instances_.atom(element, mention);
    const auto next = static_cast<oracle::AtomId>(numbers.size());
    bound.elements.push_back({numbers.emplace(head, next).first->second, std::move(*condition)});
  });
  open_.bounds.push_back(std::move(bound));
}

}  // namespace xlog::incremental
