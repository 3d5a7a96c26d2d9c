#include "solve/portfolio.h"

#include <fmt/format.h>

#include <system_error>
#include <thread>

#include "base/check.h"
#include "base/memory.h"
#include "solve/limit_watch.h"
#include "solve/local_search.h"
#include "solve/unit_exchange.h"

namespace xlog::solve {
namespace {

// A solve in slices begins anew a little each time, so the slices grow.
constexpr uint64_t kFirstSlice = 10'000;  // conflicts

bool is_answer(Outcome outcome) { return outcome == Outcome::Sat || outcome == Outcome::Unsat; }

class PortfolioSolver final : public Solver {
 public:
  Status open(const std::vector<Engine>& engines) {
    for (const Engine& engine : engines) {
      Result<std::unique_ptr<Solver>> made = engine.make([this](std::span<const Literal> clause) {
        if (clause.size() == 1) units_.share(clause[0]);
      });
      if (!made.ok()) {
        return Error{fmt::format("engine {}: {}", engine.name, made.error().message),
                     made.error().help, made.error().kind};
      }
      workers_.push_back({std::move(*made), engine.in_slices, 0, Outcome::Unknown});
    }
    return Done{};
  }

  uint64_t learned() const override {
    uint64_t all = 0;
    for (const Worker& worker : workers_) all += worker.solver->learned();
    return all;
  }

 protected:
  void add_clause(std::span<const Literal> clause) override {
    for (Worker& worker : workers_) worker.solver->add(clause);
  }
  void add_implied_clause(std::span<const Literal> clause) override {
    for (Worker& worker : workers_) worker.solver->add_implied(clause);
  }

  Outcome search(const Limits& limits) override {
    units_.need_variables(variables());
    stop_.store(false);
    winner_.store(kNobody);
    running_.store(workers_.size());
    Limits shared = limits;
    shared.interrupt = &stop_;
    shared.progress = nullptr;
    for (Worker& worker : workers_) {
      worker.outcome = Outcome::Unknown;
      worker.solver->need_variables(variables());
      worker.solver->retract_all();
      for (const Literal literal : assumptions()) worker.solver->assume(literal);
    }
    std::vector<std::thread> threads = start(shared);
    wait(limits);
    for (std::thread& thread : threads) thread.join();
    return take_answer();
  }

 private:
  static constexpr size_t kNobody = SIZE_MAX;

  struct Worker {
    std::unique_ptr<Solver> solver;
    bool in_slices;
    size_t units_seen;  // cursor of the exchange
    Outcome outcome;
  };

  // As many threads as the system gives.
  std::vector<std::thread> start(const Limits& limits) {
    std::vector<std::thread> threads;
    try {
      for (size_t i = 0; i < workers_.size(); ++i) {
        threads.emplace_back([this, i, &limits] { work(i, limits); });
      }
    } catch (const std::system_error&) {
      running_.fetch_sub(workers_.size() - std::max<size_t>(threads.size(), 1));
      if (threads.empty()) work(0, limits);
    }
    return threads;
  }

  void work(size_t index, const Limits& limits) {
    Worker& worker = workers_[index];
    worker.outcome =
        worker.in_slices ? solve_in_slices(worker, limits) : worker.solver->solve(limits);
    if (is_answer(worker.outcome)) {
      size_t nobody = kNobody;
      winner_.compare_exchange_strong(nobody, index);
      stop_.store(true);
    }
    running_.fetch_sub(1);
    running_.notify_all();
  }

  Outcome solve_in_slices(Worker& worker, const Limits& limits) {
    uint64_t left = limits.conflicts.value_or(UINT64_MAX);
    Limits part = limits;
    for (uint64_t slice = kFirstSlice;; slice *= 2) {
      while (const Literal unit = units_.take(worker.units_seen)) {
        worker.solver->add_implied(std::span(&unit, 1));
      }
      part.conflicts = std::min(slice, left);
      const Outcome outcome = worker.solver->solve(part);
      if (outcome != Outcome::Unknown || stop_.load()) return outcome;
      if (limits.memory_bytes && own_memory() > *limits.memory_bytes) return outcome;
      left -= *part.conflicts;
      if (left == 0) return outcome;
    }
  }

  // Until all have ended. They look at the time and the memory themselves; the caller's interrupt
  // and progress are passed on from here.
  void wait(const Limits& limits) {
    if (limits.interrupt == nullptr && !limits.progress) {
      for (size_t left = running_.load(); left > 0; left = running_.load()) running_.wait(left);
      return;
    }
    Limits passed_on;
    passed_on.interrupt = limits.interrupt;
    passed_on.progress = limits.progress;
    LimitWatch watch(passed_on);
    auto pause = std::chrono::microseconds(20);
    while (running_.load() > 0) {
      if (watch.reached()) stop_.store(true);
      std::this_thread::sleep_for(pause);
      pause = std::min(2 * pause, std::chrono::microseconds(1000));
    }
  }

  Outcome take_answer() {
    if (winner_.load() == kNobody) {
      const bool late = std::ranges::any_of(
          workers_, [](const Worker& w) { return w.outcome == Outcome::Timeout; });
      return late ? Outcome::Timeout : Outcome::Unknown;
    }
    const Worker& winner = workers_[winner_.load()];
    for (const Worker& other : workers_) {
      XLOG_CHECK(!is_answer(other.outcome) || other.outcome == winner.outcome,
                 "two engines answer the same");
    }
    if (winner.outcome == Outcome::Sat) model_ = winner.solver->model();
    failed_ = winner.solver->failed();
    return winner.outcome;
  }

  UnitExchange units_;  // before the workers that share them
  std::vector<Worker> workers_;
  Interrupt stop_ = false;
  std::atomic<size_t> winner_ = kNobody;
  std::atomic<size_t> running_ = 0;
};

}  // namespace

Result<std::unique_ptr<Solver>> portfolio_solver(const std::vector<Engine>& engines) {
  XLOG_CHECK(!engines.empty(), "a portfolio has an engine");
  auto solver = std::make_unique<PortfolioSolver>();
  if (Status s = solver->open(engines); !s.ok()) return s.error();
  return std::unique_ptr<Solver>(std::move(solver));
}

std::vector<Engine> cadical_portfolio(uint32_t threads) {
  constexpr struct {
    CadicalStyle style;
    std::string_view name;
  } kStyles[] = {{CadicalStyle::Balanced, "balanced"},
                 {CadicalStyle::Sat, "sat"},
                 {CadicalStyle::Unsat, "unsat"}};
  std::vector<Engine> engines;
  for (uint32_t i = 0; i < threads; ++i) {
    const auto& [style, name] = kStyles[i % std::size(kStyles)];
    CadicalOptions options;
    options.style = style;
    options.seed = static_cast<int32_t>(i / std::size(kStyles));
    options.learned_length = 1;
    engines.push_back({.name = fmt::format("cadical-{}-{}", name, options.seed),
                       .make =
                           [options](const OnLearned& share) mutable {
                             options.on_learned = share;
                             return cadical_solver(options);
                           },
                       .in_slices = true});
  }
  return engines;
}

Engine local_search_engine(device::Device& device) {
  return {.name = "local-search",
          .make = [&device](const OnLearned&) { return local_search_solver(device); }};
}

}  // namespace xlog::solve
