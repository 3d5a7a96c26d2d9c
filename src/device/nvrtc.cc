#include "device/nvrtc.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <iterator>

namespace xlog::device {

namespace {

// The part of nvrtc.h that is used; 0 is success.
using Program = void*;

struct Nvrtc {
  int (*nvrtcVersion)(int* major, int* minor) = nullptr;
  const char* (*nvrtcGetErrorString)(int result) = nullptr;
  int (*nvrtcCreateProgram)(Program* program, const char* source, const char* name, int headers,
                            const char* const* header_texts,
                            const char* const* header_names) = nullptr;
  int (*nvrtcDestroyProgram)(Program* program) = nullptr;
  int (*nvrtcCompileProgram)(Program program, int options, const char* const* texts) = nullptr;
  int (*nvrtcGetProgramLogSize)(Program program, size_t* size) = nullptr;
  int (*nvrtcGetProgramLog)(Program program, char* log) = nullptr;
  int (*nvrtcGetPTXSize)(Program program, size_t* size) = nullptr;
  int (*nvrtcGetPTX)(Program program, char* ptx) = nullptr;
};

constexpr const char* kLibraries[] = {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so",
                                      "/usr/local/cuda/lib64/libnvrtc.so"};

template <typename Function>
bool find(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  return function != nullptr;
}

// Opened once and kept: the library starts threads of its own and is not made to be unloaded.
Result<Nvrtc> open_library() {
  void* library = nullptr;
  for (const char* name : kLibraries) {
    library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (library != nullptr) break;
  }
  if (library == nullptr) {
    return Error{
        "NVRTC is not here (libnvrtc.so.13, libnvrtc.so.12, /usr/local/cuda/lib64)",
        "install the CUDA toolkit's run-time compiler; the device `cuda` works without it"};
  }
  Nvrtc api;
#define XLOG_FIND(name)                                                         \
  if (!find(library, #name, api.name)) {                                        \
    return Error{"the NVRTC library lacks " #name, "install CUDA 12 or later"}; \
  }
  XLOG_FIND(nvrtcVersion)
  XLOG_FIND(nvrtcGetErrorString)
  XLOG_FIND(nvrtcCreateProgram)
  XLOG_FIND(nvrtcDestroyProgram)
  XLOG_FIND(nvrtcCompileProgram)
  XLOG_FIND(nvrtcGetProgramLogSize)
  XLOG_FIND(nvrtcGetProgramLog)
  XLOG_FIND(nvrtcGetPTXSize)
  XLOG_FIND(nvrtcGetPTX)
#undef XLOG_FIND
  return api;
}

const Result<Nvrtc>& nvrtc() {
  static const Result<Nvrtc> api = open_library();
  return api;
}

Error failed(const Nvrtc& api, std::string_view step, int result, std::string_view log = "") {
  return {fmt::format("NVRTC: {} failed: {}{}{}", step, api.nvrtcGetErrorString(result),
                      log.empty() ? "" : "\n", log),
          ""};
}

std::string log_of(const Nvrtc& api, Program program) {
  size_t size = 0;
  if (api.nvrtcGetProgramLogSize(program, &size) != 0 || size < 2) return "";
  std::string log(size, '\0');
  if (api.nvrtcGetProgramLog(program, log.data()) != 0) return "";
  log.pop_back();  // the terminating zero
  return log.substr(0, 2000);
}

Result<std::string> compile(const Nvrtc& api, Program program, std::string_view arch) {
  const std::string target = fmt::format("-arch={}", arch);
  const char* const options[] = {target.c_str(), "--fmad=false", "--ftz=false", "--prec-div=true",
                                 "--prec-sqrt=true"};
  int result = api.nvrtcCompileProgram(program, static_cast<int>(std::size(options)), options);
  if (result != 0) return failed(api, "compiling a kernel", result, log_of(api, program));
  size_t size = 0;
  result = api.nvrtcGetPTXSize(program, &size);
  if (result != 0) return failed(api, "asking for PTX", result);
  std::string ptx(size, '\0');
  result = api.nvrtcGetPTX(program, ptx.data());
  if (result != 0) return failed(api, "reading PTX", result);
  if (!ptx.empty() && ptx.back() == '\0') ptx.pop_back();
  return ptx;
}

}  // namespace

Result<std::string> nvrtc_version() {
  const Result<Nvrtc>& api = nvrtc();
  if (!api.ok()) return api.error();
  int major = 0, minor = 0;
  const int result = (*api).nvrtcVersion(&major, &minor);
  if (result != 0) return failed(*api, "asking for the version", result);
  return fmt::format("NVRTC {}.{}", major, minor);
}

Result<std::string> nvrtc_to_ptx(const std::string& source, std::string_view arch) {
  const Result<Nvrtc>& api = nvrtc();
  if (!api.ok()) return api.error();
  Program program = nullptr;
  const int result =
      (*api).nvrtcCreateProgram(&program, source.c_str(), "kernel.cu", 0, nullptr, nullptr);
  if (result != 0) return failed(*api, "taking the source", result);
  Result<std::string> ptx = compile(*api, program, arch);
  (*api).nvrtcDestroyProgram(&program);
  return ptx;
}

}  // namespace xlog::device
