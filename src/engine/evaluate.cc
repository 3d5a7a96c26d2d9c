#include "engine/evaluate.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "base/check.h"
#include "engine/component.h"
#include "engine/domains.h"
#include "logic/components.h"
#include "oracle/evaluate.h"
#include "oracle/instantiate.h"
#include "oracle/refuse.h"
#include "plan/aggregates.h"
#include "plan/build.h"

namespace xlog::engine {

namespace {

constexpr size_t kMostColumns = 64;
// Of a program whose recursion makes new values: it may have no end.
constexpr uint64_t kMostMadeRows = 10'000'000;

using lang::PredId;
using logic::Answer;
using logic::Row;
using logic::RowStatus;

class Evaluation {
 public:
  Evaluation(lang::Program& program, logic::Analysis& analysis, lang::Session& session,
             const logic::AnswerOptions& options, device::Device& device, Statistics& statistics,
             std::optional<relation::Form> form)
      : program_(program),
        analysis_(analysis),
        session_(session),
        options_(options),
        statistics_(statistics),
        machine_(device, form.value_or(relation::form_for(device))),
        database_(machine_, program, session.names),
        domains_(program, analysis, database_),
        rules_(machine_, program, analysis, database_,
               [this](uint64_t rows, bool makes_values) { return check(rows, makes_values); }) {}

  std::optional<Answer> run() {
    place_components();
    for (const Placement& placement : statistics_.placements) {
      if (!placement.on_device) continue;
      if (Status bounded = domains_.bound(placement.component); !bounded.ok()) {
        return fail(bounded.error());
      }
      Result<ComponentRun> run = rules_.evaluate(placement.component);
      if (!run.ok()) return fail(run.error());
      statistics_.rounds += run->rounds;
      statistics_.rows += run->rows;
    }
    std::optional<Answer> answer = all_on_device_ ? answer_here() : answer_with_reference();
    statistics_.device = machine_.device().counters();
    return answer;
  }

 private:
  std::optional<Answer> fail(const Error& error) {
    const Code code = limit_reached_ ? Code::LimitReached : Code::DeviceFailed;
    session_.diagnostics.report(code, {}, error.message).help(error.help);
    return std::nullopt;
  }

  // The user's limits.
  Status check(uint64_t rows, bool makes_values) {
    Status within = within_limits(rows, makes_values);
    limit_reached_ |= !within.ok();
    return within;
  }

  Status within_limits(uint64_t rows, bool makes_values) const {
    const uint64_t most = options_.max_rows > 0 ? options_.max_rows
                          : makes_values        ? kMostMadeRows
                                                : UINT64_MAX;
    if (rows > most) {
      return Error{fmt::format("more than {} rows were derived", most),
                   "raise it with `--max-rows N`; recursion that makes ever new values, like "
                   "`n(X + 1) :- n(X)`, needs a bound such as `X < 100`"};
    }
    if (options_.timeout_seconds <= 0) return Done{};
    const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - start_;
    if (passed.count() < options_.timeout_seconds) return Done{};
    return Error{fmt::format("not finished after {} seconds", options_.timeout_seconds),
                 "raise it with `--timeout SECONDS`"};
  }

  // ---- what runs where ----

  // Why the rules of a component cannot run on the device; "" when they can.
  std::string obstacle(const logic::Component& component) const {
    if (!oracle::is_settled(component, options_)) {
      return component.reason.empty() ? "it is not determined" : component.reason;
    }
    for (PredId pred : component.predicates) {
      if (program_[pred].columns.size() > kMostColumns) {
        return fmt::format("a relation of {} columns", program_[pred].columns.size());
      }
      for (const lang::PredicateColumn& column : program_[pred].columns) {
        if (column.type.kind == lang::TypeKind::Term) return "a column of type `term`";
      }
    }
    for (uint32_t r : component.rules) {
      if (auto reason = plan::why_not_relational(program_, program_.rules[r])) return *reason;
    }
    return "";
  }

  void place_components() {
    std::vector<bool> off(program_.predicates.size(), false);
    for (uint32_t c = 0; c < analysis_.components.size(); ++c) {
      const logic::Component& component = analysis_.components[c];
      Placement placement{c, true, obstacle(component)};
      for (PredId pred : component.predicates) {
        for (const logic::Edge& edge : logic::edges_to(analysis_.edges, pred)) {
          if (!placement.reason.empty() || !off[edge.from.index]) continue;
          placement.reason = fmt::format(
              "it reads {}", lang::predicate_signature(program_[edge.from], session_.names));
        }
      }
      placement.on_device = placement.reason.empty();
      if (!placement.on_device) {
        all_on_device_ = false;
        for (PredId pred : component.predicates) off[pred.index] = true;
      }
      statistics_.placements.push_back(std::move(placement));
    }
    for (uint32_t r : analysis_.constraints) {
      if (plan::why_not_relational(program_, program_.rules[r])) all_on_device_ = false;
    }
  }

  // ---- answers ----

  std::vector<Row> rows_of(PredId pred, RowStatus status, std::optional<Error>& error) {
    std::vector<Row> rows;
    Result<std::vector<std::vector<lang::Value>>> values = database_.rows(pred);
    if (!values.ok()) {
      error = values.error();
      return rows;
    }
    for (std::vector<lang::Value>& row : *values) rows.push_back({std::move(row), status});
    std::sort(rows.begin(), rows.end(), [&](const Row& a, const Row& b) {
      return std::lexicographical_compare(a.values.begin(), a.values.end(), b.values.begin(),
                                          b.values.end(),
                                          [&](const lang::Value& x, const lang::Value& y) {
                                            return lang::compare(x, y, session_.names) < 0;
                                          });
    });
    return rows;
  }

  // Every component is determined and was evaluated here: one world.
  std::optional<Answer> answer_here() {
    Answer answer;
    answer.mode = options_.mode;
    answer.well_founded = options_.well_founded;
    for (uint32_t r : analysis_.constraints) {
      Result<Rules::Solutions> solutions = rules_.solve(r);
      if (!solutions.ok()) return fail(solutions.error());
      // What a violated constraint means depends on the program: the reference says it.
      if (!solutions->rows.empty()) return answer_with_reference();
    }
    if (options_.max_worlds > 0) return answer_with_reference();
    oracle::report_valueless(rules_.valueless().count, rules_.valueless().span, session_);
    const RowStatus status = options_.well_founded ? RowStatus::True : RowStatus::Known;
    std::vector<logic::QueryAnswer> queries;
    for (const lang::Query& query : program_.queries) {
      std::optional<Error> error;
      queries.push_back({rows_of(query.pred, status, error)});
      if (error) return fail(*error);
    }
    if (answer.well_founded) {
      answer.view_count = 0;
      answer.well_founded_queries = std::move(queries);
    } else {
      answer.views.emplace_back().queries = std::move(queries);
    }
    return answer;
  }

  std::optional<Answer> answer_with_reference() {
    oracle::Preset preset;
    for (const Placement& placement : statistics_.placements) {
      preset.done.push_back(placement.on_device);
    }
    preset.valueless = rules_.valueless().count;
    preset.valueless_span = rules_.valueless().span;
    std::optional<Error> error;
    preset.rows = [&](PredId pred) {
      Result<std::vector<std::vector<lang::Value>>> rows = database_.rows(pred);
      if (rows.ok()) return std::move(*rows);
      error = rows.error();
      return std::vector<std::vector<lang::Value>>();
    };
    std::optional<Answer> answer =
        oracle::evaluate(program_, analysis_, session_, options_, &preset);
    if (error) return fail(*error);
    return answer;
  }

  lang::Program& program_;
  logic::Analysis& analysis_;
  lang::Session& session_;
  const logic::AnswerOptions& options_;
  Statistics& statistics_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  relation::Machine machine_;
  Database database_;
  Domains domains_;
  Rules rules_;
  bool all_on_device_ = true;
  bool limit_reached_ = false;
};

}  // namespace

std::optional<Answer> evaluate(lang::Program& program, logic::Analysis& analysis,
                               lang::Session& session, const logic::AnswerOptions& options,
                               device::Device& device, Statistics& statistics,
                               std::optional<relation::Form> form) {
  if (oracle::refuse_unsupported(program, session)) return std::nullopt;
  if (plan::expand_aggregates(program, analysis, session)) {
    std::optional<logic::Analysis> again = logic::analyze(program, session);
    XLOG_CHECK(again.has_value(), "a rewritten program is as safe as it was");
    analysis = std::move(*again);
  }
  return Evaluation(program, analysis, session, options, device, statistics, form).run();
}

}  // namespace xlog::engine
