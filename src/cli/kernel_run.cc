// xlog kernel run: a kernel on one or several devices, with arguments from the command line.
#include <fmt/format.h>
#include <xxhash.h>

#include <CLI/App.hpp>
#include <nlohmann/json.hpp>

#include "cli/kernel.h"
#include "cli/kernel_input.h"
#include "cli/terminal.h"
#include "device/device.h"
#include "device/plan_runner.h"
#include "device/record.h"

namespace xlog::cli {
namespace {

struct KernelRunOptions {
  std::string file, kernel;
  std::vector<std::string> devices = {"cpu"};
  std::vector<std::string> arguments;
  uint32_t threads = 0;
  uint64_t seed = 1;
  uint64_t show = 16;
  bool json = false;
  std::string record;  // path of a log, or ""
  int record_level = 3;
};

struct KernelRun {
  std::string device;
  std::vector<HostArgument> arguments;  // as they stand afterwards
  std::optional<device::CheckFailure> failure;
};

std::string digest(const std::vector<std::byte>& bytes) {
  const XXH128_hash_t hash = XXH3_128bits(bytes.data(), bytes.size());
  return fmt::format("{:016x}{:016x}", hash.high64, hash.low64);
}

Result<std::unique_ptr<device::Device>> open_to_run(const std::string& name,
                                                    const KernelRunOptions& options) {
  auto device = device::open_device(name, {.threads = options.threads});
  if (!device.ok() || options.record.empty()) return device;
  return device::record_device(
      std::move(*device),
      {.path = options.record, .level = static_cast<device::RecordLevel>(options.record_level)});
}

Result<KernelRun> run_on(const std::string& name, const KernelRunOptions& options, KernelFile& file,
                         std::vector<HostArgument> arguments) {
  auto device = open_to_run(name, options);
  if (!device.ok()) return device.error();
  Result<device::KernelHandle> kernel = (*device)->compile(file.graph, file.kernel);
  if (!kernel.ok()) return kernel.error();
  Result<std::vector<device::Argument>> uploaded = upload(**device, arguments);
  if (!uploaded.ok()) return uploaded.error();
  Status launched = (*device)->launch(*kernel, *uploaded);
  if (!launched.ok()) return launched.error();
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (!arguments[i].is_written()) continue;
    Status read = (*device)->read(std::get<device::View>((*uploaded)[i]), arguments[i].bytes);
    if (!read.ok()) return read.error();
  }
  auto failure = (*device)->checks();
  if (!failure.ok()) return failure.error();
  return KernelRun{name, std::move(arguments), *failure};
}

// What a plan yields comes back as buffers of their own, named by position.
Result<KernelRun> run_plan_on(const std::string& name, const KernelRunOptions& options,
                              KernelFile& file, const std::vector<HostArgument>& arguments) {
  auto device = open_to_run(name, options);
  if (!device.ok()) return device.error();
  auto runner = device::PlanRunner::make(**device, file.graph, file.kernel);
  if (!runner.ok()) return runner.error();
  std::vector<device::PlanValue> values;
  for (const HostArgument& argument : arguments) {
    if (argument.mode == kernel::Mode::Val) {
      values.emplace_back(argument.scalar);
      continue;
    }
    Result<device::Column> column = device::upload(**device, argument.type, argument.bytes);
    if (!column.ok()) return column.error();
    values.emplace_back(*column);
  }
  Result<std::vector<device::PlanValue>> results = runner->run(values);
  if (!results.ok()) return results.error();
  KernelRun run{name, {}, std::nullopt};
  for (const device::PlanValue& value : *results) {
    HostArgument result;
    result.name = fmt::format("result{}", run.arguments.size());
    result.mode = kernel::Mode::Out;
    if (const auto* scalar = std::get_if<kernel::Scalar>(&value)) {
      result.type = scalar->type;
      result.bytes.resize(kernel::size_of(scalar->type));
      kernel::store_scalar(*scalar, result.bytes.data());
    } else {
      const auto& column = std::get<device::Column>(value);
      Result<std::vector<std::byte>> bytes = device::download(**device, column);
      if (!bytes.ok()) return bytes.error();
      result.type = column.type;
      result.bytes = std::move(*bytes);
    }
    run.arguments.push_back(std::move(result));
  }
  return run;
}

void print_run(const KernelRun& run, const KernelRunOptions& options) {
  if (options.json) {
    nlohmann::ordered_json object;
    object["device"] = run.device;
    for (const HostArgument& argument : run.arguments) {
      if (!argument.is_written()) continue;
      object["buffers"][argument.name] = {{"type", kernel::spelling(argument.type)},
                                          {"elements", argument.elements()},
                                          {"digest", digest(argument.bytes)},
                                          {"first", elements_text(argument, options.show)}};
    }
    if (run.failure) {
      object["check"] = {{"code", run.failure->code}, {"instance", run.failure->instance}};
    }
    fmt::print("{}\n", object.dump());
    return;
  }
  fmt::print("{}\n", run.device);
  for (const HostArgument& argument : run.arguments) {
    if (!argument.is_written()) continue;
    fmt::print("  {}: {}[{}] = {}\n    digest {}\n", argument.name, kernel::spelling(argument.type),
               argument.elements(), elements_text(argument, options.show), digest(argument.bytes));
  }
  if (run.failure) {
    fmt::print("  check {} failed, first in instance {}\n", run.failure->code,
               run.failure->instance);
  }
}

// The first cell in which two runs differ, or "".
std::string first_difference(const KernelRun& a, const KernelRun& b) {
  for (size_t k = 0; k < a.arguments.size(); ++k) {
    const HostArgument &x = a.arguments[k], &y = b.arguments[k];
    if (x.elements() != y.elements()) {
      return fmt::format("{} has {} elements on {} and {} on {}", x.name, x.elements(), a.device,
                         y.elements(), b.device);
    }
    const uint32_t size = kernel::size_of(x.type);
    for (uint64_t i = 0; i < x.elements(); ++i) {
      const auto* left = x.bytes.data() + i * size;
      const auto* right = y.bytes.data() + i * size;
      if (std::equal(left, left + size, right)) continue;
      return fmt::format("{}[{}] is {} on {} and {} on {}", x.name, i,
                         kernel::to_text(kernel::load_scalar(x.type, left)), a.device,
                         kernel::to_text(kernel::load_scalar(y.type, right)), b.device);
    }
  }
  if (a.failure.has_value() != b.failure.has_value() ||
      (a.failure &&
       (a.failure->code != b.failure->code || a.failure->instance != b.failure->instance))) {
    return fmt::format("{} and {} report different checks", a.device, b.device);
  }
  return "";
}

int run_kernel(const KernelRunOptions& options) {
  if (!options.record.empty() && options.devices.size() != 1) {
    return kernel_error("run", {"a recording is of one device, several were given",
                                "record on one of them, then `xlog kernel replay` on the others"});
  }
  Result<KernelFile> file = read_kernel(options.file, options.kernel);
  if (!file.ok()) return kernel_error("run", file.error());
  const bool is_plan = file->graph.op(file->kernel) == kernel::Op::Plan;
  Result<std::vector<HostArgument>> arguments =
      read_arguments(file->graph, file->kernel, options.arguments, options.seed);
  if (!arguments.ok()) return kernel_error("run", arguments.error());
  std::vector<KernelRun> runs;
  for (const std::string& name : options.devices) {
    Result<KernelRun> run = is_plan ? run_plan_on(name, options, *file, *arguments)
                                    : run_on(name, options, *file, *arguments);
    if (!run.ok()) return kernel_error("run", run.error());
    print_run(*run, options);
    runs.push_back(std::move(*run));
  }
  for (size_t i = 1; i < runs.size(); ++i) {
    const std::string difference = first_difference(runs[0], runs[i]);
    if (!difference.empty())
      return kernel_error("run", {"the devices disagree: " + difference, ""});
  }
  const bool failed = !runs.empty() && runs.front().failure.has_value();
  return failed ? kProgramError : kAnswered;
}

}  // namespace

void add_kernel_run(CLI::App& kernel, int& exit_code) {
  CLI::App* command = kernel.add_subcommand("run", "Run a kernel or plan and show what it wrote");
  auto options = std::make_shared<KernelRunOptions>();
  add_kernel_choice(*command, options->file, options->kernel);
  command->add_option("-a,--arg", options->arguments, "A parameter's value, NAME=VALUE")
      ->type_name("NAME=VALUE")
      ->allow_extra_args(false);
  command
      ->add_option("-d,--device", options->devices,
                   "Where to run it; several are compared bit by bit (default cpu)")
      ->type_name("DEVICE")
      ->delimiter(',')
      ->allow_extra_args(false);
  command->add_option("--threads", options->threads, "Threads of the cpu (default: all cores)")
      ->type_name("N");
  command->add_option("--seed", options->seed, "For random arguments (default 1)")->type_name("N");
  command->add_option("--show", options->show, "Elements shown of a buffer (default 16)")
      ->type_name("N");
  command->add_flag("--json", options->json, "One JSON object a device");
  command
      ->add_option("--record", options->record,
                   "Write down every call, for `xlog kernel replay` on another device")
      ->type_name("LOG");
  command
      ->add_option("--record-level", options->record_level,
                   "1: calls, 2: and digests of results, 3: and their bytes (default 3)")
      ->check(CLI::Range(1, 3))
      ->type_name("N");
  command->footer(
      R"(Values: n=8, x=1,2,3, x=iota:100, x=random:1000, x=random:1000:50 (below 50), y=zero:8,
x=@column.bin (raw bytes). Devices: see `xlog kernel devices`. The
oracle checks every index and every promise of a kernel; the others trust it.

Examples:
  xlog kernel run hash.ir bucket -a n=4 -a mask=7 -a key=1,2,3,4 -a out=zero:4
  xlog kernel run hash.ir bucket -a n=1000 ... -d oracle,interp,cpu,opencl
  xlog kernel run tests/kernel/plans.ir join -a left=random:100:9 -a right=iota:9 -d oracle,cpu
  xlog kernel run hash.ir bucket -a n=1000 ... -d opencl --record run.log)");
  command->callback([options, &exit_code] {
    exit_code = run_kernel(*options);
    if (!flush_stdout()) exit_code = kProgramError;
  });
}

}  // namespace xlog::cli
