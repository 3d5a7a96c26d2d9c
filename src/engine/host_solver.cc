#include "engine/host_solver.h"

#include <algorithm>
#include <cstring>
#include <numeric>

#include "logic/components.h"
#include "logic/order.h"
#include "relation/row_code.h"

namespace xlog::engine {

using lang::Value;
using lang::VarId;

uint64_t to_word(const Value& value, lang::TypeKind column, lang::Names& names) {
  return column == lang::TypeKind::Term ? names.terms.number(value) : value.bits;
}

Value from_word(uint64_t word, lang::TypeKind column, const lang::Names& names) {
  switch (column) {
    case lang::TypeKind::Term:
      return names.terms.numbered(static_cast<uint32_t>(word));
    case lang::TypeKind::I32:
      return Value::i32(static_cast<int32_t>(word));
    default:
      return {column, word};
  }
}

namespace {

// One variable's column of bytes.
class Cells {
 public:
  Cells(lang::TypeKind kind, std::vector<std::byte> bytes)
      : kind_(kind), width_(size_of(relation::column_type(kind))), bytes_(std::move(bytes)) {}

  Value at(uint32_t row, const lang::Names& names) const {
    uint64_t word = 0;
    std::memcpy(&word, &bytes_[uint64_t{row} * width_], width_);  // little end first
    return from_word(word, kind_, names);
  }
  void append(const Value& value, lang::Names& names) {
    const uint64_t word = to_word(value, kind_, names);
    const size_t end = bytes_.size();
    bytes_.resize(end + width_);
    std::memcpy(&bytes_[end], &word, width_);
  }
  std::vector<std::byte> gathered(const std::vector<uint32_t>& rows) const {
    std::vector<std::byte> bytes(rows.size() * width_);
    for (size_t i = 0; i < rows.size(); ++i) {
      std::memcpy(&bytes[i * width_], &bytes_[uint64_t{rows[i]} * width_], width_);
    }
    return bytes;
  }
  std::vector<std::byte> take() { return std::move(bytes_); }

 private:
  lang::TypeKind kind_;
  uint32_t width_;
  std::vector<std::byte> bytes_;
};

}  // namespace

HostSolver::HostSolver(const lang::Program& program, const logic::Analysis& analysis,
                       lang::Session& session, const logic::AnswerOptions& options,
                       Database& database)
    : context_(program, analysis, session, options),
      database_(database),
      is_fetched_(program.predicates.size(), false),
      matcher_(context_, fetched_, nullptr) {
  context_.component = UINT32_MAX;  // somebody else tells how far the evaluation is
  fetched_.relations.resize(is_fetched_.size());
  fetched_.states.assign(is_fetched_.size(), oracle::PredicateState::Settled);
  fetched_.certain.assign(is_fetched_.size(), 0);
}

Status HostSolver::fetch(const std::vector<lang::Literal>& literals) {
  std::vector<lang::PredId> read;
  logic::for_each_predicate(literals, [&](const lang::Literal& literal, const lang::Literal*) {
    if (!is_fetched_[literal.pred.index]) read.push_back(literal.pred);
  });
  for (lang::PredId pred : read) {
    if (Status done = fetch(pred); !done.ok()) return done;
  }
  return Done{};
}

Status HostSolver::fetch(lang::PredId pred) {
  if (is_fetched_[pred.index]) return Done{};
  is_fetched_[pred.index] = true;
  const Result<Rows> rows = database_.columns(pred);
  if (!rows.ok()) return rows.error();
  if (rows->count == 0) return Done{};
  Value* to = fetched_.relations[pred.index].extend(rows->columns.size(), rows->count);
  for (uint32_t row = 0; row < rows->count; ++row) {
    for (const lang::FactColumn& column : rows->columns) *to++ = column.at(row);
  }
  return Done{};
}

namespace {

// As they stand, with orders for what stands in braces where these variables have values.
logic::BodyOrder order_of(const HostQuestion& question, const lang::Program& program,
                          const std::vector<VarId>& bound) {
  lang::Rule body;
  body.variables = program.rules[question.rule].variables;
  body.body = question.literals;
  logic::BodyOrder order = logic::order_body_given(program, body, {}, bound);
  std::iota(order.sequence.begin(), order.sequence.end(), 0);
  return order;
}

}  // namespace

Result<HostRows> HostSolver::solve(const HostQuestion& question, HostRows rows) {
  if (Status done = fetch(question.literals); !done.ok()) return done.error();
  const std::vector<lang::Variable>& variables = context_.program.rules[question.rule].variables;
  std::vector<VarId> mentioned;
  for (const lang::Literal& literal : question.literals) {
    lang::collect_variables(literal, mentioned);
  }
  const logic::BodyOrder order = order_of(question, context_.program, rows.variables);
  std::vector<Cells> given;
  std::vector<size_t> inputs;
  for (size_t c = 0; c < rows.variables.size(); ++c) {
    const VarId v = rows.variables[c];
    given.emplace_back(variables[v.index].type.kind, std::move(rows.columns[c]));
    if (std::ranges::find(mentioned, v) != mentioned.end()) inputs.push_back(c);
  }
  std::vector<Cells> found;
  std::vector<VarId> outputs;
  for (VarId v : question.wanted) {
    if (std::ranges::find(rows.variables, v) != rows.variables.end()) continue;
    outputs.push_back(v);
    found.emplace_back(variables[v.index].type.kind, std::vector<std::byte>());
  }

  lang::Names& names = context_.names();
  std::vector<uint32_t> from;  // by solution: its row
  uint32_t row = 0;
  const oracle::Matcher::Visit visit = [&](const oracle::Bindings& bindings, const auto&) {
    from.push_back(row);
    for (size_t i = 0; i < outputs.size(); ++i) found[i].append(bindings[outputs[i]], names);
  };
  oracle::Bindings bindings(variables.size());
  try {
    for (; row < rows.rows; ++row) {
      for (size_t c : inputs) bindings.bind(rows.variables[c], given[c].at(row, names));
      matcher_.solve(question.source, question.literals, order, bindings, visit);
      bindings.undo(0);
    }
    context_.check_all_limits();
  } catch (const oracle::LimitExceeded& limit) {
    return Error{limit.message, limit.help, ErrorKind::Limit};
  } catch (const oracle::MemoryExceeded& memory) {
    return Error{memory.shortage.details, "", ErrorKind::MemoryLimit};
  }
  if (from.size() > UINT32_MAX) {
    return Error{"more bindings of a rule than 32 bits count", "add literals that bind more"};
  }

  HostRows solutions;
  solutions.variables = question.wanted;
  solutions.rows = static_cast<uint32_t>(from.size());
  bool all = from.size() == rows.rows;
  for (uint32_t i = 0; all && i < from.size(); ++i) all = from[i] == i;
  for (VarId v : question.wanted) {
    const auto kept = std::ranges::find(rows.variables, v);
    if (kept == rows.variables.end()) {
      const auto made = std::ranges::find(outputs, v) - outputs.begin();
      solutions.columns.push_back(found[static_cast<size_t>(made)].take());
      continue;
    }
    Cells& cells = given[static_cast<size_t>(kept - rows.variables.begin())];
    solutions.columns.push_back(all ? cells.take() : cells.gathered(from));
  }
  return solutions;
}

uint64_t HostSolver::take_valueless() {
  const size_t before = counted_.size();
  counted_.merge(context_.valueless);
  context_.valueless.clear();
  return counted_.size() - before;
}

void HostSolver::forget_valueless() { context_.valueless.clear(); }

}  // namespace xlog::engine
