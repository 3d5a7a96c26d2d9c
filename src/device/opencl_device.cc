#include "device/opencl_device.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "device/opencl_context.h"
#include "render/renderer.h"

namespace xlog::device {

namespace {

using kernel::Mode;
using kernel::Op;
using kernel::Type;
using opencl::Api;

constexpr int kLogLines = 6;

std::string first_lines(const std::string& text, int lines) {
  size_t end = 0;
  for (int k = 0; k < lines; ++k) {
    end = text.find('\n', end);
    if (end == std::string::npos) return text;
    ++end;
  }
  return text.substr(0, end);
}

bool has_word(const std::string& words, std::string_view word) {
  return (" " + words + " ").find(fmt::format(" {} ", word)) != std::string::npos;
}

class OpenClDevice : public DeviceBase {
 public:
  OpenClDevice(std::shared_ptr<ClContext> cl, int index, const OpenOptions& options);

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

 private:
  Status status_of(opencl::Code code, std::string_view what) const;
  Result<std::string> build(const std::string& name, const std::string& source);
  Result<CodeHandle> load(const Signature& signature, const std::string& binary, uint32_t group);
  std::string build_log(opencl::Program program) const;
  // A view as memory of its own: the buffer itself, a part of it, or a copy.
  Result<ClPart> part_of(const BoundArgument& argument, bool& is_copy);

  const Api& api() const { return *cl_->api; }
  static opencl::MemoryRef memory_of(const BufferStorage& memory) {
    return static_cast<const ClStorage&>(memory).memory;
  }

  std::shared_ptr<ClContext> cl_;
  const render::Renderer* renderer_;
  kernel::Target target_;
  std::string driver_;
  uint64_t float_config_ = 0;
  uint64_t largest_buffer_ = 0;
  uint64_t alignment_ = 1;  // of parts of a buffer, in bytes
  uint32_t largest_group_ = 0;
  std::shared_ptr<Memory> status_;
};

OpenClDevice::OpenClDevice(std::shared_ptr<ClContext> cl, int index, const OpenOptions& options)
    : DeviceBase(options),
      cl_(std::move(cl)),
      renderer_(render::find_renderer("opencl")),
      target_(renderer_->target) {
  opencl::DeviceId device = cl_->device;
  std::string extensions = api().device_text(device, opencl::kDeviceExtensions);
  target_.f64 = has_word(extensions, "cl_khr_fp64");
  target_.atomic64 = has_word(extensions, "cl_khr_int64_base_atomics") &&
                     has_word(extensions, "cl_khr_int64_extended_atomics");
  float_config_ = api().device_number(device, opencl::kDeviceSingleConfig);
  target_.fma = (float_config_ & opencl::kFloatFma) != 0;
  largest_group_ = static_cast<uint32_t>(api().device_number(device, opencl::kDeviceMaxGroup));
  target_.max_group = largest_group_;
  target_.max_local_bytes = static_cast<uint32_t>(
      std::min<uint64_t>(api().device_number(device, opencl::kDeviceLocalMemory), UINT32_MAX));
  largest_buffer_ = api().device_number(device, opencl::kDeviceMaxAllocation);
  alignment_ =
      std::max<uint64_t>(1, api().device_number(device, opencl::kDeviceAddressAlignment) / 8);
  driver_ = fmt::format("{}, driver {}", api().device_text(device, opencl::kDeviceVersion),
                        api().device_text(device, opencl::kDriverVersion));

  info_.name = fmt::format("opencl:{}", index);
  info_.hardware = api().device_text(device, opencl::kDeviceName);
  info_.software = driver_;
  info_.memory = api().device_number(device, opencl::kDeviceGlobalMemory);
  info_.compute_units =
      static_cast<uint32_t>(api().device_number(device, opencl::kDeviceComputeUnits));
  info_.has_groups =
      (api().device_number(device, opencl::kDeviceType) & opencl::kDeviceTypeGpu) != 0;
  info_.target = &target_;
}

Status OpenClDevice::prepare() {
  Result<std::shared_ptr<Memory>> memory = allocate_memory(sizeof(StatusWords));
  if (!memory.ok()) return memory.error();
  status_ = *memory;
  return fill_memory(*status_, 0, sizeof(StatusWords), std::byte{0xff});
}

Status OpenClDevice::status_of(opencl::Code code, std::string_view what) const {
  if (code == 0) return Done{};
  // Drivers may put off the allocation of a buffer until it is used.
  const bool no_memory = code == opencl::kAllocationFailed || code == opencl::kOutOfHostMemory;
  return Error{fmt::format("{}: {}: {}", info_.name, what, opencl::explain(code)), "",
               no_memory ? ErrorKind::OutOfMemory : ErrorKind::Failure};
}

Result<std::shared_ptr<Memory>> OpenClDevice::allocate_memory(uint64_t bytes) {
  if (bytes > largest_buffer_) {
    return Error{fmt::format("{} ({}): a buffer of {} bytes is larger than the driver allows "
                             "(CL_DEVICE_MAX_MEM_ALLOC_SIZE: {} bytes)",
                             info_.name, info_.hardware, bytes, largest_buffer_),
                 "use smaller inputs or another device", ErrorKind::OutOfMemory};
  }
  auto storage = std::make_shared<ClStorage>();
  storage->cl = cl_;
  opencl::Code code = 0;
  storage->memory = api().create_buffer(cl_->context, opencl::kReadWrite,
                                        std::max<uint64_t>(bytes, 1), nullptr, &code);
  if (code == opencl::kAllocationFailed || code == opencl::kOutOfResources ||
      code == opencl::kOutOfHostMemory || code == opencl::kInvalidBufferSize) {
    return Error{fmt::format("out of memory on {} ({}): {} bytes were asked for, {} are in use "
                             "of {}",
                             info_.name, info_.hardware, bytes, counters().allocated, info_.memory),
                 "use smaller inputs or another device", ErrorKind::OutOfMemory};
  }
  if (Status s = status_of(code, "allocate"); !s.ok()) return s.error();
  return std::shared_ptr<Memory>(storage);
}

Status OpenClDevice::write_memory(BufferStorage& to, uint64_t offset,
                                  std::span<const std::byte> bytes) {
  return status_of(api().write(cl_->queue, memory_of(to), 1, offset, bytes.size(), bytes.data(), 0,
                               nullptr, nullptr),
                   "write");
}

Status OpenClDevice::read_memory(const BufferStorage& from, uint64_t offset,
                                 std::span<std::byte> bytes) {
  return status_of(api().read(cl_->queue, memory_of(from), 1, offset, bytes.size(), bytes.data(), 0,
                              nullptr, nullptr),
                   "read");
}

Status OpenClDevice::copy_memory(BufferStorage& to, uint64_t to_offset, const BufferStorage& from,
                                 uint64_t from_offset, uint64_t bytes) {
  return status_of(api().copy(cl_->queue, memory_of(from), memory_of(to), from_offset, to_offset,
                              bytes, 0, nullptr, nullptr),
                   "copy");
}

Status OpenClDevice::fill_memory(BufferStorage& to, uint64_t offset, uint64_t bytes,
                                 std::byte value) {
  return status_of(
      api().fill(cl_->queue, memory_of(to), &value, 1, offset, bytes, 0, nullptr, nullptr), "fill");
}

Result<std::string> OpenClDevice::compiler() {
  return fmt::format("{}; {}; floats {:x}", info_.hardware, driver_, float_config_);
}

std::string OpenClDevice::build_log(opencl::Program program) const {
  size_t size = 0;
  api().build_info(program, cl_->device, opencl::kBuildLog, 0, nullptr, &size);
  std::string log(size, '\0');
  if (size != 0) {
    api().build_info(program, cl_->device, opencl::kBuildLog, size, log.data(), nullptr);
  }
  return first_lines(log.substr(0, log.find('\0')), kLogLines);
}

Result<std::string> OpenClDevice::build(const std::string& name, const std::string& source) {
  const char* text = source.c_str();
  size_t length = source.size();
  opencl::Code code = 0;
  opencl::Program program = api().program_from_source(cl_->context, 1, &text, &length, &code);
  if (Status s = status_of(code, fmt::format("kernel {}", name)); !s.ok()) return s.error();
  std::string options = "-cl-std=CL1.2";
  if ((float_config_ & opencl::kFloatExactDivideSqrt) != 0) {
    options += " -cl-fp32-correctly-rounded-divide-sqrt";
  }
  code = api().build(program, 1, &cl_->device, options.c_str(), nullptr, nullptr);
  std::string log = code == 0 ? "" : build_log(program);
  size_t size = 0;
  if (code == 0) {
    code = api().program_info(program, opencl::kProgramBinarySizes, sizeof(size), &size, nullptr);
  }
  std::string binary(size, '\0');
  unsigned char* target = reinterpret_cast<unsigned char*>(binary.data());
  if (code == 0) {
    code = api().program_info(program, opencl::kProgramBinaries, sizeof(target), &target, nullptr);
  }
  api().release_program(program);
  if (code == 0) return binary;
  Error error = status_of(code, fmt::format("kernel {} does not build", name)).error();
  if (!log.empty()) error.message += "\n" + log;
  return error;
}

Result<CodeHandle> OpenClDevice::load(const Signature& signature, const std::string& binary,
                                      uint32_t group) {
  auto made = std::make_shared<ClCode>();
  made->cl = cl_;
  made->group = group;
  const auto* bytes = reinterpret_cast<const unsigned char*>(binary.data());
  size_t size = binary.size();
  opencl::Code code = 0, binary_code = 0;
  made->program =
      api().program_from_binary(cl_->context, 1, &cl_->device, &size, &bytes, &binary_code, &code);
  if (code == 0) code = binary_code;
  if (code == 0) code = api().build(made->program, 1, &cl_->device, "", nullptr, nullptr);
  if (code == 0) {
    made->kernel = api().create_kernel(made->program, render::kEntryPoint.data(), &code);
  }
  size_t limit = 0;
  if (code == 0) {
    code = api().group_info(made->kernel, cl_->device, opencl::kKernelGroupSize, sizeof(limit),
                            &limit, nullptr);
  }
  std::string what = fmt::format("kernel {} does not load", signature.kernel);
  if (Status s = status_of(code, what); !s.ok()) return s.error();
  if (limit < group) {
    return Error{fmt::format("{}: kernel {} needs {} work items side by side, the driver has room "
                             "for {}",
                             info_.name, signature.kernel, group, limit),
                 "use smaller groups"};
  }
  return CodeHandle(made);
}

Result<CodeHandle> OpenClDevice::make_code(kernel::Graph& graph, kernel::Id kernel,
                                           const CacheKey& key, Signature& signature) {
  // Work groups are invisible to a kernel without groups of its own: a small device gets small
  // ones.
  uint32_t group = signature.lanes;
  if (group == 0) group = std::bit_floor(std::min(render::kGridGroup, largest_group_));
  return cached_code(
      graph, kernel, *info_.target, key, signature,
      [&](const kernel::Lowered& lowered) -> Result<std::string> {
        if (std::string why = opencl_inexact(graph, lowered.kernel, float_config_); !why.empty()) {
          return Error{fmt::format("{} ({}) cannot run kernel {}: {}", info_.name, info_.hardware,
                                   signature.kernel, why),
                       "use another device"};
        }
        std::string source = renderer_->render(graph, lowered);
        if (signature.lanes == 0 && group != render::kGridGroup) {
          std::string usual = fmt::format("reqd_work_group_size({},", render::kGridGroup);
          if (size_t at = source.find(usual); at != std::string::npos) {
            source.replace(at, usual.size(), fmt::format("reqd_work_group_size({},", group));
          }
        }
        return build(signature.kernel, source);
      },
      [&](const std::string& binary) { return load(signature, binary, group); });
}

Result<ClPart> OpenClDevice::part_of(const BoundArgument& argument, bool& is_copy) {
  opencl::MemoryRef whole = memory_of(*argument.memory);
  opencl::Code code = 0;
  opencl::MemoryRef part = nullptr;
  // A part must begin where the driver wants it to; elsewhere the kernel works on a copy.
  is_copy = argument.offset % alignment_ != 0 && argument.bytes != 0;
  uint64_t bytes = std::max<uint64_t>(argument.bytes, 1);
  if (is_copy || argument.bytes == 0) {
    part = api().create_buffer(cl_->context, opencl::kReadWrite, bytes, nullptr, &code);
    if (code == 0 && is_copy) {
      code = api().copy(cl_->queue, whole, part, argument.offset, 0, bytes, 0, nullptr, nullptr);
    }
  } else {
    opencl::Region region{argument.offset, bytes};
    part = api().create_part(whole, opencl::kReadWrite, opencl::kRegion, &region, &code);
  }
  ClPart owned(api(), part);
  if (Status s = status_of(code, "a part of a buffer"); !s.ok()) return s.error();
  return owned;
}

Status OpenClDevice::launch_code(const Code& any_code, const Signature& signature,
                                 const BoundLaunch& launch) {
  const auto& code = static_cast<const ClCode&>(any_code);
  std::vector<ClPart> parts;
  std::vector<std::pair<size_t, opencl::MemoryRef>> copies;  // to be written back
  opencl::Code result = 0;
  for (size_t k = 0; k < launch.arguments.size() && result == 0; ++k) {
    const BoundArgument& argument = launch.arguments[k];
    auto number = static_cast<uint32_t>(k);
    if (argument.kind == BoundArgument::Kind::Value) {
      result = api().set_argument(code.kernel, number, kernel::size_of(argument.value.type),
                                  &argument.value.bits);
      continue;
    }
    bool is_status = argument.kind == BoundArgument::Kind::Status;
    opencl::MemoryRef memory = memory_of(is_status ? *status_ : *argument.memory);
    if (!is_status && (argument.offset != 0 || argument.bytes == 0)) {
      bool is_copy = false;
      Result<ClPart> part = part_of(argument, is_copy);
      if (!part.ok()) return part.error();
      memory = part->get();
      if (is_copy && signature.params[k].mode != Mode::In) copies.emplace_back(k, memory);
      parts.push_back(std::move(*part));
    }
    // NOLINTNEXTLINE(bugprone-sizeof-expression): the argument is the handle itself
    result = api().set_argument(code.kernel, number, sizeof(memory), &memory);
  }
  size_t local = code.group;
  // The text runs tiles of kGridGroup threads, whatever the size of a work group.
  const uint64_t tile = uint64_t{render::kGridGroup} * signature.per_thread;
  uint64_t groups = signature.lanes != 0
                        ? launch.instances
                        : (launch.instances + tile - 1) / tile * (render::kGridGroup / local);
  size_t global = groups * local;
  if (result == 0) {
    result =
        api().launch(cl_->queue, code.kernel, 1, nullptr, &global, &local, 0, nullptr, nullptr);
  }
  for (auto& [k, memory] : copies) {
    if (result != 0) break;
    const BoundArgument& argument = launch.arguments[k];
    result = api().copy(cl_->queue, memory, memory_of(*argument.memory), 0, argument.offset,
                        argument.bytes, 0, nullptr, nullptr);
  }
  return status_of(result, fmt::format("launch of kernel {}", signature.kernel));
}

Status OpenClDevice::wait_for_all() { return status_of(api().finish(cl_->queue), "wait"); }

Result<DeviceBase::StatusWords> OpenClDevice::take_status() {
  StatusWords words;
  if (Status s = read_memory(*status_, 0, std::as_writable_bytes(std::span(words))); !s.ok()) {
    return s.error();
  }
  if (Status s = fill_memory(*status_, 0, sizeof(words), std::byte{0xff}); !s.ok()) {
    return s.error();
  }
  return words;
}

Result<std::unique_ptr<Event>> OpenClDevice::record_event() {
  auto event = std::make_unique<ClEvent>();
  event->cl = cl_;
  opencl::Code code = api().marker(cl_->queue, 0, nullptr, &event->event);
  if (Status s = status_of(code, "record an event"); !s.ok()) return s.error();
  return std::unique_ptr<Event>(std::move(event));
}

Result<double> OpenClDevice::seconds_between(const Event& from, const Event& to) {
  const auto* begin = dynamic_cast<const ClEvent*>(&from);
  const auto* end = dynamic_cast<const ClEvent*>(&to);
  if (begin == nullptr || end == nullptr || begin->cl != cl_ || end->cl != cl_) {
    return Error{"seconds_between: an event of another device", ""};
  }
  opencl::EventRef both[] = {begin->event, end->event};
  uint64_t times[2] = {0, 0};
  opencl::Code code = api().event_wait(2, both);
  for (int k = 0; k < 2 && code == 0; ++k) {
    code = api().event_time(both[k], opencl::kCommandEnd, sizeof(uint64_t), &times[k], nullptr);
  }
  if (Status s = status_of(code, "take a time"); !s.ok()) return s.error();
  return static_cast<double>(static_cast<int64_t>(times[1] - times[0])) * 1e-9;
}

// Why a device is of no use, or "".
std::string unfit(const Api& api, opencl::DeviceId device) {
  if (api.device_number(device, opencl::kDeviceAvailable) == 0) return "it is not available";
  if (api.device_number(device, opencl::kDeviceHasCompiler) == 0) return "it has no compiler";
  if (api.device_number(device, opencl::kDeviceLittleEndian) == 0) return "it is big endian";
  return "";
}

}  // namespace

std::string opencl_inexact(const kernel::Graph& graph, kernel::Id kernel, uint64_t float_config) {
  bool denormals = (float_config & opencl::kFloatDenormals) != 0;
  bool exact_division = (float_config & opencl::kFloatExactDivideSqrt) != 0;
  for (kernel::Id node : kernel::reachable(graph, kernel)) {
    Op op = graph.op(node);
    if (!kernel::is_arithmetic(op)) continue;
    bool is_f32 = graph.type(node) == Type::F32 || graph.type(graph.operand(node, 0)) == Type::F32;
    // Moving bits is exact everywhere.
    if (!is_f32 || op == Op::Bitcast || op == Op::Select) continue;
    if (!denormals) return "its f32 arithmetic flushes small numbers to zero (no CL_FP_DENORM)";
    if (!exact_division && (op == Op::Div || op == Op::Sqrt)) {
      return fmt::format(
          "its f32 {} is not correctly rounded "
          "(no CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT)",
          kernel::spelling(op));
    }
  }
  return "";
}

Result<int> count_opencl_devices() {
  Result<std::shared_ptr<const Api>> api = opencl::open_api();
  if (!api.ok()) return api.error();
  size_t count = opencl::find_devices(**api).size();
  if (count == 0) {
    return Error{"OpenCL finds no device",
                 "install a driver for the hardware, or the Debian package pocl-opencl-icd"};
  }
  return static_cast<int>(count);
}

Result<std::unique_ptr<Device>> open_opencl_device(int index, const OpenOptions& options) {
  Result<int> count = count_opencl_devices();
  if (!count.ok()) return count.error();
  if (index < 0 || index >= *count) {
    return Error{fmt::format("there is no opencl:{}: devices go from opencl:0 to opencl:{}", index,
                             *count - 1),
                 ""};
  }
  auto cl = std::make_shared<ClContext>();
  Result<std::shared_ptr<const Api>> opened = opencl::open_api();
  if (!opened.ok()) return opened.error();
  cl->api = *opened;
  const Api& api = *cl->api;
  opencl::Found found = opencl::find_devices(api)[static_cast<size_t>(index)];
  cl->device = found.device;
  if (std::string why = unfit(api, found.device); !why.empty()) {
    return Error{fmt::format("opencl:{} ({}) cannot be used: {}", index,
                             api.device_text(found.device, opencl::kDeviceName), why),
                 ""};
  }
  opencl::Code code = 0;
  cl->context = api.create_context(nullptr, 1, &cl->device, nullptr, nullptr, &code);
  if (code == 0) {
    cl->queue = api.create_queue(cl->context, cl->device, opencl::kQueueProfiling, &code);
  }
  if (code != 0) {
    return Error{fmt::format("opencl:{}: cannot be opened: {}", index, opencl::explain(code)), ""};
  }
  auto device = std::make_unique<OpenClDevice>(cl, index, options);
  if (Status s = device->prepare(); !s.ok()) return s.error();
  return std::unique_ptr<Device>(std::move(device));
}

}  // namespace xlog::device
