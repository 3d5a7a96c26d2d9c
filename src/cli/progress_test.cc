#include "cli/progress.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace xlog::cli {
namespace {

struct FakeTerminal {
  double now = 100;
  std::string written;
  uint32_t width = 80;
  ProgressLine line{[this] { return now; }, [this](std::string_view text) { written += text; },
                    width};

  // What this call wrote.
  std::string show(double at, const logic::Progress& progress) {
    now = at;
    written.clear();
    line.show(progress);
    return written;
  }
};

logic::Progress at_round(uint64_t round, uint64_t rows) {
  return {.component = 2,
          .components = 7,
          .name = "reach/2",
          .round = round,
          .new_rows = rows / 2,
          .rows = rows,
          .bytes = 3 << 20};
}

TEST(Progress, ShortRunsShowNothing) {
  FakeTerminal terminal;
  EXPECT_EQ(terminal.show(100.1, at_round(1, 10)), "");
  EXPECT_EQ(terminal.show(100.9, at_round(2, 20)), "");
  terminal.line.clear();
  EXPECT_EQ(terminal.written, "");
}

TEST(Progress, TheLineIsRewrittenAndTakenAway) {
  FakeTerminal terminal;
  EXPECT_EQ(terminal.show(101, at_round(3, 5'000'000)),
            "\r\x1b[K[3/7] reach/2, round 3: 2.5M new rows, 5.0M rows/s, 3 MiB");
  EXPECT_EQ(terminal.show(101.1, at_round(3, 5'100'000)), "") << "too early";
  EXPECT_EQ(terminal.show(103, at_round(4, 5'400'000)),
            "\r\x1b[K[3/7] reach/2, round 4: 2.7M new rows, 200k rows/s, 3 MiB");
  terminal.written.clear();
  terminal.line.clear();
  EXPECT_EQ(terminal.written, "\r\x1b[K");
  terminal.written.clear();
  terminal.line.clear();
  EXPECT_EQ(terminal.written, "") << "once is enough";
}

TEST(Progress, AtMostFiveTimesASecond) {
  FakeTerminal terminal;
  int shown = 0;
  for (int i = 0; i < 10'000; ++i) {
    shown += terminal.show(101 + i * 0.001, at_round(1, 1)).empty() ? 0 : 1;
  }
  EXPECT_LE(shown, 51);
  EXPECT_GE(shown, 45);
}

TEST(Progress, TheLineFitsTheTerminal) {
  FakeTerminal terminal;
  logic::Progress progress = at_round(1, 1);
  progress.name = std::string(200, 'x') + "\x1b[2J";
  const std::string text = terminal.show(102, progress);
  EXPECT_EQ(text.size(), 4u + terminal.width);
  EXPECT_EQ(text.find('\x1b', 4), std::string::npos) << "names do not steer the terminal";
}

TEST(Progress, OfASearchForWorlds) {
  FakeTerminal terminal;
  const std::string text =
      terminal.show(102, {.clusters = 40, .clusters_done = 2, .candidates = 1200, .accepted = 2});
  EXPECT_TRUE(text.starts_with("\r\x1b[Kworlds, part 3 of 40: 1.2k candidates, 2 accepted, "))
      << text;
}

TEST(Progress, AsksForATextWhenItsTurnHasCome) {
  FakeTerminal terminal;
  int asked = 0;
  const auto text = [&] { return fmt::format("step {}", ++asked); };
  for (const double at : {100.5, 101.0, 101.1, 101.3}) {
    terminal.now = at;
    terminal.line.show(text);
  }
  EXPECT_EQ(terminal.written, "\r\x1b[Kstep 1\r\x1b[Kstep 2");
}

TEST(Progress, EndsWithItsOwner) {
  std::string written;
  double now = 0;
  {
    ProgressLine line([&] { return now; }, [&](std::string_view text) { written += text; }, 80);
    now = 5;
    line.show(at_round(0, 0));
    EXPECT_NE(written.find("reach/2: 0 new rows"), std::string::npos) << "no round yet";
  }
  EXPECT_TRUE(written.ends_with("\r\x1b[K"));
}

}  // namespace
}  // namespace xlog::cli
