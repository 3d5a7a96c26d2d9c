#include "device/cuda_device.h"

#include <fmt/format.h>

#include <algorithm>

#include "device/cuda_context.h"
#include "device/device_base.h"
#include "device/llvm_compile.h"
#include "device/nvrtc.h"
#include "render/renderer.h"

namespace xlog::device {

namespace {

using cuda::GpuContext;

constexpr uint32_t kMostBlocks = 0x7fffffff;
constexpr int kNewestLlvmArchitecture = 90;  // newer GPUs take its PTX
constexpr size_t kLogBytes = 8192;

class GpuStorage : public Memory {
 public:
  ~GpuStorage() override { gpu->free(address, bytes); }
  std::shared_ptr<GpuContext> gpu;
  cuda::Pointer address = 0;
};

class GpuCode : public Code {
 public:
  // A launch of it may still be queued or running.
  ~GpuCode() override {
    if (module == nullptr || gpu->make_current() != 0) return;
    gpu->api().stream_wait(gpu->stream());
    gpu->api().module_unload(module);
  }
  std::shared_ptr<GpuContext> gpu;
  cuda::Module module = nullptr;
  cuda::Function function = nullptr;
};

class GpuEvent : public Event {
 public:
  ~GpuEvent() override {
    if (event != nullptr && gpu->make_current() == 0) gpu->api().event_destroy(event);
  }
  std::shared_ptr<GpuContext> gpu;
  cuda::Event event = nullptr;
};

// The steps captured once; they stay for what they keep alive.
class GpuSequence : public StepSequence {
 public:
  ~GpuSequence() override {
    if (prepared != nullptr && gpu->make_current() == 0) gpu->api().graph_run_destroy(prepared);
  }
  std::shared_ptr<GpuContext> gpu;
  cuda::GraphRun prepared = nullptr;
};

// The first lines of a compiler's log.
std::string head_of(std::string_view log) {
  log = log.substr(0, log.find('\0'));
  size_t end = 0;
  for (int line = 0; line < 4 && end != std::string_view::npos; ++line) {
    end = log.find('\n', end == 0 ? 0 : end + 1);
  }
  return std::string(log.substr(0, end));
}

class CudaDevice : public DeviceBase {
 public:
  CudaDevice(std::shared_ptr<GpuContext> gpu, int index, const OpenOptions& options);
  ~CudaDevice() override;

  Status prepare();  // after construction: memory for the status words

  Result<std::unique_ptr<Event>> record_event() override;
  Result<double> seconds_between(const Event& from, const Event& to) override;

 protected:
  Result<std::shared_ptr<Memory>> allocate_memory(uint64_t bytes) override;
  Status write_memory(BufferStorage& to, uint64_t offset,
                      std::span<const std::byte> bytes) override;
  Status read_memory(const BufferStorage& from, uint64_t offset,
                     std::span<std::byte> bytes) override;
  Status copy_memory(BufferStorage& to, uint64_t to_offset, const BufferStorage& from,
                     uint64_t from_offset, uint64_t bytes) override;
  Status fill_memory(BufferStorage& to, uint64_t offset, uint64_t bytes, std::byte value) override;
  Result<std::string> compiler() override;
  Result<CodeHandle> make_code(kernel::Graph& graph, kernel::Id kernel, const CacheKey& key,
                               Signature& signature) override;
  Status launch_code(const Code& code, const Signature& signature,
                     const BoundLaunch& launch) override;
  Status wait_for_all() override;
  Result<StatusWords> take_status() override;
  Result<std::shared_ptr<StepSequence>> make_sequence(std::vector<Step> steps) override;
  Status run_sequence(const StepSequence& sequence) override;

 private:
  // Success, or an error that says what was done; a fatal one loses the device.
  Status status_of(cuda::Code code, std::string_view what);
  Result<std::string> to_ptx(const kernel::Graph& graph, const kernel::Lowered& lowered);
  Result<std::string> link(const std::string& name, const std::string& ptx);
  Result<CodeHandle> load(const Signature& signature, const std::string& machine_code);
  Result<cuda::GraphRun> capture(std::span<const Step> steps);

  std::shared_ptr<GpuContext> gpu_;
  const render::Renderer* renderer_;
  bool use_nvrtc_;
  int architecture_ = 0;  // 90 for sm_90
  cuda::Pointer status_ = 0;
  bool status_used_ = false;  // some launch since the last look may have written it
  std::string last_kernel_;
};

CudaDevice::CudaDevice(std::shared_ptr<GpuContext> gpu, int index, const OpenOptions& options)
    : DeviceBase(options),
      gpu_(std::move(gpu)),
      renderer_(render::find_renderer(options.use_nvrtc ? "cuda" : "ptx")),
      use_nvrtc_(options.use_nvrtc) {
  const cuda::Api& api = gpu_->api();
  XLOG_CHECK(renderer_ != nullptr, "there is a renderer for NVIDIA GPUs");
  char name[256] = "NVIDIA GPU";
  api.device_name(name, sizeof(name), gpu_->device());
  size_t memory = 0;
  api.device_memory(&memory, gpu_->device());
  int major = 0, minor = 0, units = 0;
  api.device_attribute(&major, cuda::kAttributeMajor, gpu_->device());
  api.device_attribute(&minor, cuda::kAttributeMinor, gpu_->device());
  api.device_attribute(&units, cuda::kAttributeMultiprocessors, gpu_->device());
  architecture_ = 10 * major + minor;
  info_.name = fmt::format("cuda:{}", index);
  info_.hardware = name;
  info_.software =
      fmt::format("driver for CUDA {}.{}, sm_{}, {}", api.version / 1000, api.version % 1000 / 10,
                  architecture_, use_nvrtc_ ? "CUDA C through NVRTC" : "PTX through LLVM");
  info_.memory = memory;
  info_.compute_units = static_cast<uint32_t>(units);
  info_.has_groups = true;
  info_.target = &renderer_->target;
}

CudaDevice::~CudaDevice() {
  // What is queued uses memory and modules that go away now. An error has nobody to go to; a fatal
  // one loses the device.
  if (!lost()) static_cast<void>(wait_for_all());
  if (lost()) gpu_->abandon();
  gpu_->free(status_, sizeof(StatusWords));
}

Status CudaDevice::prepare() {
  if (Status s = status_of(gpu_->allocate(sizeof(StatusWords), status_), "allocate"); !s.ok()) {
    return s;
  }
  return status_of(gpu_->api().fill(status_, 0xff, sizeof(StatusWords), gpu_->stream()),
                   "set the status words");
}

Status CudaDevice::status_of(cuda::Code code, std::string_view what) {
  if (code == 0) return Done{};
  Error error{fmt::format("{}: {}: {}", info_.name, what, gpu_->api().explain(code)), ""};
  if (code == cuda::kOutOfMemory) error.kind = ErrorKind::OutOfMemory;
  if (cuda::is_fatal(code)) {
    if (!last_kernel_.empty()) {
      error.message += fmt::format("; the last kernel launched was {}", last_kernel_);
    }
    error.message += "; the device is lost";
    error.help =
        "open the device anew in a new process; a replay on another device shows whether "
        "the kernel is to blame";
    gpu_->abandon();
    lose(error);
  }
  return error;
}

Result<std::shared_ptr<Memory>> CudaDevice::allocate_memory(uint64_t bytes) {
  auto storage = std::make_shared<GpuStorage>();
  storage->gpu = gpu_;
  cuda::Code code = gpu_->make_current();
  if (code == 0) code = gpu_->allocate(bytes, storage->address);
  if (code == cuda::kOutOfMemory) {
    return Error{fmt::format("out of memory on {} ({}): {} bytes were asked for, {} are in use "
                             "of {}",
                             info_.name, info_.hardware, bytes, counters().allocated, info_.memory),
                 "use smaller inputs, a GPU with more memory, or --device cpu",
                 ErrorKind::OutOfMemory};
  }
  if (Status s = status_of(code, "allocate"); !s.ok()) return s.error();
  return std::shared_ptr<Memory>(storage);
}

cuda::Pointer address_of(const BufferStorage& memory) {
  return static_cast<const GpuStorage&>(memory).address;
}

Status CudaDevice::write_memory(BufferStorage& to, uint64_t offset,
                                std::span<const std::byte> bytes) {
  cuda::Code code = gpu_->make_current();
  if (code == 0) code = gpu_->write(address_of(to) + offset, bytes);
  return status_of(code, "write");
}

Status CudaDevice::read_memory(const BufferStorage& from, uint64_t offset,
                               std::span<std::byte> bytes) {
  cuda::Code code = gpu_->make_current();
  if (code == 0) code = gpu_->read(address_of(from) + offset, bytes);
  return status_of(code, "read");
}

Status CudaDevice::copy_memory(BufferStorage& to, uint64_t to_offset, const BufferStorage& from,
                               uint64_t from_offset, uint64_t bytes) {
  cuda::Code code = gpu_->make_current();
  if (code == 0) {
    code = gpu_->api().on_device(address_of(to) + to_offset, address_of(from) + from_offset, bytes,
                                 gpu_->stream());
  }
  return status_of(code, "copy");
}

Status CudaDevice::fill_memory(BufferStorage& to, uint64_t offset, uint64_t bytes,
                               std::byte value) {
  cuda::Code code = gpu_->make_current();
  if (code == 0) {
    code = gpu_->api().fill(address_of(to) + offset, static_cast<unsigned char>(value), bytes,
                            gpu_->stream());
  }
  return status_of(code, "fill");
}

Result<std::string> CudaDevice::compiler() {
  Result<std::string> front = use_nvrtc_ ? nvrtc_version() : llvm_version_for_cache();
  if (!front.ok()) return front;
  return fmt::format("{}; driver {}; sm_{}", *front, gpu_->api().version, architecture_);
}

Result<std::string> CudaDevice::to_ptx(const kernel::Graph& graph, const kernel::Lowered& lowered) {
  std::string text = renderer_->render(graph, lowered);
  if (use_nvrtc_) return nvrtc_to_ptx(text, fmt::format("compute_{}", architecture_));
  return llvm_to_ptx(text, fmt::format("sm_{}", std::min(architecture_, kNewestLlvmArchitecture)));
}

Result<std::string> CudaDevice::link(const std::string& name, const std::string& ptx) {
  const cuda::Api& api = gpu_->api();
  std::string log(kLogBytes, '\0');
  int options[] = {cuda::kOptionErrorLog, cuda::kOptionErrorLogBytes};
  void* values[] = {log.data(), reinterpret_cast<void*>(log.size())};
  cuda::Link linker = nullptr;
  cuda::Code code = gpu_->make_current();
  if (code == 0) code = api.link_create(2, options, values, &linker);
  void* machine_code = nullptr;
  size_t bytes = 0;
  if (code == 0) {
    // The text counts its closing zero.
    code = api.link_add(linker, cuda::kInputPtx, const_cast<char*>(ptx.c_str()), ptx.size() + 1,
                        name.c_str(), 0, nullptr, nullptr);
  }
  if (code == 0) code = api.link_complete(linker, &machine_code, &bytes);
  std::string linked;
  if (code == 0) linked.assign(static_cast<const char*>(machine_code), bytes);
  if (linker != nullptr) api.link_destroy(linker);
  if (code == 0) return linked;
  std::string what = fmt::format("kernel {} does not link", name);
  if (log[0] != '\0') what += fmt::format(" ({})", head_of(log));
  return status_of(code, what).error();
}

Result<CodeHandle> CudaDevice::load(const Signature& signature, const std::string& machine_code) {
  const cuda::Api& api = gpu_->api();
  auto code = std::make_shared<GpuCode>();
  code->gpu = gpu_;
  cuda::Code result = gpu_->make_current();
  if (result == 0)
    result = api.module_load(&code->module, machine_code.data(), 0, nullptr, nullptr);
  if (result == 0) {
    result = api.module_function(&code->function, code->module, render::kEntryPoint.data());
  }
  int most_threads = 0;
  if (result == 0) {
    result = api.function_attribute(&most_threads, cuda::kFunctionMaxThreads, code->function);
  }
  if (result != 0) {
    return status_of(result, fmt::format("kernel {} does not load", signature.kernel)).error();
  }
  uint32_t threads = signature.lanes != 0 ? signature.lanes : render::kGridGroup;
  if (threads > static_cast<uint32_t>(most_threads)) {
    return Error{fmt::format("{}: kernel {} needs {} lanes side by side, its registers leave room "
                             "for {}",
                             info_.name, signature.kernel, threads, most_threads),
                 "use smaller groups"};
  }
  return CodeHandle(code);
}

Result<CodeHandle> CudaDevice::make_code(kernel::Graph& graph, kernel::Id kernel,
                                         const CacheKey& key, Signature& signature) {
  return cached_code(
      graph, kernel, *info_.target, key, signature,
      [&](const kernel::Lowered& lowered) -> Result<std::string> {
        Result<std::string> ptx = to_ptx(graph, lowered);
        if (!ptx.ok()) return ptx;
        return link(signature.kernel, *ptx);
      },
      [&](const std::string& machine_code) { return load(signature, machine_code); });
}

Status CudaDevice::launch_code(const Code& code, const Signature& signature,
                               const BoundLaunch& launch) {
  uint32_t threads = signature.lanes != 0 ? signature.lanes : render::kGridGroup;
  const uint64_t tile = uint64_t{threads} * signature.per_thread;  // instances of a block
  uint64_t blocks = signature.lanes != 0 ? launch.instances : (launch.instances + tile - 1) / tile;
  if (blocks > kMostBlocks) {
    return Error{fmt::format("{}: kernel {}: {} groups are more than a GPU takes ({})", info_.name,
                             signature.kernel, blocks, kMostBlocks),
                 "launch it in parts"};
  }
  // Bits are zero-extended and little endian: they begin with the value of any type.
  std::vector<uint64_t> words;
  words.reserve(launch.arguments.size());
  std::vector<void*> pointers;
  for (const BoundArgument& argument : launch.arguments) {
    switch (argument.kind) {
      case BoundArgument::Kind::Value:
        words.push_back(argument.value.bits);
        break;
      case BoundArgument::Kind::Memory:
        words.push_back(address_of(*argument.memory) + argument.offset);
        break;
      case BoundArgument::Kind::Status:
        words.push_back(status_);
        status_used_ = true;
        break;
    }
    pointers.push_back(&words.back());
  }
  last_kernel_ = signature.kernel;
  cuda::Code result = gpu_->make_current();
  if (result == 0) {
    result = gpu_->api().launch(static_cast<const GpuCode&>(code).function,
                                static_cast<unsigned>(blocks), 1, 1, threads, 1, 1, 0,
                                gpu_->stream(), pointers.data(), nullptr);
  }
  if (result == 0) return Done{};
  return status_of(result, fmt::format("launch of kernel {}", signature.kernel));
}

Status CudaDevice::wait_for_all() {
  cuda::Code code = gpu_->make_current();
  if (code == 0) code = gpu_->api().stream_wait(gpu_->stream());
  return status_of(code, "wait");
}

Result<DeviceBase::StatusWords> CudaDevice::take_status() {
  StatusWords words;
  words.fill(UINT32_MAX);
  if (!status_used_) {
    if (Status s = wait_for_all(); !s.ok()) return s.error();
    return words;
  }
  cuda::Code code = gpu_->make_current();
  if (code == 0) code = gpu_->read(status_, std::as_writable_bytes(std::span(words)));
  bool clean = std::all_of(words.begin(), words.end(), [](uint32_t w) { return w == UINT32_MAX; });
  if (code == 0 && !clean) {
    code = gpu_->api().fill(status_, 0xff, sizeof(StatusWords), gpu_->stream());
  }
  if (Status s = status_of(code, "read the status words"); !s.ok()) return s.error();
  status_used_ = false;
  return words;
}

Result<cuda::GraphRun> CudaDevice::capture(std::span<const Step> steps) {
  const cuda::Api& api = gpu_->api();
  cuda::Code code = gpu_->make_current();
  if (code == 0) code = api.capture_begin(gpu_->stream(), cuda::kCaptureThreadLocal);
  if (Status s = status_of(code, "capture a sequence"); !s.ok()) return s.error();
  Status noted = run_steps(steps);
  cuda::Graph graph = nullptr;
  code = api.capture_end(gpu_->stream(), &graph);
  cuda::GraphRun prepared = nullptr;
  if (code == 0 && noted.ok()) code = api.graph_prepare(&prepared, graph, 0);
  if (graph != nullptr) api.graph_destroy(graph);
  if (!noted.ok()) return noted.error();
  if (Status s = status_of(code, "capture a sequence"); !s.ok()) return s.error();
  return prepared;
}

Result<std::shared_ptr<StepSequence>> CudaDevice::make_sequence(std::vector<Step> steps) {
  // A driver from before 11.4 cannot prepare graphs this way: the steps are then run one by one.
  if (gpu_->api().graph_prepare == nullptr || steps.empty()) {
    return DeviceBase::make_sequence(std::move(steps));
  }
  Result<cuda::GraphRun> prepared = capture(steps);
  if (!prepared.ok()) return prepared.error();
  auto sequence = std::make_shared<GpuSequence>();
  sequence->steps = std::move(steps);
  sequence->gpu = gpu_;
  sequence->prepared = *prepared;
  return std::shared_ptr<StepSequence>(sequence);
}

Status CudaDevice::run_sequence(const StepSequence& sequence) {
  const auto* captured = dynamic_cast<const GpuSequence*>(&sequence);
  if (captured == nullptr) return run_steps(sequence.steps);
  status_used_ = true;
  for (const Step& step : sequence.steps) {
    if (const auto* launch = std::get_if<LaunchStep>(&step)) last_kernel_ = launch->kernel->name;
  }
  cuda::Code code = gpu_->make_current();
  if (code == 0) code = gpu_->api().graph_launch(captured->prepared, gpu_->stream());
  return status_of(code, "run a sequence");
}

Result<std::unique_ptr<Event>> CudaDevice::record_event() {
  if (lost()) return *lost();
  auto event = std::make_unique<GpuEvent>();
  event->gpu = gpu_;
  cuda::Code code = gpu_->make_current();
  if (code == 0) code = gpu_->api().event_create(&event->event, cuda::kEventDefault);
  if (code == 0) code = gpu_->api().event_record(event->event, gpu_->stream());
  if (Status s = status_of(code, "record an event"); !s.ok()) return s.error();
  return std::unique_ptr<Event>(std::move(event));
}

Result<double> CudaDevice::seconds_between(const Event& from, const Event& to) {
  if (lost()) return *lost();
  const auto* begin = dynamic_cast<const GpuEvent*>(&from);
  const auto* end = dynamic_cast<const GpuEvent*>(&to);
  if (begin == nullptr || end == nullptr || begin->gpu != gpu_ || end->gpu != gpu_) {
    return Error{"seconds_between: an event of another device", ""};
  }
  float milliseconds = 0;
  cuda::Code code = gpu_->make_current();
  if (code == 0) code = gpu_->api().event_wait(end->event);
  if (code == 0) code = gpu_->api().event_elapsed(&milliseconds, begin->event, end->event);
  if (Status s = status_of(code, "take a time"); !s.ok()) return s.error();
  return milliseconds * 1e-3;
}

}  // namespace

Result<int> count_cuda_devices(const std::string& library) {
  Result<std::shared_ptr<const cuda::Api>> api = cuda::open_api(library);
  if (!api.ok()) return api.error();
  int count = 0;
  if (cuda::Code code = (*api)->device_count(&count)) {
    return Error{fmt::format("CUDA does not count its GPUs: {}", (*api)->explain(code)), ""};
  }
  if (count == 0) return Error{"CUDA finds no GPU", "see whether `nvidia-smi` finds one"};
  return count;
}

Result<std::unique_ptr<Device>> open_cuda_device(int index, const OpenOptions& options,
                                                 const std::string& library) {
  Result<int> count = count_cuda_devices(library);
  if (!count.ok()) return count.error();
  if (index < 0 || index >= *count) {
    return Error{
        fmt::format("there is no cuda:{}: GPUs go from cuda:0 to cuda:{}", index, *count - 1), ""};
  }
  Result<std::shared_ptr<const cuda::Api>> api = cuda::open_api(library);
  if (!api.ok()) return api.error();
  Result<std::shared_ptr<GpuContext>> gpu = GpuContext::open(*api, index);
  if (!gpu.ok()) return gpu.error();
  auto device = std::make_unique<CudaDevice>(*gpu, index, options);
  if (Status s = device->prepare(); !s.ok()) return s.error();
  return std::unique_ptr<Device>(std::move(device));
}

}  // namespace xlog::device
