#include "cli/explain_ast.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/check.h"
#include "base/line_index.h"
#include "lang/printer.h"

namespace xlog::cli {
namespace {

namespace ast = lang::ast;
using Json = nlohmann::ordered_json;

// Recursion follows the nesting of the syntax, which the parser limits to ast::kMaxDepth.
class TreeBuilder {
 public:
  explicit TreeBuilder(const lang::Session& session)
      : names_(session.names.symbols), lines_(session.sources) {}

  Json statement(const ast::Statement& s) {
    Json node = std::visit([this](const auto& x) { return tree(x); }, s.node);
    const Place place = lines_.place(s.span.begin);
    node["line"] = place.line;
    node["column"] = place.column;
    return node;
  }

 private:
  Json text(Symbol symbol) const { return std::string(names_.text(symbol)); }

  template <typename Items, typename Make>
  static Json list(const Items& items, const Make& make) {
    Json array = Json::array();
    for (const auto& item : items) array.push_back(make(item));
    return array;
  }
  Json exprs(const std::vector<ast::Expr>& all) const {
    return list(all, [this](const ast::Expr& e) { return expr(e); });
  }
  Json literals(const std::vector<ast::Literal>& all) const {
    return list(all, [this](const ast::Literal& l) { return literal(l); });
  }
  Json texts(const std::vector<Symbol>& all) const {
    return list(all, [this](Symbol s) { return text(s); });
  }

  Json expr(const ast::Expr& e) const {
    switch (e.kind) {
      case ast::ExprKind::Variable:
        return {{"kind", "variable"}, {"name", text(e.name)}};
      case ast::ExprKind::Anonymous:
        return {{"kind", "anonymous"}};
      case ast::ExprKind::Integer:
      case ast::ExprKind::Float:
        return {{"kind", e.kind == ast::ExprKind::Integer ? "integer" : "float"},
                {"text", lang::print(e, names_)}};
      case ast::ExprKind::String:
        return {{"kind", "string"}, {"text", text(e.name)}};
      case ast::ExprKind::Name:
        if (!e.has_parens) return {{"kind", "name"}, {"name", text(e.name)}};
        return {{"kind", "term"}, {"name", text(e.name)}, {"args", exprs(e.args)}};
      case ast::ExprKind::List:
        return {{"kind", e.has_tail ? "list_with_tail" : "list"}, {"elements", exprs(e.args)}};
      case ast::ExprKind::Interval:
        return {{"kind", "interval"}, {"args", exprs(e.args)}};
      case ast::ExprKind::Negate:
        return {{"kind", "negate"}, {"args", exprs(e.args)}};
      case ast::ExprKind::Binary:
        return {{"kind", "binary"},
                {"op", std::string(ast::spelling(e.binary_op))},
                {"args", exprs(e.args)}};
      case ast::ExprKind::Conditional:
        return {{"kind", "if"},
                {"op", std::string(ast::spelling(e.compare_op))},
                {"args", exprs(e.args)}};
      case ast::ExprKind::Aggregate:
        return {{"kind", "aggregate"},
                {"name", text(e.name)},
                {"args", exprs(e.args)},
                {"body", literals(e.body)}};
    }
    XLOG_UNREACHABLE("an unknown kind of expression");
  }

  Json atom(const ast::Atom& a) const {
    return {{"kind", "atom"},
            {"name", (a.strong_negation ? "-" : "") + std::string(names_.text(a.name))},
            {"args", exprs(a.args)}};
  }

  Json literal(const ast::Literal& l) const {
    Json node;
    switch (l.kind) {
      case ast::LiteralKind::Atom:
        node = atom(l.atom);
        break;
      case ast::LiteralKind::Compare:
        node = {{"kind", "compare"}, {"op", std::string(ast::spelling(l.op))}};
        break;
      case ast::LiteralKind::Is:
        node = {{"kind", "is"}};
        break;
      case ast::LiteralKind::Univ:
        node = {{"kind", "univ"}};
        break;
    }
    if (l.kind != ast::LiteralKind::Atom) node["args"] = Json::array({expr(l.lhs), expr(l.rhs)});
    if (l.prefix.empty()) return node;
    node["prefix"] = list(l.prefix, [](ast::PrefixOp op) {
      return op == ast::PrefixOp::Not ? "not" : op == ast::PrefixOp::Know ? "know" : "possible";
    });
    return node;
  }

  Json type(const ast::TypeExpr& t) const {
    Json node{{"kind", "type"}, {"name", text(t.name)}};
    if (!t.args.empty()) {
      node["args"] = list(t.args, [this](const ast::TypeExpr& arg) { return type(arg); });
    }
    return node;
  }

  static std::string_view spelling(ast::HeadKind kind) {
    switch (kind) {
      case ast::HeadKind::None:
        return "none";
      case ast::HeadKind::Atom:
        return "atom";
      case ast::HeadKind::Disjunction:
        return "disjunction";
      case ast::HeadKind::Choice:
        return "choice";
      case ast::HeadKind::Annotated:
        return "annotated";
    }
    XLOG_UNREACHABLE("an unknown kind of head");
  }

  Json tree(const ast::Rule& r) const {
    const char* kind = r.head_kind == ast::HeadKind::None ? "constraint"
                       : r.body.empty()                   ? "fact"
                                                          : "rule";
    Json node{{"kind", kind}, {"head_kind", spelling(r.head_kind)}};
    if (r.learnable_mask) node["learnable"] = text(*r.learnable_mask);
    if (r.trainable_name) node["trainable"] = text(*r.trainable_name);
    if (r.trainable_weight) node["weight"] = expr(*r.trainable_weight);
    if (r.lower) node["lower"] = expr(*r.lower);
    if (r.upper) node["upper"] = expr(*r.upper);
    node["head"] = list(r.head, [this](const ast::HeadElement& e) {
      Json element = atom(e.atom);
      if (e.probability) element["probability"] = expr(*e.probability);
      if (!e.condition.empty()) element["condition"] = literals(e.condition);
      return element;
    });
    node["body"] = literals(r.body);
    return node;
  }
  Json tree(const ast::Query& q) const { return {{"kind", "query"}, {"body", literals(q.body)}}; }
  Json tree(const ast::UseDecl& u) const {
    Json node{{"kind", "use"}, {"path", texts(u.path)}};
    if (u.selective) node["names"] = texts(u.names);
    return node;
  }
  Json tree(const ast::DomainDecl& d) const {
    return {{"kind", "domain"}, {"name", text(d.name)}, {"type", type(d.type)}};
  }
  Json tree(const ast::PredDecl& p) const {
    Json columns = list(p.columns, [this](const ast::PredColumn& c) {
      Json column = type(c.type);
      if (!c.name.empty()) column["column"] = text(c.name);
      return column;
    });
    return {
        {"kind", "pred"}, {"name", text(p.name)}, {"private", p.is_private}, {"columns", columns}};
  }
  Json tree(const ast::FuncDef& f) const {
    Json node{{"kind", "func"}, {"name", text(f.name)}, {"private", f.is_private}};
    node["params"] = list(f.params, [this](const ast::FuncParam& p) {
      Json param{{"kind", "param"}, {"name", text(p.name)}};
      if (p.type) param["type"] = type(*p.type);
      return param;
    });
    if (f.result_type) node["result_type"] = type(*f.result_type);
    node["result"] = expr(f.result);
    if (f.has_goals) node["goals"] = literals(f.goals);
    return node;
  }
  Json tree(const ast::PragmaDecl& p) const {
    return {{"kind", "pragma"}, {"key", text(p.key)}, {"value", expr(p.value)}};
  }
  Json tree(const ast::ConstDef& c) const {
    return {{"kind", "const"}, {"name", text(c.name)}, {"value", expr(c.value)}};
  }
  Json tree(const ast::ProbQuery& q) const {
    return {{"kind", "prob_query"}, {"atom", atom(q.atom)}};
  }
  Json tree(const ast::Evidence& e) const {
    return {{"kind", "evidence"}, {"atom", atom(e.atom)}, {"value", e.value}};
  }
  Json tree(const ast::NeuralDecl& n) const {
    Json node{{"kind", "neural"},
              {"network", text(n.network)},
              {"inputs", exprs(n.inputs)},
              {"output", expr(n.output)}};
    if (n.has_labels) node["labels"] = exprs(n.labels);
    node["atom"] = atom(n.atom);
    return node;
  }
  Json tree(const ast::FactRun&) const { XLOG_UNREACHABLE("facts were not parsed one by one"); }

  const Interner& names_;
  LineIndex lines_;
};

std::string dot_quoted(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    if (c == '\n') {
      out += "\\n";
    } else {
      out += c;
    }
  }
  return "\"" + out + "\"";
}

// A node of the tree becomes a box with its plain fields, its objects and arrays hang below it.
class DotPrinter {
 public:
  std::string print(const Json& statements) {
    out_ = "digraph ast {\n  node [shape=box, fontname=monospace];\n  n0 [label=\"program\"];\n";
    for (const Json& statement : statements) edge(0, node(statement), "");
    return out_ + "}\n";
  }

 private:
  size_t node(const Json& json) {
    const size_t id = ++last_;
    if (!json.is_object()) {
      out_ += fmt::format("  n{} [label={}];\n", id,
                          dot_quoted(json.is_string() ? json.get<std::string>() : json.dump()));
      return id;
    }
    std::string label = json.value("kind", "");
    for (const auto& [key, value] : json.items()) {
      if (value.is_structured() || key == "kind" || key == "line" || key == "column") continue;
      label +=
          fmt::format("\n{}: {}", key, value.is_string() ? value.get<std::string>() : value.dump());
    }
    out_ += fmt::format("  n{} [label={}];\n", id, dot_quoted(label));
    for (const auto& [key, value] : json.items()) {
      if (value.is_object()) edge(id, node(value), key);
      if (!value.is_array()) continue;
      for (const Json& item : value) edge(id, node(item), key);
    }
    return id;
  }

  void edge(size_t from, size_t to, const std::string& label) {
    out_ += fmt::format("  n{} -> n{}", from, to);
    if (!label.empty()) out_ += fmt::format(" [label={}]", dot_quoted(label));
    out_ += ";\n";
  }

  std::string out_;
  size_t last_ = 0;
};

}  // namespace

std::string explain_ast(const lang::Module& module, const lang::Session& session,
                        logic::ExplainFormat format) {
  if (format == logic::ExplainFormat::Text) return lang::print(module, session.names.symbols);
  TreeBuilder builder(session);
  Json statements = Json::array();
  for (const ast::Statement& s : module.statements) statements.push_back(builder.statement(s));
  if (format == logic::ExplainFormat::Dot) return DotPrinter().print(statements);
  return statements.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace xlog::cli
