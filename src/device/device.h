// Where kernels run. One interface for the oracle, the interpreter, native code on the CPU, OpenCL
// and CUDA, so that one test body covers them all.
//
//   Result<std::unique_ptr<Device>> device = open_device("cuda:0");
//   Result<Buffer> x = (*device)->allocate(n * 4);
//   (*device)->write({*x}, bytes);
//   Result<KernelHandle> k = (*device)->compile(graph, kernel);
//   (*device)->launch(*k, args);              // in order, maybe still running when it returns
//   (*device)->read({*y}, bytes);             // waits for what it needs
//   (*device)->checks();                      // which Check failed, if any
//
// A device never falls back to another one; `cpu` interprets kernels with little work and, where
// there is no LLVM, all. Calls on one Device come from one thread at a time; several Devices in one
// process are independent.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "base/result.h"
#include "kernel/graph.h"
#include "kernel/oracle.h"
#include "kernel/target.h"

namespace xlog::device {

using kernel::CheckFailure;
using kernel::Scalar;

struct DeviceInfo {
  std::string name;      // what open_device takes: "cpu", "cuda:0", "opencl:1", "interp", "oracle"
  std::string hardware;  // "NVIDIA H200", "Intel Xeon ..., 2 threads"
  std::string software;  // driver and compiler with versions
  uint64_t memory = 0;   // bytes in all; 0: unknown
  uint32_t compute_units = 0;
  bool has_groups = false;  // lanes of a group run side by side: a GPU. Plans choose tiles by it.
  const kernel::Target* target = nullptr;
};

// Memory of a device; freed with its last copy. Buffers of one device do not fit another.
class BufferStorage {
 public:
  virtual ~BufferStorage() = default;
  uint64_t bytes = 0;
  uint64_t id = 0;     // unique in its device, in order of allocation
  uint64_t owner = 0;  // the device it belongs to: a number for each opened one
};
using Buffer = std::shared_ptr<BufferStorage>;

// A part of a buffer as a kernel sees it; the element type is the parameter's.
struct View {
  Buffer buffer;
  uint64_t offset = 0;          // bytes
  uint64_t bytes = UINT64_MAX;  // UINT64_MAX: to the end
};

using Argument = std::variant<Scalar, View>;

// A compiled kernel.
class Executable {
 public:
  virtual ~Executable() = default;
  std::string name;
  std::string key;  // of the cache: 32 hex digits
};
using KernelHandle = std::shared_ptr<const Executable>;

// What a device did since it was opened. Deterministic for a given sequence of calls; but how many
// kernels `cpu` compiles may depend on how long kernels loop that look at `race` buffers.
struct Counters {
  uint64_t launches = 0;
  uint64_t instances = 0;
  uint64_t bytes_to_device = 0;
  uint64_t bytes_from_device = 0;
  uint64_t bytes_on_device = 0;  // copied inside it
  uint64_t waits = 0;
  uint64_t compiled = 0;   // kernels that went through a compiler
  uint64_t cached = 0;     // kernels that came from the disk cache
  uint64_t allocated = 0;  // bytes in use now
  uint64_t peak = 0;       // most bytes in use
};

// A point in a device's queue; times between two of them are the device's own.
class Event {
 public:
  virtual ~Event() = default;
};

// Launches, copies and fills that were put together to be run again and again.
class Sequence {
 public:
  virtual ~Sequence() = default;
};
using SequenceHandle = std::shared_ptr<const Sequence>;

class Device {
 public:
  virtual ~Device() = default;

  virtual const DeviceInfo& info() const = 0;

  // Memory comes as it is: not cleared. Where there is none the error is of the kind OutOfMemory,
  // where the limit would be passed MemoryLimit, and the device goes on. In write and read, a view
  // that goes to the end takes only as many bytes as are given.
  virtual Result<Buffer> allocate(uint64_t bytes) = 0;
  // The buffer becomes one of so many bytes that begins with the first `kept` of what it was: in
  // the same memory, where the device can and nobody else has it. What lies behind them is not
  // cleared. After an error it is what it was.
  virtual Status resize(Buffer& buffer, uint64_t kept, uint64_t bytes);
  virtual Status write(const View& to, std::span<const std::byte> bytes) = 0;
  virtual Status read(const View& from, std::span<std::byte> bytes) = 0;  // waits
  virtual Status copy(const View& to, const View& from) = 0;
  virtual Status fill(const View& to, std::byte value) = 0;

  // `kernel` is as it was written; it is lowered for this device's target, or taken from the cache.
  virtual Result<KernelHandle> compile(kernel::Graph& graph, kernel::Id kernel) = 0;
  // One argument for each parameter of the kernel. Distinct buffers must not overlap, unless all of
  // them are `in`. The number of instances is the argument that `grid n` or `group n` names.
  virtual Status launch(const KernelHandle& kernel, std::span<const Argument> arguments) = 0;
  virtual Status wait() = 0;
  // Waits, gives the failed Check of the launches since the last call, and forgets it.
  virtual Result<std::optional<CheckFailure>> checks() = 0;

  // Between these two, launch, copy and fill are noted down and not run; their scalars and places
  // are fixed. Everything that waits, moves data to or from the host, allocates or compiles is
  // refused meanwhile. A sequence keeps the buffers and kernels it uses; a GPU runs it as one unit.
  virtual Status begin_sequence() = 0;
  virtual Result<SequenceHandle> end_sequence() = 0;
  virtual Status run(const SequenceHandle& sequence) = 0;

  virtual Result<std::unique_ptr<Event>> record_event() = 0;
  virtual Result<double> seconds_between(const Event& from, const Event& to) = 0;  // waits

  virtual Counters counters() const = 0;
  // Why compiled kernels are not kept on disk, or "".
  virtual std::string cache_note() const = 0;
};

// How the cpu runs kernels. Results do not depend on it.
enum class Tier : uint8_t {
  Auto,         // interprets a kernel until its work is worth a compiler's, then compiles it
  Interpreted,  // never compiles: the device `interp`
  Native,       // compiles every kernel before its first launch: the device `native`
};

struct OpenOptions {
  uint32_t threads = 0;           // of the cpu; 0: as many as there are cores
  std::string cache_folder = {};  // "": the user's cache folder; "none": no cache on disk
  bool use_nvrtc = false;         // cuda: CUDA C through NVRTC instead of PTX through LLVM
  Tier tier = Tier::Auto;         // of the cpu
  uint64_t memory_limit = 0;      // bytes that all buffers may take together; 0: what there is
};

// "auto" (cpu), "oracle", "interp", "cpu", "native", "c", "opencl[:k]", "cuda[:k]", "nvrtc[:k]"
// (cuda with use_nvrtc). An error says what is missing and how to get it.
std::optional<Error> device_name_problem(const std::string& name);  // of the name alone
Result<std::unique_ptr<Device>> open_device(const std::string& name,
                                            const OpenOptions& options = {});

// What is here and what is not, with the reason: for `xlog kernel devices`. Opens what it lists.
struct DeviceListing {
  std::string name;
  std::optional<DeviceInfo> info;
  std::string problem;  // why it cannot be used
};
std::vector<DeviceListing> list_devices();

}  // namespace xlog::device
