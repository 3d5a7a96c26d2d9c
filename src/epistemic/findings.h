// What is found out about a program on the way to its answer: rows and ground rules, what the
// bounds decide, and the world views of the rest.
//
//   Findings findings(context, trace);
//   findings.ground();
//   findings.bound();
//   if (!findings.is_contradictory()) findings.solve();
#pragma once

#include <functional>
#include <optional>

#include "base/parallel.h"
#include "device/pool.h"
#include "epistemic/trace.h"
#include "epistemic/world_views.h"
#include "lang/load.h"
#include "lang/program.h"
#include "logic/analysis.h"
#include "oracle/context.h"
#include "oracle/evaluate.h"
#include "oracle/instantiate.h"
#include "oracle/well_founded.h"

namespace xlog::epistemic {

class Findings {
 public:
  // Many small units are solved on the device, where there is one.
  Findings(oracle::Context& context, Trace& trace, device::Device* device = nullptr)
      : context_(context), trace_(trace), device_(device) {}
  Findings(const Findings&) = delete;
  Findings& operator=(const Findings&) = delete;

  // The steps, in this order. Each throws what the context's limits throw.
  void ground();
  enum class Ground : uint8_t { Forget, Keep };
  void bound(Ground rules = Ground::Forget);  // the ground rules take the most memory
  void solve();
  // Of the views that are listed: one that does not depend on the order in which rows were met.
  void put_views_in_order();

  // Whether no world is left, whatever the guesses.
  bool is_contradictory() const;

  // How many; 0 where the program is contradictory.
  mpz_class view_count() const { return views_ ? views_->count() : mpz_class(0); }
  // Whether a search was made, with or without a view at its end.
  bool has_search() const { return views_.has_value(); }
  bool has_views() const { return views_.has_value() && views_->count() > 0; }

  const oracle::Instantiation& instance() const { return instance_; }
  oracle::Instantiation& instance() { return instance_; }
  const oracle::Bounds& bounds() const { return bounds_; }
  const oracle::GroundProgram& open() const { return open_; }
  const WorldViews& views() const { return *views_; }
  oracle::Context& context() const { return context_; }
  const Trace& trace() const { return trace_; }

  // What the bounds say of an atom; nothing where they leave it open.
  std::optional<AtomStatus> decided(oracle::AtomId atom) const {
    if (bounds_.lower[atom]) return AtomStatus::Always;
    if (!bounds_.upper[atom]) return AtomStatus::Never;
    return std::nullopt;
  }
  // In one of the views of the cluster that the atom belongs to, where it is open.
  AtomStatus status(oracle::AtomId atom, uint32_t cluster_view) const;
  uint32_t cluster_of(oracle::AtomId atom) const {
    return views_->units().cluster_of(views_->units().unit_of(atom));
  }

  // "p(1, a)"; of an atom that says that one of several holds, "p(1, _)" or the like.
  std::string text(oracle::AtomId atom) const;
  // Whether the program's text names it.
  bool is_shown(oracle::AtomId atom) const;

 private:
  bool is_before(oracle::AtomId a, oracle::AtomId b) const;

  oracle::Context& context_;
  Trace& trace_;
  device::Device* const device_;
  device::Pool pool_{0};  // its threads start with the first work that is large enough
  const Parallel parallel_ = [this](uint32_t n, uint32_t grain, const Piece& piece) {
    pool_.parallel_for(n, grain, piece);
  };
  oracle::Instantiation instance_;
  oracle::Bounds bounds_;
  oracle::GroundProgram open_;  // what the bounds do not decide
  std::optional<WorldViews> views_;
};

// Finds all there is, be it no view, and hands it over. False where something was reported instead.
bool with_findings(const lang::Program& program, const logic::Analysis& analysis,
                   lang::Session& session, const logic::AnswerOptions& options,
                   const oracle::Preset* preset, Trace& trace,
                   const std::function<void(Findings&)>& use);

}  // namespace xlog::epistemic
