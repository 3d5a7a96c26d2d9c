#include "lang/goal.h"

#include <fmt/format.h>

#include <algorithm>

#include "lang/arith.h"
#include "lang/printer.h"

namespace xlog::lang {

namespace {

constexpr std::string_view kGoalName = "<goal>";

Diagnostic& refuse(Span span, Session& session) {
  return session.diagnostics
      .report(Code::InvalidArgument, span, "what is asked about is one atom of the program")
      .help("write it as `reach(1, X)`, with constants, variables and `_` as arguments");
}

class GoalTyper {
 public:
  GoalTyper(Program& program, Session& session)
      : program_(program), session_(session), goal_(*program.goal) {}

  void run() {
    known_.assign(goal_.variables.size(), false);
    for (column_ = 0; column_ < goal_.args.size(); ++column_) {
      type(goal_.args[column_], predicate().columns[column_].type);
    }
  }

 private:
  const Predicate& predicate() const { return program_[goal_.pred]; }

  void report(Code code, const Term& term, const std::string& message) {
    session_.diagnostics.report(code, term.span, message)
        .label(predicate().columns[column_].type_span, "the type of the column comes from here");
  }

  std::string column_text() const {
    return fmt::format("column {} of {}, which is {}", column_ + 1,
                       predicate_signature(predicate(), session_.names),
                       to_string(predicate().columns[column_].type));
  }

  void type(Term& term, const Type& wanted) {
    term.type = wanted;
    switch (term.kind) {
      case TermKind::Variable:
        return type_variable(term);
      case TermKind::Constant:
        return convert(term);
      case TermKind::List:
      case TermKind::Compound:
        if (!is_ground(term)) return type_pattern(term);
        fold(term);
        return convert(term);
      case TermKind::Arith:
        refuse(term.span, session_);
        return;
    }
  }

  void type_variable(const Term& term) {
    Variable& variable = goal_.variables[term.var.index];
    if (!known_[term.var.index]) {
      known_[term.var.index] = true;
      variable.type = term.type;
    } else if (variable.type != term.type) {
      report(Code::TypeMismatch, term,
             fmt::format("`{}` is of type {} elsewhere and cannot stand in {}",
                         session_.names.symbols.text(variable.name), to_string(variable.type),
                         column_text()));
    }
  }

  void convert(Term& term) {
    const Value literal = term.value;
    if (convert_literal(term.value, term.type, session_.names)) return;
    const bool out_of_range = is_numeric(literal.kind) && is_numeric(term.type.kind);
    report(out_of_range ? Code::LiteralOutOfRange : Code::TypeMismatch, term,
           fmt::format("`{}` does not fit {}", to_source(literal, session_.names), column_text()));
  }

  // A structure with variables in it. Inside compound terms everything is of type term.
  void type_pattern(Term& term) {
    const Type any{TypeKind::Term, nullptr};
    const bool is_list = term.kind == TermKind::List;
    const bool fits = term.type.kind == TypeKind::Term ||
                      term.type.kind == (is_list ? TypeKind::List : TypeKind::Compound);
    if (!fits) {
      return report(
          Code::TypeMismatch, term,
          fmt::format("a {} does not fit {}", is_list ? "list" : "compound term", column_text()));
    }
    const Type element = is_list && term.type.kind == TypeKind::List ? *term.type.element : any;
    for (size_t i = 0; i < term.args.size(); ++i) {
      const bool is_tail = term.has_tail && i + 1 == term.args.size();
      type(term.args[i], is_tail ? term.type : element);
    }
  }

  void fold(Term& term) {
    const auto value = evaluate(
        term, [](VarId) { return Value{}; }, session_.names);
    if (!value) {
      refuse(term.span, session_);
      return;
    }
    term.kind = TermKind::Constant;
    term.value = *value;
    term.args.clear();
    term.has_tail = false;
  }

  Program& program_;
  Session& session_;
  Goal& goal_;
  std::vector<bool> known_;  // variables that have a type
  size_t column_ = 0;
};

}  // namespace

bool is_in_goal(Span span, const SourceMap& sources) {
  const SourceFile* file = sources.file_of(span);
  return file != nullptr && file->name == kGoalName;
}

bool add_goal(const std::string& text, Module& main, Session& session) {
  const SourceFile* file = session.sources.add(std::string(kGoalName), "", text);
  if (file == nullptr) {
    session.diagnostics.report(Code::SourceTooLarge, {}, "source texts hold 4 GiB in all");
    return false;
  }
  ast::Query query;
  query.body = parse_body(*file, session.names.symbols, session.diagnostics);
  if (session.diagnostics.has_errors()) return false;
  const Span whole{file->base, file->base + static_cast<uint32_t>(text.size())};
  if (query.body.size() != 1 || query.body[0].kind != ast::LiteralKind::Atom ||
      !query.body[0].prefix.empty()) {
    refuse(whole, session);
    return false;
  }
  main.statements.push_back({whole, std::move(query)});
  return true;
}

bool take_goal(Program& program, Session& session) {
  Query query = std::move(program.queries.back());
  program.queries.pop_back();
  // The helper predicate stays, so that others keep their numbers, but nothing is left to type.
  Predicate& helper = program[query.pred];
  helper.arity = 0;
  helper.columns.clear();
  helper.rules.clear();
  const auto rule = std::ranges::find_if(program.rules, [&](const Rule& r) {
    return r.origin == RuleOrigin::Query && r.head[0].pred == query.pred;
  });
  if (rule == program.rules.end() || rule->body.size() != 1 ||
      rule->body[0].kind != LiteralKind::Atom) {
    refuse(query.span, session);
    return false;
  }
  program.goal = Goal{.pred = rule->body[0].pred,
                      .args = std::move(rule->body[0].args),
                      .variables = std::move(rule->variables),
                      .text = std::move(query.text),
                      .span = query.span};
  // Rules behind it (strong negation) have no head, so that no number of theirs is kept anywhere.
  program.rules.erase(rule);
  return true;
}

void type_goal(Program& program, Session& session) { GoalTyper(program, session).run(); }

}  // namespace xlog::lang
