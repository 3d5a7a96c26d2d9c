// What a changed fact costs beside a run over all facts, in one process: one fact that comes and
// one that goes, batches that grow up to half of all facts, and how many facts a second can change
// one by one.
//
//   bench_incremental [--scale small|full] [--students N] [--device NAME] [--cpu]
//                     [PART-OF-A-WORKLOAD'S-NAME...]
//
// --students N  how many the office of `eligible` has, instead of 100,000
// --cpu  counts the time of all processors instead of the clock's, for a machine that is busy
//
// A run is the opening of the program: its evaluation on the device and its answer, without reading
// the text. "first" are the first changes, which are evaluated afresh while what holds is counted,
// a part with each. Batches take facts away, then bring them back; "x run" is the time beside that
// of a run.

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "device/device.h"
#include "generate.h"
#include "incremental/incremental.h"
#include "lang/load.h"
#include "programs.h"

namespace xlog::bench {
namespace {

constexpr uint64_t kSeed = 1;

uint32_t student_count = 100'000;

struct Workload {
  std::string name;
  std::string program;
  std::string changed;  // the relation whose facts come and go
  std::function<Tables(bool full)> make;
  bool only_large = false;  // batches, which become runs: so many rows are not counted
};

// The grades of some are unclear, or those of all: then worlds differ in each student.
enum class Unclear : uint8_t { Some, All };
Tables students(uint32_t count, Unclear unclear_grades) {
  Random random(kSeed);
  Table student{"student", 1, {}}, high{"high", 1, {}}, unclear{"unclear", 1, {}};
  Table poor{"poor", 1, {}}, minority{"minority", 1, {}};
  for (uint32_t s = 0; s < count; ++s) {
    student.values.push_back(s);
    const uint32_t kind = unclear_grades == Unclear::All ? 0 : random.below(8);
    (kind < 2 ? unclear : kind < 3 ? poor : high).values.push_back(s);
    if (random.below(4) == 0) minority.values.push_back(s);
  }
  return {student, high, unclear, poor, minority};
}

// Rooms with three to five guests, and as many seats.
Tables rooms(uint32_t count) {
  Random random(kSeed);
  Table booked{"booked", 2, {}}, seats{"seats", 2, {}};
  for (uint32_t r = 0; r < count; ++r) {
    const uint32_t guests = 3 + random.below(3);
    for (uint32_t g = 0; g < guests; ++g) booked.values.insert(booked.values.end(), {r, g});
    seats.values.insert(seats.values.end(), {r, 3 + random.below(3)});
  }
  return {booked, seats};
}

// Every edge in both directions: all nodes reach each other, each in many ways.
Tables both_ways(Tables tables) {
  const std::vector<uint32_t> values = tables[0].values;
  for (size_t i = 0; i < values.size(); i += 2) {
    tables[0].values.insert(tables[0].values.end(), {values[i + 1], values[i]});
  }
  return tables;
}

// Paths of 100 nodes that do not touch.
Tables paths(uint32_t count) {
  constexpr uint32_t kNodes = 100;
  Table edge{"edge", 2, {}};
  for (uint32_t p = 0; p < count; ++p) {
    for (uint32_t n = 0; n + 1 < kNodes; ++n) {
      edge.values.insert(edge.values.end(), {p * kNodes + n, p * kNodes + n + 1});
    }
  }
  return {edge};
}

std::vector<Workload> workloads() {
  return {
      {"closure_grid", "datalog/tc_left", "edge",
       [](bool full) { return both_ways(full ? grid(45, 45) : grid(12, 12)); }},
      {"closure_paths", "datalog/tc_left", "edge",
       [](bool full) { return paths(full ? 2'000 : 20); }},
      {"closure_million", "datalog/tc_left", "edge",
       [](bool full) { return paths(full ? 20'300 : 200); }, true},
      {"closure_dense", "datalog/tc_left", "edge",
       [](bool full) {
         return full ? random_graph(2'500, 5'000, kSeed) : random_graph(400, 800, kSeed);
       }},
      {"closure_sparse", "datalog/tc_left", "edge",
       [](bool full) {
         return full ? random_graph(10'000, 11'500, kSeed) : random_graph(2'000, 2'400, kSeed);
       }},
      {"points_to", "datalog/andersen", "assign",
       [](bool full) {
         return andersen({full ? 4'000u : 40u, 50, 1.0, 0.01, 0.1, 0.1}, kSeed);
       }},
      {"shortest_path", "datalog/shortest_path", "edge",
       [](bool full) {
         return full ? weighted_graph(20'000, 100'000, 100, kSeed)
                     : weighted_graph(500, 2'500, 100, kSeed);
       }},
      {"eligible", "epistemic/eligible", "high",
       [](bool full) { return students(full ? student_count : 1'000, Unclear::Some); }},
      {"eligible_million", "epistemic/eligible", "minority",
       [](bool full) { return students(full ? 1'000'000 : 10'000, Unclear::All); }},
      {"rooms", "epistemic/rooms", "booked",
       [](bool full) { return rooms(full ? 20'000 : 1'000); }},
      {"win_move", "datalog/win_move", "edge",
       [](bool full) {
         return full ? random_graph(100'000, 110'000, kSeed) : random_graph(1'000, 1'100, kSeed);
       }},
  };
}

bool counts_processors = false;

double now() {
  timespec time{};
  clock_gettime(counts_processors ? CLOCK_PROCESS_CPUTIME_ID : CLOCK_MONOTONIC, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

class Measurement {
 public:
  Measurement(const Workload& workload, bool full) : workload_(workload) {
    for (const Table& table : workload.make(full)) {
      if (table.relation == workload.changed) facts_ = table;
      all_facts_ += table.rows();
      for (size_t r = 0; r < table.rows(); ++r) {
        text_ += table.relation + "(";
        for (uint32_t c = 0; c < table.columns; ++c) {
          text_ += fmt::format("{}{}", c == 0 ? "" : ", ", table.values[r * table.columns + c]);
        }
        text_ += ").\n";
      }
    }
  }

  bool run(const std::filesystem::path& programs, device::Device* device) {
    const std::string program = read_text(programs / (workload_.program + ".xlog"));
    const SourceFile* source = session_.sources.add("bench.xlog", "", program + text_);
    std::optional<lang::Program> loaded = lang::load(*source, session_);
    if (!loaded || session_.diagnostics.has_errors()) return fail();
    for (uint32_t p = 0; p < loaded->predicates.size(); ++p) {
      const std::string_view name = session_.names.symbols.text(loaded->predicates[p].name);
      if (name == workload_.changed) pred_ = {p};
    }
    logic::AnswerOptions options;
    const double start = now();
    kept_ = incremental::keep_current(std::move(*loaded), session_, options, device);
    if (kept_ == nullptr) return fail();
    run_ = (now() - start);
    fmt::print("{}: {} facts, a run {:.3f} s\n", workload_.name, all_facts_, run_);
    if (workload_.only_large) {
      const size_t half = facts_.rows() / 2;
      for (const size_t size : {half / 10, half}) large_batch(size);
    } else {
      first();
      singles();
      batches();
      sustained();
    }
    std::fflush(stdout);
    return true;
  }

 private:
  bool fail() {
    fmt::print("{}: {}\n", workload_.name, render_text(session_.diagnostics, session_.sources));
    return false;
  }

  // Seconds for the facts with these numbers to come or go, with what that changes in the queries.
  double change(const std::vector<size_t>& rows, int64_t weight) {
    incremental::FactChanges facts;
    facts.pred = pred_;
    for (const size_t row : rows) {
      for (uint32_t c = 0; c < facts_.columns; ++c) {
        facts.values.push_back(lang::Value::u32(facts_.values[row * facts_.columns + c]));
      }
      facts.weights.push_back(weight);
    }
    const double start = now();
    if (const Status done = kept_->apply({&facts, 1}); !done.ok()) {
      fmt::print("  {}\n", done.error().text());
      return 0;
    }
    for (uint32_t q = 0; q < kept_->program().queries.size(); ++q) {
      if (!kept_->changes(q).ok()) return 0;
    }
    return (now() - start);
  }

  void print(const std::string& what, double seconds) const {
    const incremental::Effort& effort = kept_->effort();
    fmt::print("  {:<22}{:>12.6f} s{:>12.6f} x run{:>12} instances{}\n", what, seconds,
               seconds / run_, effort.instances,
               effort.reasons.empty() ? "" : "  afresh: " + effort.reasons.front());
    std::fflush(stdout);
  }

  std::vector<size_t> some_rows(size_t count) {
    std::vector<size_t> rows(facts_.rows());
    for (size_t i = 0; i < rows.size(); ++i) rows[i] = i;
    for (size_t i = 0; i < count; ++i) {
      std::swap(rows[i], rows[i + random_.below(static_cast<uint32_t>(rows.size() - i))]);
    }
    rows.resize(count);
    return rows;
  }

  // Until rows are kept.
  void first() {
    std::vector<double> times;
    do {
      times.push_back(change({0}, times.size() % 2 == 0 ? -1 : 1));
    } while (starts_afresh() || times.size() % 2 != 0);
    fmt::print("  {:<22}{:>12.6f} s{:>12.6f} x run, most {:.6f} x run, {} changes\n", "first",
               times.front(), times.front() / run_, *std::ranges::max_element(times) / run_,
               times.size());
  }

  bool starts_afresh() const {
    const std::vector<std::string>& reasons = kept_->effort().reasons;
    return !reasons.empty() && reasons.front().starts_with("the whole program");
  }

  void singles() {
    constexpr size_t kTimes = 25;
    std::vector<double> gone, come;
    for (const size_t row : some_rows(std::min(kTimes, facts_.rows()))) {
      gone.push_back(change({row}, -1));
      come.push_back(change({row}, 1));
    }
    for (auto& [name, times] : {std::pair("one fact goes", &gone), {"one fact comes", &come}}) {
      std::ranges::sort(*times);
      double sum = 0;
      for (const double t : *times) sum += t;
      const double mean = sum / static_cast<double>(times->size());
      fmt::print(
          "  {:<22}{:>12.6f} s{:>12.6f} x run, median {:.6f}, most {:.6f}; {:.0f} times less\n",
          name, mean, mean / run_, (*times)[times->size() / 2], times->back(), run_ / mean);
    }
  }

  void batches() {
    for (size_t size = 10; size < facts_.rows() / 2; size *= 10) batch(size);
    batch(facts_.rows() / 2);
  }

  void batch(size_t size) {
    keep_again();
    large_batch(size);
  }

  void large_batch(size_t size) {
    const std::vector<size_t> rows = some_rows(size);
    print(fmt::format("{} go", size), change(rows, -1));
    print(fmt::format("{} come", size), change(rows, 1));
  }

  // After a run that a large batch asked for, some more pass before rows are kept again.
  void keep_again() {
    for (int tries = 0; tries < 100; ++tries) {
      change({0}, -1);
      change({0}, 1);
      if (!starts_afresh()) return;
    }
  }

  void sustained() {
    constexpr double kSeconds = 1;
    keep_again();
    size_t changes = 0;
    const double start = now();
    while ((now() - start) < kSeconds) {
      const size_t row = random_.below(static_cast<uint32_t>(facts_.rows()));
      change({row}, -1);
      change({row}, 1);
      changes += 2;
    }
    fmt::print("  {:.0f} facts a second, one by one\n",
               static_cast<double>(changes) / (now() - start));
  }

  const Workload& workload_;
  Table facts_;
  size_t all_facts_ = 0;
  std::string text_;
  lang::Session session_;
  lang::PredId pred_;
  std::unique_ptr<incremental::Maintained> kept_;
  double run_ = 0;
  Random random_{kSeed};
};

int main(const std::filesystem::path& own, const std::vector<std::string>& arguments) {
  bool full = true;
  std::string device_name = "cpu";
  std::vector<std::string> wanted;
  for (size_t i = 0; i < arguments.size(); ++i) {
    const bool has_value = i + 1 < arguments.size();
    if (arguments[i] == "--scale" && has_value) {
      full = arguments[++i] == "full";
    } else if (arguments[i] == "--students" && has_value) {
      student_count = static_cast<uint32_t>(std::stoul(arguments[++i]));
    } else if (arguments[i] == "--cpu") {
      counts_processors = true;
    } else if (arguments[i] == "--device" && has_value) {
      device_name = arguments[++i];
    } else {
      wanted.push_back(arguments[i]);
    }
  }
  Result<std::unique_ptr<device::Device>> device = device::open_device(device_name);
  if (!device.ok()) {
    fmt::print("{}\n", device.error().text());
    return 1;
  }
  const std::filesystem::path programs = programs_above(own.parent_path());
  for (const Workload& workload : workloads()) {
    const bool chosen = wanted.empty() || std::ranges::any_of(wanted, [&](const std::string& part) {
                          return workload.name.find(part) != std::string::npos;
                        });
    if (chosen && !Measurement(workload, full).run(programs, device->get())) return 1;
  }
  return 0;
}

}  // namespace
}  // namespace xlog::bench

int main(int argc, char** argv) {
  return xlog::bench::main(std::filesystem::canonical("/proc/self/exe"), {argv + 1, argv + argc});
}
