// How fast formulas are solved, beside the `cadical` program on the same files. Both read a file
// and solve it in a process of its own; the time is what the process took of the processor, the
// best of the repetitions. Then how fast DIMACS text is read.
//
//   bench_solve [repetitions] [part of a name]

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>

#include "generate_formulas.h"
#include "solve/dimacs.h"
#include "solve/portfolio.h"
#include "solve/solver.h"

namespace {

namespace fs = std::filesystem;
namespace solve = xlog::solve;
using Clock = std::chrono::steady_clock;

struct Instance {
  std::string name;
  solve::Cnf formula;
};

std::vector<Instance> instances() {
  return {
      {"random 3-SAT 200, a", bench::random_3sat(200, 4.26, 1)},
      {"random 3-SAT 200, b", bench::random_3sat(200, 4.26, 4)},
      {"random 3-SAT 240, a", bench::random_3sat(240, 4.26, 1)},
      {"random 3-SAT 240, b", bench::random_3sat(240, 4.26, 2)},
      {"pigeons 8", bench::pigeon_holes(8)},
      {"pigeons 9", bench::pigeon_holes(9)},
      {"3 colours, 400 nodes", bench::colouring(400, 920, 3, 1)},
      {"5 colours, 130 nodes", bench::colouring(130, 715, 5, 1)},
      {"product 16, prime", bench::Multiplication::formula(16, 3199999973)},
      {"product 18, prime", bench::Multiplication::formula(18, 34359738337)},
      {"product 20, composite", bench::Multiplication::formula(20, 799999ULL * 900001ULL)},
  };
}

[[noreturn]] void fail(const std::string& what) {
  std::fprintf(stderr, "bench_solve: %s\n", what.c_str());
  std::exit(1);
}

std::string read_whole(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

struct Measured {
  int answer = 0;  // 10 or 20
  double seconds = 0;
};

// What `work` takes in a process of its own, whose exit status it gives.
Measured measure(const std::function<int()>& work) {
  std::fflush(nullptr);
  const pid_t child = fork();
  if (child < 0) fail("cannot start a process");
  if (child == 0) _exit(work());
  int status = 0;
  rusage usage = {};
  if (wait4(child, &status, 0, &usage) != child || !WIFEXITED(status)) fail("a solver crashed");
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
  };
  return {WEXITSTATUS(status), seconds(usage.ru_utime) + seconds(usage.ru_stime)};
}

Measured best_of(int repetitions, const std::function<int()>& work) {
  Measured best = measure(work);
  for (int i = 1; i < repetitions; ++i) {
    const Measured again = measure(work);
    if (again.answer != best.answer) fail("two runs differ");
    best.seconds = std::min(best.seconds, again.seconds);
  }
  return best;
}

int solve_here(const fs::path& file) {
  const auto cnf = solve::read_cnf(read_whole(file), file.string());
  auto solver = solve::cadical_solver();
  if (!cnf.ok() || !solver.ok()) return 1;
  (*solver)->add(*cnf);
  const solve::Outcome outcome = (*solver)->solve({});
  return outcome == solve::Outcome::Sat ? 10 : outcome == solve::Outcome::Unsat ? 20 : 0;
}

int solve_with_cadical(const fs::path& file) {
  const int nowhere = open("/dev/null", O_WRONLY);
  dup2(nowhere, STDOUT_FILENO);
  execlp("cadical", "cadical", "-q", file.c_str(), nullptr);
  return 1;
}

// On the clock: it runs on several threads.
double portfolio_seconds(const solve::Cnf& cnf, uint32_t threads, int answer) {
  auto solver = solve::portfolio_solver(solve::cadical_portfolio(threads));
  if (!solver.ok()) fail(solver.error().text());
  const auto begin = Clock::now();
  (*solver)->add(cnf);
  const solve::Outcome outcome = (*solver)->solve({});
  if ((outcome == solve::Outcome::Sat) != (answer == 10)) fail("the portfolio differs");
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

void measure_solving(const fs::path& folder, int repetitions, const std::string& part) {
  fmt::print("{:<24} {:>10} {:>10} {:>7}  {:>12}  {}\n", "formula", "xlog s", "cadical s", "ratio",
             "2 engines s", "answer");
  double ours_total = 0, theirs_total = 0;
  for (const Instance& instance : instances()) {
    if (instance.name.find(part) == std::string::npos) continue;
    const fs::path file = folder / "formula.cnf";
    std::ofstream(file) << solve::cnf_text(instance.formula);
    const Measured ours = best_of(repetitions, [&] { return solve_here(file); });
    const Measured theirs = best_of(repetitions, [&] { return solve_with_cadical(file); });
    if (theirs.answer != 10 && theirs.answer != 20) fail("cadical does not run: install it");
    if (ours.answer != theirs.answer) fail(instance.name + ": the answers differ");
    fmt::print("{:<24} {:>10.3f} {:>10.3f} {:>7.2f}  {:>12.3f}  {}\n", instance.name, ours.seconds,
               theirs.seconds, ours.seconds / theirs.seconds,
               portfolio_seconds(instance.formula, 2, ours.answer),
               ours.answer == 10 ? "satisfiable" : "unsatisfiable");
    std::fflush(stdout);
    ours_total += ours.seconds;
    theirs_total += theirs.seconds;
  }
  fmt::print("{:<24} {:>10.3f} {:>10.3f} {:>7.2f}\n\n", "all", ours_total, theirs_total,
             ours_total / theirs_total);
}

void measure_reading(int repetitions) {
  const std::string text = solve::cnf_text(bench::random_3sat(1'000'000, 4.26, 1));
  double best = 1e9;
  for (int i = 0; i < repetitions; ++i) {
    const auto begin = Clock::now();
    if (!solve::read_cnf(text, "text").ok()) fail("cannot read what was written");
    best = std::min(best, std::chrono::duration<double>(Clock::now() - begin).count());
  }
  const double megabytes = static_cast<double>(text.size()) * 1e-6;
  fmt::print("reading DIMACS: {:.0f} MB in {:.3f} s, {:.0f} MB/s\n", megabytes, best,
             megabytes / best);
}

}  // namespace

int main(int argc, char** argv) {
  const int repetitions = argc > 1 ? std::max(1, std::atoi(argv[1])) : 3;
  const std::string part = argc > 2 ? argv[2] : "";
  const fs::path folder =
      fs::temp_directory_path() / fmt::format("bench_solve_{}", static_cast<int>(getpid()));
  fs::create_directories(folder);
  measure_solving(folder, repetitions, part);
  fs::remove_all(folder);
  measure_reading(repetitions);
  return 0;
}
