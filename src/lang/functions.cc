#include "lang/functions.h"

#include <fmt/format.h>

#include <algorithm>

#include "lang/fold.h"

namespace xlog::lang {

using ast::Expr;
using ast::ExprKind;

// ---- The table ----

void FunctionTable::add(const ast::FuncDef& def, std::string shown) {
  std::vector<uint32_t>& same_name = by_name_[def.name];
  same_name.push_back(static_cast<uint32_t>(functions_.size()));
  functions_.push_back({&def, std::move(shown), false});
}

const Function* FunctionTable::find(Symbol name, size_t arity) const {
  const auto found = by_name_.find(name);
  if (found == by_name_.end()) return nullptr;
  for (const uint32_t index : found->second) {
    if (functions_[index].def->params.size() == arity) return &functions_[index];
  }
  return nullptr;
}

Function* FunctionTable::find(Symbol name, size_t arity) {
  return const_cast<Function*>(static_cast<const FunctionTable*>(this)->find(name, arity));
}

std::vector<size_t> FunctionTable::arities(Symbol name) const {
  std::vector<size_t> out;
  const auto found = by_name_.find(name);
  if (found == by_name_.end()) return out;
  for (const uint32_t index : found->second) out.push_back(functions_[index].def->params.size());
  return out;
}

std::vector<std::string_view> FunctionTable::shown_names() const {
  std::vector<std::string_view> out;
  for (const Function& function : functions_) out.push_back(function.shown);
  return out;
}

// ---- Fresh variables ----

namespace {
constexpr std::string_view kFreshPrefix = "_#";
}

bool is_fresh_variable(std::string_view name) { return name.starts_with(kFreshPrefix); }

Symbol Expander::fresh_variable() {
  return names_.intern(fmt::format("{}{}", kFreshPrefix, next_variable_++));
}

// ---- Substitution: a copy of the function's body with its parameters replaced ----

struct Expander::Substitution {
  Function& function;
  const std::vector<Expr>& arguments;
  Span call;
  size_t nodes = 0;
  bool in_goals = false;  // of a predicate body, or inside the braces of an aggregate: other
                          // variables are local
  bool in_atom = false;   // in a term position of a goal
  std::unordered_map<Symbol, Symbol> locals;

  const Expr* argument_of(Symbol variable) const {
    const auto& params = function.def->params;
    for (size_t i = 0; i < params.size(); ++i) {
      if (params[i].name == variable) return &arguments[i];
    }
    return nullptr;
  }
};

namespace {

size_t count(const Expr& expr);

size_t count(const std::vector<ast::Literal>& body) {
  size_t total = 0;
  for (const ast::Literal& literal : body) {
    total += 1 + count(literal.lhs) + count(literal.rhs);
    for (const Expr& arg : literal.atom.args) total += count(arg);
  }
  return total;
}

size_t count(const Expr& expr) {
  size_t total = 1;
  for (const Expr& arg : expr.args) total += count(arg);
  return total + count(expr.body);
}

bool can_stand_in_an_atom(const Expr& argument, const Interner& names) {
  return argument.kind != ExprKind::Interval && argument.kind != ExprKind::Aggregate &&
         !is_arithmetic(argument, names);
}

}  // namespace

// Recursion follows the function's source text, whose nesting the parser limits.
bool Expander::substitute(Expr& expr, Substitution& s) {
  ++s.nodes;
  if (expr.kind == ExprKind::Variable) {
    if (const Expr* argument = s.argument_of(expr.name)) {
      if (s.in_atom && !can_stand_in_an_atom(*argument, names_)) {
        session_.diagnostics
            .report(Code::ExpressionInTermPosition, argument->span,
                    fmt::format(
                        "`{}` puts this argument into an atom, where an expression cannot stand",
                        s.function.shown))
            .label(expr.span, "it goes here")
            .help("bind the expression to a variable first: `K is ..., R is f(K)`");
        return false;
      }
      s.nodes += count(*argument);
      if (nodes_ + s.nodes > kMaxExpandedNodes) return count_nodes(s.nodes, s.function, s.call);
      expr = Expr(*argument);
      return true;
    }
    if (!s.in_goals) {
      s.function.failed = true;
      session_.diagnostics
          .report(Code::UnsafeVariable, expr.span,
                  fmt::format("`{}` is not a parameter of function `{}`", names_.text(expr.name),
                              s.function.shown))
          .help("make it a parameter, or bind it in goals: `func f(X) = R :- goals.`");
      return false;
    }
    const auto [local, is_new] = s.locals.emplace(expr.name, Symbol{});
    if (is_new) local->second = fresh_variable();
    expr.name = local->second;
    return true;
  }
  for (Expr& arg : expr.args) {
    const bool was_in_goals = s.in_goals;
    if (expr.kind == ExprKind::Aggregate) s.in_goals = true;
    const bool ok = substitute(arg, s);
    s.in_goals = was_in_goals;
    if (!ok) return false;
  }
  if (expr.body.empty()) return true;
  const bool was_in_goals = s.in_goals;
  const bool was_in_atom = s.in_atom;
  s.in_goals = true;
  s.in_atom = false;
  for (ast::Literal& literal : expr.body) {
    if (!substitute(literal, s)) return false;
  }
  s.in_goals = was_in_goals;
  s.in_atom = was_in_atom;
  return true;
}

bool Expander::substitute(ast::Literal& literal, Substitution& s) {
  ++s.nodes;
  const bool was_in_atom = s.in_atom;
  s.in_atom = s.function.def->has_goals;
  for (Expr& arg : literal.atom.args) {
    if (!substitute(arg, s)) return false;
  }
  s.in_atom = was_in_atom;
  if (literal.kind == ast::LiteralKind::Atom) return true;
  if (literal.kind == ast::LiteralKind::Is && literal.lhs.kind == ExprKind::Variable) {
    const Expr* argument = s.argument_of(literal.lhs.name);
    if (argument != nullptr && argument->kind != ExprKind::Variable) {
      session_.diagnostics
          .report(
              Code::InvalidAssignmentTarget, argument->span,
              fmt::format("`{}` assigns to its parameter `{}`, so this argument must be a variable",
                          s.function.shown, names_.text(literal.lhs.name)))
          .label(literal.span, "assigned here");
      return false;
    }
  }
  return substitute(literal.lhs, s) && substitute(literal.rhs, s);
}

// ---- Limits ----

bool Expander::count_nodes(size_t nodes, Function& function, Span call) {
  nodes_ += nodes;
  program_nodes_ += nodes;
  if (nodes_ <= kMaxExpandedNodes && program_nodes_ <= kMaxProgramNodes) return true;
  function.failed = true;
  session_.diagnostics
      .report(Code::ExpansionTooDeep, call,
              fmt::format("expanding function `{}` makes the program too large", function.shown))
      .note(fmt::format("one statement may grow to {} nodes, the program to {}", kMaxExpandedNodes,
                        kMaxProgramNodes))
      .help("compute the parts in predicates of their own");
  return false;
}

namespace {

// Evaluating it always gives a value, so it may be computed even where a condition would skip it.
bool is_total(const Expr& expr) {
  if (expr.kind == ExprKind::Binary &&
      (expr.binary_op == ast::BinaryOp::Div || expr.binary_op == ast::BinaryOp::Mod)) {
    return false;
  }
  return std::all_of(expr.args.begin(), expr.args.end(), is_total);
}

}  // namespace

// Replaces a deep operand by a helper variable that a literal of its own computes.
bool Expander::cut(Expr& child, bool in_branch, std::vector<Goal>& goals) {
  if (in_branch && !is_total(child)) {
    session_.diagnostics
        .report(
            Code::ExpansionTooDeep, child.span,
            fmt::format("functions expand to an expression nested more than {} levels deep, with a "
                        "division inside a condition",
                        kMaxNesting))
        .help("compute the parts in predicates of their own");
    return false;
  }
  Expr variable;
  variable.kind = ExprKind::Variable;
  variable.name = fresh_variable();
  variable.span = child.span;
  Goal goal;
  goal.done = true;
  goal.literal.kind = ast::LiteralKind::Compare;
  goal.literal.span = child.span;
  goal.literal.lhs = variable;
  goal.literal.rhs = std::move(child);
  goals.push_back(std::move(goal));
  child = std::move(variable);
  return true;
}

bool Expander::finish_node(Expr& node, bool in_branch, std::vector<Goal>& goals) {
  uint16_t deepest = 0;
  for (size_t i = 0; i < node.args.size(); ++i) {
    Expr& child = node.args[i];
    const bool is_branch = node.kind == ExprKind::Conditional && i >= 2;
    if (child.depth >= kMaxNesting && !cut(child, in_branch || is_branch, goals)) return false;
    deepest = std::max(deepest, child.depth);
  }
  node.depth = static_cast<uint16_t>(deepest + 1);
  return true;
}

// ---- Calls ----

// Arguments are expanded already. On return `call` is the value: an expression that may hold
// further calls, one level deeper.
bool Expander::expand_call(Expr& call, uint64_t depth, bool in_branch, std::vector<Goal>& goals) {
  Function& function = *functions_.find(call.name, call.args.size());
  if (function.failed) return false;
  if (depth >= max_depth_) {
    function.failed = true;
    session_.diagnostics
        .report(Code::ExpansionTooDeep, call.span,
                fmt::format("expanding function `{}` goes deeper than {} calls", function.shown,
                            max_depth_))
        .label(function.def->name_span, "defined here")
        .note("functions are expanded at compile time, both branches of a condition included")
        .help("express the recursion with a predicate");
    return false;
  }
  const ast::FuncDef& def = *function.def;
  if (def.has_goals && in_branch) {
    session_.diagnostics
        .report(
            Code::PredicateCallInBranch, call.span,
            fmt::format("`{}` adds goals to the rule, so it cannot be called in a branch of `if`",
                        function.shown))
        .label(def.name_span, "defined by goals here")
        .help("call it before the condition: `V is f(X), R is if ... then V else ...`");
    return false;
  }
  const std::vector<Expr> arguments = std::move(call.args);
  const Span span = call.span;
  Substitution substitution{function, arguments, span, 0, def.has_goals, false, {}};
  Expr result = def.result;
  if (!substitute(result, substitution)) return false;
  // Goals are copied one by one, and counted before the next.
  for (const ast::Literal& goal : def.goals) {
    Goal copy{goal, depth + 1, false};
    if (!substitute(copy.literal, substitution)) return false;
    if (!count_nodes(std::exchange(substitution.nodes, 0), function, span)) return false;
    goals.push_back(std::move(copy));
  }
  if (!count_nodes(substitution.nodes, function, span)) return false;
  call = std::move(result);
  return true;
}

bool Expander::expand_braces(Expr& aggregate, uint64_t depth) {
  if (braces_ >= ast::kMaxDepth) {
    session_.diagnostics.report(Code::ExpansionTooDeep, aggregate.span,
                                "functions expand to aggregates nested too deeply");
    return false;
  }
  ++braces_;
  std::vector<Goal> pending;
  for (ast::Literal& literal : aggregate.body)
    pending.push_back({std::move(literal), depth, false});
  aggregate.body.clear();
  bool ok = true;
  for (Expr& value : aggregate.args) {
    std::vector<Goal> goals;
    ok = ok && expand_expr(value, depth, goals);
    std::move(goals.begin(), goals.end(), std::back_inserter(pending));
  }
  ok = ok && expand_literals(std::move(pending), aggregate.body);
  --braces_;
  aggregate.depth = 1;
  return ok;
}

bool Expander::expand_expr(Expr& expr, uint64_t depth, std::vector<Goal>& goals) {
  struct Frame {
    Expr node;
    size_t next = 0;
    uint64_t depth = 0;
    bool in_branch = false;
  };
  std::vector<Frame> stack;
  stack.push_back({std::move(expr), 0, depth, false});
  for (;;) {
    Frame& top = stack.back();
    if (top.node.kind == ExprKind::Aggregate) {
      if (top.in_branch) {
        session_.diagnostics
            .report(Code::PredicateCallInBranch, top.node.span,
                    "an aggregate cannot stand in a branch of `if`")
            .help("compute it before the condition");
        return false;
      }
      if (!expand_braces(top.node, top.depth)) return false;
    } else if (top.next < top.node.args.size()) {
      const bool is_branch = top.node.kind == ExprKind::Conditional && top.next >= 2;
      Frame child{std::move(top.node.args[top.next]), 0, top.depth, top.in_branch || is_branch};
      stack.push_back(std::move(child));
      continue;
    } else if (top.node.kind == ExprKind::Name && top.node.has_parens &&
               functions_.find(top.node.name, top.node.args.size()) != nullptr) {
      if (!expand_call(top.node, top.depth, top.in_branch, goals)) return false;
      top.next = 0;
      ++top.depth;
      continue;
    } else if (!finish_node(top.node, top.in_branch, goals)) {
      return false;
    }
    Expr done = std::move(top.node);
    stack.pop_back();
    if (stack.empty()) {
      expr = std::move(done);
      return true;
    }
    Frame& parent = stack.back();
    parent.node.args[parent.next++] = std::move(done);
  }
}

// ---- Bodies ----

// A stack of literals, the next one last. A literal that brings goals waits, done, until they are
// expanded in front of it.
bool Expander::expand_literals(std::vector<Goal> pending, std::vector<ast::Literal>& out) {
  std::reverse(pending.begin(), pending.end());
  while (!pending.empty()) {
    Goal goal = std::move(pending.back());
    pending.pop_back();
    if (goal.done) {
      out.push_back(std::move(goal.literal));
      continue;
    }
    std::vector<Goal> before;
    bool ok = true;
    for (Expr& arg : goal.literal.atom.args) ok = ok && expand_expr(arg, goal.depth, before);
    if (goal.literal.kind != ast::LiteralKind::Atom) {
      ok = ok && expand_expr(goal.literal.lhs, goal.depth, before) &&
           expand_expr(goal.literal.rhs, goal.depth, before);
    }
    if (!ok) return false;
    goal.done = true;
    pending.push_back(std::move(goal));
    std::move(before.rbegin(), before.rend(), std::back_inserter(pending));
  }
  return true;
}

bool Expander::expand(std::vector<ast::Literal>& body) {
  if (functions_.empty()) return true;
  std::vector<Goal> pending;
  pending.reserve(body.size());
  for (ast::Literal& literal : body) pending.push_back({std::move(literal), 0, false});
  body.clear();
  return expand_literals(std::move(pending), body);
}

bool Expander::expand(Expr& expr, std::vector<ast::Literal>& goals) {
  if (functions_.empty()) return true;
  std::vector<Goal> pending;
  return expand_expr(expr, 0, pending) && expand_literals(std::move(pending), goals);
}

bool Expander::expand(std::vector<Expr>& exprs, std::vector<ast::Literal>& goals) {
  for (Expr& expr : exprs) {
    if (!expand(expr, goals)) return false;
  }
  return true;
}

}  // namespace xlog::lang
