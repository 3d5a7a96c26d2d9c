// Programs of very many small units, one in ten of them unlike all others, for measuring how fast
// their world views are found: in batches on a device, and one by one by the solver.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "device/device.h"
#include "epistemic/bounds.h"
#include "epistemic/unit_batch.h"
#include "epistemic/world_views.h"
#include "oracle/ground.h"
#include "oracle/well_founded.h"

namespace xlog::bench {

class RandomUnits {
 public:
  explicit RandomUnits(device::Device& device) : device_(device) {
    options_.max_candidates = UINT64_MAX;
  }

  // Prints a line; the device must be able to run the batch.
  void measure(uint32_t policies) {
    const oracle::GroundProgram program = make(policies);
    const oracle::Bounds bounds = epistemic::well_founded_bounds(program, options_.mode, context_);
    const oracle::GroundProgram open = oracle::residual(program, bounds, session_.names);
    epistemic::BatchTrace trace;
    const Timed batch = timed(open, {.device = &device_, .trace = &trace});
    const Timed solver = timed(open, {});
    if (batch.views != solver.views || !trace.note.empty()) {
      fmt::print(stderr, "bench_epistemic: the engines differ {}\n", trace.note);
      std::exit(1);
    }
    fmt::print(
        "{:<12}{:>8}  {} units, {} unlike others: batch {:.2f} s, solver {:.2f} s, {:.0f} : 1; "
        "{} launches, {:.1f} MB there, {:.1f} MB back\n",
        "policies", policies, batch.units, trace.units, batch.seconds, solver.seconds,
        solver.seconds / batch.seconds, trace.launches,
        static_cast<double>(trace.bytes_to_device) * 1e-6,
        static_cast<double>(trace.bytes_from_device) * 1e-6);
    std::fflush(stdout);
  }

 private:
  struct Timed {
    double seconds = 0;
    uint64_t units = 0;
    mpz_class views;
  };

  Timed timed(const oracle::GroundProgram& open, const epistemic::Batching& batching) {
    epistemic::Units units(open);
    Timed timed;
    timed.units = units.size();
    epistemic::SearchCounts counts;
    const std::clock_t begin = std::clock();
    const epistemic::WorldViews views(std::move(units), context_, counts, batching);
    timed.views = views.count();
    timed.seconds = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
    return timed;
  }

  // Random policies that have a world view, each ten times.
  oracle::GroundProgram make(uint32_t policies) {
    const uint32_t kinds = std::max(policies / 10, 1u);
    const std::vector<oracle::GroundProgram> made = with_views(kinds);
    oracle::GroundProgram all;
    for (uint32_t p = 0; p < policies; ++p) {
      const oracle::GroundProgram& one = made[p % kinds];
      for (const oracle::GroundRule rule : one.rules) {
        std::vector<oracle::AtomId> heads(rule.heads.begin(), rule.heads.end());
        std::vector<oracle::GroundLiteral> body(rule.body.begin(), rule.body.end());
        for (oracle::AtomId& head : heads) head += all.atom_count;
        for (oracle::GroundLiteral& literal : body) literal.index += all.atom_count;
        all.rules.add(rule.kind, heads, body, 0);
      }
      all.atom_count += one.atom_count;
    }
    return all;
  }

  // Two facts that are open, and what follows from them, by default, or from what is known.
  static oracle::GroundProgram random_policy(std::mt19937& random) {
    using oracle::GroundHead;
    using oracle::GroundKind;
    const auto pick = [&](uint32_t n) { return static_cast<uint32_t>(random() % n); };
    oracle::GroundProgram policy;
    policy.atom_count = 5 + pick(4);
    for (const oracle::AtomId open : {0u, 1u}) policy.rules.add(GroundHead::Choice, {open}, {}, 0);
    const auto body = [&](uint32_t literals) {
      std::vector<oracle::GroundLiteral> made(literals);
      for (oracle::GroundLiteral& literal : made) {
        constexpr GroundKind kKinds[] = {GroundKind::Pos, GroundKind::Neg, GroundKind::Modal};
        literal = {kKinds[pick(3)], lang::Modal::None, pick(policy.atom_count)};
        if (literal.kind == GroundKind::Modal)
          literal.modal = static_cast<lang::Modal>(1 + pick(6));
      }
      return made;
    };
    for (oracle::AtomId head = 2; head < policy.atom_count; ++head) {
      const uint32_t rules = 1 + pick(2);
      for (uint32_t r = 0; r < rules; ++r) {
        policy.rules.add(GroundHead::Normal, std::span(&head, 1), body(1 + pick(3)), 0);
      }
    }
    if (pick(3) == 0) policy.rules.add(GroundHead::Constraint, {}, body(2), 0);
    return policy;
  }

  std::vector<oracle::GroundProgram> with_views(uint32_t wanted) {
    std::vector<oracle::GroundProgram> kept;
    epistemic::UnitBatch batch(device_);
    for (uint32_t round = 0; kept.size() < wanted; ++round) {
      epistemic::SmallUnits small(options_.mode);
      std::vector<oracle::GroundProgram> drawn;
      for (uint32_t i = 0; i < wanted; ++i) {
        std::mt19937 random(1 + round * wanted + i);
        oracle::GroundProgram program = random_policy(random);
        if (small.add(program) == epistemic::UnitFit::Fits) drawn.push_back(std::move(program));
      }
      Result<std::vector<epistemic::Solution>> solutions = batch.solve(small);
      if (!solutions.ok()) {
        fmt::print(stderr, "bench_epistemic: {}\n", solutions.error().text());
        std::exit(1);
      }
      for (size_t i = 0; i < drawn.size() && kept.size() < wanted; ++i) {
        if (!(*solutions)[i].views.empty()) kept.push_back(std::move(drawn[i]));
      }
    }
    return kept;
  }

  device::Device& device_;
  lang::Program program_;
  logic::Analysis analysis_;
  lang::Session session_;
  logic::AnswerOptions options_;
  oracle::Context context_{program_, analysis_, session_, options_};
};

}  // namespace xlog::bench
