// How fast whole Datalog programs run, beside Soufflé's compiled programs where there is a
// `souffle` on the PATH or in $SOUFFLE. Each workload is a program (bench/datalog/NAME.xlog and
// bench/souffle/NAME.dl) on an input from generate.h. Both engines read the same files and print
// the sizes of the same relations, which must agree; they take turns, and the best run of each
// counts. Soufflé's compiling is not counted.
//
//   bench_datalog [--scale small|full] [--repeat N] [--limit SECONDS] [--strict]
//                 [--work FOLDER] [--souffle-threads N] [PART-OF-A-WORKLOAD'S-NAME...]
//
// --strict  fails where xlog refuses a workload, instead of saying why
// --work    keeps inputs and Soufflé's compiled programs there for the next run
// --souffle-threads  for Soufflé, whose short rounds run faster with 1 (default: all cores)
// $XLOG     the xlog to measure, instead of the one built beside this program

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <optional>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "generate.h"

namespace xlog::bench {
namespace {

namespace fs = std::filesystem;

// ---- Workloads ----

struct Input {
  std::string name;
  std::function<Tables(bool full)> make;
};

struct Workload {
  std::string program;
  Input input;

  std::string name() const { return program + "/" + input.name; }
};

constexpr uint64_t kSeed = 1;

Input random_input(std::string name, uint32_t nodes, size_t edges) {
  return {std::move(name), [=](bool full) {
            const uint32_t part = full ? 1 : 10;
            return random_graph(nodes / part, edges / part, kSeed);
          }};
}

Input rmat_input(std::string name, Rmat full_shape, Direction direction, Numbering numbering) {
  return {std::move(name), [=](bool full) {
            return rmat(full ? full_shape : Rmat{10, 5'000}, direction, numbering, kSeed);
          }};
}

std::vector<Workload> all_workloads() {
  const Input grid_100{"grid", [](bool full) { return full ? grid(100, 100) : grid(15, 15); }};
  const Input grid_30{"grid_30", [](bool full) { return full ? grid(30, 30) : grid(10, 10); }};
  const Input path_5000{"path", [](bool full) { return path(full ? 5'000 : 300); }};
  const Input path_1000{"path_1000", [](bool full) { return path(full ? 1'000 : 100); }};
  const Input tree{"tree", [](bool full) { return binary_tree(full ? 12 : 6); }};
  const Input weighted{"weighted", [](bool full) {
                         return full ? weighted_graph(200'000, 1'000'000, 100, kSeed)
                                     : weighted_graph(500, 2'500, 100, kSeed);
                       }};
  const Input functions{"functions", [](bool full) {
                          return cspa({full ? 6'000u : 60u, 50, 0.9, 0.005, 0.2}, kSeed);
                        }};
  const Input pointers{"pointers", [](bool full) {
                         return andersen({full ? 10'000u : 100u, 50, 1.0, 0.01, 0.1, 0.1}, kSeed);
                       }};
  // Near the point where everything points everywhere: a row is found hundreds of times.
  const Input tangle{"tangle", [](bool full) {
                       return andersen({full ? 200u : 20u, 50, 0.8, 0.05, 0.2, 0.2}, kSeed);
                     }};
  const Input with_nodes{"random_3k", [](bool full) {
                           const uint32_t nodes = full ? 3'000 : 300;
                           Tables tables = random_graph(nodes, 2 * nodes, kSeed);
                           tables.push_back(numbers_table("node", nodes));
                           return tables;
                         }};
  const Input network{"network", [](bool full) {
                        return social(full ? SocialShape{14, 120'000, 300'000, 2'000, 500, 50}
                                           : SocialShape{8, 1'000, 2'000, 50, 20, 5},
                                      kSeed);
                      }};

  std::vector<Workload> workloads;
  for (const char* program : {"tc_left", "tc_right"}) {
    workloads.push_back({program, random_input("random_3k", 3'000, 6'000)});
    workloads.push_back({program, random_input("random_8k", 8'000, 16'000)});
    workloads.push_back({program, random_input("sparse_20k", 20'000, 24'000)});
    workloads.push_back({program, grid_100});
    workloads.push_back({program, path_5000});
  }
  // Doubling finds a row once for every node on the way, so its inputs are smaller.
  workloads.push_back({"tc_nonlinear", random_input("random_1k", 1'000, 2'000)});
  workloads.push_back({"tc_nonlinear", grid_30});
  workloads.push_back({"tc_nonlinear", path_1000});
  workloads.push_back({"same_generation", tree});

  const std::pair<const char*, Numbering> numberings[] = {{"rmat_drawn", Numbering::Drawn},
                                                          {"rmat_shuffled", Numbering::Shuffled},
                                                          {"rmat_by_degree", Numbering::ByDegree}};
  const auto pattern = [&](const char* program, Rmat shape, Direction direction) {
    for (const auto& [name, numbering] : numberings) {
      workloads.push_back({program, rmat_input(name, shape, direction, numbering)});
    }
  };
  pattern("triangle_count", {17, 1'000'000}, Direction::LowToHigh);
  pattern("triangle_list", {17, 1'000'000}, Direction::LowToHigh);
  pattern("clique4_count", {15, 200'000}, Direction::LowToHigh);
  pattern("clique4_list", {15, 200'000}, Direction::LowToHigh);
  pattern("cycle4_count", {14, 60'000}, Direction::Directed);
  pattern("cycle4_list", {14, 60'000}, Direction::Directed);

  workloads.push_back({"cspa", functions});
  workloads.push_back({"andersen", pointers});
  workloads.push_back({"andersen", tangle});
  workloads.push_back({"shortest_path", weighted});
  workloads.push_back({"negation", with_nodes});
  workloads.push_back({"social", network});
  return workloads;
}

// ---- Running programs ----

struct Ended {
  int exit_code = 0;  // 128 + the signal where one ended it, as a shell says it
  double seconds = 0;
  double peak_mb = 0;
  std::string output;
  std::string messages;
};

constexpr int kOutOfTime = 128 + SIGALRM;

std::string read_text(const fs::path& file) {
  std::ifstream in(file);
  return {std::istreambuf_iterator<char>(in), {}};
}

int code_of(int status) {
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

// Runs a command with its output in files of `work`. Forked, not spawned: a process spawned with
// our memory would have our peak counted into its own.
Ended run(const std::vector<std::string>& command, const fs::path& work, uint32_t limit_seconds) {
  const fs::path output = work / "stdout";
  const fs::path messages = work / "stderr";
  std::vector<char*> arguments;
  for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);

  const auto start = std::chrono::steady_clock::now();
  const pid_t child = fork();
  if (child == 0) {
    const int flags = O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC;
    dup2(open(output.c_str(), flags, 0644), STDOUT_FILENO);
    dup2(open(messages.c_str(), flags, 0644), STDERR_FILENO);
    alarm(limit_seconds);  // outlives exec
    execvp(arguments[0], arguments.data());
    std::perror(arguments[0]);
    _exit(127);
  }
  int status = 0;
  rusage usage{};
  if (child < 0 || wait4(child, &status, 0, &usage) != child) {
    std::perror("fork");
    std::exit(1);
  }
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
  return {code_of(status), elapsed.count(), static_cast<double>(usage.ru_maxrss) / 1024,
          read_text(output), read_text(messages)};
}

// Makes an input's files; the number of rows, or nothing where the disk refuses. Done in a child,
// so that the memory it takes stays out of what run() reports.
std::optional<size_t> write_input(const Input& input, bool full, const fs::path& folder) {
  fs::create_directories(folder);
  int result[2];
  if (pipe(result) != 0) return std::nullopt;
  const pid_t child = fork();
  if (child == 0) {
    size_t rows = 0;
    for (const Table& table : input.make(full)) {
      if (!write_facts(folder, table)) _exit(1);
      rows += table.rows();
    }
    _exit(write(result[1], &rows, sizeof rows) == sizeof rows ? 0 : 1);
  }
  close(result[1]);
  size_t rows = 0;
  int status = 1;
  const bool told = read(result[0], &rows, sizeof rows) == sizeof rows;
  close(result[0]);
  if (child < 0 || waitpid(child, &status, 0) != child || code_of(status) != 0 || !told) {
    return std::nullopt;
  }
  return rows;
}

// ---- What a program says ----

using Sizes = std::map<std::string, int64_t>;

// Reads the lines `NAME<tab>NUMBER`, which both engines print for sizes. An empty relation has no
// row to count in one of them, so a size of 0 is left out.
Sizes sizes_in(const std::string& output) {
  Sizes sizes;
  std::istringstream lines(output);
  for (std::string line; std::getline(lines, line);) {
    const size_t tab = line.find('\t');
    if (tab == std::string::npos) continue;
    int64_t value = 0;
    const char* end = line.data() + line.size();
    const auto [rest, error] = std::from_chars(line.data() + tab + 1, end, value);
    if (error == std::errc() && rest == end && value != 0) sizes[line.substr(0, tab)] = value;
  }
  return sizes;
}

// Numbers named `check_...` are compared like sizes, but are none.
int64_t rows_in(const Sizes& sizes) {
  int64_t rows = 0;
  for (const auto& [name, size] : sizes) rows += name.starts_with("check_") ? 0 : size;
  return rows;
}

std::string first_difference(const Sizes& ours, const Sizes& theirs) {
  const auto size_in = [](const Sizes& sizes, const std::string& name) {
    const auto found = sizes.find(name);
    return found == sizes.end() ? 0 : found->second;
  };
  Sizes either = ours;
  either.insert(theirs.begin(), theirs.end());
  for (const auto& [name, size] : either) {
    const int64_t our_size = size_in(ours, name);
    const int64_t their_size = size_in(theirs, name);
    if (our_size != their_size) {
      return fmt::format("{}: {} in xlog, {} in Soufflé", name, our_size, their_size);
    }
  }
  return "";
}

// The first line of a program's complaint.
std::string complaint(const Ended& ended) {
  if (ended.exit_code == kOutOfTime) return "out of time";
  const std::string line = ended.messages.substr(0, ended.messages.find('\n'));
  return line.empty() ? fmt::format("exit code {}", ended.exit_code) : line;
}

// ---- The two engines ----

struct Engines {
  fs::path xlog;
  std::string souffle;  // empty: not measured
  fs::path programs;    // the folder with datalog/ and souffle/
  fs::path work;
  uint32_t limit_seconds = 600;
  uint32_t souffle_threads = 1;
  double souffle_compile_seconds = 0;
};

std::vector<std::string> xlog_command(const Engines& engines, const Workload& workload,
                                      const fs::path& input) {
  std::vector<std::string> command = {
      engines.xlog,   "run",     engines.programs / "datalog" / (workload.program + ".xlog"),
      "--format=tsv", "--quiet", "--max-rows=1000000000000"};
  std::vector<fs::path> files(fs::directory_iterator(input), fs::directory_iterator{});
  std::sort(files.begin(), files.end());
  for (const fs::path& file : files) {
    command.push_back(fmt::format("--input={}={}", file.stem().string(), file.string()));
  }
  return command;
}

// The compiled program, made now unless an earlier run left it in the work folder; nothing, with
// the reason on standard error, where Soufflé cannot.
std::optional<fs::path> souffle_program(Engines& engines, const std::string& name) {
  const fs::path source = engines.programs / "souffle" / (name + ".dl");
  const fs::path program =
      engines.work / fmt::format("souffle_{}_j{}", name, engines.souffle_threads);
  if (fs::exists(program) && fs::last_write_time(program) > fs::last_write_time(source)) {
    return program;
  }
  const Ended compiled =
      run({engines.souffle, "-j", std::to_string(engines.souffle_threads), "-o", program, source},
          engines.work, engines.limit_seconds);
  engines.souffle_compile_seconds += compiled.seconds;
  if (compiled.exit_code == 0 && fs::exists(program)) return program;
  fmt::print(stderr, "{}: {}\n", source.string(), complaint(compiled));
  return std::nullopt;
}

// ---- One line of the table ----

struct Best {
  double seconds = INFINITY;
  double peak_mb = INFINITY;

  void take(const Ended& ended) {
    seconds = std::min(seconds, ended.seconds);
    peak_mb = std::min(peak_mb, ended.peak_mb);
  }
};

enum class Verdict : uint8_t { Measured, Refused, Failed };

struct Line {
  Verdict verdict = Verdict::Measured;
  double time_ratio = 0;  // 0: nothing to compare with
  double memory_ratio = 0;
};

Line measure(Engines& engines, const Workload& workload, bool full, uint32_t repetitions) {
  fmt::print("{:<31}", workload.name());
  std::fflush(stdout);
  const auto failed = [](const std::string& why) {
    fmt::print("  FAILED: {}\n", why);
    return Line{Verdict::Failed};
  };
  const fs::path input = engines.work / (full ? "full" : "small") / workload.name();
  const std::optional<size_t> rows_read = write_input(workload.input, full, input);
  if (!rows_read) return failed("cannot write the input to " + input.string());
  std::optional<fs::path> compiled;
  if (!engines.souffle.empty()) {
    compiled = souffle_program(engines, workload.program);
    if (!compiled) return failed("Soufflé did not compile its program");
  }

  Best ours;
  Best theirs;
  Sizes sizes;
  bool souffle_in_time = compiled.has_value();
  for (uint32_t i = 0; i < repetitions; ++i) {
    const Ended xlog =
        run(xlog_command(engines, workload, input), engines.work, engines.limit_seconds);
    if (xlog.exit_code > 128 && xlog.exit_code != kOutOfTime) return failed(complaint(xlog));
    if (xlog.exit_code != 0) {
      fmt::print("  not done: {}\n", complaint(xlog));
      return {Verdict::Refused};
    }
    ours.take(xlog);
    sizes = sizes_in(xlog.output);
    if (!souffle_in_time) continue;
    const Ended souffle =
        run({*compiled, "-j", std::to_string(engines.souffle_threads), "-F", input}, engines.work,
            engines.limit_seconds);
    if (souffle.exit_code == kOutOfTime) {
      souffle_in_time = false;
      continue;
    }
    if (souffle.exit_code != 0) return failed("Soufflé: " + complaint(souffle));
    theirs.take(souffle);
    const std::string difference = first_difference(sizes, sizes_in(souffle.output));
    if (!difference.empty()) return failed(difference);
  }

  fmt::print("{:>9} {:>10} {:>8.2f}", *rows_read, rows_in(sizes), ours.seconds);
  if (!souffle_in_time) {
    fmt::print(" {:>8} {:>6} {:>7.0f}\n",
               compiled ? fmt::format(">{}", engines.limit_seconds) : "-", "-", ours.peak_mb);
    return {};
  }
  const Line line{Verdict::Measured, ours.seconds / theirs.seconds, ours.peak_mb / theirs.peak_mb};
  fmt::print(" {:>8.2f} {:>6.2f} {:>7.0f} {:>7.0f} {:>6.2f}\n", theirs.seconds, line.time_ratio,
             ours.peak_mb, theirs.peak_mb, line.memory_ratio);
  return line;
}

// ---- Finding things ----

std::string souffle_to_use() {
  if (const char* chosen = std::getenv("SOUFFLE")) return chosen;
  const char* path = std::getenv("PATH");
  std::istringstream folders(path == nullptr ? "" : path);
  for (std::string folder; std::getline(folders, folder, ':');) {
    const fs::path program = fs::path(folder) / "souffle";
    if (access(program.c_str(), X_OK) == 0) return program;
  }
  return "";
}

fs::path xlog_to_use(const fs::path& own_folder) {
  if (const char* chosen = std::getenv("XLOG")) return chosen;
  return own_folder.parent_path() / "xlog";
}

// The bench/ of the source tree that this program was built in.
fs::path programs_above(fs::path folder) {
  for (; folder != folder.root_path(); folder = folder.parent_path()) {
    if (fs::exists(folder / "bench" / "datalog")) return folder / "bench";
  }
  return {};
}

// ---- Command line ----

struct Options {
  bool full = false;
  bool strict = false;
  uint32_t repetitions = 3;
  uint32_t limit_seconds = 600;
  uint32_t souffle_threads = std::max(1u, std::thread::hardware_concurrency());
  std::string work;  // empty: a temporary folder
  std::vector<std::string> wanted;
};

int usage() {
  fmt::print(stderr,
             "usage: bench_datalog [--scale small|full] [--repeat N] [--limit SECONDS] [--strict]\n"
             "                     [--work FOLDER] [--souffle-threads N] "
             "[PART-OF-A-WORKLOAD'S-NAME...]\n");
  return 2;
}

std::optional<Options> parse(const std::vector<std::string>& words) {
  Options options;
  for (size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i];
    if (word == "--strict") {
      options.strict = true;
      continue;
    }
    if (!word.starts_with("-")) {
      options.wanted.push_back(word);
      continue;
    }
    if (i + 1 == words.size()) return std::nullopt;
    const std::string& value = words[++i];
    const auto number = static_cast<uint32_t>(std::strtoul(value.c_str(), nullptr, 10));
    if (word == "--scale" && (value == "small" || value == "full")) {
      options.full = value == "full";
    } else if (word == "--repeat" && number > 0) {
      options.repetitions = number;
    } else if (word == "--limit" && number > 0) {
      options.limit_seconds = number;
    } else if (word == "--souffle-threads" && number > 0) {
      options.souffle_threads = number;
    } else if (word == "--work") {
      options.work = value;
    } else {
      return std::nullopt;
    }
  }
  return options;
}

bool is_wanted(const Workload& workload, const std::vector<std::string>& wanted) {
  const std::string name = workload.name();
  return wanted.empty() || std::any_of(wanted.begin(), wanted.end(), [&](const std::string& part) {
           return name.find(part) != std::string::npos;
         });
}

// Measures the workloads that are asked for; whether all went well.
bool measure_all(Engines& engines, const Options& options) {
  fmt::print("{:<31}{:>9} {:>10} {:>8} {:>8} {:>6} {:>7} {:>7} {:>6}\n", "", "rows in", "rows out",
             "xlog s", "souffle", "ratio", "xlog MB", "souffle", "ratio");
  uint32_t measured = 0;
  uint32_t compared = 0;
  uint32_t refused = 0;
  uint32_t failed = 0;
  double time_logs = 0;
  double memory_logs = 0;
  for (const Workload& workload : all_workloads()) {
    if (!is_wanted(workload, options.wanted)) continue;
    const Line line = measure(engines, workload, options.full, options.repetitions);
    measured += line.verdict == Verdict::Measured;
    refused += line.verdict == Verdict::Refused;
    failed += line.verdict == Verdict::Failed;
    if (line.time_ratio == 0) continue;
    ++compared;
    time_logs += std::log(line.time_ratio);
    memory_logs += std::log(line.memory_ratio);
  }
  fmt::print("{} measured, {} not done by xlog, {} failed\n", measured, refused, failed);
  if (compared > 0) {
    fmt::print("geometric mean of xlog / Soufflé: time {:.2f}, memory {:.2f}\n",
               std::exp(time_logs / compared), std::exp(memory_logs / compared));
    fmt::print("Soufflé's compiling, not counted: {:.0f} s\n", engines.souffle_compile_seconds);
  }
  return measured + refused > 0 && failed == 0 && (refused == 0 || !options.strict);
}

int run_benchmark(const std::vector<std::string>& words) {
  const std::optional<Options> options = parse(words);
  if (!options) return usage();

  const fs::path own_folder = fs::canonical("/proc/self/exe").parent_path();
  Engines engines{xlog_to_use(own_folder), souffle_to_use(), programs_above(own_folder), {}};
  engines.limit_seconds = options->limit_seconds;
  engines.souffle_threads = options->souffle_threads;
  if (engines.programs.empty() || !fs::exists(engines.xlog)) {
    fmt::print(stderr, "bench_datalog: {} is missing\n",
               engines.programs.empty() ? "bench/datalog" : engines.xlog.string());
    return 1;
  }
  if (engines.souffle.empty()) fmt::print("No souffle on the PATH or in $SOUFFLE: xlog alone.\n");

  if (options->work.empty()) {
    std::string temporary = (fs::temp_directory_path() / "bench_datalog.XXXXXX").string();
    if (mkdtemp(temporary.data()) == nullptr) {
      std::perror(temporary.c_str());
      return 1;
    }
    engines.work = temporary;
  } else {
    fs::create_directories(options->work);
    engines.work = fs::canonical(options->work);
  }
  const bool well = measure_all(engines, *options);
  if (options->work.empty()) fs::remove_all(engines.work);
  return well ? 0 : 1;
}

}  // namespace
}  // namespace xlog::bench

int main(int argc, char** argv) { return xlog::bench::run_benchmark({argv + 1, argv + argc}); }
