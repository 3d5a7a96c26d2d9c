// The instances of rules that can matter to who searches for worlds (estimates.h), found by the
// engine as the rows of any other relation: in an order of joins that fits the sizes, and on every
// device. Whoever makes the program ground then only has to look up the rows of atoms.
//
//   OpenInstances instances(...);
//   instances.find_all(placements, OpenComponents::WherePays);   // after the bounds
//   std::vector<oracle::Preset::Instances> of_rule = instances.take(rule);
#pragma once

#include <map>
#include <string>
#include <vector>

#include "engine/alternating.h"
#include "engine/placement.h"
#include "oracle/evaluate.h"
#include "plan/build.h"

namespace xlog::engine {

class OpenInstances {
 public:
  // What was done, for people.
  struct Figures {
    uint64_t rules = 0;  // whose instances were found here
    uint64_t left = 0;   // whose instances are left to others
    uint64_t instances = 0;
    uint64_t launches = 0;
    uint64_t bytes_from_device = 0;
    double seconds = 0;
  };

  OpenInstances(lang::Program& program, const logic::Analysis& analysis, Estimates& estimates,
                Database& database, Domains& domains, Rules& rules, const Alternation& alternation,
                device::Device& device)
      : program_(program),
        analysis_(analysis),
        estimates_(estimates),
        database_(database),
        domains_(domains),
        rules_(rules),
        alternation_(alternation),
        device_(device) {}

  // Of the rules of bounded components and of constraints over them, as `open` says. To walk over
  // all rows that may hold costs less where most bindings are instances, and where there are few.
  Status find_all(const std::vector<Placement>& placements, OpenComponents open);

  // The rules whose instances were found here, and these, once.
  std::vector<bool> rules() const;
  std::vector<oracle::Preset::Instances> take(uint32_t rule);

  const Figures& figures() const { return figures_; }

 private:
  bool has_open(lang::PredId pred) const;
  bool can_matter(const lang::Rule& rule) const;
  bool folds_open(const lang::Rule& rule) const;
  bool can_find(uint32_t rule) const;
  bool pays(uint32_t rule, const std::vector<Estimates::Instances>& instances);
  double cost_of_walk(uint32_t rule);
  Status consider(uint32_t rule, OpenComponents open);
  Status find(uint32_t rule, const std::vector<Estimates::Instances>& instances);
  plan::Statistics statistics(lang::PredId pred);

  lang::Program& program_;
  const logic::Analysis& analysis_;
  Estimates& estimates_;
  Database& database_;
  Domains& domains_;
  Rules& rules_;
  const Alternation& alternation_;
  device::Device& device_;
  std::map<uint32_t, std::vector<oracle::Preset::Instances>> found_;  // by rule
  Figures figures_;
};

}  // namespace xlog::engine
