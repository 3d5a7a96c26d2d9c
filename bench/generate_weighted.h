// Weighted formulas by family, the same on every machine for the same seed.
#pragma once

#include <cmath>
#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "generate.h"
#include "solve/cnf.h"

namespace xlog::bench {

using solve::Literal;
using solve::WeightedCnf;

inline void add_soft(WeightedCnf& formula, uint64_t weight, std::vector<Literal> clause) {
  formula.soft.add(clause);
  formula.weights.push_back(weight);
}

inline std::vector<std::pair<Literal, Literal>> random_edges(uint32_t nodes, uint32_t edges,
                                                             Random& random) {
  std::set<std::pair<Literal, Literal>> chosen;
  while (chosen.size() < edges) {
    const auto a = static_cast<Literal>(1 + random.below(nodes));
    const auto b = static_cast<Literal>(1 + random.below(nodes));
    if (a != b) chosen.insert({std::min(a, b), std::max(a, b)});
  }
  return {chosen.begin(), chosen.end()};
}

// The lightest nodes that touch every edge.
inline WeightedCnf vertex_cover(uint32_t nodes, uint32_t edges, uint64_t seed) {
  Random random(seed);
  WeightedCnf formula;
  for (const auto& [a, b] : random_edges(nodes, edges, random)) formula.hard.add({a, b});
  for (uint32_t v = 1; v <= nodes; ++v) {
    add_soft(formula, 1 + random.below(100), {-static_cast<Literal>(v)});
  }
  return formula;
}

// Two sides such that the edges between them weigh the most. There are only soft clauses.
inline WeightedCnf max_cut(uint32_t nodes, uint32_t edges, uint64_t seed) {
  Random random(seed);
  WeightedCnf formula;
  for (const auto& [a, b] : random_edges(nodes, edges, random)) {
    const uint64_t weight = 1 + random.below(20);
    add_soft(formula, weight, {a, b});
    add_soft(formula, weight, {-a, -b});
  }
  return formula;
}

// The cheapest sets that together hold every element, each of which is in `copies` of them.
inline WeightedCnf set_cover(uint32_t elements, uint32_t sets, uint32_t copies, uint64_t seed) {
  Random random(seed);
  WeightedCnf formula;
  for (uint32_t e = 0; e < elements; ++e) {
    std::set<Literal> holders;
    while (holders.size() < copies) {
      holders.insert(static_cast<Literal>(1 + random.below(sets)));
    }
    formula.hard.add(std::vector<Literal>(holders.begin(), holders.end()));
  }
  for (uint32_t s = 1; s <= sets; ++s) {
    add_soft(formula, 1 + random.below(50), {-static_cast<Literal>(s)});
  }
  return formula;
}

inline void at_most_one(WeightedCnf& formula, const std::vector<Literal>& literals) {
  for (size_t i = 0; i < literals.size(); ++i) {
    for (size_t j = 0; j < i; ++j) formula.hard.add({-literals[i], -literals[j]});
  }
}

// Workers and tasks: each task to one worker who can do it, no worker more than two tasks that
// overlap, prices for each pair.
inline WeightedCnf assignment(uint32_t tasks, uint32_t workers, uint64_t seed) {
  Random random(seed);
  WeightedCnf formula;
  const auto pair = [&](uint32_t task, uint32_t worker) {
    return static_cast<Literal>(1 + task * workers + worker);
  };
  for (uint32_t t = 0; t < tasks; ++t) {
    std::vector<Literal> choices;
    for (uint32_t w = 0; w < workers; ++w) {
      choices.push_back(pair(t, w));
      add_soft(formula, 1 + random.below(60), {-pair(t, w)});
    }
    formula.hard.add(choices);
    at_most_one(formula, choices);
  }
  for (uint32_t i = 0; i < 3 * tasks; ++i) {
    const uint32_t a = random.below(tasks);
    const uint32_t b = random.below(tasks);
    if (a == b) continue;
    for (uint32_t w = 0; w < workers; ++w) formula.hard.add({-pair(a, w), -pair(b, w)});
  }
  return formula;
}

// Jobs of one slot each on given machines: one job a machine and slot, some jobs before others,
// weights for jobs that are dropped or late.
inline WeightedCnf schedule(uint32_t jobs, uint32_t slots, uint32_t machines, uint64_t seed) {
  Random random(seed);
  WeightedCnf formula;
  const auto runs_at = [&](uint32_t job, uint32_t slot) {
    return static_cast<Literal>(1 + job * slots + slot);
  };
  const auto done = [&](uint32_t job) { return static_cast<Literal>(1 + jobs * slots + job); };
  std::vector<std::vector<uint32_t>> of_machine(machines);
  for (uint32_t j = 0; j < jobs; ++j) {
    of_machine[random.below(machines)].push_back(j);
    std::vector<Literal> some{-done(j)};
    std::vector<Literal> times;
    const uint32_t due = random.below(slots);
    for (uint32_t t = 0; t < slots; ++t) {
      times.push_back(runs_at(j, t));
      formula.hard.add({-runs_at(j, t), done(j)});
      if (t > due) add_soft(formula, (1 + random.below(9)) * (t - due), {-runs_at(j, t)});
    }
    at_most_one(formula, times);
    some.insert(some.end(), times.begin(), times.end());
    formula.hard.add(some);
    add_soft(formula, 20 + random.below(181), {done(j)});
  }
  for (const std::vector<uint32_t>& together : of_machine) {
    for (uint32_t t = 0; t < slots; ++t) {
      std::vector<Literal> literals;
      for (const uint32_t j : together) literals.push_back(runs_at(j, t));
      at_most_one(formula, literals);
    }
  }
  for (uint32_t i = 0; i < jobs; ++i) {
    const uint32_t first = random.below(jobs);
    const uint32_t then = random.below(jobs);
    if (first >= then) continue;
    formula.hard.add({-done(then), done(first)});
    for (uint32_t t = 0; t < slots; ++t) {
      for (uint32_t u = t; u < slots; ++u) {
        formula.hard.add({-runs_at(then, t), -runs_at(first, u)});
      }
    }
  }
  return formula;
}

// The most probable state of a grid of coupled bits: weights are logarithms of odds.
inline WeightedCnf probable_grid(uint32_t side, uint64_t seed) {
  Random random(seed);
  WeightedCnf formula;
  const auto bit = [&](uint32_t i, uint32_t j) { return static_cast<Literal>(1 + i * side + j); };
  const auto couple = [&](Literal a, Literal b) {
    const uint64_t weight = 100 + random.below(1400);
    if (random.chance(0.5)) b = -b;
    add_soft(formula, weight, {a, b});
    add_soft(formula, weight, {-a, -b});
  };
  for (uint32_t i = 0; i < side; ++i) {
    for (uint32_t j = 0; j < side; ++j) {
      const double p = 0.05 + 0.9 * random.unit();
      const auto weight = static_cast<uint64_t>(1000 * std::abs(std::log(p / (1 - p))));
      add_soft(formula, weight, {p > 0.5 ? bit(i, j) : -bit(i, j)});
      if (i + 1 < side) couple(bit(i, j), bit(i + 1, j));
      if (j + 1 < side) couple(bit(i, j), bit(i, j + 1));
    }
  }
  return formula;
}

struct WeightedFamily {
  std::string name;
  WeightedCnf formula;
};

// Small to hard; the last of a family may take longer than anybody waits.
inline std::vector<WeightedFamily> weighted_families() {
  std::vector<WeightedFamily> all;
  for (const uint32_t n : {60u, 100u, 150u, 200u}) {
    all.push_back({fmt::format("vertex_cover_{}", n), vertex_cover(n, 3 * n, n)});
  }
  all.push_back({"vertex_cover_300", vertex_cover(300, 600, 300)});
  for (const uint32_t n : {20u, 30u, 40u}) {
    all.push_back({fmt::format("max_cut_{}", n), max_cut(n, 3 * n, n)});
  }
  for (const uint32_t n : {60u, 100u}) {
    all.push_back({fmt::format("set_cover_{}", n), set_cover(n, 3 * n / 5, 5, n)});
  }
  for (const uint32_t n : {15u, 25u, 40u}) {
    all.push_back({fmt::format("assignment_{}", n), assignment(n, 8, n)});
  }
  for (const uint32_t n : {15u, 20u, 25u}) {
    all.push_back({fmt::format("schedule_{}", n), schedule(n, 8, 3, n)});
  }
  for (const uint32_t n : {8u, 12u, 16u, 24u}) {
    all.push_back({fmt::format("probable_grid_{}", n), probable_grid(n, n)});
  }
  return all;
}

}  // namespace xlog::bench
