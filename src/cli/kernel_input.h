// What the `xlog kernel` commands share: the kernel of a file, and its arguments from the command
// line.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "base/result.h"
#include "device/device.h"
#include "kernel/graph.h"

namespace xlog::cli {

struct KernelFile {
  kernel::Graph graph;
  kernel::Id kernel;  // the chosen kernel or plan
};

// Reads `path` ("-": standard input) and picks the kernel or plan called `name`; it may be empty
// where the file holds one only.
Result<KernelFile> read_kernel(const std::string& path, const std::string& name);

// The value of one parameter, on the host.
struct HostArgument {
  std::string name;
  kernel::Type type{};
  kernel::Mode mode{};
  kernel::Scalar scalar;         // of a val parameter
  std::vector<std::byte> bytes;  // of a buffer

  uint64_t elements() const { return bytes.size() / kernel::size_of(type); }
  bool is_written() const { return mode > kernel::Mode::In; }
};

// From words such as "n=8", "x=1,2,3", "x=iota:100", "x=random:1000", "x=random:1000:50" (below
// 50), "y=zero:8", "x=@column.bin" (raw bytes). Every parameter needs one.
Result<std::vector<HostArgument>> read_arguments(const kernel::Graph& graph, kernel::Id kernel,
                                                 const std::vector<std::string>& words,
                                                 uint64_t seed);

// Elements as text, at most `limit` of them.
std::string elements_text(const HostArgument& argument, uint64_t limit);

// The arguments as buffers of a device, in order.
Result<std::vector<device::Argument>> upload(device::Device& device,
                                             const std::vector<HostArgument>& arguments);

// "xlog kernel run: <message>", and the help below it; gives the exit code.
int kernel_error(const std::string& command, const Error& error);

}  // namespace xlog::cli
