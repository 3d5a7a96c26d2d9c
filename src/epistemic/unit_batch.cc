#include "epistemic/unit_batch.h"

#include <algorithm>
#include <array>
#include <span>

#include "epistemic/unit_batch_kernel.h"

namespace xlog::epistemic {

using device::Column;
using device::PlanValue;
using kernel::Type;

namespace {

View view_of(uint32_t atoms, uint32_t worlds, uint32_t holds, uint32_t fails) {
  View view;
  view.worlds = worlds;
  view.status.reserve(atoms);
  for (uint32_t a = 0; a < atoms; ++a) {
    const bool somewhere = (holds >> a & 1) != 0;
    const bool everywhere = (fails >> a & 1) == 0;
    view.status.push_back(!somewhere   ? AtomStatus::Never
                          : everywhere ? AtomStatus::Always
                                       : AtomStatus::Sometimes);
  }
  return view;
}

}  // namespace

Result<std::vector<Solution>> UnitBatch::solve(const SmallUnits& units) {
  std::vector<Solution> solutions(units.size());
  if (units.size() == 0) return solutions;
  if (!runner_) {
    Result<device::PlanRunner> made =
        device::PlanRunner::make(device_, graph_, unit_batch_plan(graph_));
    if (!made.ok()) return made.error();
    runner_.emplace(std::move(*made));
  }
  std::vector<PlanValue> arguments;
  for (const std::vector<uint32_t>* numbers : {&units.shapes(), &units.starts(), &units.checks()}) {
    Result<Column> column = upload(device_, Type::U32, std::as_bytes(std::span(*numbers)));
    if (!column.ok()) return column.error();
    arguments.emplace_back(*column);
  }
  // Kernels take no empty buffers.
  static constexpr uint8_t kNoCode[] = {0};
  const std::span<const uint8_t> codes =
      units.codes().empty() ? std::span<const uint8_t>(kNoCode) : std::span(units.codes());
  Result<Column> code = upload(device_, Type::U8, std::as_bytes(codes));
  if (!code.ok()) return code.error();
  arguments.emplace_back(*code);

  Result<std::vector<PlanValue>> results = runner_->run(arguments);
  if (!results.ok()) return results.error();
  std::array<std::vector<uint32_t>, 4> columns;  // unit, worlds, holds, fails
  for (size_t c = 0; c < columns.size(); ++c) {
    const Column& column = std::get<Column>((*results)[c]);
    columns[c].resize(column.count);
    if (column.count == 0) continue;
    if (Status read = device_.read({column.buffer}, std::as_writable_bytes(std::span(columns[c])));
        !read.ok()) {
      return read.error();
    }
  }
  for (size_t v = 0; v < columns[0].size(); ++v) {
    const uint32_t unit = columns[0][v];
    solutions[unit].views.push_back(
        view_of(units.atoms(unit), columns[1][v], columns[2][v], columns[3][v]));
  }
  for (Solution& solution : solutions) {
    if (solution.views.size() > 1) std::ranges::sort(solution.views, {}, &View::status);
  }
  return solutions;
}

}  // namespace xlog::epistemic
