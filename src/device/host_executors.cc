// The four ways in which the host runs kernels.
#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "device/cc_compile.h"
#include "device/host_device.h"
#include "device/llvm_compile.h"
#include "kernel/text.h"
#include "kernel/verify.h"
#include "render/chunked.h"
#include "render/renderer.h"

namespace xlog::device {

namespace {

// ---- oracle: runs the kernel as it was written, and checks every promise ----

class OracleCode : public Code {
 public:
  kernel::Graph graph;  // the caller's may go
  kernel::Id kernel;
};

class OracleDevice : public HostDevice {
 public:
  explicit OracleDevice(const OpenOptions& options)
      : HostDevice("oracle", "the reference interpreter, which checks every access", nullptr,
                   options) {}

 protected:
  Result<std::string> compiler() override { return std::string("oracle"); }

  Result<CodeHandle> make_code(kernel::Graph& graph, kernel::Id kernel, const CacheKey&,
                               Signature& signature) override {
    std::vector<kernel::Problem> problems = kernel::verify(graph, kernel, kernel::Spec::Kernel);
    if (!problems.empty()) {
      return Error{fmt::format("kernel {} is not well formed: {}", signature.kernel,
                               problems.front().message),
                   ""};
    }
    auto code = std::make_shared<OracleCode>();
    Result<std::vector<kernel::Id>> copied =
        kernel::parse(code->graph, kernel::print(graph, kernel), signature.kernel);
    XLOG_CHECK(copied.ok() && copied->size() == 1, "a printed kernel is read back");
    code->kernel = copied->front();
    return CodeHandle(code);
  }

  Status launch_code(const Code& code, const Signature&, const BoundLaunch& launch) override {
    const auto& oracle = static_cast<const OracleCode&>(code);
    std::vector<kernel::Argument> arguments;
    for (const BoundArgument& argument : launch.arguments) {
      if (argument.kind == BoundArgument::Kind::Value) {
        arguments.emplace_back(argument.value);
      } else {
        arguments.emplace_back(
            kernel::HostBuffer{address(*argument.memory, argument.offset), argument.bytes});
      }
    }
    Result<kernel::OracleReport> report =
        kernel::run_oracle(oracle.graph, oracle.kernel, arguments);
    if (!report.ok()) return report.error();
    if (report->failure) {
      uint32_t& word = status_[report->failure->code];
      word = std::min(word, report->failure->instance);
    }
    return Done{};
  }
};

// ---- interp: the chunked interpreter; nothing is compiled ----

class InterpCode : public HostCode {
 public:
  explicit InterpCode(render::ChunkedKernel kernel) : kernel_(std::move(kernel)) {}
  void run(uint32_t lo, uint32_t hi, void* const* arguments) const override {
    kernel_.run(lo, hi, arguments);
  }

 private:
  render::ChunkedKernel kernel_;
};

class InterpDevice : public HostDevice {
 public:
  explicit InterpDevice(const OpenOptions& options)
      : HostDevice("interp", "interpreter over chunks of instances", &render::kChunked, options) {}

 protected:
  Result<std::string> compiler() override { return std::string("interp"); }

  Result<CodeHandle> make_code(kernel::Graph& graph, kernel::Id kernel, const CacheKey&,
                               Signature& signature) override {
    Result<kernel::Lowered> lowered = kernel::lower(graph, kernel, *info_.target);
    if (!lowered.ok()) return lowered.error();
    signature.hidden = lowered->hidden;
    Result<render::ChunkedKernel> chunked = render::ChunkedKernel::compile(graph, *lowered);
    if (!chunked.ok()) return chunked.error();
    return CodeHandle(std::make_shared<InterpCode>(std::move(*chunked)));
  }
};

// ---- cpu and c: machine code, from LLVM or from the system's C compiler ----

class NativeCode : public HostCode {
 public:
  NativeCode(RangeFunction entry, std::shared_ptr<const void> library)
      : entry_(entry), library_(std::move(library)) {}
  void run(uint32_t lo, uint32_t hi, void* const* arguments) const override {
    entry_(lo, hi, arguments);
  }

 private:
  RangeFunction entry_;
  std::shared_ptr<const void> library_;  // where the entry lies
};

// All in which the two devices differ.
struct NativeCompiler {
  const char* device;
  const char* software;
  std::string_view renderer;
  Result<std::string> (*version)();
  Result<std::vector<std::byte>> (*compile)(std::string_view text);
  Result<CodeHandle> (*load)(std::span<const std::byte> object);
};

constexpr NativeCompiler kLlvm = {
    .device = "cpu",
    .software = "machine code through LLVM, which is opened for the first kernel",
    .renderer = "llvm",
    .version = llvm_version_for_cache,
    .compile = llvm_to_object,
    .load = [](std::span<const std::byte> object) -> Result<CodeHandle> {
      Result<LoadedObject> loaded = load_object(object);
      if (!loaded.ok()) return loaded.error();
      return CodeHandle(
          std::make_shared<NativeCode>(loaded->entry(), std::make_shared<LoadedObject>(*loaded)));
    },
};

constexpr NativeCompiler kSystemC = {
    .device = "c",
    .software = "machine code through the system's C compiler",
    .renderer = "c",
    .version = c_compiler,
    .compile = compile_c,
    .load = [](std::span<const std::byte> object) -> Result<CodeHandle> {
      Result<LoadedC> loaded = load_c(object);
      if (!loaded.ok()) return loaded.error();
      return CodeHandle(std::make_shared<NativeCode>(loaded->entry, loaded->library));
    },
};

class NativeDevice : public HostDevice {
 public:
  NativeDevice(const NativeCompiler& compiler, const OpenOptions& options)
      : HostDevice(compiler.device, compiler.software, &renderer_of(compiler).target, options),
        compiler_(compiler) {}

 protected:
  Result<std::string> compiler() override {
    if (version_.empty()) {
      Result<std::string> found = compiler_.version();
      if (!found.ok()) return found;
      version_ = *found;
    }
    return version_;
  }

  Result<CodeHandle> make_code(kernel::Graph& graph, kernel::Id kernel, const CacheKey& key,
                               Signature& signature) override {
    return cached_code(
        graph, kernel, key, signature,
        [&](const kernel::Lowered& lowered) -> Result<std::string> {
          Result<std::vector<std::byte>> object =
              compiler_.compile(renderer_of(compiler_).render(graph, lowered));
          if (!object.ok()) return object.error();
          return std::string(reinterpret_cast<const char*>(object->data()), object->size());
        },
        [&](const std::string& object) {
          return compiler_.load(std::as_bytes(std::span(object.data(), object.size())));
        });
  }

 private:
  static const render::Renderer& renderer_of(const NativeCompiler& compiler) {
    const render::Renderer* found = render::find_renderer(compiler.renderer);
    XLOG_CHECK(found != nullptr, "there is a renderer for the host");
    return *found;
  }

  const NativeCompiler& compiler_;
  std::string version_;  // asking the C compiler starts a process
};

}  // namespace

std::unique_ptr<Device> make_oracle_device(const OpenOptions& options) {
  return std::make_unique<OracleDevice>(options);
}
std::unique_ptr<Device> make_interp_device(const OpenOptions& options) {
  return std::make_unique<InterpDevice>(options);
}
std::unique_ptr<Device> make_cpu_device(const OpenOptions& options) {
  return std::make_unique<NativeDevice>(kLlvm, options);
}
std::unique_ptr<Device> make_c_device(const OpenOptions& options) {
  return std::make_unique<NativeDevice>(kSystemC, options);
}

}  // namespace xlog::device
