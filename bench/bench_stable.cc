// Stable models beside clingo: the same ground text (ASPIF, from gringo) to both, one thread each.
// Ours is the time to read the text and to answer, within this process; clingo's is that of a
// process which reads the text from a file and prints no models, less the time of one that has
// nothing to do.
//
//   bench_stable [filter]

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
#include <string_view>
#include <vector>

#include "solve/aspif.h"
#include "solve/stable_models.h"
#include "solve/stable_programs.h"

namespace {

namespace solve = xlog::solve;
using solve::StableModels;
using Clock = std::chrono::steady_clock;

struct Answer {
  double seconds = 0;
  std::string text;
};

struct Task {
  std::string name;
  std::string program;
  std::string arguments;  // of clingo
  std::function<std::string(StableModels&)> answer;
  std::string marks;  // what clingo prints before the number to compare
};

std::string output_of(const std::string& command) {
  std::string out;
  std::FILE* pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) return out;
  char buffer[1 << 16];
  size_t n = 0;
  while ((n = fread(buffer, 1, sizeof buffer, pipe)) > 0) out.append(buffer, n);
  pclose(pipe);
  return out;
}

// The number behind the last `mark` in the text.
std::string number_behind(const std::string& text, const std::string& mark) {
  const size_t at = text.rfind(mark);
  if (at == std::string::npos) return "?";
  const size_t begin = text.find_first_of("-0123456789", at + mark.size());
  const size_t end = text.find_first_not_of("-0123456789", begin + 1);
  return text.substr(begin, end - begin);
}

Answer run_clingo(const std::string& file, const Task& task) {
  const auto begin = Clock::now();
  const std::string out =
      output_of(fmt::format("clingo --mode=clasp -q {} {} 2>/dev/null", task.arguments, file));
  const double seconds = std::chrono::duration<double>(Clock::now() - begin).count();
  return {seconds, number_behind(out, task.marks)};
}

Answer run_ours(const std::string& text, const Task& task) {
  const auto begin = Clock::now();
  auto read = solve::read_aspif(text, "bench");
  if (!read.ok()) return {0, read.error().text()};
  StableModels solver;
  if (auto added = solver.add(std::move(read->program)); !added.ok()) {
    return {0, added.error().text()};
  }
  const std::string answer = task.answer(solver);
  return {std::chrono::duration<double>(Clock::now() - begin).count(), answer};
}

std::function<std::string(StableModels&)> models(uint64_t most) {
  return [most](StableModels& solver) {
    uint64_t seen = 0;
    const auto found = solver.enumerate({}, [&](const StableModels&) { return ++seen != most; });
    return std::to_string(found.models);
  };
}

std::string count(StableModels& solver) { return solver.count({}).models.get_str(); }
std::string size_of_cautious(StableModels& solver) {
  std::vector<solve::Atom> named;
  for (const auto& item : solver.program().shown) {
    if (item.condition.size() == 1) named.push_back(item.condition[0]);
  }
  return std::to_string(solver.cautious({}, named).atoms.size());
}
std::string size_of_brave(StableModels& solver) {
  std::vector<solve::Atom> named;
  for (const auto& item : solver.program().shown) {
    if (item.condition.size() == 1) named.push_back(item.condition[0]);
  }
  return std::to_string(solver.brave({}, named).atoms.size());
}
std::string optimum(StableModels& solver) {
  const auto best = solver.optimize({});
  return best.costs.empty() ? "none" : std::to_string(best.costs[0].value);
}

std::vector<Task> tasks() {
  const std::string all = "-n 0";
  const std::string found = "Models       :";
  const std::string best = "Optimization :";
  const std::string known = "Consequences :";
  return {
      {"queens 8, all", solve::queens(8), all, models(0), found},
      {"queens 10, all", solve::queens(10), all, models(0), found},
      {"queens 40, first", solve::queens(40), "-n 1", models(1), found},
      {"3-colouring 60, 200000", solve::colouring(60, 100, 3, 1), "-n 200000", models(200000),
       found},
      {"3-colouring 400, first", solve::colouring(400, 900, 3, 1), "-n 1", models(1), found},
      {"Hamilton 16, all", solve::hamiltonian(16, 40, 3), all, models(0), found},
      {"Hamilton 60, 20000", solve::hamiltonian(60, 160, 3), "-n 20000", models(20000), found},
      {"Hamilton 150, first", solve::hamiltonian(150, 700, 3), "-n 1", models(1), found},
      {"subset sums 22, all", solve::subset_sums(22, 60, 1), all, models(0), found},
      {"2-QBF 16+16, all", solve::two_qbf(16, 16, 60, 1), all, models(0), found},
      {"2-QBF 40+40, first", solve::two_qbf(40, 40, 110, 2), "-n 1", models(1), found},
      {"free 20, all", solve::free_choice(20), all, models(0), found},
      {"2 x 3-colouring 8, counted",
       solve::colouring(8, 9, 3, 1) +
           "1 {d(X,C) : col(C)} 1 :- node(X). :- edge(X,Y), d(X,C), d(Y,C).",
       all, count, found},
      {"3-colouring 60, cautious", solve::colouring(60, 130, 3, 2) + ":- not c(1,1). #show c/2.",
       "-n 0 -e cautious", size_of_cautious, known},
      {"3-colouring 60, brave", solve::colouring(60, 130, 3, 2) + ":- not c(1,1). #show c/2.",
       "-n 0 -e brave", size_of_brave, known},
      {"reachability 150, cautious", solve::reachability(150, 400, 1) + "#show on/2.",
       "-n 0 -e cautious", size_of_cautious, known},
      {"reachability 150, brave", solve::reachability(150, 400, 1) + "#show on/2.", "-n 0 -e brave",
       size_of_brave, known},
      {"dominating set 60, optimum", solve::dominating_set(60, 120, 1), "-n 0", optimum, best},
      {"travelling 9, optimum", solve::travelling(9, 1), "-n 0", optimum, best},
  };
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view filter = argc > 1 ? argv[1] : "";
  if (system("command -v gringo clingo > /dev/null") != 0) {
    fmt::print("gringo and clingo are missing (package gringo): nothing to measure beside\n");
    return 0;
  }
  const std::string folder =
      (std::filesystem::temp_directory_path() / fmt::format("bench_stable.{}", getpid())).string();
  std::filesystem::create_directories(folder);
  const std::string source = folder + "/program.lp";
  const std::string ground = folder + "/ground.aspif";
  const auto write = [](const std::string& path, const std::string& text) {
    std::ofstream(path) << text;
  };

  write(ground, "asp 1 0 0\n0\n");
  double start = 1e9;
  for (int i = 0; i < 5; ++i) {
    start = std::min(start, run_clingo(ground, {"", "", "", nullptr, "Models       :"}).seconds);
  }
  fmt::print("{:<28} {:>9} {:>10} {:>10} {:>7}  {}\n", "", "KiB", "ours, s", "clingo, s", "ratio",
             "answer");
  for (const Task& task : tasks()) {
    if (task.name.find(filter) == std::string::npos) continue;
    write(source, task.program);
    const std::string text = output_of(fmt::format("gringo {}", source));
    write(ground, text);
    Answer ours = run_ours(text, task);
    const Answer clingo = run_clingo(ground, task);
    for (int i = 0; i < 2 && ours.seconds < 0.1; ++i) {
      ours.seconds = std::min(ours.seconds, run_ours(text, task).seconds);
    }
    const double theirs = std::max(1e-4, clingo.seconds - start);
    fmt::print("{:<28} {:>9} {:>10.4f} {:>10.4f} {:>7.2f}  {}\n", task.name, text.size() / 1024,
               ours.seconds, theirs, ours.seconds / theirs,
               ours.text == clingo.text
                   ? ours.text
                   : fmt::format("{} DIFFERS from {}", ours.text, clingo.text));
    std::fflush(stdout);
  }
  std::filesystem::remove_all(folder);
  return 0;
}
