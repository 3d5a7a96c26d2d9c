// One GPU's context, queue and memory. Buffers, kernels and graphs hold it, so it goes last.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "device/cuda_api.h"

namespace xlog::device::cuda {

class GpuContext {
 public:
  static Result<std::shared_ptr<GpuContext>> open(std::shared_ptr<const Api> api, int index);
  ~GpuContext();
  GpuContext(const GpuContext&) = delete;
  GpuContext& operator=(const GpuContext&) = delete;

  const Api& api() const { return *api_; }
  Stream stream() const { return stream_; }
  DeviceNumber device() const { return device_; }
  bool has_pool() const { return pool_ != nullptr; }

  // Every use of the driver begins with this: a thread may go from one GPU to another.
  Code make_current() const { return api_->context_set(context_); }

  // Memory in the order of the queue: what is freed may be given out again at once.
  Code allocate(uint64_t bytes, Pointer& memory);
  void free(Pointer memory, uint64_t bytes);

  // Through pinned memory, in two halves: while one is copied by us the other is by the GPU.
  Code write(Pointer to, std::span<const std::byte> bytes);
  Code read(Pointer from, std::span<std::byte> bytes);  // waits

  // The context is dead: the driver is not to be asked any more.
  void abandon() { abandoned_ = true; }

 private:
  struct Stage {
    std::byte* memory = nullptr;
    Event copied = nullptr;
    bool in_flight = false;
  };

  GpuContext() = default;
  Code prepare_stages();
  Code settle(Stage& stage);
  void release_free_blocks();

  std::shared_ptr<const Api> api_;
  DeviceNumber device_ = 0;
  Context context_ = nullptr;
  Stream stream_ = nullptr;
  MemoryPool pool_ = nullptr;
  std::map<uint64_t, std::vector<Pointer>> free_blocks_;  // by size, where the driver has no pools
  Stage stages_[2];
  bool abandoned_ = false;
};

}  // namespace xlog::device::cuda
