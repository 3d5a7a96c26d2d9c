#include "epistemic/rule_instances.h"

#include <algorithm>

#include "engine/literal_text.h"
#include "oracle/matcher.h"

namespace xlog::epistemic {

using lang::Literal;
using lang::LiteralKind;
using lang::Value;
using oracle::AtomId;
using oracle::Bindings;
using oracle::GroundKind;
using oracle::GroundLiteral;

namespace {

bool match_head(const lang::HeadElement& element, std::span<const std::optional<Value>> row,
                Bindings& bindings, lang::Names& names) {
  for (size_t c = 0; c < row.size(); ++c) {
    if (!row[c]) continue;
    const bool fits = oracle::match_pattern(
        element.args[c], *row[c], bindings, names,
        [](const lang::Term&) -> std::optional<Value> { return std::nullopt; });
    if (!fits) return false;
  }
  return true;
}

}  // namespace

std::string remaining_key(oracle::GroundBody body, const oracle::GroundProgram& program) {
  std::vector<GroundLiteral> literals;
  std::ranges::copy_if(body, std::back_inserter(literals), [](const GroundLiteral& literal) {
    return literal.kind != GroundKind::Aggregate;
  });
  std::ranges::sort(literals);
  std::string key;
  for (const GroundLiteral& literal : literals) {
    key += static_cast<char>(literal.kind);
    key += static_cast<char>(literal.modal);
    key.append(reinterpret_cast<const char*>(&literal.index), sizeof(literal.index));
  }
  for (const GroundLiteral& literal : body) {
    if (literal.kind != GroundKind::Aggregate) continue;
    for (const Value& value : program.aggregates[literal.index].result) {
      key += static_cast<char>(value.kind);
      key.append(reinterpret_cast<const char*>(&value.bits), sizeof(value.bits));
    }
  }
  return key;
}

// Atoms of the rows that fit, ascending.
std::vector<AtomId> RuleInstances::atoms_fitting(const Literal& literal, Bindings& bindings) {
  oracle::Database& database = findings_.instance().database;
  lang::Names& names = findings_.context().names();
  std::vector<AtomId> atoms;
  const std::vector<AtomId>& of_rows = database.row_atoms[literal.pred.index];
  const auto try_row = [&](size_t row) {
    if (row >= of_rows.size() || of_rows[row] == UINT32_MAX) return;
    const std::span<const Value> values = database.relations[literal.pred.index].row(row);
    const size_t mark = bindings.mark();
    bool fits = true;
    for (size_t c = 0; c < values.size() && fits; ++c) {
      fits = oracle::match_pattern(literal.args[c], values[c], bindings, names,
                                   [](const lang::Term&) -> std::optional<Value> { return {}; });
    }
    if (fits) atoms.push_back(of_rows[row]);
    bindings.undo(mark);
  };
  std::vector<Value> key;
  for (const lang::Term& arg : literal.args) {
    if (arg.kind == lang::TermKind::Constant) key.push_back(arg.value);
    if (arg.kind == lang::TermKind::Variable && bindings.bound(arg.var)) {
      key.push_back(bindings[arg.var]);
    }
  }
  const oracle::Relation& relation = database.relations[literal.pred.index];
  if (key.size() == literal.args.size()) {
    if (const auto row = relation.find(key)) try_row(*row);
  } else {
    for (size_t row = 0; row < relation.size(); ++row) try_row(row);
  }
  std::ranges::sort(atoms);
  return atoms;
}

InstanceLiteral RuleInstances::literal_of(const Literal& literal, const lang::Rule& rule,
                                          Bindings& bindings) {
  const oracle::Context& context = findings_.context();
  InstanceLiteral made;
  made.literal = &literal;
  made.text = engine::literal_text(literal, rule, bindings, context.program, context.session.names);
  if (literal.kind != LiteralKind::Atom) return made;
  const oracle::Database& database = findings_.instance().database;
  if (database.states[literal.pred.index] == oracle::PredicateState::Settled) {
    for (const lang::Term& arg : literal.args) {
      const bool is_bound = arg.kind == lang::TermKind::Variable && bindings.bound(arg.var);
      if (arg.kind == lang::TermKind::Constant) made.row.push_back(arg.value);
      if (is_bound) made.row.push_back(bindings[arg.var]);
    }
    if (made.row.size() != literal.args.size()) made.row.clear();
    return made;
  }
  const std::vector<AtomId> atoms = atoms_fitting(literal, bindings);
  if (atoms.empty()) return made;
  GroundLiteral open;
  open.kind = literal.modal != lang::Modal::None ? GroundKind::Modal
              : literal.nots == 0                ? GroundKind::Pos
              : literal.nots == 1                ? GroundKind::Neg
                                                 : GroundKind::NotNot;
  open.modal = literal.modal;
  open.index = atoms.front();
  if (atoms.size() > 1) {
    const auto found = database.unions.find(atoms);
    if (found == database.unions.end()) return made;
    open.index = found->second;
  }
  made.open = open;
  return made;
}

void RuleInstances::for_each(uint32_t r, lang::PredId pred, std::span<const Value> row,
                             const Visit& visit) {
  oracle::Context& context = findings_.context();
  const lang::Rule& rule = context.program.rules[r];
  if (!rule.aggregates.empty()) {
    // What is folded is told by the rule alone.
    visit({r, {}, {}, {}});
    return;
  }
  const logic::RuleOrder& order = context.analysis.orders[r];
  const std::vector<std::optional<Value>> wanted(row.begin(), row.end());
  bool goes_on = true;
  for (size_t e = 0; e < rule.head.size() && goes_on; ++e) {
    const lang::HeadElement& element = rule.head[e];
    if (element.pred != pred) continue;
    Bindings bindings(rule.variables.size());
    if (!match_head(element, wanted, bindings, context.names())) continue;
    oracle::Matcher matcher(context, findings_.instance().database, &scratch_);
    const auto show = [&](const std::vector<GroundLiteral>& remaining) {
      RuleInstance instance{r, {}, remaining_key(remaining, scratch_), {}};
      for (const GroundLiteral& literal : remaining) {
        if (literal.kind != GroundKind::Aggregate) continue;
        instance.aggregates.push_back(scratch_.aggregates[literal.index]);
      }
      for (const Literal& literal : rule.body) {
        instance.body.push_back(literal_of(literal, rule, bindings));
      }
      for (const Literal& literal : element.condition) {
        instance.body.push_back(literal_of(literal, rule, bindings));
      }
      goes_on = visit(instance);
      return goes_on;
    };
    matcher.solve_while(r, rule.body, order.body, bindings,
                        [&](const Bindings&, const std::vector<GroundLiteral>& body) {
                          if (rule.head_kind != lang::HeadKind::Choice) return show(body);
                          matcher.solve_while(
                              r, element.condition, order.conditions[e], bindings,
                              [&](const Bindings&, const std::vector<GroundLiteral>& also) {
                                std::vector<GroundLiteral> both = body;
                                both.insert(both.end(), also.begin(), also.end());
                                return show(both);
                              });
                          return goes_on;
                        });
  }
}

FailedRule RuleInstances::furthest(uint32_t r, lang::PredId pred,
                                   const std::vector<std::optional<Value>>& row) {
  oracle::Context& context = findings_.context();
  const lang::Rule& rule = context.program.rules[r];
  FailedRule failed;
  failed.rule = r;
  for (size_t e = 0; e < rule.head.size(); ++e) {
    if (rule.head[e].pred != pred) continue;
    Bindings bindings(rule.variables.size());
    if (!match_head(rule.head[e], row, bindings, context.names())) continue;
    failed.head_fits = true;
    come_far(e, bindings, failed);
  }
  return failed;
}

// The longest beginning that has a solution, of the order of the body and then of the condition
// under which a choice may choose the head.
void RuleInstances::come_far(size_t element, Bindings& bindings, FailedRule& failed) {
  oracle::Context& context = findings_.context();
  const lang::Rule& rule = context.program.rules[failed.rule];
  const logic::RuleOrder& orders = context.analysis.orders[failed.rule];
  const std::vector<Literal>& condition = rule.head[element].condition;
  const bool is_choice = rule.head_kind == lang::HeadKind::Choice;
  const logic::BodyOrder& of_body = orders.body;
  const logic::BodyOrder of_condition = is_choice ? orders.conditions[element] : logic::BodyOrder();
  const size_t in_body = of_body.sequence.size();
  const auto literal = [&](size_t position) -> const Literal& {
    return position < in_body ? rule.body[of_body.sequence[position]]
                              : condition[of_condition.sequence[position - in_body]];
  };
  const auto text = [&](size_t position) {
    return engine::literal_text(literal(position), rule, bindings, context.program,
                                context.session.names);
  };
  const size_t all = in_body + of_condition.sequence.size();
  for (size_t length = all;; --length) {
    logic::BodyOrder first = of_body, second = of_condition;
    first.sequence.resize(std::min(length, in_body));
    second.sequence.resize(length - first.sequence.size());
    bool found = false;
    const auto note = [&](const Bindings&, const auto&) {
      failed.holds.clear();
      for (size_t i = 0; i < length; ++i) failed.holds.push_back(text(i));
      failed.fails.clear();
      if (length < all) failed.fails = engine::failure_text(literal(length), text(length));
      found = true;
      return false;
    };
    oracle::Matcher matcher(context, findings_.instance().database, &scratch_);
    matcher.solve_while(failed.rule, rule.body, first, bindings,
                        [&](const Bindings& bound, const auto& remaining) {
                          if (second.sequence.empty()) return note(bound, remaining);
                          matcher.solve_while(failed.rule, condition, second, bindings, note);
                          return !found;
                        });
    if (found || length == 0) return;
  }
}

}  // namespace xlog::epistemic
