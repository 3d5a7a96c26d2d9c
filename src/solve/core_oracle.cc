#include "solve/core_oracle.h"

#include <algorithm>
#include <cadical.hpp>

#include "solve/limit_watch.h"

namespace xlog::solve {

class CoreOracle::Engine final : public CaDiCaL::Terminator, public CaDiCaL::Learner {
 public:
  Engine(int32_t variables, const Limits& limits) : limits_(limits), variables_(variables) {
    cadical_.set("quiet", 1);
    // Each call is short and close to the one before: passes over the whole formula do not pay.
    for (const char* pass : {"lucky", "walk", "elim", "probe", "subsume", "vivify"}) {
      cadical_.set(pass, 0);
    }
    cadical_.connect_terminator(this);
    cadical_.connect_learner(this);
  }
  ~Engine() override {
    cadical_.disconnect_terminator();
    cadical_.disconnect_learner();
  }

  int32_t new_variable() { return ++variables_; }

  void add(std::span<const Literal> clause) {
    for (const Literal literal : clause) cadical_.add(literal);
    cadical_.add(0);
  }

  Outcome solve(std::span<const Literal> assumptions, std::optional<uint64_t> conflicts) {
    look_at_limits();
    if (stopped_) return *stopped_;
    for (const Literal literal : assumptions) cadical_.assume(literal);
    uint64_t allowed = conflicts.value_or(UINT64_MAX);
    if (limits_.conflicts) allowed = std::min(allowed, *limits_.conflicts - conflicts_);
    if (allowed < INT32_MAX) cadical_.limit("conflicts", static_cast<int>(allowed));
    const int result = cadical_.solve();
    if (result == 10) return Outcome::Sat;
    if (result == 20) return Outcome::Unsat;
    look_at_limits();
    return stopped_.value_or(Outcome::Unknown);
  }

  std::optional<Outcome> stopped() const { return stopped_; }
  bool holds(Literal literal) {
    const Literal v = variable_of(literal);
    const bool positive = v <= cadical_.vars() && cadical_.val(v) > 0;
    return positive == (literal > 0);
  }
  bool failed(Literal assumption) { return cadical_.failed(assumption); }

  bool terminate() override {
    look_at_clock_and_memory();
    return stopped_.has_value();
  }
  // CaDiCaL tells of each clause that it learns, one a conflict; that is how conflicts are counted.
  bool learning(int) override {
    ++conflicts_;
    return false;
  }
  void learn(int) override {}

 private:
  void look_at_limits() {
    look_at_clock_and_memory();
    if (!stopped_ && limits_.conflicts && conflicts_ >= *limits_.conflicts) {
      stopped_ = Outcome::Unknown;
    }
  }

  void look_at_clock_and_memory() {
    if (!stopped_ && watch_.reached()) stopped_ = watch_.outcome();
  }

  const Limits limits_;
  LimitWatch watch_{limits_};
  int32_t variables_;
  uint64_t conflicts_ = 0;
  std::optional<Outcome> stopped_;
  CaDiCaL::Solver cadical_;
};

CoreOracle::CoreOracle(int32_t variables, const Limits& limits)
    : engine_(std::make_unique<Engine>(variables, limits)) {}
CoreOracle::~CoreOracle() = default;
int32_t CoreOracle::new_variable() { return engine_->new_variable(); }
void CoreOracle::add(std::span<const Literal> clause) { engine_->add(clause); }
Outcome CoreOracle::solve(std::span<const Literal> assumptions, std::optional<uint64_t> conflicts) {
  return engine_->solve(assumptions, conflicts);
}
std::optional<Outcome> CoreOracle::stopped() const { return engine_->stopped(); }
bool CoreOracle::holds(Literal literal) const { return engine_->holds(literal); }
bool CoreOracle::failed(Literal assumption) const { return engine_->failed(assumption); }

}  // namespace xlog::solve
