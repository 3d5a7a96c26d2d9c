// What the tests of plans share: columns as vectors, in and out of a device.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

#include "device/device.h"
#include "device/plan_runner.h"
#include "device/test_devices.h"
#include "kernel/plan_builder.h"
#include "kernel/verify.h"

namespace xlog::device {

template <typename T>
constexpr kernel::Type type_for() {
  using kernel::Type;
  if constexpr (std::is_same_v<T, uint8_t>) return Type::U8;
  if constexpr (std::is_same_v<T, uint32_t>) return Type::U32;
  if constexpr (std::is_same_v<T, uint64_t>) return Type::U64;
  if constexpr (std::is_same_v<T, int32_t>) return Type::I32;
  if constexpr (std::is_same_v<T, int64_t>) return Type::I64;
  if constexpr (std::is_same_v<T, float>) return Type::F32;
  if constexpr (std::is_same_v<T, double>) return Type::F64;
  return Type::Void;
}

template <typename T>
Column to_device(Device& device, const std::vector<T>& rows) {
  Result<Column> column = upload(device, type_for<T>(), std::as_bytes(std::span(rows)));
  EXPECT_TRUE(column.ok());
  return *column;
}

template <typename T>
std::vector<T> to_host(Device& device, const PlanValue& value) {
  const Column& column = std::get<Column>(value);
  const bool bytes_of_bools = column.type == kernel::Type::Bool && sizeof(T) == 1;
  EXPECT_TRUE(column.type == type_for<T>() || bytes_of_bools);
  Result<std::vector<std::byte>> bytes = download(device, column);
  EXPECT_TRUE(bytes.ok());
  std::vector<T> rows(bytes->size() / sizeof(T));
  if (!rows.empty()) std::memcpy(rows.data(), bytes->data(), bytes->size());
  return rows;
}

// The devices that plans are tested on, and how plans are lowered there. Both kinds of lowering run
// on each device: their results have to be the same.
struct PlanSetting {
  std::string device;
  kernel::PlanTarget target;
  uint32_t largest;  // rows of the largest input that is worth its time

  friend std::ostream& operator<<(std::ostream& out, const PlanSetting& s) {
    std::string name = s.device + (s.target.groups ? "_tiled" : "_serial");
    std::ranges::replace(name, ':', '_');
    return out << name;
  }
};

// A runner for a plan that keeps the rules, before and after it is lowered.
inline Result<PlanRunner> make_runner(Device& device, kernel::Graph& graph, kernel::Id plan,
                                      const kernel::PlanTarget& target) {
  for (const kernel::Problem& problem : verify(graph, plan, kernel::Spec::Plan)) {
    ADD_FAILURE() << problem.message;
  }
  Result<PlanRunner> runner = PlanRunner::make(device, graph, plan, target);
  if (!runner.ok()) return runner;
  for (const kernel::Problem& problem : verify(graph, runner->lowered(), kernel::Spec::ReadyPlan)) {
    ADD_FAILURE() << "lowered: " << problem.message;
  }
  return runner;
}

class PlanTest : public ::testing::TestWithParam<PlanSetting> {
 protected:
  void SetUp() override { device = open_for_test(GetParam().device); }

  // Runs a plan; the test fails if it does not.
  std::vector<PlanValue> run(kernel::Graph& graph, kernel::Id plan,
                             const std::vector<PlanValue>& arguments) {
    Result<PlanRunner> runner = make_runner(*device, graph, plan, GetParam().target);
    if (!runner.ok()) {
      ADD_FAILURE() << runner.error().text();
      return {};
    }
    Result<std::vector<PlanValue>> results = runner->run(arguments);
    if (!results.ok()) {
      ADD_FAILURE() << results.error().text();
      return {};
    }
    return *results;
  }

  std::unique_ptr<Device> device;
};

// Both lowerings on every device of $XLOG_TEST_DEVICES, or on those of the host.
inline std::vector<PlanSetting> plan_settings() {
  std::vector<std::string> names = {"oracle", "interp", "native", "cpu"};
  if (std::getenv("XLOG_TEST_DEVICES") != nullptr) names = test_device_names();
  std::vector<PlanSetting> settings;
  for (const std::string& name : names) {
    // Chunks are small, so that few rows make many of them.
    const uint32_t largest = name == "oracle" ? 260 : name == "interp" ? 5000 : 20000;
    settings.push_back({name, {false, 2, 64}, largest});
    settings.push_back({name, {true, 2, 64}, largest});
  }
  return settings;
}

}  // namespace xlog::device
