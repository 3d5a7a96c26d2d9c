// Ground facts go into the columns of their predicate. Whole tables of the parser are moved; facts
// that it left as rules (arithmetic, intervals, lists, compound terms) are folded and appended.
#include <fmt/format.h>

#include <algorithm>

#include "lang/fold.h"
#include "lang/lower.h"
#include "lang/rule_lowering.h"

namespace xlog::lang {

using ast::Expr;
using ast::ExprKind;

FactTable& facts_of(Lowering& low, PredId pred) {
  Predicate& predicate = low.program[pred];
  if (!predicate.facts) {
    predicate.facts = std::make_unique<FactTable>();
    predicate.facts->name = predicate.name;
    predicate.facts->strong_negation = predicate.strong_negation;
    predicate.facts->arity = predicate.arity;
    predicate.facts->columns.resize(predicate.arity);
  }
  return *predicate.facts;
}

// ---- Tables of the parser ----

namespace {

void append_table(FactTable& to, const FactTable& from) {
  for (const FactTable::Run& run : from.runs)
    to.runs.push_back({to.rows + run.first_row, run.source_begin});
  for (size_t i = 0; i < to.columns.size(); ++i) {
    for (size_t row = 0; row < from.rows; ++row) to.columns[i].append(from.columns[i].at(row));
  }
  to.rows += from.rows;
}

}  // namespace

void merge_fact_tables(Lowering& low, uint32_t unit) {
  Module& module = low.modules.units[unit].module;
  std::vector<bool> merged(module.facts.size(), false);
  for (const ast::Statement& statement : module.statements) {
    const auto* run = std::get_if<ast::FactRun>(&statement.node);
    if (run == nullptr || merged[run->table]) continue;
    merged[run->table] = true;
    FactTable& table = module.facts[run->table];
    const PredId pred = low.find_predicate({table.name, table.arity, table.strong_negation});
    if (!pred.valid()) continue;  // a reserved name, reported
    Predicate& predicate = low.program[pred];
    if (predicate.facts) {
      append_table(*predicate.facts, table);
    } else {
      table.name = predicate.name;
      predicate.facts = std::make_unique<FactTable>(std::move(table));
    }
  }
}

// ---- Single facts ----

namespace {

constexpr uint64_t kMaxRowsOfOneFact = 10'000'000;

// `cast` gives a value of a certain type, which a literal cannot say, and an aggregate has goals:
// such a fact is a rule.
bool needs_rule(const Expr& e, const Interner& names) {
  if (e.kind == ExprKind::Aggregate) return true;
  if (e.kind == ExprKind::Name && names.text(e.name) == "cast" && is_arithmetic(e, names))
    return true;
  return std::any_of(e.args.begin(), e.args.end(),
                     [&](const Expr& arg) { return needs_rule(arg, names); });
}

// The values of one argument: a constant, or the integers from lo to hi.
struct Choices {
  Value value;
  int64_t lo = 0;
  uint64_t count = 1;
  bool interval = false;

  Value at(uint64_t i) const {
    return interval ? Value::i64(static_cast<int64_t>(static_cast<uint64_t>(lo) + i)) : value;
  }
};

std::optional<int64_t> interval_end(Lowering& low, const Expr& e) {
  const std::optional<Value> value = fold(e, low.session.names, low.session.diagnostics);
  if (!value) return std::nullopt;
  if (value->kind != TypeKind::I64) {
    low.report(Code::InvalidInterval, e.span, "the ends of an interval are integers");
    return std::nullopt;
  }
  return value->as_signed();
}

std::optional<Choices> choices_of(Lowering& low, const Expr& e) {
  Choices choices;
  if (e.kind != ExprKind::Interval) {
    const std::optional<Value> value = fold(e, low.session.names, low.session.diagnostics);
    if (!value) return std::nullopt;
    choices.value = *value;
    return choices;
  }
  const std::optional<int64_t> lo = interval_end(low, e.args[0]);
  const std::optional<int64_t> hi = interval_end(low, e.args[1]);
  if (!lo || !hi) return std::nullopt;
  choices.interval = true;
  choices.lo = *lo;
  choices.count = 0;
  if (*lo <= *hi) {
    // hi - lo + 1 wraps to 0 only for the interval of all integers, which is past the limit in any
    // case.
    const uint64_t steps = static_cast<uint64_t>(*hi) - static_cast<uint64_t>(*lo);
    choices.count = std::min(steps, kMaxRowsOfOneFact) + 1;
  }
  return choices;
}

void append_rows(FactTable& table, const std::vector<Choices>& columns, uint64_t rows,
                 Span statement) {
  table.runs.push_back({table.rows, statement.begin});
  // The last column changes fastest: each value of a column repeats for every combination of those
  // behind it.
  uint64_t repeat = rows;
  for (size_t c = 0; c < columns.size(); ++c) {
    repeat /= columns[c].count;
    for (uint64_t row = 0; row < rows; ++row) {
      table.columns[c].append(columns[c].at((row / repeat) % columns[c].count));
    }
  }
  table.rows += rows;
}

void lower_fact_as_rule(Lowering& low, const ast::Atom& atom, PredId pred, Span statement) {
  RuleLowering out(low, statement);
  HeadElement element;
  element.pred = pred;
  element.span = atom.span;
  element.args = out.head_arguments(atom);
  out.rule.head_span = atom.span;
  out.rule.head.push_back(std::move(element));
  if (!out.failed) low.add_rule(std::move(out.rule));
}

}  // namespace

void lower_fact(Lowering& low, const ast::Atom& atom, Span statement) {
  const PredId pred = low.find_predicate(key_of(atom));
  if (!pred.valid()) return;  // a reserved name, reported
  for (const Expr& arg : atom.args) {
    if (needs_rule(arg, low.symbols())) return lower_fact_as_rule(low, atom, pred, statement);
  }
  std::vector<Choices> columns;
  uint64_t rows = 1;
  for (const Expr& arg : atom.args) {
    const std::optional<Choices> choices = choices_of(low, arg);
    if (!choices) return;
    rows = std::min(rows * choices->count, kMaxRowsOfOneFact + 1);
    columns.push_back(*choices);
  }
  if (rows == 0) return;
  if (rows > kMaxRowsOfOneFact) {
    low.report(Code::LimitReached, statement,
               fmt::format("this fact stands for more than {} rows", kMaxRowsOfOneFact))
        .help("write a rule that generates them, with the interval in its body");
    return;
  }
  append_rows(facts_of(low, pred), columns, rows, statement);
}

// ---- Ground terms ----

Term constant_term(const Value& value, const Names& names, Span span) {
  Term term;
  term.span = span;
  std::span<const Value> parts;
  if (value.kind == TypeKind::List) {
    term.kind = TermKind::List;
    parts = names.terms.elements(value);
  } else if (value.kind == TypeKind::Compound) {
    term.kind = TermKind::Compound;
    term.functor = names.terms.functor(value);
    parts = names.terms.args(value);
  } else {
    term.value = value;
  }
  for (const Value& part : parts) term.args.push_back(constant_term(part, names, span));
  return term;
}

std::optional<std::vector<Term>> ground_terms(Lowering& low, const std::vector<Expr>& args) {
  std::vector<Term> terms;
  for (const Expr& arg : args) {
    const std::optional<Value> value = fold(arg, low.session.names, low.session.diagnostics);
    if (!value) return std::nullopt;
    terms.push_back(constant_term(*value, low.session.names, arg.span));
  }
  return terms;
}

}  // namespace xlog::lang
