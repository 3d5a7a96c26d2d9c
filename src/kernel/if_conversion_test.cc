#include <gtest/gtest.h>

#include "kernel/effects.h"
#include "kernel/passes_fixture.h"

namespace xlog::kernel {
namespace {

TEST(IfConversion, MakesOneStoreOfTwo) {
  EXPECT_EQ(after({convert_ifs}, R"(
kernel k(n: u32, a: in u32, o: out u32) {
  i = grid n
  x = load a i
  if (lt x 3:u32) { store o i x } else { store o i 3:u32 }
}
)"),
            printed(R"(
kernel k(n: u32, a: in u32, o: out u32) {
  i = grid n
  x = load a i
  store o i (select (lt x 3:u32) x 3:u32)
}
)"));
}

TEST(IfConversion, LeavesStoresThatMayNotHappen) {
  const char* text = R"(
kernel k(n: u32, a: in u32, o: out u32) {
  i = grid n
  x = load a i
  if (lt x 3:u32) { store o i x }
  if (lt x 5:u32) { store o x x } else { store o i x }
}
)";
  EXPECT_EQ(after({convert_ifs}, text), printed(text));
}

TEST(IfConversion, JoinsConditions) {
  EXPECT_EQ(after({convert_ifs}, R"(
kernel k(n: u32, a: in u32, o: own u32) {
  i = grid n
  x = load a i
  c = lt x 3:u32
  if c { if (lt i 9:u32) { store o i x } }
  d = lt x 9:u32
  if d { store o i 1:u32 }
  if d { store o i 2:u32 }
}
)"),
            printed(R"(
kernel k(n: u32, a: in u32, o: own u32) {
  i = grid n
  x = load a i
  c = lt x 3:u32
  if (and c (lt i 9:u32)) { store o i x }
  d = lt x 9:u32
  if d {
    store o i 1:u32
    store o i 2:u32
  }
}
)"));
}

}  // namespace
}  // namespace xlog::kernel
