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

std::string to_string(const std::vector<std::byte>& bytes) {
  return std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size());
}

std::span<const std::byte> to_bytes(const std::string& text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

const kernel::Target* target_of(std::string_view renderer) {
  const render::Renderer* found = render::find_renderer(renderer);
  XLOG_CHECK(found != nullptr, "there is a renderer for the host");
  return &found->target;
}

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

// ---- cpu: machine code from LLVM ----

class LlvmCode : public HostCode {
 public:
  explicit LlvmCode(LoadedObject object) : object_(std::move(object)) {}
  void run(uint32_t lo, uint32_t hi, void* const* arguments) const override {
    object_.entry()(lo, hi, arguments);
  }

 private:
  LoadedObject object_;
};

class CpuDevice : public HostDevice {
 public:
  explicit CpuDevice(const OpenOptions& options)
      : HostDevice("cpu", "machine code through LLVM, which is opened for the first kernel",
                   target_of("llvm"), options) {}

 protected:
  Result<std::string> compiler() override { return llvm_version_for_cache(); }

  Result<CodeHandle> make_code(kernel::Graph& graph, kernel::Id kernel, const CacheKey& key,
                               Signature& signature) override {
    return cached_code(
        graph, kernel, key, signature,
        [&](const kernel::Lowered& lowered) -> Result<std::string> {
          Result<std::vector<std::byte>> object =
              llvm_to_object(render::find_renderer("llvm")->render(graph, lowered));
          if (!object.ok()) return object.error();
          return to_string(*object);
        },
        [](const std::string& object) -> Result<CodeHandle> {
          Result<LoadedObject> loaded = load_object(to_bytes(object));
          if (!loaded.ok()) return loaded.error();
          return CodeHandle(std::make_shared<LlvmCode>(*loaded));
        });
  }
};

// ---- c: machine code from the system's C compiler ----

class CCode : public HostCode {
 public:
  explicit CCode(LoadedC loaded) : loaded_(std::move(loaded)) {}
  void run(uint32_t lo, uint32_t hi, void* const* arguments) const override {
    loaded_.entry(lo, hi, arguments);
  }

 private:
  LoadedC loaded_;
};

class CDevice : public HostDevice {
 public:
  explicit CDevice(const OpenOptions& options)
      : HostDevice("c", "machine code through the system's C compiler", target_of("c"), options) {}

 protected:
  Result<std::string> compiler() override {
    if (compiler_.empty()) {
      Result<std::string> found = c_compiler();
      if (!found.ok()) return found;
      compiler_ = *found;
    }
    return compiler_;
  }

  Result<CodeHandle> make_code(kernel::Graph& graph, kernel::Id kernel, const CacheKey& key,
                               Signature& signature) override {
    return cached_code(
        graph, kernel, key, signature,
        [&](const kernel::Lowered& lowered) -> Result<std::string> {
          Result<std::vector<std::byte>> object =
              compile_c(render::find_renderer("c")->render(graph, lowered));
          if (!object.ok()) return object.error();
          return to_string(*object);
        },
        [](const std::string& object) -> Result<CodeHandle> {
          Result<LoadedC> loaded = load_c(to_bytes(object));
          if (!loaded.ok()) return loaded.error();
          return CodeHandle(std::make_shared<CCode>(*loaded));
        });
  }

 private:
  std::string compiler_;
};

}  // namespace

std::unique_ptr<Device> make_oracle_device(const OpenOptions& options) {
  return std::make_unique<OracleDevice>(options);
}
std::unique_ptr<Device> make_interp_device(const OpenOptions& options) {
  return std::make_unique<InterpDevice>(options);
}
std::unique_ptr<Device> make_cpu_device(const OpenOptions& options) {
  return std::make_unique<CpuDevice>(options);
}
std::unique_ptr<Device> make_c_device(const OpenOptions& options) {
  return std::make_unique<CDevice>(options);
}

}  // namespace xlog::device
