// Evaluates one component: rules that do not read it once, then rounds over what is new until
// nothing is.
#pragma once

#include <functional>

#include <map>
#include <vector>

#include "engine/database.h"
#include "engine/estimates.h"
#include "engine/staged.h"
#include "engine/trace.h"
#include "logic/analysis.h"

namespace xlog::engine {

struct ComponentRun {
  uint64_t rounds = 0;
  uint64_t rows = 0;
};

class Rules {
 public:
  // `check` is called between launches with the rows derived so far, and whether the component is
  // recursive and makes new values; an error from it ends the evaluation.
  using Check = std::function<Status(uint64_t rows, bool makes_values)>;
  Rules(relation::Machine& machine, const lang::Program& program, const Estimates& estimates,
        Database& database, HostSolver& host, Trace& trace, Check check)
      : machine_(machine),
        program_(program),
        host_(host),
        estimates_(estimates),
        analysis_(estimates.analysis()),
        database_(database),
        trace_(trace),
        check_(std::move(check)) {}

  Result<ComponentRun> evaluate(uint32_t component);

  // ---- A component that is evaluated again and again ----

  struct Version {
    uint32_t rule;
    uint32_t literal;  // that sees new rows
    StagedDerivation derivation;
  };
  // What one evaluation leaves to the next: plans with their kernels.
  struct Kept {
    std::map<uint32_t, StagedDerivation> once;  // by rule
    std::optional<std::vector<Version>> versions;
    uint64_t rows = 0;  // that it derived
    bool counts_valueless = true;
  };
  // Its relations become empty, and their rows no longer count.
  void clear(uint32_t component, Kept& kept);
  // Evaluates it; its relations are empty. Adds to `run`.
  Status grow(uint32_t component, Kept& kept, ComponentRun& run);

  // The solutions of a constraint: values of its named variables.
  struct Solutions {
    std::vector<uint32_t> variables;
    std::vector<std::vector<lang::Value>> rows;
  };
  Result<Solutions> solve(uint32_t constraint);

  // Instances of arithmetic without a value, and a rule that has some.
  struct Valueless {
    uint64_t count = 0;
    Span span;
  };
  const Valueless& valueless() const { return valueless_; }

 private:
  Result<bool> next_round(const logic::Component& component);
  Status run_once(uint32_t component, Kept& kept, ComponentRun& run);
  Status run_rounds(uint32_t component, Kept& kept, ComponentRun& run);
  std::vector<Version> versions(uint32_t component);
  std::optional<relation::Carry> carried_together(const std::vector<Version>& versions);
  Result<bool> carry_on(relation::Carry& carry, const std::vector<Version>& versions,
                        ComponentRun& run);
  void release_sets_below(uint32_t component, const std::vector<Version>& versions);
  void plan_again(uint32_t component, std::vector<Version>& versions);
  uint64_t rows_of(const logic::Component& component);
  Status derive(StagedDerivation& derivation, ComponentRun& run);
  Status aggregate(uint32_t rule, ComponentRun& run);
  Status fold_on_host(uint32_t rule, ComponentRun& run);
  Result<device::Buffer> repeated(const kernel::Scalar& value, uint32_t rows);
  StagedDerivation version(uint32_t rule, std::optional<uint32_t> delta, uint32_t component);
  StagedDerivation into_bag(uint32_t rule, const std::vector<lang::Term>& terms);
  plan::Pipeline pipeline(uint32_t rule, std::optional<uint32_t> delta, uint32_t component);
  bool makes_values(uint32_t component) const;
  bool is_only_rule(uint32_t rule, uint32_t component) const;
  void count_valueless(uint32_t rule, uint64_t count);
  RuleVersion version_of(const plan::Pipeline& pipeline) const;
  uint64_t driving_rows(const plan::Pipeline& pipeline);
  bool inside(lang::PredId pred, uint32_t component) const {
    return analysis_.component_of[pred.index] == component;
  }

  relation::Machine& machine_;
  const lang::Program& program_;
  HostSolver& host_;
  const Estimates& estimates_;
  const logic::Analysis& analysis_;
  Database& database_;
  Trace& trace_;
  Check check_;
  uint64_t rows_ = 0;  // derived by all components so far
  Valueless valueless_;
  bool counts_valueless_ = true;
};

}  // namespace xlog::engine
