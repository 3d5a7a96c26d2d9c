// Runs programs and says what they took and what they said; and the two engines that benchmarks
// compare.
#pragma once

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <chrono>
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
#include <vector>

#include "generate.h"

namespace xlog::bench {

// ---- Running programs ----

struct Ended {
  int exit_code = 0;  // 128 + the signal where one ended it, as a shell says it
  double seconds = 0;
  double cpu_seconds = 0;  // of all threads
  double peak_mb = 0;
  std::string output;
  std::string messages;
};

constexpr int kOutOfTime = 128 + SIGALRM;

inline std::string read_text(const std::filesystem::path& file) {
  std::ifstream in(file);
  return {std::istreambuf_iterator<char>(in), {}};
}

inline int code_of(int status) {
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

// Runs a command with its output in files of `work`. Forked, not spawned: a process spawned with
// our memory would have our peak counted into its own.
inline Ended run(const std::vector<std::string>& command, const std::filesystem::path& work,
                 uint32_t limit_seconds) {
  const std::filesystem::path output = work / "stdout";
  const std::filesystem::path messages = work / "stderr";
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
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
  };
  return {code_of(status),
          elapsed.count(),
          seconds(usage.ru_utime) + seconds(usage.ru_stime),
          static_cast<double>(usage.ru_maxrss) / 1024,
          read_text(output),
          read_text(messages)};
}

// The first line of a program's complaint.
inline std::string complaint(const Ended& ended) {
  if (ended.exit_code == kOutOfTime) return "out of time";
  const std::string line = ended.messages.substr(0, ended.messages.find('\n'));
  return line.empty() ? fmt::format("exit code {}", ended.exit_code) : line;
}

// Makes an input's files; the number of rows, or nothing where the disk refuses. Done in a child,
// so that the memory it takes stays out of what run() reports.
inline std::optional<size_t> write_input(const std::function<Tables()>& make,
                                         const std::filesystem::path& folder) {
  std::filesystem::create_directories(folder);
  int result[2];
  if (pipe(result) != 0) return std::nullopt;
  const pid_t child = fork();
  if (child == 0) {
    size_t rows = 0;
    for (const Table& table : make()) {
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

// Reads the lines `NAME<tab>NUMBER`, which all programs print for sizes. An empty relation has no
// row to count in one of them, so a size of 0 is left out.
inline Sizes sizes_in(const std::string& output) {
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
inline int64_t rows_in(const Sizes& sizes) {
  int64_t rows = 0;
  for (const auto& [name, size] : sizes) rows += name.starts_with("check_") ? 0 : size;
  return rows;
}

// Empty where all sizes agree.
inline std::string first_difference(const Sizes& ours, const Sizes& theirs,
                                    const std::string& their_name) {
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
      return fmt::format("{}: {} in xlog, {} in {}", name, our_size, their_size, their_name);
    }
  }
  return "";
}

// ---- The two engines ----

struct Engines {
  std::filesystem::path xlog;
  std::string souffle;             // empty: not measured
  std::filesystem::path programs;  // the folder with datalog/ and souffle/
  std::filesystem::path work;
  bool keeps_work = false;
  uint32_t limit_seconds = 600;
  uint32_t souffle_threads = 1;
  bool counts_cpu = false;  // time on processors instead of the clock's
  double souffle_compile_seconds = 0;
};

inline std::filesystem::path own_program() { return std::filesystem::canonical("/proc/self/exe"); }

inline std::string souffle_to_use() {
  if (const char* chosen = std::getenv("SOUFFLE")) return chosen;
  const char* path = std::getenv("PATH");
  std::istringstream folders(path == nullptr ? "" : path);
  for (std::string folder; std::getline(folders, folder, ':');) {
    const std::filesystem::path program = std::filesystem::path(folder) / "souffle";
    if (access(program.c_str(), X_OK) == 0) return program;
  }
  return "";
}

inline std::filesystem::path xlog_to_use(const std::filesystem::path& own_folder) {
  if (const char* chosen = std::getenv("XLOG")) return chosen;
  return own_folder.parent_path() / "xlog";
}

// The bench/ of the source tree that this program was built in.
inline std::filesystem::path programs_above(std::filesystem::path folder) {
  for (; folder != folder.root_path(); folder = folder.parent_path()) {
    if (std::filesystem::exists(folder / "bench" / "datalog")) return folder / "bench";
  }
  return {};
}

// Finds the engines and makes the work folder, a temporary one where none is named; nothing, with
// the reason on standard error, where something is missing.
inline std::optional<Engines> find_engines(const std::string& work) {
  const std::filesystem::path own_folder = own_program().parent_path();
  Engines engines;
  engines.xlog = xlog_to_use(own_folder);
  engines.souffle = souffle_to_use();
  engines.programs = programs_above(own_folder);
  if (engines.programs.empty() || !std::filesystem::exists(engines.xlog)) {
    fmt::print(stderr, "{}: {} is missing\n", own_program().filename().string(),
               engines.programs.empty() ? "bench/datalog" : engines.xlog.string());
    return std::nullopt;
  }
  if (engines.souffle.empty()) fmt::print("No souffle on the PATH or in $SOUFFLE: xlog alone.\n");
  engines.keeps_work = !work.empty();
  if (engines.keeps_work) {
    std::filesystem::create_directories(work);
    engines.work = std::filesystem::canonical(work);
    return engines;
  }
  std::string temporary = (std::filesystem::temp_directory_path() / "xlog_bench.XXXXXX").string();
  if (mkdtemp(temporary.data()) == nullptr) {
    std::perror(temporary.c_str());
    return std::nullopt;
  }
  engines.work = temporary;
  return engines;
}

inline double time_of(const Engines& engines, const Ended& ended) {
  return engines.counts_cpu ? ended.cpu_seconds : ended.seconds;
}

inline void leave(const Engines& engines) {
  if (!engines.keeps_work) std::filesystem::remove_all(engines.work);
}

inline std::vector<std::string> xlog_command(const Engines& engines, const std::string& program,
                                             const std::filesystem::path& input) {
  std::vector<std::string> command = {
      engines.xlog,   "run",     engines.programs / "datalog" / (program + ".xlog"),
      "--format=tsv", "--quiet", "--max-rows=1000000000000"};
  std::vector<std::filesystem::path> files(std::filesystem::directory_iterator(input),
                                           std::filesystem::directory_iterator{});
  std::sort(files.begin(), files.end());
  for (const std::filesystem::path& file : files) {
    command.push_back(fmt::format("--input={}={}", file.stem().string(), file.string()));
  }
  return command;
}

inline std::vector<std::string> souffle_command(const Engines& engines,
                                                const std::filesystem::path& compiled,
                                                const std::filesystem::path& input) {
  return {compiled, "-j", std::to_string(engines.souffle_threads), "-F", input};
}

// The compiled program, made now unless an earlier run left it in the work folder; nothing, with
// the reason on standard error, where Soufflé cannot.
inline std::optional<std::filesystem::path> souffle_program(Engines& engines,
                                                            const std::string& name) {
  const std::filesystem::path source = engines.programs / "souffle" / (name + ".dl");
  const std::filesystem::path program =
      engines.work / fmt::format("souffle_{}_j{}", name, engines.souffle_threads);
  if (std::filesystem::exists(program) &&
      std::filesystem::last_write_time(program) > std::filesystem::last_write_time(source)) {
    return program;
  }
  const Ended compiled =
      run({engines.souffle, "-j", std::to_string(engines.souffle_threads), "-o", program, source},
          engines.work, engines.limit_seconds);
  engines.souffle_compile_seconds += compiled.seconds;
  if (compiled.exit_code == 0 && std::filesystem::exists(program)) return program;
  fmt::print(stderr, "{}: {}\n", source.string(), complaint(compiled));
  return std::nullopt;
}

}  // namespace xlog::bench
