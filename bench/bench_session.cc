// What a large batch of facts costs a session beside its evaluation: rows from a program and from a
// file, with and without a log. The program's one rule asks little, so what is seen is the host
// taking facts in.
//
//   bench_session [--rows N] [--device NAME]
//
// Figures are seconds of all processors, and of the clock.

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <string>
#include <vector>

#include "generate.h"
#include "session/session.h"
#include "xlog/session.h"

namespace xlog::bench {
namespace {

constexpr char kProgram[] =
    "pred edge(from: u32, to: u32).\n"
    "loop(X) :- edge(X, X).\n"
    "?- loop(X).\n";

double seconds(clockid_t clock) {
  timespec time{};
  clock_gettime(clock, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

template <typename Act>
void measure(const std::string& what, const Act& act) {
  const double cpu = seconds(CLOCK_PROCESS_CPUTIME_ID), clock = seconds(CLOCK_MONOTONIC);
  if (!act()) {
    fmt::print("{}: failed\n", what);
    std::exit(1);
  }
  fmt::print("{:<40}{:>10.3f} s{:>10.3f} s\n", what, seconds(CLOCK_PROCESS_CPUTIME_ID) - cpu,
             seconds(CLOCK_MONOTONIC) - clock);
  std::fflush(stdout);
}

void write_rows(const std::string& path, const std::vector<uint32_t>& values, int weight) {
  std::FILE* file = std::fopen(path.c_str(), "w");
  fmt::print(file, "from,to,weight\n");
  for (size_t i = 0; i < values.size(); i += 2) {
    fmt::print(file, "{},{},{}\n", values[i], values[i + 1], weight);
  }
  std::fclose(file);
}

void from_program(const std::vector<uint32_t>& values, const std::string& device) {
  api::Result<api::Session> session = api::Session::open_text(kProgram, {.device = device});
  for (const bool comes : {true, false, true}) {
    measure(comes ? "library: insert row by row" : "library: retract row by row", [&] {
      for (size_t i = 0; i < values.size(); i += 2) {
        const std::vector<api::Value> row = {values[i], values[i + 1]};
        if (!(comes ? session->insert("edge", row) : session->retract("edge", row)).ok())
          return false;
      }
      return true;
    });
    measure("library: commit", [&] { return session->commit().ok(); });
  }
}

void from_files(const std::string& folder, const std::string& state, const std::string& device) {
  session::Session session;
  session::Options options;
  options.device = device;
  options.state = state;
  const std::string name = state.empty() ? "file" : "file and log";
  measure(name + ": open", [&] { return session.open_text("program", kProgram, options); });
  const lang::PredId edge =
      *session::find_predicate("edge", session.program(), session.language().names);
  for (const std::string file : {"come", "go", "come"}) {
    const std::string path = fmt::format("{}/{}.csv", folder, file);
    measure(fmt::format("{}: load {}", name, file),
            [&] { return session.load(edge, path, std::nullopt).has_value(); });
    measure(fmt::format("{}: commit", name), [&] { return session.commit().ok(); });
  }
  measure(name + ": undo", [&] { return session.undo(3).ok(); });
}

int main(const std::vector<std::string>& arguments) {
  size_t rows = 1'000'000;
  std::string device = "cpu";
  for (size_t i = 0; i + 1 < arguments.size(); i += 2) {
    if (arguments[i] == "--rows") rows = std::stoul(arguments[i + 1]);
    if (arguments[i] == "--device") device = arguments[i + 1];
  }
  Random random(1);
  std::vector<uint32_t> values(2 * rows);
  for (uint32_t& value : values) value = random.below(10'000'000);
  const std::filesystem::path folder =
      std::filesystem::temp_directory_path() / fmt::format("bench_session.{}", ::getpid());
  std::filesystem::create_directory(folder);
  write_rows(folder / "come.csv", values, 1);
  write_rows(folder / "go.csv", values, -1);
  from_program(values, device);
  from_files(folder, "", device);
  from_files(folder, folder / "state", device);
  measure("log: open again", [&] {
    session::Session session;
    session::Options options;
    options.device = device;
    options.state = folder / "state";
    return session.open_text("program", kProgram, options);
  });
  std::filesystem::remove_all(folder);
  return 0;
}

}  // namespace
}  // namespace xlog::bench

int main(int argc, char** argv) { return xlog::bench::main({argv + 1, argv + argc}); }
