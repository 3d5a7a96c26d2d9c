#include "device/cuda_api.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <cstdlib>
#include <map>
#include <mutex>

namespace xlog::device::cuda {

namespace {

constexpr int kOldestDriver = 11000;
constexpr const char* kDefaultLibrary = "libcuda.so.1";

std::string version_text(int version) {
  return fmt::format("{}.{}", version / 1000, version % 1000 / 10);
}

Result<std::shared_ptr<const Api>> load(const std::string& path) {
  void* library = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    return Error{fmt::format("no CUDA: {}", ::dlerror()), "install NVIDIA's driver"};
  }
  auto api = std::make_shared<Api>();
  std::string missing;
  auto find = [&](const char* symbol, bool needed) {
    void* address = ::dlsym(library, symbol);
    if (address == nullptr && needed && missing.empty()) missing = symbol;
    return address;
  };
// NOLINTBEGIN(bugprone-macro-parentheses): lists of parameters
#define XLOG_CUDA_FIND(name, symbol, parameters) \
  api->name = reinterpret_cast<Code(*) parameters>(find(#symbol, true));
#define XLOG_CUDA_FIND_OPTIONAL(name, symbol, parameters) \
  api->name = reinterpret_cast<Code(*) parameters>(find(#symbol, false));
  // NOLINTEND(bugprone-macro-parentheses)
  XLOG_CUDA_FUNCTIONS(XLOG_CUDA_FIND)
  XLOG_CUDA_OPTIONAL_FUNCTIONS(XLOG_CUDA_FIND_OPTIONAL)
#undef XLOG_CUDA_FIND
#undef XLOG_CUDA_FIND_OPTIONAL

  // The version comes first: an old driver lacks functions, and its age is what to tell.
  if (api->driver_version != nullptr) api->driver_version(&api->version);
  if (api->version < kOldestDriver || !missing.empty()) {
    std::string lacks = missing.empty() ? "" : fmt::format(" and lacks {}", missing);
    return Error{fmt::format("the CUDA driver {} supports CUDA {}{}", path,
                             version_text(api->version), lacks),
                 fmt::format("install a driver for CUDA {} or newer", version_text(kOldestDriver))};
  }
  if (Code code = api->init(0); code != 0) {
    return Error{fmt::format("CUDA does not start: {}", api->explain(code)),
                 "see whether `nvidia-smi` finds the GPU"};
  }
  return std::shared_ptr<const Api>(api);
}

}  // namespace

std::string Api::explain(Code code) const {
  const char* name = nullptr;
  const char* text = nullptr;
  if (error_name == nullptr || error_name(code, &name) != 0 || name == nullptr) {
    return fmt::format("CUDA error {}", code);
  }
  if (error_string(code, &text) != 0 || text == nullptr) return name;
  return fmt::format("{} ({})", name, text);
}

Result<std::shared_ptr<const Api>> open_api(const std::string& path) {
  static std::mutex mutex;
  static std::map<std::string, std::shared_ptr<const Api>> opened;  // libraries are never closed
  std::string library = path;
  if (library.empty()) {
    const char* other = std::getenv("XLOG_CUDA_LIBRARY");
    library = other != nullptr && other[0] != '\0' ? other : kDefaultLibrary;
  }
  std::lock_guard lock(mutex);
  if (auto found = opened.find(library); found != opened.end()) return found->second;
  Result<std::shared_ptr<const Api>> api = load(library);
  if (api.ok()) opened.emplace(library, *api);
  return api;
}

bool is_fatal(Code code) {
  switch (code) {
    case 4:    // deinitialized
    case 46:   // device unavailable
    case 214:  // ECC uncorrectable
    case 220:  // NVLink uncorrectable
    case 700:  // illegal address
    case 702:  // launch timeout
    case 709:  // context is destroyed
    case 710:  // assert
    case 714:  // hardware stack error
    case 715:  // illegal instruction
    case 716:  // misaligned address
    case 717:  // invalid address space
    case 718:  // invalid program counter
    case 719:  // launch failed
    case 721:  // contained
    case 999:  // unknown
      return true;
    default:
      return false;
  }
}

}  // namespace xlog::device::cuda
