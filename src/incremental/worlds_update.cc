// Which atoms get new bounds, what those are, and how all that was found is put in place.
#include "incremental/worlds_update.h"

#include <algorithm>
#include <new>

#include "base/check.h"
#include "epistemic/bounds.h"
#include "oracle/well_founded.h"

namespace xlog::incremental {

using epistemic::AtomStatus;
using oracle::GroundHead;

Work WorldsUpdate::run() {
  const auto out_of_memory = [&] {
    kept_.allowance().fail(
        {"the memory for the search of world views ran out", "", ErrorKind::MemoryLimit});
  };
  try {
    prepare();
    co_await find_affected();
    co_await bound();
    co_await find_region();
    if (!only_bounds_) co_await solve();
  } catch (const Stopped&) {
    co_return;
  } catch (const oracle::LimitExceeded& limit) {
    kept_.allowance().fail({limit.message, limit.help, ErrorKind::Limit});
  } catch (const oracle::MemoryExceeded&) {
    out_of_memory();
  } catch (const std::bad_alloc&) {
    out_of_memory();
  }
  if (!kept_.allowance().stopped()) co_await install();
}

void WorldsUpdate::tick() {
  ++steps_;
  if (!kept_.step()) throw Stopped{};
}

// Its clock starts here, not when the work began that may have rested since.
oracle::Context& WorldsUpdate::new_context() {
  return context_.emplace(worlds_.source_, worlds_.analysis_, worlds_.session_, worlds_.options_);
}

void WorldsUpdate::prepare() {
  worlds_.atoms_.resize(worlds_.program_.worlds.open.size());
  worlds_.looked_at_.resize(instances_.tables());
  for (uint32_t p = 0; p < worlds_.atoms_.size(); ++p) {
    if (worlds_.program_.worlds.open[p]) worlds_.atoms_[p].resize(kept_.table(p).end());
  }
  for (uint32_t i = 0; i < instances_.tables(); ++i) {
    worlds_.looked_at_[i].resize(instances_.rows(i).end());
  }
}

// Whether an instance has this mark for the first time.
bool WorldsUpdate::mark(Instance instance, uint8_t mark) {
  uint8_t& marks = worlds_.looked_at_[instance.table][instance.row];
  if ((marks & mark) != 0) return false;
  if (marks == 0) marked_.push_back(instance);
  marks |= mark;
  return true;
}

void WorldsUpdate::forget_marks() {
  for (const Instance& instance : marked_) worlds_.looked_at_[instance.table][instance.row] = 0;
  marked_.clear();
}

// ---- what gets new bounds: what depends on atoms whose rules changed ----

void WorldsUpdate::affect(AtomRow atom, uint8_t marks) {
  if (atom.row == kNoRow) return;
  Worlds::Atom& state = at(atom);
  if ((state.marks & kAffected) == 0) affected_.push_back(atom);
  state.marks |= kAffected | marks;
}

Work WorldsUpdate::find_affected() {
  for (uint32_t p = 0; p < worlds_.atoms_.size(); ++p) {
    if (worlds_.program_.worlds.open[p]) find_changed_atoms(p);
    co_await kept_.rest_if_tired();
  }
  if (building_) co_return;
  for (uint32_t i = 0; i < instances_.tables(); ++i) {
    const InstanceTable& table = instances_.table({i, 0});
    for (const uint32_t row : kept_.changed(table.table)) {
      const Instance instance{i, row};
      changed_.push_back(instance);
      instances_.for_each_head(instance, [&](AtomRow head) { affect(head, kSeed); });
    }
  }
  for (size_t i = 0; i < affected_.size(); ++i) {
    affect_dependent(affected_[i]);
    co_await kept_.rest_if_tired();
  }
}

void WorldsUpdate::find_changed_atoms(uint32_t p) {
  const Table& table = kept_.table(p);
  if (building_) {
    for (uint32_t r = 0; r < table.end(); ++r) {
      if (table.is_used(r)) affect({p, r}, kSeed);
    }
    kept_.add_work(table.end());
    return;
  }
  for (const uint32_t row : kept_.changed(p)) affect({p, row}, kSeed);
  const Table& facts = kept_.facts({p});
  for (const uint32_t row : kept_.changed_facts({p})) {
    affect({p, table.find(facts.row(row))}, kSeed);
  }
}

bool WorldsUpdate::is_stated(AtomRow atom) const {
  const Table& facts = kept_.facts({atom.pred});
  const uint32_t row = facts.find(kept_.table(atom.pred).row(atom.row));
  return row != kNoRow && (facts.flags(row) & kNew) != 0;
}

// What holds as a fact does so whatever else changes.
void WorldsUpdate::affect_dependent(AtomRow atom) {
  const auto affect_heads = [&](Instance instance) {
    tick();
    if (!instances_.is_there(instance)) return;
    instances_.for_each_head(instance, [&](AtomRow head) {
      if ((at(head).marks & kAffected) != 0) return;
      if (at(head).truth == Truth::True && is_stated(head)) return;
      affect(head, 0);
    });
  };
  instances_.for_each_with_literal(atom, affect_heads);
  // What one head of a disjunction can hold of depends on the others.
  instances_.for_each_with_head(atom, [&](Instance instance) {
    if (instances_.table(instance).heads.size() > 1) affect_heads(instance);
  });
}

// ---- bounds ----

Work WorldsUpdate::bound() {
  if (affected_.empty()) co_return;
  oracle::GroundProgram ground;
  for (const AtomRow atom : affected_) {
    if (!is_there(atom)) continue;
    const uint32_t number = number_of(atom, ground);
    if (is_stated(atom)) ground.rules.add(GroundHead::Normal, {number}, {}, UINT32_MAX);
    if (!building_) continue;
    kept_.add_work(1);
    co_await kept_.rest_if_tired();
  }
  const auto add = [&](Instance instance) {
    tick();
    const bool has_rule =
        instances_.is_there(instance) && !instances_.table(instance).is_constraint();
    if (has_rule && mark(instance, kUsed)) add_rule(instance, ground);
  };
  if (building_) {
    for (uint32_t i = 0; i < instances_.tables(); ++i) {
      for (uint32_t r = 0; r < instances_.rows(i).end(); ++r) {
        add({i, r});
        co_await kept_.rest_if_tired();
      }
    }
  } else {
    for (const AtomRow atom : affected_) {
      instances_.for_each_with_head(atom, add);
      co_await kept_.rest_if_tired();
    }
  }
  ground.atom_count = static_cast<uint32_t>(numbered_.size());
  // The three-valued model takes `know p` and `possible p` for p, which founds them in any mode.
  const logic::AnswerOptions& options = worlds_.options_;
  const logic::Mode mode = options.well_founded ? logic::Mode::Faeel : options.mode;
  const oracle::Bounds bounds = epistemic::well_founded_bounds(ground, mode, new_context());
  for (const AtomRow atom : affected_) {
    Worlds::Atom& state = at(atom);
    state.next = !is_there(atom)             ? Truth::False
                 : bounds.lower[state.local] ? Truth::True
                 : bounds.upper[state.local] ? Truth::Unknown
                                             : Truth::False;
  }
  for (const AtomRow atom : numbered_) at(atom).marks &= static_cast<uint8_t>(~kNumbered);
  numbered_.clear();
  forget_marks();
  if (!building_) co_return;
  kept_.add_work(affected_.size());
  co_await kept_.rest_if_tired();
}

// What is not affected is as it was: true, open or false.
uint32_t WorldsUpdate::number_of(AtomRow atom, oracle::GroundProgram& ground) {
  Worlds::Atom& state = at(atom);
  if ((state.marks & kNumbered) != 0) return state.local;
  state.marks |= kNumbered;
  state.local = static_cast<uint32_t>(numbered_.size());
  numbered_.push_back(atom);
  if ((state.marks & kAffected) == 0 && state.truth != Truth::False) {
    const GroundHead kind = state.truth == Truth::True ? GroundHead::Normal : GroundHead::Choice;
    ground.rules.add(kind, {state.local}, {}, UINT32_MAX);
  }
  return state.local;
}

void WorldsUpdate::add_rule(Instance instance, oracle::GroundProgram& ground) {
  const InstanceTable& table = instances_.table(instance);
  if (table.fold) {
    const auto number = [&](AtomRow atom) { return number_of(atom, ground); };
    return add_fold(
        instance, ground,
        [&](AtomRow element) {
          return std::optional(std::vector{
              oracle::GroundLiteral{oracle::GroundKind::Pos, lang::Modal::None, number(element)}});
        },
        [&](AtomRow result) -> std::optional<oracle::AtomId> {
          const bool bounded = is_there(result) && (at(result).marks & kAffected) != 0;
          if (!bounded) return std::nullopt;
          return number(result);
        });
  }
  heads_.clear();
  body_.clear();
  for (const Mention& mention : table.heads) {
    heads_.push_back(number_of(instances_.atom(instance, mention), ground));
  }
  for (const Mention& mention : table.body) {
    const AtomRow atom = instances_.atom(instance, mention);
    if (is_there(atom)) {
      body_.push_back({mention.kind, mention.modal, number_of(atom, ground)});
    }
  }
  ground.rules.add(kind_of(table), heads_, body_, table.rule);
}

// The heads of an instance without repetitions, and what kind of head that is.
GroundHead WorldsUpdate::kind_of(const InstanceTable& table) {
  std::ranges::sort(heads_);
  heads_.erase(std::ranges::unique(heads_).begin(), heads_.end());
  return table.head == GroundHead::Disjunction && heads_.size() == 1 ? GroundHead::Normal
                                                                     : table.head;
}

// ---- all at once ----

Work WorldsUpdate::install() {
  if (!building_) remember();
  for (const uint32_t cluster : dissolved_) {
    for (const AtomRow atom : worlds_.clusters_[cluster].atoms) at(atom).cluster = Worlds::kNone;
    worlds_.remove_cluster(cluster);
  }
  for (const AtomRow atom : affected_) {
    at(atom).truth = at(atom).next;
    at(atom).marks = 0;
  }
  for (const AtomRow atom : reached_) at(atom).marks = 0;
  if (!only_bounds_) co_await install_views();
  for (const auto& [instance, violated] : judged_) {
    if (violated) {
      worlds_.violated_.insert(instance);
    } else {
      worlds_.violated_.erase(instance);
    }
  }
}

Work WorldsUpdate::install_views() {
  const epistemic::Units& units = views_->units();
  for (uint32_t c = 0; c < units.clusters(); ++c) {
    const std::span<const uint32_t> of = units.units_of(c);
    if (!has_one_view(c)) {
      install_cluster(of, c);
      continue;
    }
    for (size_t u = 0; u < of.size(); ++u) install_cluster(of.subspan(u, 1), c);
    if (!building_) continue;
    kept_.add_work(of.size());
    co_await kept_.rest_if_tired();
  }
}

void WorldsUpdate::install_cluster(std::span<const uint32_t> units, uint32_t c) {
  Worlds::Cluster cluster;
  for (const uint32_t unit : units) {
    uint32_t place = 0;
    for (const oracle::AtomId local : views_->units().atoms(unit)) {
      at(region_[local]).unit = cluster.units;
      at(region_[local]).place = place++;
      cluster.atoms.push_back(region_[local]);
    }
    ++cluster.units;
  }
  for (uint32_t v = 0; v < views_->views_of(c); ++v) {
    for (const uint32_t unit : units) cluster.views.push_back(&views_->view(unit, v));
  }
  worlds_.add_cluster(std::move(cluster));
}

// What queries showed of the atoms that may have changed.
void WorldsUpdate::remember() {
  const auto note = [&](AtomRow atom) {
    if (!worlds_.shown_[atom.pred]) return;
    const Worlds::Atom& state = at(atom);
    Worlds::Before before{state.truth, AtomStatus::Never};
    if (state.truth == Truth::Unknown && !worlds_.had_no_view_) {
      before.first = worlds_.status_in(state, 0);
    }
    worlds_.before_.emplace(atom, before);
  };
  for (const AtomRow atom : affected_) note(atom);
  for (const AtomRow atom : reached_) note(atom);
}

Work Worlds::build() {
  WorldsUpdate update(*this, true);
  co_await update.run();
  if (kept_.allowance().stopped()) co_return;
  solved_at_build_ = solved_.size();
  finish();
}

Work Worlds::update_resting() {
  WorldsUpdate update(*this, false);
  co_await update.run();
  if (!kept_.allowance().stopped()) finish();
}

Status Worlds::update(Effort& effort) {
  WorldsUpdate update(*this, false);
  Work work = update.run();
  const bool done = work.go_on();
  XLOG_CHECK(done, "an allowance without rests");
  if (Status status = kept_.status(); !status.ok()) return status;
  effort.instances += update.instances();
  effort.units += update.units_solved();
  return Done{};
}

}  // namespace xlog::incremental
