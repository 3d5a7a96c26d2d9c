#include "epistemic/findings.h"

#include <algorithm>
#include <chrono>

#include "base/check.h"
#include "epistemic/bounds.h"
#include "epistemic/joins.h"
#include "oracle/groups.h"
#include "oracle/refuse.h"
#include "oracle/report.h"

namespace xlog::epistemic {

using oracle::AtomId;

namespace {

// Adds the time it lives to a step's.
class StepTimer {
 public:
  explicit StepTimer(double& seconds) : seconds_(seconds) {}
  ~StepTimer() {
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - begin_;
    seconds_ += elapsed.count();
  }
  StepTimer(const StepTimer&) = delete;
  StepTimer& operator=(const StepTimer&) = delete;

 private:
  double& seconds_;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

}  // namespace

void Findings::ground() {
  const StepTimer timer(trace_.ground);
  instance_ = instantiate_by_joins(context_, parallel_);
  trace_.ground_rules = instance_.ground.rules.size();
  trace_.ground_atoms = instance_.ground.atom_count;
  context_.largest = [this] { return oracle::largest_relation(instance_.database, context_); };
  // No component is evaluated any more, and no rule.
  context_.rule.reset();
  context_.component = static_cast<uint32_t>(context_.analysis.components.size());
}

void Findings::bound(Ground rules) {
  const StepTimer timer(trace_.bounds);
  bounds_ =
      epistemic::well_founded_bounds(instance_.ground, context_.options.mode, context_, parallel_);
  open_ = epistemic::residual(instance_.ground, bounds_, context_, parallel_);
  trace_.open_rules = open_.rules.size();
  for (AtomId a = 0; a < instance_.ground.atom_count; ++a) {
    trace_.open_atoms += bounds_.upper[a] && !bounds_.lower[a] ? 1 : 0;
  }
  if (rules == Ground::Forget) instance_.ground = {};
}

bool Findings::is_contradictory() const {
  return instance_.violation || oracle::contradiction(open_, context_.names());
}

void Findings::solve() {
  std::optional<Units> units;
  {
    const StepTimer timer(trace_.split);
    units.emplace(open_, parallel_);
    trace_.units = units->size();
    for (uint32_t u = 0; u < units->size(); ++u) {
      trace_.largest_unit = std::max<uint64_t>(trace_.largest_unit, units->atoms(u).size());
    }
  }
  const StepTimer timer(trace_.solve);
  const Batching batching{.device = device_, .trace = &trace_.batch, .parallel = parallel_};
  views_.emplace(std::move(*units), context_, trace_.search, batching);
  views_->solve();
}

void Findings::put_views_in_order() {
  views_->put_in_order([this](AtomId a, AtomId b) { return is_before(a, b); });
}

// Those that the program's text names first, whatever order they were met in.
bool Findings::is_before(AtomId a, AtomId b) const {
  if (is_shown(a) != is_shown(b)) return is_shown(a);
  const oracle::Database::Atom &at_a = instance_.database.atoms[a],
                               &at_b = instance_.database.atoms[b];
  if (at_a.pred != at_b.pred) return at_a.pred < at_b.pred;
  if (!at_a.pred.valid()) return a < b;
  const oracle::Relation& relation = instance_.database.relations[at_a.pred.index];
  return std::ranges::lexicographical_compare(relation.row(at_a.row), relation.row(at_b.row),
                                              [&](const lang::Value& x, const lang::Value& y) {
                                                return lang::compare(x, y, context_.names()) < 0;
                                              });
}

AtomStatus Findings::status(AtomId atom, uint32_t cluster_view) const {
  if (const std::optional<AtomStatus> known = decided(atom)) return *known;
  const Units& units = views_->units();
  const uint32_t unit = units.unit_of(atom);
  XLOG_CHECK(unit != Units::kNone, "an atom that is open is mentioned");
  return views_->view(unit, cluster_view).status[units.place_of(atom)];
}

bool Findings::is_shown(AtomId atom) const {
  const oracle::Database::Atom& at = instance_.database.atoms[atom];
  return at.pred.valid() && !context_.program[at.pred].helper;
}

std::string Findings::text(AtomId atom) const {
  const oracle::Database& database = instance_.database;
  const oracle::Database::Atom& at = database.atoms[atom];
  if (at.pred.valid()) {
    return oracle::atom_text(at.pred, database.relations[at.pred.index].row(at.row), context_);
  }
  for (const auto& [members, id] : database.unions) {
    if (id == atom) return "one of " + text(members.front()) + ", ...";
  }
  return "";
}

bool with_findings(const lang::Program& program, const logic::Analysis& analysis,
                   lang::Session& session, const logic::AnswerOptions& options,
                   const oracle::Preset* preset, Trace& trace,
                   const std::function<void(Findings&)>& use) {
  if (oracle::refuse_unsupported(program, session)) return false;
  oracle::Context context(program, analysis, session, options);
  context.preset = preset;
  const std::optional<logic::Answer> answer = oracle::answer_or_report(context, [&] {
    Findings findings(context, trace);
    findings.ground();
    findings.bound(Findings::Ground::Keep);
    if (!findings.is_contradictory()) findings.solve();
    use(findings);
    return logic::Answer();
  });
  return answer.has_value();
}

}  // namespace xlog::epistemic
