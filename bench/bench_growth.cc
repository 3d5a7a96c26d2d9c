// How time and memory grow with the rows of a result: ten times as many at each step, and the time
// and bytes of a row beside it, so that a cliff shows. A step where a row takes more than three
// times as long as in the one before is marked CLIFF.
//
//   bench_growth [--most ROWS] [--limit SECONDS] [--cpu] [--work FOLDER] [--souffle-threads N]
//                [PART-OF-A-CURVE'S-NAME...]
//
// --most    the rows of the last step (default 10000000; 100000000 takes some 6 GB of memory and 2
// GB
//           of disk)
// --cpu     counts the time of all processors instead of the clock's, for a machine that is busy
// --souffle-threads  measures Soufflé too, where there is one, with so many threads
// $XLOG     the xlog to measure, instead of the one built beside this program

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "by_hand.h"
#include "generate.h"
#include "programs.h"

namespace xlog::bench {
namespace {

namespace fs = std::filesystem;

constexpr uint64_t kSeed = 1;
constexpr uint64_t kFirst = 1'000;  // rows of the first step
constexpr double kCliff = 3;

// ---- Curves ----

// `make` gives an input whose result has about so many rows, `result` how many exactly.
struct Curve {
  std::string name;
  std::string program;
  std::string relation;
  std::function<Tables(uint64_t rows)> make;
  std::function<uint64_t(const fs::path& input, uint64_t rows)> result;
};

// A random graph with twice as many edges as nodes: about 0.64 of all pairs are in the closure.
Tables dense_graph(uint64_t rows) {
  const auto nodes = static_cast<uint32_t>(std::sqrt(static_cast<double>(rows) / 0.64));
  return random_graph(nodes, size_t{2} * nodes, kSeed);
}

// Many paths that do not touch: nodes and rows grow alike.
constexpr uint32_t kPathNodes = 100;
constexpr uint64_t kPathRows = uint64_t{kPathNodes} * (kPathNodes - 1) / 2;

uint32_t path_count(uint64_t rows) {
  return static_cast<uint32_t>(std::max<uint64_t>(1, rows / kPathRows));
}

Tables many_paths(uint64_t rows) {
  Edges edges;
  for (uint32_t p = 0; p < path_count(rows); ++p) {
    for (uint32_t i = 0; i + 1 < kPathNodes; ++i) {
      edges.push_back({p * kPathNodes + i, p * kPathNodes + i + 1});
    }
  }
  return {table_of("edge", std::move(edges))};
}

// Each key has ten rows on either side, so a hundred in the result.
constexpr uint32_t kRowsOfKey = 10;

Tables join_sides(uint64_t rows) {
  const auto keys = static_cast<uint32_t>(rows / (kRowsOfKey * kRowsOfKey));
  Edges left;
  Edges right;
  for (uint32_t i = 0; i < keys * kRowsOfKey; ++i) {
    left.push_back({i, i % keys});
    right.push_back({i % keys, i});
  }
  return {table_of("left", std::move(left)), table_of("right", std::move(right))};
}

// Rows all different, in no order.
Tables shuffled_rows(uint64_t rows) {
  Random random(kSeed);
  Table table{"row", 2, {}};
  table.values.reserve(2 * rows);
  for (uint64_t i = 0; i < rows; ++i) {
    table.values.push_back(random.below(static_cast<uint32_t>(rows)));
    table.values.push_back(static_cast<uint32_t>(i));
  }
  return {std::move(table)};
}

std::vector<Curve> all_curves() {
  const auto as_asked = [](const fs::path&, uint64_t rows) { return rows; };
  return {{"closure_dense", "tc_left", "reach", dense_graph,
           [](const fs::path& input, uint64_t) {
             return by_hand::closure_size(by_hand::read_edges(input / "edge.facts"));
           }},
          {"closure_paths", "tc_left", "reach", many_paths,
           [](const fs::path&, uint64_t rows) { return path_count(rows) * kPathRows; }},
          {"join", "join", "joined", join_sides, as_asked},
          {"load", "load", "row", shuffled_rows, as_asked}};
}

// ---- Measuring ----

// What one row takes of time and memory; the memory of a run with next to no rows is not a row's.
struct Cost {
  double seconds = 0;
  double peak_mb = 0;
};

std::string cost_text(const Cost& cost, uint64_t rows, double empty_mb) {
  const auto count = static_cast<double>(rows);
  return fmt::format(" {:>9.3f} {:>8.1f} {:>9.2f} {:>9.0f} {:>9.1f}", cost.seconds,
                     cost.seconds * 1e9 / count, count / cost.seconds / 1e6, cost.peak_mb,
                     std::max(0.0, cost.peak_mb - empty_mb) * 1024 * 1024 / count);
}

// Runs a command that must say how many rows there are; nothing, with the reason said, where it
// fails.
std::optional<Cost> cost_of(const Engines& engines, const std::vector<std::string>& command,
                            const Sizes& expected) {
  const Ended ended = run(command, engines.work, engines.limit_seconds);
  if (ended.exit_code != 0) {
    fmt::print("  FAILED: {}\n", complaint(ended));
    return std::nullopt;
  }
  const std::string difference = first_difference(sizes_in(ended.output), expected, "theory");
  if (!difference.empty()) {
    fmt::print("  FAILED: {}\n", difference);
    return std::nullopt;
  }
  return Cost{time_of(engines, ended), ended.peak_mb};
}

// Whether all steps went well; a cliff is worth a word, but no failure.
bool measure(Engines& engines, const Curve& curve, uint64_t most, bool with_souffle) {
  fmt::print("{}\n{:>11} {:>9} {:>8} {:>9} {:>9} {:>9}{}\n", curve.name, "rows", "xlog s", "ns/row",
             "M rows/s", "MB", "bytes/row", with_souffle ? "   souffle: the same" : "");
  std::optional<fs::path> compiled;
  if (with_souffle) {
    compiled = souffle_program(engines, curve.program);
    if (!compiled) return false;
  }
  double empty_mb = 0;
  double their_empty_mb = 0;
  double last_row_seconds = INFINITY;
  for (uint64_t rows = kFirst; rows <= most; rows *= 10) {
    const fs::path input = engines.work / "growth" / curve.name;
    if (!write_input([&] { return curve.make(rows); }, input)) {
      fmt::print("  FAILED: cannot write the input to {}\n", input.string());
      return false;
    }
    const uint64_t result = curve.result(input, rows);
    const Sizes expected = {{curve.relation, static_cast<int64_t>(result)}};
    fmt::print("{:>11}", result);
    std::fflush(stdout);
    const std::optional<Cost> ours =
        cost_of(engines, xlog_command(engines, curve.program, input), expected);
    if (!ours) return false;
    if (rows == kFirst) empty_mb = ours->peak_mb;
    fmt::print("{}", cost_text(*ours, result, empty_mb));
    if (compiled) {
      const std::optional<Cost> theirs =
          cost_of(engines, souffle_command(engines, *compiled, input), expected);
      if (!theirs) return false;
      if (rows == kFirst) their_empty_mb = theirs->peak_mb;
      fmt::print("{}", cost_text(*theirs, result, their_empty_mb));
    }
    const double row_seconds = ours->seconds / static_cast<double>(result);
    const double growth = row_seconds / last_row_seconds;
    fmt::print("{}\n", growth > kCliff ? fmt::format("  CLIFF: {:.1f} times", growth) : "");
    last_row_seconds = row_seconds;
    fs::remove_all(input);
  }
  return true;
}

// ---- Command line ----

struct Options {
  uint64_t most = 10'000'000;
  uint32_t limit_seconds = 600;
  uint32_t souffle_threads = 0;  // 0: xlog alone
  bool counts_cpu = false;
  std::string work;
  std::vector<std::string> wanted;
};

int usage() {
  fmt::print(stderr,
             "usage: bench_growth [--most ROWS] [--limit SECONDS] [--cpu] [--work FOLDER]\n"
             "                    [--souffle-threads N] [PART-OF-A-CURVE'S-NAME...]\n");
  return 2;
}

std::optional<Options> parse(const std::vector<std::string>& words) {
  Options options;
  for (size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i];
    if (!word.starts_with("-")) {
      options.wanted.push_back(word);
      continue;
    }
    if (word == "--cpu") {
      options.counts_cpu = true;
      continue;
    }
    if (i + 1 == words.size()) return std::nullopt;
    const std::string& value = words[++i];
    const uint64_t number = std::strtoull(value.c_str(), nullptr, 10);
    if (word == "--most" && number >= kFirst && number <= 1'000'000'000) {
      options.most = number;
    } else if (word == "--limit" && number > 0) {
      options.limit_seconds = static_cast<uint32_t>(number);
    } else if (word == "--souffle-threads" && number > 0) {
      options.souffle_threads = static_cast<uint32_t>(number);
    } else if (word == "--work") {
      options.work = value;
    } else {
      return std::nullopt;
    }
  }
  return options;
}

int run_benchmark(const std::vector<std::string>& words) {
  const std::optional<Options> options = parse(words);
  if (!options) return usage();
  std::optional<Engines> engines = find_engines(options->work);
  if (!engines) return 1;
  engines->limit_seconds = options->limit_seconds;
  engines->souffle_threads = std::max(1u, options->souffle_threads);
  engines->counts_cpu = options->counts_cpu;
  const bool with_souffle = options->souffle_threads > 0 && !engines->souffle.empty();
  bool well = true;
  uint32_t measured = 0;
  for (const Curve& curve : all_curves()) {
    const bool wanted =
        options->wanted.empty() ||
        std::any_of(options->wanted.begin(), options->wanted.end(), [&](const std::string& part) {
          return curve.name.find(part) != std::string::npos;
        });
    if (!wanted) continue;
    ++measured;
    well &= measure(*engines, curve, options->most, with_souffle);
  }
  leave(*engines);
  return well && measured > 0 ? 0 : 1;
}

}  // namespace
}  // namespace xlog::bench

int main(int argc, char** argv) { return xlog::bench::run_benchmark({argv + 1, argv + argc}); }
