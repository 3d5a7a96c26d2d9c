#include "incremental/steps.h"

#include <algorithm>

#include "base/check.h"

namespace xlog::incremental {

using lang::Literal;
using lang::LiteralKind;
using lang::Term;
using lang::TermKind;
using lang::VarId;

namespace {

std::vector<VarId> variables_of(const Literal& literal) {
  std::vector<VarId> found;
  lang::collect_variables(literal, found);
  return found;
}

// How the reference evaluator meets the literals of a body.
struct Role {
  std::vector<VarId> needs;  // have values before, where it is no atom
  bool left_bound = false, right_bound = false;
  std::vector<bool> given;
};

std::vector<Role> roles_of(const lang::Rule& rule, const logic::BodyOrder& order) {
  std::vector<Role> roles(rule.body.size());
  std::vector<bool> bound(rule.variables.size(), false);
  const auto is_bound = [&](const Term& term) {
    std::vector<VarId> found;
    lang::collect_variables(term, found);
    return std::ranges::all_of(found, [&](VarId v) { return bound[v.index]; });
  };
  for (const uint32_t i : order.sequence) {
    const Literal& literal = rule.body[i];
    Role& role = roles[i];
    for (VarId v : variables_of(literal)) {
      if (bound[v.index]) role.needs.push_back(v);
    }
    if (literal.kind == LiteralKind::Compare) {
      role.left_bound = is_bound(literal.lhs);
      role.right_bound = is_bound(literal.rhs);
    }
    for (const Term& arg : literal.args) role.given.push_back(is_bound(arg));
    for (VarId v : variables_of(literal)) bound[v.index] = true;
  }
  return roles;
}

class Compiler {
 public:
  Compiler(const KeptRule& kept_rule, const KeptProgram& kept, uint32_t component, Cells& cells)
      : kept_rule_(kept_rule),
        kept_(kept),
        rule_(kept.program.rules[kept_rule.rule]),
        component_(component),
        cells_(cells),
        roles_(roles_of(rule_, kept.analysis.orders[kept_rule.rule].body)) {}

  Version run(std::optional<uint32_t> delta) {
    version_ = {};
    version_.rule = &rule_;
    version_.delta = delta;
    version_.registers = static_cast<uint32_t>(rule_.variables.size());
    bound_.assign(rule_.variables.size(), false);
    delta_ = delta;
    std::vector<uint32_t> left = kept_rule_.literals;
    if (delta) {
      std::erase(left, *delta);
      start(rule_.body[*delta]);
    }
    while (!left.empty()) {
      const auto best = std::ranges::min_element(left, {}, [&](uint32_t i) { return rank(i); });
      const uint32_t i = *best;
      left.erase(best);
      add(i);
    }
    finish();
    return std::move(version_);
  }

 private:
  bool is_bound(VarId v) const { return bound_[v.index]; }
  bool is_bound(const Term& term) const {
    std::vector<VarId> found;
    lang::collect_variables(term, found);
    return std::ranges::all_of(found, [&](VarId v) { return is_bound(v); });
  }
  bool is_own(const Literal& literal) const {
    return kept_.analysis.component_of[literal.pred.index] == component_;
  }
  bool stands_before(uint32_t i) const { return delta_ && i < *delta_; }

  // ---- order ----

  // Small is next: filters, computations, atoms by how much is bound.
  uint32_t rank(uint32_t i) const {
    constexpr uint32_t kNotReady = 1'000'000;
    const Literal& literal = rule_.body[i];
    if (literal.kind != LiteralKind::Atom) {
      const bool ready = std::ranges::all_of(roles_[i].needs, [&](VarId v) { return is_bound(v); });
      if (!ready) return kNotReady;
      return std::ranges::all_of(variables_of(literal), [&](VarId v) { return is_bound(v); }) ? 0
                                                                                              : 1;
    }
    uint32_t free = 0;
    for (const Term& arg : literal.args) free += is_bound(arg) ? 0 : 1;
    if (free == 0) return 0;
    if (is_negative(literal)) return kNotReady;
    return free == literal.args.size() ? 1000 : 1 + free;
  }

  // ---- literals ----

  Operand operand(const Term& term) {
    Operand made;
    made.type = term.type.kind;
    switch (term.kind) {
      case TermKind::Variable:
        made.reg = term.var.index;
        made.type = rule_.variables[term.var.index].type.kind;
        break;
      case TermKind::Constant:
        made.kind = Operand::Kind::Constant;
        made.cell = cells_.cell(term.type.kind, term.value);
        break;
      default:
        made.kind = Operand::Kind::Computed;
        made.term = &term;
    }
    return made;
  }

  Operand operand(const Term& term, uint32_t column, uint32_t pred) {
    Operand made = operand(term);
    const lang::TypeKind type = kept_.program.predicates[pred].columns[column].type.kind;
    if (made.kind == Operand::Kind::Constant) made.cell = cells_.cell(type, term.value);
    made.type = type;
    return made;
  }

  // What a column of a row that is looked at gives. Patterns are matched in steps of their own.
  void use_column(std::vector<ColumnUse>& uses, std::vector<Step>& after, const Literal& literal,
                  uint32_t column) {
    const Term& arg = literal.args[column];
    ColumnUse use;
    use.column = column;
    if (arg.kind == TermKind::Constant) {
      use.kind = ColumnUse::Kind::Constant;
      use.cell = operand(arg, column, literal.pred.index).cell;
    } else if (arg.kind == TermKind::Variable) {
      use.reg = arg.var.index;
      use.kind = is_bound(arg.var) ? ColumnUse::Kind::Check : ColumnUse::Kind::Set;
      bound_[arg.var.index] = true;
    } else {
      use.reg = version_.registers++;
      Operand value;
      value.reg = use.reg;
      value.type = kept_.program.predicates[literal.pred.index].columns[column].type.kind;
      after.push_back(match(value, arg));
    }
    uses.push_back(use);
  }

  Step match(const Operand& value, const Term& pattern) {
    Step step;
    step.kind = StepKind::Match;
    step.left = value;
    step.pattern = &pattern;
    std::vector<VarId> found;
    lang::collect_variables(pattern, found);
    note_variables(step, found);
    return step;
  }

  void note_variables(Step& step, const std::vector<VarId>& variables) {
    for (VarId v : variables) {
      const bool bound = is_bound(v);
      std::vector<VarId>& list = bound ? step.reads : step.binds;
      if (std::ranges::count(list, v) == 0) list.push_back(v);
    }
    for (VarId v : step.binds) bound_[v.index] = true;
  }

  void start(const Literal& literal) {
    version_.table = literal.pred.index;
    version_.negative = is_negative(literal);
    version_.own = is_own(literal);
    std::vector<Step> after;
    // Plain arguments first: what a pattern holds is then known.
    for (uint32_t c = 0; c < literal.args.size(); ++c) {
      if (is_plain(literal.args[c])) use_column(version_.start, after, literal, c);
    }
    for (uint32_t c = 0; c < literal.args.size(); ++c) {
      if (!is_plain(literal.args[c])) use_column(version_.start, after, literal, c);
    }
    for (Step& step : after) version_.steps.push_back(std::move(step));
  }

  static bool is_plain(const Term& term) {
    return term.kind == TermKind::Constant || term.kind == TermKind::Variable;
  }

  void add(uint32_t i) {
    const Literal& literal = rule_.body[i];
    switch (literal.kind) {
      case LiteralKind::Atom:
        return add_atom(i, literal);
      case LiteralKind::Compare:
        return add_compare(i, literal);
      case LiteralKind::Builtin: {
        Step step;
        step.kind = StepKind::Builtin;
        step.literal = &literal;
        step.given = roles_[i].given;
        note_variables(step, variables_of(literal));
        version_.steps.push_back(std::move(step));
        return;
      }
      case LiteralKind::Aggregate:
        XLOG_UNREACHABLE("rules with aggregates in their bodies are not kept");
    }
  }

  void add_atom(uint32_t i, const Literal& literal) {
    Step step;
    step.table = literal.pred.index;
    step.own = is_own(literal);
    step.before = stands_before(i);
    step.literal = &literal;
    std::vector<uint32_t> rest;
    for (uint32_t c = 0; c < literal.args.size(); ++c) {
      if (!is_bound(literal.args[c])) {
        rest.push_back(c);
        continue;
      }
      step.columns.push_back(c);
      step.key.push_back(operand(literal.args[c], c, step.table));
    }
    const bool negative = is_negative(literal);
    std::vector<Step> after;
    std::ranges::stable_partition(rest, [&](uint32_t c) { return is_plain(literal.args[c]); });
    for (uint32_t c : rest) use_column(step.uses, after, literal, c);
    step.kind = negative               ? StepKind::Absent
                : rest.empty()         ? StepKind::Find
                : step.columns.empty() ? StepKind::Scan
                                       : StepKind::Probe;
    XLOG_CHECK(!negative || rest.empty(), "a negated atom is bound when its turn comes");
    version_.steps.push_back(std::move(step));
    for (Step& further : after) version_.steps.push_back(std::move(further));
  }

  void add_compare(uint32_t i, const Literal& literal) {
    const Role& role = roles_[i];
    if (literal.op == lang::CompareOp::Eq && (!role.left_bound || !role.right_bound)) {
      const Term& value = role.left_bound ? literal.lhs : literal.rhs;
      const Term& pattern = role.left_bound ? literal.rhs : literal.lhs;
      version_.steps.push_back(match(operand(value), pattern));
      return;
    }
    Step step;
    step.kind = StepKind::Compare;
    step.op = literal.op;
    step.left = operand(literal.lhs);
    step.right = operand(literal.rhs);
    version_.steps.push_back(std::move(step));
  }

  // ---- what a solution gives ----

  void finish() {
    Step emit;
    emit.table = kept_rule_.table;
    if (kept_rule_.target == RuleTarget::NoValue) {
      const auto add_test = [&](StepKind kind, const Term& term) {
        Step test;
        test.kind = kind;
        test.left = operand(term);
        version_.steps.push_back(std::move(test));
      };
      for (const Term* term : kept_rule_.valued) add_test(StepKind::HasValue, *term);
      add_test(StepKind::NoValue, *kept_rule_.term);
      std::vector<VarId> found;
      lang::collect_variables(*kept_rule_.term, found);
      for (VarId v : found) {
        Operand value;
        value.reg = v.index;
        value.type = rule_.variables[v.index].type.kind;
        emit.key.push_back(value);
      }
    } else if (kept_rule_.target != RuleTarget::Violations) {
      add_head(emit);
    }
    version_.steps.push_back(std::move(emit));
  }

  void add_head(Step& emit) {
    const lang::HeadElement& head = rule_.head[0];
    const bool in_place = kept_rule_.target == RuleTarget::Candidates;
    for (uint32_t c = 0; c < head.args.size(); ++c) {
      const auto folded = std::ranges::find_if(
          rule_.aggregates, [&](const lang::HeadAggregate& a) { return a.column == c; });
      if (folded == rule_.aggregates.end()) {
        emit.key.push_back(operand(head.args[c], c, head.pred.index));
      } else if (in_place) {
        emit.key.push_back(operand(folded->value, c, head.pred.index));
      }
    }
    if (in_place) return;
    for (const lang::HeadAggregate& aggregate : rule_.aggregates) {
      if (aggregate.has_value) emit.key.push_back(operand(aggregate.value));
    }
  }

  const KeptRule& kept_rule_;
  const KeptProgram& kept_;
  const lang::Rule& rule_;
  uint32_t component_;
  Cells& cells_;
  std::vector<Role> roles_;
  Version version_;
  std::vector<bool> bound_;
  std::optional<uint32_t> delta_;
};

}  // namespace

std::vector<Version> make_versions(const KeptRule& rule, uint32_t number, const KeptProgram& kept,
                                   uint32_t component, Cells& cells) {
  Compiler compiler(rule, kept, component, cells);
  const lang::Rule& source = kept.program.rules[rule.rule];
  std::vector<Version> versions;
  bool has_rows = false;
  for (const uint32_t i : rule.literals) {
    if (source.body[i].kind != LiteralKind::Atom) continue;
    has_rows |= !is_negative(source.body[i]);
    versions.push_back(compiler.run(i));
  }
  if (!has_rows) versions.push_back(compiler.run(std::nullopt));
  for (Version& version : versions) {
    version.kept_rule = number;
    version.has_rows = has_rows;
  }
  return versions;
}

Version make_whole_version(const KeptRule& rule, const KeptProgram& kept, uint32_t component,
                           Cells& cells) {
  return Compiler(rule, kept, component, cells).run(std::nullopt);
}

}  // namespace xlog::incremental
