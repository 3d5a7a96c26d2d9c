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
    take_level(level);
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

struct Presolve::Seen {
  SolvedUnits keys;  // that differ; `unit` of an entry is its number
  struct First {
    const Entry* entry;
    uint32_t unit;
    size_t answer;  // its number among those of the unit
  };
  std::vector<First> firsts;      // by number: who has the key first
  std::vector<uint32_t> answers;  // by unit: with how many it was looked at; 0: it is left
  std::vector<uint32_t> key_of;   // by unit and answer
  // Of one unit at a time.
  Below below;
  std::vector<uint64_t> key;
};

namespace {

// The next choice among so many views each, the first one counting fastest; false after the last.
template <typename Below>
bool advance(std::vector<size_t>& choice, const Below& below) {
  for (size_t i = 0; i < choice.size(); ++i) {
    if (++choice[i] < below[i].size()) return true;
    choice[i] = 0;
  }
  return false;
}

}  // namespace

// False where they are not known, or too many.
bool Presolve::find_views_below(uint32_t unit, Below& below) const {
  const auto asked_units = asked_by(unit);
  below.resize(asked_units.size());
  size_t answers = 1;
  for (size_t i = 0; i < asked_units.size(); ++i) {
    const uint32_t asked = asked_units[i].second;
    std::vector<const View*>& views = below[i];
    views.clear();
    const auto add = [&](const Entry* entry) {
      for (const View& view : entry->solution.views) views.push_back(&view);
    };
    if (const Entry* only = only_[asked]; only != nullptr) {
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

Units::Holds Presolve::answered(uint32_t unit, const Below& below,
                                const std::vector<size_t>& choice) const {
  return [this, unit, asked_units = asked_by(unit), &below, &choice](const GroundLiteral& literal) {
    const uint32_t asked = units_.unit_of(literal.index);
    const auto at = std::ranges::lower_bound(asked_units, std::pair(unit, asked));
    const auto i = static_cast<size_t>(at - asked_units.begin());
    return holds_by(literal.modal, below[i][choice[i]]->status[units_.place_of(literal.index)]);
  };
}

void Presolve::look_at(uint32_t unit, Seen& seen) const {
  seen.answers.push_back(0);
  if (!find_views_below(unit, seen.below)) return;
  std::vector<size_t> choice(seen.below.size(), 0);
  const Units::Holds holds = answered(unit, seen.below, choice);
  do {
    seen.key.clear();
    units_.put_key(unit, holds, seen.key);
    seen.key.push_back(most_);
    Entry& entry = seen.keys.entry(seen.key);
    if (!entry.used) {
      entry.used = true;
      entry.unit = static_cast<uint32_t>(seen.firsts.size());
      seen.firsts.push_back({&entry, unit, seen.answers.back()});
    }
    seen.key_of.push_back(entry.unit);
    ++seen.answers.back();
  } while (advance(choice, seen.below));
}

// Keys are made by several threads; what is then new is taken in the order of the units.
void Presolve::take_level(const std::vector<uint32_t>& level) {
  constexpr uint32_t kUnitsAtATime = 1 << 12;  // by one thread
  context_.check_limits();
  const auto units = static_cast<uint32_t>(level.size());
  std::vector<Seen> pieces((units + kUnitsAtATime - 1) / kUnitsAtATime);
  batching_.parallel(units, kUnitsAtATime, [&](uint32_t lo, uint32_t hi) {
    for (uint32_t i = lo; i < hi; ++i) look_at(level[i], pieces[lo / kUnitsAtATime]);
  });
  auto unit = level.begin();
  for (const Seen& seen : pieces) {
    std::vector<Entry*> entries;
    for (const Seen::First& first : seen.firsts) {
      context_.tick();
      entries.push_back(entry_for(first.entry->key, first.entry->hash, first.unit, first.answer));
    }
    auto key = seen.key_of.begin();
    for (const uint32_t answers : seen.answers) {
      std::vector<Entry*> own;
      for (uint32_t a = 0; a < answers; ++a) {
        Entry* entry = entries[*key++];
        if (answers == 1) only_[*unit] = entry;
        if (answers > 1 && std::ranges::find(own, entry) == own.end()) own.push_back(entry);
      }
      if (own.size() == 1) only_[*unit] = own[0];
      if (own.size() > 1) several_.emplace(*unit, std::move(own));
      ++unit;
    }
  }
}

Presolve::Entry* Presolve::entry_for(SolvedUnits::Key key, uint64_t hash, uint32_t unit,
                                     size_t answer) {
  const size_t known = solved_.size();
  Entry& entry = solved_.entry(key, hash);
  if (solved_.size() == known) return &entry;
  Below below;
  find_views_below(unit, below);
  std::vector<size_t> choice(below.size(), 0);
  for (; answer > 0; --answer) advance(choice, below);
  oracle::GroundProgram program = units_.program(unit, answered(unit, below, choice));
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
