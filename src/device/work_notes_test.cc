#include "device/work_notes.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

namespace xlog::device {
namespace {

CacheKey numbered(uint32_t number) {
  CacheKey key;
  std::memcpy(key.bytes.data(), &number, sizeof(number));
  return key;
}

TEST(WorkNotes, AddUpFromRunToRun) {
  WorkNotes first("");
  EXPECT_EQ(first.work_of(numbered(1)), 0);
  first.add(numbered(1), 2.5);
  first.add(numbered(2), 1);
  WorkNotes second(first.bytes());
  EXPECT_EQ(second.work_of(numbered(1)), 2.5);
  second.add(numbered(1), 2);
  EXPECT_EQ(second.work_of(numbered(1)), 4.5);
  EXPECT_EQ(second.work_of(numbered(2)), 1);
  EXPECT_EQ(WorkNotes(second.bytes()).bytes(), second.bytes());
}

TEST(WorkNotes, OtherBytesAreNoNotes) {
  WorkNotes notes("");
  notes.add(numbered(1), 1);
  const std::string good = notes.bytes();
  EXPECT_EQ(WorkNotes(good + "x").bytes(), "");
  EXPECT_EQ(WorkNotes(good.substr(1)).bytes(), "");
  EXPECT_EQ(WorkNotes(std::string(24 * (WorkNotes::kMost + 1), '\0')).bytes(), "");
  for (double work : {double{NAN}, double{INFINITY}, -1.0}) {
    std::string odd = good;
    std::memcpy(odd.data() + 16, &work, sizeof(work));
    EXPECT_EQ(WorkNotes(odd).bytes(), "");
  }
}

TEST(WorkNotes, ForgetWhatWasNotedLongestAgo) {
  WorkNotes notes("");
  for (uint32_t k = 0; k < WorkNotes::kMost; ++k) notes.add(numbered(k), 1);
  notes.add(numbered(0), 1);  // just now
  notes.add(numbered(WorkNotes::kMost), 1);
  EXPECT_EQ(notes.work_of(numbered(0)), 2);
  EXPECT_EQ(notes.work_of(numbered(1)), 0);
  EXPECT_EQ(notes.work_of(numbered(2)), 1);
  EXPECT_EQ(notes.bytes().size(), 24 * WorkNotes::kMost);
}

}  // namespace
}  // namespace xlog::device
