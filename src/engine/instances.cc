#include "engine/instances.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/check.h"
#include "lang/arith.h"
#include "oracle/aggregates.h"
#include "oracle/builtins.h"

namespace xlog::engine {

using lang::BuiltinId;
using lang::Literal;
using lang::LiteralKind;
using lang::Modal;
using lang::Term;
using lang::TermKind;
using lang::Value;
using lang::VarId;

namespace {

// The value of the one unbound variable in `pattern`, an integer sum or difference, when the whole
// is `value`. Exact, because integers wrap.
Value solve_for(const Term& pattern, bool left_is_unbound, const Value& other, const Value& value) {
  const bool add = pattern.op == lang::ArithOp::Add;
  // x + b = v, a + x = v, x - b = v, a - x = v
  const lang::ArithOp op = add || !left_is_unbound ? lang::ArithOp::Sub : lang::ArithOp::Add;
  const Value operands[] = {add || left_is_unbound ? value : other,
                            add || left_is_unbound ? other : value};
  return *lang::evaluate(op, pattern.type, operands);
}

}  // namespace

bool wants_row(const Literal& literal) {
  if (literal.kind != LiteralKind::Atom) return false;
  if (literal.modal == Modal::None) return literal.nots != 1;
  return literal.modal != Modal::NotKnow && literal.modal != Modal::NotPossible;
}

// ---- entry ----

Instances::Frame Instances::frame_of(uint32_t r, const std::vector<uint32_t>& sequence,
                                     Bindings& bindings) {
  const lang::Rule& rule = program_.rules[r];
  return {.rule = rule,
          .body = rule.body,
          .sequence = sequence,
          .order = analysis_.orders[r].body,
          .roles = roles_of(r),
          .bindings = bindings,
          .rows = RowNumbers(rule.body.size(), kNoRow)};
}

void Instances::solve(uint32_t rule, Bindings& bindings, const Visit& visit,
                      const RowNumbers* fixed) {
  Frame frame = frame_of(rule, plan(rule, bindings), bindings);
  frame.visit = &visit;
  frame.fixed = fixed;
  frame.counts = !program_.rules[rule].aggregates.empty();
  step(frame, 0);
}

std::vector<uint32_t> Instances::solve_partly(uint32_t rule, Bindings& bindings,
                                              const Reached& reached) {
  const std::vector<uint32_t>& sequence = plan(rule, bindings);
  Frame frame = frame_of(rule, sequence, bindings);
  frame.reached = &reached;
  step(frame, 0);
  return sequence;
}

void Instances::solve_inside(uint32_t rule, uint32_t literal, Bindings& bindings,
                             const Visit& visit) {
  Frame frame = frame_of(rule, analysis_.orders[rule].body.sequence, bindings);
  solve_braces(frame, literal, visit);
}

bool Instances::match_head(uint32_t rule, std::span<const std::optional<Value>> row,
                           Bindings& bindings) {
  const lang::Rule& source = program_.rules[rule];
  for (uint32_t c = 0; c < row.size(); ++c) {
    const bool filled =
        std::ranges::any_of(source.aggregates, [&](const auto& a) { return a.column == c; });
    if (filled || !row[c]) continue;
    if (!match(source.head[0].args[c], *row[c], bindings)) return false;
  }
  return true;
}

// ---- literals ----

void Instances::step(Frame& frame, size_t position) {
  if (budget_.tick()) return;
  if (frame.reached != nullptr) (*frame.reached)(position, frame.bindings, frame.rows);
  if (position == frame.sequence.size()) {
    if (frame.visit != nullptr) (*frame.visit)(frame.bindings, frame.rows);
    return;
  }
  const Literal& literal = frame.body[frame.sequence[position]];
  switch (literal.kind) {
    case LiteralKind::Atom:
      return wants_row(literal) ? row_of(frame, position, literal)
                                : no_row_of(frame, position, literal);
    case LiteralKind::Compare:
      return compare(frame, position, literal);
    case LiteralKind::Aggregate:
      return aggregate(frame, position, literal);
    case LiteralKind::Builtin:
      if (literal.builtin == BuiltinId::Findall) return findall(frame, position, literal);
      if (literal.builtin == BuiltinId::Maplist2 || literal.builtin == BuiltinId::Maplist3) {
        std::vector<Value> outputs;
        return maplist(frame, position, literal, 0, outputs);
      }
      return builtin(frame, position, literal);
  }
}

void Instances::row_of(Frame& frame, size_t position, const Literal& literal) {
  const bool plain = literal.nots == 0 && literal.modal == Modal::None;
  if (frame.counts && !plain) return some_row_of(frame, position, literal);
  const uint32_t index = frame.sequence[position];
  uint32_t& here = frame.rows[index];
  if (frame.fixed != nullptr) {
    const size_t mark = frame.bindings.mark();
    here = (*frame.fixed)[index];
    if (match_row(tables_.rows(literal.pred), here, literal.args, frame.bindings)) {
      step(frame, position + 1);
    }
    frame.bindings.undo(mark);
  } else {
    for_each_row(literal.pred, literal.args, frame.bindings, [&](uint32_t row) {
      here = row;
      step(frame, position + 1);
      return !budget_.stopped();
    });
  }
  frame.rows[index] = kNoRow;
}

// Each value of the named variables once.
void Instances::some_row_of(Frame& frame, size_t position, const Literal& literal) {
  std::vector<VarId> free;
  for (const Term& arg : literal.args) lang::collect_variables(arg, free);
  std::erase_if(free, [&](VarId v) {
    return frame.bindings.bound(v) || frame.rule.variables[v.index].anonymous;
  });
  std::set<std::vector<std::pair<uint8_t, uint64_t>>> seen;
  std::vector<std::vector<Value>> solutions;
  for_each_row(literal.pred, literal.args, frame.bindings, [&](uint32_t) {
    std::vector<Value> values;
    std::vector<std::pair<uint8_t, uint64_t>> key;
    for (VarId v : free) {
      values.push_back(frame.bindings[v]);
      key.push_back({static_cast<uint8_t>(values.back().kind), values.back().bits});
    }
    if (seen.insert(std::move(key)).second) solutions.push_back(std::move(values));
    return !free.empty();
  });
  for (const std::vector<Value>& values : solutions) {
    const size_t mark = frame.bindings.mark();
    for (size_t i = 0; i < free.size(); ++i) {
      if (!frame.bindings.bound(free[i])) frame.bindings.bind(free[i], values[i]);
    }
    step(frame, position + 1);
    frame.bindings.undo(mark);
  }
}

void Instances::no_row_of(Frame& frame, size_t position, const Literal& literal) {
  bool found = false;
  for_each_row(literal.pred, literal.args, frame.bindings, [&](uint32_t) {
    found = true;
    return false;
  });
  if (!found) step(frame, position + 1);
}

void Instances::compare(Frame& frame, size_t position, const Literal& literal) {
  Bindings& bindings = frame.bindings;
  const bool left = is_bound(literal.lhs, bindings), right = is_bound(literal.rhs, bindings);
  if (left && right) {
    const std::optional<Value> a = value_of(literal.lhs, bindings);
    const std::optional<Value> b = value_of(literal.rhs, bindings);
    if (!a || !b) return;
    const bool holds = frame.roles.binds[frame.sequence[position]]
                           ? *a == *b
                           : lang::compare_values(literal.op, *a, *b, names_);
    if (holds) step(frame, position + 1);
    return;
  }
  const Term& pattern = left ? literal.rhs : literal.lhs;
  const std::optional<Value> value = value_of(left ? literal.lhs : literal.rhs, bindings);
  if (!value) return;
  if (pattern.kind != TermKind::Arith) return with_match(frame, position, pattern, *value);
  const bool unbound_left = !is_bound(pattern.args[0], bindings);
  const std::optional<Value> other = value_of(pattern.args[unbound_left ? 1 : 0], bindings);
  if (!other) return;
  with_match(frame, position, pattern.args[unbound_left ? 0 : 1],
             solve_for(pattern, unbound_left, *other, *value));
}

void Instances::builtin(Frame& frame, size_t position, const Literal& literal) {
  std::vector<std::optional<Value>> args;
  for (const Term& arg : literal.args) {
    args.push_back(is_bound(arg, frame.bindings) ? value_of(arg, frame.bindings) : std::nullopt);
  }
  if (literal.builtin == BuiltinId::Between && !args[2] &&
      lang::compare(*args[0], *args[1], names_) < 0 &&
      args[1]->bits - args[0]->bits > budget_.most_rows()) {
    return budget_.fail({fmt::format("the interval {}..{} has more than {} values",
                                     lang::to_source(*args[0], names_),
                                     lang::to_source(*args[1], names_), budget_.most_rows()),
                         "raise it with `--max-rows N`", ErrorKind::Limit});
  }
  bool found = false;
  oracle::solve_builtin(literal.builtin, args, names_, [&](std::span<const Value> row) {
    if (budget_.tick()) return;
    const size_t mark = frame.bindings.mark();
    bool fits = true;
    for (size_t i = 0; i < row.size() && fits; ++i) {
      fits =
          oracle::match_argument(literal.args[i], row[i], frame.bindings, names_,
                                 [&](const Term& term) { return value_of(term, frame.bindings); });
    }
    if (fits && literal.nots == 0) step(frame, position + 1);
    found |= fits;
    frame.bindings.undo(mark);
  });
  if (literal.nots == 1 && !found) step(frame, position + 1);
}

void Instances::solve_braces(Frame& frame, uint32_t literal, const Visit& visit) {
  const logic::BodyOrder& order = frame.order.nested[literal];
  const std::vector<Literal>& body = frame.body[literal].body;
  Frame inner{.rule = frame.rule,
              .body = body,
              .sequence = order.sequence,
              .order = order,
              .roles = frame.roles.nested[literal],
              .bindings = frame.bindings,
              .rows = RowNumbers(body.size(), kNoRow),
              .visit = &visit,
              .counts = true};
  step(inner, 0);
}

void Instances::aggregate(Frame& frame, size_t position, const Literal& literal) {
  std::vector<Value> values;
  solve_braces(frame, frame.sequence[position], [&](const Bindings& bindings, const RowNumbers&) {
    std::optional<Value> value = Value::u64(0);
    if (literal.has_value) value = value_of(literal.rhs, bindings);
    if (value) values.push_back(*value);
  });
  const std::optional<Value> result = oracle::fold_values(
      {oracle::fold_kind(literal.aggregate), literal.lhs.type}, std::move(values), names_);
  if (result) with_match(frame, position, literal.lhs, *result);
}

void Instances::findall(Frame& frame, size_t position, const Literal& literal) {
  std::vector<VarId> shared;
  for (const Literal& goal : literal.body) lang::collect_variables(goal, shared);
  const bool nonempty =
      std::ranges::any_of(shared, [&](VarId v) { return frame.bindings.bound(v); });
  std::vector<Value> values;
  solve_braces(frame, frame.sequence[position], [&](const Bindings& bindings, const RowNumbers&) {
    if (auto value = value_of(literal.args[0], bindings)) values.push_back(*value);
  });
  if (nonempty && values.empty()) return;
  const std::optional<Value> list =
      oracle::fold_values({oracle::Fold::Kind::Findall, literal.args[1].type}, values, names_);
  with_match(frame, position, literal.args[1], *list);
}

void Instances::maplist(Frame& frame, size_t position, const Literal& literal, size_t element,
                        std::vector<Value>& outputs) {
  constexpr size_t kMostElements = 4000;  // one C++ stack frame each
  const std::optional<Value> list = value_of(literal.args[0], frame.bindings);
  if (!list || list->kind != lang::TypeKind::List) return;
  const auto elements = names_.terms.elements(*list);
  const bool has_output = literal.builtin == BuiltinId::Maplist3;
  if (element == elements.size()) {
    if (!has_output) return step(frame, position + 1);
    return with_match(frame, position, literal.args[1], names_.terms.list(outputs));
  }
  if (element > kMostElements) {
    return budget_.fail(
        {"maplist over a list too long for a proof", "use a rule over member/2", ErrorKind::Limit});
  }
  const Value input = elements[element];
  Table& table = tables_.rows(literal.pred);
  for (uint32_t row : table.candidates({0}, {&input, 1})) {
    if (table.at(row, 0) != input) continue;
    if (has_output) outputs.push_back(table.at(row, 1));
    maplist(frame, position, literal, element + 1, outputs);
    if (has_output) outputs.pop_back();
  }
}

// ---- terms and rows ----

void Instances::with_match(Frame& frame, size_t position, const Term& pattern, const Value& value) {
  const size_t mark = frame.bindings.mark();
  if (match(pattern, value, frame.bindings)) step(frame, position + 1);
  frame.bindings.undo(mark);
}

bool Instances::match(const Term& pattern, const Value& value, Bindings& bindings) {
  return oracle::match_pattern(pattern, value, bindings, names_,
                               [&](const Term& term) { return value_of(term, bindings); });
}

std::optional<Value> Instances::value_of(const Term& term, const Bindings& bindings) {
  if (term.kind == TermKind::Variable) return bindings[term.var];
  if (term.kind == TermKind::Constant) return term.value;
  return lang::evaluate(
      term, [&](VarId v) { return bindings[v]; }, names_);
}

bool Instances::match_row(const Table& table, uint32_t row, const std::vector<Term>& args,
                          Bindings& bindings) {
  for (uint32_t c = 0; c < args.size(); ++c) {
    if (!match(args[c], table.at(row, c), bindings)) return false;
  }
  return true;
}

// `visit` says whether to go on.
template <typename Visitor>
void Instances::for_each_row(lang::PredId pred, const std::vector<Term>& args, Bindings& bindings,
                             const Visitor& visit) {
  Table& table = tables_.rows(pred);
  std::vector<uint32_t> columns;
  std::vector<Value> key;
  for (uint32_t c = 0; c < args.size(); ++c) {
    if (!is_bound(args[c], bindings)) continue;
    const std::optional<Value> value = value_of(args[c], bindings);
    if (!value) return;
    columns.push_back(c);
    key.push_back(*value);
  }
  const auto try_row = [&](uint32_t row) {
    if (budget_.tick()) return false;
    const size_t mark = bindings.mark();
    const bool go_on = !match_row(table, row, args, bindings) || visit(row);
    bindings.undo(mark);
    return go_on;
  };
  if (columns.empty()) {
    for (uint32_t row = 0; row < table.rows() && try_row(row);) ++row;
    return;
  }
  for (uint32_t row : table.candidates(columns, key)) {
    if (!try_row(row)) return;
  }
}

}  // namespace xlog::engine
