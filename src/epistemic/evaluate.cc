#include "epistemic/evaluate.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "epistemic/bounds.h"
#include "epistemic/joins.h"
#include "epistemic/world_views.h"
#include "oracle/context.h"
#include "oracle/groups.h"
#include "oracle/refuse.h"
#include "oracle/report.h"

namespace xlog::epistemic {

using lang::PredId;
using logic::Answer;
using logic::QueryAnswer;
using logic::RowStatus;
using oracle::AtomId;
using oracle::Tuple;

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

class Evaluation {
 public:
  Evaluation(oracle::Context& context, Trace& trace) : context_(context), trace_(trace) {}

  Answer run() {
    Answer answer;
    answer.mode = context_.options.mode;
    ground();
    bound();
    const bool is_error = instance_.violation && oracle::is_plain_datalog(context_);
    if (is_error) oracle::report_violation(*instance_.violation, context_);
    answer.view_count = instance_.violation ? mpz_class(0) : solve();
    if (answer.view_count == 0) {
      answer.constraint_error = is_error;
      if (!is_error) oracle::report_no_view(instance_, context_);
      answer.well_founded_queries = oracle::well_founded_answers(instance_, bounds_, context_);
      return answer;
    }
    WorldViews::Choice choice = views_->first();
    while (answer.views.size() < most_views()) {
      answer.views.push_back(view_of(choice));
      if (!views_->advance(choice)) break;
    }
    answer.all_found = views_->all_found();
    if (!answer.all_found) answer.view_count = answer.views.size();
    report_what_is_left_out(answer);
    return answer;
  }

 private:
  void ground() {
    const StepTimer timer(trace_.ground);
    instance_ = instantiate_by_joins(context_);
    trace_.ground_rules = instance_.ground.rules.size();
    trace_.ground_atoms = instance_.ground.atom_count;
    context_.largest = [this] { return oracle::largest_relation(instance_.database, context_); };
    // No component is evaluated any more.
    context_.component = static_cast<uint32_t>(context_.analysis.components.size());
  }

  void bound() {
    const StepTimer timer(trace_.bounds);
    bounds_ = epistemic::well_founded_bounds(instance_.ground, context_.options.mode, context_);
    open_ = oracle::residual(instance_.ground, bounds_, context_.names());
    trace_.open_rules = open_.rules.size();
    for (AtomId a = 0; a < instance_.ground.atom_count; ++a) {
      trace_.open_atoms += bounds_.upper[a] && !bounds_.lower[a] ? 1 : 0;
    }
    instance_.ground = {};
  }

  mpz_class solve() {
    if (oracle::contradiction(open_, context_.names())) return 0;
    Units units = split();
    const StepTimer timer(trace_.solve);
    views_.emplace(open_, std::move(units), context_, trace_.search);
    return views_->count();
  }

  Units split() {
    const StepTimer timer(trace_.split);
    Units units(open_);
    trace_.units = units.size();
    for (uint32_t u = 0; u < units.size(); ++u) {
      trace_.largest_unit = std::max<uint64_t>(trace_.largest_unit, units.atoms(u).size());
    }
    return units;
  }

  void report_what_is_left_out(const Answer& answer) {
    if (answer.all_found) return oracle::report_more_views(answer, context_);
    context_.session.diagnostics.report(
        Code::MoreWorldViews, {},
        fmt::format("the search ended with {} world view{} as asked; there may be more",
                    answer.views.size(), answer.views.size() == 1 ? "" : "s"));
  }

  uint64_t most_views() const {
    const logic::AnswerOptions& options = context_.options;
    return views_->all_found() ? options.max_views
                               : std::min(options.max_views, options.enough_views);
  }

  logic::WorldView view_of(const WorldViews::Choice& choice) {
    logic::WorldView view;
    view.world_count = views_->worlds(choice);
    for (const lang::Query& query : context_.program.queries) {
      QueryAnswer answer;
      oracle::for_each_row(instance_.database, query.pred,
                           [&](std::span<const lang::Value> tuple, std::optional<AtomId> atom) {
                             const std::optional<RowStatus> status = status_of(atom, choice);
                             if (status)
                               answer.rows.push_back({Tuple(tuple.begin(), tuple.end()), *status});
                           });
      view.queries.push_back(oracle::in_canonical_order(std::move(answer), context_.names()));
    }
    if (context_.options.max_worlds > 0) list_worlds(choice, view);
    return view;
  }

  std::optional<RowStatus> status_of(std::optional<AtomId> atom,
                                     const WorldViews::Choice& choice) const {
    if (!atom || bounds_.lower[*atom]) return RowStatus::Known;
    if (!bounds_.upper[*atom]) return std::nullopt;
    switch (views_->status(*atom, choice)) {
      case AtomStatus::Always:
        return RowStatus::Known;
      case AtomStatus::Sometimes:
        return RowStatus::Possible;
      case AtomStatus::Never:
        break;
    }
    return std::nullopt;
  }

  void list_worlds(const WorldViews::Choice& choice, logic::WorldView& view) {
    for (const std::vector<AtomId>& world :
         views_->list_worlds(choice, context_.options.max_worlds)) {
      std::vector<std::string> atoms;
      for (uint32_t p = 0; p < context_.program.predicates.size(); ++p) {
        if (context_.program.predicates[p].helper) continue;
        oracle::for_each_row(instance_.database, PredId{p},
                             [&](std::span<const lang::Value> tuple, std::optional<AtomId> atom) {
                               context_.tick();
                               const bool holds = !atom || bounds_.lower[*atom] ||
                                                  std::ranges::binary_search(world, *atom);
                               if (holds)
                                 atoms.push_back(oracle::atom_text(PredId{p}, tuple, context_));
                             });
      }
      std::ranges::sort(atoms);
      view.worlds.push_back(std::move(atoms));
    }
    std::ranges::sort(view.worlds);
  }

  oracle::Context& context_;
  Trace& trace_;
  oracle::Instantiation instance_;
  oracle::Bounds bounds_;
  oracle::GroundProgram open_;  // what the bounds do not decide
  std::optional<WorldViews> views_;
};

}  // namespace

std::optional<Answer> evaluate(const lang::Program& program, const logic::Analysis& analysis,
                               lang::Session& session, const logic::AnswerOptions& options,
                               const oracle::Preset* preset, Trace* trace) {
  // Bounds are all that the well-founded semantics asks for.
  if (options.well_founded) return oracle::evaluate(program, analysis, session, options, preset);
  if (oracle::refuse_unsupported(program, session)) return std::nullopt;
  oracle::Context context(program, analysis, session, options);
  context.preset = preset;
  Trace own;
  Evaluation evaluation(context, trace != nullptr ? *trace : own);
  return oracle::answer_or_report(context, [&] { return evaluation.run(); });
}

}  // namespace xlog::epistemic
