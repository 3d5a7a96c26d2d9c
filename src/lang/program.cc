#include "lang/program.h"

#include <array>

#include "base/check.h"

namespace xlog::lang {

namespace {

constexpr auto kBuiltins = std::to_array<BuiltinInfo>({
#define XLOG_BUILTIN(name, spelling, arity, modes, help) \
  {BuiltinId::name, spelling, arity, modes, help},
#include "lang/builtins.def"
#undef XLOG_BUILTIN
});

struct AggregateName {
  AggregateFn fn;
  std::string_view spelling;
};
constexpr auto kAggregates = std::to_array<AggregateName>({
    {AggregateFn::Count, "count"},
    {AggregateFn::Sum, "sum"},
    {AggregateFn::Min, "min"},
    {AggregateFn::Max, "max"},
    {AggregateFn::Avg, "avg"},
    {AggregateFn::LogSumExp, "logsumexp"},
    {AggregateFn::Findall, "findall"},
});

}  // namespace

const BuiltinInfo& builtin_info(BuiltinId id) { return kBuiltins[static_cast<size_t>(id)]; }

const BuiltinInfo* find_builtin(std::string_view name, uint32_t arity) {
  for (const BuiltinInfo& builtin : kBuiltins) {
    if (builtin.spelling == name && builtin.arity == arity) return &builtin;
  }
  return nullptr;
}

bool is_builtin_name(std::string_view name) {
  for (const BuiltinInfo& builtin : kBuiltins) {
    if (builtin.spelling == name) return true;
  }
  return false;
}

std::string_view spelling(AggregateFn fn) { return kAggregates[static_cast<size_t>(fn)].spelling; }

std::optional<AggregateFn> find_aggregate(std::string_view name) {
  for (const AggregateName& aggregate : kAggregates) {
    if (aggregate.spelling == name && aggregate.fn != AggregateFn::Findall) return aggregate.fn;
  }
  return std::nullopt;
}

std::string_view spelling(Modal modal) {
  switch (modal) {
    case Modal::None:
      return "";
    case Modal::Know:
      return "know";
    case Modal::Possible:
      return "possible";
    case Modal::NotKnow:
      return "not know";
    case Modal::NotPossible:
      return "not possible";
    case Modal::NotKnowNot:
      return "not know not";
    case Modal::NotPossibleNot:
      return "not possible not";
  }
  XLOG_UNREACHABLE("an unknown modal form");
}

std::string_view spelling(ArithOp op) {
  switch (op) {
    case ArithOp::Neg:
    case ArithOp::Sub:
      return "-";
    case ArithOp::Add:
      return "+";
    case ArithOp::Mul:
      return "*";
    case ArithOp::Div:
      return "/";
    case ArithOp::Mod:
      return "%";
    case ArithOp::Abs:
      return "abs";
    case ArithOp::Min:
      return "min";
    case ArithOp::Max:
      return "max";
    case ArithOp::Pow:
      return "pow";
    case ArithOp::Cast:
      return "cast";
    case ArithOp::If:
      return "if";
  }
  XLOG_UNREACHABLE("an unknown arithmetic operator");
}

bool is_ground(const Term& term) {
  if (term.kind == TermKind::Variable) return false;
  for (const Term& arg : term.args) {
    if (!is_ground(arg)) return false;
  }
  return true;
}

void collect_variables(const Term& term, std::vector<VarId>& out) {
  if (term.kind == TermKind::Variable) out.push_back(term.var);
  for (const Term& arg : term.args) collect_variables(arg, out);
}

void collect_variables(const Literal& literal, std::vector<VarId>& out) {
  switch (literal.kind) {
    case LiteralKind::Atom:
    case LiteralKind::Builtin:
      for (const Term& arg : literal.args) collect_variables(arg, out);
      break;
    case LiteralKind::Compare:
      collect_variables(literal.lhs, out);
      collect_variables(literal.rhs, out);
      break;
    case LiteralKind::Aggregate:
      collect_variables(literal.lhs, out);
      if (literal.has_value) collect_variables(literal.rhs, out);
      break;
  }
  for (const Literal& inner : literal.body) collect_variables(inner, out);
}

}  // namespace xlog::lang
