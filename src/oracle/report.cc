#include "oracle/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <new>

#include "oracle/evaluate.h"

namespace xlog::oracle {

using logic::QueryAnswer;
using logic::Row;
using logic::RowStatus;

namespace {

constexpr const char* kListing = "world views and worlds were listed";
constexpr const char* kListFewer =
    "`--world-views N` and `--worlds N` list fewer, `--count` and `--over-views` none";

std::string constraint_text(const lang::Rule& rule, const Context& context) {
  return lang::to_source(rule, context.program, context.session.names);
}

// Of a predicate with strong negation, where no row is known.
std::string opposites_text(const lang::Rule& rule, const Context& context) {
  const lang::Predicate& positive = context.program[rule.body.front().pred];
  return fmt::format("`{0}` and `-{0}` both hold{1}",
                     lang::predicate_name(positive, context.session.names),
                     positive.arity == 0 ? "" : " of the same arguments");
}

}  // namespace

bool is_plain_datalog(const Context& context) {
  return context.analysis.determined && !context.analysis.has_modal;
}

void report_violation(const Instantiation::Violation& violation, Context& context) {
  const lang::Rule& rule = context.program.rules[violation.rule];
  if (rule.origin == lang::RuleOrigin::Coherence) {
    context.session.diagnostics
        .report(Code::ConstraintViolated, rule.span,
                violation.instance.empty()
                    ? "an atom and its strong negation both hold"
                    : fmt::format("`{0}` and `-{0}` both hold", violation.instance))
        .help("strong negation says that the atom is false; one of the two must go");
    return;
  }
  std::string message =
      fmt::format("the constraint `{}` is violated", constraint_text(rule, context));
  if (!violation.instance.empty()) message += " with " + violation.instance;
  context.session.diagnostics.report(Code::ConstraintViolated, rule.span, std::move(message))
      .help(
          "a constraint `:- body.` says that its body never holds; change the facts or the "
          "constraint");
}

void report_no_view(const GroundProgram& open, Context& context) {
  std::optional<uint32_t> violated;
  for (const GroundRule rule : open.rules) {
    if (rule.kind != GroundHead::Constraint || !rule.body.empty()) continue;
    violated = std::min(violated.value_or(UINT32_MAX), rule.source);
  }
  // A constraint may also be there as bounds, one for each group of rows.
  for (const GroundBound& bound : open.bounds) {
    if (context.program.rules[bound.source].head_kind != lang::HeadKind::None) continue;
    if (!is_broken(bound)) continue;
    violated = std::min(violated.value_or(UINT32_MAX), bound.source);
  }
  report_no_view(violated, context);
}

void report_no_view(std::optional<uint32_t> violated, Context& context) {
  Span span;
  std::string message = "the program has no world view";
  if (violated) {
    const lang::Rule& rule = context.program.rules[*violated];
    span = rule.span;
    message += rule.origin == lang::RuleOrigin::Coherence
                   ? fmt::format(": {} in every world", opposites_text(rule, context))
                   : fmt::format(": the constraint `{}` is violated in every world",
                                 constraint_text(rule, context));
  }
  Diagnostic& diagnostic =
      context.session.diagnostics.report(Code::NoWorldView, span, std::move(message));
  if (context.options.ask != logic::Ask::Counts) {
    diagnostic.note("shown instead is the well-founded part: what holds whatever the guesses");
  }
  if (!violated) {
    diagnostic.help("`xlog explain FILE --stage worldviews` shows which part of it has none");
  }
}

void report_more_views(const logic::Answer& answer, Context& context) {
  if (answer.view_count <= answer.views.size()) return;
  context.session.diagnostics.report(
      Code::MoreWorldViews, {},
      fmt::format("{} of {} world views are shown", answer.views.size(),
                  logic::short_text(answer.view_count)));
}

QueryAnswer in_canonical_order(QueryAnswer answer, const lang::Names& names) {
  std::sort(answer.rows.begin(), answer.rows.end(), [&](const Row& a, const Row& b) {
    return std::lexicographical_compare(
        a.values.begin(), a.values.end(), b.values.begin(), b.values.end(),
        [&](const Value& x, const Value& y) { return lang::compare(x, y, names) < 0; });
  });
  return answer;
}

std::vector<QueryAnswer> well_founded_answers(const Instantiation& instance, const Bounds& bounds,
                                              const Context& context) {
  std::vector<QueryAnswer> answers;
  for (const lang::Query& query : context.program.queries) {
    QueryAnswer answer;
    for_each_row(instance.database, query.pred,
                 [&](std::span<const Value> tuple, std::optional<AtomId> atom) {
                   if (atom && !bounds.upper[*atom]) return;
                   const bool is_true = !atom || bounds.lower[*atom];
                   answer.rows.push_back({Tuple(tuple.begin(), tuple.end()),
                                          is_true ? RowStatus::True : RowStatus::Undefined});
                 });
    answers.push_back(in_canonical_order(std::move(answer), context.session.names));
  }
  return answers;
}

namespace {

std::string opposed_atom(const lang::Literal& literal, const Bindings& bindings,
                         const Context& context) {
  const lang::Names& names = context.session.names;
  std::string text{names.symbols.text(context.program[literal.pred].name)};
  for (size_t i = 0; i < literal.args.size(); ++i) {
    text += (i == 0 ? "(" : ", ") + lang::to_source(bindings[literal.args[i].var], names);
  }
  return literal.args.empty() ? text : text + ")";
}

}  // namespace

std::string instance_text(const lang::Rule& rule, const Bindings& bindings,
                          const Context& context) {
  const lang::Names& names = context.session.names;
  if (rule.origin == lang::RuleOrigin::Coherence) {
    return opposed_atom(rule.body[0], bindings, context);
  }
  std::string text;
  for (uint32_t v = 0; v < rule.variables.size(); ++v) {
    const lang::Variable& variable = rule.variables[v];
    if (variable.anonymous || variable.helper || !bindings.bound({v})) continue;
    text += fmt::format("{}{} = {}", text.empty() ? "" : ", ", names.symbols.text(variable.name),
                        lang::to_source(bindings[{v}], names));
  }
  return text;
}

std::string atom_text(lang::PredId pred, std::span<const Value> tuple, const Context& context) {
  std::string text = lang::predicate_name(context.program[pred], context.session.names);
  for (size_t i = 0; i < tuple.size(); ++i) {
    text += (i == 0 ? "(" : ", ") + lang::to_source(tuple[i], context.session.names);
  }
  return tuple.empty() ? text : text + ")";
}

void while_listing(const std::function<void()>& list) {
  try {
    list();
  } catch (LimitExceeded& limit) {
    limit.message += fmt::format(", while {}", kListing);
    if (!limit.help.empty()) limit.help += fmt::format("; {}", kListFewer);
    throw;
  } catch (MemoryExceeded& memory) {
    memory.shortage.doing = kListing;
    memory.shortage.advice = kListFewer;
    throw;
  }
}

std::optional<logic::Answer> answer_or_report(Context& context,
                                              const std::function<logic::Answer()>& evaluate) {
  lang::Session& session = context.session;
  try {
    logic::Answer answer = evaluate();
    const uint64_t before = context.preset != nullptr ? context.preset->valueless : 0;
    report_valueless(before + context.valueless.size(),
                     before > 0 ? context.preset->valueless_span : context.valueless_span, session);
    return answer;
  } catch (const LimitExceeded& limit) {
    session.diagnostics.report(Code::LimitReached, limit.span, limit.message).help(limit.help);
  } catch (const MemoryExceeded& memory) {
    logic::report_memory_shortage(memory.shortage, session);
  } catch (const std::bad_alloc&) {
    logic::report_memory_shortage({.doing = "worlds were looked for"}, session);
  }
  return std::nullopt;
}

}  // namespace xlog::oracle
