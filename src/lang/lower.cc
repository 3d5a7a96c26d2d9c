#include "lang/lower.h"

#include "lang/ast_walk.h"
#include "lang/constants.h"
#include "lang/parse_parts.h"
#include "lang/printer.h"

namespace xlog::lang {

namespace {

using ast::Expr;
using ast::ExprKind;

// ---- findall(T, goal, L): the goal as a body ----

// findall(T, G, L) becomes findall(_, { G } with value T, L), so that scopes, functions and private
// names treat the goal like the body of an aggregate.
struct GoalNormaliser : AstVisitor {
  const Interner& names;
  explicit GoalNormaliser(const Interner& n) : names(n) {}

  void on_atom(ast::Atom& atom) override {
    if (atom.args.size() != 3 || names.text(atom.name) != "findall") return;
    Expr& goal = atom.args[1];
    Expr braces;
    braces.kind = ExprKind::Aggregate;
    braces.name = atom.name;
    braces.span = goal.span;
    ast::Literal literal;
    literal.span = goal.span;
    if (!to_atom(goal, names, literal.atom)) return;
    braces.body.push_back(std::move(literal));
    braces.args.push_back(std::move(atom.args[0]));
    atom.args[0] = Expr{};
    goal = std::move(braces);
  }
};

void normalise_goals(LinkedModules& modules, const Interner& names) {
  GoalNormaliser normaliser(names);
  AstWalk walk{normaliser, names};
  for (LinkedModules::Unit& unit : modules.units) {
    for (ast::Statement& statement : unit.module.statements) walk.statement(statement);
  }
}

// Before anything is replaced in them.
void keep_query_texts(Lowering& low) {
  for (const ast::Statement& statement : low.modules.units.back().module.statements) {
    if (const auto* query = std::get_if<ast::Query>(&statement.node)) {
      low.query_texts.push_back(print(query->body, low.symbols()));
    } else if (const auto* asked = std::get_if<ast::ProbQuery>(&statement.node)) {
      low.prob_query_texts.push_back(print(asked->atom, low.symbols()));
    }
  }
}

void list_modules(Lowering& low) {
  low.program.modules.push_back({low.modules.units.back().name, low.modules.units.back().path});
  for (size_t unit = 0; unit + 1 < low.modules.units.size(); ++unit) {
    low.program.modules.push_back({low.modules.units[unit].name, low.modules.units[unit].path});
  }
}

// Queries of imported modules are theirs alone; what else they may not hold has been reported.
void lower_unit(Lowering& low, uint32_t unit) {
  const bool is_main = unit == low.main_unit();
  for (ast::Statement& statement : low.modules.units[unit].module.statements) {
    if (auto* rule = std::get_if<ast::Rule>(&statement.node)) {
      lower_rule(low, *rule, statement.span);
    } else if (is_main) {
      lower_ground_statement(low, statement);
    }
  }
}

}  // namespace

std::optional<Program> lower(LinkedModules modules, Session& session, const LoadOptions& options) {
  Lowering low{.session = session,
               .options = options,
               .modules = modules,
               .imports = {},
               .program = {},
               .functions = {},
               .expander = {},
               .domains = {},
               .index = {},
               .states = {},
               .rule_order = {},
               .query_texts = {},
               .prob_query_texts = {}};
  const auto units = static_cast<uint32_t>(modules.units.size());
  keep_query_texts(low);
  apply_constants(modules, session, options);
  normalise_goals(modules, session.names.symbols);
  low.imports = apply_imports(modules, session);
  list_modules(low);

  for (uint32_t unit = 0; unit < units; ++unit) declare_domains(low, unit);
  for (uint32_t unit = 0; unit < units; ++unit) declare_unit(low, unit);
  check_function_names(low);
  low.expander.emplace(low.functions, session, low.program.pragmas.max_recursion_depth);

  for (uint32_t unit = 0; unit < units; ++unit) merge_fact_tables(low, unit);
  for (uint32_t unit = 0; unit < units; ++unit) lower_unit(low, unit);
  lower_queries(low);
  finish_program(low);
  return std::move(low.program);
}

}  // namespace xlog::lang
