// Declarations: domains, predicates, functions, and which predicates the clauses define.
#include <fmt/format.h>

#include <algorithm>

#include "lang/fold.h"
#include "lang/lower.h"

namespace xlog::lang {

// ---- Names and predicates ----

Symbol Lowering::written(Symbol name) const {
  const auto found = imports.private_items.find(name);
  return found == imports.private_items.end() ? name : found->second.name;
}

std::string Lowering::show(const PredicateKey& key) const {
  return fmt::format("{}{}/{}", key.strong_negation ? "-" : "", shown(key.name), key.arity);
}

PredId Lowering::find_predicate(const PredicateKey& key) const {
  const auto found = index.find(key);
  return found == index.end() ? PredId{} : found->second;
}

PredId Lowering::predicate(const PredicateKey& key, Span span) {
  const auto [it, fresh] =
      index.emplace(key, PredId{static_cast<uint32_t>(program.predicates.size())});
  if (!fresh) return it->second;
  Predicate& added = program.predicates.emplace_back();
  added.name = key.name;
  added.strong_negation = key.strong_negation;
  added.arity = key.arity;
  added.columns.resize(key.arity);
  added.span = span;
  if (const auto item = imports.private_items.find(key.name); item != imports.private_items.end()) {
    added.name = item->second.name;
    added.is_private = true;
    added.module = module_of(item->second.unit);
  }
  states.push_back({key, false, false, {}});
  return it->second;
}

PredId Lowering::use_predicate(const PredicateKey& key, Span span) {
  const PredId pred = predicate(key, span);
  if (states[pred.index].first_use.empty()) states[pred.index].first_use = span;
  return pred;
}

PredId Lowering::helper_predicate(std::string_view name, uint32_t arity, Span span) {
  const PredId pred = predicate({symbols().intern(name), arity, false}, span);
  program[pred].helper = true;
  states[pred.index].defined = true;
  return pred;
}

bool Lowering::is_defined(const PredicateKey& key) const {
  const PredId pred = find_predicate(key);
  return pred.valid() && (states[pred.index].defined || program[pred].declared);
}

void Lowering::add_rule(Rule rule) {
  const auto index_of_rule = static_cast<uint32_t>(program.rules.size());
  for (const HeadElement& element : rule.head) {
    std::vector<uint32_t>& rules = program[element.pred].rules;
    if (rules.empty() || rules.back() != index_of_rule) rules.push_back(index_of_rule);
  }
  program.rules.push_back(std::move(rule));
}

// ---- Types ----

std::optional<Type> Lowering::resolve_type(const ast::TypeExpr& type) {
  const std::string_view name = text(type.name);
  if (name == "list" && type.args.size() == 1) {
    std::optional<Type> element = resolve_type(type.args[0]);
    if (!element) return std::nullopt;
    return Type::list_of(std::move(*element));
  }
  const std::optional<TypeKind> kind = find_type(name);
  if (type.args.empty() && kind && *kind != TypeKind::List) return Type{*kind, nullptr};
  const auto domain = domains.find(type.name);
  if (type.args.empty() && domain != domains.end()) return domain->second.type;

  if (name == "list") {
    report(Code::UnknownType, type.span, "`list` needs the type of its elements")
        .help("write `list<u32>`");
    return std::nullopt;
  }
  if (kind || domain != domains.end()) {
    report(Code::UnknownType, type.span, fmt::format("type `{}` takes no arguments", name));
    return std::nullopt;
  }
  std::vector<std::string_view> known;
#define X(enumerator, spelled, width, klass) known.push_back(spelled);
  XLOG_TYPES(X)
#undef X
  for (const auto& [symbol, other] : domains) known.push_back(text(symbol));
  std::sort(known.begin(), known.end());
  Diagnostic& diagnostic =
      report(Code::UnknownType, type.span, fmt::format("there is no type `{}`", name));
  if (const auto near = did_you_mean(name, known)) {
    diagnostic.help(fmt::format("did you mean `{}`?", *near));
  } else {
    diagnostic.help(fmt::format("declare it with `domain {} : u32.`", name));
  }
  return std::nullopt;
}

namespace {

void declare_domain(Lowering& low, const ast::DomainDecl& decl) {
  const std::optional<Type> type = low.resolve_type(decl.type);
  if (!type) return;
  if (find_type(low.text(decl.name))) {
    low.report(Code::ReservedName, decl.name_span,
               fmt::format("`{}` is a type of the language", low.text(decl.name)));
    return;
  }
  const auto [it, fresh] = low.domains.emplace(decl.name, Domain{*type, decl.name_span});
  if (fresh || it->second.type == *type) return;
  low.report(Code::ConflictingDomains, decl.name_span,
             fmt::format("domain `{}` is {} here and {} elsewhere", low.text(decl.name),
                         to_string(*type), to_string(it->second.type)))
      .label(it->second.span, "declared here");
}

// ---- Predicates ----

// Built-ins that came later than programs which may use their names: a definition in the program
// wins.
bool can_be_redefined(std::string_view builtin) {
  return builtin == "reverse" || builtin == "between";
}

bool is_reserved(const Lowering& low, Symbol name) {
  const std::string_view text = low.shown(name);
  if (text.starts_with("__xlog_")) return true;
  if (text == "ground" || text == "var" || text == "nonvar") return true;
  return is_builtin_name(text) && !can_be_redefined(text);
}

bool check_definable(Lowering& low, Symbol name, Span span) {
  if (!is_reserved(low, name)) return true;
  const bool helper = low.text(name).starts_with("__xlog_");
  low.report(Code::ReservedName, span,
             helper ? fmt::format("names that start with `__xlog_` are reserved")
                    : fmt::format("`{}` is a built-in predicate", low.shown(name)))
      .help("choose another name");
  return false;
}

void declare_predicate(Lowering& low, const ast::PredDecl& decl, uint32_t unit) {
  if (!check_definable(low, decl.name, decl.name_span)) return;
  std::vector<PredicateColumn> columns;
  for (const ast::PredColumn& column : decl.columns) {
    const std::optional<Type> type = low.resolve_type(column.type);
    if (!type) return;
    columns.push_back({column.name, *type, column.type.span});
  }
  const PredicateKey key{decl.name, static_cast<uint32_t>(columns.size()), false};
  Predicate& predicate = low.program[low.predicate(key, decl.name_span)];
  if (!predicate.declared) {
    predicate.declared = true;
    predicate.columns = std::move(columns);
    predicate.span = decl.name_span;
    predicate.module = low.module_of(unit);
    return;
  }
  for (size_t i = 0; i < columns.size(); ++i) {
    PredicateColumn& first = predicate.columns[i];
    const bool same_name =
        first.name == columns[i].name || first.name.empty() || columns[i].name.empty();
    if (same_name && first.type == columns[i].type) {
      if (first.name.empty()) first.name = columns[i].name;
      continue;
    }
    low.report(
           Code::ConflictingDeclarations, decl.columns[i].type.span,
           fmt::format("column {} of `{}` is declared differently elsewhere", i + 1, low.show(key)))
        .label(first.type_span, fmt::format("{} here", to_string(first.type)));
    return;
  }
}

void define_predicate(Lowering& low, const PredicateKey& key, Span span, bool by_rule,
                      uint32_t unit) {
  if (!check_definable(low, key.name, span)) return;
  const PredId pred = low.predicate(key, span);
  PredicateState& state = low.states[pred.index];
  if (!state.defined && !low.program[pred].declared) {
    low.program[pred].span = span;
    if (!low.program[pred].is_private) low.program[pred].module = low.module_of(unit);
  }
  state.defined = true;
  if (by_rule && !state.has_rule) {
    state.has_rule = true;
    low.rule_order.push_back(pred);
  }
}

// A plain fact is data; everything else with a head is a rule.
bool is_fact(const ast::Rule& rule) {
  return rule.head_kind == ast::HeadKind::Atom && rule.body.empty();
}

void define_heads(Lowering& low, const ast::Rule& rule, uint32_t unit) {
  for (const ast::HeadElement& element : rule.head) {
    define_predicate(low, key_of(element.atom), element.atom.name_span, !is_fact(rule), unit);
  }
}

// ---- Functions ----

void declare_function(Lowering& low, const ast::FuncDef& def) {
  if (is_builtin_function_name(low.text(def.name))) {
    low.report(Code::ReservedName, def.name_span,
               fmt::format("`{}` is a built-in function", low.text(def.name)))
        .help("choose another name");
    return;
  }
  for (size_t i = 0; i < def.params.size(); ++i) {
    if (def.params[i].type) (void)low.resolve_type(*def.params[i].type);
    for (size_t j = 0; j < i; ++j) {
      if (def.params[i].name != def.params[j].name) continue;
      low.report(Code::DuplicateDeclaration, def.params[i].span,
                 fmt::format("parameter `{}` is named twice", low.text(def.params[i].name)))
          .label(def.params[j].span, "first here");
    }
  }
  if (def.result_type) (void)low.resolve_type(*def.result_type);
  if (def.has_goals && def.goals.empty()) {
    low.report(Code::FunctionWithoutBody, def.name_span,
               fmt::format("function `{}` has `:-` but no goals", low.shown(def.name)));
    return;
  }
  if (def.has_goals && def.result.kind != ast::ExprKind::Variable) {
    low.report(Code::InvalidArgument, def.result.span,
               fmt::format("the result of `{}` must be a variable that its goals bind",
                           low.shown(def.name)))
        .help("as in `func parent(X) = P :- child(P, X).`");
    return;
  }
  low.functions.add(def, std::string(low.shown(def.name)));
}

}  // namespace

void check_function_names(Lowering& low) {
  for (const LinkedModules::Unit& unit : low.modules.units) {
    for (const ast::Statement& statement : unit.module.statements) {
      const auto* def = std::get_if<ast::FuncDef>(&statement.node);
      if (def == nullptr) continue;
      const PredicateKey key{def->name, static_cast<uint32_t>(def->params.size()), false};
      if (!low.is_defined(key)) continue;
      low.report(Code::FunctionPredicateClash, def->name_span,
                 fmt::format("`{}` is both a function and a predicate of {} argument{}",
                             low.shown(def->name), key.arity, key.arity == 1 ? "" : "s"))
          .label(low.program[low.find_predicate(key)].span, "the predicate")
          .help("rename one of them");
    }
  }
}

void declare_domains(Lowering& low, uint32_t unit) {
  for (const ast::Statement& statement : low.modules.units[unit].module.statements) {
    if (const auto* domain = std::get_if<ast::DomainDecl>(&statement.node))
      declare_domain(low, *domain);
  }
}

namespace {

// Whether a pragma contradicts an earlier one, which is reported. To say the same twice is no harm.
bool contradicts(Lowering& low, const ast::PragmaDecl& pragma,
                 std::vector<const ast::PragmaDecl*>& earlier) {
  const auto found = std::ranges::find(earlier, pragma.key, &ast::PragmaDecl::key);
  if (found == earlier.end()) {
    earlier.push_back(&pragma);
    return false;
  }
  const ast::PragmaDecl& first = **found;
  const SourceMap& sources = low.session.sources;
  if (sources.text(first.value.span) == sources.text(pragma.value.span)) return false;
  low.report(Code::DuplicateDeclaration, pragma.value.span,
             fmt::format("`{}` is set twice, to different values", low.text(pragma.key)))
      .label(first.value.span, "first here")
      .help("leave one of them; an option of the command line wins over both");
  return true;
}

}  // namespace

void declare_unit(Lowering& low, uint32_t unit) {
  const Module& module = low.modules.units[unit].module;
  const bool is_main = unit == low.main_unit();
  std::vector<const ast::PragmaDecl*> pragmas;
  for (const ast::Statement& statement : module.statements) {
    if (const auto* decl = std::get_if<ast::PredDecl>(&statement.node)) {
      declare_predicate(low, *decl, unit);
    } else if (const auto* rule = std::get_if<ast::Rule>(&statement.node)) {
      define_heads(low, *rule, unit);
    } else if (const auto* run = std::get_if<ast::FactRun>(&statement.node)) {
      const FactTable& table = module.facts[run->table];
      const PredicateKey key{table.name, table.arity, table.strong_negation};
      define_predicate(low, key, first_name(statement.span, table, low.shown(table.name)), false,
                       unit);
    } else if (const auto* function = std::get_if<ast::FuncDef>(&statement.node)) {
      declare_function(low, *function);
    } else if (const auto* neural = std::get_if<ast::NeuralDecl>(&statement.node)) {
      define_predicate(low, key_of(neural->atom), neural->atom.name_span, false, unit);
    } else if (const auto* pragma = std::get_if<ast::PragmaDecl>(&statement.node)) {
      if (is_main && !contradicts(low, *pragma, pragmas))
        apply_pragma(*pragma, low.symbols(), low.program.pragmas, low.session.diagnostics);
    }
  }
}

}  // namespace xlog::lang
