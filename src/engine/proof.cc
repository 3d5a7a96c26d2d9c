#include "engine/proof.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/check.h"
#include "engine/literal_text.h"
#include "engine/proof_search.h"
#include "logic/binding.h"
#include "logic/components.h"
#include "logic/memory_report.h"
#include "oracle/instantiate.h"

namespace xlog::engine {

using lang::Literal;
using lang::LiteralKind;
using lang::PredId;
using lang::Value;

namespace {

constexpr uint64_t kMostVisited = 10'000'000;
constexpr size_t kShownRows = 3;  // of an aggregate

std::vector<std::optional<Value>> values_of(const Bindings& bindings, size_t count) {
  std::vector<std::optional<Value>> values(count);
  for (uint32_t v = 0; v < count; ++v) {
    if (bindings.bound({v})) values[v] = bindings[{v}];
  }
  return values;
}

class Explainer {
 public:
  Explainer(const lang::Program& program, const logic::Analysis& analysis, const Settled& settled,
            lang::Session& session, const ProofOptions& options)
      : program_(program),
        session_(session),
        options_(options),
        goal_(*program.goal),
        budget_({.rows = options.max_rows > 0 ? options.max_rows : kMostVisited,
                 .seconds = options.timeout_seconds,
                 .memory = options.memory_limit,
                 .start = options.start}),
        tables_(program, settled, budget_),
        instances_(program, analysis, tables_, session.names, budget_) {}

  std::optional<Explanation> run() {
    Explanation explanation;
    for (uint32_t row : matching_rows(explanation.matches)) {
      ProofSearch search(program_, tables_, instances_, session_.names, budget_);
      const uint32_t root = search.run(goal_.pred, row);
      if (root == ProofSearch::kNone) break;
      explanation.proofs.push_back(build(search, root));
    }
    if (explanation.matches == 0) {
      explanation.has_facts = tables_.facts(goal_.pred).rows() > 0;
      for (uint32_t rule : program_[goal_.pred].rules) explanation.failed.push_back(try_rule(rule));
    }
    if (!budget_.stopped()) return explanation;
    report(budget_.error());
    return std::nullopt;
  }

 private:
  void report(const Error& error) {
    if (error.kind == ErrorKind::MemoryLimit || error.kind == ErrorKind::OutOfMemory) {
      return logic::report_memory_shortage(
          {.limit = error.kind == ErrorKind::MemoryLimit ? options_.memory_limit : 0,
           .doing = "a proof was searched",
           .details = error.message,
           .advice = "ask about a fact that depends on fewer rows"},
          session_);
    }
    const bool is_limit = error.kind == ErrorKind::Limit;
    session_.diagnostics
        .report(is_limit ? Code::LimitReached : Code::DeviceFailed, {}, error.message)
        .help(error.help);
  }

  // ---- the goal ----

  // The first rows that fit, in canonical order.
  std::vector<uint32_t> matching_rows(uint64_t& matches) {
    Table& table = tables_.rows(goal_.pred);
    std::vector<uint32_t> columns;
    std::vector<Value> key;
    for (uint32_t c = 0; c < goal_.args.size(); ++c) {
      if (goal_.args[c].kind != lang::TermKind::Constant) continue;
      columns.push_back(c);
      key.push_back(goal_.args[c].value);
    }
    std::vector<uint32_t> found;
    Bindings bindings(goal_.variables.size());
    const auto try_row = [&](uint32_t row) {
      const size_t mark = bindings.mark();
      bool fits = true;
      for (uint32_t c = 0; c < goal_.args.size() && fits; ++c) {
        fits = instances_.match(goal_.args[c], table.at(row, c), bindings);
      }
      if (fits) found.push_back(row);
      bindings.undo(mark);
    };
    if (columns.empty()) {
      for (uint32_t row = 0; row < table.rows() && !budget_.tick(); ++row) try_row(row);
    } else {
      for (uint32_t row : table.candidates(columns, key)) try_row(row);
    }
    matches = found.size();
    const size_t shown = std::min<uint64_t>(found.size(), options_.limit);
    std::ranges::partial_sort(found, found.begin() + static_cast<ptrdiff_t>(shown),
                              [&](uint32_t a, uint32_t b) {
                                return compare_rows(table.row(a), table.row(b), session_.names) < 0;
                              });
    found.resize(shown);
    return found;
  }

  // ---- proofs ----

  Proof build(const ProofSearch& search, uint32_t root) {
    Proof proof;
    std::map<uint32_t, uint32_t> node_of;  // by fact of the search
    std::vector<uint32_t> waiting;         // facts whose node is not finished
    const auto node = [&](uint32_t fact) {
      const auto [it, is_new] =
          node_of.try_emplace(fact, static_cast<uint32_t>(proof.nodes.size()));
      if (is_new) {
        proof.nodes.push_back(fact_node(search.fact(fact)));
        if (proof.nodes.back().kind == ProofKind::Derived) waiting.push_back(fact);
      }
      return it->second;
    };
    node(root);
    for (size_t next = 0; next < waiting.size(); ++next) {
      const ProofSearch::Choice choice = search.choose(waiting[next]);
      const uint32_t id = node_of[waiting[next]];
      const lang::Rule& rule = program_.rules[choice.rule];
      Bindings bindings = instance(search, choice, proof.nodes[id].values);
      std::vector<uint32_t> children;
      if (!rule.aggregates.empty()) {
        children.push_back(static_cast<uint32_t>(proof.nodes.size()));
        proof.nodes.push_back(head_aggregate(choice.rule, bindings));
      }
      for (uint32_t i = 0; rule.aggregates.empty() && i < rule.body.size(); ++i) {
        if (choice.facts[i] != ProofSearch::kNone) {
          children.push_back(node(choice.facts[i]));
          continue;
        }
        children.push_back(static_cast<uint32_t>(proof.nodes.size()));
        proof.nodes.push_back(leaf(choice.rule, i, bindings));
      }
      ProofNode& derived = proof.nodes[id];
      derived.rule = choice.rule;
      derived.bindings = values_of(bindings, rule.variables.size());
      derived.children = std::move(children);
    }
    return proof;
  }

  ProofNode fact_node(const ProofSearch::Fact& fact) {
    ProofNode node;
    node.pred = fact.pred;
    node.values = tables_.rows(fact.pred).row(fact.row);
    node.text = fact_text(program_[fact.pred], node.values, session_.names);
    node.height = fact.rank;
    if (fact.rank > 0) return node;
    const std::optional<uint32_t> row = tables_.facts(fact.pred).find(node.values);
    node.span = lang::fact_span(*program_[fact.pred].facts, *row, session_.sources);
    node.kind = node.span.empty() ? ProofKind::Input : ProofKind::Fact;
    return node;
  }

  // The variables of a chosen instance. Where its rows leave several (an element of a list), the
  // least in canonical order.
  Bindings instance(const ProofSearch& search, const ProofSearch::Choice& choice,
                    const std::vector<Value>& head) {
    const lang::Rule& rule = program_.rules[choice.rule];
    Bindings bindings(rule.variables.size());
    const std::vector<std::optional<Value>> known(head.begin(), head.end());
    const bool fits = instances_.match_head(choice.rule, known, bindings);
    XLOG_CHECK(fits, "the head of a chosen instance");
    if (!rule.aggregates.empty()) return bindings;
    Instances::RowNumbers fixed(rule.body.size(), Instances::kNoRow);
    for (size_t i = 0; i < fixed.size(); ++i) {
      if (choice.facts[i] != ProofSearch::kNone) fixed[i] = search.fact(choice.facts[i]).row;
    }
    std::optional<Bindings> best;
    instances_.solve(
        choice.rule, bindings,
        [&](const Bindings& found, const Instances::RowNumbers&) {
          if (!best || is_before(found, *best, rule)) best = found;
        },
        &fixed);
    return best ? *best : bindings;  // without one the time is over
  }

  bool is_before(const Bindings& a, const Bindings& b, const lang::Rule& rule) const {
    for (uint32_t v = 0; v < rule.variables.size(); ++v) {
      if (!a.bound({v}) || !b.bound({v})) continue;
      const auto order = lang::compare(a[{v}], b[{v}], session_.names);
      if (order != 0) return order < 0;
    }
    return false;
  }

  ProofNode leaf(uint32_t r, uint32_t index, Bindings& bindings) {
    const lang::Rule& rule = program_.rules[r];
    const Literal& literal = rule.body[index];
    ProofNode node;
    node.text = literal_text(literal, rule, bindings, program_, session_.names);
    node.span = literal.span;
    switch (literal.kind) {
      case LiteralKind::Atom:
        node.kind = ProofKind::Absent;
        break;
      case LiteralKind::Compare:
        node.kind = ProofKind::Compare;
        break;
      case LiteralKind::Builtin:
      case LiteralKind::Aggregate:
        node.kind = ProofKind::Builtin;
        if (logic::has_braces(literal)) fold_of(r, index, bindings, node);
        break;
    }
    return node;
  }

  // ---- aggregates ----

  // The first solutions in canonical order of the rows that they use.
  class FirstSolutions {
   public:
    FirstSolutions(Explainer& explainer, const lang::Rule& rule, const std::vector<Literal>& body)
        : explainer_(explainer),
          rule_(rule),
          body_(body),
          has_rows_(std::ranges::any_of(body, wants_row)) {}

    void add(const Bindings& bindings, const Instances::RowNumbers& rows) {
      Solution solution;
      for (size_t i = 0; i < body_.size(); ++i) {
        if (rows[i] == Instances::kNoRow) continue;
        const std::vector<Value> row = explainer_.tables_.rows(body_[i].pred).row(rows[i]);
        solution.key.insert(solution.key.end(), row.begin(), row.end());
      }
      for (const auto& value : values_of(bindings, rule_.variables.size())) {
        if (value) solution.key.push_back(*value);
      }
      const lang::Names& names = explainer_.session_.names;
      const auto before = [&](const Solution& a, const Solution& b) {
        return compare_rows(a.key, b.key, names) < 0;
      };
      if (first_.size() == kShownRows && !before(solution, first_.back())) return;
      for (const Literal& literal : body_) {
        if (has_rows_ && !wants_row(literal)) continue;
        if (!solution.text.empty()) solution.text += ", ";
        solution.text += literal_text(literal, rule_, bindings, explainer_.program_, names);
      }
      first_.insert(std::ranges::upper_bound(first_, solution, before), std::move(solution));
      if (first_.size() > kShownRows) first_.pop_back();
    }

    std::vector<std::string> texts() const {
      std::vector<std::string> texts;
      for (const Solution& solution : first_) texts.push_back(solution.text);
      return texts;
    }

   private:
    struct Solution {
      std::vector<Value> key;
      std::string text;
    };
    Explainer& explainer_;
    const lang::Rule& rule_;
    const std::vector<Literal>& body_;
    bool has_rows_;  // then they say enough
    std::vector<Solution> first_;
  };

  void fold_of(uint32_t r, uint32_t index, Bindings& bindings, ProofNode& node) {
    const lang::Rule& rule = program_.rules[r];
    const Literal& literal = rule.body[index];
    FirstSolutions first(*this, rule, literal.body);
    const lang::Term* collected = logic::collected_term(literal);
    instances_.solve_inside(r, index, bindings,
                            [&](const Bindings& found, const Instances::RowNumbers& rows) {
                              if (collected != nullptr && !instances_.value_of(*collected, found)) {
                                return;
                              }
                              ++node.rows;
                              first.add(found, rows);
                            });
    const bool is_aggregate = literal.kind == LiteralKind::Aggregate;
    const lang::Term& result = is_aggregate ? literal.lhs : literal.args[1];
    const std::optional<Value> value = instances_.value_of(result, bindings);
    node.kind = ProofKind::Aggregate;
    node.result = value ? lang::to_source(*value, session_.names) : "";
    node.some = first.texts();
  }

  ProofNode head_aggregate(uint32_t r, Bindings& bindings) {
    const lang::Rule& rule = program_.rules[r];
    FirstSolutions first(*this, rule, rule.body);
    const HeadFold fold = fold_head(
        program_, r, instances_, bindings, session_.names,
        [&](const Bindings& found, const Instances::RowNumbers& rows) { first.add(found, rows); });
    ProofNode node;
    node.kind = ProofKind::Aggregate;
    node.rows = fold.rows;
    node.some = first.texts();
    for (size_t i = 0; i < rule.aggregates.size(); ++i) {
      const lang::HeadAggregate& aggregate = rule.aggregates[i];
      if (i > 0) node.text += ", ";
      node.text += aggregate_text(aggregate, rule, program_, session_.names);
      if (!fold.result) continue;  // the time is over
      const std::string value = lang::to_source((*fold.result)[i], session_.names);
      node.text += " = " + value;
      node.result += (i > 0 ? ", " : "") + value;
    }
    return node;
  }

  // ---- why not ----

  FailedRule try_rule(uint32_t r) {
    const lang::Rule& rule = program_.rules[r];
    FailedRule failed;
    failed.rule = r;
    std::vector<std::optional<Value>> known;
    for (const lang::Term& arg : goal_.args) {
      known.push_back(arg.kind == lang::TermKind::Constant ? std::optional(arg.value)
                                                           : std::nullopt);
    }
    Bindings bindings(rule.variables.size());
    failed.head_fits = instances_.match_head(r, known, bindings);
    if (!failed.head_fits) return failed;
    size_t furthest = 0;
    std::optional<Bindings> best;
    const std::vector<uint32_t> order = instances_.solve_partly(
        r, bindings, [&](size_t count, const Bindings& found, const Instances::RowNumbers&) {
          if (best && (count < furthest || (count == furthest && !is_before(found, *best, rule)))) {
            return;
          }
          furthest = count;
          best = found;
        });
    if (!best) return failed;  // the time is over
    const auto text = [&](size_t i) {
      return literal_text(rule.body[order[i]], rule, *best, program_, session_.names);
    };
    for (size_t i = 0; i < furthest; ++i) failed.holds.push_back(text(i));
    if (furthest < order.size()) {
      failed.fails = failure_text(rule.body[order[furthest]], text(furthest));
    } else if (!rule.aggregates.empty()) {
      failed.holds.clear();
      const ProofNode fold = head_aggregate(r, bindings);
      failed.fails = fmt::format("{} over {}", fold.text, counted_rows(fold.rows));
    } else {
      failed.fails = fmt::format("no instance of the head fits {}", goal_.text);
    }
    return failed;
  }

  const lang::Program& program_;
  lang::Session& session_;
  const ProofOptions& options_;
  const lang::Goal& goal_;
  Budget budget_;
  Tables tables_;
  Instances instances_;
};

// The predicate at or below `pred` that is not determined for a reason of its own.
PredId undetermined_cause(const lang::Program& program, const logic::Analysis& analysis,
                          const logic::AnswerOptions& options, PredId pred) {
  std::vector<bool> seen(program.predicates.size(), false);
  for (bool deeper = true; deeper;) {
    deeper = false;
    seen[pred.index] = true;
    const uint32_t here = analysis.component_of[pred.index];
    for (PredId inside : analysis.components[here].predicates) {
      for (const logic::Edge& edge : logic::edges_to(analysis.edges, inside)) {
        const uint32_t below = analysis.component_of[edge.from.index];
        if (below == here || seen[edge.from.index]) continue;
        if (oracle::is_settled(analysis.components[below], options)) continue;
        pred = edge.from;
        deeper = true;
        break;
      }
      if (deeper) break;
    }
  }
  return pred;
}

}  // namespace

std::string_view spelling(ProofKind kind) {
  switch (kind) {
    case ProofKind::Derived:
      return "derived";
    case ProofKind::Fact:
      return "fact";
    case ProofKind::Input:
      return "input";
    case ProofKind::Absent:
      return "absent";
    case ProofKind::Compare:
      return "compare";
    case ProofKind::Builtin:
      return "builtin";
    case ProofKind::Aggregate:
      return "aggregate";
  }
  XLOG_UNREACHABLE("all kinds are covered");
}

std::optional<Explanation> explain_goal(const lang::Program& program,
                                        const logic::Analysis& analysis, const Settled& settled,
                                        lang::Session& session, const ProofOptions& options) {
  return Explainer(program, analysis, settled, session, options).run();
}

bool is_settled(const lang::Program& program, const logic::Analysis& analysis,
                const logic::AnswerOptions& options) {
  const uint32_t component = analysis.component_of[program.goal->pred.index];
  return oracle::is_settled(analysis.components[component], options);
}

void report_undetermined(const lang::Program& program, const logic::Analysis& analysis,
                         const logic::AnswerOptions& options, lang::Session& session) {
  const lang::Goal& goal = *program.goal;
  Diagnostic& diagnostic = session.diagnostics.report(
      Code::NotSupportedByEngine, goal.span,
      fmt::format("`{}` is not determined, so its facts have no proof",
                  lang::predicate_signature(program[goal.pred], session.names)));
  const PredId cause = undetermined_cause(program, analysis, options, goal.pred);
  const std::string& reason = analysis.components[analysis.component_of[cause.index]].reason;
  diagnostic.note(cause == goal.pred
                      ? reason
                      : fmt::format("it depends on {}: {}",
                                    lang::predicate_signature(program[cause], session.names),
                                    reason));
  diagnostic.help(
      "proofs are for predicates with one outcome: no choice, disjunction or cycle through "
      "negation at or below them; `xlog explain FILE --stage components` shows which are");
}

}  // namespace xlog::engine
