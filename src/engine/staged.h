// A derivation whose pipeline may need the host between its steps. It is run in stages: the
// bindings that the steps before the host let through go to a bag, the host solves its literals for
// each of them, and what it finds drives the steps that follow.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "engine/host_solver.h"
#include "relation/derive.h"

namespace xlog::engine {

class StagedDerivation {
 public:
  // As relation::Derivation. `source`: the rule that the user knows.
  StagedDerivation(relation::Machine& machine, const lang::Program& program, HostSolver& host,
                   plan::Pipeline pipeline, uint32_t source, std::vector<lang::Term> head,
                   std::optional<lang::PredId> into);

  const plan::Pipeline& pipeline() const { return pipeline_; }
  // Only of a derivation with one stage.
  void go_on_with_own_rows() { stages_[0].derivation.go_on_with_own_rows(); }
  // Nothing else gives its relation rows. The last stage does not know what the others bind.
  void fills_alone() {
    if (!needs_host()) stages_.back().derivation.fills_alone();
  }
  const std::vector<lang::Term>& head() const { return stages_.back().derivation.head(); }
  bool needs_host() const { return stages_.size() > 1; }

  Result<relation::Derived> run(const relation::RelationOf& relation_of);
  Result<relation::Derived> run(const relation::RelationOf& relation_of, relation::Bag& bag,
                                const relation::Filled& filled = relation::leave_in_bag);

 private:
  struct Stage {
    relation::Derivation derivation;
    // What the host is asked afterwards, with the variables that it gets; not of the last stage.
    HostQuestion question;
    std::vector<lang::VarId> live;
  };
  void divide(uint32_t source, std::vector<lang::Term> head, std::optional<lang::PredId> into);
  using FinishStages =
      std::function<Result<relation::Derived>(const relation::RelationOf& relation_of)>;
  Result<relation::Derived> run_stages(const relation::RelationOf& relation_of,
                                       const FinishStages& finish);
  Result<relation::Derived> run_before_last(const relation::RelationOf& relation_of);
  Result<HostRows> download(const std::vector<lang::VarId>& live, const relation::Bag& bag,
                            uint64_t solutions) const;
  Status upload(const HostRows& rows);
  relation::RelationOf with_bindings(const relation::RelationOf& relation_of) const;

  relation::Machine* machine_;
  const lang::Program* program_;
  HostSolver* host_;
  plan::Pipeline pipeline_;
  bool counts_solutions_;  // into a bag: equal bindings are not one
  std::vector<Stage> stages_;
  std::shared_ptr<relation::Relation> bindings_;  // that the host gave, for the next stage
};

}  // namespace xlog::engine
