// Derivations that carry columns along (carry_kernel.h): launches and what follows them.
#include <algorithm>

#include "relation/carry_kernel.h"
#include "relation/derive.h"

namespace xlog::relation {

using kernel::Scalar;

namespace {

constexpr uint32_t kBlocksPerThread = 4;
constexpr uint64_t kLeastWaiting = 1u << 22;  // words that may wait, whatever the relation has
constexpr uint32_t kFewNodes = 1u << 9;       // that an instance takes in its first launch
constexpr uint32_t kMostNodes = 1u << 24;

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
  // What waits takes no more memory than half of the bits, where those are many.
  const uint64_t waiting_words = std::max<uint64_t>(kLeastWaiting, head.bit_words() / 2);
  const uint64_t fitting = waiting_words / (uint64_t{nodes} * kBlockWords);
  const uint32_t threads = std::max(1u, device.info().compute_units);
  const uint32_t at_once = static_cast<uint32_t>(std::clamp<uint64_t>(
      fitting, 1, std::min<uint64_t>(blocks, uint64_t{threads} * kBlocksPerThread)));
  if (Status s = marks_.prepare(*machine_, pipeline_, relation_of, at_once); !s.ok()) {
    return s.error();
  }
  Result<std::vector<device::Argument>> inputs =
      pipeline_arguments(pipeline_, relation_of, marks_, into_);
  if (!inputs.ok()) return inputs.error();
  if (Status s = compile("carry" + shape(relation_of, true),
                         [&] {
                           return CarryKernel(machine_->graph(), *program_, pipeline_, head_,
                                              relation_of, *into_, marks_)
                               .build();
                         });
      !s.ok()) {
    return s.error();
  }
  device::Buffer state, waiting, queue;
  for (const auto& [buffer, count] : {std::pair{&state, uint64_t{at_once} * kQueueState},
                                      std::pair{&waiting, uint64_t{at_once} * nodes * kBlockWords},
                                      std::pair{&queue, uint64_t{at_once} * nodes}}) {
    Result<device::Buffer> made = make_buffer(device, Type::U32, count);
    if (!made.ok()) return made.error();
    *buffer = *made;
  }
  uint64_t added = 0;
  uint32_t most = kFewNodes;
  for (uint32_t first = 0; first < blocks; first += at_once) {
    const uint32_t count = std::min(at_once, blocks - first);
    std::vector<uint32_t> states(uint64_t{at_once} * kQueueState, 0);
    if (Status s = device.write({state}, std::as_bytes(std::span(states))); !s.ok()) {
      return s.error();
    }
    for (bool more = true; more;) {
      std::vector<device::Argument> arguments = {Scalar::u32(count), Scalar::u32(first),
                                                 Scalar::u32(nodes), Scalar::u32(line),
                                                 Scalar::u32(most)};
      for (const device::Buffer& buffer : {state, waiting, queue}) {
        arguments.emplace_back(device::View{buffer});
      }
      head.append_set_arguments(arguments);
      arguments.insert(arguments.end(), inputs->begin(), inputs->end());
      if (Status s = device.launch(kernel_, arguments); !s.ok()) return s.error();
      if (Status s = device.read({state}, std::as_writable_bytes(std::span(states))); !s.ok()) {
        return s.error();
      }
      more = false;
      for (uint32_t b = 0; b < count; ++b) {
        added += states[b * kQueueState + kAdded];
        more |= states[b * kQueueState + kWaiting] > 0;
      }
      if (Status s = machine_->check(added); !s.ok()) return s.error();
      most = std::min(kMostNodes, most * 8);
    }
  }
  return added;
}

}  // namespace xlog::relation
