#include "device/host_device.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <fstream>

namespace xlog::device {

namespace {

// A launch below it runs on the calling thread: waking others costs some ten microseconds.
constexpr uint64_t kSerialWork = 16 * 1024;
constexpr uint32_t kLargestMorsel = 4096;
// What an instance that loops is taken to cost, in instances that do not.
constexpr uint64_t kLoopWeight = 64;
constexpr uint64_t kMorselsPerThread = 8;
constexpr uint64_t kParallelBytes = uint64_t{4} << 20;
constexpr uint32_t kCopyMorsel = uint32_t{1} << 20;

class HostStorage : public Memory {
 public:
  ~HostStorage() override { pool->give(data, bytes); }
  std::shared_ptr<HostMemoryPool> pool;
  std::byte* data = nullptr;
};

class HostEvent : public Event {
 public:
  std::chrono::steady_clock::time_point at = std::chrono::steady_clock::now();
};

// Free blocks that are kept for others count as used to all who watch the process. What a round of
// a recursion takes and gives back again and again fits; what sorts a large relation once goes.
uint64_t kept_bytes(uint64_t memory_limit) {
  constexpr uint64_t kMost = uint64_t{1} << 24;
  return memory_limit == 0 ? kMost : std::min(kMost, memory_limit / 8);
}

std::string processor_name() {
  std::ifstream facts("/proc/cpuinfo");
  for (std::string line; std::getline(facts, line);) {
    if (line.rfind("model name", 0) != 0) continue;
    if (size_t colon = line.find(": "); colon != std::string::npos) return line.substr(colon + 2);
  }
  return "processor";
}

}  // namespace

uint32_t morsel_size(const Signature& signature, const BoundLaunch& launch, uint32_t threads) {
  uint64_t weight = std::max<uint64_t>(signature.lanes, 1) * (signature.loops ? kLoopWeight : 1);
  uint64_t work = launch.instances * weight;
  // A few instances with long loops may walk over all there is.
  if (signature.walks) work = std::max(work, launch.elements);
  if (threads == 1 || work <= kSerialWork) return launch.instances;
  uint64_t largest = std::max<uint64_t>(1, kLargestMorsel / weight);
  uint64_t share = launch.instances / (threads * kMorselsPerThread);
  return static_cast<uint32_t>(std::clamp<uint64_t>(share, 1, largest));
}

HostDevice::HostDevice(std::string name, std::string software, const kernel::Target* target,
                       const OpenOptions& options)
    : DeviceBase(options),
      memory_(std::make_shared<HostMemoryPool>(kept_bytes(options.memory_limit))),
      pool_(options.threads) {
  status_.fill(UINT32_MAX);
  info_.name = std::move(name);
  info_.software = std::move(software);
  info_.hardware = fmt::format("{}, {} thread{}", processor_name(), pool_.threads(),
                               pool_.threads() == 1 ? "" : "s");
  info_.memory = static_cast<uint64_t>(::sysconf(_SC_PHYS_PAGES)) *
                 static_cast<uint64_t>(::sysconf(_SC_PAGESIZE));
  info_.compute_units = pool_.threads();
  info_.target = target;
}

std::byte* HostDevice::address(const BufferStorage& memory, uint64_t offset) {
  return static_cast<const HostStorage&>(memory).data + offset;
}

Result<std::shared_ptr<Memory>> HostDevice::allocate_memory(uint64_t bytes) {
  auto storage = std::make_shared<HostStorage>();
  storage->pool = memory_;
  storage->data = memory_->take(bytes);
  if (storage->data == nullptr) {
    return Error{fmt::format("out of memory on {}: {} bytes were asked for, {} are in use",
                             info_.name, bytes, counters().allocated),
                 "use smaller inputs, or a machine with more memory", ErrorKind::OutOfMemory};
  }
  return std::shared_ptr<Memory>(storage);
}

bool HostDevice::resize_memory(BufferStorage& buffer, uint64_t kept, uint64_t bytes) {
  auto& storage = static_cast<HostStorage&>(buffer);
  std::byte* moved = memory_->resize(storage.data, storage.bytes, kept, bytes);
  if (moved == nullptr) return false;
  storage.data = moved;
  return true;
}

Status HostDevice::write_memory(BufferStorage& to, uint64_t offset,
                                std::span<const std::byte> bytes) {
  std::memcpy(address(to, offset), bytes.data(), bytes.size());
  return Done{};
}

Status HostDevice::read_memory(const BufferStorage& from, uint64_t offset,
                               std::span<std::byte> bytes) {
  std::memcpy(bytes.data(), address(from, offset), bytes.size());
  return Done{};
}

Status HostDevice::copy_memory(BufferStorage& to, uint64_t to_offset, const BufferStorage& from,
                               uint64_t from_offset, uint64_t bytes) {
  std::byte* target = address(to, to_offset);
  const std::byte* source = address(from, from_offset);
  if (bytes < kParallelBytes) {
    std::memcpy(target, source, bytes);
    return Done{};
  }
  auto pieces = static_cast<uint32_t>((bytes + kCopyMorsel - 1) / kCopyMorsel);
  pool_.parallel_for(pieces, 1, [&](uint32_t lo, uint32_t hi) {
    uint64_t begin = uint64_t{lo} * kCopyMorsel;
    std::memcpy(target + begin, source + begin,
                std::min(bytes, uint64_t{hi} * kCopyMorsel) - begin);
  });
  return Done{};
}

Status HostDevice::fill_memory(BufferStorage& to, uint64_t offset, uint64_t bytes,
                               std::byte value) {
  std::byte* target = address(to, offset);
  if (bytes < kParallelBytes) {
    std::memset(target, static_cast<int>(value), bytes);
    return Done{};
  }
  auto pieces = static_cast<uint32_t>((bytes + kCopyMorsel - 1) / kCopyMorsel);
  pool_.parallel_for(pieces, 1, [&](uint32_t lo, uint32_t hi) {
    uint64_t begin = uint64_t{lo} * kCopyMorsel;
    std::memset(target + begin, static_cast<int>(value),
                std::min(bytes, uint64_t{hi} * kCopyMorsel) - begin);
  });
  return Done{};
}

HostDevice::Arguments HostDevice::arguments_of(const BoundLaunch& launch) {
  Arguments all;
  all.values.reserve(launch.arguments.size());  // pointers lead into it
  for (const BoundArgument& argument : launch.arguments) {
    switch (argument.kind) {
      case BoundArgument::Kind::Value:
        // Bits are zero-extended and little endian: they begin with the value of any type.
        all.values.push_back(argument.value);
        all.pointers.push_back(&all.values.back().bits);
        break;
      case BoundArgument::Kind::Memory:
        all.pointers.push_back(address(*argument.memory, argument.offset));
        break;
      case BoundArgument::Kind::Status:
        all.pointers.push_back(status_.data());
        break;
    }
  }
  return all;
}

void HostDevice::run_part(const HostCode& code, const Signature& signature,
                          const BoundLaunch& launch, const Arguments& arguments, uint32_t lo,
                          uint32_t hi) {
  uint32_t morsel = morsel_size(signature, launch, pool_.threads());
  // Parts of chunks cost as much as whole ones, where there are enough for all threads.
  if (morsel < code.chunk() && (hi - lo) / code.chunk() >= pool_.threads()) morsel = code.chunk();
  pool_.parallel_for(hi - lo, morsel, [&](uint32_t a, uint32_t b) {
    code.run(lo + a, lo + b, arguments.pointers.data());
  });
}

uint32_t HostDevice::threads_for(const Signature& signature, const BoundLaunch& launch) const {
  const uint32_t morsel = morsel_size(signature, launch, pool_.threads());
  const uint32_t morsels = launch.instances / std::max(morsel, 1u);
  return std::clamp(morsels, 1u, pool_.threads());
}

Status HostDevice::launch_code(const Code& code, const Signature& signature,
                               const BoundLaunch& launch) {
  run_part(static_cast<const HostCode&>(code), signature, launch, arguments_of(launch), 0,
           launch.instances);
  return Done{};
}

Result<DeviceBase::StatusWords> HostDevice::take_status() {
  StatusWords words = status_;
  status_.fill(UINT32_MAX);
  return words;
}

Result<std::unique_ptr<Event>> HostDevice::record_event() {
  return std::unique_ptr<Event>(std::make_unique<HostEvent>());
}

Result<double> HostDevice::seconds_between(const Event& from, const Event& to) {
  const auto* begin = dynamic_cast<const HostEvent*>(&from);
  const auto* end = dynamic_cast<const HostEvent*>(&to);
  if (begin == nullptr || end == nullptr) {
    return Error{"seconds_between: an event of another device", ""};
  }
  return std::chrono::duration<double>(end->at - begin->at).count();
}

}  // namespace xlog::device
