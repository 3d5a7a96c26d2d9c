// Devices in the host's own memory: the oracle, the interpreter, native code, and the cpu that
// climbs from one to the other. They differ in how a kernel becomes something that runs, and in
// nothing else.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "device/device_base.h"
#include "device/host_memory.h"
#include "device/pool.h"

namespace xlog::device {

// Code that runs instances lo .. hi; several threads may run parts of one launch.
class HostCode : public Code {
 public:
  virtual void run(uint32_t lo, uint32_t hi, void* const* arguments) const = 0;
  virtual uint32_t chunk() const { return 1; }  // instances that it takes at a time
};

// How many instances a thread takes at a time; instances() when the launch is too small to share.
uint32_t morsel_size(const Signature& signature, const BoundLaunch& launch, uint32_t threads);

class HostDevice : public DeviceBase {
 public:
  HostDevice(std::string name, std::string software, const kernel::Target* target,
             const OpenOptions& options);

  Result<std::unique_ptr<Event>> record_event() final;
  Result<double> seconds_between(const Event& from, const Event& to) final;

  bool threads_started() const { return pool_.started(); }

 protected:
  Result<std::shared_ptr<Memory>> allocate_memory(uint64_t bytes) final;
  bool resize_memory(BufferStorage& buffer, uint64_t kept, uint64_t bytes) final;
  Status write_memory(BufferStorage& to, uint64_t offset, std::span<const std::byte> bytes) final;
  Status read_memory(const BufferStorage& from, uint64_t offset, std::span<std::byte> bytes) final;
  Status copy_memory(BufferStorage& to, uint64_t to_offset, const BufferStorage& from,
                     uint64_t from_offset, uint64_t bytes) final;
  Status fill_memory(BufferStorage& to, uint64_t offset, uint64_t bytes, std::byte value) final;
  Status launch_code(const Code& code, const Signature& signature,
                     const BoundLaunch& launch) override;
  Status wait_for_all() final { return Done{}; }
  Result<StatusWords> take_status() final;

  // The arguments of a launch as code takes them: where values lie, and buffers.
  struct Arguments {
    std::vector<Scalar> values;
    std::vector<void*> pointers;
  };
  Arguments arguments_of(const BoundLaunch& launch);
  // Runs the instances lo .. hi of a launch, on several threads where the launch is large.
  void run_part(const HostCode& code, const Signature& signature, const BoundLaunch& launch,
                const Arguments& arguments, uint32_t lo, uint32_t hi);
  uint32_t threads_for(const Signature& signature, const BoundLaunch& launch) const;

  static std::byte* address(const BufferStorage& memory, uint64_t offset);

  StatusWords status_;

 private:
  std::shared_ptr<HostMemoryPool> memory_;
  Pool pool_;
};

// Each opens without loading a compiler or starting a thread.
std::unique_ptr<Device> make_oracle_device(const OpenOptions& options);
std::unique_ptr<Device> make_interp_device(const OpenOptions& options);
std::unique_ptr<Device> make_native_device(const OpenOptions& options);
std::unique_ptr<Device> make_c_device(const OpenOptions& options);
std::unique_ptr<Device> make_cpu_device(const OpenOptions& options);  // by options.tier

}  // namespace xlog::device
