// How fast whole Datalog programs run, beside Soufflé's compiled programs where there is a
// `souffle` on the PATH or in $SOUFFLE, and for some of them beside a C++ program for that one
// query (by_hand.h). Each workload is a program (bench/datalog/NAME.xlog and bench/souffle/NAME.dl)
// on an input from generate*.h. All read the same files and print the sizes of the same relations,
// which must agree; they take turns, and the best run of each counts. Soufflé's compiling is not
// counted.
//
//   bench_datalog [--scale small|full] [--repeat N] [--limit SECONDS] [--strict]
//                 [--cpu] [--work FOLDER] [--souffle-threads N] [PART-OF-A-WORKLOAD'S-NAME...]
//
// --strict  fails where xlog refuses a workload, instead of saying why
// --cpu     counts the time of all processors instead of the clock's, for a machine that is busy
// --work    keeps inputs and Soufflé's compiled programs there for the next run
// --souffle-threads  for Soufflé, whose short rounds run faster with 1 (default: all cores)
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
#include <thread>
#include <vector>

#include "by_hand.h"
#include "generate.h"
#include "generate_ontology.h"
#include "generate_program.h"
#include "programs.h"

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
  const Input one_hub{"hub", [](bool full) { return hub(full ? 500 : 30); }};
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
  const Input classes{"classes", [](bool full) {
                        return object_program(
                            full ? ProgramShape{20'000, 60, 0.1} : ProgramShape{100, 5, 0.1},
                            kSeed);
                      }};
  const Input concepts{
      "concepts", [](bool full) {
        return ontology(
            full ? OntologyShape{20'000, 250, 1.2, 0.1} : OntologyShape{600, 30, 1.2, 0.1}, kSeed);
      }};
  const Input with_nodes{"random_3k", [](bool full) {
                           const uint32_t nodes = full ? 3'000 : 300;
                           Tables tables = random_graph(nodes, 2 * nodes, kSeed);
                           tables.push_back(numbers_table("node", nodes));
                           return tables;
                         }};
  const Input two_kinds{"random_8k", [](bool full) {
                          const uint32_t nodes = full ? 8'000 : 800;
                          Tables tables = random_graph(nodes, nodes, kSeed);
                          tables.push_back(random_graph(nodes, nodes, kSeed + 1)[0]);
                          tables[0].relation = "road";
                          tables[1].relation = "ferry";
                          return tables;
                        }};
  // Paths double with every step or two, so lists come from a small grid.
  const Input small_grid{"grid_10", [](bool full) { return full ? grid(10, 10) : grid(5, 5); }};
  const Input messages{"messages", [](bool full) {
                         Tables tables = social(full ? SocialShape{12, 1'000, 200'000, 300, 200, 20}
                                                     : SocialShape{8, 100, 2'000, 50, 20, 5},
                                                kSeed);
                         std::erase_if(tables, [](const Table& table) {
                           return table.relation == "knows" || table.relation == "interest" ||
                                  table.relation == "reply_of" || table.relation == "likes";
                         });
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
  workloads.push_back({"reach_kinds", two_kinds});
  // Doubling finds a row once for every node on the way, so its inputs are smaller.
  workloads.push_back({"tc_nonlinear", random_input("random_1k", 1'000, 2'000)});
  workloads.push_back({"tc_nonlinear", grid_30});
  workloads.push_back({"tc_nonlinear", path_1000});
  workloads.push_back({"same_generation", tree});
  workloads.push_back({"hub_count", one_hub});

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
  workloads.push_back({"points_to", classes});
  workloads.push_back({"galen", concepts});
  workloads.push_back({"shortest_path", weighted});
  workloads.push_back({"negation", with_nodes});
  workloads.push_back({"social", network});
  workloads.push_back({"shared_joins", messages});
  workloads.push_back({"joins_apart", messages});
  workloads.push_back({"list_paths", small_grid});
  return workloads;
}

// ---- By hand ----

// The same query in C++: what it is called and how to count its rows.
struct ByHand {
  std::string relation;
  uint64_t (*count)(const Edges& edges);
};

std::optional<ByHand> by_hand_for(const std::string& program) {
  if (program.starts_with("tc_")) return ByHand{"reach", by_hand::closure_size};
  if (program.starts_with("triangle_")) return ByHand{"triangle", by_hand::triangle_count};
  return std::nullopt;
}

constexpr const char* kByHand = "--by-hand";

// This program is also those programs: `bench_datalog --by-hand PROGRAM FOLDER`.
int run_by_hand(const std::string& program, const fs::path& folder) {
  const std::optional<ByHand> by_hand = by_hand_for(program);
  if (!by_hand) return 2;
  fmt::print("{}\t{}\n", by_hand->relation,
             by_hand->count(by_hand::read_edges(folder / "edge.facts")));
  return 0;
}

// ---- One line of the table ----

struct Best {
  double seconds = INFINITY;
  double peak_mb = INFINITY;

  void take(const Engines& engines, const Ended& ended) {
    seconds = std::min(seconds, time_of(engines, ended));
    peak_mb = std::min(peak_mb, ended.peak_mb);
  }
};

enum class Verdict : uint8_t { Measured, Refused, Failed };

struct Line {
  Verdict verdict = Verdict::Measured;
  double time_ratio = 0;  // to Soufflé; 0: nothing to compare with
  double memory_ratio = 0;
  double hand_ratio = 0;  // to the program by hand
};

Line measure(Engines& engines, const Workload& workload, bool full, uint32_t repetitions) {
  fmt::print("{:<31}", workload.name());
  std::fflush(stdout);
  const auto failed = [](const std::string& why) {
    fmt::print("  FAILED: {}\n", why);
    return Line{Verdict::Failed};
  };
  const fs::path input = engines.work / (full ? "full" : "small") / workload.name();
  const std::optional<size_t> rows_read =
      write_input([&] { return workload.input.make(full); }, input);
  if (!rows_read) return failed("cannot write the input to " + input.string());
  std::optional<fs::path> compiled;
  if (!engines.souffle.empty()) {
    compiled = souffle_program(engines, workload.program);
    if (!compiled) return failed("Soufflé did not compile its program");
  }

  const bool has_by_hand = by_hand_for(workload.program).has_value();
  Best ours;
  Best theirs;
  Best by_hand;
  Sizes sizes;
  bool souffle_in_time = compiled.has_value();
  for (uint32_t i = 0; i < repetitions; ++i) {
    const Ended xlog =
        run(xlog_command(engines, workload.program, input), engines.work, engines.limit_seconds);
    if (xlog.exit_code > 128 && xlog.exit_code != kOutOfTime) return failed(complaint(xlog));
    if (xlog.exit_code != 0) {
      fmt::print("  not done: {}\n", complaint(xlog));
      return {Verdict::Refused};
    }
    ours.take(engines, xlog);
    sizes = sizes_in(xlog.output);
    if (has_by_hand) {
      const Ended hand = run({own_program(), kByHand, workload.program, input}, engines.work,
                             engines.limit_seconds);
      if (hand.exit_code != 0) return failed("by hand: " + complaint(hand));
      by_hand.take(engines, hand);
      const std::string difference = first_difference(sizes, sizes_in(hand.output), "C++ by hand");
      if (!difference.empty()) return failed(difference);
    }
    if (!souffle_in_time) continue;
    const Ended souffle =
        run(souffle_command(engines, *compiled, input), engines.work, engines.limit_seconds);
    if (souffle.exit_code == kOutOfTime) {
      souffle_in_time = false;
      continue;
    }
    if (souffle.exit_code != 0) return failed("Soufflé: " + complaint(souffle));
    theirs.take(engines, souffle);
    const std::string difference = first_difference(sizes, sizes_in(souffle.output), "Soufflé");
    if (!difference.empty()) return failed(difference);
  }

  fmt::print("{:>9} {:>10} {:>8.2f}", *rows_read, rows_in(sizes), ours.seconds);
  Line line;
  if (souffle_in_time) {
    line.time_ratio = ours.seconds / theirs.seconds;
    line.memory_ratio = ours.peak_mb / theirs.peak_mb;
    fmt::print(" {:>8.2f} {:>6.2f} {:>7.0f} {:>7.0f} {:>6.2f}", theirs.seconds, line.time_ratio,
               ours.peak_mb, theirs.peak_mb, line.memory_ratio);
  } else {
    fmt::print(" {:>8} {:>6} {:>7.0f} {:>7} {:>6}",
               compiled ? fmt::format(">{}", engines.limit_seconds) : "-", "-", ours.peak_mb, "-",
               "-");
  }
  if (has_by_hand) {
    line.hand_ratio = ours.seconds / by_hand.seconds;
    fmt::print(" {:>7.3f} {:>6.1f}", by_hand.seconds, line.hand_ratio);
  }
  fmt::print("\n");
  return line;
}

// ---- Command line ----

struct Options {
  bool full = false;
  bool strict = false;
  bool counts_cpu = false;
  uint32_t repetitions = 3;
  uint32_t limit_seconds = 600;
  uint32_t souffle_threads = std::max(1u, std::thread::hardware_concurrency());
  std::string work;  // empty: a temporary folder
  std::vector<std::string> wanted;
};

int usage() {
  fmt::print(stderr,
             "usage: bench_datalog [--scale small|full] [--repeat N] [--limit SECONDS] [--strict]\n"
             "                     [--cpu] [--work FOLDER] [--souffle-threads N] "
             "[PART-OF-A-WORKLOAD'S-NAME...]\n");
  return 2;
}

std::optional<Options> parse(const std::vector<std::string>& words) {
  Options options;
  for (size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i];
    if (word == "--strict" || word == "--cpu") {
      (word == "--strict" ? options.strict : options.counts_cpu) = true;
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
  fmt::print("{:<31}{:>9} {:>10} {:>8} {:>8} {:>6} {:>7} {:>7} {:>6} {:>7} {:>6}\n", "", "rows in",
             "rows out", "xlog s", "souffle", "ratio", "xlog MB", "souffle", "ratio", "by hand",
             "ratio");
  uint32_t measured = 0;
  uint32_t compared = 0;
  uint32_t refused = 0;
  uint32_t failed = 0;
  double time_logs = 0;
  double memory_logs = 0;
  uint32_t by_hand = 0;
  double hand_logs = 0;
  for (const Workload& workload : all_workloads()) {
    if (!is_wanted(workload, options.wanted)) continue;
    const Line line = measure(engines, workload, options.full, options.repetitions);
    measured += line.verdict == Verdict::Measured;
    refused += line.verdict == Verdict::Refused;
    failed += line.verdict == Verdict::Failed;
    if (line.hand_ratio != 0) {
      ++by_hand;
      hand_logs += std::log(line.hand_ratio);
    }
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
  if (by_hand > 0) {
    fmt::print("geometric mean of xlog / C++ by hand: time {:.2f}\n",
               std::exp(hand_logs / by_hand));
  }
  return measured + refused > 0 && failed == 0 && (refused == 0 || !options.strict);
}

int run_benchmark(const std::vector<std::string>& words) {
  if (words.size() == 3 && words[0] == kByHand) return run_by_hand(words[1], words[2]);
  const std::optional<Options> options = parse(words);
  if (!options) return usage();
  std::optional<Engines> engines = find_engines(options->work);
  if (!engines) return 1;
  engines->limit_seconds = options->limit_seconds;
  engines->souffle_threads = options->souffle_threads;
  engines->counts_cpu = options->counts_cpu;
  const bool well = measure_all(*engines, *options);
  leave(*engines);
  return well ? 0 : 1;
}

}  // namespace
}  // namespace xlog::bench

int main(int argc, char** argv) { return xlog::bench::run_benchmark({argv + 1, argv + argc}); }
