#include "incremental/fresh.h"

#include <algorithm>
#include <new>
#include <utility>

#include "engine/evaluate.h"
#include "epistemic/evaluate.h"
#include "incremental/fact_set.h"
#include "incremental/quiet.h"
#include "incremental/row_changes.h"
#include "logic/analysis.h"
#include "logic/magic.h"
#include "logic/memory_report.h"
#include "oracle/evaluate.h"
#include "plan/estimate.h"

namespace xlog::incremental {
namespace {

class Fresh final : public Maintained {
 public:
  Fresh(lang::Program program, lang::Session& session, const FreshOptions& options)
      : program_(std::move(program)),
        session_(session),
        options_(options),
        facts_(program_, session.names) {
    facts_.add_tables(program_);
    for (lang::Predicate& predicate : program_.predicates) predicate.facts.reset();
  }

  const lang::Program& program() const override { return program_; }

  Status apply(std::span<const FactChanges> batch) override {
    if (Status status = facts_.apply(batch); !status.ok()) return status;
    last_.assign(batch.begin(), batch.end());
    return Done{};
  }

  std::optional<logic::Answer> answer() override { return evaluate(facts_); }

  Result<std::vector<RowChange>> changes(uint32_t query) override {
    FactSet before = facts_;
    if (Status status = before.apply(negated(last_)); !status.ok()) return status.error();
    const std::optional<logic::Answer> old_answer = evaluate(before);
    if (!old_answer) return Quiet::first_error(session_);
    const std::optional<logic::Answer> new_answer = evaluate(facts_);
    if (!new_answer) return Quiet::first_error(session_);
    return row_changes(first_rows(*old_answer, query), first_rows(*new_answer, query),
                       session_.names);
  }

  Violated violated() override {
    // Most programs have nothing to violate, and each answer is a run.
    const bool can_be = std::ranges::any_of(program_.rules, [](const lang::Rule& rule) {
      return rule.head_kind == lang::HeadKind::None || rule.origin == lang::RuleOrigin::Coherence;
    });
    if (!can_be) return {};
    FactSet before = facts_;
    if (!before.apply(negated(last_)).ok()) return {};
    Quiet quiet(session_);
    const auto is_violated = [&](const FactSet& facts) {
      const std::optional<logic::Answer> answer = evaluate(facts);
      return answer && answer->constraint_error;
    };
    return {is_violated(before), is_violated(facts_)};
  }

  FactChanges facts(lang::PredId pred) const override { return facts_.of(pred); }
  const Effort& effort() const override { return effort_; }

 private:
  std::optional<logic::Answer> evaluate(const FactSet& facts) {
    effort_ = {.instances = 0,
               .components = 1,
               .recomputed = 1,
               .reasons = {"the whole program: every answer is evaluated afresh"}};
    try {
      return if_finished(evaluate_copy(facts));
    } catch (const std::bad_alloc&) {
      logic::report_memory_shortage({.doing = "the program was evaluated"}, session_);
      return std::nullopt;
    }
  }

  // The evaluators change the program that they are given.
  std::optional<logic::Answer> evaluate_copy(const FactSet& facts) {
    const size_t errors = session_.diagnostics.error_count();
    const auto failed = [&] { return session_.diagnostics.error_count() > errors; };
    lang::Program program = copy_without_facts(program_);
    facts.write_tables(program, session_.names);
    std::optional<logic::Analysis> analysis = logic::analyze(program, session_);
    if (!analysis || failed()) return std::nullopt;
    const auto decisions =
        logic::apply_magic_sets(program, *analysis, session_, plan::expected_rows);
    if (failed()) return std::nullopt;
    if (std::ranges::any_of(decisions, &logic::MagicDecision::applied)) {
      analysis = logic::analyze(program, session_);
      if (!analysis || failed()) return std::nullopt;
    }
    if (options_.device == nullptr) {
      return oracle::evaluate(program, *analysis, session_, options_.answer);
    }
    engine::Statistics statistics;
    const auto rest = [](const lang::Program& open, const logic::Analysis& of,
                         lang::Session& session, const logic::AnswerOptions& answer,
                         const oracle::Preset* preset) {
      return epistemic::evaluate(open, of, session, answer, preset);
    };
    return engine::evaluate(program, *analysis, session_, options_.answer, *options_.device,
                            statistics, std::nullopt, rest);
  }

  lang::Program program_;  // without facts
  lang::Session& session_;
  FreshOptions options_;
  FactSet facts_;
  std::vector<FactChanges> last_;
  Effort effort_;
};

}  // namespace

std::unique_ptr<Maintained> make_fresh(lang::Program program, lang::Session& session,
                                       const FreshOptions& options) {
  return std::make_unique<Fresh>(std::move(program), session, options);
}

}  // namespace xlog::incremental
