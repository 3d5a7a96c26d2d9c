#include "relation/carry.h"

#include <algorithm>
#include <numeric>
#include <span>

namespace xlog::relation {

using kernel::Scalar;

namespace {

constexpr uint32_t kBlocksPerThread = 4;
constexpr uint32_t kFewSteps = 1u << 9;  // that an instance takes in its first launch
constexpr uint32_t kMostSteps = 1u << 24;

}  // namespace

Result<bool> Carry::arrange(Relation& relation) const {
  if (!relation.may_forget()) return false;
  const uint32_t block = machine_->form() == Form::Groups ? kSweepWords : kBlockWords;
  return relation.put_innermost(carried_columns(rules_, into_), block * kWordBits);
}

uint64_t Carry::carried_values(const Relation& relation) const {
  if (relation.bit_sizes().empty()) return 0;
  uint64_t values = 1;
  for (uint32_t c : carried_columns(rules_, into_)) values *= relation.bit_sizes()[c];
  return values;
}

Result<std::optional<std::vector<uint64_t>>> Carry::run(const RelationOf& relation_of,
                                                        uint64_t more) {
  using Rows = std::optional<std::vector<uint64_t>>;
  Relation& relation = relation_of(into_);
  if (!relation.becomes_bits(more)) return Rows();
  Result<bool> fits = arrange(relation);
  if (!fits.ok()) return fits.error();
  // Blocks take more words.
  if (!*fits || !relation.becomes_bits(more)) return Rows();
  if (Status s = relation.reserve(more); !s.ok()) return s.error();
  if (relation.set_kind() != SetKind::Bits) return Rows();
  Result<Rows> added = Rows();
  if (machine_->form() == Form::Groups) {
    added = sweep(relation_of);
  } else {
    Result<std::vector<uint64_t>> carried = carry(relation_of);
    added = carried.ok() ? Result<Rows>(std::move(*carried)) : carried.error();
  }
  if (!added.ok() || !*added) return added;
  if (Status s = relation.handle_all(); !s.ok()) return s.error();
  const uint64_t count = std::reduce((*added)->begin(), (*added)->end());
  if (Status s = relation.add_forgotten(count); !s.ok()) return s.error();
  return added;
}

Result<Carry::Lines> Carry::prepare(const RelationOf& relation_of, uint32_t instances) {
  const Relation& relation = relation_of(into_);
  Lines lines;
  lines.carried = carried_columns(rules_, into_).size();
  lines.instances = instances;
  lines.line = static_cast<uint32_t>(carried_values(relation) / kWordBits);
  lines.nodes = relation.bit_words() / lines.line;
  lines.shape = shape_text(relation);
  relation.append_set_arguments(lines.set);
  lines.inputs = lines.set;
  for (CarriedRule& rule : rules_) {
    if (Status s = prepare_columns(rule.pipeline, relation_of); !s.ok()) return s.error();
    if (Status s = rule.marks.prepare(*machine_, rule.pipeline, relation_of, instances); !s.ok()) {
      return s.error();
    }
    lines.shape += shape_text(rule.pipeline, relation_of, rule.marks);
    Result<std::vector<device::Argument>> own =
        pipeline_arguments(rule.pipeline, relation_of, rule.marks, into_);
    if (!own.ok()) return own.error();
    lines.inputs.insert(lines.inputs.end(), own->begin(), own->end());
  }
  return lines;
}

Result<std::vector<uint64_t>> Carry::carry(const RelationOf& relation_of) {
  Device& device = machine_->device();
  const uint32_t most_blocks = std::max(1u, device.info().compute_units) * kBlocksPerThread;
  Result<Lines> lines = prepare(relation_of, most_blocks);
  if (!lines.ok()) return lines.error();
  const uint32_t nodes = lines->nodes;
  const uint32_t blocks = lines->line / kBlockWords;
  const uint32_t at_once = std::min(blocks, most_blocks);
  if (Status s = compile(*lines, relation_of); !s.ok()) return s.error();
  Result<device::Buffer> order = order_nodes(*lines);
  if (!order.ok()) return order.error();
  const uint32_t width = block_state(rules_.size());
  std::vector<uint32_t> states(uint64_t{at_once} * width);
  Result<device::Buffer> state = make_buffer(device, Type::U32, states.size());
  if (!state.ok()) return state.error();
  Result<device::Buffer> grown =
      make_buffer(device, Type::U32, uint64_t{at_once} * grown_words(nodes));
  if (!grown.ok()) return grown.error();
  std::vector<uint64_t> added(rules_.size(), 0);
  uint32_t most = kFewSteps;
  for (uint32_t first = 0; first < blocks; first += at_once) {
    const uint32_t count = std::min(at_once, blocks - first);
    if (Status s = device.fill({*state}, std::byte{0}); !s.ok()) return s.error();
    if (Status s = device.fill({*grown}, std::byte{0}); !s.ok()) return s.error();
    for (bool more = true; more;) {
      std::vector<device::Argument> arguments = {
          Scalar::u32(count), Scalar::u32(first),   Scalar::u32(nodes),   Scalar::u32(lines->line),
          Scalar::u32(most),  device::View{*state}, device::View{*order}, device::View{*grown}};
      arguments.insert(arguments.end(), lines->inputs.begin(), lines->inputs.end());
      if (Status s = device.launch(kernel_, arguments); !s.ok()) return s.error();
      if (Status s = device.read({*state}, std::as_writable_bytes(std::span(states))); !s.ok()) {
        return s.error();
      }
      more = false;
      for (uint32_t b = 0; b < count; ++b) {
        const uint32_t* of_block = &states[uint64_t{b} * width];
        for (size_t r = 0; r < added.size(); ++r) added[r] += of_block[kAdded + r];
        more |= of_block[kGrown] > 0;
      }
      if (Status s = machine_->check(std::reduce(added.begin(), added.end())); !s.ok()) {
        return s.error();
      }
      most = std::min(kMostSteps, most * 8);
    }
  }
  return added;
}

Status Carry::compile(const Lines& lines, const RelationOf& relation_of) {
  if (compiled_ == lines.shape) return Done{};
  kernel::Graph& graph = machine_->graph();
  Result<device::KernelHandle> order = machine_->device().compile(
      graph, OrderKernel(graph, *program_, rules_, lines.carried, relation_of, into_).build());
  if (!order.ok()) return order.error();
  Result<device::KernelHandle> kernel = machine_->device().compile(
      graph, CarryKernel(graph, *program_, rules_, lines.carried, relation_of, into_).build());
  if (!kernel.ok()) return kernel.error();
  order_kernel_ = *order;
  kernel_ = *kernel;
  compiled_ = lines.shape;
  return Done{};
}

Result<device::Buffer> Carry::order_nodes(const Lines& lines) {
  Device& device = machine_->device();
  const uint32_t nodes = lines.nodes;
  std::vector<uint32_t> now(kOrderState, 0);
  Result<device::Buffer> state = make_buffer(device, Type::U32, now.size());
  if (!state.ok()) return state.error();
  Result<device::Buffer> kept =
      make_buffer(device, Type::U32, uint64_t{nodes} * static_cast<uint32_t>(OrderColumn::Count));
  if (!kept.ok()) return kept.error();
  if (Status s = device.fill({*state}, std::byte{0}); !s.ok()) return s.error();
  if (Status s = device.fill({*kept}, std::byte{0}); !s.ok()) return s.error();
  std::vector<device::Argument> arguments = {Scalar::u32(nodes), Scalar::u32(kMostSteps),
                                             device::View{*state}, device::View{*kept}};
  arguments.insert(arguments.end(), lines.inputs.begin(), lines.inputs.end());
  while (now[kOrdered] < nodes) {
    if (Status s = device.launch(order_kernel_, arguments); !s.ok()) return s.error();
    if (Status s = device.read({*state}, std::as_writable_bytes(std::span(now))); !s.ok()) {
      return s.error();
    }
    if (Status s = machine_->check(0); !s.ok()) return s.error();
  }
  return *kept;
}

}  // namespace xlog::relation
