// What only OpenCL has: drivers that are not exact, and limits of their own. device_test.cc covers
// the rest.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "device/opencl_api.h"
#include "device/opencl_device.h"
#include "device/test_devices.h"
#include "kernel/builder.h"

namespace xlog::device {
namespace {

using kernel::Graph;
using kernel::Id;
using kernel::KernelBuilder;
using kernel::Op;
using kernel::Type;
using kernel::Value;
using ::testing::HasSubstr;

Id float_kernel(Graph& graph, Op op, Type type) {
  KernelBuilder k(graph, "floats");
  Value n = k.val(Type::U32, "n");
  kernel::Buffer in = k.in(type, "in"), out = k.out(type, "out");
  Value i = k.grid(n);
  Value v = in[i];
  k.store(out, i, op == Op::Sqrt ? k.make(op, {v}) : k.make(op, {v, v}));
  return k.finish();
}

TEST(OpenCl, DeclinesWhatTheDriverRounds) {
  uint64_t denormals = opencl::kFloatDenormals;
  uint64_t all = denormals | opencl::kFloatExactDivideSqrt;
  Graph graph;
  for (Op op : {Op::Div, Op::Sqrt}) {
    Id single = float_kernel(graph, op, Type::F32);
    EXPECT_EQ(opencl_inexact(graph, single, all), "");
    EXPECT_THAT(opencl_inexact(graph, single, denormals), HasSubstr("not correctly rounded"));
    EXPECT_EQ(opencl_inexact(graph, float_kernel(graph, op, Type::F64), denormals), "")
        << "f64 is exact wherever it exists";
  }
  Id sum = float_kernel(graph, Op::Add, Type::F32);
  EXPECT_EQ(opencl_inexact(graph, sum, denormals), "");
  EXPECT_THAT(opencl_inexact(graph, sum, 0), HasSubstr("CL_FP_DENORM"));
  EXPECT_EQ(opencl_inexact(graph, float_kernel(graph, Op::Div, Type::U32), 0), "");
}

TEST(OpenCl, TooLargeABufferNamesTheLimit) {
  Result<std::unique_ptr<Device>> device = open_device("opencl", {.cache_folder = "none"});
  if (!device.ok()) GTEST_SKIP() << device.error().text();
  Result<Buffer> buffer = (*device)->allocate(uint64_t{1} << 50);
  ASSERT_FALSE(buffer.ok());
  EXPECT_THAT(buffer.error().message, HasSubstr("CL_DEVICE_MAX_MEM_ALLOC_SIZE"));
}

TEST(OpenCl, GpusComeFirst) {
  using opencl::DeviceId;
  const opencl::Flags types[] = {opencl::kDeviceTypeCpu,         opencl::kDeviceTypeAccelerator,
                                 opencl::kDeviceTypeGpu,         opencl::kDeviceTypeCpu | 1,
                                 opencl::kDeviceTypeAccelerator, opencl::kDeviceTypeGpu | 1};
  std::vector<char> devices(std::size(types));  // an address stands for each
  std::vector<opencl::Found> found;
  for (size_t k = 0; k < devices.size(); ++k) {
    found.push_back({nullptr, reinterpret_cast<DeviceId>(&devices[k]), types[k]});
  }
  opencl::order_devices(found);
  std::vector<int64_t> order;
  for (const opencl::Found& f : found) {
    order.push_back(reinterpret_cast<char*>(f.device) - devices.data());
  }
  EXPECT_THAT(order, testing::ElementsAre(2, 5, 1, 4, 0, 3));
}

TEST(OpenCl, ErrorsHaveNames) {
  EXPECT_EQ(opencl::explain(-5), "CL_OUT_OF_RESOURCES (-5)");
  EXPECT_EQ(opencl::explain(-9999), "OpenCL error -9999");
}

}  // namespace
}  // namespace xlog::device
