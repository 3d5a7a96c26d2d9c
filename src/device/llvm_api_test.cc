#include "device/llvm_api.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace xlog::device {
namespace {

using testing::HasSubstr;

TEST(LlvmApi, AMissingLibraryIsNamedWithThePackageToInstall) {
  const Result<LlvmApi> api = open_llvm("libLLVM-of-nobody.so.1");
  ASSERT_FALSE(api.ok());
  EXPECT_THAT(api.error().message, HasSubstr("cannot open LLVM: libLLVM-of-nobody.so.1"));
  EXPECT_THAT(api.error().help, HasSubstr("install LLVM 16"));
  EXPECT_THAT(api.error().help, HasSubstr("apt-get install libllvm16"));
}

TEST(LlvmApi, ALibraryThatIsNotLlvmIsNamedWithWhatItLacks) {
  const Result<LlvmApi> api = open_llvm("libc.so.6");
  ASSERT_FALSE(api.ok());
  EXPECT_EQ(api.error().message, "libc.so.6 has no LLVMGetVersion");
  EXPECT_THAT(api.error().help, HasSubstr("apt-get install libllvm16"));
}

}  // namespace
}  // namespace xlog::device
