// In which order the literals of a body are looked at when some of its variables are known.
#include <algorithm>

#include "base/check.h"
#include "engine/instances.h"
#include "logic/binding.h"
#include "logic/order.h"

namespace xlog::engine {

using lang::Literal;
using lang::LiteralKind;
using lang::Term;
using lang::TermKind;
using lang::VarId;

namespace {

// Cheapest first.
enum Cost : int {
  kTest,       // compares values
  kBind,       // computes a value
  kFind,       // asks whether one row is there
  kLookUp,     // rows by some of their columns
  kEnumerate,  // a built-in that may have several solutions
  kScan,       // all rows of a relation
  kFold,       // an aggregate or a list of solutions
  kNotReady,
};

bool all_bound(const std::vector<VarId>& variables, const std::vector<bool>& bound) {
  return std::ranges::all_of(variables, [&](VarId v) { return bound[v.index]; });
}

bool all_bound(const Term& term, const std::vector<bool>& bound) {
  std::vector<VarId> variables;
  lang::collect_variables(term, variables);
  return all_bound(variables, bound);
}

// A pattern whose arithmetic, if any, can be computed.
bool can_match(const Term& term, const std::vector<bool>& bound) {
  if (term.kind == TermKind::Arith) return all_bound(term, bound);
  return std::ranges::all_of(term.args, [&](const Term& arg) { return can_match(arg, bound); });
}

// An integer sum or difference with one unknown.
bool can_solve(const Term& term, const std::vector<bool>& bound) {
  if (term.kind != TermKind::Arith || !lang::is_integer(term.type.kind)) return false;
  if (term.op != lang::ArithOp::Add && term.op != lang::ArithOp::Sub) return false;
  const auto unknown = [&](const Term& arg) {
    return arg.kind == TermKind::Variable && !bound[arg.var.index];
  };
  return (unknown(term.args[0]) && all_bound(term.args[1], bound)) ||
         (unknown(term.args[1]) && all_bound(term.args[0], bound));
}

Cost compare_cost(const Literal& literal, bool binds, const std::vector<bool>& bound) {
  const bool left = all_bound(literal.lhs, bound), right = all_bound(literal.rhs, bound);
  if (left && right) return kTest;
  if (literal.op != lang::CompareOp::Eq || (!left && !right)) return kNotReady;
  // An equation that only tests may choose no bits of a float.
  const lang::TypeKind kind = literal.lhs.type.kind;
  if (!binds && (lang::is_float(kind) || kind == lang::TypeKind::Term)) return kNotReady;
  const Term& pattern = left ? literal.rhs : literal.lhs;
  return can_match(pattern, bound) || can_solve(pattern, bound) ? kBind : kNotReady;
}

Cost atom_cost(const Literal& literal, const lang::Rule& rule, const std::vector<bool>& bound) {
  size_t known = 0;
  bool complete = true;
  for (const Term& arg : literal.args) {
    std::vector<VarId> variables;
    lang::collect_variables(arg, variables);
    if (all_bound(variables, bound)) ++known;
    std::erase_if(variables, [&](VarId v) { return rule.variables[v.index].anonymous; });
    complete &= all_bound(variables, bound);
  }
  if (!wants_row(literal)) return complete ? kFind : kNotReady;
  if (known == literal.args.size()) return kFind;
  return known > 0 ? kLookUp : kScan;
}

Cost cost_of(const Literal& literal, const lang::Rule& rule, bool binds,
             const logic::Binding& needs, const std::vector<bool>& bound) {
  if (literal.kind == LiteralKind::Compare) return compare_cost(literal, binds, bound);
  if (literal.kind == LiteralKind::Atom) return atom_cost(literal, rule, bound);
  const bool ready = std::ranges::any_of(
      needs.ways, [&](const std::vector<VarId>& way) { return all_bound(way, bound); });
  if (!ready) return kNotReady;
  if (logic::has_braces(literal)) return kFold;
  return all_bound(needs.names, bound) ? kFind : kEnumerate;
}

// As logic/order.cc counts: occurrences outside braces.
std::vector<uint32_t> visible_outside(const lang::Rule& rule) {
  std::vector<VarId> variables;
  for (const Literal& literal : rule.body) logic::collect_outside(literal, variables);
  for (const lang::HeadElement& element : rule.head) {
    for (const Term& arg : element.args) lang::collect_variables(arg, variables);
  }
  for (const lang::HeadAggregate& aggregate : rule.aggregates) {
    if (aggregate.has_value) lang::collect_variables(aggregate.value, variables);
  }
  std::vector<uint32_t> visible(rule.variables.size(), 0);
  for (VarId v : variables) ++visible[v.index];
  return visible;
}

}  // namespace

const Instances::Roles& Instances::roles_of(uint32_t rule) {
  if (auto known = roles_.find(rule); known != roles_.end()) return known->second;
  std::vector<bool> bound(program_.rules[rule].variables.size(), false);
  Roles roles = roles_of(program_.rules[rule].body, analysis_.orders[rule].body, bound);
  return roles_.emplace(rule, std::move(roles)).first->second;
}

Instances::Roles Instances::roles_of(const std::vector<Literal>& body,
                                     const logic::BodyOrder& order,
                                     std::vector<bool>& bound) const {
  Roles roles{std::vector<bool>(body.size(), false), std::vector<Roles>(body.size())};
  for (uint32_t i : order.sequence) {
    const Literal& literal = body[i];
    if (literal.kind == LiteralKind::Compare) {
      roles.binds[i] = literal.op == lang::CompareOp::Eq &&
                       !(all_bound(literal.lhs, bound) && all_bound(literal.rhs, bound));
    } else if (logic::has_braces(literal)) {
      std::vector<bool> inside = bound;
      roles.nested[i] = roles_of(literal.body, order.nested[i], inside);
    }
    std::vector<VarId> found;
    logic::collect_bound_by(literal, found);
    for (VarId v : found) bound[v.index] = true;
  }
  return roles;
}

const std::vector<uint32_t>& Instances::plan(uint32_t r, const Bindings& bindings) {
  const lang::Rule& rule = program_.rules[r];
  std::vector<bool> bound;
  for (uint32_t v = 0; v < rule.variables.size(); ++v) bound.push_back(bindings.bound({v}));
  auto [it, is_new] = plans_.try_emplace({r, bound});
  std::vector<uint32_t>& sequence = it->second;
  if (!is_new) return sequence;

  const Roles& roles = roles_of(r);
  const logic::Scope scope{program_, rule, analysis_.component_of, visible_outside(rule)};
  std::vector<logic::Binding> needs;
  for (const Literal& literal : rule.body) needs.push_back(logic::binding_of(literal, scope));
  std::vector<bool> done(rule.body.size(), false);
  while (sequence.size() < rule.body.size()) {
    uint32_t best = 0;
    std::pair<Cost, uint64_t> least{kNotReady, 0};
    for (uint32_t i = 0; i < rule.body.size(); ++i) {
      if (done[i]) continue;
      const Literal& literal = rule.body[i];
      std::pair<Cost, uint64_t> here{cost_of(literal, rule, roles.binds[i], needs[i], bound), 0};
      if (here.first == kLookUp || here.first == kScan) {
        here.second = tables_.rows(literal.pred).rows();
      }
      if (here < least) {
        least = here;
        best = i;
      }
    }
    XLOG_CHECK(least.first != kNotReady, "a body that is safe can be ordered from any start");
    done[best] = true;
    sequence.push_back(best);
    std::vector<VarId> found;
    logic::collect_bound_by(rule.body[best], found);
    if (wants_row(rule.body[best])) logic::collect_outside(rule.body[best], found);
    for (VarId v : found) bound[v.index] = true;
  }
  return sequence;
}

}  // namespace xlog::engine
