// User-defined functions: calls are replaced by the body of the function before anything else looks
// at a rule.
//
//   func square(X) = X * X.                 Y is square(A + 1)  ->  Y is (A + 1) * (A + 1)
//   func parent(X) = P :- child(P, X).      Y is parent(A)      ->  child(P', A), Y is P'
//
// Calls stand anywhere in an expression. Expansion uses stacks of its own, so that chains of
// functions cannot overflow ours, and is bounded: in depth by #pragma max_recursion_depth, in size
// by kMaxExpandedNodes. Expressions that would nest deeper than kMaxNesting are cut with helper
// variables.
#pragma once

#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "lang/ast.h"
#include "lang/load.h"

namespace xlog::lang {

inline constexpr size_t kMaxExpandedNodes = 1'000'000;  // of one statement
inline constexpr size_t kMaxProgramNodes = 16'000'000;  // of all statements together
inline constexpr uint16_t kMaxNesting = ast::kMaxDepth - 100;

struct Function {
  const ast::FuncDef* def = nullptr;
  std::string shown;    // its name as written
  bool failed = false;  // an error in it was reported; do not repeat it at every call
};

class FunctionTable {
 public:
  void add(const ast::FuncDef& def, std::string shown);
  Function* find(Symbol name, size_t arity);
  const Function* find(Symbol name, size_t arity) const;
  bool empty() const { return functions_.empty(); }
  // Numbers of parameters of the functions of that name, in order of definition.
  std::vector<size_t> arities(Symbol name) const;
  std::vector<std::string_view> shown_names() const;

 private:
  std::vector<Function> functions_;  // in order of definition
  std::unordered_map<Symbol, std::vector<uint32_t>> by_name_;
};

// Names of variables that expansion makes. No source text can spell them, and lowering makes
// helpers of them.
bool is_fresh_variable(std::string_view name);

class Expander {
 public:
  Expander(FunctionTable& functions, Session& session, uint64_t max_depth)
      : functions_(functions),
        session_(session),
        names_(session.names.symbols),
        max_depth_(max_depth) {}

  // Call before each statement.
  void start_statement() {
    next_variable_ = 0;
    nodes_ = 0;
  }

  // Each expands every call and returns false once an error was reported.
  bool expand(std::vector<ast::Literal>& body);
  // Goals that the expressions need are added to `goals`.
  bool expand(std::vector<ast::Expr>& exprs, std::vector<ast::Literal>& goals);
  bool expand(ast::Expr& expr, std::vector<ast::Literal>& goals);

 private:
  struct Goal {
    ast::Literal literal;
    uint64_t depth = 0;
    bool done = false;  // holds no calls any more
  };
  struct Substitution;

  bool expand_expr(ast::Expr& expr, uint64_t depth, std::vector<Goal>& goals);
  bool expand_braces(ast::Expr& aggregate, uint64_t depth);
  bool expand_literals(std::vector<Goal> pending, std::vector<ast::Literal>& out);
  bool expand_call(ast::Expr& call, uint64_t depth, bool in_branch, std::vector<Goal>& goals);
  bool finish_node(ast::Expr& node, bool in_branch, std::vector<Goal>& goals);
  bool cut(ast::Expr& child, bool in_branch, std::vector<Goal>& goals);
  bool count_nodes(size_t nodes, Function& function, Span call);

  bool substitute(ast::Expr& expr, Substitution& substitution);
  bool substitute(ast::Literal& literal, Substitution& substitution);
  Symbol fresh_variable();

  FunctionTable& functions_;
  Session& session_;
  Interner& names_;
  uint64_t max_depth_;
  uint32_t next_variable_ = 0;
  size_t nodes_ = 0;
  size_t program_nodes_ = 0;
  int braces_ = 0;
};

}  // namespace xlog::lang
