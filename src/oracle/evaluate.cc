#include "oracle/evaluate.h"

#include <fmt/format.h>

#include <algorithm>
#include <new>

#include "base/check.h"
#include "oracle/context.h"
#include "oracle/groups.h"
#include "oracle/instantiate.h"
#include "oracle/refuse.h"
#include "oracle/report.h"
#include "oracle/well_founded.h"
#include "oracle/world_views.h"

namespace xlog::oracle {

namespace {

using lang::PredId;
using logic::Answer;
using logic::QueryAnswer;
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
    // The three-valued model takes `know p` and `possible p` for p, which founds them in any mode.
    const logic::Mode mode = answer.well_founded ? logic::Mode::Faeel : answer.mode;
    bounds_ = well_founded_bounds(instance_.ground, mode, context_);
    if (instance_.violation && (answer.well_founded || is_plain_datalog(context_)))
      report_violation(*instance_.violation, context_);
    if (answer.well_founded) {
      if (!instance_.violation) find_bounded_violation();
      answer.view_count = 0;
      answer.well_founded_queries = well_founded_answers(instance_, bounds_, context_);
      answer.constraint_error = context_.session.diagnostics.has_errors();
      return answer;
    }
    open_ = residual(instance_.ground, bounds_, context_.names());
    const bool consistent = solve_parts();
    answer.view_count = consistent ? 1 : 0;
    for (const SolvedPart& part : parts_) answer.view_count *= part.views.size();
    if (answer.view_count == 0) {
      answer.constraint_error = instance_.violation && is_plain_datalog(context_);
      if (!answer.constraint_error) report_no_view(open_, context_);
      answer.well_founded_queries = well_founded_answers(instance_, bounds_, context_);
      return answer;
    }
    while_listing([&] { list_views(answer); });
    return answer;
  }

 private:
  bool solve_parts() {
    if (contradiction(open_, context_.names())) return false;
    for (Part& part : independent_parts(open_)) {
      std::vector<WorldSet> views = world_views(part.program, context_.options.mode, context_);
      if (views.empty()) return false;
      parts_.push_back({std::move(part), std::move(views)});
    }
    put_in_order();
    return true;
  }

  // ---- the order of views: by what they say of the atoms of a part, in canonical order ----

  bool is_shown(AtomId atom) const {
    const PredId pred = instance_.database.atoms[atom].pred;
    return pred.valid() && !context_.program[pred].helper;
  }

  bool is_before(AtomId a, AtomId b) const {
    if (is_shown(a) != is_shown(b)) return is_shown(a);
    const Database::Atom &at_a = instance_.database.atoms[a], &at_b = instance_.database.atoms[b];
    if (at_a.pred != at_b.pred) return at_a.pred < at_b.pred;
    if (!at_a.pred.valid()) return a < b;
    const Relation& relation = instance_.database.relations[at_a.pred.index];
    return std::ranges::lexicographical_compare(relation.row(at_a.row), relation.row(at_b.row),
                                                [&](const lang::Value& x, const lang::Value& y) {
                                                  return lang::compare(x, y, context_.names()) < 0;
                                                });
  }

  // In all worlds comes first, then in some, then in none; parts go by their first atoms.
  void put_in_order() {
    std::vector<std::pair<AtomId, SolvedPart>> parts;  // with the first atom
    for (SolvedPart& solved : parts_) {
      context_.tick();
      const std::vector<AtomId>& atoms = solved.part.atoms;
      std::vector<AtomId> order(atoms.size());  // local numbers
      for (AtomId local = 0; local < order.size(); ++local) order[local] = local;
      std::ranges::sort(order, [&](AtomId a, AtomId b) { return is_before(atoms[a], atoms[b]); });
      std::vector<std::pair<std::vector<size_t>, WorldSet>> views;
      for (WorldSet& worlds : solved.views) {
        std::vector<size_t> said;  // 0: in all worlds
        for (const AtomId local : order) {
          const auto lacks = [&](const Interpretation& world) { return !world[local]; };
          const auto without = static_cast<size_t>(std::ranges::count_if(worlds, lacks));
          said.push_back(without == 0 ? 0 : without < worlds.size() ? 1 : 2);
        }
        views.emplace_back(std::move(said), std::move(worlds));
      }
      std::ranges::sort(views);
      for (size_t v = 0; v < views.size(); ++v) solved.views[v] = std::move(views[v].second);
      const AtomId first = atoms[order.front()];
      parts.emplace_back(first, std::move(solved));
    }
    std::ranges::sort(parts,
                      [&](const auto& a, const auto& b) { return is_before(a.first, b.first); });
    for (size_t p = 0; p < parts.size(); ++p) parts_[p] = std::move(parts[p].second);
  }

  // Under the well-founded semantics a constraint is violated when its body is true, not merely
  // undefined.
  void find_bounded_violation() {
    KnownResults known;
    for (const GroundRule rule : instance_.ground.rules) {
      if (rule.kind != GroundHead::Constraint) continue;
      const bool violated =
          std::all_of(rule.body.begin(), rule.body.end(), [&](const GroundLiteral& l) {
            return bounded_truth(l, instance_.ground, bounds_, context_.names(), &known) ==
                   Truth::True;
          });
      if (violated) return report_violation({rule.source, ""}, context_);
    }
  }

  // ---- views: an odometer over the parts ----

  void list_views(Answer& answer) {
    part_of_.assign(instance_.ground.atom_count, {});
    for (uint32_t p = 0; p < parts_.size(); ++p) {
      for (AtomId local = 0; local < parts_[p].part.atoms.size(); ++local) {
        part_of_[parts_[p].part.atoms[local]] = {p, local};
      }
    }
    std::vector<size_t> choice(parts_.size(), 0);
    while (answer.views.size() < context_.options.max_views) {
      context_.tick();
      answer.views.push_back(view_of(choice));
      if (!advance(choice, [&](size_t p) { return parts_[p].views.size(); })) break;
    }
    report_more_views(answer, context_);
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
      for_each_row(instance_.database, query.pred,
                   [&](std::span<const lang::Value> tuple, std::optional<AtomId> atom) {
                     context_.tick();
                     const std::optional<RowStatus> status =
                         atom ? status_of(*atom, choice) : RowStatus::Known;
                     if (status)
                       answer.rows.push_back({Tuple(tuple.begin(), tuple.end()), *status});
                   });
      view.queries.push_back(in_canonical_order(std::move(answer), context_.names()));
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
        for_each_row(instance_.database, PredId{p},
                     [&](std::span<const lang::Value> tuple, std::optional<AtomId> atom) {
                       context_.tick();
                       if (!atom || holds_in_world(*atom, choice, world_choice))
                         atoms.push_back(atom_text(PredId{p}, tuple, context_));
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

  Context& context_;
  Instantiation instance_;
  Bounds bounds_;
  GroundProgram open_;  // what the bounds do not decide
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
  return answer_or_report(context, [&] { return Evaluation(context).run(); });
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
    session.diagnostics.report(Code::LimitReached, limit.span, limit.message).help(limit.help);
  } catch (const MemoryExceeded& memory) {
    logic::report_memory_shortage(memory.shortage, session);
  } catch (const std::bad_alloc&) {
    logic::report_memory_shortage({.doing = "the program was evaluated"}, session);
  }
  return std::nullopt;
}

}  // namespace xlog::oracle
