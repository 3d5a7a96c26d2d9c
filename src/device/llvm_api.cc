#include "device/llvm_api.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <atomic>
#include <cstdlib>
#include <vector>

namespace xlog::device {

namespace {

constexpr const char* kLibrary = "libLLVM-16.so.1";
constexpr const char* kHelp = "install LLVM 16; on Debian and Ubuntu: apt-get install libllvm16";
#if defined(__aarch64__)
constexpr std::string_view kHost = "AArch64";
#else
constexpr std::string_view kHost = "X86";
#endif

// Where the system's loader looks first.
constexpr const char* kLibraryFolders[] = {"/lib/x86_64-linux-gnu/",
                                           "/usr/lib/x86_64-linux-gnu/",
                                           "/lib/aarch64-linux-gnu/",
                                           "/usr/lib/aarch64-linux-gnu/",
                                           "/lib64/",
                                           "/usr/lib64/"};

std::atomic<bool> is_open{false};

std::string library_name() {
  const char* other = std::getenv("XLOG_LLVM_LIBRARY");
  return other != nullptr && other[0] != '\0' ? other : kLibrary;
}

// A library without one of our targets was built for something else.
std::string register_target(void* library, std::string_view target) {
  for (std::string_view part : {"TargetInfo", "Target", "TargetMC", "AsmPrinter"}) {
    std::string name = fmt::format("LLVMInitialize{}{}", target, part);
    void* symbol = dlsym(library, name.c_str());
    if (symbol == nullptr) return name;
    reinterpret_cast<void (*)()>(symbol)();
  }
  return "";
}

}  // namespace

Result<LlvmApi> open_llvm(const std::string& library) {
  void* opened = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (opened == nullptr) return Error{fmt::format("cannot open LLVM: {}", dlerror()), kHelp};
  LlvmApi api;
  std::string missing;
  auto find = [&](const char* name, auto& function) {
    void* symbol = dlsym(opened, name);
    if (symbol == nullptr && missing.empty()) missing = name;
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(symbol);
  };
#define XLOG_LLVM_FUNCTION(result, name, parameters) find("LLVM" #name, api.name);
  XLOG_LLVM_FUNCTIONS(XLOG_LLVM_FUNCTION)
#undef XLOG_LLVM_FUNCTION
  for (std::string_view target : {kHost, std::string_view("NVPTX")}) {
    if (missing.empty()) missing = register_target(opened, target);
  }
  if (!missing.empty()) return Error{fmt::format("{} has no {}", library, missing), kHelp};
  return api;
}

Result<const LlvmApi*> llvm_api() {
  static const Result<LlvmApi> api = [] {
    Result<LlvmApi> opened = open_llvm(library_name());
    is_open = opened.ok();
    return opened;
  }();
  if (!api.ok()) return api.error();
  return &*api;
}

bool llvm_is_open() { return is_open; }

std::optional<std::string> llvm_library_file() {
  const std::string name = library_name();
  std::vector<std::string> candidates;
  if (name.find('/') != std::string::npos) {
    candidates.push_back(name);
  } else if (std::getenv("LD_LIBRARY_PATH") == nullptr) {
    for (const char* folder : kLibraryFolders) candidates.push_back(folder + name);
  }
  for (const std::string& path : candidates) {
    struct stat file {};
    if (stat(path.c_str(), &file) != 0) continue;
    return fmt::format("{} {} {}.{}", path, file.st_size, file.st_mtim.tv_sec,
                       file.st_mtim.tv_nsec);
  }
  return std::nullopt;
}

}  // namespace xlog::device
