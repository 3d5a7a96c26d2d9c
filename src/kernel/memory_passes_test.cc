#include <gtest/gtest.h>

#include "kernel/effects.h"
#include "kernel/passes_fixture.h"

namespace xlog::kernel {
namespace {

TEST(Effects, DropUnusedLoadsAndLoops) {
  EXPECT_EQ(after({simplify_effects}, R"(
kernel k(n: u32, a: in u32, o: out u32) {
  i = grid n
  x = load a i
  y = load a x
  s = for j 0:u32 n carry c 0:u32 {
    v = load a j
    c1 = add c v
    yield c1
  }
  if (lt x 3:u32) {
    u = load a 0:u32
  }
  store o i x
}
)"),
            printed(R"(
kernel k(n: u32, a: in u32, o: out u32) {
  i = grid n
  x = load a i
  store o i x
}
)"));
}

TEST(Effects, LoadOnceWhereNothingChanges) {
  EXPECT_EQ(after({simplify_effects}, R"(
kernel k(n: u32, a: in u32, b: own u32, o: out u32) {
  i = grid n
  x = load a i
  p = load b i
  if (lt x 3:u32) {
    y = load a i
    store b i y
    z = load b i
    store o i z
  }
  q = load b i
  w = load a i
  store b i (add (add q w) p)
}
)"),
            printed(R"(
kernel k(n: u32, a: in u32, b: own u32, o: out u32) {
  i = grid n
  x = load a i
  p = load b i
  if (lt x 3:u32) {
    store b i x
    store o i x
  }
  q = load b i
  store b i (add (add q x) p)
}
)"));
}

TEST(Effects, CarryOnlyWhatIsUsed) {
  EXPECT_EQ(after({simplify_effects}, R"(
kernel k(n: u32, a: in u32, o: out u32) {
  i = grid n
  s = load a i
  unused, used, same = for j 0:u32 n carry p 0:u32, q 1:u32, r s {
    v = load a j
    p1 = add p v
    q1 = add q r
    yield p1 q1 r
  }
  store o i (add used same)
}
)"),
            printed(R"(
kernel k(n: u32, a: in u32, o: out u32) {
  i = grid n
  s = load a i
  used = for j 0:u32 n carry q 1:u32 {
    q1 = add q s
    yield q1
  }
  store o i (add used s)
}
)"));
  EXPECT_EQ(after({simplify_effects}, R"(
kernel k(n: u32, a: in u32, o: out u32) {
  i = grid n
  x, y = loop t 32:u32 while true carry p i, q i {
    v = load a p
    yield (lt v 3:u32) v (add q 1:u32)
  }
  store o i x
}
)"),
            printed(R"(
kernel k(n: u32, a: in u32, o: out u32) {
  i = grid n
  x = loop t 32:u32 while true carry p i {
    v = load a p
    yield (lt v 3:u32) v
  }
  store o i x
}
)"));
}

TEST(Effects, DropArraysThatNobodyReads) {
  EXPECT_EQ(after({simplify_effects}, R"(
kernel k(n: u32, a: in u32, o: out u32) {
  i = grid n
  unread = alloc private u32 4
  kept = alloc private u32 4
  x = load a i
  store unread 1:u32 x
  store kept (rem x 4:u32) x
  y = load kept 1:u32
  store unread 1:u32 x
  store o i y
}
)"),
            printed(R"(
kernel k(n: u32, a: in u32, o: out u32) {
  i = grid n
  kept = alloc private u32 4
  x = load a i
  store kept (rem x 4:u32) x
  y = load kept 1:u32
  store o i y
}
)"));
}

TEST(Effects, ForgetWhatALaterTurnMayStore) {
  const char* text = R"(
kernel k(n: u32, b: own u32) {
  i = grid n
  p = load b i
  for j 0:u32 n {
    q = load b i
    store b i (add q p)
  }
}
)";
  EXPECT_EQ(after({simplify_effects}, text), printed(text));
}

TEST(Effects, UnrollLoopsOfOneTurn) {
  EXPECT_EQ(after({simplify_effects}, R"(
kernel k(n: u32, a: in u32, o: out u32) {
  i = grid n
  s = for j 4:u32 5:u32 carry c 1:u32 {
    v = load a j
    c1 = add c v
    yield c1
  }
  t = for k 4:u32 4:u32 carry d s {
    v = load a k
    d1 = add d v
    yield d1
  }
  store o i t
}
)"),
            printed(R"(
kernel k(n: u32, a: in u32, o: out u32) {
  i = grid n
  v = load a 4:u32
  c1 = add 1:u32 v
  store o i c1
}
)"));
}

TEST(Effects, DecideBranches) {
  EXPECT_EQ(after({simplify_effects}, R"(
kernel k(n: u32, a: in u32, o: out u32) {
  i = grid n
  check 2 true
  if false { store o i 1:u32 } else { store o i 2:u32 }
  x = load a i
  if (lt x 3:u32) {
    y = load a x
  } else {
    store o x 1:u32
  }
}
)"),
            printed(R"(
kernel k(n: u32, a: in u32, o: out u32) {
  i = grid n
  store o i 2:u32
  x = load a i
  if (xor (lt x 3:u32) true) {
    store o x 1:u32
  }
}
)"));
}

}  // namespace
}  // namespace xlog::kernel
