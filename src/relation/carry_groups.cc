// Rules that carry columns along, on groups of lanes (sweep_kernel.h): launches and what follows
// them.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <span>

#include "relation/carry.h"
#include "relation/group_code.h"

namespace xlog::relation {

using kernel::Scalar;

namespace {

constexpr uint32_t kInstancesPerUnit = 2048;
constexpr uint32_t kMarkedPerUnit = 8;  // where each has marks of its own
constexpr uint32_t kBlocksPerUnit = 16;
constexpr uint32_t kMostLanes = 1024;
constexpr uint32_t kMostLevels = 1u << 12;  // of a launch
constexpr uint32_t kMostTimes = 1u << 4;    // that a launch goes through them

uint32_t units_of(Device& device) { return std::max(1u, device.info().compute_units); }

uint32_t most_lanes(Device& device) {
  const kernel::Target* target = device.info().target;
  const bool has_lanes = target != nullptr && target->groups;
  return has_lanes ? std::min(kMostLanes, target->max_group) : kGroupLanes;
}

// Few blocks need many lanes each to keep all units busy.
uint32_t sweep_lanes(Device& device, uint32_t blocks) {
  const uint32_t most = most_lanes(device);
  return blocks <= 2 * units_of(device) ? most : std::max(most / 2, kSweepWords);
}

Result<device::Buffer> make_zeros(Device& device, Type type, uint64_t count) {
  Result<device::Buffer> made = make_buffer(device, type, count);
  if (!made.ok()) return made;
  const uint64_t bytes = std::max<uint64_t>(count, 1) * size_of(type);
  if (Status s = device.fill({*made, 0, bytes}, std::byte{0}); !s.ok()) return s.error();
  return made;
}

bool has_marks(const CarriedRule& rule) {
  return std::ranges::any_of(rule.pipeline.steps, [](const plan::Step& step) {
    return step.kind == plan::StepKind::Meet;
  });
}

}  // namespace

Result<std::optional<std::vector<uint64_t>>> Carry::sweep(const RelationOf& relation_of) {
  using Rows = std::optional<std::vector<uint64_t>>;
  Device& device = machine_->device();
  const bool marked = std::ranges::any_of(rules_, has_marks);
  const uint32_t busy = units_of(device) * (marked ? kMarkedPerUnit : kInstancesPerUnit);
  // The search for levels has an instance a lane.
  Result<Lines> lines = prepare(relation_of, std::max(busy, most_lanes(device)));
  if (!lines.ok()) return lines.error();
  lines->instances = std::min(lines->nodes, busy);
  if (Status s = compile_sweep(*lines, relation_of); !s.ok()) return s.error();
  Result<Steps> steps = count_steps(*lines);
  if (!steps.ok()) return steps.error();
  // What is known of steps is to take less memory than the set itself.
  const uint64_t lists = uint64_t{lines->nodes} * rules_.size();
  if (steps->count + lists > relation_of(into_).bit_words()) return Rows();
  Result<Levels> levels = find_levels(*lines, *steps);
  if (!levels.ok()) return levels.error();
  Result<Sources> sources = find_sources(*lines, *steps, *levels);
  if (!sources.ok()) return sources.error();
  Result<std::vector<uint64_t>> added = sweep_levels(*lines, *levels, *sources);
  return added.ok() ? Result<Rows>(std::move(*added)) : added.error();
}

Status Carry::compile_sweep(const Lines& lines, const RelationOf& relation_of) {
  Device& device = machine_->device();
  const uint32_t lanes = sweep_lanes(device, lines.line / kSweepWords);
  const std::string shape = fmt::format("{} {}", lines.shape, lanes);
  if (compiled_ == shape) return Done{};
  kernel::Graph& graph = machine_->graph();
  const auto steps = [&](bool fills) {
    return StepsKernel(graph, *program_, rules_, lines.carried, relation_of, into_, fills).build();
  };
  const kernel::Id levels =
      LevelsKernel(graph, *program_, rules_, lines.carried, relation_of, into_, most_lanes(device))
          .build();
  const kernel::Id sweep = SweepKernel(graph, rules_.size(), relation_of(into_), lanes).build();
  for (const auto& [made, kernel] :
       {std::pair{&count_kernel_, steps(false)}, std::pair{&steps_kernel_, steps(true)},
        std::pair{&levels_kernel_, levels}, std::pair{&sweep_kernel_, sweep}}) {
    Result<device::KernelHandle> compiled = device.compile(graph, kernel);
    if (!compiled.ok()) return compiled.error();
    *made = *compiled;
  }
  compiled_ = shape;
  return Done{};
}

Status Carry::launch_steps(const device::KernelHandle& kernel, const Lines& lines,
                           std::initializer_list<device::Buffer> buffers) {
  std::vector<device::Argument> arguments = {Scalar::u32(lines.instances),
                                             Scalar::u32(lines.nodes)};
  for (const device::Buffer& buffer : buffers) arguments.emplace_back(device::View{buffer});
  arguments.insert(arguments.end(), lines.inputs.begin(), lines.inputs.end());
  if (Status s = machine_->device().launch(kernel, arguments); !s.ok()) return s;
  return machine_->check(0);
}

Result<Carry::Steps> Carry::count_steps(const Lines& lines) {
  Device& device = machine_->device();
  Result<device::Buffer> total = make_zeros(device, Type::U64, 1);
  if (!total.ok()) return total.error();
  Result<device::Buffer> sizes =
      make_zeros(device, Type::U32, uint64_t{lines.nodes} * rules_.size());
  if (!sizes.ok()) return sizes.error();
  Result<device::Buffer> waits = make_zeros(device, Type::U32, lines.nodes);
  if (!waits.ok()) return waits.error();
  if (Status s = launch_steps(count_kernel_, lines, {*total, *sizes, *waits}); !s.ok()) {
    return s.error();
  }
  Result<std::vector<uint64_t>> found = read_numbers<uint64_t>(device, *total, 1);
  if (!found.ok()) return found.error();
  return Steps{(*found)[0], *sizes, *waits};
}

Result<Carry::Levels> Carry::find_levels(const Lines& lines, const Steps& steps) {
  Device& device = machine_->device();
  Result<device::Buffer> state = make_zeros(device, Type::U32, kLevelState);
  if (!state.ok()) return state.error();
  Levels levels{};
  device::Buffer met;
  for (const auto& [buffer, count] :
       {std::pair{&levels.order, uint64_t{lines.nodes}},
        std::pair{&levels.places, uint64_t{lines.nodes}}, std::pair{&met, uint64_t{lines.nodes}},
        std::pair{&levels.starts, uint64_t{lines.nodes} + 1}}) {
    Result<device::Buffer> made = make_buffer(device, Type::U32, count);
    if (!made.ok()) return made.error();
    *buffer = *made;
  }
  std::vector<device::Argument> arguments = {Scalar::u32(lines.nodes), Scalar::u32(kMostLevels)};
  for (const device::Buffer& buffer :
       {*state, steps.sizes, steps.waits, levels.order, levels.places, met, levels.starts}) {
    arguments.emplace_back(device::View{buffer});
  }
  arguments.insert(arguments.end(), lines.inputs.begin(), lines.inputs.end());
  for (;;) {
    if (Status s = device.launch(levels_kernel_, arguments); !s.ok()) return s.error();
    Result<std::vector<uint32_t>> now = read_numbers<uint32_t>(device, *state, kLevelState);
    if (!now.ok()) return now.error();
    if (Status s = machine_->check(0); !s.ok()) return s.error();
    if ((*now)[kPlacedNodes] < lines.nodes) continue;
    levels.count = (*now)[kLevel];
    levels.has_cycles = (*now)[kBroken] > 0;
    return levels;
  }
}

Result<Carry::Sources> Carry::find_sources(const Lines& lines, const Steps& steps,
                                           const Levels& levels) {
  Device& device = machine_->device();
  const auto rules = static_cast<uint32_t>(rules_.size());
  const std::string name = fmt::format("carry_lists {}", rules);
  Result<device::PlanRunner*> plan = machine_->plan(name, [&] {
    kernel::PlanBuilder p(machine_->graph(), name);
    const kernel::Buffer sizes = p.in(Type::U32, "sizes"), order = p.in(Type::U32, "order");
    const kernel::Buffer by_place = p.map(p.len(sizes), [&](Value list) {
      return Values{sizes[order[list / rules] * rules + list % rules]};
    })[0];
    return p.finish({p.scan(kernel::Fold::Add, by_place).before});
  });
  if (!plan.ok()) return plan.error();
  Result<std::vector<device::PlanValue>> begins = (*plan)->run(
      std::vector<device::PlanValue>{device::Column{steps.sizes, Type::U32, lines.nodes * rules},
                                     device::Column{levels.order, Type::U32, lines.nodes}});
  if (!begins.ok()) return begins.error();
  Sources sources{std::get<device::Column>((*begins)[0]).buffer, {}};
  Result<device::Buffer> nodes = make_buffer(device, Type::U32, steps.count);
  if (!nodes.ok()) return nodes.error();
  sources.nodes = *nodes;
  if (Status s = launch_steps(steps_kernel_, lines, {levels.places, sources.ends, sources.nodes});
      !s.ok()) {
    return s.error();
  }
  return sources;
}

Result<std::vector<uint64_t>> Carry::sweep_levels(const Lines& lines, const Levels& levels,
                                                  const Sources& sources) {
  Device& device = machine_->device();
  const uint32_t blocks = lines.line / kSweepWords;
  const uint32_t at_once = std::min(blocks, units_of(device) * kBlocksPerUnit);
  Result<device::Buffer> state = make_zeros(device, Type::U32, blocks);
  if (!state.ok()) return state.error();
  Result<device::Buffer> added = make_zeros(device, Type::U64, rules_.size());
  if (!added.ok()) return added.error();
  std::vector<uint64_t> rows;
  for (uint32_t first = 0; first < blocks; first += at_once) {
    const uint32_t count = std::min(at_once, blocks - first);
    std::vector<device::Argument> arguments = {Scalar::u32(count), Scalar::u32(first),
                                               Scalar::u32(lines.line), Scalar::u32(levels.count),
                                               Scalar::u32(levels.has_cycles ? kMostTimes : 1)};
    for (const device::Buffer& buffer :
         {*state, levels.order, levels.starts, sources.ends, sources.nodes, *added}) {
      arguments.emplace_back(device::View{buffer});
    }
    arguments.insert(arguments.end(), lines.set.begin(), lines.set.end());
    for (bool more = true; more;) {
      if (Status s = device.launch(sweep_kernel_, arguments); !s.ok()) return s.error();
      std::vector<uint32_t> states(levels.has_cycles ? count : 0);
      if (levels.has_cycles) {
        const device::View of_blocks{*state, uint64_t{first} * 4, uint64_t{count} * 4};
        if (Status s = device.read(of_blocks, std::as_writable_bytes(std::span(states))); !s.ok()) {
          return s.error();
        }
      }
      more = std::ranges::any_of(states, [](uint32_t times) { return times != kSwept; });
      Result<std::vector<uint64_t>> now = read_numbers<uint64_t>(device, *added, rules_.size());
      if (!now.ok()) return now.error();
      rows = std::move(*now);
      if (Status s = machine_->check(std::reduce(rows.begin(), rows.end())); !s.ok()) {
        return s.error();
      }
    }
  }
  return rows;
}

}  // namespace xlog::relation
