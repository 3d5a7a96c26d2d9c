// Runs a plan on a device. The plan is lowered for the device and its kernels are compiled once;
// each run evaluates the host scalars (kernel/scalar.h), launches, and frees every buffer after its
// last use. The only waits are the plan's Reads and the end.
//
//   Result<PlanRunner> runner = PlanRunner::make(device, graph, plan);
//   Result<Column> x = upload(device, Type::U32, bytes_of(rows));
//   Result<std::vector<PlanValue>> results = runner->run({*x, Scalar::u32(7)});
//   Result<std::vector<std::byte>> y = download(device, std::get<Column>((*results)[0]));
#pragma once

#include <memory>
#include <span>
#include <unordered_map>
#include <variant>
#include <vector>

#include "base/result.h"
#include "device/device.h"
#include "kernel/graph.h"
#include "kernel/plan_lower.h"

namespace xlog::device {

// A buffer with its element type and number.
struct Column {
  Buffer buffer;
  kernel::Type type = kernel::Type::Void;
  uint32_t count = 0;
};

using PlanValue = std::variant<Scalar, Column>;

Result<Column> upload(Device& device, kernel::Type type, std::span<const std::byte> bytes);
Result<std::vector<std::byte>> download(Device& device, const Column& column);

// How plans are lowered for a device.
kernel::PlanTarget plan_target(const Device& device);

class PlanRunner {
 public:
  // `device` and `graph` outlive the runner. `target` is that of the device unless given.
  static Result<PlanRunner> make(Device& device, kernel::Graph& graph, kernel::Id plan);
  static Result<PlanRunner> make(Device& device, kernel::Graph& graph, kernel::Id plan,
                                 const kernel::PlanTarget& target);

  // One argument for each parameter. A Check that fails is an error that names its kernel, or what
  // the plan requires. After an error no failed check is left on the device.
  Result<std::vector<PlanValue>> run(std::span<const PlanValue> arguments);

  kernel::Id lowered() const { return plan_; }

 private:
  struct Kernel {
    KernelHandle handle;
    std::string name;
    kernel::Id size;           // parameter or constant that says how many instances there are
    uint32_t check_codes = 0;  // which ones it can fail, a bit each
  };
  // What one effect of the plan needs to know, found once.
  struct Step {
    kernel::Id effect;
    std::vector<kernel::Id> last_uses;  // buffers that nobody needs after it
  };
  class Run;

  PlanRunner(Device& device, kernel::Graph& graph) : device_(&device), graph_(&graph) {}
  Status prepare_kernel(kernel::Id kernel);
  void find_last_uses();

  Device* device_;
  kernel::Graph* graph_;
  kernel::Id plan_;
  std::vector<Step> steps_;
  std::unordered_map<kernel::Id, Kernel> kernels_;
};

}  // namespace xlog::device
