// xlog kernel bench: how long a kernel takes on each device, measured side by side.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "cli/kernel.h"
#include "cli/kernel_input.h"
#include "cli/terminal.h"

namespace xlog::cli {
namespace {

struct KernelBenchOptions {
  std::string file, kernel;
  std::vector<std::string> devices = {"interp", "native"};
  std::vector<std::string> arguments;
  uint32_t threads = 0;
  uint32_t repeat = 20;
  uint64_t seed = 1;
};

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

struct Bench {
  std::string name;
  std::unique_ptr<device::Device> device;
  device::KernelHandle kernel;
  std::vector<device::Argument> arguments;
  double compile_seconds = 0;
  std::vector<double> seconds;
};

Result<Bench> prepare(const std::string& name, const KernelBenchOptions& options, KernelFile& file,
                      const std::vector<HostArgument>& arguments) {
  Bench bench{name, nullptr, nullptr, {}, 0, {}};
  auto device = device::open_device(name, {.threads = options.threads, .cache_folder = "none"});
  if (!device.ok()) return device.error();
  bench.device = std::move(*device);
  const auto start = std::chrono::steady_clock::now();
  Result<device::KernelHandle> kernel = bench.device->compile(file.graph, file.kernel);
  if (!kernel.ok()) return kernel.error();
  bench.compile_seconds = seconds_since(start);
  bench.kernel = *kernel;
  auto uploaded = upload(*bench.device, arguments);
  if (!uploaded.ok()) return uploaded.error();
  bench.arguments = std::move(*uploaded);
  return bench;
}

Status measure(Bench& bench) {
  const auto start = std::chrono::steady_clock::now();
  Status launched = bench.device->launch(bench.kernel, bench.arguments);
  if (!launched.ok()) return launched;
  Status done = bench.device->wait();
  if (!done.ok()) return done;
  bench.seconds.push_back(seconds_since(start));
  return Done{};
}

int bench_kernel(const KernelBenchOptions& options) {
  Result<KernelFile> file = read_kernel(options.file, options.kernel);
  if (!file.ok()) return kernel_error("bench", file.error());
  if (file->graph.op(file->kernel) == kernel::Op::Plan) {
    return kernel_error("bench", {"this is a plan, and `bench` takes a kernel", ""});
  }
  auto arguments = read_arguments(file->graph, file->kernel, options.arguments, options.seed);
  if (!arguments.ok()) return kernel_error("bench", arguments.error());
  uint64_t bytes = 0;
  for (const HostArgument& argument : *arguments) bytes += argument.bytes.size();

  std::vector<Bench> benches;
  for (const std::string& name : options.devices) {
    Result<Bench> bench = prepare(name, options, *file, *arguments);
    if (!bench.ok()) return kernel_error("bench", bench.error());
    benches.push_back(std::move(*bench));
  }
  // Repetitions take turns, so that a slow moment of the machine meets all devices.
  for (uint32_t r = 0; r <= options.repeat; ++r) {
    for (Bench& bench : benches) {
      Status measured = measure(bench);
      if (!measured.ok()) return kernel_error("bench", measured.error());
      if (r == 0) bench.seconds.clear();  // the first one warms up
    }
  }
  fmt::print("{:<12} {:>12} {:>12} {:>12} {:>10} {:>8}\n", "device", "compile ms", "median us",
             "least us", "GB/s", "ratio");
  double first = 0;
  for (Bench& bench : benches) {
    std::ranges::sort(bench.seconds);
    const double median = bench.seconds[bench.seconds.size() / 2];
    if (first == 0) first = median;
    fmt::print("{:<12} {:>12.2f} {:>12.1f} {:>12.1f} {:>10.2f} {:>8.2f}\n", bench.name,
               bench.compile_seconds * 1e3, median * 1e6, bench.seconds.front() * 1e6,
               static_cast<double>(bytes) / median * 1e-9, first / median);
  }
  fmt::print("GB/s: all buffers once, by the median; ratio: speed against the first device\n");
  return kAnswered;
}

}  // namespace

void add_kernel_bench(CLI::App& kernel, int& exit_code) {
  CLI::App* command = kernel.add_subcommand("bench", "Time a kernel on several devices");
  auto options = std::make_shared<KernelBenchOptions>();
  add_kernel_choice(*command, options->file, options->kernel);
  command->add_option("-a,--arg", options->arguments, "A parameter's value, NAME=VALUE")
      ->type_name("NAME=VALUE")
      ->allow_extra_args(false);
  command->add_option("-d,--device", options->devices, "Where to run it (default interp,native)")
      ->type_name("DEVICE")
      ->delimiter(',')
      ->allow_extra_args(false);
  command->add_option("--threads", options->threads, "Threads of the cpu (default: all cores)")
      ->type_name("N");
  command->add_option("--repeat", options->repeat, "Timed launches a device (default 20)")
      ->type_name("N")
      ->check(CLI::Range(1u, 1000000u));
  command->add_option("--seed", options->seed, "For random arguments (default 1)")->type_name("N");
  command->footer(
      R"(The kernel cache is left alone: every device compiles. Arguments as for `xlog kernel run`.

Example:
  xlog kernel bench hash.ir bucket -a n=10000000 -a mask=1023 -a key=random:10000000 -a out=zero:10000000)");
  command->callback([options, &exit_code] {
    exit_code = bench_kernel(*options);
    if (!flush_stdout()) exit_code = kProgramError;
  });
}

}  // namespace xlog::cli
