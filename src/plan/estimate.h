// What the planner may expect of each relation before anything is evaluated: of facts what the
// engine will see, of rules an estimate from the pipelines that fill them.
//
//   Estimates estimates(program, analysis);
//   for each component, in order:
//     estimates.begin(c);                      // its facts, and its rules that do not read it
//     ... build_pipeline(..., estimates.statistics()) ...
//     estimates.finish(c);                     // and what recursion may add
#pragma once

#include <map>
#include <vector>

#include "logic/analysis.h"
#include "plan/build.h"

namespace xlog::plan {

// Relations that nothing is known of: no facts, no rules, no input file.
inline constexpr uint64_t kUnknownRows = 1'000'000;

class Estimates {
 public:
  Estimates(const lang::Program& program, const logic::Analysis& analysis);

  void begin(uint32_t component);
  void finish(uint32_t component);

  const Statistics& operator[](PredId pred) const { return known_[pred.index]; }
  StatisticsOf statistics() const;
  // Whether rows may come from elsewhere: kUnknownRows are assumed.
  bool is_unknown(PredId pred) const;
  bool is_host_table(PredId pred) const;
  // What somebody has asked for: of columns of facts.
  const std::map<uint32_t, Degrees>& degrees(PredId pred) const { return degrees_[pred.index]; }

 private:
  bool reads(const lang::Rule& rule, uint32_t component) const;
  void look_at(const std::vector<lang::Literal>& body, std::vector<uint64_t>& fewest) const;
  void add(const lang::Rule& rule, double solutions);
  void bound(uint32_t component);
  std::optional<Degrees> count_degrees(PredId pred, uint32_t column) const;

  const lang::Program& program_;
  const logic::Analysis& analysis_;
  std::vector<Statistics> known_;              // by predicate
  std::vector<std::vector<uint64_t>> values_;  // by predicate and column: how many there can be
  mutable std::vector<std::map<uint32_t, Degrees>> degrees_;  // by predicate and column
};

// How many rows an evaluation of what answers depend on is expected to derive.
double expected_rows(const lang::Program& program, const logic::Analysis& analysis);

}  // namespace xlog::plan
