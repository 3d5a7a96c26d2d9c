// Which devices the tests run on: $XLOG_TEST_DEVICES ("cpu,cuda:0"), or all that open here.
#pragma once

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <optional>
#include <span>
#include <sstream>
#include <string>
#include <vector>

#include "device/device.h"
#include "kernel/random_kernel.h"

namespace xlog::device {

inline std::vector<std::string> test_device_names() {
  std::vector<std::string> names;
  const char* chosen = std::getenv("XLOG_TEST_DEVICES");
  if (chosen != nullptr && chosen[0] != '\0') {
    std::stringstream list(chosen);
    for (std::string name; std::getline(list, name, ',');) names.push_back(name);
    return names;
  }
  names = {"oracle", "interp", "native", "cpu", "c"};
  for (const char* name : {"opencl:0", "cuda:0"}) {
    if (open_device(name, {.cache_folder = "none"}).ok()) names.emplace_back(name);
  }
  return names;
}

// Without the device there is nothing to test: where it does not open, the program ends and says
// why.
inline std::unique_ptr<Device> open_for_test(const std::string& name, OpenOptions options = {}) {
  if (options.cache_folder.empty()) options.cache_folder = "none";
  Result<std::unique_ptr<Device>> device = open_device(name, options);
  if (device.ok()) return std::move(*device);
  std::fprintf(stderr, "the tests cannot open the device `%s` (see $XLOG_TEST_DEVICES): %s\n",
               name.c_str(), device.error().text().c_str());
  std::exit(1);
}

// Values in and out of a device.
template <typename T>
Buffer upload(Device& device, const std::vector<T>& values) {
  Result<Buffer> buffer = device.allocate(values.size() * sizeof(T));
  EXPECT_TRUE(buffer.ok()) << (buffer.ok() ? "" : buffer.error().text());
  Status written = device.write({*buffer}, std::as_bytes(std::span(values)));
  EXPECT_TRUE(written.ok()) << (written.ok() ? "" : written.error().text());
  return *buffer;
}

template <typename T>
std::vector<T> download(Device& device, const View& view, size_t count) {
  std::vector<T> values(count);
  Status read = device.read(view, std::as_writable_bytes(std::span(values)));
  EXPECT_TRUE(read.ok()) << (read.ok() ? "" : read.error().text());
  return values;
}

// Runs kernels on a device for kernel::compare, which holds the results against the oracle's.
inline kernel::Runner runner_on(Device& device) {
  return [&device](kernel::Graph& graph, kernel::Id kernel,
                   std::span<const kernel::Argument> list) -> Result<std::optional<CheckFailure>> {
    Result<KernelHandle> handle = device.compile(graph, kernel);
    if (!handle.ok()) return handle.error();
    std::vector<Argument> here;
    for (const kernel::Argument& argument : list) {
      if (const Scalar* scalar = std::get_if<Scalar>(&argument)) {
        here.emplace_back(*scalar);
        continue;
      }
      const auto& memory = std::get<kernel::HostBuffer>(argument);
      Result<Buffer> buffer = device.allocate(memory.bytes);
      if (!buffer.ok()) return buffer.error();
      Status written = device.write({*buffer}, {memory.data, memory.bytes});
      if (!written.ok()) return written.error();
      here.emplace_back(View{*buffer});
    }
    Status launched = device.launch(*handle, here);
    if (!launched.ok()) return launched.error();
    for (size_t p = 0; p < list.size(); ++p) {
      if (const auto* memory = std::get_if<kernel::HostBuffer>(&list[p])) {
        Status read = device.read(std::get<View>(here[p]), {memory->data, memory->bytes});
        if (!read.ok()) return read.error();
      }
    }
    return device.checks();
  };
}

// Fails the test with the error's text.
template <typename T>
bool good(const Result<T>& result) {
  EXPECT_TRUE(result.ok()) << (result.ok() ? "" : result.error().text());
  return result.ok();
}

}  // namespace xlog::device
