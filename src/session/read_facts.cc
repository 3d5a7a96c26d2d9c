#include "session/read_facts.h"

#include <fmt/format.h>

#include <algorithm>

#include "lang/constants.h"
#include "lang/facts.h"
#include "lang/fold.h"
#include "lang/parser.h"

namespace xlog::session {
namespace {

using incremental::FactChanges;
using lang::PredId;
using lang::Value;
namespace ast = lang::ast;

constexpr uint64_t kMaxRowsOfOneFact = 1'000'000;

bool mentions(std::string_view text, std::string_view word) {
  return text.find(word) != std::string_view::npos;
}

// A module whose statements can be copied, because it has no fact tables.
void keep_constants(lang::Module& module) {
  std::erase_if(module.statements, [](const ast::Statement& statement) {
    return !std::holds_alternative<ast::ConstDef>(statement.node);
  });
  module.facts.clear();
}

lang::LinkedModules copy(const lang::LinkedModules& from) {
  lang::LinkedModules out;
  for (const lang::LinkedModules::Unit& unit : from.units) {
    lang::LinkedModules::Unit& to = out.units.emplace_back();
    to.module.file = unit.module.file;
    to.module.statements = unit.module.statements;
    to.name = unit.name;
    to.path = unit.path;
    to.imports = unit.imports;
  }
  return out;
}

std::string signature(std::string_view name, bool strong_negation, size_t arity) {
  return fmt::format("{}{}/{}", strong_negation ? "-" : "", name, arity);
}

bool can_be_stated(const lang::Predicate& predicate) {
  // Private predicates of an imported module are nobody else's.
  return !predicate.helper && !(predicate.is_private && predicate.module != 0);
}

std::string help_for_unknown(std::string_view name, const lang::Program& program,
                             const lang::Names& names) {
  std::vector<std::string> signatures;
  std::vector<std::string_view> known;
  for (const lang::Predicate& predicate : program.predicates) {
    if (!can_be_stated(predicate)) continue;
    const std::string_view text = names.symbols.text(predicate.name);
    if (text == name) signatures.push_back(lang::predicate_signature(predicate, names));
    known.push_back(text);
  }
  if (!signatures.empty()) {
    return fmt::format("the program has `{}`", fmt::join(signatures, "`, `"));
  }
  if (const auto near = did_you_mean(name, known)) {
    return fmt::format("did you mean `{}`?", *near);
  }
  return fmt::format("declare it in the program: `pred {}(types).`", name);
}

void refuse(Span span, Diagnostics& diagnostics) {
  diagnostics.report(Code::InvalidArgument, span, "only facts come and go in a session")
      .help("write rules, declarations and queries into the program");
}

class Reading {
 public:
  Reading(const SourceMap& sources, int64_t weight, const lang::Program& program,
          lang::Session& session, const std::unordered_set<Symbol>& functions,
          Diagnostics& diagnostics)
      : sources_(sources),
        weight_(weight),
        program_(program),
        session_(session),
        functions_(functions),
        diagnostics_(diagnostics) {}

  std::vector<FactChanges> run(const lang::Module& module) {
    for (const ast::Statement& statement : module.statements) {
      if (const auto* run = std::get_if<ast::FactRun>(&statement.node)) {
        add_run(module.facts[run->table], *run);
      } else if (const auto* rule = std::get_if<ast::Rule>(&statement.node)) {
        add_rule(*rule, statement.span);
      } else if (!std::holds_alternative<ast::ConstDef>(statement.node)) {
        refuse(statement.span, diagnostics_);
      }
    }
    return std::move(out_);
  }

 private:
  void add_run(const lang::FactTable& table, const ast::FactRun& run) {
    const auto place = [&](size_t row) { return lang::fact_span(table, row, sources_); };
    const PredId pred = find(table.name, table.strong_negation, table.arity, place(run.first_row));
    if (!pred.valid()) return;
    std::vector<Value> row(table.arity);
    for (size_t r = run.first_row; r < run.first_row + run.rows; ++r) {
      for (size_t c = 0; c < row.size(); ++c) row[c] = table.columns[c].at(r);
      add_row(pred, row, [&](size_t) { return place(r); });
    }
  }

  void add_rule(const ast::Rule& rule, Span statement) {
    const bool is_fact = rule.head_kind == ast::HeadKind::Atom && rule.body.empty() &&
                         !rule.learnable_mask && !rule.trainable_name;
    if (!is_fact) return refuse(statement, diagnostics_);
    const ast::Atom& atom = rule.head[0].atom;
    const PredId pred = find(atom.name, atom.strong_negation, atom.args.size(), atom.name_span);
    if (!pred.valid()) return;
    std::vector<std::vector<Value>> columns;
    uint64_t rows = 1;
    for (const ast::Expr& arg : atom.args) {
      if (!add_column(arg, columns.emplace_back())) return;
      rows = std::min(rows * columns.back().size(), kMaxRowsOfOneFact + 1);
    }
    if (rows > kMaxRowsOfOneFact) {
      diagnostics_
          .report(Code::LimitReached, atom.span,
                  fmt::format("this fact stands for more than {} rows", kMaxRowsOfOneFact))
          .help("load them from a file: `load relation \"rows.csv\".`");
      return;
    }
    const auto place = [&](size_t column) {
      return column < atom.args.size() ? atom.args[column].span : atom.span;
    };
    std::vector<Value> row(columns.size());
    for (uint64_t r = 0; r < rows; ++r) {
      uint64_t left = r;
      for (size_t c = columns.size(); c-- > 0;) {
        row[c] = columns[c][left % columns[c].size()];
        left /= columns[c].size();
      }
      std::vector<Value> converted = row;
      add_row(pred, converted, place);
    }
  }

  // The values of one argument: one, or those of an interval.
  bool add_column(const ast::Expr& arg, std::vector<Value>& out) {
    if (calls_function(arg)) {
      diagnostics_
          .report(Code::InvalidArgument, arg.span,
                  "functions of the program are not called in the facts of a session")
          .help("write the value");
      return false;
    }
    if (arg.kind != ast::ExprKind::Interval) {
      const std::optional<Value> value = lang::fold(arg, session_.names, diagnostics_);
      if (value) out.push_back(*value);
      return value.has_value();
    }
    const auto low = lang::fold(arg.args[0], session_.names, diagnostics_);
    const auto high = lang::fold(arg.args[1], session_.names, diagnostics_);
    if (!low || !high) return false;
    if (low->kind != lang::TypeKind::I64 || high->kind != lang::TypeKind::I64) {
      diagnostics_.report(Code::InvalidInterval, arg.span, "the ends of an interval are integers");
      return false;
    }
    for (int64_t v = low->as_signed(); v <= high->as_signed(); ++v) {
      out.push_back(Value::i64(v));
      if (out.size() > kMaxRowsOfOneFact || v == INT64_MAX) break;
    }
    return true;
  }

  bool calls_function(const ast::Expr& expr) const {
    if (expr.kind == ast::ExprKind::Name && expr.has_parens && functions_.contains(expr.name)) {
      return true;
    }
    return std::ranges::any_of(expr.args,
                               [&](const ast::Expr& arg) { return calls_function(arg); });
  }

  PredId find(Symbol name, bool strong_negation, size_t arity, Span span) {
    for (uint32_t p = 0; p < program_.predicates.size(); ++p) {
      const lang::Predicate& predicate = program_.predicates[p];
      if (predicate.name != name || predicate.arity != arity ||
          predicate.strong_negation != strong_negation || !can_be_stated(predicate)) {
        continue;
      }
      if (!predicate.neural) return {p};
      diagnostics_
          .report(Code::InvalidArgument, span,
                  fmt::format("`{}` is defined by a network and has no facts",
                              lang::predicate_signature(predicate, session_.names)))
          .help("state facts of another predicate");
      return {};
    }
    const std::string_view text = session_.names.symbols.text(name);
    diagnostics_
        .report(Code::UnknownPredicate, span,
                fmt::format("the program has no predicate `{}`",
                            signature(text, strong_negation, arity)))
        .help(help_for_unknown(text, program_, session_.names));
    return {};
  }

  template <typename Place>
  void add_row(PredId pred, std::vector<Value>& row, const Place& place) {
    const Status status = convert_row(pred, row, program_, session_);
    if (!status.ok()) {
      diagnostics_.report(Code::TypeMismatch, place(0), status.error().message)
          .help(status.error().help);
      return;
    }
    if (out_.empty() || out_.back().pred != pred) out_.push_back({pred, {}, {}});
    out_.back().values.insert(out_.back().values.end(), row.begin(), row.end());
    out_.back().weights.push_back(weight_);
  }

  const SourceMap& sources_;
  int64_t weight_;
  const lang::Program& program_;
  lang::Session& session_;
  const std::unordered_set<Symbol>& functions_;
  Diagnostics& diagnostics_;
  std::vector<FactChanges> out_;
};

}  // namespace

FactReader::FactReader(const SourceFile& main, lang::Session& session,
                       const lang::LoadOptions& options)
    : session_(session), options_(options) {
  if (!mentions(main.text, "#const") && !mentions(main.text, "func ") &&
      !mentions(main.text, "use ")) {
    return;
  }
  // Errors are those of the loader, which is about to say them.
  lang::Module module = lang::parse(main, session.names.symbols, session.diagnostics);
  lang::LinkedModules linked;
  const bool ok =
      !session.diagnostics.has_errors() && lang::link(std::move(module), session, options, linked);
  session.diagnostics.clear();
  if (!ok) return;
  bool has_constants = false;
  for (lang::LinkedModules::Unit& unit : linked.units) {
    for (const ast::Statement& statement : unit.module.statements) {
      if (const auto* func = std::get_if<ast::FuncDef>(&statement.node)) {
        functions_.insert(func->name);
      }
    }
    keep_constants(unit.module);
    has_constants = has_constants || !unit.module.statements.empty();
  }
  if (has_constants) definitions_ = std::move(linked);
}

void FactReader::apply_constants(lang::Module& module) {
  lang::LinkedModules modules = copy(*definitions_);
  lang::Module& main = modules.units.back().module;
  main.file = module.file;
  std::ranges::move(module.statements, std::back_inserter(main.statements));
  main.facts = std::move(module.facts);
  lang::apply_constants(modules, session_, options_);
  module = std::move(main);
}

bool FactReader::read(const SourceMap& sources, int64_t weight, const lang::Program& program,
                      Diagnostics& diagnostics, std::vector<FactChanges>& out) {
  lang::Module module = lang::parse(*sources.files().front(), session_.names.symbols, diagnostics,
                                    {.bulk_facts = functions_.empty()});
  if (diagnostics.has_errors()) return false;
  // The constants of the program join the facts below, so one that is defined here is found now.
  for (const ast::Statement& statement : module.statements) {
    if (std::holds_alternative<ast::ConstDef>(statement.node)) refuse(statement.span, diagnostics);
  }
  if (diagnostics.has_errors()) return false;
  if (definitions_) apply_constants(module);
  std::vector<FactChanges> changes =
      Reading(sources, weight, program, session_, functions_, diagnostics).run(module);
  if (diagnostics.has_errors()) return false;
  std::ranges::move(changes, std::back_inserter(out));
  return true;
}

Result<PredId> find_predicate(std::string_view name, const lang::Program& program,
                              const lang::Names& names) {
  std::vector<PredId> found;
  for (uint32_t p = 0; p < program.predicates.size(); ++p) {
    const lang::Predicate& predicate = program.predicates[p];
    if (!can_be_stated(predicate)) continue;
    if (name == lang::predicate_name(predicate, names) ||
        name == lang::predicate_signature(predicate, names)) {
      found.push_back({p});
    }
  }
  if (found.size() == 1) return found.front();
  if (found.empty()) {
    return Error{fmt::format("the program has no predicate `{}`", name),
                 help_for_unknown(name.substr(0, name.rfind('/')), program, names)};
  }
  std::vector<std::string> signatures;
  for (const PredId pred : found) {
    signatures.push_back(lang::predicate_signature(program[pred], names));
  }
  return Error{fmt::format("the program has several predicates `{}`", name),
               fmt::format("say which: `{}`", fmt::join(signatures, "`, `"))};
}

Status convert_row(PredId pred, std::span<Value> row, const lang::Program& program,
                   lang::Session& session) {
  const lang::Predicate& predicate = program[pred];
  for (size_t c = 0; c < row.size(); ++c) {
    const lang::PredicateColumn& column = predicate.columns[c];
    if (row[c].kind == column.type.kind && row[c].kind != lang::TypeKind::List) continue;
    const Value literal = row[c];
    if (lang::convert_literal(row[c], column.type, session.names)) continue;
    const std::string signature_text = lang::predicate_signature(predicate, session.names);
    std::string message = fmt::format("`{}` does not fit column {} of `{}`, which is {}",
                                      lang::to_source(literal, session.names), c + 1,
                                      signature_text, lang::to_string(column.type));
    const Place from = session.sources.place(column.type_span);
    if (!column.type_span.empty()) {
      message += fmt::format(" ({}:{})", from.file, from.line);
    }
    return Error{message, predicate.declared
                              ? "write a value of that type, or declare the column otherwise"
                              : fmt::format("the type was inferred; to choose it, declare `pred "
                                            "{}(types).` in the program",
                                            lang::predicate_name(predicate, session.names))};
  }
  return Done{};
}

}  // namespace xlog::session
