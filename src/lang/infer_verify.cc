// What holds after inference without errors, checked in debug builds and by the fuzzer.
#include "base/check.h"
#include "lang/infer.h"

namespace xlog::lang::infer {

namespace {

bool is_term_type(const Type& type) { return type.kind == TypeKind::Term; }

class Verifier {
 public:
  Verifier(const Program& program, const std::vector<Variable>* variables)
      : program_(program), variables_(variables) {}

  void atom(PredId pred, const std::vector<Term>& args) const {
    XLOG_CHECK(args.size() == program_[pred].arity,
               "an atom with another arity than its predicate");
    for (size_t i = 0; i < args.size(); ++i) {
      XLOG_CHECK(args[i].type == program_[pred].columns[i].type,
                 "an argument with another type than its column");
      term(args[i]);
    }
  }

  void body(const std::vector<Literal>& literals) const {
    for (const Literal& literal : literals) {
      body(literal.body);
      switch (literal.kind) {
        case LiteralKind::Atom:
          atom(literal.pred, literal.args);
          break;
        case LiteralKind::Builtin:
          for (const Term& arg : literal.args) term(arg);
          break;
        case LiteralKind::Compare:
          XLOG_CHECK(literal.lhs.type == literal.rhs.type, "a comparison of two types");
          term(literal.lhs);
          term(literal.rhs);
          break;
        case LiteralKind::Aggregate:
          term(literal.lhs);
          if (literal.has_value) term(literal.rhs);
          break;
      }
    }
  }

  void term(const Term& t) const {
    for (const Term& arg : t.args) term(arg);
    switch (t.kind) {
      case TermKind::Variable:
        XLOG_CHECK(variables_ != nullptr && t.type == (*variables_)[t.var.index].type,
                   "a variable term without its variable's type");
        return;
      case TermKind::Constant:
        XLOG_CHECK(is_term_type(t.type) || t.value.kind == t.type.kind,
                   "a constant that was not converted");
        return;
      case TermKind::List:
        list(t);
        return;
      case TermKind::Compound:
        XLOG_CHECK(is_term_type(t.type) || t.type.kind == TypeKind::Compound,
                   "a compound term of another type");
        for (const Term& arg : t.args) {
          XLOG_CHECK(is_term_type(arg.type), "an argument of a compound term that is no term");
        }
        return;
      case TermKind::Arith:
        arithmetic(t);
        return;
    }
  }

 private:
  static void list(const Term& t) {
    if (is_term_type(t.type)) {
      for (const Term& arg : t.args) {
        XLOG_CHECK(is_term_type(arg.type), "an element of a list term that is no term");
      }
      return;
    }
    XLOG_CHECK(t.type.kind == TypeKind::List, "a list of another type");
    for (size_t i = 0; i < t.args.size(); ++i) {
      const bool is_tail = t.has_tail && i + 1 == t.args.size();
      XLOG_CHECK(t.args[i].type == (is_tail ? t.type : *t.type.element),
                 "an element of another type than its list");
    }
  }

  static void arithmetic(const Term& t) {
    switch (t.op) {
      case ArithOp::Cast:
        return;
      case ArithOp::Pow:
        XLOG_CHECK(t.type.kind == TypeKind::F64, "pow gives f64");
        for (const Term& arg : t.args) XLOG_CHECK(is_numeric(arg.type.kind), "pow of no number");
        return;
      case ArithOp::If:
        XLOG_CHECK(t.args[0].type == t.args[1].type, "a condition that compares two types");
        XLOG_CHECK(t.args[2].type == t.type && t.args[3].type == t.type, "branches of two types");
        return;
      default:
        XLOG_CHECK(is_numeric(t.type.kind), "arithmetic that gives no number");
        for (const Term& arg : t.args) XLOG_CHECK(arg.type == t.type, "operands of two types");
        return;
    }
  }

  const Program& program_;
  const std::vector<Variable>* variables_;
};

}  // namespace

void verify_types(const Program& program) {
  for (const Predicate& predicate : program.predicates) {
    XLOG_CHECK(predicate.columns.size() == predicate.arity, "a column without a type");
    if (predicate.facts == nullptr) continue;
    for (size_t i = 0; i < predicate.facts->columns.size(); ++i) {
      const FactColumn& column = predicate.facts->columns[i];
      XLOG_CHECK(column.form() == ColumnForm::Typed && column.type() == predicate.columns[i].type,
                 "facts that were not converted");
    }
  }
  for (const Rule& rule : program.rules) {
    const Verifier verifier(program, &rule.variables);
    verifier.body(rule.body);
    for (const HeadElement& element : rule.head) {
      verifier.atom(element.pred, element.args);
      verifier.body(element.condition);
    }
    for (const HeadAggregate& aggregate : rule.aggregates) {
      if (aggregate.has_value) verifier.term(aggregate.value);
    }
    if (rule.lower) verifier.term(*rule.lower);
    if (rule.upper) verifier.term(*rule.upper);
  }
  const Verifier ground(program, nullptr);
  for (const ProbQuery& query : program.prob_queries) ground.atom(query.pred, query.args);
  for (const Evidence& evidence : program.evidence) ground.atom(evidence.pred, evidence.args);
}

}  // namespace xlog::lang::infer
