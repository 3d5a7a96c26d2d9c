#include "lang/constants.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <unordered_map>

#include "lang/ast_walk.h"
#include "lang/fold.h"

namespace xlog::lang {

namespace {

using ast::Expr;
using ast::ExprKind;

// The value as an expression. A symbol becomes a string, which means the same and is no name to
// replace again.
Expr to_expr(const Value& value, Span span) {
  Expr e;
  e.span = span;
  switch (value.kind) {
    case TypeKind::I64:
      e.kind = ExprKind::Integer;
      e.negative = value.as_signed() < 0;
      e.magnitude = e.negative ? uint64_t{0} - value.bits : value.bits;
      break;
    case TypeKind::U64:
      e.kind = ExprKind::Integer;
      e.magnitude = value.bits;
      break;
    case TypeKind::F64:
      e.kind = ExprKind::Float;
      e.number = value.as_double();
      break;
    default:
      e.kind = ExprKind::String;
      e.name = value.as_symbol();
  }
  return e;
}

struct Constant {
  Value value;
  Span span;  // of the name where it is defined
  uint32_t unit;
};
using Scope = std::unordered_map<Symbol, Constant>;

bool is_plain_name(const Expr& e) { return e.kind == ExprKind::Name && !e.has_parens; }

struct Replacer : AstVisitor {
  const Scope& scope;
  explicit Replacer(const Scope& s) : scope(s) {}
  void on_expr(Expr& e) override {
    if (!is_plain_name(e)) return;
    const auto found = scope.find(e.name);
    if (found != scope.end()) e = to_expr(found->second.value, e.span);
  }
};

struct NameCollector : AstVisitor {
  std::vector<Symbol> found;
  void on_expr(Expr& e) override {
    if (is_plain_name(e)) found.push_back(e.name);
  }
};

// ---- Fact tables ----

// Which symbols are constants, by id.
std::vector<bool> mark_symbols(const Scope& scope) {
  std::vector<bool> marked;
  for (const auto& [name, constant] : scope) {
    if (name.id >= marked.size()) marked.resize(name.id + 1);
    marked[name.id] = true;
  }
  return marked;
}

class TableReplacer {
 public:
  TableReplacer(const Scope& scope, Names& names)
      : scope_(scope), marked_(mark_symbols(scope)), names_(names) {}

  bool mentions_constant(const FactColumn& column) const {
    if (column.form() == ColumnForm::Symbol32) {
      for (const uint32_t id : column.narrow()) {
        if (is_constant(Symbol{id})) return true;
      }
    } else if (column.form() == ColumnForm::Mixed) {
      for (const Value& value : column.mixed()) {
        if (mentions_constant(value)) return true;
      }
    }
    return false;
  }

  FactColumn replaced(const FactColumn& column) {
    FactColumn out;
    const size_t rows = column.size();
    for (size_t row = 0; row < rows; ++row) out.append(replaced(column.at(row)));
    return out;
  }

 private:
  bool is_constant(Symbol s) const { return s.id < marked_.size() && marked_[s.id]; }

  // Recursion follows the nesting of terms, which the parser limits.
  bool mentions_constant(const Value& value) const {
    if (value.kind == TypeKind::Symbol) return is_constant(value.as_symbol());
    if (value.kind != TypeKind::List && value.kind != TypeKind::Compound) return false;
    for (const Value& part : parts_of(value)) {
      if (mentions_constant(part)) return true;
    }
    return false;
  }

  std::span<const Value> parts_of(const Value& value) const {
    return value.kind == TypeKind::List ? names_.terms.elements(value) : names_.terms.args(value);
  }

  Value replaced(const Value& value) {
    if (value.kind == TypeKind::Symbol) {
      return is_constant(value.as_symbol()) ? scope_.at(value.as_symbol()).value : value;
    }
    if (value.kind != TypeKind::List && value.kind != TypeKind::Compound) return value;
    const auto old = parts_of(value);
    std::vector<Value> parts(old.begin(), old.end());
    for (Value& part : parts) part = replaced(part);
    if (value.kind == TypeKind::List) return names_.terms.list(parts);
    return names_.terms.compound(names_.terms.functor(value), parts);
  }

  const Scope& scope_;
  std::vector<bool> marked_;
  Names& names_;
};

// In a table the name `n` and the string "n" look the same, and only the name is a constant. The
// parser keeps such strings out of the tables of a file with #const, but cannot know about
// constants that the file imports.
bool text_quotes_a_constant(const SourceFile& file, const Scope& scope, const Interner& names) {
  if (file.text.find("#const") != std::string::npos) return false;
  for (const auto& [name, constant] : scope) {
    if (file.text.find(fmt::format("\"{}\"", names.text(name))) != std::string::npos) return true;
  }
  return false;
}

void replace_in_tables(Module& module, const Scope& scope, Session& session) {
  TableReplacer replacer(scope, session.names);
  std::vector<FactColumn*> columns;
  for (FactTable& table : module.facts) {
    for (FactColumn& column : table.columns) {
      if (replacer.mentions_constant(column)) columns.push_back(&column);
    }
  }
  if (columns.empty()) return;
  if (text_quotes_a_constant(*module.file, scope, session.names.symbols)) {
    // Rare: read the facts again as rules, where names and strings differ. Everything was reported
    // the first time.
    Diagnostics reported_already;
    module = parse(*module.file, session.names.symbols, reported_already, {.bulk_facts = false});
    return;
  }
  for (FactColumn* column : columns) *column = replacer.replaced(*column);
}

// ---- Definitions ----

struct Definition {
  Symbol name;
  Span name_span;
  Expr value;
  enum class State { Waiting, Open, Done } state = State::Waiting;
};

class ConstantTable {
 public:
  ConstantTable(LinkedModules& modules, Session& session, const LoadOptions& options)
      : modules_(modules), session_(session), names_(session.names.symbols) {
    read_overrides(options);
  }

  void run() {
    scopes_.resize(modules_.units.size());
    for (uint32_t unit = 0; unit < modules_.units.size(); ++unit) define(unit);
    for (const auto& [name, override_value] : overrides_) {
      if (!override_value.used) report_unknown_override(name);
    }
    for (uint32_t unit = 0; unit < modules_.units.size(); ++unit) replace(unit);
  }

 private:
  struct Override {
    Expr value;
    bool used = false;
  };

  // -D n=5 is read as the statement `#const n = 5.`
  void read_overrides(const LoadOptions& options) {
    for (const auto& [name, text] : options.constants) {
      const SourceFile* file = session_.sources.add(fmt::format("-D {}={}", name, text), "",
                                                    fmt::format("#const {} = {}.", name, text));
      if (file == nullptr) continue;
      Module parsed = parse(*file, names_, session_.diagnostics);
      auto* def = parsed.statements.size() == 1
                      ? std::get_if<ast::ConstDef>(&parsed.statements[0].node)
                      : nullptr;
      if (def != nullptr && names_.text(def->name) == name) {
        overrides_[name] = {std::move(def->value), false};
      } else if (!session_.diagnostics.has_errors()) {
        session_.diagnostics
            .report(Code::InvalidArgument, {}, fmt::format("cannot read `-D {}={}`", name, text))
            .help("write a number, a name or a \"string\" after the `=`");
      }
    }
  }

  void report_unknown_override(const std::string& name) {
    std::vector<std::string_view> known;
    for (const Scope& scope : scopes_) {
      for (const auto& [symbol, constant] : scope) known.push_back(names_.text(symbol));
    }
    std::sort(known.begin(), known.end());
    Diagnostic& diagnostic = session_.diagnostics.report(
        Code::UnknownConstant, {},
        fmt::format("`-D {0}=...`: no `#const {0} = ...` in the program", name));
    if (const auto near = did_you_mean(name, known)) {
      diagnostic.help(fmt::format("did you mean `{}`?", *near));
    }
  }

  void define(uint32_t unit) {
    inherit(unit);
    std::vector<Definition> definitions;
    std::unordered_map<Symbol, uint32_t> index;
    for (ast::Statement& statement : modules_.units[unit].module.statements) {
      auto* def = std::get_if<ast::ConstDef>(&statement.node);
      if (def == nullptr) continue;
      const auto [it, fresh] = index.emplace(def->name, static_cast<uint32_t>(definitions.size()));
      if (!fresh) {
        report_duplicate(def->name, def->name_span, definitions[it->second].name_span);
        continue;
      }
      if (const auto imported = scopes_[unit].find(def->name); imported != scopes_[unit].end()) {
        report_duplicate(def->name, def->name_span, imported->second.span);
      }
      definitions.push_back({def->name, def->name_span, def->value});
      const auto given = overrides_.find(std::string(names_.text(def->name)));
      if (given == overrides_.end()) continue;
      definitions.back().value = given->second.value;
      given->second.used = true;
    }
    for (uint32_t i = 0; i < definitions.size(); ++i) settle(unit, i, definitions, index);
  }

  void inherit(uint32_t unit) {
    for (const auto& import : modules_.units[unit].imports) {
      for (const Symbol name : sorted_names(scopes_[import.unit])) {
        const Constant& constant = scopes_[import.unit].at(name);
        const auto [it, fresh] = scopes_[unit].emplace(name, constant);
        if (fresh || it->second.unit == constant.unit) continue;
        session_.diagnostics
            .report(Code::DuplicateDeclaration, import.span,
                    fmt::format("constant `{}` comes from two modules", names_.text(name)))
            .label(it->second.span, "defined here")
            .label(constant.span, "and here");
      }
    }
  }

  std::vector<Symbol> sorted_names(const Scope& scope) const {
    std::vector<Symbol> sorted;
    for (const auto& [name, constant] : scope) sorted.push_back(name);
    std::sort(sorted.begin(), sorted.end(),
              [&](Symbol a, Symbol b) { return names_.text(a) < names_.text(b); });
    return sorted;
  }

  void report_duplicate(Symbol name, Span span, Span first) {
    session_.diagnostics
        .report(Code::DuplicateDeclaration, span,
                fmt::format("constant `{}` is defined twice", names_.text(name)))
        .label(first, "first defined here");
  }

  // Evaluates one definition, those it needs first. A stack of our own: chains can be long.
  void settle(uint32_t unit, uint32_t start, std::vector<Definition>& definitions,
              const std::unordered_map<Symbol, uint32_t>& index) {
    std::vector<uint32_t> stack = {start};
    while (!stack.empty()) {
      Definition& def = definitions[stack.back()];
      if (def.state == Definition::State::Done) {
        stack.pop_back();
        continue;
      }
      def.state = Definition::State::Open;
      const std::optional<uint32_t> needed = first_unsettled(def, definitions, index);
      if (!needed) {
        evaluate(unit, def);
        stack.pop_back();
      } else if (definitions[*needed].state == Definition::State::Open) {
        session_.diagnostics.report(
            Code::InvalidArgument, def.value.span,
            fmt::format("constant `{}` is defined by itself", names_.text(def.name)));
        def.state = Definition::State::Done;
        stack.pop_back();
      } else {
        stack.push_back(*needed);
      }
    }
  }

  std::optional<uint32_t> first_unsettled(Definition& def,
                                          const std::vector<Definition>& definitions,
                                          const std::unordered_map<Symbol, uint32_t>& index) {
    NameCollector collector;
    AstWalk{collector, names_}.expr(def.value);
    for (const Symbol name : collector.found) {
      const auto found = index.find(name);
      if (found == index.end()) continue;
      if (definitions[found->second].state != Definition::State::Done) return found->second;
    }
    return std::nullopt;
  }

  void evaluate(uint32_t unit, Definition& def) {
    def.state = Definition::State::Done;
    Replacer replacer(scopes_[unit]);
    AstWalk{replacer, names_}.expr(def.value);
    const std::optional<Value> value = fold(def.value, session_.names, session_.diagnostics);
    if (!value) return;
    if (value->kind == TypeKind::List || value->kind == TypeKind::Compound) {
      session_.diagnostics
          .report(Code::InvalidArgument, def.value.span,
                  fmt::format("constant `{}` is a structure", names_.text(def.name)))
          .help("a constant is a number, a symbol or a string");
      return;
    }
    scopes_[unit].insert_or_assign(def.name, Constant{*value, def.name_span, unit});
  }

  void replace(uint32_t unit) {
    const Scope& scope = scopes_[unit];
    if (scope.empty()) return;
    Module& module = modules_.units[unit].module;
    replace_in_tables(module, scope, session_);
    Replacer replacer(scope);
    AstWalk walk{replacer, names_};
    for (ast::Statement& statement : module.statements) walk.statement(statement);
  }

  LinkedModules& modules_;
  Session& session_;
  Interner& names_;
  std::map<std::string, Override> overrides_;
  std::vector<Scope> scopes_;  // by unit
};

}  // namespace

void apply_constants(LinkedModules& modules, Session& session, const LoadOptions& options) {
  ConstantTable(modules, session, options).run();
}

}  // namespace xlog::lang
