// Which devices the tests run on: $XLOG_TEST_DEVICES ("cpu,cuda:0"), or all that open here.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "device/device.h"

namespace xlog::device {

inline std::vector<std::string> test_device_names() {
  std::vector<std::string> names;
  const char* chosen = std::getenv("XLOG_TEST_DEVICES");
  if (chosen != nullptr && chosen[0] != '\0') {
    std::stringstream list(chosen);
    for (std::string name; std::getline(list, name, ',');) names.push_back(name);
    return names;
  }
  names = {"oracle", "interp", "cpu", "c"};
  for (const char* name : {"opencl:0", "cuda:0"}) {
    if (open_device(name, {.cache_folder = "none"}).ok()) names.emplace_back(name);
  }
  return names;
}

inline std::unique_ptr<Device> open_for_test(const std::string& name, OpenOptions options = {}) {
  if (options.cache_folder.empty()) options.cache_folder = "none";
  Result<std::unique_ptr<Device>> device = open_device(name, options);
  EXPECT_TRUE(device.ok()) << (device.ok() ? "" : device.error().text());
  return device.ok() ? std::move(*device) : nullptr;
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

// Fails the test with the error's text.
template <typename T>
bool good(const Result<T>& result) {
  EXPECT_TRUE(result.ok()) << (result.ok() ? "" : result.error().text());
  return result.ok();
}

}  // namespace xlog::device
