#include "oracle/evaluate.h"

#include <fmt/format.h>

#include <algorithm>
#include <new>

#include "base/check.h"
#include "oracle/context.h"
#include "oracle/groups.h"
#include "oracle/instantiate.h"
#include "oracle/refuse.h"
#include "oracle/well_founded.h"
#include "oracle/world_views.h"

namespace xlog::oracle {

namespace {

using lang::PredId;
using logic::Answer;
using logic::QueryAnswer;
using logic::Row;
using logic::RowStatus;

// The independent parts of a program with their world views; the views of the program are the
// product.
struct SolvedPart {
  Part part;
  std::vector<WorldSet> views;
};

class Evaluation {
 public:
  explicit Evaluation(Context& context) : context_(context) {}

  Answer run() {
    Answer answer;
    answer.mode = context_.options.mode;
    answer.well_founded = context_.options.well_founded;
    instance_ = instantiate(context_);
    context_.largest = [this] { return largest_relation(instance_.database, context_); };
    bounds_ = well_founded_bounds(instance_.ground, answer.mode, context_);
    if (instance_.violation && is_plain_datalog()) report_violation(*instance_.violation);
    if (answer.well_founded) {
      if (!instance_.violation) find_bounded_violation();
      answer.view_count = 0;
      answer.well_founded_queries = well_founded_answers();
      answer.constraint_error = context_.session.diagnostics.has_errors();
      return answer;
    }
    const bool consistent = !instance_.violation && solve_parts();
    answer.view_count = consistent ? 1 : 0;
    for (const SolvedPart& part : parts_) answer.view_count *= part.views.size();
    if (answer.view_count == 0) {
      answer.constraint_error = instance_.violation && is_plain_datalog();
      if (!answer.constraint_error) report_no_view();
      answer.well_founded_queries = well_founded_answers();
      return answer;
    }
    list_views(answer);
    return answer;
  }

 private:
  bool is_plain_datalog() const {
    return context_.analysis.determined && !context_.analysis.has_modal;
  }

  bool solve_parts() {
    const GroundProgram open = residual(instance_.ground, bounds_, context_.names());
    if (contradiction(open, context_.names())) return false;
    for (Part& part : independent_parts(open)) {
      std::vector<WorldSet> views = world_views(part.program, context_.options.mode, context_);
      if (views.empty()) return false;
      std::sort(views.begin(), views.end());
      parts_.push_back({std::move(part), std::move(views)});
    }
    return true;
  }

  // ---- what is reported ----

  void report_violation(const Instantiation::Violation& violation) {
    const lang::Rule& rule = context_.program.rules[violation.rule];
    if (rule.origin == lang::RuleOrigin::Coherence) {
      context_.session.diagnostics
          .report(Code::ConstraintViolated, rule.span,
                  violation.instance.empty()
                      ? "an atom and its strong negation both hold"
                      : fmt::format("`{0}` and `-{0}` both hold", violation.instance))
          .help("strong negation says that the atom is false; one of the two must go");
      return;
    }
    std::string message = fmt::format("the constraint `{}` is violated", constraint_text(rule));
    if (!violation.instance.empty()) message += " with " + violation.instance;
    context_.session.diagnostics.report(Code::ConstraintViolated, rule.span, std::move(message))
        .help(
            "a constraint `:- body.` says that its body never holds; change the facts or the "
            "constraint");
  }

  std::string constraint_text(const lang::Rule& rule) const {
    return lang::to_source(rule, context_.program, context_.session.names);
  }

  // Under the well-founded semantics a constraint is violated when its body is true, not merely
  // undefined.
  void find_bounded_violation() {
    for (const GroundRule& rule : instance_.ground.rules) {
      if (rule.kind != GroundHead::Constraint) continue;
      const bool violated =
          std::all_of(rule.body.begin(), rule.body.end(), [&](const GroundLiteral& l) {
            return bounded_truth(l, instance_.ground, bounds_, context_.names()) == Truth::True;
          });
      if (violated) return report_violation({rule.source, ""});
    }
  }

  void report_no_view() {
    Span span;
    std::string message = "the program has no world view";
    if (instance_.violation) {
      const lang::Rule& rule = context_.program.rules[instance_.violation->rule];
      span = rule.span;
      message +=
          fmt::format(": the constraint `{}` is violated in every world", constraint_text(rule));
    }
    context_.session.diagnostics.report(Code::NoWorldView, span, std::move(message))
        .note("shown instead is the well-founded part: what holds whatever the guesses");
  }

  // ---- rows ----

  // Calls `visit` for every row of a predicate with its atom; settled rows have none.
  template <typename Visit>
  void for_each_row(PredId pred, const Visit& visit) const {
    const Database& database = instance_.database;
    const Relation& relation = database.relations[pred.index];
    const bool settled = database.states[pred.index] == PredicateState::Settled;
    const std::vector<AtomId>& atoms = database.row_atoms[pred.index];
    for (size_t row = 0; row < relation.size(); ++row) {
      if (settled) {
        visit(relation.row(row), std::nullopt);
      } else if (row < atoms.size() &&
                 atoms[row] != UINT32_MAX) {  // else no rule instance derives it
        visit(relation.row(row), std::optional<AtomId>(atoms[row]));
      }
    }
  }

  QueryAnswer sorted(QueryAnswer answer) const {
    const lang::Names& names = context_.session.names;
    std::sort(answer.rows.begin(), answer.rows.end(), [&](const Row& a, const Row& b) {
      return std::lexicographical_compare(
          a.values.begin(), a.values.end(), b.values.begin(), b.values.end(),
          [&](const Value& x, const Value& y) { return lang::compare(x, y, names) < 0; });
    });
    return answer;
  }

  std::vector<QueryAnswer> well_founded_answers() const {
    std::vector<QueryAnswer> answers;
    for (const lang::Query& query : context_.program.queries) {
      QueryAnswer answer;
      for_each_row(query.pred, [&](const Tuple& tuple, std::optional<AtomId> atom) {
        if (atom && !bounds_.upper[*atom]) return;
        const bool is_true = !atom || bounds_.lower[*atom];
        answer.rows.push_back({tuple, is_true ? RowStatus::True : RowStatus::Undefined});
      });
      answers.push_back(sorted(std::move(answer)));
    }
    return answers;
  }

  // ---- views: an odometer over the parts ----

  void list_views(Answer& answer) {
    part_of_.assign(instance_.ground.atom_count, {UINT32_MAX, 0});
    for (uint32_t p = 0; p < parts_.size(); ++p) {
      for (AtomId local = 0; local < parts_[p].part.atoms.size(); ++local) {
        part_of_[parts_[p].part.atoms[local]] = {p, local};
      }
    }
    std::vector<size_t> choice(parts_.size(), 0);
    while (answer.views.size() < context_.options.max_views) {
      answer.views.push_back(view_of(choice));
      if (!advance(choice, [&](size_t p) { return parts_[p].views.size(); })) break;
    }
    if (answer.view_count > answer.views.size()) {
      context_.session.diagnostics.report(
          Code::MoreWorldViews, {},
          fmt::format("{} of {} world views are shown", answer.views.size(),
                      answer.view_count.get_str()));
    }
  }

  // The next combination, the last part counting fastest; false after the last one.
  template <typename Size>
  static bool advance(std::vector<size_t>& choice, const Size& size) {
    for (size_t p = choice.size(); p-- > 0;) {
      if (++choice[p] < size(p)) return true;
      choice[p] = 0;
    }
    return false;
  }

  logic::WorldView view_of(const std::vector<size_t>& choice) {
    logic::WorldView view;
    for (size_t p = 0; p < parts_.size(); ++p)
      view.world_count *= parts_[p].views[choice[p]].size();
    for (const lang::Query& query : context_.program.queries) {
      QueryAnswer answer;
      for_each_row(query.pred, [&](const Tuple& tuple, std::optional<AtomId> atom) {
        const std::optional<RowStatus> status = atom ? status_of(*atom, choice) : RowStatus::Known;
        if (status) answer.rows.push_back({tuple, *status});
      });
      view.queries.push_back(sorted(std::move(answer)));
    }
    if (context_.options.max_worlds > 0) list_worlds(choice, view);
    return view;
  }

  std::optional<RowStatus> status_of(AtomId atom, const std::vector<size_t>& choice) const {
    if (bounds_.lower[atom]) return RowStatus::Known;
    if (!bounds_.upper[atom]) return std::nullopt;
    const auto [p, local] = part_of_[atom];
    const WorldSet& worlds = parts_[p].views[choice[p]];
    const auto holds_at = [local = local](const Interpretation& world) { return world[local]; };
    if (std::all_of(worlds.begin(), worlds.end(), holds_at)) return RowStatus::Known;
    if (std::any_of(worlds.begin(), worlds.end(), holds_at)) return RowStatus::Possible;
    return std::nullopt;
  }

  void list_worlds(const std::vector<size_t>& choice, logic::WorldView& view) {
    std::vector<size_t> world_choice(parts_.size(), 0);
    while (view.worlds.size() < context_.options.max_worlds) {
      std::vector<std::string> atoms;
      for (uint32_t p = 0; p < context_.program.predicates.size(); ++p) {
        if (context_.program.predicates[p].helper) continue;
        for_each_row(PredId{p}, [&](const Tuple& tuple, std::optional<AtomId> atom) {
          context_.tick();
          if (!atom || holds_in_world(*atom, choice, world_choice))
            atoms.push_back(atom_text(PredId{p}, tuple));
        });
      }
      std::sort(atoms.begin(), atoms.end());
      view.worlds.push_back(std::move(atoms));
      if (!advance(world_choice, [&](size_t p) { return parts_[p].views[choice[p]].size(); }))
        break;
    }
    std::sort(view.worlds.begin(), view.worlds.end());
  }

  bool holds_in_world(AtomId atom, const std::vector<size_t>& choice,
                      const std::vector<size_t>& world) const {
    if (bounds_.lower[atom]) return true;
    if (!bounds_.upper[atom]) return false;
    const auto [p, local] = part_of_[atom];
    return parts_[p].views[choice[p]][world[p]][local];
  }

  std::string atom_text(PredId pred, const Tuple& tuple) const {
    std::string text = lang::predicate_name(context_.program[pred], context_.session.names);
    for (size_t i = 0; i < tuple.size(); ++i) {
      text += (i == 0 ? "(" : ", ") + lang::to_source(tuple[i], context_.session.names);
    }
    return tuple.empty() ? text : text + ")";
  }

  Context& context_;
  Instantiation instance_;
  Bounds bounds_;
  std::vector<SolvedPart> parts_;
  std::vector<std::pair<uint32_t, AtomId>> part_of_;  // by atom: its part and number there
};

}  // namespace

void report_valueless(uint64_t count, Span span, lang::Session& session) {
  if (count == 0) return;
  session.diagnostics.report(
      Code::DivisionByZero, span,
      fmt::format("{} instance{} of arithmetic without a value (integer division by zero or a cast "
                  "out of range); they derive nothing",
                  count, count == 1 ? "" : "s"));
}

std::optional<Answer> evaluate(const lang::Program& program, const logic::Analysis& analysis,
                               lang::Session& session, const logic::AnswerOptions& options,
                               const Preset* preset) {
  if (refuse_unsupported(program, session)) return std::nullopt;
  Context context(program, analysis, session, options);
  context.preset = preset;
  try {
    Answer answer = Evaluation(context).run();
    const uint64_t before = preset != nullptr ? preset->valueless : 0;
    report_valueless(before + context.valueless.size(),
                     before > 0 ? preset->valueless_span : context.valueless_span, session);
    return answer;
  } catch (const LimitExceeded& limit) {
    session.diagnostics.report(Code::LimitReached, {}, limit.message).help(limit.help);
    return std::nullopt;
  } catch (const MemoryExceeded& memory) {
    logic::report_memory_shortage(memory.shortage, session);
    return std::nullopt;
  } catch (const std::bad_alloc&) {
    logic::report_memory_shortage({.doing = "worlds were looked for"}, session);
    return std::nullopt;
  }
}

std::optional<std::vector<Relation>> settle(const lang::Program& program,
                                            const logic::Analysis& analysis, lang::Session& session,
                                            const logic::AnswerOptions& options,
                                            const Preset* preset) {
  Context context(program, analysis, session, options);
  context.preset = preset;
  try {
    Instantiation instance = instantiate(context);
    const uint64_t before = preset != nullptr ? preset->valueless : 0;
    report_valueless(before + context.valueless.size(),
                     before > 0 ? preset->valueless_span : context.valueless_span, session);
    return std::move(instance.database.relations);
  } catch (const LimitExceeded& limit) {
    session.diagnostics.report(Code::LimitReached, {}, limit.message).help(limit.help);
    return std::nullopt;
  }
}

}  // namespace xlog::oracle
