#include "lang/imports.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <unordered_set>

#include "lang/ast_walk.h"

namespace xlog::lang {

namespace {

// ---- What a unit defines and what a clause needs ----

struct Key {
  Symbol name;
  uint32_t arity = 0;
  bool function = false;

  friend bool operator==(const Key&, const Key&) = default;
};
struct KeyHash {
  size_t operator()(const Key& k) const {
    return std::hash<Symbol>()(k.name) * 31 + k.arity * 2 + (k.function ? 1 : 0);
  }
};
using KeySet = std::unordered_set<Key, KeyHash>;

Key key_of(const ast::Atom& atom) {
  return {atom.name, static_cast<uint32_t>(atom.args.size()), false};
}

struct Item {
  Key key;
  bool is_private = false;
  bool declared = false;
  Span span;
};

struct Items {
  std::vector<Item> all;  // in order of first appearance
  std::unordered_map<Key, uint32_t, KeyHash> index;

  Item& at(Key key, Span span) {
    const auto [it, fresh] = index.emplace(key, static_cast<uint32_t>(all.size()));
    if (fresh) all.push_back({key, false, false, span});
    return all[it->second];
  }
  const Item* find(Key key) const {
    const auto it = index.find(key);
    return it == index.end() ? nullptr : &all[it->second];
  }
};

struct Dependency {
  Key key;
  Span span;
};

struct DependencyCollector : AstVisitor {
  std::vector<Dependency> found;
  void on_atom(ast::Atom& atom) override { found.push_back({key_of(atom), atom.name_span}); }
  void on_expr(ast::Expr& e) override {
    if (e.kind != ast::ExprKind::Name || !e.has_parens) return;
    found.push_back({{e.name, static_cast<uint32_t>(e.args.size()), true}, e.span});
  }
  void on_predicate_reference(ast::Expr& e, uint32_t arity) override {
    if (e.kind == ast::ExprKind::Name) found.push_back({{e.name, arity, false}, e.span});
  }
};

// A clause that defines items: a rule by its heads, a function by its name.
struct Clause {
  std::vector<Key> heads;
  ast::Rule* rule = nullptr;
  ast::FuncDef* function = nullptr;
};

std::optional<Clause> clause_of(ast::Statement& statement) {
  Clause clause;
  if (auto* rule = std::get_if<ast::Rule>(&statement.node)) {
    for (const ast::HeadElement& element : rule->head) clause.heads.push_back(key_of(element.atom));
    clause.rule = rule;
    return clause;
  }
  if (auto* function = std::get_if<ast::FuncDef>(&statement.node)) {
    clause.heads.push_back({function->name, static_cast<uint32_t>(function->params.size()), true});
    clause.function = function;
    return clause;
  }
  return std::nullopt;
}

std::vector<Dependency> dependencies_of(const Clause& clause, const Interner& names) {
  DependencyCollector collector;
  AstWalk walk{collector, names};
  if (clause.rule != nullptr) walk.rule(*clause.rule);
  if (clause.function != nullptr) walk.function(*clause.function);
  return std::move(collector.found);
}

// ---- Selections ----

// What one file takes from one module: several `use` lines of the same module count together.
struct Group {
  uint32_t unit;
  bool whole = false;
  std::unordered_set<Symbol> names;
  Span span;  // of the first `use`

  bool takes(const Item& item) const {
    return !item.is_private && (whole || names.contains(item.key.name));
  }
};

std::vector<Group> groups_of(const LinkedModules::Unit& unit) {
  std::vector<Group> groups;
  std::unordered_map<uint32_t, size_t> index;
  for (const auto& import : unit.imports) {
    const auto [it, fresh] = index.emplace(import.unit, groups.size());
    if (fresh) groups.push_back({import.unit, false, {}, import.span});
    Group& group = groups[it->second];
    if (!import.selective) group.whole = true;
    group.names.insert(import.names.begin(), import.names.end());
  }
  return groups;
}

// ---- Private names ----

struct PrivateRenamer : AstVisitor {
  const std::unordered_map<Key, Symbol, KeyHash>& renamed;
  explicit PrivateRenamer(const std::unordered_map<Key, Symbol, KeyHash>& r) : renamed(r) {}

  void rename(Symbol& name, size_t arity, bool function) const {
    const auto found = renamed.find(Key{name, static_cast<uint32_t>(arity), function});
    if (found != renamed.end()) name = found->second;
  }
  void on_atom(ast::Atom& atom) override { rename(atom.name, atom.args.size(), false); }
  void on_expr(ast::Expr& e) override {
    if (e.kind == ast::ExprKind::Name && e.has_parens) rename(e.name, e.args.size(), true);
  }
  void on_predicate_reference(ast::Expr& e, uint32_t arity) override {
    if (e.kind == ast::ExprKind::Name) rename(e.name, arity, false);
  }
};

// ---- The pass ----

class ImportPass {
 public:
  ImportPass(LinkedModules& modules, Session& session)
      : units_(modules.units), session_(session), names_(session.names.symbols) {}

  Imports run() {
    const auto main = static_cast<uint32_t>(units_.size()) - 1;
    for (uint32_t u = 0; u <= main; ++u) {
      items_.push_back(collect_items(u));
      groups_.push_back(groups_of(units_[u]));
      if (u != main) check_module_content(u);
    }
    whole_.assign(units_.size(), false);
    selected_.resize(units_.size());
    whole_[main] = true;
    for (uint32_t u = 0; u <= main; ++u) check_selections(u);
    for (uint32_t u = 0; u <= main; ++u) {
      note_scope(u);
      if (u != main) check_hidden_dependencies(u);
    }
    for (uint32_t u = 0; u <= main; ++u) {
      drop_unselected(u);
      rename_private(u);
    }
    return std::move(imports_);
  }

 private:
  std::string_view text(Symbol s) const { return names_.text(s); }

  bool is_main(uint32_t unit) const { return unit + 1 == units_.size(); }

  std::string show(Key key) const {
    return key.function ? fmt::format("{}()", text(key.name))
                        : fmt::format("{}/{}", text(key.name), key.arity);
  }

  Items collect_items(uint32_t unit) {
    Items items;
    Module& module = units_[unit].module;
    for (ast::Statement& statement : module.statements) {
      if (const auto* declared = std::get_if<ast::PredDecl>(&statement.node)) {
        declare(items, *declared);
      } else if (const auto* run = std::get_if<ast::FactRun>(&statement.node)) {
        const FactTable& table = module.facts[run->table];
        items.at({table.name, table.arity, false},
                 first_name(statement.span, table, text(table.name)));
      } else if (const auto* neural = std::get_if<ast::NeuralDecl>(&statement.node)) {
        items.at(key_of(neural->atom), neural->atom.span);
      } else if (const auto* function = std::get_if<ast::FuncDef>(&statement.node)) {
        define(items, *function, unit);
      } else if (const auto* rule = std::get_if<ast::Rule>(&statement.node)) {
        for (const ast::HeadElement& element : rule->head) {
          items.at(key_of(element.atom), element.atom.span);
        }
      }
    }
    return items;
  }

  void declare(Items& items, const ast::PredDecl& decl) {
    Item& item =
        items.at({decl.name, static_cast<uint32_t>(decl.columns.size()), false}, decl.name_span);
    if (item.declared && item.is_private != decl.is_private) {
      session_.diagnostics
          .report(Code::PublicAndPrivate, decl.name_span,
                  fmt::format("`{}` is declared both public and private", show(item.key)))
          .label(item.span, "the other declaration");
    }
    if (!item.declared) item.span = decl.name_span;
    item.declared = true;
    item.is_private = decl.is_private;
  }

  void define(Items& items, const ast::FuncDef& function, uint32_t unit) {
    Item& item = items.at({function.name, static_cast<uint32_t>(function.params.size()), true},
                          function.name_span);
    if (item.declared) {
      const bool exported = !is_main(unit) && !(item.is_private && function.is_private);
      session_.diagnostics
          .report(exported ? Code::DuplicateExportedFunction : Code::DuplicateFunction,
                  function.name_span,
                  fmt::format("function `{}` is defined twice", text(function.name)))
          .label(item.span, "first defined here")
          .help("use `if ... then ... else ...` for cases");
    }
    item.declared = true;
    item.is_private = function.is_private;
  }

  // Constraints and everything probabilistic speak about the whole program.
  void check_module_content(uint32_t unit) {
    for (const ast::Statement& statement : units_[unit].module.statements) {
      std::string_view what;
      if (const auto* rule = std::get_if<ast::Rule>(&statement.node)) {
        if (rule->head_kind == ast::HeadKind::None) what = "a constraint";
        if (rule->head_kind == ast::HeadKind::Annotated) {
          what = rule->head.size() > 1 ? "an annotated disjunction" : "a probabilistic clause";
        }
        if (rule->learnable_mask || rule->trainable_name) what = "a learnable rule";
      } else if (std::holds_alternative<ast::Evidence>(statement.node)) {
        what = "evidence";
      } else if (std::holds_alternative<ast::NeuralDecl>(statement.node)) {
        what = "a neural predicate";
      } else if (const auto* pragma = std::get_if<ast::PragmaDecl>(&statement.node)) {
        session_.diagnostics
            .report(Code::PragmaInModule, statement.span,
                    fmt::format("`#pragma {}` in module `{}` is ignored", text(pragma->key),
                                units_[unit].name))
            .help("write it in the main file");
      }
      if (what.empty()) continue;
      session_.diagnostics
          .report(Code::ProgramItemInModule, statement.span,
                  fmt::format("{} in the imported module `{}`", what, units_[unit].name))
          .help("move it into the main file");
    }
  }

  void check_selections(uint32_t unit) {
    // Every `use` of a linked unit has become an import, in order.
    size_t next = 0;
    for (const ast::Statement& statement : units_[unit].module.statements) {
      const auto* use = std::get_if<ast::UseDecl>(&statement.node);
      if (use == nullptr) continue;
      const uint32_t imported = units_[unit].imports[next++].unit;
      for (size_t i = 0; i < use->names.size(); ++i) {
        check_selected_name(imported, use->names[i], use->name_spans[i]);
      }
    }
    for (const Group& group : groups_[unit]) {
      if (group.whole) whole_[group.unit] = true;
      selected_[group.unit].insert(group.names.begin(), group.names.end());
      if (!group.whole) check_group_dependencies(group);
    }
  }

  void check_selected_name(uint32_t unit, Symbol name, Span span) {
    bool is_private = false;
    for (const Item& item : items_[unit].all) {
      if (item.key.name != name) continue;
      if (!item.is_private) return;
      is_private = true;
    }
    const std::string& module = units_[unit].name;
    if (is_private) {
      session_.diagnostics
          .report(Code::PrivateItem, span,
                  fmt::format("`{}` is private in module `{}`", text(name), module))
          .help("remove `private` there, or import what the module offers");
      return;
    }
    std::vector<std::string_view> offered;
    for (const Item& item : items_[unit].all) {
      if (!item.is_private) offered.push_back(text(item.key.name));
    }
    Diagnostic& diagnostic = session_.diagnostics.report(
        Code::NoSuchExport, span, fmt::format("module `{}` has no `{}`", module, text(name)));
    if (const auto near = did_you_mean(text(name), offered)) {
      diagnostic.help(fmt::format("did you mean `{}`?", *near));
    }
  }

  // Everything that a selected clause needs from its own module must be selected too.
  void check_group_dependencies(const Group& group) {
    const Items& items = items_[group.unit];
    std::set<std::pair<uint32_t, uint32_t>> reported;
    for (ast::Statement& statement : units_[group.unit].module.statements) {
      const std::optional<Clause> clause = clause_of(statement);
      if (!clause) continue;
      const auto taken =
          std::find_if(clause->heads.begin(), clause->heads.end(),
                       [&](const Key& head) { return group.takes(*items.find(head)); });
      if (taken == clause->heads.end()) continue;
      for (const Dependency& dependency : dependencies_of(*clause, names_)) {
        const Item* needed = items.find(dependency.key);
        if (needed == nullptr || group.takes(*needed)) continue;
        if (!reported.emplace(items.index.at(*taken), items.index.at(needed->key)).second) continue;
        report_missing(group.span, *taken, dependency, *needed, group.unit);
      }
    }
  }

  void report_missing(Span at, Key item, const Dependency& dependency, const Item& needed,
                      uint32_t unit) {
    Diagnostic& diagnostic = session_.diagnostics.report(
        Code::MissingDependency, at,
        fmt::format("`{}` of module `{}` needs `{}`, which is {}", show(item), units_[unit].name,
                    show(dependency.key), needed.is_private ? "private there" : "not imported"));
    diagnostic.label(dependency.span, "needed here");
    if (needed.is_private) {
      diagnostic.help(fmt::format("import the whole module with `use {}.`", units_[unit].name));
    } else {
      diagnostic.help(fmt::format("add `{}` to the list, or import the whole module with `use {}.`",
                                  text(dependency.key.name), units_[unit].name));
    }
  }

  // What the imports of a unit make visible, theirs included; dependencies come first, so theirs is
  // known.
  struct ImportedScope {
    KeySet visible;
    std::unordered_map<Key, uint32_t, KeyHash> hidden;     // by unit
    std::unordered_map<Key, uint32_t, KeyHash> functions;  // who provides a visible function
  };

  void note_scope(uint32_t unit) {
    ImportedScope scope;
    for (const Group& group : groups_[unit]) {
      const ImportedScope& theirs = scopes_[group.unit];
      scope.visible.insert(theirs.visible.begin(), theirs.visible.end());
      scope.hidden.insert(theirs.hidden.begin(), theirs.hidden.end());
      for (const Item& function : sorted_functions(theirs)) {
        provide(scope, function.key, theirs.functions.at(function.key), group.span);
      }
      for (const Item& item : items_[group.unit].all) {
        if (!group.takes(item)) {
          scope.hidden.emplace(item.key, group.unit);
          continue;
        }
        scope.visible.insert(item.key);
        if (item.key.function) provide(scope, item.key, group.unit, group.span);
      }
    }
    for (const Key& key : scope.visible) scope.hidden.erase(key);
    for (const Item& item : items_[unit].all) {
      if (item.key.function && !item.is_private) provide(scope, item.key, unit, item.span, true);
    }
    scopes_.push_back(std::move(scope));
  }

  // Function keys of a scope in an order that does not come from a hash.
  std::vector<Item> sorted_functions(const ImportedScope& scope) const {
    std::vector<Item> sorted;
    for (const auto& [key, unit] : scope.functions) sorted.push_back(*items_[unit].find(key));
    std::sort(sorted.begin(), sorted.end(), [&](const Item& a, const Item& b) {
      return std::pair(text(a.key.name), a.key.arity) < std::pair(text(b.key.name), b.key.arity);
    });
    return sorted;
  }

  // A unit's own functions are checked against its imports, but are not part of what they provide.
  void provide(ImportedScope& scope, Key key, uint32_t provider, Span at, bool own = false) {
    const auto found = scope.functions.find(key);
    if (found == scope.functions.end()) {
      if (!own) scope.functions.emplace(key, provider);
      return;
    }
    if (found->second == provider) return;
    session_.diagnostics
        .report(Code::ImportedFunctionRedefined, at,
                fmt::format("function `{}` is defined by `{}` and by `{}`", text(key.name),
                            units_[found->second].name, units_[provider].name))
        .label(items_[found->second].find(key)->span, "one definition")
        .label(items_[provider].find(key)->span, "the other")
        .help("rename one, or import only one of them with `use m::{names}.`");
  }

  // A clause of a module must not rest on something that the module's own imports hide.
  void check_hidden_dependencies(uint32_t unit) {
    const ImportedScope& scope = scopes_[unit];
    if (scope.hidden.empty()) return;
    for (ast::Statement& statement : units_[unit].module.statements) {
      const std::optional<Clause> clause = clause_of(statement);
      if (!clause || clause->heads.empty()) continue;
      for (const Dependency& dependency : dependencies_of(*clause, names_)) {
        if (items_[unit].find(dependency.key) != nullptr) continue;
        const auto hidden = scope.hidden.find(dependency.key);
        if (hidden == scope.hidden.end()) continue;
        const Item& needed = *items_[hidden->second].find(dependency.key);
        session_.diagnostics
            .report(Code::MissingDependency, dependency.span,
                    fmt::format("`{}` needs `{}`, which is {} module `{}`",
                                show(clause->heads.front()), show(dependency.key),
                                needed.is_private ? "private in" : "not imported from",
                                units_[hidden->second].name))
            .label(needed.span, "it is defined here");
      }
    }
  }

  bool is_taken(uint32_t unit, Symbol name) const {
    return whole_[unit] || selected_[unit].contains(name);
  }

  void drop_unselected(uint32_t unit) {
    for (const Item& item : items_[unit].all) {
      if (item.key.function || (!item.is_private && is_taken(unit, item.key.name))) continue;
      imports_.hidden.push_back({item.key.name, item.key.arity, unit, item.is_private, item.span});
    }
    if (whole_[unit]) return;
    Module& module = units_[unit].module;
    std::erase_if(module.statements, [&](ast::Statement& statement) {
      if (const auto* decl = std::get_if<ast::PredDecl>(&statement.node)) {
        return !is_taken(unit, decl->name);
      }
      if (const auto* run = std::get_if<ast::FactRun>(&statement.node)) {
        return !is_taken(unit, module.facts[run->table].name);
      }
      const std::optional<Clause> clause = clause_of(statement);
      if (!clause) return false;
      return std::none_of(clause->heads.begin(), clause->heads.end(),
                          [&](const Key& head) { return is_taken(unit, head.name); });
    });
  }

  // `p` of module 2 becomes `p@2`: `@` is in no name of the language.
  void rename_private(uint32_t unit) {
    std::unordered_map<Key, Symbol, KeyHash> renamed;
    for (const Item& item : items_[unit].all) {
      if (!item.is_private) continue;
      const Symbol name = names_.intern(fmt::format("{}@{}", text(item.key.name), unit));
      renamed.emplace(item.key, name);
      imports_.private_items.emplace(name, PrivateItem{item.key.name, unit});
    }
    if (renamed.empty()) return;
    PrivateRenamer renamer(renamed);
    AstWalk walk{renamer, names_};
    Module& module = units_[unit].module;
    for (FactTable& table : module.facts) renamer.rename(table.name, table.arity, false);
    for (ast::Statement& statement : module.statements) {
      walk.statement(statement);
      if (auto* decl = std::get_if<ast::PredDecl>(&statement.node)) {
        renamer.rename(decl->name, decl->columns.size(), false);
      } else if (auto* function = std::get_if<ast::FuncDef>(&statement.node)) {
        renamer.rename(function->name, function->params.size(), true);
      }
    }
  }

  std::vector<LinkedModules::Unit>& units_;
  Session& session_;
  Interner& names_;
  std::vector<Items> items_;                          // by unit
  std::vector<std::vector<Group>> groups_;            // by importing unit
  std::vector<ImportedScope> scopes_;                 // by unit
  std::vector<bool> whole_;                           // by unit: somebody imports all of it
  std::vector<std::unordered_set<Symbol>> selected_;  // by unit: names that somebody selects
  Imports imports_;
};

}  // namespace

Imports apply_imports(LinkedModules& modules, Session& session) {
  return ImportPass(modules, session).run();
}

}  // namespace xlog::lang
