// The checked forms as source text. What the user wrote comes out much as written; helper variables
// are _1, _2, ...
#include <fmt/format.h>

#include "lang/program.h"
#include "lang/typed_text.h"

namespace xlog::lang {

namespace {

// Binding strength of a printed term: a weaker operand is put in parentheses.
enum Strength : int { kConditional = 0, kSum = 1, kProduct = 2, kUnary = 3, kAtom = 4 };

Strength strength(const Term& term) {
  if (term.kind != TermKind::Arith) return kAtom;
  switch (term.op) {
    case ArithOp::If:
      return kConditional;
    case ArithOp::Add:
    case ArithOp::Sub:
      return kSum;
    case ArithOp::Mul:
    case ArithOp::Div:
    case ArithOp::Mod:
      return kProduct;
    case ArithOp::Neg:
      return kUnary;
    default:
      return kAtom;
  }
}

struct Printer {
  const Rule& rule;
  const Program& program;
  const Names& names;
  const TypedConstants* typed = nullptr;  // constants that say their type
  std::string out = {};
  std::vector<uint32_t> helper_numbers =
      {};  // by variable; filled when the first helper is printed

  void variable(VarId id) {
    const Variable& v = rule.variables[id.index];
    if (v.anonymous) {
      out += '_';
    } else if (v.name.empty()) {
      out += fmt::format("_{}", helper_number(id));
    } else {
      out += names.symbols.text(v.name);
    }
  }

  // Helpers are numbered from 1 in the order of their ids.
  uint32_t helper_number(VarId id) {
    if (helper_numbers.empty()) {
      uint32_t next = 1;
      for (const Variable& v : rule.variables) {
        helper_numbers.push_back(!v.anonymous && v.name.empty() ? next++ : 0);
      }
    }
    return helper_numbers[id.index];
  }

  void terms(const std::vector<Term>& list, size_t count) {
    for (size_t i = 0; i < count; ++i) {
      if (i > 0) out += ", ";
      term(list[i]);
    }
  }

  void term(const Term& t) {
    switch (t.kind) {
      case TermKind::Variable:
        variable(t.var);
        break;
      case TermKind::Constant:
        out += to_source(t.value, names);
        if (typed != nullptr && typed->contains(&t)) out += ":" + to_string(t.type);
        break;
      case TermKind::List:
        out += '[';
        terms(t.args, t.args.size() - (t.has_tail ? 1 : 0));
        if (t.has_tail) {
          out += " | ";
          term(t.args.back());
        }
        out += ']';
        break;
      case TermKind::Compound:
        out += names.symbols.text(t.functor);
        out += '(';
        terms(t.args, t.args.size());
        out += ')';
        break;
      case TermKind::Arith:
        arith(t);
        break;
    }
  }

  void operand(const Term& t, int least) {
    const bool parenthesised = strength(t) < least;
    if (parenthesised) out += '(';
    term(t);
    if (parenthesised) out += ')';
  }

  void arith(const Term& t) {
    switch (t.op) {
      case ArithOp::Neg:
        out += '-';
        operand(t.args[0], kAtom);
        break;
      case ArithOp::Add:
      case ArithOp::Sub:
      case ArithOp::Mul:
      case ArithOp::Div:
      case ArithOp::Mod: {
        const int here = strength(t);
        operand(t.args[0], here);
        out += fmt::format(" {} ", spelling(t.op));
        operand(t.args[1], here + 1);
        break;
      }
      case ArithOp::Abs:
      case ArithOp::Min:
      case ArithOp::Max:
      case ArithOp::Pow:
        out += spelling(t.op);
        out += '(';
        terms(t.args, t.args.size());
        out += ')';
        break;
      case ArithOp::Cast:
        out += "cast(";
        term(t.args[0]);
        out += ", " + to_string(t.type) + ")";
        break;
      case ArithOp::If:
        out += "if ";
        operand(t.args[0], kSum);
        out += fmt::format(" {} ", ast::spelling(t.compare));
        operand(t.args[1], kSum);
        out += " then ";
        term(t.args[2]);
        out += " else ";
        term(t.args[3]);
        break;
    }
  }

  void atom(PredId pred, const std::vector<Term>& args) {
    out += predicate_name(program[pred], names);
    if (args.empty()) return;
    out += '(';
    terms(args, args.size());
    out += ')';
  }

  void body(const std::vector<Literal>& literals) {
    for (size_t i = 0; i < literals.size(); ++i) {
      if (i > 0) out += ", ";
      literal(literals[i]);
    }
  }

  void literal(const Literal& l) {
    switch (l.kind) {
      case LiteralKind::Atom:
        if (l.modal != Modal::None) {
          out += spelling(l.modal);
          out += ' ';
        }
        for (int i = 0; i < l.nots; ++i) out += "not ";
        atom(l.pred, l.args);
        break;
      case LiteralKind::Compare:
        term(l.lhs);
        out += l.is_assignment ? " is " : fmt::format(" {} ", ast::spelling(l.op));
        term(l.rhs);
        break;
      case LiteralKind::Builtin:
        builtin(l);
        break;
      case LiteralKind::Aggregate:
        term(l.lhs);
        out += fmt::format(" = {}", spelling(l.aggregate));
        if (l.has_value) {
          out += ' ';
          term(l.rhs);
        }
        out += " : { ";
        body(l.body);
        out += " }";
        break;
    }
  }

  void builtin(const Literal& l) {
    if (l.nots > 0) out += "not ";
    switch (l.builtin) {
      case BuiltinId::Univ:
        term(l.args[0]);
        out += " =.. ";
        term(l.args[1]);
        return;
      case BuiltinId::Between:
        term(l.args[2]);
        out += " = ";
        operand(l.args[0], kSum);
        out += "..";
        operand(l.args[1], kSum);
        return;
      case BuiltinId::Findall:
        out += "findall(";
        term(l.args[0]);
        out += ", ";
        if (l.body.size() != 1) out += '(';
        body(l.body);
        if (l.body.size() != 1) out += ')';
        out += ", ";
        term(l.args[1]);
        out += ')';
        return;
      case BuiltinId::Maplist2:
      case BuiltinId::Maplist3:
        out += "maplist(" + predicate_name(program[l.pred], names) + ", ";
        terms(l.args, l.args.size());
        out += ')';
        return;
      default:
        out += builtin_info(l.builtin).spelling;
        out += '(';
        terms(l.args, l.args.size());
        out += ')';
    }
  }

  const HeadAggregate* aggregate_of(uint32_t column) const {
    for (const HeadAggregate& aggregate : rule.aggregates) {
      if (aggregate.column == column) return &aggregate;
    }
    return nullptr;
  }

  void head_with_aggregates(const HeadElement& element) {
    out += predicate_name(program[element.pred], names) + "(";
    for (uint32_t i = 0; i < element.args.size(); ++i) {
      if (i > 0) out += ", ";
      const HeadAggregate* aggregate = aggregate_of(i);
      if (aggregate == nullptr) {
        term(element.args[i]);
        continue;
      }
      out += fmt::format("{}(", spelling(aggregate->fn));
      if (aggregate->has_value) term(aggregate->value);
      out += ')';
    }
    out += ')';
  }

  void head() {
    if (rule.lower) {
      term(*rule.lower);
      out += ' ';
    }
    if (rule.head_kind == HeadKind::Choice) out += "{ ";
    for (size_t i = 0; i < rule.head.size(); ++i) {
      if (i > 0) out += " ; ";
      const HeadElement& element = rule.head[i];
      if (rule.annotated) out += float_to_source(element.probability) + "::";
      if (rule.aggregates.empty()) {
        atom(element.pred, element.args);
      } else {
        head_with_aggregates(element);
      }
      if (!element.condition.empty()) {
        out += " : ";
        body(element.condition);
      }
    }
    if (rule.head_kind == HeadKind::Choice) out += " }";
    if (rule.upper) {
      out += ' ';
      term(*rule.upper);
    }
  }
};

}  // namespace

std::string predicate_name(const Predicate& predicate, const Names& names) {
  std::string name(names.symbols.text(predicate.name));
  return predicate.strong_negation ? "-" + name : name;
}

std::string predicate_signature(const Predicate& predicate, const Names& names) {
  return fmt::format("{}/{}", predicate_name(predicate, names), predicate.arity);
}

std::string to_source(const Term& term, const Rule& rule, const Program& program,
                      const Names& names) {
  Printer printer{rule, program, names};
  printer.term(term);
  return std::move(printer.out);
}

std::string to_source(const Term& term, const Rule& rule, const Program& program,
                      const Names& names, const TypedConstants& typed) {
  Printer printer{rule, program, names, &typed};
  printer.term(term);
  return std::move(printer.out);
}

std::string to_source(const Literal& literal, const Rule& rule, const Program& program,
                      const Names& names) {
  Printer printer{rule, program, names};
  printer.literal(literal);
  return std::move(printer.out);
}

std::string to_source(const Rule& rule, const Program& program, const Names& names) {
  return to_source(rule, program, names, {});
}

std::string to_source(const Rule& rule, const Program& program, const Names& names,
                      const TypedConstants& typed) {
  Printer printer{rule, program, names, &typed};
  if (rule.learnable) {
    printer.out += fmt::format("learnable({}) :: ", names.symbols.text(*rule.learnable));
  }
  printer.head();
  const bool is_constraint = rule.head_kind == HeadKind::None;
  if (!rule.body.empty() || is_constraint) {
    printer.out += is_constraint ? ":- " : " :- ";
    printer.body(rule.body);
    if (rule.body.empty()) printer.out += "true";
  }
  printer.out += '.';
  return std::move(printer.out);
}

}  // namespace xlog::lang
