#include "incremental/incremental.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "base/check.h"
#include "engine/evaluate.h"
#include "epistemic/evaluate.h"
#include "incremental/behind.h"
#include "incremental/fact_set.h"
#include "incremental/kept.h"
#include "incremental/kept_program.h"
#include "incremental/query_rows.h"
#include "incremental/quiet.h"
#include "incremental/row_changes.h"
#include "incremental/split.h"
#include "incremental/worlds.h"
#include "logic/components.h"
#include "oracle/evaluate.h"
#include "oracle/instantiate.h"
#include "oracle/refuse.h"
#include "oracle/report.h"

namespace xlog::incremental {

using lang::PredId;
using logic::Answer;
using logic::QueryAnswer;
using logic::RowStatus;

namespace {

// A batch that changes more than this part of the facts is evaluated afresh.
constexpr uint64_t kPartOfFacts = 10, kPartOfFactsWhileCounting = 100;
constexpr uint64_t kFewFacts = 1'000;
// And so is one that takes more work than this part of what the last run did, and this part of its
// time: together they cost less than two runs.
constexpr uint64_t kPartOfRun = 64;
constexpr uint64_t kAlwaysWorkedIn = 10'000;
constexpr double kPartOfSeconds = 0.4;
// While it is not kept, what holds is counted for this part of the time of a run with each batch.
// The clock is looked at after so much work; what cannot rest may take more, but not without end.
constexpr double kPartOfSecondsWhileCounting = 0.5;
constexpr uint64_t kWorkPerRest = 4'096, kPartOfStep = 4, kAlwaysInAStep = 100'000;
// A run counts rows and instances of kernels; of the reference evaluator the facts are known alone.
constexpr uint64_t kWorkOfFact = 1'000;

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

class Incremental final : public Inspectable {
 public:
  Incremental(lang::Program program, logic::Analysis analysis, lang::Session& session,
              const logic::AnswerOptions& options, device::Device* device)
      : source_(std::move(program)),
        analysis_(std::move(analysis)),
        session_(session),
        options_(options),
        device_(device),
        kept_program_(make_kept_program(source_, analysis_, options_, session)),
        split_(split_program(source_, analysis_, kept_program_, options_)),
        kept_(kept_program_, session, options_, device),
        behind_(kept_program_, source_, analysis_, session, options_, device) {
    changes_.resize(source_.queries.size());
    if (!kept_program_.worlds.kept) return;
    worlds_ = std::make_unique<Worlds>(kept_program_, kept_, source_, analysis_, session, options_);
  }

  // The answer while no rows are kept. False when there is none; what was said tells why.
  bool find_answer() {
    if (answer_) return true;
    Quiet quiet(session_);
    answer_ = evaluate_afresh();
    said_ = quiet.take();
    return answer_.has_value();
  }
  const Diagnostics& said() const { return said_; }

  // ---- Maintained ----

  const lang::Program& program() const override { return source_; }
  const Effort& effort() const override { return effort_; }

  Status apply(std::span<const FactChanges> batch) override {
    batch_start_ = std::chrono::steady_clock::now();
    load_facts();
    Result<NetChange> change = kept_.net_change(batch);
    if (!change.ok()) return change.error();
    const Effort effort_before = std::exchange(effort_, {});
    const bool violated_before = is_violated();
    Status done = work_in(*change, batch);
    if (!done.ok()) effort_ = effort_before;
    if (done.ok()) violated_before_ = violated_before;
    return done;
  }

  std::optional<Answer> answer() override {
    if (!kept_.built()) {
      find_answer();
      repeat(said_, session_);
      return answer_;
    }
    if (!split_.asks_rest && (kept_.violations() > 0 || lists_worlds()))
      return answer_by_reference();
    if (is_error()) return said_afresh([&] { return evaluate_afresh(); });
    Answer answer;
    answer.mode = options_.mode;
    answer.well_founded = options_.well_founded;
    if (worlds_ != nullptr) {
      worlds_->answer(open_queries(), answer);
    } else if (split_.asks_rest) {
      answer = rest_;
      repeat(rest_said_, session_);
    } else if (options_.well_founded) {
      answer.view_count = 0;
      answer.well_founded_queries.resize(source_.queries.size());
    } else {
      answer.views.emplace_back().queries.resize(source_.queries.size());
    }
    if (!split_.rest_has_partial_arithmetic) {
      oracle::report_valueless(kept_.valueless(true), kept_.valueless_span(), session_);
    }
    fill_kept_queries(answer);
    return answer;
  }

  Result<std::vector<RowChange>> changes(uint32_t query) override {
    XLOG_CHECK(query < source_.queries.size(), "a query of the program");
    find_changes(query);
    return *changes_[query];
  }

  Violated violated() override { return {violated_before_, is_violated()}; }

  FactChanges facts(PredId pred) const override {
    load_facts();
    return kept_.facts_and_weights(pred);
  }

  // ---- Inspectable ----

  std::string check() override { return kept_.built() ? kept_.check() : ""; }
  void set_way(Way way) override { way_ = way; }

  std::vector<std::string> digest() const override {
    return kept_.built() ? kept_.digest() : std::vector<std::string>{};
  }

 private:
  bool lists_worlds() const { return options_.max_worlds > 0 && !options_.well_founded; }

  // ---- facts ----

  // The facts stay with the program until the first batch.
  void load_facts() const {
    if (facts_loaded_) return;
    facts_loaded_ = true;
    kept_.load_facts(source_);
    for (lang::Predicate& predicate : source_.predicates) predicate.facts.reset();
  }

  // ---- batches ----

  Status work_in(NetChange& change, std::span<const FactChanges> batch) {
    if (change.size == 0) {
      kept_.drop_change(change);
      forget_changes();
      for (auto& changes : changes_) changes.emplace();
      return Done{};
    }
    const bool large = way_ == Way::Afresh || (way_ == Way::Choose && change.size > kFewFacts &&
                                               change.size * kPartOfFacts > kept_.fact_rows());
    if (!split_.fresh_reason.empty()) return start_afresh(change, split_.fresh_reason);
    if (kept_.is_worn()) return start_afresh(change, "what was counted has worn out");
    if (worlds_ != nullptr && worlds_->is_worn()) {
      return start_afresh(change, "most of the units that were solved are not needed any more");
    }
    if (large) {
      behind_.drop();
      return start_afresh(change, "the batch changes a large part of the facts");
    }
    if (!kept_.built()) {
      // A batch that might become a run in the end does not pay for counting too.
      const bool small = way_ != Way::Choose || change.size <= kFewFacts ||
                         change.size * kPartOfFactsWhileCounting <= kept_.fact_rows();
      bool counted = false;
      if (small) {
        kept_.drop_change(change);  // counting starts from the facts without it
        if (!find_answer()) return said_error();
        counted = catch_up();
        change = *kept_.net_change(batch);  // in rows of what is kept now
      }
      if (!counted) {
        Status done = start_afresh(change, "what holds is not counted yet");
        if (done.ok()) behind_.add(batch);
        return done;
      }
    }
    kept_.change_facts(change);
    const double least_seconds = way_ == Way::Choose ? kPartOfSeconds * run_seconds_ : 0;
    Allowance allowance(options_, most_work(), UINT64_MAX, least_seconds);
    if (Status done = kept_.update(allowance, effort_); !done.ok()) {
      const bool choose = allowance.too_many() && way_ != Way::Fail;
      return choose ? start_afresh_after_all(change) : give_up(change, done.error());
    }
    if (worlds_ != nullptr) {
      if (Status done = worlds_->update(effort_); !done.ok()) {
        return way_ != Way::Fail ? start_afresh_after_all(change) : give_up(change, done.error());
      }
      note_changes(rest_);
      worlds_->finish();
    } else if (split_.asks_rest && touches_rest()) {
      ++effort_.components;
      ++effort_.recomputed;
      effort_.reasons.push_back(rest_name());
      Quiet quiet(session_);
      std::optional<Answer> rest = evaluate_rest();
      if (!rest) return give_up(change, quiet.error());
      std::swap(rest_, *rest);
      rest_said_ = quiet.take();
      note_changes(*rest);
    } else {
      note_changes(rest_);
    }
    kept_.finish();
    return Done{};
  }

  uint64_t most_work() const {
    constexpr uint64_t kLittle = 5;
    if (way_ == Way::HalfWay || way_ == Way::Fail) return kLittle;
    if (way_ != Way::Choose) return UINT64_MAX;
    return std::max(kAlwaysWorkedIn, run_work_ / kPartOfRun);
  }

  // Counts what holds, for a part of the time of a run. True: rows are kept, and no answer.
  bool catch_up() {
    const bool choose = way_ == Way::Choose;
    const uint64_t work = choose ? kWorkPerRest : most_work();
    const uint64_t most = choose ? std::max(kAlwaysInAStep, run_work_ / kPartOfStep) : UINT64_MAX;
    bool counts = false;  // for longer than a moment
    const auto parts_of_run = [&] { return seconds_since(batch_start_) / run_seconds_; };
    while (!behind_.go_on(kept_, work, most, run_rows_)) {
      if (!behind_.is_counting() || parts_of_run() >= kPartOfSecondsWhileCounting) return false;
      counts |= choose && !behind_.is_late();
    }
    // A batch that might become a run in the end is the last to be late, or it would cost two.
    if (counts && parts_of_run() > kPartOfSeconds) return false;
    behind_.take(kept_, worlds_.get());
    for (uint32_t q = 0; q < changes_.size(); ++q) find_changes(q);
    if (split_.asks_rest && worlds_ == nullptr) {
      rest_ = std::move(*answer_);
      rest_said_ = std::move(said_);
      if (!split_.rest_has_partial_arithmetic) drop_valueless(rest_said_);
      const auto drop_kept = [&](std::vector<QueryAnswer>& queries) {
        for (size_t q = 0; q < queries.size(); ++q) {
          if (split_.query_kept[q]) queries[q] = {};
        }
      };
      for (logic::WorldView& view : rest_.views) drop_kept(view.queries);
      drop_kept(rest_.well_founded_queries);
    }
    had_no_view_ = has_no_view();
    answer_.reset();
    said_.clear();
    return true;
  }

  void forget() {
    kept_.forget();
    if (worlds_ != nullptr) worlds_->clear();
  }

  Error said_error() const {
    const std::deque<Diagnostic>& all = said_.all();
    return all.empty() ? Error{"the program has no answer", ""}
                       : Error{all.front().message, all.front().help_text, ErrorKind::Limit};
  }

  static void drop_valueless(Diagnostics& said) {
    Diagnostics others;
    for (const Diagnostic& diagnostic : said.all()) {
      if (diagnostic.code == Code::DivisionByZero) continue;
      others.report(diagnostic.code, diagnostic.span, diagnostic.message) = diagnostic;
    }
    said = std::move(others);
  }

  // Half-way: nothing has happened. The answer is found again when somebody asks.
  Status give_up(const NetChange& change, const Error& error) {
    forget();
    kept_.restore_facts(change);
    kept_.finish();
    answer_.reset();
    return error;
  }

  Status start_afresh_after_all(const NetChange& change) {
    std::vector<QueryAnswer> before = rows_before();
    forget();
    return evaluate_changed(change, std::move(before),
                            "the batch changes a large part of what holds");
  }

  Status start_afresh(const NetChange& change, const std::string& reason) {
    if (!kept_.built() && !find_answer()) {
      kept_.drop_change(change);
      return said_error();
    }
    std::optional<std::vector<QueryAnswer>> before;
    if (kept_.built()) {
      before = rows_before();
      forget();
    }
    kept_.change_facts(change);
    return evaluate_changed(change, std::move(before), reason);
  }

  // What was there before is that of the last answer unless it is given.
  Status evaluate_changed(const NetChange& change, std::optional<std::vector<QueryAnswer>> before,
                          const std::string& reason) {
    Quiet quiet(session_);
    std::optional<Answer> fresh = evaluate_afresh();
    if (!fresh) kept_.restore_facts(change);
    kept_.finish();
    if (!fresh) return quiet.error();
    if (!before) before = take_first_rows(*answer_, source_.queries.size());
    answer_ = std::move(fresh);
    said_ = quiet.take();
    forget_changes();
    before_ = std::move(*before);
    effort_.components = effort_.recomputed = analysis_.components.size();
    effort_.reasons = {fmt::format("the whole program: {}", reason)};
    return Done{};
  }

  void forget_changes() {
    for (auto& changes : changes_) changes.reset();
    before_.clear();
  }

  // Where before and after are both whole answers, they are compared when somebody asks.
  void find_changes(uint32_t query) {
    if (changes_[query]) return;
    changes_[query].emplace();
    if (!before_.empty())
      changes_[query] = row_changes(before_[query], first_rows(*answer_, query), session_.names);
  }

  // ---- evaluation ----

  std::optional<Answer> evaluate_afresh() {
    lang::Program program = copy_without_facts(source_);
    for (uint32_t p = 0; p < program.predicates.size(); ++p) {
      program.predicates[p].facts =
          facts_loaded_ ? kept_.fact_table(PredId{p}) : std::move(source_.predicates[p].facts);
    }
    logic::Analysis analysis = analysis_;
    std::optional<Answer> answer;
    const auto start = std::chrono::steady_clock::now();
    run_work_ = 0;
    for (const lang::Predicate& predicate : program.predicates) {
      if (predicate.facts) run_work_ += kWorkOfFact * predicate.facts->rows;
    }
    if (device_ != nullptr) {
      const uint64_t instances_before = device_->counters().instances;
      engine::Statistics statistics;
      answer = engine::evaluate(
          program, analysis, session_, options_, *device_, statistics, {},
          [](const auto& p, const auto& a, lang::Session& s, const auto& o,
             const oracle::Preset* preset) { return epistemic::evaluate(p, a, s, o, preset); });
      run_work_ = statistics.rows + device_->counters().instances - instances_before;
      run_rows_.assign(source_.predicates.size(), 0);
      for (const engine::RelationFigures& figures : statistics.relations) {
        if (figures.pred.index < run_rows_.size()) run_rows_[figures.pred.index] = figures.rows;
      }
    } else {
      answer = epistemic::evaluate(program, analysis, session_, options_);
    }
    const double seconds = seconds_since(start);
    run_seconds_ = std::min(seconds, std::exchange(last_run_seconds_, seconds));
    for (uint32_t p = 0; p < source_.predicates.size() && !facts_loaded_; ++p) {
      source_.predicates[p].facts = std::move(program.predicates[p].facts);
    }
    return if_finished(std::move(answer));
  }

  oracle::Preset preset() const {
    oracle::Preset preset;
    preset.done = split_.settled;
    preset.rows = [this](PredId pred) {
      return std::move(*kept_.rows(kept_program_.same_as[pred.index]));
    };
    return preset;
  }

  // What differs between worlds, from the rows of what does not.
  std::optional<Answer> evaluate_rest() {
    lang::Program program = copy_without_facts(source_);
    program.queries.clear();
    for (size_t q = 0; q < split_.query_kept.size(); ++q) {
      if (!split_.query_kept[q]) program.queries.push_back(source_.queries[q]);
    }
    for (uint32_t p = 0; p < program.predicates.size(); ++p) {
      if (split_.settled[analysis_.component_of[p]]) continue;
      program.predicates[p].facts = kept_.fact_table(PredId{p});
    }
    oracle::Preset known = preset();
    if (split_.rest_has_partial_arithmetic) {
      known.valueless = kept_.valueless(false);
      known.valueless_span = kept_.valueless_span();
    }
    std::optional<Answer> answer =
        if_finished(epistemic::evaluate(program, analysis_, session_, options_, &known));
    if (!answer) return answer;
    for (logic::WorldView& view : answer->views) spread(view.queries);
    if (!answer->well_founded_queries.empty() || answer->views.empty()) {
      spread(answer->well_founded_queries);
    }
    return answer;
  }

  // The answers of the queries that were asked, in their places among all.
  void spread(std::vector<QueryAnswer>& queries) const {
    std::vector<QueryAnswer> all(split_.query_kept.size());
    size_t next = 0;
    for (size_t q = 0; q < all.size(); ++q) {
      if (!split_.query_kept[q]) all[q] = std::move(queries[next++]);
    }
    queries = std::move(all);
  }

  // A program without open parts whose constraints are violated, or whose worlds are listed.
  std::optional<Answer> answer_by_reference() {
    const lang::Program program = copy_without_facts(source_);
    oracle::Preset known = preset();
    known.valueless = kept_.valueless(false);
    known.valueless_span = kept_.valueless_span();
    return said_afresh(
        [&] { return epistemic::evaluate(program, analysis_, session_, options_, &known); });
  }

  // What was said of earlier answers is no error of this one.
  template <typename Evaluate>
  std::optional<Answer> said_afresh(const Evaluate& evaluate) {
    Diagnostics said;
    std::optional<Answer> answer;
    {
      Quiet quiet(session_);
      answer = evaluate();
      said = quiet.take();
    }
    repeat(said, session_);
    return answer;
  }

  // Under the well-founded semantics a violated constraint is an error, and a run says which and
  // why.
  bool is_error() const {
    return options_.well_founded && worlds_ != nullptr &&
           (kept_.violations() > 0 || worlds_->is_violated());
  }

  // Whether answer() is that error now, without finding the answer where rows are kept.
  bool is_violated() {
    if (!kept_.built()) return find_answer() && answer_->constraint_error;
    if (is_error()) return true;
    if (split_.asks_rest) return worlds_ == nullptr && rest_.constraint_error;
    return kept_.violations() > 0 &&
           (options_.well_founded || (analysis_.determined && !analysis_.has_modal));
  }

  bool touches_rest() const {
    if (lists_worlds() || kept_.violations_changed() || kept_.violations() > 0) return true;
    if (split_.rest_has_partial_arithmetic && kept_.valueless_changed()) return true;
    for (uint32_t p = 0; p < split_.rest_reads.size(); ++p) {
      if (split_.rest_reads[p] && !kept_.changed(p).empty()) return true;
    }
    return false;
  }

  std::string rest_name() const {
    for (const logic::Component& component : analysis_.components) {
      if (oracle::is_settled(component, options_)) continue;
      const std::string name =
          lang::predicate_signature(source_[component.predicates.front()], session_.names);
      const std::string& why = kept_program_.worlds.reason;
      return fmt::format("{} and what depends on it: {}{}{}", name,
                         component.reason.empty() ? "worlds differ" : component.reason,
                         why.empty() ? "" : "; ", why);
    }
    return "the constraints: an aggregate in a body";
  }

  // ---- rows of queries ----

  PredId kept_pred(size_t q) const { return kept_program_.same_as[source_.queries[q].pred.index]; }

  // What is shown of the queries in which worlds differ.
  std::vector<std::optional<PredId>> open_queries() const {
    std::vector<std::optional<PredId>> shown(split_.query_kept.size());
    for (size_t q = 0; q < shown.size(); ++q) {
      if (!split_.query_kept[q]) shown[q] = kept_pred(q);
    }
    return shown;
  }

  // Of rows that are the same in all worlds.
  RowStatus kept_status(bool no_view) const {
    return options_.well_founded || no_view ? RowStatus::True : RowStatus::Known;
  }

  bool has_no_view() const {
    if (worlds_ != nullptr) return worlds_->has_no_view();
    return split_.asks_rest ? rest_.views.empty() : kept_.violations() > 0;
  }

  void fill_kept_queries(Answer& answer) const {
    for (size_t q = 0; q < split_.query_kept.size(); ++q) {
      if (!split_.query_kept[q]) continue;
      QueryAnswer rows =
          rows_now(kept_, kept_pred(q), kept_status(answer.views.empty()), session_.names);
      if (answer.views.empty()) {
        answer.well_founded_queries[q] = std::move(rows);
        continue;
      }
      for (size_t v = 1; v < answer.views.size(); ++v) answer.views[v].queries[q] = rows;
      answer.views[0].queries[q] = std::move(rows);
    }
  }

  // What queries showed before this batch, also from the middle of it, while rows are kept.
  std::vector<QueryAnswer> rows_before() {
    std::vector<QueryAnswer> before(source_.queries.size());
    const RowStatus status = kept_status(had_no_view_);
    for (size_t q = 0; q < before.size(); ++q) {
      before[q] = split_.query_kept[q]
                      ? incremental::rows_before(kept_, kept_pred(q), status, session_.names)
                  : worlds_ != nullptr ? worlds_->rows_before(kept_pred(q))
                                       : first_rows(rest_, q);
    }
    return before;
  }

  // Before finish(): the tables still know what was there.
  void note_changes(const Answer& rest_before) {
    forget_changes();
    const bool has_none = has_no_view();
    const RowStatus before = kept_status(had_no_view_), after = kept_status(has_none);
    for (size_t q = 0; q < split_.query_kept.size(); ++q) {
      changes_[q] =
          split_.query_kept[q] ? rows_changed(kept_, kept_pred(q), before, after, session_.names)
          : worlds_ != nullptr
              ? worlds_->changes(kept_pred(q))
              : row_changes(first_rows(rest_before, q), first_rows(rest_, q), session_.names);
    }
    had_no_view_ = has_none;
  }

  mutable lang::Program source_;
  logic::Analysis analysis_;
  lang::Session& session_;
  logic::AnswerOptions options_;
  device::Device* device_;
  KeptProgram kept_program_;
  Split split_;
  mutable Kept kept_;
  Behind behind_;                      // rows that will be kept
  std::unique_ptr<Worlds> worlds_;     // where they are kept
  mutable bool facts_loaded_ = false;  // out of the source, into what is kept
  Way way_ = Way::Choose;

  std::chrono::steady_clock::time_point batch_start_;
  uint64_t run_work_ = 0;                            // of the last run
  double run_seconds_ = 0, last_run_seconds_ = 1e9;  // the least of the last two; the last
  std::vector<uint64_t> run_rows_;  // that it found, by predicate; empty where that is not known

  // While nothing is kept: the answer, and what was said with it.
  std::optional<Answer> answer_;
  Diagnostics said_;
  // While rows are kept: the answers of open queries.
  Answer rest_;
  Diagnostics rest_said_;
  bool had_no_view_ = false;  // after the last batch
  bool violated_before_ = false;

  std::vector<std::optional<std::vector<RowChange>>> changes_;  // by query; none: not known yet
  std::vector<QueryAnswer> before_;                             // by query, to find them
  Effort effort_;
};

std::unique_ptr<Incremental> make(lang::Program program, lang::Session& session,
                                  const logic::AnswerOptions& options, device::Device* device) {
  if (oracle::refuse_unsupported(program, session)) return nullptr;
  std::optional<logic::Analysis> analysis = logic::analyze(program, session);
  if (!analysis || session.diagnostics.has_errors()) return nullptr;
  auto made = std::make_unique<Incremental>(std::move(program), std::move(*analysis), session,
                                            options, device);
  if (made->find_answer()) return made;
  repeat(made->said(), session);
  return nullptr;
}

}  // namespace

std::unique_ptr<Maintained> keep_current(lang::Program program, lang::Session& session,
                                         const logic::AnswerOptions& options,
                                         device::Device* device) {
  return make(std::move(program), session, options, device);
}

std::unique_ptr<Inspectable> keep_inspectable(lang::Program program, lang::Session& session,
                                              const logic::AnswerOptions& options,
                                              device::Device* device) {
  return make(std::move(program), session, options, device);
}

}  // namespace xlog::incremental
