// The plain ways in which the host runs kernels: each device has one. The cpu, which changes
// between two of them, is in tiered_device.cc.
#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "device/host_code.h"
#include "kernel/text.h"
#include "kernel/verify.h"

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
    return CodeHandle(std::make_shared<InterpretedCode>(std::move(*chunked)));
  }
};

// ---- native and c: machine code, from LLVM or from the system's C compiler ----

class NativeDevice : public HostDevice {
 public:
  NativeDevice(const NativeCompiler& compiler, const OpenOptions& options)
      : HostDevice(std::string(compiler.device), std::string(compiler.software), &compiler.target(),
                   options),
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
        graph, kernel, *info_.target, key, signature,
        [&](const kernel::Lowered& lowered) { return compiler_.build(graph, lowered); },
        [&](const std::string& object) { return compiler_.load_bytes(object); });
  }

 private:
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
std::unique_ptr<Device> make_native_device(const OpenOptions& options) {
  return std::make_unique<NativeDevice>(llvm_compiler(), options);
}
std::unique_ptr<Device> make_c_device(const OpenOptions& options) {
  return std::make_unique<NativeDevice>(system_c_compiler(), options);
}

}  // namespace xlog::device
