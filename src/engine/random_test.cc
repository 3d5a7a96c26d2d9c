// Random programs: the engine gives the answers of the reference evaluator on every device.
// $XLOG_RANDOM_TIMES=N tries N times as many.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <functional>

#include "base/sanitized.h"
#include "device/test_devices.h"
#include "engine/engine_fixture.h"
#include "engine/random_best_program.h"
#include "engine/random_fold_program.h"
#include "engine/random_list_program.h"

namespace xlog::engine {
namespace {

constexpr uint64_t kOneOf = kSanitized ? 20 : 1;

// Small: a program that is too large for the reference says nothing about the engine.
logic::AnswerOptions limits(bool worlds) {
  logic::AnswerOptions options;
  options.max_rows = 20'000;
  options.max_candidates = 1 << 12;
  options.max_worlds = worlds ? UINT64_MAX : 0;
  return options;
}

// A broken promise ends the process: it must not take the program that broke it along.
char at_the_end[256];
void say_the_seed(int signal) {
  const ssize_t written =
      write(STDERR_FILENO, at_the_end, std::char_traits<char>::length(at_the_end));
  std::signal(signal, SIG_DFL);
  if (written >= 0) std::raise(signal);
}

struct Verdict {
  bool asked = false;  // the reference has an answer
  std::string difference;
};

struct Trial {
  std::string name;
  std::string device;
  relation::Form form;
  uint64_t first;
  uint64_t count;
};
void PrintTo(const Trial& trial, std::ostream* out) { *out << trial.name; }

Verdict compare(const std::string& source, const Trial& trial, bool worlds) {
  const Outcome wanted = run(source, Which::Reference, "", limits(worlds));
  if (!wanted.checked || !wanted.answered) return {};
  const Outcome got = run(source, Which::Engine, trial.device, limits(worlds), trial.form);
  if (got.text == wanted.text) return {true, ""};
  return {true, fmt::format("--- {}\n{}--- reference\n{}", trial.name, got.text, wanted.text)};
}

// Takes away statements, then literals, as long as `still_bad` holds.
RandomProgram shrink(RandomProgram program,
                     const std::function<bool(const RandomProgram&)>& still_bad) {
  for (bool smaller = true; smaller;) {
    smaller = false;
    for (size_t step = std::max<size_t>(1, program.statements.size() / 2); step > 0; step /= 2) {
      for (size_t i = 0; i < program.statements.size();) {
        RandomProgram fewer = program;
        const auto first = fewer.statements.begin() + static_cast<ptrdiff_t>(i);
        fewer.statements.erase(
            first, first + static_cast<ptrdiff_t>(std::min(step, fewer.statements.size() - i)));
        if (still_bad(fewer)) {
          program = std::move(fewer);
          smaller = true;
        } else {
          i += step;
        }
      }
    }
    for (size_t i = 0; i < program.statements.size(); ++i) {
      for (size_t j = 0;
           program.statements[i].body.size() > 1 && j < program.statements[i].body.size();) {
        RandomProgram fewer = program;
        fewer.statements[i].body.erase(fewer.statements[i].body.begin() +
                                       static_cast<ptrdiff_t>(j));
        if (still_bad(fewer)) {
          program = std::move(fewer);
          smaller = true;
        } else {
          ++j;
        }
      }
    }
  }
  return program;
}

class RandomPrograms : public testing::TestWithParam<Trial> {
 protected:
  void compare_all(const Trial& trial, const std::function<RandomProgram(uint64_t seed)>& generate);
};

void RandomPrograms::compare_all(const Trial& trial,
                                 const std::function<RandomProgram(uint64_t seed)>& generate) {
  const char* times = std::getenv("XLOG_RANDOM_TIMES");
  const uint64_t count = std::max<uint64_t>(trial.count / kOneOf, 5) *
                         (times == nullptr ? 1 : std::strtoull(times, nullptr, 10));
  uint64_t asked = 0;
  std::signal(SIGABRT, say_the_seed);
  std::signal(SIGSEGV, say_the_seed);
  for (uint64_t seed = trial.first; seed < trial.first + count; ++seed) {
    snprintf(at_the_end, sizeof(at_the_end), "random program of seed %llu on %s\n",
             static_cast<unsigned long long>(seed), trial.name.c_str());
    const bool worlds = seed % 16 == 0;
    const RandomProgram program = generate(seed);
    const Verdict verdict = compare(program.text(), trial, worlds);
    asked += verdict.asked ? 1 : 0;
    if (verdict.difference.empty()) continue;
    const RandomProgram small = shrink(program, [&](const RandomProgram& fewer) {
      return !compare(fewer.text(), trial, worlds).difference.empty();
    });
    ADD_FAILURE() << "seed " << seed << ", shrunk:\n"
                  << small.text() << compare(small.text(), trial, worlds).difference
                  << "--- as generated:\n"
                  << program.text();
    break;
  }
  std::signal(SIGABRT, SIG_DFL);
  std::signal(SIGSEGV, SIG_DFL);
  if (HasFailure()) return;
  EXPECT_GE(asked * 10, count * 8) << "too many are ill-formed or too large";
}

TEST_P(RandomPrograms, HaveTheAnswersOfTheReference) {
  compare_all(GetParam(), [](uint64_t seed) { return ProgramGenerator(seed).run(); });
}

TEST_P(RandomPrograms, WithTheBestOfTheirOwnRecursionToo) {
  compare_all(GetParam(), [](uint64_t seed) { return BestProgramGenerator(seed).run(); });
}

TEST_P(RandomPrograms, ThatMakeListsAndTermsToo) {
  compare_all(GetParam(), [](uint64_t seed) { return ListProgramGenerator(seed).run(); });
}

TEST_P(RandomPrograms, ThatFoldAndMapInBodiesToo) {
  compare_all(GetParam(), [](uint64_t seed) { return FoldProgramGenerator(seed).run(); });
}

// On the devices of $XLOG_TEST_DEVICES where there is one, for machines with a GPU.
std::vector<Trial> trials() {
  using relation::Form;
  if (std::getenv("XLOG_TEST_DEVICES") == nullptr) {
    return {{"interp", "interp", Form::Chunks, 0, 350},
            {"cpu", "cpu", Form::Chunks, 1'000'000, 300},
            {"oracle", "oracle", Form::Chunks, 2'000'000, 100},
            {"native", "native", Form::Chunks, 3'000'000, 10},
            {"groups", "interp", Form::Groups, 4'000'000, 200},
            {"groups_oracle", "oracle", Form::Groups, 5'000'000, 50}};
  }
  std::vector<Trial> all;
  for (const std::string& name : device::test_device_names()) {
    std::string word = name;
    std::ranges::replace(word, ':', '_');
    all.push_back({word, name, relation::form_for(*device::open_for_test(name)), 6'000'000, 40});
  }
  return all;
}

INSTANTIATE_TEST_SUITE_P(All, RandomPrograms, testing::ValuesIn(trials()),
                         [](const auto& trial) { return trial.param.name; });

TEST(RandomProgram, TheSameSeedGivesTheSameText) {
  EXPECT_EQ(ProgramGenerator(3).run().text(), ProgramGenerator(3).run().text());
  EXPECT_NE(ProgramGenerator(3).run().text(), ProgramGenerator(4).run().text());
}

TEST(RandomProgram, EveryConstructOccurs) {
  std::string all;
  for (uint64_t seed = 0; seed < 500; ++seed) all += ProgramGenerator(seed).run().text();
  for (const char* construct : {"count(",
                                "sum(",
                                "min(",
                                "max(",
                                "avg(",
                                "count : {",
                                "sum L",
                                "not not ",
                                "know ",
                                "possible ",
                                "not possible not ",
                                ":- -p",
                                "{ c",
                                " ; ",
                                "% ",
                                " / ",
                                "cast(",
                                "abs(",
                                "smaller(",
                                " is ",
                                "member(",
                                "findall(",
                                "1..3",
                                "well_founded",
                                "magic_sets",
                                "\n:- ",
                                "-0.0",
                                "18446744073709551615",
                                "-9223372036854775808",
                                "true",
                                "list<u32>",
                                "compound",
                                "f32",
                                "_"}) {
    EXPECT_NE(all.find(construct), std::string::npos) << construct;
  }
}

TEST(RandomProgram, MostMinimaAreInsideTheirOwnRecursion) {
  uint32_t inside = 0;
  for (uint64_t seed = 0; seed < 100; ++seed) {
    lang::Session session;
    const SourceFile* file =
        session.sources.add("test.xlog", "", BestProgramGenerator(seed).run().text());
    const std::optional<lang::Program> program = lang::load(*file, session);
    ASSERT_TRUE(program) << seed << "\n" << render_text(session.diagnostics, session.sources);
    const std::optional<logic::Analysis> analysis = logic::analyze(*program, session);
    ASSERT_TRUE(analysis) << seed << "\n" << render_text(session.diagnostics, session.sources);
    inside += std::ranges::any_of(analysis->best, [](const auto& b) { return b.has_value(); });
  }
  EXPECT_GE(inside, 90u);
}

TEST(RandomProgram, ShrinkingKeepsWhatMatters) {
  const RandomProgram program = ProgramGenerator(5).run();
  const std::string kept = program.statements.back().text();
  const RandomProgram small = shrink(program, [&](const RandomProgram& fewer) {
    return fewer.text().find(kept) != std::string::npos;
  });
  EXPECT_EQ(small.text(), kept);
}

}  // namespace
}  // namespace xlog::engine
