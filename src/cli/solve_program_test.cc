#include "cli/solve_program.h"

#include <gtest/gtest.h>

namespace xlog::cli {
namespace {

struct Answer {
  int exit_code = 0;
  std::string text;

  bool operator==(const Answer&) const = default;
};
void PrintTo(const Answer& answer, std::ostream* out) {
  *out << "exit code " << answer.exit_code << "\n" << answer.text;
}

Answer answer(std::string_view program, const ProgramOptions& options) {
  char* data = nullptr;
  size_t size = 0;
  std::FILE* out = open_memstream(&data, &size);
  Answer result;
  result.exit_code = solve_program(program, "test.lp", options, out);
  std::fclose(out);
  result.text.assign(data, size);
  std::free(data);
  return result;
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

TEST(SolveProgram, ModelsComeOneByOneOrAll) {
  ProgramOptions options;
  options.ignore_minimize = true;
  options.models = 0;
  Answer all = answer(kProgram, options);
  EXPECT_EQ(all.exit_code, 30);
  for (const char* line : {"v b fact\n", "v a c fact\n", "v a b c fact d\n"}) {
    EXPECT_NE(all.text.find(line), std::string::npos) << all.text;
  }
  EXPECT_TRUE(all.text.ends_with("c models 3\ns SATISFIABLE\n")) << all.text;
  options.models = 1;
  options.assumptions = {"not b"};
  EXPECT_EQ(answer(kProgram, options), (Answer{10, "v a c fact\nc models 1+\ns SATISFIABLE\n"}));
  options.assumptions = {"not b", "not a"};
  EXPECT_EQ(answer(kProgram, options), (Answer{20, "c models 0\ns UNSATISFIABLE\n"}));
  options.assumptions = {"not fact"};
  EXPECT_EQ(answer(kProgram, options), (Answer{20, "s UNSATISFIABLE\n"}));
  options.assumptions = {"x"};
  EXPECT_EQ(answer(kProgram, options), (Answer{1, ""}));
}

TEST(SolveProgram, MinimizeStatementsAskForTheBest) {
  ProgramOptions options;
  options.quiet = true;
  const Answer best = answer(kProgram, options);
  EXPECT_EQ(best.exit_code, 30);
  EXPECT_TRUE(best.text.ends_with("o 1\nv b fact\ns OPTIMUM FOUND\n")) << best.text;
}

TEST(SolveProgram, CountsAndConsequences) {
  ProgramOptions options;
  options.task = ProgramTask::Count;
  EXPECT_EQ(answer(kProgram, options), (Answer{30, "c models 3\ns SATISFIABLE\n"}));
  options.quiet = true;
  options.task = ProgramTask::Cautious;
  EXPECT_EQ(answer(kProgram, options), (Answer{30, "v fact\ns SATISFIABLE\n"}));
  options.task = ProgramTask::Brave;
  EXPECT_EQ(answer(kProgram, options), (Answer{30, "v a b c fact\ns SATISFIABLE\n"}));
}

TEST(SolveProgram, ProjectionShowsEachAnswerOnce) {
  constexpr std::string_view kHidden = "asp 1 0 0\n1 1 3 1 2 3 0 0\n4 1 a 1 1\n4 1 d 2 2 3\n0\n";
  ProgramOptions options;
  options.models = 0;
  options.quiet = true;
  options.project = true;
  const Answer all = answer(kHidden, options);
  EXPECT_EQ(all.exit_code, 30);
  EXPECT_EQ(std::ranges::count(all.text, 'v'), 4) << all.text;
}

TEST(SolveProgram, BadTextIsAnError) { EXPECT_EQ(answer("p cnf 1 1\n", {}), (Answer{1, ""})); }

TEST(SolveProgram, OutOfTimeIsUnknown) {
  ProgramOptions options;
  options.limits.deadline = std::chrono::steady_clock::now();
  EXPECT_EQ(answer(kProgram, options), (Answer{0, "c out of time\ns UNKNOWN\n"}));
}

}  // namespace
}  // namespace xlog::cli
