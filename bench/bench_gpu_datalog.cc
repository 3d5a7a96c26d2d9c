// Fixpoints on a GPU: closures, same generation and pointer analysis, as the GPU Datalog engines
// measure them, and programs with many rules (bench/datalog). Everything happens in this process; a
// time is that of the whole evaluation with the upload of the facts, the second of two runs or the
// best of more, so that kernels are compiled.
//
//   bench_gpu_datalog [--device NAME] [--repeat N] [--graphs FOLDER] [PART-OF-A-NAME...]
//
// --device  cuda unless told
// --graphs  a folder of edge lists (NAME.tsv or NAME.tsv.gz), each measured with both programs

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <map>
#include <numeric>
#include <span>
#include <string>
#include <vector>

#include "device/device.h"
#include "engine/evaluate.h"
#include "generate.h"
#include "generate_ontology.h"
#include "generate_program.h"
#include "io/byte_source.h"
#include "lang/load.h"
#include "logic/analysis.h"
#include "programs.h"

namespace xlog::bench {
namespace {

namespace fs = std::filesystem;

struct Workload {
  std::string name;
  std::string rules;
  std::function<Tables()> make;
};

constexpr const char* kClosure = R"(
pred edge(u32, u32).
path(X, Y) :- edge(X, Y).
path(X, Z) :- path(X, Y), edge(Y, Z).
n(count()) :- path(X, Y).
?- n(N).
)";
constexpr const char* kSameGeneration = R"(
pred edge(u32, u32).
same(X, Y) :- edge(P, X), edge(P, Y), X != Y.
same(X, Y) :- edge(A, X), same(A, B), edge(B, Y).
n(count()) :- same(X, Y).
?- n(N).
)";
constexpr const char* kPointers = R"(
pred assign(u32, u32).
pred dereference(u32, u32).
value_flow(Y, X) :- assign(Y, X).
value_flow(X, X) :- assign(X, _).
value_flow(X, X) :- assign(_, X).
value_flow(X, Y) :- value_flow(X, Z), value_flow(Z, Y).
value_flow(X, Y) :- assign(X, Z), memory_alias(Z, Y).
memory_alias(X, X) :- assign(_, X).
memory_alias(X, X) :- assign(X, _).
memory_alias(X, W) :- dereference(Y, X), value_alias(Y, Z), dereference(Z, W).
value_alias(X, Y) :- value_flow(Z, X), value_flow(Z, Y).
value_alias(X, Y) :- value_flow(Z, X), memory_alias(Z, W), value_flow(W, Y).
n(count()) :- value_flow(X, Y).
m(count()) :- value_alias(X, Y).
?- n(N).
?- m(N).
)";
constexpr const char* kTriangles = R"(
pred edge(u32, u32).
n(count()) :- edge(X, Y), edge(Y, Z), edge(X, Z).
?- n(N).
)";

std::string read_all(const std::string& path) {
  io::ByteSource source;
  std::string text;
  if (source.open(path)) {
    char buffer[1 << 16];
    for (size_t n = 0; (n = source.read(buffer, sizeof(buffer))) > 0;) text.append(buffer, n);
  }
  if (source.failed()) {
    fmt::print(stderr, "bench_gpu_datalog: {}: {}\n", path, source.reason());
    std::exit(1);
  }
  return text;
}

Tables edge_list(const std::string& path) {
  const std::string text = read_all(path);
  Edges edges;
  const char* at = text.c_str();
  for (char* end = nullptr;; at = end) {
    const auto from = static_cast<uint32_t>(std::strtoul(at, &end, 10));
    if (end == at) break;
    const auto to = static_cast<uint32_t>(std::strtoul(end, &end, 10));
    edges.emplace_back(from, to);
  }
  sort_unique(edges);
  return {table_of("edge", std::move(edges))};
}

// The program of that name in bench/datalog, above this program or the working folder.
std::string program_of(const std::string& name) {
  fs::path folder = programs_above(own_program().parent_path());
  if (folder.empty()) folder = programs_above(fs::current_path());
  return folder.empty() ? "" : read_all(folder / "datalog" / (name + ".xlog"));
}

std::vector<Workload> workloads(const std::string& graphs) {
  std::vector<Workload> all = {
      {"tc/random_32k", kClosure, [] { return random_graph(32'000, 80'000, 1); }},
      {"tc/grid_245", kClosure, [] { return grid(245, 245); }},
      {"sg/random_18k", kSameGeneration, [] { return random_graph(18'000, 45'000, 1); }},
      {"cspa/functions", kPointers,
       [] {
         return cspa({17'850, 50, 0.9, 0.005, 0.2}, 1);
       }},
      {"cspa/aliases", kPointers,
       [] {
         return cspa({17'850, 50, 0.95, 0.008, 0.25}, 1);
       }},
      {"triangle/rmat_20", kTriangles,
       [] {
         return rmat({20, 16'000'000}, Direction::LowToHigh, Numbering::Drawn, 1);
       }},
      {"andersen/pointers", program_of("andersen"),
       [] {
         return andersen({10'000, 50, 1.0, 0.01, 0.1, 0.1}, 1);
       }},
      {"points_to/classes", program_of("points_to"),
       [] {
         return object_program({20'000, 60, 0.1}, 1);
       }},
      {"galen/concepts", program_of("galen"),
       [] {
         return ontology({20'000, 250, 1.2, 0.1}, 1);
       }},
  };
  if (graphs.empty()) return all;
  std::vector<std::string> files;
  for (const auto& entry : fs::directory_iterator(graphs)) files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  for (const std::string& file : files) {
    const std::string name = fs::path(file).filename().string();
    const auto make = [file] { return edge_list(file); };
    all.push_back({"tc/" + name.substr(0, name.find(".tsv")), kClosure, make});
    all.push_back({"sg/" + name.substr(0, name.find(".tsv")), kSameGeneration, make});
  }
  return all;
}

std::string source_of(const std::string& rules, const Tables& tables) {
  std::string text = rules;
  for (const Table& table : tables) {
    for (size_t r = 0; r < table.rows(); ++r) {
      const std::span row = std::span(table.values).subspan(r * table.columns, table.columns);
      text += fmt::format("{}({}).\n", table.relation, fmt::join(row, ", "));
    }
  }
  return text;
}

struct Measured {
  std::string sizes;  // or what went wrong
  double seconds = 0;
  uint64_t rows = 0;
  engine::Statistics statistics;
};

Measured evaluate_once(const std::string& source, device::Device& device) {
  Measured measured;
  lang::Session session;
  const SourceFile* file = session.sources.add("bench.xlog", "", source);
  std::optional<lang::Program> program = lang::load(*file, session);
  std::optional<logic::Analysis> analysis;
  if (program) analysis = logic::analyze(*program, session);
  if (!analysis) return {"does not load", 0, 0, {}};
  const device::Counters before = device.counters();
  const auto begin = std::chrono::steady_clock::now();
  const std::optional<logic::Answer> answer =
      engine::evaluate(*program, *analysis, session, {}, device, measured.statistics);
  measured.seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  measured.statistics.device.bytes_to_device -= before.bytes_to_device;
  measured.statistics.device.bytes_from_device -= before.bytes_from_device;
  measured.statistics.device.launches -= before.launches;
  if (!answer) {
    for (const Diagnostic* d : in_order_of_place(session.diagnostics)) {
      measured.sizes += d->message + " ";
    }
    return measured;
  }
  std::vector<uint64_t> sizes;
  for (const logic::QueryAnswer& query : answer->views[0].queries) {
    for (const logic::Row& row : query.rows) sizes.push_back(row.values.back().bits);
  }
  measured.sizes = sizes.size() > 2
                       ? fmt::format("{} in all", std::reduce(sizes.begin(), sizes.end()))
                       : fmt::format("{}", fmt::join(sizes, " "));
  measured.rows = measured.statistics.rows;
  return measured;
}

int measure(int argc, char** argv) {
  std::string device_name = "cuda";
  std::string graphs;
  int repeat = 2;
  std::vector<std::string> parts;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "--device" && i + 1 < argc) {
      device_name = argv[++i];
    } else if (word == "--graphs" && i + 1 < argc) {
      graphs = argv[++i];
    } else if (word == "--repeat" && i + 1 < argc) {
      repeat = std::max(1, std::atoi(argv[++i]));
    } else if (word.starts_with("--")) {
      fmt::print(
          stderr,
          "usage: bench_gpu_datalog [--device NAME] [--graphs FOLDER] [--repeat N] [PART...]\n");
      return 2;
    } else {
      parts.push_back(word);
    }
  }
  Result<std::unique_ptr<device::Device>> device = device::open_device(device_name);
  if (!device.ok()) {
    fmt::print(stderr, "bench_gpu_datalog: {}\n", device.error().text());
    return 1;
  }
  fmt::print("{}: {}\n", (*device)->info().name, (*device)->info().hardware);
  fmt::print("{:<24} {:>24} {:>10} {:>12} {:>8} {:>9} {:>10} {:>10} {:>9}\n", "workload",
             "rows of the result", "seconds", "Mrows/s", "rounds", "launches", "KB in", "KB out",
             "first s");
  for (const Workload& workload : workloads(graphs)) {
    const bool wanted = parts.empty() || std::ranges::any_of(parts, [&](const std::string& part) {
                          return workload.name.find(part) != std::string::npos;
                        });
    if (!wanted) continue;
    if (workload.rules.empty()) {
      fmt::print("{:<24} not measured: there is no bench/datalog here\n", workload.name);
      continue;
    }
    const std::string source = source_of(workload.rules, workload.make());
    Measured best;
    double first = 0;
    for (int r = 0; r < repeat; ++r) {
      Measured now = evaluate_once(source, **device);
      if (r == 0) first = now.seconds;
      if (r == 0 || now.seconds < best.seconds) best = std::move(now);
    }
    fmt::print("{:<24} {:>24} {:>10.4f} {:>12.1f} {:>8} {:>9} {:>10} {:>10} {:>9.3f}\n",
               workload.name, best.sizes, best.seconds,
               static_cast<double>(best.rows) / best.seconds / 1e6, best.statistics.rounds,
               best.statistics.device.launches, best.statistics.device.bytes_to_device / 1024,
               best.statistics.device.bytes_from_device / 1024, first);
    std::fflush(stdout);
  }
  return 0;
}

}  // namespace
}  // namespace xlog::bench

int main(int argc, char** argv) { return xlog::bench::measure(argc, argv); }
