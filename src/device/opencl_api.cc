#include "device/opencl_api.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <mutex>

namespace xlog::device::opencl {

namespace {

constexpr const char* kDefaultLibrary = "libOpenCL.so.1";

Result<std::shared_ptr<const Api>> load(const std::string& path) {
  void* library = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    return Error{fmt::format("no OpenCL: {}", ::dlerror()),
                 "install an OpenCL loader and a driver, for example the Debian packages "
                 "ocl-icd-libopencl1 and pocl-opencl-icd"};
  }
  auto api = std::make_shared<Api>();
// NOLINTNEXTLINE(bugprone-macro-parentheses): a list of parameters
#define XLOG_OPENCL_FIND(name, symbol, result, parameters)                                  \
  api->name = reinterpret_cast<result(*) parameters>(::dlsym(library, #symbol));            \
  if (api->name == nullptr) {                                                               \
    return Error{fmt::format("{} lacks {}", path, #symbol), "install OpenCL 1.2 or newer"}; \
  }
  XLOG_OPENCL_FUNCTIONS(XLOG_OPENCL_FIND)
#undef XLOG_OPENCL_FIND
  return std::shared_ptr<const Api>(api);
}

}  // namespace

std::string Api::device_text(DeviceId device, uint32_t what) const {
  size_t size = 0;
  if (device_info(device, what, 0, nullptr, &size) != 0 || size == 0) return "";
  std::string text(size, '\0');
  if (device_info(device, what, size, text.data(), nullptr) != 0) return "";
  text.resize(text.find('\0') == std::string::npos ? size : text.find('\0'));
  return text;
}

uint64_t Api::device_number(DeviceId device, uint32_t what) const {
  uint64_t value = 0;
  if (device_info(device, what, sizeof(value), &value, nullptr) != 0) return 0;
  return value;
}

Result<std::shared_ptr<const Api>> open_api() {
  static std::mutex mutex;
  static std::map<std::string, std::shared_ptr<const Api>> opened;  // libraries are never closed
  const char* other = std::getenv("XLOG_OPENCL_LIBRARY");
  std::string library = other != nullptr && other[0] != '\0' ? other : kDefaultLibrary;
  std::lock_guard lock(mutex);
  if (auto found = opened.find(library); found != opened.end()) return found->second;
  Result<std::shared_ptr<const Api>> api = load(library);
  if (api.ok()) opened.emplace(library, *api);
  return api;
}

std::vector<Found> find_devices(const Api& api) {
  std::vector<Found> found;
  uint32_t platforms = 0;
  if (api.platforms(0, nullptr, &platforms) != 0 || platforms == 0) return found;
  std::vector<Platform> list(platforms);
  if (api.platforms(platforms, list.data(), nullptr) != 0) return found;
  for (Platform platform : list) {
    uint32_t count = 0;
    if (api.devices(platform, kDeviceTypeAll, 0, nullptr, &count) != 0 || count == 0) continue;
    std::vector<DeviceId> devices(count);
    if (api.devices(platform, kDeviceTypeAll, count, devices.data(), nullptr) != 0) continue;
    for (DeviceId device : devices) {
      found.push_back({platform, device, api.device_number(device, kDeviceType)});
    }
  }
  order_devices(found);
  return found;
}

void order_devices(std::vector<Found>& devices) {
  // A device may have several types; the best one counts.
  auto rank = [](const Found& found) {
    if ((found.type & kDeviceTypeGpu) != 0) return 0;
    if ((found.type & kDeviceTypeAccelerator) != 0) return 1;
    return 2;
  };
  std::ranges::stable_sort(devices, {}, rank);
}

std::string explain(Code code) {
  static const std::map<Code, const char*> names = {
      {-1, "CL_DEVICE_NOT_FOUND"},
      {-2, "CL_DEVICE_NOT_AVAILABLE"},
      {-3, "CL_COMPILER_NOT_AVAILABLE"},
      {-4, "CL_MEM_OBJECT_ALLOCATION_FAILURE"},
      {-5, "CL_OUT_OF_RESOURCES"},
      {-6, "CL_OUT_OF_HOST_MEMORY"},
      {-7, "CL_PROFILING_INFO_NOT_AVAILABLE"},
      {-11, "CL_BUILD_PROGRAM_FAILURE"},
      {-13, "CL_MISALIGNED_SUB_BUFFER_OFFSET"},
      {-14, "CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST"},
      {-30, "CL_INVALID_VALUE"},
      {-33, "CL_INVALID_DEVICE"},
      {-34, "CL_INVALID_CONTEXT"},
      {-36, "CL_INVALID_COMMAND_QUEUE"},
      {-38, "CL_INVALID_MEM_OBJECT"},
      {-42, "CL_INVALID_BINARY"},
      {-43, "CL_INVALID_BUILD_OPTIONS"},
      {-44, "CL_INVALID_PROGRAM"},
      {-45, "CL_INVALID_PROGRAM_EXECUTABLE"},
      {-46, "CL_INVALID_KERNEL_NAME"},
      {-48, "CL_INVALID_KERNEL"},
      {-49, "CL_INVALID_ARG_INDEX"},
      {-50, "CL_INVALID_ARG_VALUE"},
      {-51, "CL_INVALID_ARG_SIZE"},
      {-52, "CL_INVALID_KERNEL_ARGS"},
      {-53, "CL_INVALID_WORK_DIMENSION"},
      {-54, "CL_INVALID_WORK_GROUP_SIZE"},
      {-55, "CL_INVALID_WORK_ITEM_SIZE"},
      {-61, "CL_INVALID_BUFFER_SIZE"},
      {-63, "CL_INVALID_GLOBAL_WORK_SIZE"},
  };
  auto name = names.find(code);
  return name == names.end() ? fmt::format("OpenCL error {}", code)
                             : fmt::format("{} ({})", name->second, code);
}

}  // namespace xlog::device::opencl
