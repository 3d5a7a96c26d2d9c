// Small formulas by the hundred thousand, and large satisfiable ones by local search, beside
// CaDiCaL.
//
//   bench_batch [--device NAME] [--count N] [--seconds S] [--seed N] [--walks N] [--no-peer]
//               [PART...]
//
// --device   cpu unless told
// --count    formulas of a batch (100000)
// --seconds  how long CaDiCaL and local search may try each formula (20)
// --seed     of local search
// --walks    of local search; 0: as many as suit the device
// --no-peer  without CaDiCaL
// PART       of the names of what to measure

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <random>
#include <string>
#include <vector>

#include "device/device.h"
#include "solve/batch.h"
#include "solve/local_search.h"
#include "solve/solver.h"

namespace xlog::bench {
namespace {

using Clock = std::chrono::steady_clock;

struct Options {
  std::string device = "cpu";
  uint32_t count = 100'000;
  double seconds = 20;
  uint64_t seed = 1;
  uint32_t walks = 0;
  bool peer = true;
  std::vector<std::string> parts;

  bool wants(const std::string& name) const {
    return parts.empty() || std::ranges::any_of(parts, [&](const std::string& part) {
             return name.find(part) != std::string::npos;
           });
  }
};

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

[[noreturn]] void fail(const Error& error) {
  fmt::print(stderr, "bench_batch: {}\n", error.text());
  std::exit(1);
}

template <typename T>
T take(Result<T> result) {
  if (!result.ok()) fail(result.error());
  return std::move(*result);
}

// ---- small formulas ----

struct Small {
  uint32_t variables;
  double ratio;
  bool counts;

  std::string name() const {
    return fmt::format("small/{}_{:.1f}{}", variables, ratio, counts ? "_counts" : "");
  }
};

constexpr Small kSmall[] = {{6, 4.3, false},  {10, 2, false},  {10, 4.3, false}, {20, 3, false},
                            {20, 4.3, false}, {20, 6, false},  {30, 3, false},   {30, 4.3, false},
                            {6, 2, true},     {10, 4.3, true}, {20, 3, true},    {20, 4.3, true}};

solve::SmallFormulas<uint32_t> random_formulas(const Small& small, uint32_t count) {
  solve::SmallFormulas<uint32_t> formulas;
  std::mt19937_64 random(1);
  const auto clauses = static_cast<uint32_t>(small.variables * small.ratio);
  for (uint32_t f = 0; f < count; ++f) {
    for (uint32_t c = 0; c < clauses; ++c) {
      uint32_t positive = 0;
      uint32_t negative = 0;
      while (std::popcount(positive | negative) < 3) {
        const uint64_t drawn = random();
        const uint32_t bit = uint32_t{1} << ((drawn >> 8) % small.variables);
        if (((positive | negative) & bit) == 0) (drawn % 2 == 0 ? positive : negative) |= bit;
      }
      formulas.add_clause(positive, negative);
    }
    formulas.end_formula(small.variables);
  }
  return formulas;
}

double cadical_rate(const solve::SmallFormulas<uint32_t>& formulas) {
  const uint32_t count = std::min(formulas.size(), 2000u);
  const Clock::time_point begin = Clock::now();
  for (uint32_t f = 0; f < count; ++f) {
    auto solver = take(solve::cadical_solver({.proof_path = {}, .quick = true}));
    for (uint32_t c = formulas.starts()[f]; c < formulas.starts()[f + 1]; ++c) {
      std::vector<solve::Literal> clause;
      for (int v = 0; v < 32; ++v) {
        if ((formulas.positive()[c] >> v & 1) != 0) clause.push_back(v + 1);
        if ((formulas.negative()[c] >> v & 1) != 0) clause.push_back(-v - 1);
      }
      solver->add(clause);
    }
    solver->solve({});
  }
  return count / seconds_since(begin);
}

void measure_small(device::Device& device, const Options& options) {
  fmt::print("{:<20} {:>10} {:>8} {:>14} {:>14} {:>14} {:>14}\n", "formulas", "count", "sat %",
             "in all, /s", "on device, /s", "CPU us each", "CaDiCaL, /s");
  solve::BatchSolver<uint32_t> solver(device);
  for (const Small& small : kSmall) {
    if (!options.wants(small.name())) continue;
    const solve::SmallFormulas<uint32_t> formulas = random_formulas(small, options.count);
    const solve::BatchOptions how = {.counts = small.counts};
    double in_all = 0;
    double on_device = 0;
    double processor = 1e9;  // seconds of all threads: other programs matter less to it
    solve::BatchAnswers<uint32_t> answers;
    for (int round = 0; round < 3; ++round) {
      Clock::time_point begin = Clock::now();
      answers = take(solver.solve(formulas, how));
      in_all = std::max(in_all, options.count / seconds_since(begin));
      solve::DeviceFormulas there = take(solver.upload(formulas));
      begin = Clock::now();
      const std::clock_t used = std::clock();
      take(solver.solve(there, nullptr, how));
      processor = std::min(processor, static_cast<double>(std::clock() - used) / CLOCKS_PER_SEC);
      on_device = std::max(on_device, options.count / seconds_since(begin));
    }
    const auto sat = std::ranges::count(answers.outcomes, solve::kBatchSat);
    fmt::print("{:<20} {:>10} {:>8.1f} {:>14.0f} {:>14.0f} {:>14.3f} {:>14}\n", small.name(),
               options.count, 100.0 * static_cast<double>(sat) / options.count, in_all, on_device,
               processor * 1e6 / options.count,
               options.peer && !small.counts ? fmt::format("{:.0f}", cadical_rate(formulas)) : "-");
    std::fflush(stdout);
  }
}

// ---- large formulas ----

struct Large {
  int32_t variables;
  double ratio;
  int length;

  std::string name() const { return fmt::format("walk/{}sat_{}_{:.2f}", length, variables, ratio); }
};

constexpr Large kLarge[] = {{1000, 4.0, 3},    {10'000, 4.0, 3}, {10'000, 4.1, 3},
                            {100'000, 4.0, 3}, {5000, 4.2, 3},   {1'000'000, 3.8, 3},
                            {500, 19.5, 5}};

// Random clauses that a hidden assignment satisfies, fewer of those that it satisfies often: so
// the hidden one is not where all literals lead.
solve::Cnf planted(const Large& large) {
  std::mt19937_64 random(static_cast<uint64_t>(large.variables));
  solve::Cnf cnf;
  cnf.need_variables(large.variables);
  std::vector<bool> hidden(static_cast<size_t>(large.variables) + 1);
  for (size_t v = 0; v < hidden.size(); ++v) hidden[v] = random() % 2 == 0;
  const auto clauses = static_cast<size_t>(large.variables * large.ratio);
  std::uniform_real_distribution<double> chance;
  std::vector<solve::Literal> clause;
  while (cnf.size() < clauses) {
    clause.clear();
    int holding = 0;
    while (clause.size() < static_cast<size_t>(large.length)) {
      const uint64_t drawn = random();
      const auto v =
          static_cast<int32_t>((drawn >> 8) % static_cast<uint64_t>(large.variables)) + 1;
      const auto same = [v](solve::Literal literal) { return solve::variable_of(literal) == v; };
      if (std::ranges::any_of(clause, same)) continue;
      const bool positive = drawn % 2 == 0;
      clause.push_back(positive ? v : -v);
      if (positive == hidden[static_cast<size_t>(v)]) ++holding;
    }
    if (holding > 0 && chance(random) < std::pow(0.5, 0.6 * (holding - 1))) cnf.add(clause);
  }
  return cnf;
}

struct Taken {
  std::string seconds = "-";    // or nothing where there was no answer in time
  std::string processor = "-";  // of all threads
};

Taken time_of(solve::Solver& solver, const solve::Cnf& cnf, const Options& options) {
  solver.add(cnf);
  solve::Limits limits;
  const Clock::time_point begin = Clock::now();
  const std::clock_t used = std::clock();
  limits.deadline = begin + std::chrono::milliseconds(static_cast<int64_t>(options.seconds * 1000));
  if (solver.solve(limits) != solve::Outcome::Sat) return {};
  return {fmt::format("{:.3f}", seconds_since(begin)),
          fmt::format("{:.3f}", static_cast<double>(std::clock() - used) / CLOCKS_PER_SEC)};
}

void measure_large(device::Device& device, const Options& options) {
  fmt::print("{:<24} {:>10} {:>10} {:>16} {:>8} {:>12}\n", "formula", "variables", "clauses",
             "local search, s", "CPU s", "CaDiCaL, s");
  for (const Large& large : kLarge) {
    if (!options.wants(large.name())) continue;
    const solve::Cnf cnf = planted(large);
    const auto search =
        take(solve::local_search_solver(device, {.seed = options.seed, .walks = options.walks}));
    const Taken walked = time_of(*search, cnf, options);
    Taken peer;
    if (options.peer) peer = time_of(*take(solve::cadical_solver()), cnf, options);
    fmt::print("{:<24} {:>10} {:>10} {:>16} {:>8} {:>12}\n", large.name(), large.variables,
               cnf.size(), walked.seconds, walked.processor, peer.seconds);
    std::fflush(stdout);
  }
}

int run(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "--device" && i + 1 < argc) {
      options.device = argv[++i];
    } else if (word == "--count" && i + 1 < argc) {
      options.count = static_cast<uint32_t>(std::max(1, std::atoi(argv[++i])));
    } else if (word == "--seconds" && i + 1 < argc) {
      options.seconds = std::atof(argv[++i]);
    } else if (word == "--seed" && i + 1 < argc) {
      options.seed = std::strtoull(argv[++i], nullptr, 10);
    } else if (word == "--walks" && i + 1 < argc) {
      options.walks = static_cast<uint32_t>(std::max(0, std::atoi(argv[++i])));
    } else if (word == "--no-peer") {
      options.peer = false;
    } else if (word.starts_with("--")) {
      fmt::print(stderr,
                 "usage: bench_batch [--device NAME] [--count N] [--seconds S] [--seed N]\n"
                 "                   [--walks N] [--no-peer] [PART...]\n");
      return 2;
    } else {
      options.parts.push_back(word);
    }
  }
  const std::unique_ptr<device::Device> device = take(device::open_device(options.device));
  fmt::print("{}: {}\n", device->info().name, device->info().hardware);
  measure_small(*device, options);
  measure_large(*device, options);
  return 0;
}

}  // namespace
}  // namespace xlog::bench

int main(int argc, char** argv) { return xlog::bench::run(argc, argv); }
