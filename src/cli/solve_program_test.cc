#include <gtest/gtest.h>

#include "cli/solve_job.h"

namespace xlog::cli {
namespace {

using solve::SirAnswer;

struct Answer {
  int exit_code = 0;
  std::string text;

  bool operator==(const Answer&) const = default;
};
void PrintTo(const Answer& answer, std::ostream* out) {
  *out << "exit code " << answer.exit_code << "\n" << answer.text;
}

Answer answer(std::string_view program, const SolveOptions& options) {
  char* data = nullptr;
  size_t size = 0;
  std::FILE* out = open_memstream(&data, &size);
  Answer result;
  SolveJob job{.options = options};
  job.out = out;
  Status read = read_job(job, program);
  if (read.ok()) read = choose_engine(job);
  job.limits = job.sir.limits.from(std::chrono::steady_clock::now());
  result.exit_code = read.ok() ? solve_program(job) : solve_error(read.error());
  std::fclose(out);
  result.text.assign(data, size);
  std::free(data);
  return result;
}

SolveOptions quiet_options() {
  SolveOptions options;
  options.file = "test.lp";
  options.report.quiet = true;
  return options;
}

SolveOptions asking_for(SirAnswer question) {
  SolveOptions options = quiet_options();
  options.answer = question;
  return options;
}

// {a; b}. :- not a, not b. c :- a. fact. #show d : a, b. #minimize {2 : a; 1 : b}.
constexpr std::string_view kProgram = R"(asp 1 0 0
1 1 2 1 2 0 0
1 0 0 0 2 -1 -2
1 0 1 3 0 1 1
2 0 2 1 2 2 1
4 1 a 1 1
4 1 b 1 2
4 1 c 1 3
4 4 fact 0
4 1 d 2 1 2
0
)";

constexpr std::string_view kAnyModel = R"(asp 1 0 0
1 1 2 1 2 0 0
1 0 0 0 2 -1 -2
1 0 1 3 0 1 1
4 1 a 1 1
4 1 b 1 2
4 1 c 1 3
4 4 fact 0
4 1 d 2 1 2
0
)";

TEST(SolveProgram, ModelsComeOneByOneOrAll) {
  SolveOptions options = asking_for(SirAnswer::Models);
  options.report.quiet = false;
  options.models = 0;
  Answer all = answer(kAnyModel, options);
  EXPECT_EQ(all.exit_code, 30);
  for (const char* line :
       {"c 3 atoms, 3 rules\n", "v b fact\n", "v a c fact\n", "v a b c fact d\n"}) {
    EXPECT_NE(all.text.find(line), std::string::npos) << all.text;
  }
  EXPECT_TRUE(all.text.ends_with("c models 3\ns SATISFIABLE\n")) << all.text;
  options = quiet_options();
  options.assumptions = {"not b"};
  EXPECT_EQ(answer(kAnyModel, options), (Answer{10, "v a c fact\ns SATISFIABLE\n"}));
  options.assumptions = {"not b", "not a"};
  EXPECT_EQ(answer(kAnyModel, options), (Answer{20, "s UNSATISFIABLE\n"}));
  options.assumptions = {"not fact"};
  EXPECT_EQ(answer(kAnyModel, options), (Answer{20, "s UNSATISFIABLE\n"}));
  options.assumptions = {"fact", "a", "b"};
  EXPECT_EQ(answer(kAnyModel, options), (Answer{10, "v a b c fact d\ns SATISFIABLE\n"}));
  for (const char* wrong : {"x", "not x", "d", ""}) {
    options.assumptions = {wrong};
    EXPECT_EQ(answer(kAnyModel, options), (Answer{1, ""})) << wrong;
  }
}

TEST(SolveProgram, MinimizeStatementsAskForTheBest) {
  const Answer best = answer(kProgram, quiet_options());
  EXPECT_EQ(best.exit_code, 30);
  EXPECT_TRUE(best.text.ends_with("o 1\nv b fact\ns OPTIMUM FOUND\n")) << best.text;
  SolveOptions all = asking_for(SirAnswer::Models);
  all.models = 0;
  EXPECT_TRUE(answer(kProgram, all).text.ends_with("o 1\nv b fact\ns OPTIMUM FOUND\n"));
}

TEST(SolveProgram, CountsAndConsequences) {
  EXPECT_EQ(answer(kProgram, asking_for(SirAnswer::Count)), (Answer{30, "n 3\ns SATISFIABLE\n"}));
  EXPECT_EQ(answer(kProgram, asking_for(SirAnswer::Cautious)),
            (Answer{30, "v fact\ns SATISFIABLE\n"}));
  EXPECT_EQ(answer(kProgram, asking_for(SirAnswer::Brave)),
            (Answer{30, "v a b c fact\ns SATISFIABLE\n"}));
  SolveOptions none = asking_for(SirAnswer::Count);
  none.assumptions = {"not a", "not b"};
  EXPECT_EQ(answer(kProgram, none), (Answer{20, "n 0\ns UNSATISFIABLE\n"}));
}

TEST(SolveProgram, CoresNameWhatWasAssumed) {
  SolveOptions options = asking_for(SirAnswer::Core);
  options.assumptions = {"fact", "not b", "not a"};
  const Answer core = answer(kProgram, options);
  EXPECT_EQ(core.exit_code, 20);
  EXPECT_NE(core.text.find("f not a\n"), std::string::npos) << core.text;
  EXPECT_NE(core.text.find("f not b\n"), std::string::npos) << core.text;
  EXPECT_EQ(core.text.find("fact"), std::string::npos) << core.text;
  options.assumptions = {"not fact"};
  EXPECT_EQ(answer(kProgram, options), (Answer{20, "f not fact\ns UNSATISFIABLE\n"}));
}

TEST(SolveProgram, ProjectionShowsEachAnswerOnce) {
  constexpr std::string_view kHidden = "asp 1 0 0\n1 1 3 1 2 3 0 0\n4 1 a 1 1\n4 1 d 2 2 3\n0\n";
  SolveOptions options = asking_for(SirAnswer::Models);
  options.models = 0;
  options.project = true;
  const Answer all = answer(kHidden, options);
  EXPECT_EQ(all.exit_code, 30);
  EXPECT_EQ(std::ranges::count(all.text, 'v'), 4) << all.text;
  options.answer = SirAnswer::Count;
  EXPECT_EQ(answer(kHidden, options), (Answer{30, "n 4\ns SATISFIABLE\n"}));
  // What a program projects onto counts only where that is asked for.
  constexpr std::string_view kProjected = "asp 1 0 0\n1 1 3 1 2 3 0 0\n3 1 1\n0\n";
  EXPECT_EQ(answer(kProjected, options).text, "n 2\ns SATISFIABLE\n");
  options.project = false;
  EXPECT_EQ(answer(kProjected, options).text, "n 8\ns SATISFIABLE\n");
}

TEST(SolveProgram, BadTextIsAnError) {
  EXPECT_EQ(answer("p cnf 1 1\n", quiet_options()), (Answer{1, ""}));
}

TEST(SolveProgram, WithoutRoomIsUnknown) {
  SolveOptions options = quiet_options();
  options.memory_bytes = 1;
  EXPECT_EQ(answer(kProgram, options), (Answer{0, "s UNKNOWN\n"}));
}

}  // namespace
}  // namespace xlog::cli
