// Derivations that carry columns along (carry_kernel.h): launches and what follows them.
#include <algorithm>

#include "relation/carry_kernel.h"
#include "relation/derive.h"

namespace xlog::relation {

using kernel::Scalar;

namespace {

constexpr uint32_t kBlocksPerThread = 4;
constexpr uint32_t kFewSteps = 1u << 9;  // that an instance takes in its first launch
constexpr uint32_t kMostSteps = 1u << 24;

}  // namespace

Result<std::optional<uint64_t>> Derivation::run_carried(const RelationOf& relation_of,
                                                        Relation& head) {
  if (!eager_ || machine_->form() == Form::Groups) return std::optional<uint64_t>();
  const std::vector<uint32_t> carried = carried_columns(pipeline_, head_, *into_);
  if (carried.empty() || !head.may_forget() || !head.becomes_bits(output_)) {
    return std::optional<uint64_t>();
  }
  if (Status s = head.reserve(output_); !s.ok()) return s.error();
  Result<bool> fits = head.put_innermost(carried, kBlockWords * kWordBits);
  if (!fits.ok()) return fits.error();
  if (!*fits) return std::optional<uint64_t>();
  if (Status s = prepare_columns(pipeline_, relation_of); !s.ok()) return s.error();
  Result<uint64_t> added = carry(relation_of, head, carried);
  if (!added.ok()) return added.error();
  if (Status s = head.handle_all(); !s.ok()) return s.error();
  head.add_forgotten(static_cast<uint32_t>(*added));
  return std::optional(*added);
}

Result<uint64_t> Derivation::carry(const RelationOf& relation_of, Relation& head,
                                   const std::vector<uint32_t>& columns) {
  Device& device = machine_->device();
  uint64_t line_bits = 1;
  for (uint32_t c : columns) line_bits *= head.bit_sizes()[c];
  const uint32_t line = static_cast<uint32_t>(line_bits / kWordBits);
  const uint32_t nodes = head.bit_words() / line;
  const uint32_t blocks = line / kBlockWords;
  const uint32_t threads = std::max(1u, device.info().compute_units);
  const uint32_t at_once = std::min(blocks, threads * kBlocksPerThread);
  if (Status s = marks_.prepare(*machine_, pipeline_, relation_of, at_once); !s.ok()) {
    return s.error();
  }
  Result<std::vector<device::Argument>> inputs =
      pipeline_arguments(pipeline_, relation_of, marks_, into_);
  if (!inputs.ok()) return inputs.error();
  const std::string wanted = "carry" + shape(relation_of, true);
  if (compiled_ != wanted) {
    Result<device::KernelHandle> kernel = device.compile(
        machine_->graph(),
        OrderKernel(machine_->graph(), *program_, pipeline_, head_, relation_of, *into_, marks_)
            .build());
    if (!kernel.ok()) return kernel.error();
    order_kernel_ = *kernel;
  }
  if (Status s = compile(wanted,
                         [&] {
                           return CarryKernel(machine_->graph(), *program_, pipeline_, head_,
                                              relation_of, *into_, marks_)
                               .build();
                         });
      !s.ok()) {
    return s.error();
  }
  Result<device::Buffer> order = order_nodes(head, nodes, *inputs);
  if (!order.ok()) return order.error();
  Result<device::Buffer> state = make_buffer(device, Type::U32, uint64_t{at_once} * kBlockState);
  if (!state.ok()) return state.error();
  Result<device::Buffer> grown =
      make_buffer(device, Type::U32, uint64_t{at_once} * grown_words(nodes));
  if (!grown.ok()) return grown.error();
  uint64_t added = 0;
  uint32_t most = kFewSteps;
  for (uint32_t first = 0; first < blocks; first += at_once) {
    const uint32_t count = std::min(at_once, blocks - first);
    std::vector<uint32_t> states(uint64_t{at_once} * kBlockState, 0);
    if (Status s = device.fill({*state}, std::byte{0}); !s.ok()) return s.error();
    if (Status s = device.fill({*grown}, std::byte{0}); !s.ok()) return s.error();
    for (bool more = true; more;) {
      std::vector<device::Argument> arguments = {Scalar::u32(count), Scalar::u32(first),
                                                 Scalar::u32(nodes), Scalar::u32(line),
                                                 Scalar::u32(most)};
      for (const device::Buffer& buffer : {*state, *order, *grown}) {
        arguments.emplace_back(device::View{buffer});
      }
      head.append_set_arguments(arguments);
      arguments.insert(arguments.end(), inputs->begin(), inputs->end());
      if (Status s = device.launch(kernel_, arguments); !s.ok()) return s.error();
      if (Status s = device.read({*state}, std::as_writable_bytes(std::span(states))); !s.ok()) {
        return s.error();
      }
      more = false;
      for (uint32_t b = 0; b < count; ++b) {
        added += states[b * kBlockState + kAdded];
        more |= states[b * kBlockState + kGrown] > 0;
      }
      if (Status s = machine_->check(added); !s.ok()) return s.error();
      most = std::min(kMostSteps, most * 8);
    }
  }
  return added;
}

Result<device::Buffer> Derivation::order_nodes(Relation& head, uint32_t nodes,
                                               const std::vector<device::Argument>& inputs) {
  Device& device = machine_->device();
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
  head.append_set_arguments(arguments);
  arguments.insert(arguments.end(), inputs.begin(), inputs.end());
  while (now[kPlaced] < nodes) {
    if (Status s = device.launch(order_kernel_, arguments); !s.ok()) return s.error();
    if (Status s = device.read({*state}, std::as_writable_bytes(std::span(now))); !s.ok()) {
      return s.error();
    }
    if (Status s = machine_->check(0); !s.ok()) return s.error();
  }
  return *kept;
}

}  // namespace xlog::relation
