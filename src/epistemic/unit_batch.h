// The world views of many small units, found in a few launches on any device: what solve_unit finds
// one by one. See docs/batch_solving.md.
//
//   UnitBatch batch(device);
//   SmallUnits units(mode);
//   for (const oracle::GroundProgram& unit : many) units.add(unit);
//   Result<std::vector<Solution>> solutions = batch.solve(units);
#pragma once

#include <optional>
#include <vector>

#include "base/result.h"
#include "device/device.h"
#include "device/plan_runner.h"
#include "epistemic/small_units.h"
#include "epistemic/views.h"
#include "kernel/graph.h"

namespace xlog::epistemic {

class UnitBatch {
 public:
  explicit UnitBatch(device::Device& device) : device_(device) {}

  // By unit: all views in increasing order of statuses, without listed worlds.
  Result<std::vector<Solution>> solve(const SmallUnits& units);

 private:
  device::Device& device_;
  kernel::Graph graph_;
  std::optional<device::PlanRunner> runner_;
};

}  // namespace xlog::epistemic
