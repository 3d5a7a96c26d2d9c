// What all devices share: checks of views and arguments, counters, kernels by key in memory and on
// disk, sequences, and what happens once a device is lost. A kind of device derives from it and
// does the work: moves memory, makes code and runs it.
#pragma once

#include <array>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "device/cache.h"
#include "device/device.h"
#include "device/signature.h"

namespace xlog::device {

// Bytes in use; buffers share it with their device and may outlive that.
struct MemoryUse {
  uint64_t allocated = 0;
  uint64_t peak = 0;
};

class Memory : public BufferStorage {
 public:
  ~Memory() override {
    if (use != nullptr) use->allocated -= bytes;
  }
  std::shared_ptr<MemoryUse> use;
};

// What a device runs: shared by kernels that differ only in their names.
class Code {
 public:
  virtual ~Code() = default;
};
using CodeHandle = std::shared_ptr<const Code>;

class CompiledKernel : public Executable {
 public:
  Signature signature;
  CodeHandle code;
  uint64_t owner = 0;
};

// One noted call. What it needs is kept alive by it.
struct LaunchStep {
  std::shared_ptr<const CompiledKernel> kernel;
  std::vector<Argument> arguments;
  BoundLaunch bound;
};
struct CopyStep {
  View to, from;
  uint64_t bytes;
};
struct FillStep {
  View to;
  uint64_t bytes;
  std::byte value;
};
using Step = std::variant<LaunchStep, CopyStep, FillStep>;

class StepSequence : public Sequence {
 public:
  std::vector<Step> steps;
  uint64_t owner = 0;
};

class DeviceBase : public Device {
 public:
  const DeviceInfo& info() const final { return info_; }
  Result<Buffer> allocate(uint64_t bytes) final;
  Status resize(Buffer& buffer, uint64_t kept, uint64_t bytes) final;
  Status write(const View& to, std::span<const std::byte> bytes) final;
  Status read(const View& from, std::span<std::byte> bytes) final;
  Status copy(const View& to, const View& from) final;
  Status fill(const View& to, std::byte value) final;
  Result<KernelHandle> compile(kernel::Graph& graph, kernel::Id kernel) final;
  Status launch(const KernelHandle& kernel, std::span<const Argument> arguments) final;
  Status wait() final;
  Result<std::optional<CheckFailure>> checks() final;
  Status begin_sequence() final;
  Result<SequenceHandle> end_sequence() final;
  Status run(const SequenceHandle& sequence) final;
  Counters counters() const final;
  std::string cache_note() const final { return cache_.note(); }

 protected:
  using StatusWords = std::array<uint32_t, kernel::kCheckCodes>;

  explicit DeviceBase(const OpenOptions& options);

  // ---- what a kind of device does; places and sizes are checked before ----
  virtual Result<std::shared_ptr<Memory>> allocate_memory(uint64_t bytes) = 0;
  // Makes a buffer shorter or longer without another one beside it; false: not possible.
  virtual bool resize_memory(BufferStorage&, uint64_t /*kept*/, uint64_t /*bytes*/) {
    return false;
  }
  virtual Status write_memory(BufferStorage& to, uint64_t offset,
                              std::span<const std::byte> bytes) = 0;
  virtual Status read_memory(const BufferStorage& from, uint64_t offset,
                             std::span<std::byte> bytes) = 0;
  virtual Status copy_memory(BufferStorage& to, uint64_t to_offset, const BufferStorage& from,
                             uint64_t from_offset, uint64_t bytes) = 0;
  virtual Status fill_memory(BufferStorage& to, uint64_t offset, uint64_t bytes,
                             std::byte value) = 0;
  // The compiler's name and version and what else the code depends on: part of its key.
  virtual Result<std::string> compiler() = 0;
  // Makes the code and sets signature.hidden.
  virtual Result<CodeHandle> make_code(kernel::Graph& graph, kernel::Id kernel, const CacheKey& key,
                                       Signature& signature) = 0;
  virtual Status launch_code(const Code& code, const Signature& signature,
                             const BoundLaunch& launch) = 0;
  virtual Status wait_for_all() = 0;
  // Waits; the status words of the launches since the last call, and sets them back.
  virtual Result<StatusWords> take_status() = 0;
  // Steps as something that runs faster again and again; the steps themselves by default.
  virtual Result<std::shared_ptr<StepSequence>> make_sequence(std::vector<Step> steps);
  virtual Status run_sequence(const StepSequence& sequence) { return run_steps(sequence.steps); }

  Status run_steps(std::span<const Step> steps);
  // Of code that `compiler` makes for a target from a kernel with these canonical bytes.
  CacheKey key_of(std::string_view canonical_bytes, const kernel::Target* target,
                  std::string_view compiler) const;
  using LoadCode = std::function<Result<CodeHandle>(const std::string&)>;
  // Code from the disk cache; nullptr where it is not there. Sets signature.hidden.
  CodeHandle stored_code(const CacheKey& key, Signature& signature, const LoadCode& load);
  // Code from the disk cache, or built from the lowered kernel and put there. `load` turns its
  // bytes into something that runs; bytes that do not load are built again.
  Result<CodeHandle> cached_code(
      kernel::Graph& graph, kernel::Id kernel, const kernel::Target& target, const CacheKey& key,
      Signature& signature, const std::function<Result<std::string>(const kernel::Lowered&)>& build,
      const LoadCode& load);
  // From now on every call gives this error.
  void lose(Error error) { lost_ = std::move(error); }
  const std::optional<Error>& lost() const { return lost_; }

  DeviceInfo info_;
  Counters counters_;
  const uint64_t number_;  // of this opened device, in the process
  KernelCache cache_;

 private:
  Status ready(std::string_view call) const;  // not lost, no sequence being noted
  Status limit_allows(uint64_t more) const;
  void count(std::span<const Step> steps);

  const uint64_t memory_limit_;  // 0: none
  std::shared_ptr<MemoryUse> use_ = std::make_shared<MemoryUse>();
  uint64_t buffers_ = 0;
  std::map<CacheKey, std::pair<CodeHandle, std::vector<kernel::HiddenParam>>> codes_;
  std::map<std::string, KernelHandle> kernels_;  // by key and names
  std::optional<std::vector<Step>> noted_;       // a sequence is being noted
  std::optional<Error> lost_;
};

}  // namespace xlog::device
