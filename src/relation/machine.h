// A device together with the kernels and plans that were built for it. One for each engine; all
// relations of an engine share it.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "device/device.h"
#include "device/plan_runner.h"
#include "kernel/graph.h"
#include "kernel/plan_builder.h"

namespace xlog::relation {

using device::Device;
using kernel::Type;

// How pipelines become kernels.
enum class Form : uint8_t {
  Chunks,  // an instance takes a chunk of rows, one after another
  Groups,  // the lanes of a group share out what they find
};

inline Form form_for(const Device& device) {
  return device.info().has_groups ? Form::Groups : Form::Chunks;
}

class Machine {
 public:
  Machine(Device& device, Form form) : device_(device), form_(form) {}
  Machine(const Machine&) = delete;
  Machine& operator=(const Machine&) = delete;

  Device& device() { return device_; }
  Form form() const { return form_; }
  kernel::Graph& graph() { return graph_; }

  // The kernel or plan of this name, built on first use. The name says all that it depends on.
  Result<device::KernelHandle> kernel(const std::string& name,
                                      const std::function<kernel::Id()>& build);
  Result<device::PlanRunner*> plan(const std::string& name,
                                   const std::function<kernel::Id()>& build);

  // Columns of these types with room for so many rows, for whoever works now: the next one to ask
  // gets the same memory.
  Result<std::vector<device::Buffer>> scratch(const std::vector<Type>& types, uint64_t rows);

  // Called between the launches of long work with the rows it has made; an error ends the work.
  std::function<Status(uint64_t rows)> check = [](uint64_t) -> Status { return Done{}; };

  Status launch(const device::KernelHandle& kernel, std::span<const device::Argument> arguments) {
    return device_.launch(kernel, arguments);
  }

 private:
  Device& device_;
  Form form_;
  kernel::Graph graph_;
  std::map<std::string, device::KernelHandle> kernels_;
  std::map<std::string, std::unique_ptr<device::PlanRunner>> plans_;
  std::vector<device::Buffer> scratch_;
};

// A buffer of so many elements; never empty, so that a kernel may be given it.
Result<device::Buffer> make_buffer(Device& device, Type type, uint64_t count);
// The buffer, which may be null, becomes one of so many elements, of which the first `kept` stay.
Status resize_buffer(Device& device, device::Buffer& buffer, Type type, uint64_t kept,
                     uint64_t count);

template <typename T>
Result<std::vector<T>> read_numbers(Device& device, const device::Buffer& buffer, size_t count) {
  std::vector<T> numbers(count);
  if (count == 0) return numbers;
  if (Status read = device.read({buffer}, std::as_writable_bytes(std::span(numbers))); !read.ok()) {
    return read.error();
  }
  return numbers;
}

}  // namespace xlog::relation
