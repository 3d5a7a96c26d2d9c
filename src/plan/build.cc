#include "plan/build.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

#include "base/check.h"
#include "plan/multiway.h"

namespace xlog::plan {

using lang::Literal;
using lang::LiteralKind;
using lang::Modal;
using lang::Rule;
using lang::TermKind;
using lang::TypeKind;

namespace {

// A pipeline becomes one kernel: past this it is too large for a compiler.
constexpr size_t kMostLiterals = 64;
constexpr size_t kMostVariables = 256;
constexpr size_t kMostColumns = 64;

// Over predicates that hold in one way in all worlds, `know p` and `possible p` say what p says.
bool is_positive(const Literal& literal) {
  switch (literal.modal) {
    case Modal::None:
      return literal.nots == 0;
    case Modal::Know:
    case Modal::Possible:
      return true;
    default:
      return false;
  }
}

bool is_double_negation(const Literal& literal) {
  return literal.nots == 2 || literal.modal == Modal::NotKnowNot ||
         literal.modal == Modal::NotPossibleNot;
}

// ---- what a pipeline can hold ----

bool is_ordered(lang::CompareOp op) {
  return op != lang::CompareOp::Eq && op != lang::CompareOp::Ne;
}

// A device has numbers for symbols and terms, in the order in which they were met.
std::optional<std::string> why_not_compared(lang::CompareOp op, const lang::Type& type) {
  if (!is_ordered(op) || lang::is_numeric(type.kind) || type.kind == TypeKind::Bool) {
    return std::nullopt;
  }
  return fmt::format("an order of values of type `{}`", lang::to_string(type));
}

std::optional<std::string> why_not(const Term& term) {
  switch (term.kind) {
    case TermKind::Variable:
    case TermKind::Constant:
      if (term.type.kind == TypeKind::Term) return "a value of type `term`";
      return std::nullopt;
    case TermKind::List:
      return "a list pattern";
    case TermKind::Compound:
      return "a pattern of a compound term";
    case TermKind::Arith:
      break;
  }
  if (term.op == lang::ArithOp::If) {
    if (auto reason = why_not_compared(term.compare, term.args[0].type)) return reason;
  }
  if (term.op == lang::ArithOp::Pow) return "pow, which works in the host's floats";
  if (!lang::is_numeric(term.type.kind) && term.type.kind != TypeKind::Bool &&
      term.op != lang::ArithOp::If) {
    return fmt::format("arithmetic on `{}`", lang::to_string(term.type));
  }
  if (term.op == lang::ArithOp::Cast && term.args[0].type.kind == TypeKind::Term) {
    return "a value of type `term`";
  }
  for (const Term& arg : term.args) {
    if (auto reason = why_not(arg)) return reason;
  }
  return std::nullopt;
}

std::optional<std::string> why_not(const Literal& literal) {
  switch (literal.kind) {
    case LiteralKind::Builtin:
      if (literal.builtin == lang::BuiltinId::Between) return std::nullopt;
      return fmt::format("the built-in `{}`", lang::builtin_info(literal.builtin).spelling);
    case LiteralKind::Aggregate:
      return "an aggregate in the body";
    case LiteralKind::Atom:
      for (const Term& arg : literal.args) {
        if (auto reason = why_not(arg)) return reason;
      }
      return std::nullopt;
    case LiteralKind::Compare:
      break;
  }
  if (auto reason = why_not(literal.lhs)) return reason;
  if (auto reason = why_not(literal.rhs)) return reason;
  return why_not_compared(literal.op, literal.lhs.type);
}

// ---- building ----

// Takes the literals of a body one by one.
class PipelineBuilder {
 public:
  PipelineBuilder(const lang::Program& program, uint32_t rule, const VersionOptions& options,
                  const StatisticsOf& statistics)
      : program_(program),
        rule_(program.rules[rule]),
        options_(options),
        statistics_(statistics),
        bound_(rule_.variables.size(), false),
        taken_(rule_.body.size(), false) {
    pipeline_.rule = rule;
  }

  Pipeline run() {
    if (options_.delta) take(*options_.delta);
    while (std::ranges::find(taken_, false) != taken_.end()) take(next());
    form_meets(pipeline_, rule_, estimates_);
    return std::move(pipeline_);
  }

 private:
  bool is_bound(const Term& term) const {
    std::vector<VarId> variables;
    lang::collect_variables(term, variables);
    return std::ranges::all_of(variables, [&](VarId v) { return bound_[v.index]; });
  }
  bool all_bound(std::span<const Term> terms) const {
    return std::ranges::all_of(terms, [&](const Term& term) { return is_bound(term); });
  }
  bool is_free_variable(const Term& term) const {
    return term.kind == TermKind::Variable && !bound_[term.var.index];
  }
  bool is_ignored(const Term& term) const {
    return term.kind == TermKind::Variable && rule_.variables[term.var.index].anonymous;
  }

  // `X = 0.0` holds for -0.0 too: an equation does not choose the bits of a float that an atom
  // brings.
  bool is_brought(const Term& variable) const {
    if (!lang::is_float(variable.type.kind)) return false;
    for (size_t i = 0; i < rule_.body.size(); ++i) {
      const Literal& literal = rule_.body[i];
      if (taken_[i] || literal.kind != LiteralKind::Atom || !is_positive(literal)) continue;
      for (const Term& arg : literal.args) {
        if (arg.kind == TermKind::Variable && arg.var == variable.var) return true;
      }
    }
    return false;
  }
  bool is_computed(const Term& variable, const Term& by) const {
    return is_free_variable(variable) && is_bound(by) && !is_brought(variable);
  }

  bool bounds_are_known(const Literal& interval) const {
    return is_bound(interval.args[0]) && is_bound(interval.args[1]);
  }

  bool only_tests(const Literal& literal) const {
    if (literal.kind == LiteralKind::Compare) {
      return (is_bound(literal.lhs) && is_bound(literal.rhs)) ||
             (literal.op == lang::CompareOp::Eq &&
              (is_computed(literal.lhs, literal.rhs) || is_computed(literal.rhs, literal.lhs)));
    }
    if (literal.kind == LiteralKind::Builtin) {
      return all_bound(literal.args) ||
             (literal.nots > 0 && bounds_are_known(literal) && is_ignored(literal.args[2]));
    }
    return std::ranges::all_of(literal.args,
                               [&](const Term& arg) { return is_ignored(arg) || is_bound(arg); });
  }

  // The next literal: what only tests or computes first, then the atom that multiplies the
  // bindings least, in the order of writing where that is equal.
  uint32_t next() const {
    constexpr double kNotFirst = 1e18;
    std::optional<uint32_t> best;
    double least = std::numeric_limits<double>::infinity();
    for (uint32_t i = 0; i < rule_.body.size(); ++i) {
      if (taken_[i]) continue;
      const Literal& literal = rule_.body[i];
      if (only_tests(literal)) return i;
      const bool finds = literal.kind == LiteralKind::Builtin
                             ? literal.nots == 0 && bounds_are_known(literal)
                             : literal.kind == LiteralKind::Atom && is_positive(literal);
      if (!finds) continue;
      const double rows = fan_out(literal) + (would_drive_alone(literal) ? kNotFirst : 0);
      if (!best || rows < least) {
        best = i;
        least = rows;
      }
    }
    XLOG_CHECK(best.has_value(), "a safe body has a literal that can be evaluated");
    return *best;
  }

  // The row of a constant in a helper, such as the rank of a symbol: as the driver it would leave
  // all other rows to one instance.
  bool would_drive_alone(const Literal& literal) const {
    if (literal.kind != LiteralKind::Atom || !program_[literal.pred].helper) return false;
    return std::ranges::none_of(pipeline_.steps, can_drive) &&
           std::ranges::any_of(literal.args, [&](const Term& arg) { return is_bound(arg); });
  }

  // How many rows an average binding finds. A relation that grows has few rows when its rules are
  // planned first: to walk it is never cheap, and a lookup of it is taken for a short list.
  double fan_out(const Literal& literal) const {
    constexpr double kShortList = 8;
    if (literal.kind == LiteralKind::Builtin) return expected_size(range(literal));
    const Statistics statistics = statistics_(literal.pred);
    const bool grows = options_.delta && options_.grows(literal.pred);
    double rows = static_cast<double>(statistics.rows);
    size_t keys = 0;
    double combinations = 1;
    for (size_t c = 0; c < literal.args.size(); ++c) {
      if (is_ignored(literal.args[c]) || !is_bound(literal.args[c])) continue;
      ++keys;
      if (!statistics.distinct.empty()) {
        combinations *= static_cast<double>(std::max<uint64_t>(1, statistics.distinct[c]));
      }
    }
    if (keys == 0) return grows ? rows + kEndless : rows;
    if (grows) return std::max(rows / std::max(combinations, 1.0), kShortList);
    if (statistics.distinct.empty()) {
      return std::pow(rows,
                      1 - static_cast<double>(keys) / static_cast<double>(literal.args.size()));
    }
    return rows / std::min(combinations, std::max(rows, 1.0));
  }

  void take(uint32_t index) {
    taken_[index] = true;
    const Literal& literal = rule_.body[index];
    if (literal.kind == LiteralKind::Builtin) return interval(literal);
    Step step;
    step.span = literal.span;
    const double rows = literal.kind == LiteralKind::Atom ? fan_out(literal) : 1;
    if (literal.kind == LiteralKind::Compare) {
      compare(literal, step);
    } else {
      atom(literal, index, step);
    }
    add(std::move(step), rows);
  }

  void add(Step step, double rows) {
    step.rows = rows;
    estimates_.push_back(rows);
    pipeline_.steps.push_back(std::move(step));
  }

  static Step range(const Literal& literal) {
    Step step;
    step.kind = StepKind::Range;
    step.span = literal.span;
    step.lhs = literal.args[0];
    step.rhs = literal.args[1];
    return step;
  }

  static Step filter(const Literal& literal, const Term& lhs, lang::CompareOp op, const Term& rhs) {
    Step step;
    step.span = literal.span;
    step.compare = op;
    step.lhs = lhs;
    step.rhs = rhs;
    return step;
  }

  void interval(const Literal& literal) {
    using lang::CompareOp;
    const Term& lo = literal.args[0];
    const Term& hi = literal.args[1];
    const Term& value = literal.args[2];
    if (is_free_variable(value) && literal.nots > 0) {
      return add(filter(literal, hi, CompareOp::Lt, lo), 1);  // `_`: it has no values
    }
    if (is_free_variable(value)) {
      Step step = range(literal);
      step.target = value.var;
      bound_[step.target.index] = true;
      const double values = expected_size(step);
      return add(std::move(step), values);
    }
    if (literal.nots > 0) {
      const Term yes = truth(true);
      const Term above = choice(hi, value, yes, truth(false));
      return add(filter(literal, choice(value, lo, yes, above), CompareOp::Eq, yes), 1);
    }
    add(filter(literal, lo, CompareOp::Le, value), 1);
    add(filter(literal, value, CompareOp::Le, hi), 1);
  }

  static Term truth(bool value) {
    Term term;
    term.value = lang::Value::boolean(value);
    term.type.kind = TypeKind::Bool;
    return term;
  }

  // if a < b then yes else no
  static Term choice(const Term& a, const Term& b, const Term& yes, const Term& no) {
    Term term;
    term.kind = TermKind::Arith;
    term.op = lang::ArithOp::If;
    term.compare = lang::CompareOp::Lt;
    term.type = yes.type;
    term.args = {a, b, yes, no};
    return term;
  }

  void compare(const Literal& literal, Step& step) {
    const bool binds_left = is_free_variable(literal.lhs);
    if (literal.op == lang::CompareOp::Eq && (binds_left || is_free_variable(literal.rhs))) {
      step.kind = StepKind::Let;
      step.target = binds_left ? literal.lhs.var : literal.rhs.var;
      step.lhs = binds_left ? literal.rhs : literal.lhs;
      bound_[step.target.index] = true;
      return;
    }
    step.kind = StepKind::Filter;
    step.compare = literal.op;
    step.lhs = literal.lhs;
    step.rhs = literal.rhs;
  }

  void atom(const Literal& literal, uint32_t index, Step& step) {
    step.pred = literal.pred;
    const bool positive = is_positive(literal);
    if (positive && options_.delta && options_.grows(literal.pred)) {
      step.part = index == *options_.delta  ? Part::New
                  : index < *options_.delta ? Part::All
                                            : Part::Old;
    }
    std::vector<VarId> fresh;
    for (const Term& arg : literal.args) {
      ColumnArg column;
      column.term = arg;
      if (is_ignored(arg)) {
        column.use = ColumnUse::Ignore;
      } else if (!is_free_variable(arg)) {
        column.use = ColumnUse::Key;
      } else if (std::ranges::find(fresh, arg.var) != fresh.end()) {
        column.use = ColumnUse::Same;
      } else {
        column.use = ColumnUse::Bind;
        fresh.push_back(arg.var);
      }
      step.columns.push_back(std::move(column));
    }
    for (VarId v : fresh) bound_[v.index] = true;
    if (!positive && !is_double_negation(literal)) {
      step.kind = StepKind::Absent;
    } else {
      // Rows that a `_` tells apart are one solution each only where somebody counts them.
      const bool scans = !fresh.empty() || step.part == Part::New;
      step.kind = positive && (scans || counts_rows(literal)) ? StepKind::Match : StepKind::Exists;
    }
  }

  bool counts_rows(const Literal& literal) const {
    return !rule_.aggregates.empty() &&
           std::ranges::any_of(literal.args, [&](const Term& arg) { return is_ignored(arg); });
  }

  const lang::Program& program_;
  const Rule& rule_;
  const VersionOptions& options_;
  const StatisticsOf& statistics_;
  Pipeline pipeline_;
  std::vector<bool> bound_;        // by variable
  std::vector<bool> taken_;        // by literal
  std::vector<double> estimates_;  // by step: rows that an average binding finds
};

}  // namespace

uint64_t distinct_from_sample(uint64_t distinct, uint64_t sampled, uint64_t rows) {
  if (rows <= sampled || sampled == 0) return distinct;
  const double seen = static_cast<double>(distinct);
  const double fresh = seen / static_cast<double>(sampled);  // of the rows, a new value
  const double others = static_cast<double>(rows - sampled) * fresh * fresh;
  return std::min(rows, static_cast<uint64_t>(seen + others));
}

std::optional<std::string> why_not_relational(const lang::Program& program, const Rule& rule) {
  if (rule.body.size() > kMostLiterals) {
    return fmt::format("a body of {} literals", rule.body.size());
  }
  if (rule.variables.size() > kMostVariables) {
    return fmt::format("a rule with {} variables", rule.variables.size());
  }
  if (rule.annotated || rule.learnable) return "a probabilistic or learnable rule";
  if (rule.head_kind == lang::HeadKind::Choice) return "a choice";
  if (rule.head_kind == lang::HeadKind::Disjunction) return "a disjunction";
  for (const lang::HeadElement& element : rule.head) {
    for (const Term& arg : element.args) {
      if (arg.kind == TermKind::List) return "a list that the head makes";
      if (auto reason = why_not(arg)) return reason;
    }
    for (const lang::PredicateColumn& column : program[element.pred].columns) {
      if (column.type.kind == TypeKind::Term) return "a column of type `term`";
    }
  }
  for (const lang::HeadAggregate& aggregate : rule.aggregates) {
    if (aggregate.fn == lang::AggregateFn::LogSumExp) {
      return "logsumexp, which works in the host's floats";
    }
    if (!aggregate.has_value) continue;
    if (auto reason = why_not(aggregate.value)) return reason;
    if (aggregate.fn == lang::AggregateFn::Findall) continue;
    if (!lang::is_numeric(aggregate.value.type.kind)) {
      return fmt::format("an aggregate of `{}`", lang::to_string(aggregate.value.type));
    }
  }
  for (const Literal& literal : rule.body) {
    if (auto reason = why_not(literal)) return reason;
    // `know p(X, _)` is one solution for each X, however many rows there are.
    const bool projects =
        literal.modal != Modal::None && std::ranges::any_of(literal.args, [&](const Term& arg) {
          return arg.kind == TermKind::Variable && rule.variables[arg.var.index].anonymous;
        });
    if (projects && !rule.aggregates.empty()) return "an aggregate over a modal literal with `_`";
  }
  return std::nullopt;
}

std::optional<std::string> why_not_relational(const lang::Program& program,
                                              const logic::Component& component) {
  for (PredId pred : component.predicates) {
    if (program[pred].columns.size() > kMostColumns) {
      return fmt::format("a relation of {} columns", program[pred].columns.size());
    }
    for (const lang::PredicateColumn& column : program[pred].columns) {
      if (column.type.kind == TypeKind::Term) return "a column of type `term`";
    }
  }
  for (uint32_t r : component.rules) {
    if (auto reason = why_not_relational(program, program.rules[r])) return reason;
  }
  return std::nullopt;
}

Pipeline build_pipeline(const lang::Program& program, uint32_t rule, const VersionOptions& options,
                        const StatisticsOf& statistics) {
  return PipelineBuilder(program, rule, options, statistics).run();
}

}  // namespace xlog::plan
