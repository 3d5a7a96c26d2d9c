// Solves the small units of a program before its clusters are walked: level by level, each once
// for every answer that the units below may give, many at a time on a device.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "base/parallel.h"
#include "device/device.h"
#include "epistemic/batch_trace.h"
#include "epistemic/small_units.h"
#include "epistemic/solved_units.h"
#include "epistemic/unit_batch.h"
#include "epistemic/units.h"
#include "oracle/context.h"

namespace xlog::epistemic {

struct Batching {
  device::Device* device = nullptr;  // none: all units are left to the solver
  // Fewer units, or fewer that differ, are not worth a launch.
  uint64_t least_units = 1000;
  BatchTrace* trace = nullptr;
  Parallel parallel = in_turn;  // for what is done before and after
};

class Presolve {
 public:
  Presolve(const Units& units, SolvedUnits& solved, uint64_t most, oracle::Context& context,
           SearchCounts& counts)
      : units_(units), solved_(solved), most_(most), context_(context), counts_(counts) {}

  void run(const Batching& batching);

  // What a unit has whatever the units below have; nullptr where that is not known.
  SolvedUnits::Entry* only_solution(uint32_t unit) const {
    return unit < only_.size() ? only_[unit] : nullptr;
  }

 private:
  using Entry = SolvedUnits::Entry;

  // By asked unit: the views that it may have.
  using Below = std::vector<std::vector<const View*>>;
  // Units of a level that one thread looks at, each with every answer from below.
  struct Seen;

  void find_levels();
  std::span<const std::pair<uint32_t, uint32_t>> asked_by(uint32_t unit) const;
  void take_level(const std::vector<uint32_t>& level);
  void look_at(uint32_t unit, Seen& seen) const;
  bool find_views_below(uint32_t unit, Below& below) const;
  Units::Holds answered(uint32_t unit, const Below& below, const std::vector<size_t>& choice) const;
  Entry* entry_for(SolvedUnits::Key key, uint64_t hash, uint32_t unit, size_t answer);
  void solve_pending(bool end_of_level);
  bool solve_in_batch();
  void solve_one_by_one();

  const Units& units_;
  SolvedUnits& solved_;
  const uint64_t most_;  // views that are wanted of a unit; 0: all
  oracle::Context& context_;
  SearchCounts& counts_;
  Batching batching_;
  BatchTrace own_trace_;
  std::optional<UnitBatch> batch_;

  std::vector<std::pair<uint32_t, uint32_t>> asks_;  // unit, asked unit: in increasing order
  std::vector<uint32_t> asks_begin_;                 // by unit, where its own begin
  std::vector<std::vector<uint32_t>> levels_;        // units that ask only those of levels before

  // By unit: its only solution, or several in the map; neither where it is left.
  std::vector<Entry*> only_;
  std::unordered_map<uint32_t, std::vector<Entry*>> several_;

  // Of the level: what is to be solved.
  std::vector<Entry*> pending_;
  std::vector<oracle::GroundProgram> programs_;  // as long as they are few
  std::optional<SmallUnits> small_;
  bool in_batches_ = false;
};

}  // namespace xlog::epistemic
