#include "device/object_loader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "device/llvm_compile.h"

namespace xlog::device {
namespace {

using testing::HasSubstr;

// Has constants, a call inside and one outside, and a large copy.
constexpr const char* kText = R"(
@table = private constant [4 x i32] [i32 7, i32 11, i32 13, i32 17]
declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)
declare double @cbrt(double)
define internal i32 @pick(i32 %i) noinline {
  %p = getelementptr [4 x i32], ptr @table, i32 0, i32 %i
  %v = load i32, ptr %p
  ret i32 %v
}
define void @xlog_kernel(i32 %lo, i32 %hi, ptr %args) {
  %to = load ptr, ptr %args
  %q = getelementptr ptr, ptr %args, i32 1
  %from = load ptr, ptr %q
  %n = zext i32 %hi to i64
  call void @llvm.memcpy.p0.p0.i64(ptr %to, ptr %from, i64 %n, i1 false)
  %v = call i32 @pick(i32 %lo)
  store i32 %v, ptr %to
  %root = call double @cbrt(double 27.0)
  %whole = fptoui double %root to i32
  %next = getelementptr i32, ptr %to, i32 1
  store i32 %whole, ptr %next
  ret void
}
)";

std::vector<std::byte> object() {
  Result<std::vector<std::byte>> made = llvm_to_object(kText);
  EXPECT_TRUE(made.ok()) << made.error().text();
  return made.ok() ? *made : std::vector<std::byte>();
}

TEST(ObjectLoader, LoadsWhatLlvmMade) {
  const std::vector<std::byte> bytes = object();
  if (!can_map_object(bytes)) GTEST_SKIP() << "not for this host";
  for (auto* load : {load_object, load_object_by_jit}) {
    Result<LoadedObject> loaded = load(bytes);
    ASSERT_TRUE(loaded.ok()) << loaded.error().text();
    std::vector<uint32_t> from(100, 5), to(100, 0);
    void* arguments[] = {to.data(), from.data()};
    loaded->entry()(2, 400, arguments);
    EXPECT_EQ(to[0], 13u);
    EXPECT_EQ(to[1], 3u);
    EXPECT_EQ(to[99], 5u);
  }
}

TEST(ObjectLoader, SaysWhatIsMissing) {
  const std::vector<std::byte> bytes = object();
  if (!can_map_object(bytes)) GTEST_SKIP() << "not for this host";
  const Result<MappedObject> other = map_object(bytes, "other");
  ASSERT_FALSE(other.ok());
  EXPECT_THAT(other.error().message, HasSubstr("does not define other"));
}

// A cache may be damaged: nothing is read or written outside of the object and its mapping.
TEST(ObjectLoader, DamagedObjectsAreRefusedOrMapped) {
  const std::vector<std::byte> bytes = object();
  if (!can_map_object(bytes)) GTEST_SKIP() << "not for this host";
  for (size_t length = 0; length < bytes.size(); ++length) {
    const auto part = std::span(bytes).first(length);
    if (!can_map_object(part)) continue;
    EXPECT_FALSE(map_object(part, "xlog_kernel").ok()) << length;
  }
  std::mt19937 random(7);
  size_t refused = 0;
  for (int trial = 0; trial < 20'000; ++trial) {
    std::vector<std::byte> damaged = bytes;
    for (uint32_t flips = random() % 3 + 1; flips > 0; --flips) {
      damaged[random() % damaged.size()] = std::byte{static_cast<uint8_t>(random())};
    }
    if (can_map_object(damaged)) refused += map_object(damaged, "xlog_kernel").ok() ? 0 : 1;
  }
  EXPECT_GT(refused, 1000u);
}

}  // namespace
}  // namespace xlog::device
