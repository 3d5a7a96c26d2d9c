#include "relation/machine.h"

#include <algorithm>

namespace xlog::relation {

Result<device::KernelHandle> Machine::kernel(const std::string& name,
                                             const std::function<kernel::Id()>& build) {
  if (auto known = kernels_.find(name); known != kernels_.end()) return known->second;
  Result<device::KernelHandle> handle = device_.compile(graph_, build());
  if (handle.ok()) kernels_.emplace(name, *handle);
  return handle;
}

Result<device::PlanRunner*> Machine::plan(const std::string& name,
                                          const std::function<kernel::Id()>& build) {
  if (auto known = plans_.find(name); known != plans_.end()) return known->second.get();
  Result<device::PlanRunner> runner = device::PlanRunner::make(device_, graph_, build());
  if (!runner.ok()) return runner.error();
  auto kept = std::make_unique<device::PlanRunner>(std::move(*runner));
  return plans_.emplace(name, std::move(kept)).first->second.get();
}

Result<std::vector<device::Buffer>> Machine::scratch(const std::vector<Type>& types,
                                                     uint64_t rows) {
  std::vector<device::Buffer> columns;
  for (size_t c = 0; c < types.size(); ++c) {
    if (scratch_.size() == c) scratch_.emplace_back();
    const uint64_t words = (rows * size_of(types[c]) + 7) / 8;  // of any type
    if (scratch_[c] == nullptr || scratch_[c]->bytes < words * 8) {
      scratch_[c] = nullptr;  // before there is another
      Result<device::Buffer> made = make_buffer(device_, Type::U64, words);
      if (!made.ok()) return made.error();
      scratch_[c] = *made;
    }
    columns.push_back(scratch_[c]);
  }
  return columns;
}

Result<device::Buffer> make_buffer(Device& device, Type type, uint64_t count) {
  return device.allocate(std::max<uint64_t>(count, 1) * size_of(type));
}

Status resize_buffer(Device& device, device::Buffer& buffer, Type type, uint64_t kept,
                     uint64_t count) {
  const uint64_t bytes = std::max<uint64_t>(count, 1) * size_of(type);
  if (buffer != nullptr) return device.resize(buffer, kept * size_of(type), bytes);
  Result<device::Buffer> made = device.allocate(bytes);
  if (!made.ok()) return made.error();
  buffer = *made;
  return Done{};
}

}  // namespace xlog::relation
