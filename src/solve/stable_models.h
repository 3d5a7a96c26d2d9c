// Stable models of a ground program: one, each, all, how many, what they share, the best.
//
//   StableModels solver;
//   if (Status s = solver.add(std::move(program)); !s.ok()) return s.error();
//   solver.assume(-3);
//   while (solver.next({}) == Outcome::Sat) show(solver.holds(1));
//
// Assumptions and the values of externals may change between any two calls; what was learned
// stays. Every call may be limited and interrupted as in solver.h.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/result.h"
#include "solve/completion.h"
#include "solve/ground_program.h"
#include "solve/model_count.h"
#include "solve/search.h"
#include "solve/stable_check.h"

namespace xlog::solve {

struct StableOptions {
  // Each model is tested against the rules by an independent check before it leaves. Where many are
  // looked for in turn that costs more than finding the model, so that there only the first few
  // and then one in 64 are, unless this is set.
  bool check_every_model = false;
  // Where disjunctions have several atoms of one cycle, counting enumerates up to so many models of
  // a part before it splits the part further.
  uint64_t few_models = 256;
};

struct Enumeration {
  uint64_t models = 0;
  Outcome outcome = Outcome::Unsat;  // Unsat: these are all; Sat: the visitor stopped; or a limit
};

struct Consequences {
  Outcome outcome = Outcome::Unsat;  // Sat: exact; Unsat: there is no stable model; else a limit
  std::vector<Atom> atoms;           // ascending; at a limit: still possible (cautious), or sure
                                     // (brave)
};

// The cost of one priority.
struct Cost {
  int64_t priority = 0;
  int64_t value = 0;

  bool operator==(const Cost&) const = default;
};

struct Optimum {
  Outcome outcome = Outcome::Unsat;  // Optimal, Unsat, or a limit; then the best so far, if any
  std::optional<Model> model;        // over the atoms
  std::vector<Cost> costs;           // highest priority first
};

class StableModels {
 public:
  explicit StableModels(const StableOptions& options = {}) : options_(options) {}
  ~StableModels();

  // Once, before all else.
  Status add(GroundProgram program);
  // Further rules, whose heads are atoms that are not here yet, or none. What was learned stays.
  Status extend(const GroundProgram& more);
  const GroundProgram& program() const { return program_; }

  // As in solver.h: an assumption holds until it is retracted.
  void assume(Literal literal);
  void retract(Literal literal);
  void retract_all();
  // Of an atom that the program declares external and has no rules for.
  Status set_external(Atom atom, ExternalValue value);
  // No model in which all of these hold, from now on.
  void forbid(std::span<const Literal> body);
  // Models that agree on these atoms count as one for `next` and `enumerate`; nullopt: all differ.
  void project(std::optional<std::vector<Atom>> atoms);
  // The same for models that show the same texts.
  void project_on_shown();

  // Any model: Sat or Unsat, or a limit. After Unsat, `failed` are assumptions that cannot all
  // hold; the program's own assumptions and externals are not among them.
  Outcome solve(const Limits& limits);
  const std::vector<Literal>& failed() const { return failed_; }

  // The next model of an enumeration, which starts anew after every other call; Unsat: no more.
  Outcome next(const Limits& limits);
  // After Sat, until the next call.
  bool holds(Literal literal) const { return search_->value(completion_.literal(literal)) > 0; }
  Model model() const;
  std::vector<std::string> shown() const;  // the texts of the model, each once, in their order
  std::vector<Cost> costs() const;

  // The visitor returns false to stop.
  using Visitor = std::function<bool(const StableModels&)>;
  Enumeration enumerate(const Limits& limits, const Visitor& visit);

  // How many there are, without listing them.
  ModelCount count(const Limits& limits) const;

  // Which atoms hold in all models, and which in some; without `among`, of all atoms.
  Consequences cautious(const Limits& limits, std::span<const Atom> among = {});
  Consequences brave(const Limits& limits, std::span<const Atom> among = {});

  // The model of least cost. `better` hears of each improvement.
  Optimum optimize(const Limits& limits, const Visitor& better = nullptr);
  // All models of least cost.
  Enumeration enumerate_optimal(const Limits& limits, const Visitor& visit);

  // True or false in every model as far as unit propagation sees; for the search's own facts.
  int fixed_value(Atom atom) const { return search_->fixed_value(completion_.literal(atom)); }
  uint64_t conflicts() const { return search_->conflicts(); }

 private:
  // One or several priorities as one sum of positive weights.
  struct Objective {
    std::vector<WeightedLiteral> terms;  // in the search
    int64_t total = 0;
  };

  // While `literal` is assumed, a cost is bounded.
  struct CostGuard {
    Literal literal = 0;
    uint32_t constraint = 0;
  };

  Status complete_rules(const GroundProgram& program);
  void apply_assumptions(std::span<const Literal> also);
  Outcome solve_with(std::span<const Literal> also, const Limits& limits);
  Outcome next_with(std::span<const Literal> also, const Limits& limits);
  Enumeration enumerate_with(std::span<const Literal> also, const Limits& limits,
                             const Visitor& visit);
  void note_failed();
  void check_model();
  void check_model_of_many();
  Consequences consequences(const Limits& limits, std::span<const Atom> among, bool cautious);

  std::vector<Objective> objectives() const;
  int64_t cost(const Objective& objective) const;
  void bound_cost(const Objective& objective, int64_t most, std::vector<CostGuard>& guards);
  void drop(const CostGuard& guard);
  Outcome minimize(const Objective& objective, const Limits& limits, std::vector<CostGuard>& guards,
                   Optimum& best, const Visitor& better);
  void find_optimum(const Limits& limits, std::vector<CostGuard>& guards, Optimum& best,
                    const Visitor& better);

  StableOptions options_;
  GroundProgram program_;
  std::vector<bool> given_;  // externals without rules, by atom
  std::vector<Atom> given_atoms_;
  std::vector<ExternalValue> external_values_;
  std::vector<std::vector<Literal>> forbidden_;
  std::vector<Literal> assumptions_;
  std::vector<bool> is_assumed_;  // by slot
  std::vector<Literal> failed_;
  std::unique_ptr<Search> search_;
  std::vector<std::unique_ptr<Propagator>> propagators_;
  Completion completion_;
  bool enumerating_ = false;
  bool any_model_ = false;    // of this enumeration
  uint64_t models_seen_ = 0;  // of all that were looked for in turn
  std::unique_ptr<FoundedCheck> checker_;
  std::vector<bool> in_model_;
};

}  // namespace xlog::solve
