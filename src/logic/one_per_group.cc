#include "logic/one_per_group.h"

#include <algorithm>

#include "logic/order.h"

namespace xlog::logic {

using lang::CompareOp;
using lang::Literal;
using lang::LiteralKind;
using lang::Rule;
using lang::Term;
using lang::TermKind;
using lang::TypeKind;
using lang::VarId;

namespace {

bool is_simple(const Term& term) {
  return term.kind == TermKind::Variable || term.kind == TermKind::Constant;
}

bool is_simple(const Literal& literal) {
  if (literal.kind == LiteralKind::Compare) return is_simple(literal.lhs) && is_simple(literal.rhs);
  return literal.kind == LiteralKind::Atom &&
         std::ranges::all_of(literal.args, [](const Term& arg) { return is_simple(arg); });
}

// Whether of two values that a column can hold the one or the other compares, if they are two, and
// no value with itself. Floats that are no numbers differ from themselves.
bool tells_apart(const Literal& literal, const Rule& rule) {
  if (literal.kind != LiteralKind::Compare) return false;
  if (literal.lhs.kind != TermKind::Variable || literal.rhs.kind != TermKind::Variable) {
    return false;
  }
  const lang::Type& type = rule.variables[literal.lhs.var.index].type;
  if (literal.lhs.var == literal.rhs.var || type != rule.variables[literal.rhs.var.index].type) {
    return false;
  }
  if (literal.op == CompareOp::Lt || literal.op == CompareOp::Gt) return true;
  return literal.op == CompareOp::Ne && !lang::is_float(type.kind) && type.kind != TypeKind::Term;
}

// Finds for what is said of the left variable the same of the right one.
class Halves {
 public:
  explicit Halves(const Rule& rule)
      : rule_(rule), roles_(rule.variables.size()), taken_(rule.body.size(), Half::None) {}

  bool divide(uint32_t comparison) {
    taken_[comparison] = Half::Right;
    if (!join(rule_.body[comparison].lhs.var, rule_.body[comparison].rhs.var, roles_)) return false;
    for (bool changed = true; changed;) {
      changed = false;
      for (uint32_t i = 0; i < rule_.body.size(); ++i) {
        if (taken_[i] != Half::None || !mentions(rule_.body[i], Half::Left)) continue;
        if (!find_other(i)) return false;
        changed = true;
      }
    }
    for (uint32_t i = 0; i < rule_.body.size(); ++i) {
      if (taken_[i] == Half::None && mentions(rule_.body[i], Half::Right)) return false;
    }
    return true;
  }

  // Of the left half, and what belongs to none.
  std::vector<Literal> body() const {
    std::vector<Literal> kept;
    for (uint32_t i = 0; i < rule_.body.size(); ++i) {
      if (taken_[i] != Half::Right) kept.push_back(rule_.body[i]);
    }
    return kept;
  }

  bool is_shared(VarId variable) const {
    const Half half = roles_[variable.index].half;
    return half != Half::Left && half != Half::Right;
  }

 private:
  enum class Half : uint8_t { None, Shared, Left, Right };
  struct Role {
    Half half = Half::None;  // None: not met yet
    VarId other;             // of a variable of one half
  };
  using Roles = std::vector<Role>;

  static bool join(VarId left, VarId right, Roles& roles) {
    Role &l = roles[left.index], &r = roles[right.index];
    if (left == right) {
      if (l.half == Half::None) l.half = Half::Shared;
      return l.half == Half::Shared;
    }
    if (l.half == Half::None && r.half == Half::None) {
      l = {Half::Left, right};
      r = {Half::Right, left};
    }
    return l.half == Half::Left && l.other == right;
  }

  static bool join(const Term& left, const Term& right, Roles& roles) {
    if (left.kind != right.kind) return false;
    return left.kind == TermKind::Variable ? join(left.var, right.var, roles)
                                           : left.value == right.value;
  }

  static bool join(const Literal& left, const Literal& right, Roles& roles) {
    if (left.kind != right.kind) return false;
    if (left.kind == LiteralKind::Compare) {
      return left.op == right.op && join(left.lhs, right.lhs, roles) &&
             join(left.rhs, right.rhs, roles);
    }
    if (left.pred != right.pred || left.nots != right.nots || left.modal != right.modal) {
      return false;
    }
    for (size_t i = 0; i < left.args.size(); ++i) {
      if (!join(left.args[i], right.args[i], roles)) return false;
    }
    return true;
  }

  bool mentions(const Literal& literal, Half half) const {
    std::vector<VarId> variables;
    lang::collect_variables(literal, variables);
    return std::ranges::any_of(variables, [&](VarId v) { return roles_[v.index].half == half; });
  }

  bool find_other(uint32_t left) {
    for (uint32_t right = 0; right < rule_.body.size(); ++right) {
      if (right == left || taken_[right] != Half::None) continue;
      Roles roles = roles_;
      if (!join(rule_.body[left], rule_.body[right], roles)) continue;
      roles_ = std::move(roles);
      taken_[left] = Half::Left;
      taken_[right] = Half::Right;
      return true;
    }
    return false;
  }

  const Rule& rule_;
  Roles roles_;              // by variable
  std::vector<Half> taken_;  // by literal
};

}  // namespace

std::optional<OnePerGroup> one_per_group(const lang::Program& program, uint32_t rule,
                                         const std::vector<uint32_t>& component_of) {
  const Rule& constraint = program.rules[rule];
  if (constraint.head_kind != lang::HeadKind::None) return std::nullopt;
  if (!std::ranges::all_of(constraint.body, [](const Literal& l) { return is_simple(l); })) {
    return std::nullopt;
  }
  for (uint32_t i = 0; i < constraint.body.size(); ++i) {
    if (!tells_apart(constraint.body[i], constraint)) continue;
    Halves halves(constraint);
    if (!halves.divide(i)) continue;
    OnePerGroup found;
    found.value = constraint.body[i].lhs.var;
    Rule half;
    half.head_kind = lang::HeadKind::None;
    half.variables = constraint.variables;
    half.span = constraint.span;
    half.body = halves.body();
    for (const Literal& literal : half.body) lang::collect_variables(literal, found.group);
    std::ranges::sort(found.group);
    found.group.erase(std::ranges::unique(found.group).begin(), found.group.end());
    std::erase_if(found.group, [&](VarId v) { return !halves.is_shared(v); });
    found.order = order_body_given(program, half, component_of, {});
    found.body = std::move(half.body);
    return found;
  }
  return std::nullopt;
}

}  // namespace xlog::logic
