#include "plan/build.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

#include "base/check.h"
#include "logic/binding.h"
#include "plan/multiway.h"
#include "plan/relational.h"

namespace xlog::plan {

using lang::Literal;
using lang::LiteralKind;
using lang::Modal;
using lang::Rule;
using lang::TermKind;
using lang::TypeKind;

namespace {

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
        source_(rule_.variables.size()),
        taken_(rule_.body.size(), false) {
    pipeline_.rule = rule;
    const std::vector<uint32_t> components;  // only atoms ask for them
    const logic::Scope scope{program, rule_, components, logic::visible_in_body(rule_)};
    for (const Literal& literal : rule_.body) {
      const bool computes = literal.kind != LiteralKind::Atom;
      bindings_.push_back(computes ? logic::binding_of(literal, scope) : logic::Binding{});
    }
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

  // `X = 0.0` holds for -0.0 too: an equation does not choose the bits of a float that an atom or
  // a built-in brings.
  bool is_brought(VarId variable) const {
    if (!lang::is_float(rule_.variables[variable.index].type.kind)) return false;
    for (size_t i = 0; i < rule_.body.size(); ++i) {
      if (taken_[i]) continue;
      const Literal& literal = rule_.body[i];
      if (literal.kind == LiteralKind::Atom) {
        if (is_positive(literal) && has_variable(literal.args, variable)) return true;
      } else if (!bindings_[i].compares &&
                 std::ranges::find(bindings_[i].outputs, variable) != bindings_[i].outputs.end()) {
        return true;
      }
    }
    return false;
  }
  static bool has_variable(const std::vector<Term>& args, VarId variable) {
    return std::ranges::any_of(args, [&](const Term& arg) {
      return arg.kind == TermKind::Variable && arg.var == variable;
    });
  }
  bool is_computed(const Term& variable, const Term& by) const {
    return is_free_variable(variable) && is_bound(by) && !is_brought(variable.var);
  }

  // ---- what the host does ----

  bool is_for_host(const Literal& literal) const {
    if (literal.kind == LiteralKind::Atom) return false;
    if (needs_host(literal)) return true;
    return literal.kind == LiteralKind::Compare && literal.lhs.type.kind == TypeKind::Term &&
           is_bound(literal.lhs) && is_bound(literal.rhs);
  }
  bool can_solve(uint32_t i) const {
    return std::ranges::any_of(bindings_[i].ways, [&](const std::vector<VarId>& way) {
      return std::ranges::all_of(way, [&](VarId v) { return bound_[v.index]; });
    });
  }
  bool chooses_floats(uint32_t i) const {
    return bindings_[i].compares && std::ranges::any_of(bindings_[i].outputs, [&](VarId v) {
             return !bound_[v.index] && is_brought(v);
           });
  }
  std::vector<VarId> outputs_of(uint32_t i) const {
    std::vector<VarId> outputs;
    for (VarId v : bindings_[i].outputs) {
      const bool known = bound_[v.index] || std::ranges::find(outputs, v) != outputs.end();
      if (!known && !rule_.variables[v.index].anonymous) outputs.push_back(v);
    }
    return outputs;
  }
  // How many solutions a binding has, about. A way to the host and back is worth more than a lookup
  // that finds a row, and less than one that finds more.
  double host_rows(uint32_t i) const {
    constexpr double kOne = 1.5, kElements = 4;
    const bool enumerates = rule_.body[i].kind == LiteralKind::Builtin && !outputs_of(i).empty();
    return enumerates ? kElements : kOne;
  }

  // Whether the host could find values for an atom that nothing binds yet, once others have bound
  // what it needs. To walk the atom first would pair all its rows with all of theirs.
  bool is_awaited(const Literal& atom) const {
    if (std::ranges::any_of(atom.args, [&](const Term& arg) { return is_bound(arg); }))
      return false;
    for (uint32_t i = 0; i < rule_.body.size(); ++i) {
      if (taken_[i] || !is_for_host(rule_.body[i])) continue;
      for (const std::vector<VarId>& way : bindings_[i].ways) {
        const bool possible = std::ranges::all_of(
            way, [&](VarId v) { return bound_[v.index] || comes_from_others(v, atom, i); });
        const bool finds = std::ranges::any_of(bindings_[i].outputs, [&](VarId v) {
          return has_variable(atom.args, v) && std::ranges::find(way, v) == way.end();
        });
        if (possible && finds) return true;
      }
    }
    return false;
  }
  // Whether another literal than these two can bind a variable.
  bool comes_from_others(VarId v, const Literal& atom, uint32_t literal) const {
    for (uint32_t i = 0; i < rule_.body.size(); ++i) {
      const Literal& other = rule_.body[i];
      if (taken_[i] || i == literal || &other == &atom) continue;
      const bool brings =
          other.kind == LiteralKind::Atom
              ? is_positive(other) && has_variable(other.args, v)
              : std::ranges::find(bindings_[i].outputs, v) != bindings_[i].outputs.end();
      if (brings) return true;
    }
    return false;
  }

  // ---- which literal is next ----

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

  // The next literal: what only tests or computes first, then the one that multiplies the bindings
  // least, in the order of writing where that is equal.
  uint32_t next() const {
    constexpr double kAwaited = 1e16, kNotFirst = 1e18, kLast = 1e30;
    const bool drives = std::ranges::any_of(pipeline_.steps, can_drive);
    std::optional<uint32_t> best;
    double least = std::numeric_limits<double>::infinity();
    for (uint32_t i = 0; i < rule_.body.size(); ++i) {
      if (taken_[i]) continue;
      const Literal& literal = rule_.body[i];
      double rows = 0;
      if (is_for_host(literal)) {
        if (!can_solve(i)) continue;
        rows = host_rows(i) + (drives ? 0 : kNotFirst) + (chooses_floats(i) ? kLast : 0);
      } else {
        if (only_tests(literal)) return i;
        const bool finds = literal.kind == LiteralKind::Builtin
                               ? literal.nots == 0 && bounds_are_known(literal)
                               : literal.kind == LiteralKind::Atom && is_positive(literal);
        if (!finds) continue;
        rows = fan_out(literal) + (would_drive_alone(literal) ? kNotFirst : 0) +
               (is_awaited(literal) ? kAwaited : 0);
      }
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
    uint32_t last_key = 0;
    double combinations = 1;
    for (uint32_t c = 0; c < literal.args.size(); ++c) {
      if (is_ignored(literal.args[c]) || !is_bound(literal.args[c])) continue;
      ++keys;
      last_key = c;
      if (!statistics.distinct.empty()) {
        combinations *= static_cast<double>(std::max<uint64_t>(1, statistics.distinct[c]));
      }
    }
    if (keys == 0) return grows ? rows + kEndless : rows;
    if (grows) return std::max(rows / std::max(combinations, 1.0), kShortList);
    if (keys == 1 && statistics.degrees && !only_tests(literal)) {
      if (const auto degrees = statistics.degrees(last_key)) {
        const Term& key = literal.args[last_key];
        // Values that come from this very column come as often as they are there.
        const bool same = key.kind == TermKind::Variable &&
                          source_[key.var.index] == Source{literal.pred, last_key};
        return same ? degrees->rows_of_row() : degrees->rows_of_value();
      }
    }
    if (statistics.distinct.empty()) {
      return std::pow(rows,
                      1 - static_cast<double>(keys) / static_cast<double>(literal.args.size()));
    }
    return rows / std::min(combinations, std::max(rows, 1.0));
  }

  void take(uint32_t index) {
    taken_[index] = true;
    const Literal& literal = rule_.body[index];
    if (is_for_host(literal)) return ask_host(index);
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

  void ask_host(uint32_t index) {
    Step step;
    step.kind = StepKind::Host;
    step.span = rule_.body[index].span;
    step.literal = index;
    step.outputs = outputs_of(index);
    const double rows = host_rows(index);
    for (VarId v : step.outputs) bound_[v.index] = true;
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
        source_[arg.var.index] = {literal.pred, static_cast<uint32_t>(step.columns.size())};
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
  std::vector<bool> bound_;  // by variable
  struct Source {
    PredId pred;
    uint32_t column = 0;
    friend bool operator==(const Source&, const Source&) = default;
  };
  std::vector<Source> source_;            // by variable: the column that bound it
  std::vector<bool> taken_;               // by literal
  std::vector<logic::Binding> bindings_;  // the same; not of atoms
  std::vector<double> estimates_;         // by step: rows that an average binding finds
};

}  // namespace

uint64_t distinct_from_sample(uint64_t distinct, uint64_t sampled, uint64_t rows) {
  if (rows <= sampled || sampled == 0) return distinct;
  const double seen = static_cast<double>(distinct);
  const double fresh = seen / static_cast<double>(sampled);  // of the rows, a new value
  const double others = static_cast<double>(rows - sampled) * fresh * fresh;
  return std::min(rows, static_cast<uint64_t>(seen + others));
}

Pipeline build_pipeline(const lang::Program& program, uint32_t rule, const VersionOptions& options,
                        const StatisticsOf& statistics) {
  return PipelineBuilder(program, rule, options, statistics).run();
}

}  // namespace xlog::plan
