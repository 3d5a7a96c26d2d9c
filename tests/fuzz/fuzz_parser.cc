// Any bytes go through the parser without a crash. When they are a program: printing and parsing
// again gives the same statements, the bulk fact reader and the general parser agree on every fact,
// and formatting keeps the program and every comment.

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "base/source.h"
#include "lang/parser.h"
#include "lang/printer.h"

namespace {

using namespace xlog;
using namespace xlog::lang;

void require(bool condition, const char* what, const std::string& text) {
  if (condition) return;
  std::fprintf(stderr, "%s:\n%s\n", what, text.c_str());
  std::abort();
}

struct Parsed {
  Module module;
  bool ok;
};

Parsed parse_text(std::string text, SourceMap& sources, Interner& names,
                  const ParseOptions& options) {
  Diagnostics diagnostics;
  Module module = parse(*sources.add("input", "", std::move(text)), names, diagnostics, options);
  return {std::move(module), !diagnostics.has_errors()};
}

bool same_statements(const Module& a, const Module& b) {
  if (a.statements.size() != b.statements.size()) return false;
  for (size_t i = 0; i < a.statements.size(); ++i) {
    if (!equal(a.statements[i], b.statements[i])) return false;
  }
  return true;
}

// The rows of every predicate in source order, each as its values.
using Row = std::vector<Value>;
using Facts = std::map<std::tuple<uint32_t, bool, size_t>, std::vector<Row>>;

bool constant(const ast::Expr& expr, Row& row) {
  switch (expr.kind) {
    case ast::ExprKind::Integer:
      if (expr.negative) {
        row.push_back(Value::i64(static_cast<int64_t>(~expr.magnitude + 1)));
      } else if (expr.magnitude > static_cast<uint64_t>(INT64_MAX)) {
        row.push_back(Value::u64(expr.magnitude));
      } else {
        row.push_back(Value::i64(static_cast<int64_t>(expr.magnitude)));
      }
      return true;
    case ast::ExprKind::Float:
      row.push_back(Value::f64(expr.number));
      return true;
    case ast::ExprKind::String:
      row.push_back(Value::symbol(expr.name));
      return true;
    case ast::ExprKind::Name:
      row.push_back(Value::symbol(expr.name));
      return !expr.has_parens;
    default:
      return false;
  }
}

void collect(const ast::Rule& rule, Facts& facts) {
  if (rule.head_kind != ast::HeadKind::Atom || !rule.body.empty() || rule.learnable_mask ||
      rule.trainable_name)
    return;
  const ast::Atom& atom = rule.head[0].atom;
  Row row;
  for (const ast::Expr& arg : atom.args) {
    if (!constant(arg, row)) return;
  }
  facts[{atom.name.id, atom.strong_negation, atom.args.size()}].push_back(std::move(row));
}

void collect(const ast::FactRun& run, const Module& module, Facts& facts) {
  const FactTable& table = module.facts[run.table];
  auto& rows = facts[{table.name.id, table.strong_negation, table.arity}];
  for (size_t i = run.first_row; i < run.first_row + run.rows; ++i) {
    Row& row = rows.emplace_back();
    for (const FactColumn& column : table.columns) row.push_back(column.at(i));
  }
}

Facts facts_of(const Module& module) {
  Facts facts;
  for (const ast::Statement& statement : module.statements) {
    if (const auto* rule = std::get_if<ast::Rule>(&statement.node)) collect(*rule, facts);
    if (const auto* run = std::get_if<ast::FactRun>(&statement.node)) collect(*run, module, facts);
  }
  return facts;
}

// Every row's span is a text that reads as that one fact.
void check_places(const Module& module, const SourceMap& sources, Interner& names) {
  for (size_t t = 0; t < module.facts.size(); ++t) {
    const FactTable& table = module.facts[t];
    for (size_t row = 0; row < table.rows; ++row) {
      const std::string text(sources.text(fact_span(table, row, sources)));
      SourceMap own;
      const Parsed one = parse_text(text, own, names, {});
      require(one.ok && one.module.facts.size() == 1 && one.module.facts[0].rows == 1,
              "not one fact", text);
      for (size_t c = 0; c < table.arity; ++c) {
        require(one.module.facts[0].columns[c].at(0) == table.columns[c].at(row),
                "another fact at its place", text);
      }
    }
  }
}

void check_format(const Parsed& source, const SourceMap& sources, Interner& names) {
  const ParseOptions options{.bulk_facts = false, .keep_comments = true};
  const std::string once = format(source.module, sources, names);
  SourceMap own;
  const Parsed again = parse_text(once, own, names, options);
  require(again.ok && same_statements(source.module, again.module),
          "formatting changes the program", once);
  require(format(again.module, own, names) == once, "formatting is not idempotent", once);
  const auto& before = source.module.comments;
  const auto& after = again.module.comments;
  require(before.size() == after.size(), "formatting loses a comment", once);
  for (size_t i = 0; i < before.size(); ++i) {
    require(sources.text(before[i].span) == own.text(after[i].span), "formatting changes a comment",
            once);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  Interner names;
  SourceMap sources;
  const Parsed bulk = parse_text(text, sources, names, {});
  const Parsed plain =
      parse_text(text, sources, names, {.bulk_facts = false, .keep_comments = true});
  require(bulk.ok == plain.ok, "bulk and general parser disagree on errors", text);
  if (!plain.ok) return 0;

  const std::string printed = print(plain.module, names);
  const Parsed again = parse_text(printed, sources, names, {.bulk_facts = false});
  require(again.ok && same_statements(plain.module, again.module),
          "print and parse are not inverse", printed);

  const Facts facts = facts_of(plain.module);
  require(facts == facts_of(bulk.module), "bulk and general parser disagree on the facts", text);
  const std::string printed_bulk = print(bulk.module, names);
  const Parsed bulk_again = parse_text(printed_bulk, sources, names, {});
  require(bulk_again.ok && facts == facts_of(bulk_again.module), "printed tables read differently",
          printed_bulk);
  check_places(bulk.module, sources, names);
  check_format(plain, sources, names);
  return 0;
}
