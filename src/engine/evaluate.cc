#include "engine/evaluate.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <new>

#include "base/check.h"
#include "base/memory.h"
#include "engine/alternating.h"
#include "engine/component.h"
#include "engine/domains.h"
#include "engine/host_tables.h"
#include "logic/components.h"
#include "logic/memory_report.h"
#include "logic/monotone.h"
#include "oracle/context.h"
#include "oracle/evaluate.h"
#include "oracle/refuse.h"
#include "plan/prepare.h"

namespace xlog::engine {

namespace {

// Of a program whose recursion makes new values: it may have no end.
constexpr uint64_t kMostMadeRows = 10'000'000;

constexpr std::string_view kEndlessRecursion =
    "; recursion that makes ever new values, like `n(X + 1) :- n(X)`, needs a bound such as `X < "
    "100`";

using lang::PredId;
using logic::Answer;
using logic::Row;
using logic::RowStatus;

Rows to_columns(const oracle::Relation& relation, const lang::Predicate& predicate,
                lang::Names& names) {
  Rows rows;
  rows.count = static_cast<uint32_t>(relation.size());
  for (uint32_t c = 0; c < predicate.columns.size(); ++c) {
    lang::FactColumn& column = rows.columns.emplace_back();
    column.convert(predicate.columns[c].type, names);
    for (size_t r = 0; r < relation.size(); ++r) column.append_typed(relation.row(r)[c]);
  }
  return rows;
}

// What a row takes in columns.
uint64_t row_bytes(const lang::Predicate& predicate) {
  uint64_t bytes = 0;
  for (const auto& column : predicate.columns) bytes += lang::width(column.type.kind);
  return bytes;
}

Status memory_allows(const logic::AnswerOptions& options, uint64_t more, std::string_view what) {
  if (options.memory_limit == 0) return Done{};
  const uint64_t used = own_memory();
  if (used + more <= options.memory_limit) return Done{};
  std::string details = fmt::format("the process takes {}", size_text(used));
  if (more > 0) details += fmt::format(", {} {} more", what, size_text(more));
  return Error{std::move(details), "", ErrorKind::MemoryLimit};
}

class Evaluation {
 public:
  Evaluation(lang::Program& program, logic::Analysis& analysis, lang::Session& session,
             const logic::AnswerOptions& options, device::Device& device, Statistics& statistics,
             std::optional<relation::Form> form, const EvaluateRest& rest, OpenComponents open)
      : rest_(rest),
        session_(session),
        prepared_(plan::prepare(program, analysis, session, options.well_founded)),
        host_tables_(prepared_.tables, program, session.names),
        program_(program),
        analysis_(analysis),
        options_(options),
        statistics_(statistics),
        placed_(place_components(program, analysis, prepared_, options, session.names, open)),
        estimates_(program, analysis, session.names, placed_.alternates, prepared_.constraints,
                   options.well_founded ? std::nullopt : std::optional(options.mode)),
        machine_(device, form.value_or(relation::form_for(device))),
        database_(machine_, program, session.names),
        host_(program, analysis, session, options, database_),
        domains_(program, estimates_.analysis(), database_),
        rules_(machine_, program, estimates_, database_, host_, statistics.trace,
               [this](uint64_t rows, bool makes_values) { return check(rows, makes_values); }),
        alternation_(estimates_, database_, domains_, rules_, statistics.trace),
        open_(open),
        instances_(program, analysis, estimates_, database_, domains_, rules_, alternation_,
                   device) {
    statistics_.placements = placed_.components;
    if (placed_.too_few) {
      statistics_.bounded.note = fmt::format("about {} rows: too few for it", *placed_.open_rows);
    }
  }

  std::optional<Answer> run() {
    statistics_.trace.watch(&machine_.device());
    std::optional<Answer> answer;
    try {
      answer = evaluate();
    } catch (const std::bad_alloc&) {
      answer = fail({"", "", ErrorKind::OutOfMemory});
    }
    statistics_.trace.watch(nullptr);
    statistics_.device = machine_.device().counters();
    forget_estimates();
    return answer;
  }

  // The rows alone. False when something was reported.
  bool settle() {
    try {
      return settle_components();
    } catch (const std::bad_alloc&) {
      fail({"", "", ErrorKind::OutOfMemory});
      return false;
    }
  }

  Result<Rows> rows_after(PredId pred) {
    const uint32_t component = analysis_.component_of[pred.index];
    const bool here = statistics_.placements[component].on_device;
    const uint64_t count = here ? database_[pred].rows() : (*others_)[pred.index].size();
    if (Status fits = check_memory(count * row_bytes(program_[pred]), "rows for the proof");
        !fits.ok()) {
      return fits.error();
    }
    if (!here) return to_columns((*others_)[pred.index], program_[pred], session_.names);
    return database_.columns(pred);
  }

 private:
  bool settle_components() {
    if (Status done = evaluate_components(); !done.ok()) {
      fail(done.error());
      return false;
    }
    if (placed_.all_on_device) {
      oracle::report_valueless(rules_.valueless().count, rules_.valueless().span, session_);
    } else {
      std::optional<Error> error;
      const oracle::Preset preset = make_preset(Open::Device, error);
      others_ = oracle::settle(program_, analysis_, session_, options_, &preset);
      if (error) fail(*error);
      if (error || !others_) return false;
    }
    statistics_.device = machine_.device().counters();
    return true;
  }

  std::optional<Answer> evaluate() {
    if (Status done = evaluate_components(); !done.ok()) return fail(done.error());
    if (Status done = instances_.find_all(statistics_.placements, open_); !done.ok()) {
      return fail(done.error());
    }
    statistics_.instances = instances_.figures();
    return placed_.all_on_device ? answer_here() : answer_with_reference(Open::Device);
  }

  Status fill_host_tables(const logic::Component& component, HostTables::When when) {
    Result<std::vector<PredId>> tables = host_tables_.fill(component, when);
    if (!tables.ok()) return tables.error();
    for (PredId table : *tables) {
      const uint32_t below = analysis_.component_of[table.index];
      if (Status done = evaluate_component(below); !done.ok()) return done;
    }
    return Done{};
  }

  Status evaluate_components() {
    // Before other lists are made than those that they have to know.
    for (const Placement& placement : statistics_.placements) {
      if (!placement.on_device) continue;
      const logic::Component& component = analysis_.components[placement.component];
      if (Status done = fill_host_tables(component, HostTables::When::First); !done.ok()) {
        return done;
      }
    }
    for (const Placement& placement : statistics_.placements) {
      const logic::Component& component = analysis_.components[placement.component];
      const bool runs = placement.on_device || placement.bounded;
      if (!runs || host_tables_.is_table(component.predicates.front())) continue;
      if (Status done = fill_host_tables(component, HostTables::When::Before); !done.ok()) {
        return done;
      }
      Status done = placement.bounded ? bound_component(placement.component)
                                      : evaluate_component(placement.component);
      if (!done.ok()) return done;
    }
    return Done{};
  }

  Status bound_component(uint32_t component) {
    const auto begin = std::chrono::steady_clock::now();
    const uint64_t launches = machine_.device().counters().launches;
    Statistics::Bounded& bounded = statistics_.bounded;
    launches_before_bounds_ = launches - bounded.launches;
    Status done = reads_unbounded(component) ? Status(give_up()) : evaluate_component(component);
    launches_before_bounds_.reset();
    bounded.launches += machine_.device().counters().launches - launches;
    bounded.seconds +=
        std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    if (has_given_up_) {
      leave(component);
      return Done{};
    }
    if (!done.ok()) return done;
    ++bounded.components;
    for (PredId pred : analysis_.components[component].predicates) {
      bounded.certain += database_[pred].rows();
      if (has_open(pred)) bounded.open += database_[estimates_.open(pred)].rows();
    }
    return Done{};
  }

  // Whether the bounds of what differs between worlds have taken more launches than they are worth.
  bool takes_too_long(uint64_t rows) {
    if (!launches_before_bounds_ || !placed_.open_rows) return false;
    const uint64_t launches = machine_.device().counters().launches - *launches_before_bounds_;
    const uint64_t of_component = rows - std::min(rows, statistics_.rows);
    return launches * kRowsOfLaunch > *placed_.open_rows + of_component;
  }

  Error give_up() {
    has_given_up_ = true;
    return {"bounds are left to who evaluates the rest", ""};
  }

  // A component whose bounds were not found is none's business here any more.
  void leave(uint32_t component) {
    has_given_up_ = false;
    Placement& placement = statistics_.placements[component];
    placement.bounded = false;
    placement.reason += "; no bounds before that: few rows a round";
    const std::string name = logic::relation_name(
        analysis_.components[component].predicates.front(), program_, session_.names);
    if (statistics_.bounded.note.empty()) {
      statistics_.bounded.note = fmt::format("given up at {}: few rows a round", name);
    }
    for (PredId pred : analysis_.components[component].predicates) {
      database_.clear(pred);
      database_.clear(estimates_.possible(pred));
    }
  }

  bool reads_unbounded(uint32_t component) const {
    return std::ranges::any_of(analysis_.components[component].predicates, [&](PredId pred) {
      return std::ranges::any_of(
          logic::edges_to(analysis_.edges, pred), [&](const logic::Edge& edge) {
            const uint32_t below = analysis_.component_of[edge.from.index];
            const Placement& placement = statistics_.placements[below];
            return below != component && !placement.on_device && !placement.bounded;
          });
    });
  }

  bool has_open(PredId pred) const {
    return alternation_.has_undefined(analysis_.component_of[pred.index]);
  }

  Status evaluate_component(uint32_t component) {
    statistics_.trace.enter_component(component);
    keeps_best_ = std::ranges::any_of(analysis_.components[component].predicates, [&](PredId pred) {
      return analysis_.best[pred.index].has_value();
    });
    Result<ComponentRun> run = rounds_of(component);
    if (!run.ok()) return run.error();
    statistics_.rounds += run->rounds;
    statistics_.rows += run->rows;
    spend_facts(component);
    return Done{};
  }

  // Facts that are on the device have no readers here but the reference evaluator.
  void spend_facts(uint32_t component) {
    const bool may_ask_reference = !placed_.all_on_device || options_.well_founded ||
                                   options_.max_worlds > 0 || !analysis_.constraints.empty();
    if (!options_.spends_facts || may_ask_reference) return;
    for (PredId pred : analysis_.components[component].predicates) program_[pred].facts.reset();
  }

  Result<ComponentRun> rounds_of(uint32_t component) {
    if (estimates_.alternates(component)) return alternation_.evaluate(component);
    if (Status bounded = domains_.bound(component); !bounded.ok()) return bounded.error();
    return rules_.evaluate(component);
  }

  // From here on the program is as it was, and only its own relations are asked for.
  void forget_estimates() {
    if (figures_taken_) return;
    figures_taken_ = true;
    statistics_.relations = database_.figures();
    for (RelationFigures& figures : statistics_.relations) {
      figures.component =
          estimates_.source_component(estimates_.analysis().component_of[figures.pred.index]);
      const PredId source = estimates_.source(figures.pred);
      if (source == figures.pred || !program_[source].helper) continue;
      figures.name =
          fmt::format("possible {}", logic::relation_name(source, program_, session_.names));
    }
    estimates_.restore();
    plan::forget_copies(program_, prepared_);
  }

  std::optional<Answer> fail(const Error& error) {
    if (error.kind == ErrorKind::OutOfMemory || error.kind == ErrorKind::MemoryLimit) {
      report_memory(error);
    } else {
      if (error.kind == ErrorKind::Limit) {
        report_limit(error);
      } else {
        session_.diagnostics.report(Code::DeviceFailed, {}, error.message).help(error.help);
      }
    }
    return std::nullopt;
  }

  // With the rule that ran, and what it derives.
  void report_limit(const Error& error) {
    const std::optional<RuleVersion>& version = statistics_.trace.running();
    std::string message = error.message;
    Span span;
    if (version && !answering_ && message != logic::kInterrupted) {
      const lang::Rule& rule = program_.rules[version->rule];
      span = rule.span;
      // The place says more than the name of a helper, which nobody wrote.
      if (!rule.head.empty() && !program_[estimates_.source(rule.head[0].pred)].helper) {
        message += fmt::format(
            ", in round {} of `{}`", statistics_.trace.round(),
            logic::relation_name(estimates_.source(rule.head[0].pred), program_, session_.names));
      }
    }
    session_.diagnostics.report(Code::LimitReached, span, std::move(message)).help(error.help);
  }

  void report_memory(const Error& error) {
    logic::MemoryShortage shortage;
    shortage.limit = error.kind == ErrorKind::MemoryLimit ? options_.memory_limit : 0;
    shortage.details = error.message;
    shortage.doing = "the program was evaluated";
    const uint32_t component = statistics_.trace.component();
    if (component < analysis_.components.size()) {
      const PredId first = analysis_.components[component].predicates.front();
      shortage.doing = fmt::format("the facts of `{}` were loaded",
                                   logic::relation_name(first, program_, session_.names));
    }
    if (answering_) {
      shortage.doing = "answers were read from the device";
    } else if (const auto& version = statistics_.trace.running()) {
      shortage.doing = "this rule was evaluated";
      shortage.span = program_.rules[version->rule].span;
    }
    shortage.largest = logic::largest_fact_table(program_, session_.names);
    for (const RelationFigures& figures : database_.figures()) {
      if (shortage.largest && figures.bytes <= shortage.largest->bytes) continue;
      // Room may be there before the facts that it is for.
      const lang::FactTable* facts = program_[figures.pred].facts.get();
      const uint64_t rows = facts == nullptr ? 0 : facts->rows;
      shortage.largest = {figures.name, std::max<uint64_t>(figures.rows, rows), figures.bytes};
    }
    logic::report_memory_shortage(shortage, session_);
  }

  void report_progress(uint64_t rows) {
    const Trace& trace = statistics_.trace;
    const bool same = progress_.component == trace.component() && progress_.round == trace.round();
    if (!same || progress_.name.empty()) {
      const PredId first = analysis_.components[trace.component()].predicates.front();
      progress_.component = trace.component();
      progress_.components = static_cast<uint32_t>(analysis_.components.size());
      progress_.name = logic::relation_name(first, program_, session_.names);
      progress_.round = trace.round();
      rows_before_ = rows;
    }
    progress_.rows = rows;
    // Solutions that a rule folds count only until it is done.
    progress_.new_rows = rows - std::min(rows, rows_before_);
    progress_.bytes = machine_.device().counters().allocated;
    options_.progress(progress_);
  }

  // The user's limits.
  Status check(uint64_t rows, bool makes_values) {
    if (options_.progress) report_progress(rows);
    if (takes_too_long(rows)) return give_up();
    if (logic::is_interrupted(options_)) {
      return Error{std::string(logic::kInterrupted), "", ErrorKind::Limit};
    }
    if (Status fits = check_memory(0); !fits.ok()) return fits;
    const uint64_t most = options_.max_rows > 0 ? options_.max_rows
                          : makes_values        ? kMostMadeRows
                                                : UINT64_MAX;
    if (rows > most) {
      return Error{fmt::format("more than {} rows were derived", most),
                   std::string(keeps_best_ ? logic::kNoBestHelp : oracle::kEndlessHelp),
                   ErrorKind::Limit};
    }
    if (options_.timeout_seconds <= 0) return Done{};
    const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - start_;
    if (passed.count() < options_.timeout_seconds) return Done{};
    std::string help = "raise it with `--timeout SECONDS`";
    if (makes_values) help += kEndlessRecursion;
    return Error{fmt::format("not finished after {} seconds", options_.timeout_seconds),
                 std::move(help), ErrorKind::Limit};
  }

  // Memory of the process, where `more` bytes are about to be taken. The device minds its own.
  Status check_memory(uint64_t more, std::string_view what = "the rows of an answer") const {
    return memory_allows(options_, more, what);
  }

  // ---- answers ----

  Result<std::vector<std::vector<lang::Value>>> rows_on_host(PredId pred) {
    answering_ = true;
    const relation::Relation& relation = database_[pred];
    const uint64_t row = sizeof(Row) + relation.arity() * sizeof(lang::Value);
    if (Status fits = check_memory(relation.rows() * row); !fits.ok()) return fits.error();
    return database_.rows(pred);
  }

  Result<std::vector<Row>> rows_of(PredId pred) {
    std::vector<Row> rows;
    const RowStatus status = options_.well_founded ? RowStatus::True : RowStatus::Known;
    Result<std::vector<std::vector<lang::Value>>> values = rows_on_host(pred);
    if (!values.ok()) return values.error();
    for (std::vector<lang::Value>& row : *values) rows.push_back({std::move(row), status});
    if (alternation_.has_undefined(analysis_.component_of[pred.index])) {
      Result<Rules::Solutions> undefined = rules_.solve(estimates_.undefined(pred));
      if (!undefined.ok()) return undefined.error();
      for (std::vector<lang::Value>& row : undefined->rows) {
        rows.push_back({std::move(row), RowStatus::Undefined});
      }
    }
    std::sort(rows.begin(), rows.end(), [&](const Row& a, const Row& b) {
      return std::lexicographical_compare(a.values.begin(), a.values.end(), b.values.begin(),
                                          b.values.end(),
                                          [&](const lang::Value& x, const lang::Value& y) {
                                            return lang::compare(x, y, session_.names) < 0;
                                          });
    });
    return rows;
  }

  // The answer of a query whose component was evaluated here.
  Status answer_query(size_t q, std::vector<logic::QueryAnswer>& queries) {
    Result<std::vector<Row>> rows = rows_of(program_.queries[q].pred);
    if (!rows.ok()) return rows.error();
    queries[q].rows = std::move(*rows);
    return Done{};
  }

  // Every component was evaluated here: one world, or the well-founded model.
  std::optional<Answer> answer_here() {
    Answer answer;
    answer.mode = options_.mode;
    answer.well_founded = options_.well_founded;
    for (uint32_t r : analysis_.constraints) {
      Result<Rules::Solutions> solutions = rules_.solve(estimates_.constraint(r));
      if (!solutions.ok()) return fail(solutions.error());
      // What a violated constraint means depends on the program: the reference says it.
      if (!solutions->rows.empty()) return answer_with_reference(Open::Reference);
    }
    if (options_.max_worlds > 0 && !options_.well_founded) {
      return answer_with_reference(Open::Reference);
    }
    oracle::report_valueless(rules_.valueless().count, rules_.valueless().span, session_);
    std::vector<logic::QueryAnswer> queries(program_.queries.size());
    for (size_t q = 0; q < queries.size(); ++q) {
      if (Status done = answer_query(q, queries); !done.ok()) return fail(done.error());
    }
    if (answer.well_founded) {
      answer.view_count = 0;
      answer.well_founded_queries = std::move(queries);
    } else {
      answer.views.emplace_back().queries = std::move(queries);
      logic::summarise(answer, options_.ask, session_.names);
    }
    return answer;
  }

  // What was evaluated here. A row that cannot be fetched leaves its reason in `error`.
  // Who answers for components that were evaluated by estimates.
  enum class Open : uint8_t { Device, Reference };

  oracle::Preset make_preset(Open open, std::optional<Error>& error) {
    oracle::Preset preset;
    for (const Placement& placement : statistics_.placements) {
      preset.done.push_back(placement.on_device &&
                            (open == Open::Device || !estimates_.alternates(placement.component)));
      preset.bounded.push_back(placement.bounded);
    }
    preset.valueless = rules_.valueless().count;
    preset.valueless_span = rules_.valueless().span;
    preset.rows = [this, &error](PredId pred) {
      // Nobody there reads them, and a query is answered here.
      return estimates_.alternates(pred) ? lang::FactTable() : fetch(pred, pred, error);
    };
    preset.bounded_rows = [this, &error](PredId pred, bool with_certain) {
      oracle::Preset::Bounded rows;
      if (with_certain) rows.certain = fetch(pred, pred, error);
      if (has_open(pred)) rows.open = fetch(estimates_.open(pred), pred, error);
      return rows;
    };
    preset.has_instances = instances_.rules();
    preset.instances = [this](uint32_t rule) { return instances_.take(rule); };
    return preset;
  }

  // The rows of a relation with the columns of a predicate of the program.
  lang::FactTable fetch(PredId pred, PredId like, std::optional<Error>& error) {
    answering_ = true;
    lang::FactTable table;
    const relation::Relation& relation = database_[pred];
    const Status fits = check_memory(relation.rows() * relation.arity() * sizeof(lang::Value));
    Result<Rows> rows = fits.ok() ? database_.columns(pred, like) : Result<Rows>(fits.error());
    if (rows.ok()) {
      table.rows = rows->count;
      table.columns = std::move(rows->columns);
    } else {
      error = rows.error();
    }
    return table;
  }

  std::optional<Answer> answer_with_reference(Open open) {
    std::vector<logic::QueryAnswer> own(program_.queries.size());
    const auto is_own = [&](size_t q) {
      return options_.well_founded && open == Open::Device &&
             estimates_.alternates(program_.queries[q].pred);
    };
    for (size_t q = 0; q < own.size(); ++q) {
      if (!is_own(q)) continue;
      if (Status done = answer_query(q, own); !done.ok()) return fail(done.error());
    }
    forget_estimates();
    const Trace::Timed timed(statistics_.trace, TraceKind::Reference);
    std::optional<Error> error;
    const oracle::Preset preset = make_preset(open, error);
    std::optional<Answer> answer = rest_(program_, analysis_, session_, options_, &preset);
    if (error) return fail(*error);
    if (!answer) return answer;
    for (size_t q = 0; q < own.size(); ++q) {
      if (is_own(q)) answer->well_founded_queries[q] = std::move(own[q]);
    }
    return answer;
  }

  const EvaluateRest& rest_;
  lang::Session& session_;
  plan::Prepared prepared_;  // first of all: its rules are what is evaluated
  HostTables host_tables_;
  lang::Program& program_;
  logic::Analysis& analysis_;
  const logic::AnswerOptions& options_;
  Statistics& statistics_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  Placements placed_;
  Estimates estimates_;
  relation::Machine machine_;
  Database database_;
  HostSolver host_;
  Domains domains_;
  Rules rules_;
  Alternation alternation_;
  const OpenComponents open_;
  OpenInstances instances_;
  std::optional<std::vector<oracle::Relation>> others_;  // by predicate: what the reference found
  // While bounds of what differs between worlds are found: launches for anything else.
  std::optional<uint64_t> launches_before_bounds_;
  bool has_given_up_ = false;
  bool figures_taken_ = false;
  bool answering_ = false;
  logic::Progress progress_;
  uint64_t rows_before_ = 0;  // this round
  bool keeps_best_ = false;   // the present component has a minimum or maximum of its own recursion
};

}  // namespace

std::optional<Answer> evaluate(lang::Program& program, logic::Analysis& analysis,
                               lang::Session& session, const logic::AnswerOptions& options,
                               device::Device& device, Statistics& statistics,
                               std::optional<relation::Form> form, const EvaluateRest& rest,
                               OpenComponents open) {
  if (oracle::refuse_unsupported(program, session)) return std::nullopt;
  return Evaluation(program, analysis, session, options, device, statistics, form, rest, open)
      .run();
}

namespace {

// An evaluation works on rules that were rewritten for it, and with an analysis of those.
struct SettledState {
  logic::Analysis analysis;
  EvaluateRest rest = oracle::evaluate;
  std::optional<Evaluation> evaluation;
};

std::optional<Settled> settle_by_reference(lang::Program& program, const logic::Analysis& analysis,
                                           lang::Session& session,
                                           const logic::AnswerOptions& options) {
  auto relations = oracle::settle(program, analysis, session, options, nullptr);
  if (!relations) return std::nullopt;
  auto shared = std::make_shared<const std::vector<oracle::Relation>>(std::move(*relations));
  return Settled{[&program, &session, &options, shared](PredId pred) -> Result<Rows> {
    const uint64_t bytes = (*shared)[pred.index].size() * row_bytes(program[pred]);
    if (Status fits = memory_allows(options, bytes, "rows for the proof"); !fits.ok()) {
      return fits.error();
    }
    return to_columns((*shared)[pred.index], program[pred], session.names);
  }};
}

}  // namespace

std::optional<Settled> settle(lang::Program& program, const logic::Analysis& analysis,
                              lang::Session& session, const logic::AnswerOptions& options,
                              device::Device* device, Statistics& statistics) {
  if (oracle::refuse_unsupported(program, session)) return std::nullopt;
  if (device == nullptr) return settle_by_reference(program, analysis, session, options);

  const std::vector<lang::Rule> rules = program.rules;
  std::vector<std::vector<uint32_t>> rules_of;
  for (const lang::Predicate& predicate : program.predicates) rules_of.push_back(predicate.rules);
  auto state = std::make_shared<SettledState>();
  state->analysis = analysis;
  Evaluation& evaluation =
      state->evaluation.emplace(program, state->analysis, session, options, *device, statistics,
                                std::nullopt, state->rest, OpenComponents::Left);
  const bool settled = evaluation.settle();

  // Fetching rows needs the columns of a predicate, not its rules.
  program.rules = rules;
  program.predicates.erase(program.predicates.begin() + static_cast<ptrdiff_t>(rules_of.size()),
                           program.predicates.end());
  for (size_t p = 0; p < rules_of.size(); ++p) program.predicates[p].rules = rules_of[p];
  if (!settled) return std::nullopt;
  return Settled{[state](PredId pred) { return state->evaluation->rows_after(pred); }};
}

}  // namespace xlog::engine
