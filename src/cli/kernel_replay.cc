// xlog kernel replay: does again what `xlog kernel run --record` wrote down, on any device, and
// names the first cell that differs.
#include "device/replay.h"

#include <fmt/format.h>

#include <CLI/App.hpp>

#include "cli/kernel.h"
#include "cli/kernel_input.h"
#include "cli/terminal.h"
#include "device/device.h"

namespace xlog::cli {
namespace {

struct KernelReplayOptions {
  std::string log;
  std::string device = "cpu";
  uint32_t threads = 0;
};

int replay_log(const KernelReplayOptions& options) {
  auto device = device::open_device(options.device, {.threads = options.threads});
  if (!device.ok()) return kernel_error("replay", device.error());
  const Result<device::ReplayReport> report = device::replay(options.log, **device);
  if (!report.ok()) return kernel_error("replay", report.error());
  if (report->difference) {
    return kernel_error("replay", {fmt::format("{} differs from {}: {}", options.device,
                                               report->recorded_on, report->difference->text()),
                                   ""});
  }
  fmt::print("{} does what {} did: {} launches, {} buffers compared\n", options.device,
             report->recorded_on, report->launches, report->compared);
  if (report->not_compared != 0) {
    fmt::print("{} buffers of mode race were not compared: their order is a matter of timing\n",
               report->not_compared);
  }
  if (!report->complete) {
    return kernel_error("replay", {fmt::format("`{}` has no end after launch {}: the run or the "
                                               "file was cut off there",
                                               options.log, report->launches),
                                   ""});
  }
  return kAnswered;
}

}  // namespace

void add_kernel_replay(CLI::App& kernel, int& exit_code) {
  CLI::App* command =
      kernel.add_subcommand("replay", "Run a recording again and find the first difference");
  auto options = std::make_shared<KernelReplayOptions>();
  command->add_option("LOG", options->log, "What `xlog kernel run --record` wrote")
      ->required()
      ->type_name("");
  command->add_option("-d,--device", options->device, "Where to run it (default cpu)")
      ->type_name("DEVICE");
  command->add_option("--threads", options->threads, "Threads of the cpu (default: all cores)")
      ->type_name("N");
  command->footer(
      R"(After each launch, every buffer that it wrote is compared bit by bit. The first difference
is told by launch, kernel, buffer and index, and the exit status is 1.

Examples:
  xlog kernel run hash.ir bucket -a n=1000 ... -d opencl --record run.log
  xlog kernel replay run.log -d oracle)");
  command->callback([options, &exit_code] {
    exit_code = replay_log(*options);
    if (!flush_stdout()) exit_code = kProgramError;
  });
}

}  // namespace xlog::cli
