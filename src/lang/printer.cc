#include "lang/printer.h"

#include <fmt/format.h>

#include <bit>
#include <cmath>

#include "base/check.h"
#include "lang/lexer.h"
#include "lang/value.h"

namespace xlog::lang {

using ast::Expr;
using ast::ExprKind;

namespace {

struct Writer {
  std::string out;
  const Interner& names;
  bool tall = false;  // one literal of a rule's body a line

  std::string_view text(Symbol symbol) const { return names.text(symbol); }
};

// What may stand where without parentheses: a position asks for at least a level.
enum Level : int { kConditional, kInterval, kSum, kProduct, kUnary, kPrimary };

void write(Writer& w, const Expr& expr, int lowest = kConditional);
void write(Writer& w, const ast::Atom& atom);
void write_literals(Writer& w, const std::vector<ast::Literal>& body,
                    std::string_view separator = ", ");

template <typename Items, typename Each>
void write_joined(Writer& w, const Items& items, std::string_view separator, Each each) {
  bool first = true;
  for (const auto& item : items) {
    if (!first) w.out += separator;
    first = false;
    each(item);
  }
}

void write_exprs(Writer& w, const std::vector<Expr>& exprs) {
  write_joined(w, exprs, ", ", [&](const Expr& e) { write(w, e); });
}

// ---- Expressions ----

int level_of(const Expr& expr) {
  switch (expr.kind) {
    case ExprKind::Conditional:
      return kConditional;
    case ExprKind::Interval:
      return kInterval;
    case ExprKind::Binary:
      return expr.binary_op == ast::BinaryOp::Add || expr.binary_op == ast::BinaryOp::Sub
                 ? kSum
                 : kProduct;
    case ExprKind::Negate:
      return kUnary;
    default:
      return kPrimary;
  }
}

void write_in_parens(Writer& w, const Expr& expr) {
  w.out += '(';
  write(w, expr);
  w.out += ')';
}

// The constant `if` where an expression starts can look like a conditional.
bool is_bare_if(const Writer& w, const Expr& expr) {
  return expr.kind == ExprKind::Name && !expr.has_parens && w.text(expr.name) == "if";
}

void write_guarded(Writer& w, const Expr& expr, int lowest = kConditional) {
  is_bare_if(w, expr) ? write_in_parens(w, expr) : write(w, expr, lowest);
}

void write_number(Writer& w, const Expr& expr) {
  const bool is_float = expr.kind == ExprKind::Float;
  if (is_float ? std::signbit(expr.number) : expr.negative) w.out += '-';
  if (!expr.name.empty()) {
    w.out += w.text(expr.name);
  } else if (is_float) {
    w.out += float_to_source(std::abs(expr.number));
  } else {
    w.out += fmt::format_int(expr.magnitude).str();
  }
}

bool is_plain_number(const Expr& expr) {
  if (expr.kind == ExprKind::Integer) return !expr.negative;
  return expr.kind == ExprKind::Float && !std::signbit(expr.number);
}

void write_name(Writer& w, const Expr& expr) {
  w.out += w.text(expr.name);
  if (!expr.has_parens) return;
  w.out += '(';
  write_exprs(w, expr.args);
  w.out += ')';
}

void write_list(Writer& w, const Expr& expr) {
  w.out += '[';
  for (size_t i = 0; i < expr.args.size(); ++i) {
    const bool is_tail = expr.has_tail && i + 1 == expr.args.size();
    if (i > 0) w.out += is_tail ? " | " : ", ";
    write(w, expr.args[i]);
  }
  w.out += ']';
}

std::string_view name_at_start(std::string_view text) {
  size_t end = 0;
  while (end < text.size() &&
         (std::isalnum(static_cast<unsigned char>(text[end])) != 0 || text[end] == '_'))
    ++end;
  return text.substr(0, end);
}

std::string_view name_at_end(std::string_view text) {
  size_t begin = text.size();
  while (begin > 0 &&
         (std::isalnum(static_cast<unsigned char>(text[begin - 1])) != 0 || text[begin - 1] == '_'))
    --begin;
  return text.substr(begin);
}

// Whether `sum VALUE : {` reads back; otherwise it is written `sum(VALUE) : {`.
bool can_stand_bare(std::string_view value) {
  if (value[0] == '(' || value[0] == '-') return false;
  const Word first = find_word(name_at_start(value));
  return first != Word::Then && first != Word::Else && !is_aggregate(find_word(name_at_end(value)));
}

void write_aggregate(Writer& w, const Expr& expr) {
  w.out += w.text(expr.name);
  if (!expr.args.empty()) {
    Writer value{{}, w.names};
    write(value, expr.args[0]);
    w.out += can_stand_bare(value.out) ? " " + value.out : "(" + value.out + ")";
  }
  w.out += " : { ";
  write_literals(w, expr.body);
  w.out += " }";
}

void write_conditional(Writer& w, const Expr& expr) {
  w.out += "if ";
  write(w, expr.args[0]);
  w.out += fmt::format(" {} ", ast::spelling(expr.compare_op));
  write_guarded(w, expr.args[1]);
  w.out += " then ";
  write_guarded(w, expr.args[2]);
  w.out += " else ";
  write_guarded(w, expr.args[3]);
}

void write_binary(Writer& w, const Expr& expr) {
  const int level = level_of(expr);
  write_guarded(w, expr.args[0], level);
  w.out += fmt::format(" {} ", ast::spelling(expr.binary_op));
  write(w, expr.args[1], level + 1);
}

void write_negate(Writer& w, const Expr& expr) {
  w.out += '-';
  // A minus before a number is part of the number.
  is_plain_number(expr.args[0]) ? write_in_parens(w, expr.args[0]) : write(w, expr.args[0], kUnary);
}

void write(Writer& w, const Expr& expr, int lowest) {
  if (level_of(expr) < lowest) return write_in_parens(w, expr);
  switch (expr.kind) {
    case ExprKind::Variable:
      w.out += w.text(expr.name);
      return;
    case ExprKind::Anonymous:
      w.out += '_';
      return;
    case ExprKind::Integer:
    case ExprKind::Float:
      return write_number(w, expr);
    case ExprKind::String:
      w.out += quoted(w.text(expr.name));
      return;
    case ExprKind::Name:
      return write_name(w, expr);
    case ExprKind::List:
      return write_list(w, expr);
    case ExprKind::Interval:
      write(w, expr.args[0], kSum);
      w.out += "..";
      write(w, expr.args[1], kSum);
      return;
    case ExprKind::Negate:
      return write_negate(w, expr);
    case ExprKind::Binary:
      return write_binary(w, expr);
    case ExprKind::Conditional:
      return write_conditional(w, expr);
    case ExprKind::Aggregate:
      return write_aggregate(w, expr);
  }
  XLOG_UNREACHABLE("not an ExprKind");
}

// ---- Atoms, literals, bodies ----

void write(Writer& w, const ast::Atom& atom) {
  if (atom.strong_negation) w.out += '-';
  w.out += w.text(atom.name);
  if (!atom.has_parens) return;
  w.out += '(';
  write_exprs(w, atom.args);
  w.out += ')';
}

std::string_view spelling(ast::PrefixOp op) {
  switch (op) {
    case ast::PrefixOp::Not:
      return "not ";
    case ast::PrefixOp::Know:
      return "know ";
    case ast::PrefixOp::Possible:
      return "possible ";
  }
  XLOG_UNREACHABLE("not a PrefixOp");
}

void write(Writer& w, const ast::Literal& literal) {
  for (const ast::PrefixOp op : literal.prefix) w.out += spelling(op);
  if (literal.kind == ast::LiteralKind::Atom) return write(w, literal.atom);
  write(w, literal.lhs);
  switch (literal.kind) {
    case ast::LiteralKind::Is:
      w.out += " is ";
      break;
    case ast::LiteralKind::Univ:
      w.out += " =.. ";
      break;
    default:
      w.out += fmt::format(" {} ", ast::spelling(literal.op));
  }
  write(w, literal.rhs);
}

void write_literals(Writer& w, const std::vector<ast::Literal>& body, std::string_view separator) {
  write_joined(w, body, separator, [&](const ast::Literal& literal) { write(w, literal); });
}

// The body of a statement, after `:-` or `?-`.
void write_body(Writer& w, const std::vector<ast::Literal>& body) {
  constexpr std::string_view kNewLine = "\n    ";
  w.out += w.tall ? kNewLine : " ";
  write_literals(w, body, w.tall ? ",\n    " : ", ");
}

// ---- Rules ----

void write_choice(Writer& w, const ast::Rule& rule) {
  if (rule.lower) {
    write(w, *rule.lower);
    w.out += ' ';
  }
  w.out += '{';
  write_joined(w, rule.head, " ;", [&](const ast::HeadElement& element) {
    w.out += ' ';
    write(w, element.atom);
    if (element.condition.empty()) return;
    w.out += " : ";
    write_literals(w, element.condition);
  });
  w.out += rule.head.empty() ? "}" : " }";
  if (!rule.upper) return;
  w.out += ' ';
  write(w, *rule.upper);
}

void write_head(Writer& w, const ast::Rule& rule) {
  if (rule.head_kind == ast::HeadKind::Choice) return write_choice(w, rule);
  write_joined(w, rule.head, " ; ", [&](const ast::HeadElement& element) {
    if (element.probability) {
      write(w, *element.probability);
      w.out += level_of(*element.probability) == kPrimary ? "::" : " :: ";
    }
    write(w, element.atom);
  });
}

void write_node(Writer& w, const ast::Rule& rule) {
  if (rule.learnable_mask) w.out += fmt::format("learnable({}) :: ", w.text(*rule.learnable_mask));
  if (rule.trainable_name) {
    w.out += fmt::format("trainable_rule({}, weight = ", w.text(*rule.trainable_name));
    write(w, *rule.trainable_weight);
    w.out += ") :: ";
  }
  write_head(w, rule);
  if (rule.body.empty()) return;
  w.out += rule.head_kind == ast::HeadKind::None ? ":-" : " :-";
  write_body(w, rule.body);
}

void write_node(Writer& w, const ast::Query& query) {
  w.out += "?-";
  write_body(w, query.body);
}

// ---- Declarations ----

void write(Writer& w, const ast::TypeExpr& type) {
  w.out += w.text(type.name);
  if (type.args.empty()) return;
  w.out += '<';
  write_joined(w, type.args, ", ", [&](const ast::TypeExpr& arg) { write(w, arg); });
  w.out += '>';
}

void write_node(Writer& w, const ast::UseDecl& use) {
  w.out += "use ";
  write_joined(w, use.path, "/", [&](Symbol part) { w.out += w.text(part); });
  if (!use.selective) return;
  w.out += "::{";
  write_joined(w, use.names, ", ", [&](Symbol name) { w.out += w.text(name); });
  w.out += '}';
}

void write_node(Writer& w, const ast::DomainDecl& domain) {
  w.out += fmt::format("domain {} : ", w.text(domain.name));
  write(w, domain.type);
}

void write_node(Writer& w, const ast::PredDecl& pred) {
  w.out += fmt::format("{}pred {}(", pred.is_private ? "private " : "", w.text(pred.name));
  write_joined(w, pred.columns, ", ", [&](const ast::PredColumn& column) {
    if (!column.name.empty()) w.out += fmt::format("{}: ", w.text(column.name));
    write(w, column.type);
  });
  w.out += ')';
}

void write_node(Writer& w, const ast::FuncDef& func) {
  w.out += fmt::format("{}func {}(", func.is_private ? "private " : "", w.text(func.name));
  write_joined(w, func.params, ", ", [&](const ast::FuncParam& param) {
    w.out += w.text(param.name);
    if (!param.type) return;
    w.out += ": ";
    write(w, *param.type);
  });
  w.out += ')';
  if (func.result_type) {
    w.out += " -> ";
    write(w, *func.result_type);
  }
  w.out += " = ";
  write(w, func.result);
  if (!func.has_goals) return;
  w.out += " :-";
  write_body(w, func.goals);
}

void write_node(Writer& w, const ast::PragmaDecl& pragma) {
  w.out += fmt::format("#pragma {} = ", w.text(pragma.key));
  write(w, pragma.value);
}

void write_node(Writer& w, const ast::ConstDef& constant) {
  w.out += fmt::format("#const {} = ", w.text(constant.name));
  write(w, constant.value);
}

void write_node(Writer& w, const ast::ProbQuery& query) {
  w.out += "query(";
  write(w, query.atom);
  w.out += ')';
}

void write_node(Writer& w, const ast::Evidence& evidence) {
  w.out += "evidence(";
  write(w, evidence.atom);
  w.out += evidence.value ? ", true)" : ", false)";
}

void write_node(Writer& w, const ast::NeuralDecl& neural) {
  w.out += fmt::format("nn({}, [", w.text(neural.network));
  write_exprs(w, neural.inputs);
  w.out += "], ";
  write(w, neural.output);
  if (neural.has_labels) {
    w.out += ", [";
    write_exprs(w, neural.labels);
    w.out += ']';
  }
  w.out += ") :: ";
  write(w, neural.atom);
}

// ---- Facts in tables ----

void write_constant(Writer& w, const Value& value) {
  switch (value.kind) {
    case TypeKind::I64:
      w.out += fmt::format_int(value.as_signed()).str();
      return;
    case TypeKind::U64:
      w.out += fmt::format_int(value.bits).str();
      return;
    case TypeKind::F64:
      w.out += float_to_source(std::bit_cast<double>(value.bits));
      return;
    case TypeKind::Symbol:
      w.out += symbol_to_source(w.text(value.as_symbol()));
      return;
    default:
      XLOG_UNREACHABLE("a constant that no plain fact holds");
  }
}

void write_fact(Writer& w, const FactTable& table, size_t row) {
  if (table.strong_negation) w.out += '-';
  w.out += w.text(table.name);
  if (table.arity == 0) return;
  w.out += '(';
  write_joined(w, table.columns, ", ",
               [&](const FactColumn& column) { write_constant(w, column.at(row)); });
  w.out += ')';
}

void write_facts(Writer& w, const ast::FactRun& run, const Module& module) {
  const FactTable& table = module.facts[run.table];
  for (size_t i = 0; i < run.rows; ++i) {
    if (i > 0) w.out += ".\n";
    write_fact(w, table, run.first_row + i);
  }
}

// ---- Statements ----

void write(Writer& w, const ast::Statement& statement, const Module& module) {
  if (const auto* run = std::get_if<ast::FactRun>(&statement.node)) {
    write_facts(w, *run, module);
  } else {
    std::visit(
        [&](const auto& node) {
          if constexpr (!std::is_same_v<decltype(node), const ast::FactRun&>) write_node(w, node);
        },
        statement.node);
  }
  if (!std::holds_alternative<ast::PragmaDecl>(statement.node)) w.out += '.';
}

template <typename T>
std::string written(const T& node, const Interner& names) {
  Writer w{{}, names};
  write(w, node);
  return std::move(w.out);
}

}  // namespace

std::string print(const Expr& expr, const Interner& names) { return written(expr, names); }
std::string print(const ast::Atom& atom, const Interner& names) { return written(atom, names); }
std::string print(const ast::Literal& literal, const Interner& names) {
  return written(literal, names);
}

std::string print(const std::vector<ast::Literal>& body, const Interner& names) {
  Writer w{{}, names};
  write_literals(w, body);
  return std::move(w.out);
}

std::string print(const ast::Statement& statement, const Module& module, const Interner& names) {
  Writer w{{}, names};
  write(w, statement, module);
  return std::move(w.out);
}

std::string print_tall(const ast::Statement& statement, const Module& module,
                       const Interner& names) {
  Writer w{{}, names, true};
  write(w, statement, module);
  return std::move(w.out);
}

std::string print(const Module& module, const Interner& names) {
  Writer w{{}, names};
  for (const ast::Statement& statement : module.statements) {
    write(w, statement, module);
    w.out += '\n';
  }
  return std::move(w.out);
}

}  // namespace xlog::lang
