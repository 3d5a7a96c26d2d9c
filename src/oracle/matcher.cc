#include "oracle/matcher.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "base/check.h"
#include "lang/arith.h"
#include "oracle/builtins.h"
#include "oracle/open_results.h"

namespace xlog::oracle {

namespace {

using lang::BuiltinId;
using lang::Literal;
using lang::LiteralKind;
using lang::Modal;
using lang::Term;
using lang::TermKind;
using lang::VarId;

// One C++ stack frame a literal: enough for any program a person writes.
constexpr size_t kMaxBodyLiterals = 4000;

bool is_negated(Modal modal) { return modal == Modal::NotKnow || modal == Modal::NotPossible; }

// `p` and the four modal forms that are true when p holds in the only world there is.
bool wants_true(const Literal& literal) {
  return literal.modal == Modal::None ? literal.nots != 1 : !is_negated(literal.modal);
}

}  // namespace

AtomId Database::atom(lang::PredId pred, size_t row) {
  std::vector<AtomId>& ids = row_atoms[pred.index];
  if (ids.size() <= row) ids.resize(relations[pred.index].size(), UINT32_MAX);
  if (ids[row] == UINT32_MAX) {
    ids[row] = static_cast<AtomId>(atoms.size());
    atoms.push_back({pred, static_cast<uint32_t>(row)});
  }
  return ids[row];
}

AtomId Database::atom(lang::PredId pred, size_t row, GroundProgram& ground) {
  const size_t before = atoms.size();
  const AtomId id = atom(pred, row);
  if (id == before && is_certain(pred, row)) {
    ground.rules.add(GroundHead::Normal, {id}, {}, UINT32_MAX);
  }
  return id;
}

AtomId Database::union_of(std::vector<AtomId> members, GroundProgram& ground) {
  std::sort(members.begin(), members.end());
  auto [it, is_new] = unions.try_emplace(members, static_cast<AtomId>(atoms.size()));
  if (!is_new) return it->second;
  atoms.push_back({});
  for (AtomId member : members) {
    ground.rules.add(GroundHead::Normal, {it->second}, {{GroundKind::Pos, Modal::None, member}},
                     UINT32_MAX);
  }
  return it->second;
}

void Matcher::solve(uint32_t rule_index, const std::vector<Literal>& body,
                    const logic::BodyOrder& order, Bindings& bindings, const Visit& visit) {
  if (body.size() > kMaxBodyLiterals) {
    throw LimitExceeded{fmt::format("a body with {} literals; the reference evaluator takes {}",
                                    body.size(), kMaxBodyLiterals),
                        "split the rule with helper predicates"};
  }
  rule_index_ = rule_index;
  const std::optional<Delta> delta = std::exchange(delta_, std::nullopt);
  if (context_.shortcut != nullptr) {
    const auto growing = ground_ == nullptr ? std::optional(component_) : std::nullopt;
    const BodyTask task{rule_index, body, order, bindings, visit, delta, *this, database_, growing};
    if (context_.shortcut->solve(task)) return;
  }
  Frame frame{body, order, bindings, visit, delta, {}};
  step(frame, 0);
}

void Matcher::solve_while(uint32_t rule_index, const std::vector<Literal>& body,
                          const logic::BodyOrder& order, Bindings& bindings,
                          const VisitWhile& visit) {
  solve(rule_index, body, order, bindings,
        [&](const Bindings& bound, const std::vector<GroundLiteral>& remaining) {
          if (!is_stopped_) is_stopped_ = !visit(bound, remaining);
        });
}

void Matcher::step(Frame& frame, size_t position) {
  if (is_stopped_) return;
  context_.tick();
  if (position == frame.order.sequence.size()) return frame.visit(frame.bindings, frame.remaining);
  const uint32_t index = frame.order.sequence[position];
  const Literal& literal = frame.body[index];
  const Next next = [&] { step(frame, position + 1); };
  switch (literal.kind) {
    case LiteralKind::Compare:
      return compare(frame, literal, next);
    case LiteralKind::Aggregate:
      return aggregate(frame, literal, index, next);
    case LiteralKind::Builtin:
      if (literal.builtin == BuiltinId::Findall) return findall(frame, literal, index, next);
      if (literal.builtin == BuiltinId::Maplist2 || literal.builtin == BuiltinId::Maplist3) {
        return maplist(frame, literal, next);
      }
      return builtin(frame, literal, next);
    case LiteralKind::Atom:
      if (literal.modal == Modal::None && literal.nots == 0)
        return positive_atom(frame, literal, index, next);
      return binding_modal(frame, literal, index, next);
  }
}

void Matcher::positive_atom(Frame& frame, const Literal& literal, uint32_t index,
                            const Next& next) {
  const bool open = database_.states[literal.pred.index] == PredicateState::Open;
  const bool in_delta = frame.delta && frame.delta->literal == index;
  for_each_row(literal.pred, literal.args, frame.bindings, in_delta ? frame.delta : std::nullopt,
               [&](size_t row) {
                 if (!open || database_.is_certain(literal.pred, row)) return next();
                 frame.remaining.push_back(open_atom(literal.pred, row));
                 next();
                 frame.remaining.pop_back();
               });
}

// `know p(X)` with X free: X runs over what p may hold; `_` stays existential, so each X comes
// once.
void Matcher::binding_modal(Frame& frame, const Literal& literal, uint32_t index,
                            const Next& next) {
  std::vector<VarId> free;
  for (const Term& arg : literal.args) lang::collect_variables(arg, free);
  const lang::Rule& rule = context_.program.rules[rule_index_];
  std::erase_if(
      free, [&](VarId v) { return frame.bindings.bound(v) || rule.variables[v.index].anonymous; });
  if (free.empty()) return test_atom(frame, literal, next);

  std::set<std::vector<std::pair<uint8_t, uint64_t>>> seen;
  std::vector<std::vector<Value>> solutions;
  const bool in_delta = frame.delta && frame.delta->literal == index;
  const auto rows = in_delta ? frame.delta : std::nullopt;
  for_each_row(literal.pred, literal.args, frame.bindings, rows, [&](size_t) {
    std::vector<std::pair<uint8_t, uint64_t>> key;
    std::vector<Value> values;
    for (VarId v : free) {
      values.push_back(frame.bindings[v]);
      key.push_back({static_cast<uint8_t>(values.back().kind), values.back().bits});
    }
    if (seen.insert(std::move(key)).second) solutions.push_back(std::move(values));
  });
  for (const std::vector<Value>& values : solutions) {
    const size_t mark = frame.bindings.mark();
    for (size_t i = 0; i < free.size(); ++i) {
      if (!frame.bindings.bound(free[i])) frame.bindings.bind(free[i], values[i]);
    }
    test_atom(frame, literal, next);
    frame.bindings.undo(mark);
  }
}

// A negated or modal literal whose named variables are bound: is there a row that fits?
void Matcher::test_atom(Frame& frame, const Literal& literal, const Next& next) {
  std::vector<size_t> rows;
  for_each_row(literal.pred, literal.args, frame.bindings, std::nullopt,
               [&](size_t row) { rows.push_back(row); });

  const bool holds = std::ranges::any_of(
      rows, [&](size_t row) { return database_.is_certain(literal.pred, row); });
  if (holds || database_.states[literal.pred.index] == PredicateState::Settled) {
    if (rows.empty() != wants_true(literal)) next();
    return;
  }
  const bool negated = literal.modal == Modal::None ? literal.nots == 1 : is_negated(literal.modal);
  const bool growing =
      ground_ == nullptr && context_.analysis.component_of[literal.pred.index] == component_;
  if (rows.empty() && !growing) {
    if (negated) next();
    return;
  }
  GroundLiteral open{GroundKind::Modal, literal.modal, kUndecided};
  if (literal.modal == Modal::None)
    open.kind = literal.nots == 1 ? GroundKind::Neg : GroundKind::NotNot;
  if (ground_ != nullptr) {
    std::vector<AtomId> atoms;
    for (size_t row : rows) atoms.push_back(database_.atom(literal.pred, row));
    open.index = atoms.size() == 1 ? atoms[0] : database_.union_of(std::move(atoms), *ground_);
  }
  frame.remaining.push_back(open);
  next();
  frame.remaining.pop_back();
}

GroundLiteral Matcher::open_atom(lang::PredId pred, size_t row) {
  return {GroundKind::Pos, Modal::None,
          ground_ == nullptr ? kUndecided : database_.atom(pred, row)};
}

void Matcher::compare(Frame& frame, const Literal& literal, const Next& next) {
  if (literal.op == lang::CompareOp::Eq) {
    const bool left = is_bound(literal.lhs, frame.bindings);
    const bool right = is_bound(literal.rhs, frame.bindings);
    if (!left || !right) {
      const std::optional<Value> value = value_of(left ? literal.lhs : literal.rhs, frame.bindings);
      if (value) with_match(frame, left ? literal.rhs : literal.lhs, *value, next);
      return;
    }
  }
  const std::optional<Value> a = value_of(literal.lhs, frame.bindings);
  const std::optional<Value> b = value_of(literal.rhs, frame.bindings);
  if (a && b && lang::compare_values(literal.op, *a, *b, context_.names())) next();
}

void Matcher::builtin(Frame& frame, const Literal& literal, const Next& next) {
  std::vector<std::optional<Value>> args;
  for (const Term& arg : literal.args) {
    args.push_back(is_bound(arg, frame.bindings) ? value_of(arg, frame.bindings) : std::nullopt);
  }
  if (literal.builtin == BuiltinId::Between && !args[2]) check_interval(*args[0], *args[1]);
  bool found = false;
  solve_builtin(literal.builtin, args, context_.names(), [&](std::span<const Value> row) {
    const size_t mark = frame.bindings.mark();
    bool fits = true;
    for (size_t i = 0; i < row.size() && fits; ++i) {
      fits = match_argument(literal.args[i], row[i], frame.bindings, context_.names(),
                            [&](const Term& term) { return value_of(term, frame.bindings); });
    }
    if (fits && literal.nots == 0) next();
    found |= fits;
    frame.bindings.undo(mark);
    context_.tick();
  });
  if (literal.nots == 1 && !found) next();
}

// Integers of one type, so the difference of the bits is the number of steps when lo <= hi.
void Matcher::check_interval(const Value& lo, const Value& hi) const {
  if (lang::compare(lo, hi, context_.names()) > 0) return;
  if (hi.bits - lo.bits <= context_.most_rows()) return;
  throw LimitExceeded{fmt::format("the interval {}..{} has more than {} values",
                                  lang::to_source(lo, context_.names()),
                                  lang::to_source(hi, context_.names()), context_.most_rows()),
                      "raise it with `--max-rows N`, or take a smaller interval"};
}

void Matcher::aggregate(Frame& frame, const Literal& literal, uint32_t index, const Next& next) {
  auto input = std::make_shared<AggregateInput>();
  input->span = literal.span;
  input->folds.push_back({fold_kind(literal.aggregate), literal.lhs.type});
  const Visit collect = [&](const Bindings& bindings, const std::vector<GroundLiteral>& condition) {
    std::optional<Value> value = Value::u64(0);
    if (literal.has_value) value = value_of(literal.rhs, bindings);
    if (value) input->elements.push_back({{*value}, condition});
  };
  Frame inner{literal.body, frame.order.nested[index], frame.bindings, collect, std::nullopt, {}};
  step(inner, 0);
  with_results(frame, input, literal.lhs, next);
}

void Matcher::findall(Frame& frame, const Literal& literal, uint32_t index, const Next& next) {
  auto input = std::make_shared<AggregateInput>();
  input->span = literal.span;
  input->folds.push_back({Fold::Kind::Findall, literal.args[1].type});
  // A goal that shares a bound variable is asked for each of its values, and only where it has a
  // solution.
  std::vector<VarId> shared;
  for (const Literal& goal : literal.body) lang::collect_variables(goal, shared);
  input->nonempty =
      std::any_of(shared.begin(), shared.end(), [&](VarId v) { return frame.bindings.bound(v); });
  const Visit collect = [&](const Bindings& bindings, const std::vector<GroundLiteral>& condition) {
    if (auto value = value_of(literal.args[0], bindings))
      input->elements.push_back({{*value}, condition});
  };
  Frame inner{literal.body, frame.order.nested[index], frame.bindings, collect, std::nullopt, {}};
  step(inner, 0);
  with_results(frame, input, literal.args[1], next);
}

// Goes on once for each result the aggregate may have.
void Matcher::with_results(Frame& frame, const std::shared_ptr<const AggregateInput>& input,
                           const Term& result, const Next& next) {
  const OpenResults results = open_results(*input, context_.names());
  for (const std::vector<Value>& values : results.values) {
    if (results.is_open) frame.remaining.push_back(open_aggregate(input, values));
    with_match(frame, result, values[0], next);
    if (results.is_open) frame.remaining.pop_back();
  }
}

GroundLiteral Matcher::open_aggregate(std::shared_ptr<const AggregateInput> input,
                                      std::vector<Value> result) {
  uint32_t index = kUndecided;
  if (ground_ != nullptr) {
    index = static_cast<uint32_t>(ground_->aggregates.size());
    ground_->aggregates.push_back({std::move(input), std::move(result)});
  }
  return {GroundKind::Aggregate, Modal::None, index};
}

// Every choice of a row for each element, the last element changing fastest.
void Matcher::maplist(Frame& frame, const Literal& literal, const Next& next) {
  const std::optional<Value> list = value_of(literal.args[0], frame.bindings);
  if (!list || list->kind != lang::TypeKind::List) return;
  const bool has_output = literal.builtin == BuiltinId::Maplist3;
  Relation& relation = database_.relations[literal.pred.index];
  std::vector<std::vector<uint32_t>> rows;  // by element
  for (const Value& element : context_.names().terms.elements(*list)) {
    rows.push_back(rows_of_element(relation, element, has_output));
    if (rows.back().empty()) return;
  }
  const bool open = database_.states[literal.pred.index] == PredicateState::Open;
  const size_t mark = frame.remaining.size();
  std::vector<size_t> choice(rows.size(), 0);
  for (bool more = true; more && !is_stopped_;) {
    context_.tick();
    std::vector<Value> outputs;
    for (size_t i = 0; i < rows.size(); ++i) {
      const uint32_t row = rows[i][choice[i]];
      if (has_output) outputs.push_back(relation.row(row)[1]);
      if (!open || database_.is_certain(literal.pred, row)) continue;
      frame.remaining.push_back(open_atom(literal.pred, row));
    }
    if (has_output) {
      with_match(frame, literal.args[1], context_.names().terms.list(outputs), next);
    } else {
      next();
    }
    frame.remaining.resize(mark);
    size_t last = rows.size();
    while (last > 0 && choice[last - 1] + 1 == rows[last - 1].size()) choice[--last] = 0;
    more = last > 0;
    if (more) ++choice[last - 1];
  }
}

std::vector<uint32_t> Matcher::rows_of_element(Relation& relation, const Value& element,
                                               bool has_output) {
  std::vector<uint32_t> rows;
  const std::span key(&element, 1);
  if (!has_output) {
    if (const auto row = relation.find(key)) rows.push_back(static_cast<uint32_t>(*row));
    return rows;
  }
  const Relation::Index& index = relation.index({0});
  for (uint32_t row = index.first(key); row != Relation::Index::kNone; row = index.next(row)) {
    rows.push_back(row);
  }
  return rows;
}

void Matcher::with_match(Frame& frame, const Term& pattern, const Value& value, const Next& next) {
  const size_t mark = frame.bindings.mark();
  if (match(pattern, value, frame.bindings)) next();
  frame.bindings.undo(mark);
}

bool Matcher::match(const Term& pattern, const Value& value, Bindings& bindings) {
  return match_pattern(pattern, value, bindings, context_.names(),
                       [&](const Term& term) { return value_of(term, bindings); });
}

void Matcher::for_each_row(lang::PredId pred, const std::vector<Term>& args, Bindings& bindings,
                           const std::optional<Delta>& delta,
                           const std::function<void(size_t)>& visit) {
  Relation& relation = database_.relations[pred.index];
  std::vector<uint32_t> columns;
  std::vector<Value> key;
  for (uint32_t c = 0; c < args.size(); ++c) {
    if (!is_bound(args[c], bindings)) continue;
    const std::optional<Value> value = value_of(args[c], bindings);
    if (!value) return;
    columns.push_back(c);
    key.push_back(*value);
  }
  const size_t first = delta ? delta->first : 0;
  const size_t last = delta ? delta->last : relation.size();
  auto try_row = [&](size_t row) {
    const size_t mark = bindings.mark();
    bool fits = true;
    for (size_t c = 0; c < args.size() && fits; ++c)
      fits = match(args[c], relation.row(row)[c], bindings);
    if (fits) visit(row);
    bindings.undo(mark);
    context_.tick();
  };
  if (columns.empty() || (delta && last - first < 16)) {
    for (size_t row = first; row < last && !is_stopped_; ++row) try_row(row);
    return;
  }
  if (columns.size() == args.size()) {
    const std::optional<size_t> row = relation.find(key);
    if (row && *row >= first && *row < last) try_row(*row);
    return;
  }
  const Relation::Index& index = relation.index(columns);
  for (uint32_t row = index.first(key); row != Relation::Index::kNone && !is_stopped_;
       row = index.next(row)) {
    if (row >= first && row < last) try_row(row);
  }
}

std::optional<Value> Matcher::value_of(const Term& term, const Bindings& bindings) {
  if (term.kind == TermKind::Variable) return bindings[term.var];
  if (term.kind == TermKind::Constant) return term.value;
  const std::optional<Value> result = lang::evaluate(
      term, [&](VarId v) { return bindings[v]; }, context_.names());
  if (!result) record_no_value(term, bindings);
  return result;
}

void Matcher::record_no_value(const Term& term, const Bindings& bindings) {
  // A part of a term that is not of the wanted type does not match; that is no arithmetic.
  const bool reads_term = term.kind == TermKind::Arith && term.op == lang::ArithOp::Cast &&
                          term.args[0].type.kind == lang::TypeKind::Term;
  if (reads_term) return;
  std::vector<VarId> variables;
  lang::collect_variables(term, variables);
  std::vector<std::pair<uint8_t, uint64_t>> key;
  for (VarId v : variables)
    key.push_back({static_cast<uint8_t>(bindings[v].kind), bindings[v].bits});
  if (context_.valueless.empty()) context_.valueless_span = term.span;
  context_.valueless.insert({rule_index_, std::move(key)});
}

}  // namespace xlog::oracle
