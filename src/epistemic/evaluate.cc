#include "epistemic/evaluate.h"

#include <fmt/format.h>

#include <algorithm>

#include "epistemic/findings.h"
#include "epistemic/over_views.h"
#include "oracle/context.h"
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

class Evaluation {
 public:
  Evaluation(oracle::Context& context, Trace& trace, device::Device* device)
      : context_(context), findings_(context, trace, device) {}

  Answer run() {
    Answer answer;
    answer.mode = context_.options.mode;
    answer.ask = context_.options.ask;
    findings_.ground();
    findings_.bound();
    const auto& violation = findings_.instance().violation;
    const bool is_error = violation && oracle::is_plain_datalog(context_);
    if (is_error) oracle::report_violation(*violation, context_);
    if (!findings_.is_contradictory() && !solve()) return unfinished(std::move(answer));
    answer.view_count = findings_.view_count();
    if (answer.view_count == 0) {
      answer.constraint_error = is_error;
      if (!is_error) oracle::report_no_view(findings_.open(), context_);
      answer.well_founded_queries =
          oracle::well_founded_answers(findings_.instance(), findings_.bounds(), context_);
      return answer;
    }
    if (answer.ask == logic::Ask::Counts) {
      answer.worlds = findings_.views().world_counts();
    } else if (logic::is_over_views(answer.ask)) {
      answer.over_views = rows_over_views(findings_, answer.ask);
    } else {
      oracle::while_listing([&] { list_views(answer); });
    }
    return answer;
  }

 private:
  // False where a limit ends the search, which is reported.
  bool solve() {
    try {
      findings_.solve();
      return true;
    } catch (const oracle::LimitExceeded& limit) {
      context_.session.diagnostics.report(Code::LimitReached, limit.span, limit.message)
          .help(limit.help);
      return false;
    }
  }

  // What is settled: by the bounds, and in clusters that were solved before the search ended.
  Answer unfinished(Answer answer) {
    answer.unfinished = true;
    answer.view_count = 0;
    for (const lang::Query& query : context_.program.queries) {
      QueryAnswer settled;
      oracle::for_each_row(findings_.instance().database, query.pred,
                           [&](std::span<const lang::Value> tuple, std::optional<AtomId> atom) {
                             const std::optional<RowStatus> status = settled_status(atom);
                             if (status)
                               settled.rows.push_back({Tuple(tuple.begin(), tuple.end()), *status});
                           });
      answer.settled_queries.push_back(
          oracle::in_canonical_order(std::move(settled), context_.names()));
    }
    return answer;
  }

  // Nothing: in no world of any view.
  std::optional<RowStatus> settled_status(std::optional<AtomId> atom) const {
    if (!atom) return RowStatus::True;
    if (const std::optional<AtomStatus> decided = findings_.decided(*atom)) {
      if (*decided == AtomStatus::Always) return RowStatus::True;
      return std::nullopt;
    }
    const WorldViews& views = findings_.views();
    const uint32_t cluster = findings_.cluster_of(*atom);
    if (!views.is_solved(cluster)) return RowStatus::Undefined;
    bool in_all = true, in_some = false;
    for (uint32_t v = 0; v < views.views_of(cluster); ++v) {
      const AtomStatus status = findings_.status(*atom, v);
      in_all &= status == AtomStatus::Always;
      in_some |= status != AtomStatus::Never;
    }
    if (!in_some) return std::nullopt;
    return in_all ? RowStatus::Known : RowStatus::Possible;
  }

  void list_views(Answer& answer) {
    findings_.put_views_in_order();
    WorldViews::Choice choice = findings_.views().first();
    while (answer.views.size() < most_views()) {
      context_.tick();
      answer.views.push_back(view_of(choice));
      if (!findings_.views().advance(choice)) break;
    }
    answer.all_found = findings_.views().all_found();
    if (!answer.all_found) answer.view_count = answer.views.size();
    report_what_is_left_out(answer);
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
    return findings_.views().all_found() ? options.max_views
                                         : std::min(options.max_views, options.enough_views);
  }

  logic::WorldView view_of(const WorldViews::Choice& choice) {
    logic::WorldView view;
    view.world_count = findings_.views().worlds(choice);
    for (const lang::Query& query : context_.program.queries) {
      QueryAnswer answer;
      oracle::for_each_row(findings_.instance().database, query.pred,
                           [&](std::span<const lang::Value> tuple, std::optional<AtomId> atom) {
                             context_.tick();
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
    if (!atom) return RowStatus::Known;
    const std::optional<AtomStatus> decided = findings_.decided(*atom);
    switch (decided ? *decided : findings_.views().status(*atom, choice)) {
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
         findings_.views().list_worlds(choice, context_.options.max_worlds)) {
      std::vector<std::string> atoms;
      for (uint32_t p = 0; p < context_.program.predicates.size(); ++p) {
        if (context_.program.predicates[p].helper) continue;
        oracle::for_each_row(findings_.instance().database, PredId{p},
                             [&](std::span<const lang::Value> tuple, std::optional<AtomId> atom) {
                               context_.tick();
                               const bool holds = !atom || findings_.bounds().lower[*atom] ||
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
  Findings findings_;
};

}  // namespace

std::optional<Answer> evaluate(const lang::Program& program, const logic::Analysis& analysis,
                               lang::Session& session, const logic::AnswerOptions& options,
                               const oracle::Preset* preset, Trace* trace, device::Device* device) {
  // Bounds are all that the well-founded semantics asks for.
  if (options.well_founded) return oracle::evaluate(program, analysis, session, options, preset);
  if (oracle::refuse_unsupported(program, session)) return std::nullopt;
  oracle::Context context(program, analysis, session, options);
  context.preset = preset;
  Trace own;
  Evaluation evaluation(context, trace != nullptr ? *trace : own, device);
  return oracle::answer_or_report(context, [&] { return evaluation.run(); });
}

}  // namespace xlog::epistemic
