#include "epistemic/presolve.h"

#include <algorithm>
#include <chrono>

#include "epistemic/solve_unit.h"
#include "epistemic/translate.h"

namespace xlog::epistemic {

using oracle::GroundLiteral;

namespace {

// A unit is solved for so many answers of the units below, those included that never come together;
// with more of them it is left.
constexpr size_t kMostAnswers = 16;
// What one run on the device takes, so that memory and the time between two looks at the clock stay
// small.
constexpr uint64_t kMostInstances = uint64_t{1} << 20;
constexpr size_t kMostCodeBytes = size_t{1} << 26;

}  // namespace

void Presolve::run(const Batching& batching) {
  batching_ = batching;
  if (batching_.trace == nullptr) batching_.trace = &own_trace_;
  if (batching.device == nullptr || units_.size() < batching.least_units) return;
  if (context_.options.max_worlds > 0) return;  // worlds are listed by the solver
  const auto begin = std::chrono::steady_clock::now();
  batching_.trace->tried = true;
  const device::Counters before = batching.device->counters();
  batch_.emplace(*batching.device);
  small_.emplace(context_.options.mode);
  only_.assign(units_.size(), nullptr);
  find_levels();
  for (const std::vector<uint32_t>& level : levels_) {
    in_batches_ = false;
    for (const uint32_t unit : level) take_unit(unit);
    solve_pending(true);
    if (!batching_.trace->note.empty()) break;
  }
  const device::Counters after = batching.device->counters();
  batching_.trace->launches = after.launches - before.launches;
  batching_.trace->bytes_to_device = after.bytes_to_device - before.bytes_to_device;
  batching_.trace->bytes_from_device = after.bytes_from_device - before.bytes_from_device;
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - begin;
  batching_.trace->seconds = elapsed.count();
}

void Presolve::find_levels() {
  asks_ = units_.asking_and_asked();
  asks_begin_.assign(units_.size() + 1, 0);
  for (const auto& [unit, asked] : asks_) ++asks_begin_[unit + 1];
  std::vector<uint32_t> level(units_.size(), 0);
  for (uint32_t u = 0; u < units_.size(); ++u) {
    asks_begin_[u + 1] += asks_begin_[u];
    for (const auto& [unit, asked] : asked_by(u)) level[u] = std::max(level[u], level[asked] + 1);
    if (level[u] >= levels_.size()) levels_.resize(level[u] + 1);
    levels_[level[u]].push_back(u);
  }
}

std::span<const std::pair<uint32_t, uint32_t>> Presolve::asked_by(uint32_t unit) const {
  return std::span(asks_).subspan(asks_begin_[unit], asks_begin_[unit + 1] - asks_begin_[unit]);
}

// The views that each unit below may have; false where that is not known, or they are too many.
bool Presolve::find_views_below(uint32_t unit) {
  const auto asked_units = asked_by(unit);
  below_.resize(asked_units.size());
  size_t answers = 1;
  for (size_t i = 0; i < asked_units.size(); ++i) {
    const uint32_t asked = asked_units[i].second;
    std::vector<const View*>& views = below_[i];
    views.clear();
    const auto add = [&](const Entry* entry) {
      for (const View& view : entry->solution.views) views.push_back(&view);
    };
    if (Entry* only = only_[asked]; only != nullptr) {
      if (!only->solved) return false;
      add(only);
    } else {
      const auto several = several_.find(asked);
      if (several == several_.end()) return false;
      for (const Entry* entry : several->second) {
        if (!entry->solved) return false;
        add(entry);
      }
    }
    answers *= views.size();
    if (answers == 0 || answers > kMostAnswers) return false;
  }
  return true;
}

void Presolve::take_unit(uint32_t unit) {
  context_.tick();
  if (!find_views_below(unit)) return;
  const auto asked_units = asked_by(unit);
  std::vector<size_t> choice(asked_units.size(), 0);
  const Units::Holds answered = [&](const GroundLiteral& literal) {
    const uint32_t asked = units_.unit_of(literal.index);
    const auto at = std::ranges::lower_bound(asked_units, std::pair(unit, asked));
    const auto i = static_cast<size_t>(at - asked_units.begin());
    return holds_by(literal.modal, below_[i][choice[i]]->status[units_.place_of(literal.index)]);
  };
  std::vector<Entry*> entries;
  for (bool more = true; more;) {
    Entry* entry = entry_for(unit, answered);
    if (std::ranges::find(entries, entry) == entries.end()) entries.push_back(entry);
    more = false;
    for (size_t i = 0; i < choice.size() && !more; ++i) {
      more = ++choice[i] < below_[i].size();
      if (!more) choice[i] = 0;
    }
  }
  if (entries.size() == 1) {
    only_[unit] = entries[0];
  } else {
    several_.emplace(unit, std::move(entries));
  }
}

Presolve::Entry* Presolve::entry_for(uint32_t unit, const Units::Holds& answered) {
  key_.clear();
  units_.put_key(unit, answered, key_);
  key_.push_back(most_);
  const size_t known = solved_.size();
  Entry& entry = solved_.entry(key_);
  if (solved_.size() == known) return &entry;
  oracle::GroundProgram program = units_.program(unit, answered);
  const UnitFit fit = small_->add(program);
  ++batching_.trace->by_fit[static_cast<size_t>(fit)];
  if (fit != UnitFit::Fits) return &entry;
  pending_.push_back(&entry);
  if (!in_batches_ && pending_.size() < batching_.least_units) {
    programs_.push_back(std::move(program));
  }
  if (small_->instances() >= kMostInstances || small_->codes().size() >= kMostCodeBytes) {
    solve_pending(false);
  }
  return &entry;
}

void Presolve::solve_pending(bool end_of_level) {
  if (!in_batches_ && pending_.size() < batching_.least_units) {
    if (!end_of_level) return;
    solve_one_by_one();
  } else if (solve_in_batch()) {
    in_batches_ = true;
  }
  pending_.clear();
  programs_.clear();
  small_->clear();
}

void Presolve::solve_one_by_one() {
  for (size_t i = 0; i < pending_.size(); ++i) {
    pending_[i]->solution = solve_unit(programs_[i], most_, context_, counts_);
    pending_[i]->solved = true;
  }
}

// Without the device what is pending is left to the solver, when it is needed.
bool Presolve::solve_in_batch() {
  if (!batching_.trace->note.empty()) return false;
  context_.check_limits();
  Result<std::vector<Solution>> solutions = batch_->solve(*small_);
  if (!solutions.ok()) {
    batching_.trace->note = solutions.error().message;
    return false;
  }
  for (size_t i = 0; i < pending_.size(); ++i) {
    Solution& solution = (*solutions)[i];
    counts_.accepted += solution.views.size();
    if (most_ > 0 && solution.views.size() >= most_) {
      solution.views.resize(most_);
      solution.all_found = false;
    }
    pending_[i]->solution = std::move(solution);
    pending_[i]->solved = true;
  }
  counts_.units += pending_.size();
  batching_.trace->units += pending_.size();
  return true;
}

}  // namespace xlog::epistemic
