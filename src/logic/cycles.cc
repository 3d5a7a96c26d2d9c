// Cycles in the dependency graph, told to people: which predicates lead back to themselves, and
// through which literals.
#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <ranges>
#include <unordered_map>

#include "base/check.h"
#include "logic/components.h"

namespace xlog::logic {

using lang::HeadElement;
using lang::Literal;
using lang::LiteralKind;
using lang::Modal;
using lang::Program;
using lang::Rule;

std::string place_text(Span span, const SourceMap& sources) {
  if (span.empty() || sources.file_of(span) == nullptr) return "?";
  const Place place = sources.place(span);
  if (sources.file_of(span) == sources.files().front().get()) {
    return fmt::format("{}:{}", place.line, place.column);
  }
  return fmt::format("{}:{}:{}", place.file, place.line, place.column);
}

std::vector<CycleStep> shortest_path(const Program& program, const Analysis& analysis, PredId start,
                                     PredId goal) {
  if (start == goal) return {};
  const uint32_t component = analysis.component_of[start.index];
  std::unordered_map<uint32_t, CycleStep> reached_by;  // looked up only, never walked
  std::deque<PredId> queue{start};
  const auto reach = [&](PredId pred, const CycleStep& step) {
    if (pred == start || analysis.component_of[pred.index] != component) return;
    if (reached_by.emplace(pred.index, step).second) queue.push_back(pred);
  };
  while (!queue.empty() && !reached_by.contains(goal.index)) {
    const PredId pred = queue.front();
    queue.pop_front();
    for (const Edge& edge : edges_to(analysis.edges, pred)) {
      reach(edge.from, {pred, &edge, edge.rule});
    }
    for (const uint32_t index : program[pred].rules) {
      for (const HeadElement& element : program.rules[index].head) {
        reach(element.pred, {pred, nullptr, index});
      }
    }
  }
  XLOG_CHECK(reached_by.contains(goal.index), "predicates of one component must reach each other");

  std::vector<CycleStep> path;
  for (PredId pred = goal; pred != start; pred = path.back().pred) {
    path.push_back(reached_by.at(pred.index));
  }
  std::reverse(path.begin(), path.end());
  return path;
}

namespace {

// "not ", "know ", ... as the rule says it of the edge's source; nothing for a positive literal.
std::string prefix_of(const Program& program, const Edge& edge) {
  if (edge.kind == EdgeKind::Positive || edge.kind == EdgeKind::Aggregate) return "";
  std::string prefix;
  const auto look = [&](const Literal& literal, const Literal* in_aggregate) {
    if (!prefix.empty() || literal.pred != edge.from || in_aggregate != nullptr) return;
    if (literal.modal != Modal::None) {
      const bool positive = literal.modal == Modal::Know || literal.modal == Modal::Possible;
      if (positive != (edge.kind == EdgeKind::ModalPositive)) return;
      prefix = std::string(spelling(literal.modal)) + " ";
    } else if (edge.kind == EdgeKind::Negative && literal.nots > 0) {
      prefix = literal.nots == 1 ? "not " : "not not ";
    }
  };
  const Rule& rule = program.rules[edge.rule];
  for_each_predicate(rule.body, look);
  for (const HeadElement& element : rule.head) for_each_predicate(element.condition, look);
  return prefix;
}

constexpr size_t kShownSteps = 8;  // of a long cycle

// The predicates that follow `path`, each as its step mentions it.
std::string spell_path(const Program& program, const std::vector<CycleStep>& path, PredId goal,
                       const lang::Names& names) {
  std::string text;
  for (size_t i = 0; i < path.size(); ++i) {
    if (i + 1 == kShownSteps && path.size() > kShownSteps) {
      text += " <- ...";
      i = path.size() - 1;
    }
    const PredId next = i + 1 < path.size() ? path[i + 1].pred : goal;
    text += path[i].edge != nullptr ? " <- " + prefix_of(program, *path[i].edge) : " ; ";
    text += predicate_name(program[next], names);
  }
  return text;
}

}  // namespace

std::string spell_cycle(const Program& program, const Analysis& analysis, const Edge& edge,
                        const lang::Names& names) {
  const std::vector<CycleStep> path = shortest_path(program, analysis, edge.from, edge.to);
  return predicate_name(program[edge.to], names) + " <- " + prefix_of(program, edge) +
         predicate_name(program[edge.from], names) + spell_path(program, path, edge.to, names);
}

namespace {

struct CycleReport {
  const Program& program;
  const Analysis& analysis;
  lang::Session& session;

  bool in_one_component(PredId a, PredId b) const {
    return analysis.component_of[a.index] == analysis.component_of[b.index];
  }

  // `whole` is the aggregate, findall or maplist; null when the head of the rule aggregates.
  void report(const Rule& rule, PredId head, const Literal& literal, const Literal* whole) {
    const lang::Names& names = session.names;
    const std::string head_name = predicate_name(program[head], names);
    const std::string input_name = predicate_name(program[literal.pred], names);
    const bool meta = whole != nullptr && whole->kind == LiteralKind::Builtin;
    const std::vector<CycleStep> path = shortest_path(program, analysis, literal.pred, head);

    const std::string cycle =
        head_name + " <- " + input_name + spell_path(program, path, head, names);
    const std::string what =
        meta               ? fmt::format("`{}` collects", builtin_info(whole->builtin).spelling)
        : whole != nullptr ? fmt::format("`{}` aggregates", spelling(whole->aggregate))
                           : fmt::format("the head `{}` aggregates", head_name);
    const std::string why =
        literal.pred == head
            ? fmt::format("{} `{}` inside its own definition: {}", what, input_name, cycle)
            : fmt::format("{} `{}`, which depends on `{}`: {}", what, input_name, head_name, cycle);
    Diagnostic& diagnostic =
        session.diagnostics.report(meta ? Code::MetaInCycle : Code::AggregateInCycle,
                                   whole != nullptr ? whole->span : rule.head_span, why);
    diagnostic.label(literal.span, fmt::format("`{}` must be complete here", input_name));
    for (const CycleStep& step : path | std::views::take(kShownSteps)) {
      const std::string from = predicate_name(program[step.pred], names);
      if (step.edge != nullptr) {
        diagnostic.label(step.edge->span,
                         fmt::format("`{}` depends on `{}`", from,
                                     predicate_name(program[step.edge->from], names)));
      } else {
        diagnostic.label(program.rules[step.rule].head_span,
                         fmt::format("`{}` shares this head", from));
      }
    }
    diagnostic.help(
        meta ? fmt::format("collect a predicate that does not depend on `{}`", head_name)
             : fmt::format("compute `{}` first and aggregate in a predicate above it", input_name));
  }

  void check(const Rule& rule, PredId head, const std::vector<Literal>& body) {
    const Literal* reported =
        nullptr;  // one report for an aggregate, however many cycles it closes
    for_each_predicate(body, [&](const Literal& literal, const Literal* in_aggregate) {
      const bool folds = !rule.aggregates.empty() && !analysis.best[head.index];
      const bool complete = in_aggregate != nullptr || folds;
      if (!complete || !in_one_component(literal.pred, head)) return;
      const Literal* whole = in_aggregate != nullptr ? in_aggregate : &literal;
      if (whole == reported || session.diagnostics.full()) return;
      reported = whole;
      report(rule, head, literal, in_aggregate);
    });
  }
};

}  // namespace

void report_aggregate_cycles(const Program& program, const Analysis& analysis,
                             lang::Session& session) {
  CycleReport cycles{program, analysis, session};
  for (const Rule& rule : program.rules) {
    if (rule.head.empty()) continue;
    // All heads of a rule share a component, so the first one stands for them.
    cycles.check(rule, rule.head[0].pred, rule.body);
    for (const HeadElement& element : rule.head)
      cycles.check(rule, element.pred, element.condition);
  }
}

}  // namespace xlog::logic
