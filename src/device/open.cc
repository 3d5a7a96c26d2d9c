// The names of devices, and which of them are here.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <string_view>

#include "device/cc_compile.h"
#include "device/cuda_device.h"
#include "device/device.h"
#include "device/host_device.h"
#include "device/llvm_compile.h"
#include "device/opencl_device.h"

namespace xlog::device {

namespace {

struct HostKind {
  std::string_view name;
  std::unique_ptr<Device> (*make)(const OpenOptions& options);
  Result<std::string> (*compiler)() = nullptr;  // nullptr: needs none
  bool interprets = false;                      // does without the compiler
};

constexpr HostKind kHostKinds[] = {
    {.name = "cpu",
     .make = make_cpu_device,
     .compiler = llvm_version_for_cache,
     .interprets = true},
    {.name = "native", .make = make_native_device, .compiler = llvm_version_for_cache},
    {.name = "c", .make = make_c_device, .compiler = c_compiler},
    {.name = "interp", .make = make_interp_device},
    {.name = "oracle", .make = make_oracle_device},
};

struct GpuKind {
  std::string_view name;
  Result<int> (*count)();
  Result<std::unique_ptr<Device>> (*open)(int index, const OpenOptions& options);
};

constexpr GpuKind kGpuKinds[] = {
    {"opencl", count_opencl_devices, open_opencl_device},
    {"cuda", [] { return count_cuda_devices(); },
     [](int index, const OpenOptions& options) { return open_cuda_device(index, options); }},
};

// "cuda" is 0, "cuda:3" is 3; nullopt: not of this kind or no number.
std::optional<int> index_of(std::string_view name, std::string_view kind) {
  if (name == kind) return 0;
  if (name.size() <= kind.size() + 1 || name.substr(0, kind.size()) != kind ||
      name[kind.size()] != ':') {
    return std::nullopt;
  }
  std::string_view digits = name.substr(kind.size() + 1);
  int index = 0;
  auto [end, problem] = std::from_chars(digits.data(), digits.data() + digits.size(), index);
  if (problem != std::errc() || end != digits.data() + digits.size() || index < 0) {
    return std::nullopt;
  }
  return index;
}

// Name and version of a compiler, without the options that follow.
std::string short_form(std::string_view compiler) {
  constexpr size_t kLongest = 60;
  std::string_view line = compiler.substr(0, compiler.find('\n'));
  if (line.size() <= kLongest) return std::string(line);
  return std::string(line.substr(0, line.rfind(' ', kLongest)));
}

}  // namespace

std::optional<Error> device_name_problem(const std::string& name) {
  const auto is_host = [&](const HostKind& kind) { return name == kind.name; };
  const auto is_gpu = [&](std::string_view kind) { return index_of(name, kind).has_value(); };
  if (name == "auto" || is_gpu("nvrtc") || std::ranges::any_of(kHostKinds, is_host) ||
      std::ranges::any_of(kGpuKinds, is_gpu, &GpuKind::name)) {
    return std::nullopt;
  }
  return Error{
      fmt::format("there is no device `{}`", name),
      "devices are auto, cpu, native, c, interp, oracle, opencl, cuda, nvrtc; a number chooses "
      "among several: cuda:1"};
}

Result<std::unique_ptr<Device>> open_device(const std::string& name, const OpenOptions& options) {
  if (std::optional<Error> problem = device_name_problem(name)) return *problem;
  for (const HostKind& kind : kHostKinds) {
    if (name == kind.name || (name == "auto" && kind.name == "cpu")) return kind.make(options);
  }
  for (const GpuKind& kind : kGpuKinds) {
    if (std::optional<int> index = index_of(name, kind.name)) return kind.open(*index, options);
  }
  // The same GPUs, with the other compiler.
  OpenOptions with_nvrtc = options;
  with_nvrtc.use_nvrtc = true;
  return open_cuda_device(*index_of(name, "nvrtc"), with_nvrtc);
}

std::vector<DeviceListing> list_devices() {
  std::vector<DeviceListing> all;
  // A listing leaves no trace on the disk.
  OpenOptions options;
  options.cache_folder = "none";
  for (const HostKind& kind : kHostKinds) {
    DeviceListing& entry = all.emplace_back();
    entry.name = kind.name;
    entry.info = kind.make(options)->info();
    if (kind.compiler == nullptr) continue;
    Result<std::string> compiler = kind.compiler();
    if (kind.interprets) {
      entry.info->software = compiler.ok()
                                 ? fmt::format("interpreter, then {}", short_form(*compiler))
                                 : fmt::format("interpreter alone: {}", compiler.error().text());
    } else if (compiler.ok()) {
      entry.info->software = short_form(*compiler);
    } else {
      entry.info.reset();
      entry.problem = compiler.error().text();
    }
  }
  for (const GpuKind& kind : kGpuKinds) {
    Result<int> count = kind.count();
    if (!count.ok()) {
      all.push_back({std::string(kind.name), std::nullopt, count.error().text()});
      continue;
    }
    for (int index = 0; index < *count; ++index) {
      DeviceListing& entry = all.emplace_back();
      entry.name = fmt::format("{}:{}", kind.name, index);
      Result<std::unique_ptr<Device>> device = kind.open(index, options);
      if (device.ok()) {
        entry.info = (*device)->info();
        entry.info->target = nullptr;  // it may be the device's own
      } else {
        entry.problem = device.error().text();
      }
    }
  }
  return all;
}

}  // namespace xlog::device
