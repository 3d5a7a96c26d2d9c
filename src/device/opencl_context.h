// One OpenCL device's context and queue, and the objects that hold them.
#pragma once

#include <memory>
#include <utility>

#include "device/device_base.h"
#include "device/opencl_api.h"

namespace xlog::device {

struct ClContext {
  std::shared_ptr<const opencl::Api> api;
  opencl::DeviceId device = nullptr;
  opencl::Context context = nullptr;
  opencl::Queue queue = nullptr;

  ClContext() = default;
  ClContext(const ClContext&) = delete;
  ClContext& operator=(const ClContext&) = delete;
  ~ClContext() {
    if (queue != nullptr) {
      api->finish(queue);
      api->release_queue(queue);
    }
    if (context != nullptr) api->release_context(context);
  }
};

class ClStorage : public Memory {
 public:
  ~ClStorage() override {
    // The driver keeps what the queue still uses.
    if (memory != nullptr) cl->api->release_memory(memory);
  }
  std::shared_ptr<ClContext> cl;
  opencl::MemoryRef memory = nullptr;
};

class ClCode : public Code {
 public:
  ~ClCode() override {
    if (kernel != nullptr) cl->api->release_kernel(kernel);
    if (program != nullptr) cl->api->release_program(program);
  }
  std::shared_ptr<ClContext> cl;
  opencl::Program program = nullptr;
  opencl::KernelRef kernel = nullptr;
  uint32_t group = 0;  // work items side by side
};

class ClEvent : public Event {
 public:
  ~ClEvent() override {
    if (event != nullptr) cl->api->release_event(event);
  }
  std::shared_ptr<ClContext> cl;
  opencl::EventRef event = nullptr;
};

// Memory that a single launch needs.
class ClPart {
 public:
  ClPart(const opencl::Api& api, opencl::MemoryRef memory) : api_(&api), memory_(memory) {}
  ClPart(ClPart&& other) noexcept
      : api_(other.api_), memory_(std::exchange(other.memory_, nullptr)) {}
  ClPart& operator=(ClPart&&) = delete;
  ~ClPart() {
    if (memory_ != nullptr) api_->release_memory(memory_);
  }
  opencl::MemoryRef get() const { return memory_; }

 private:
  const opencl::Api* api_;
  opencl::MemoryRef memory_;
};

}  // namespace xlog::device
