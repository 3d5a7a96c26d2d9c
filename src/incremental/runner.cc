#include "incremental/runner.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/check.h"
#include "base/memory.h"
#include "lang/arith.h"
#include "oracle/bindings.h"
#include "oracle/builtins.h"

namespace xlog::incremental {

using lang::Term;
using lang::TermKind;
using lang::Value;
using lang::VarId;

// ---- what it may cost ----

double Allowance::seconds() const {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
}

bool Allowance::look(uint64_t work) {
  if (stopped()) return false;
  if (work > most_work_ && seconds() >= least_seconds_) {
    too_many_ = true;
    return false;
  }
  if (logic::is_interrupted(options_)) {
    fail({std::string(logic::kInterrupted), "", ErrorKind::Limit});
  }
  if (options_.memory_limit > 0 && own_memory() > options_.memory_limit) {
    fail({fmt::format("the process takes {}", size_text(own_memory())),
          "raise it with `--memory SIZE`", ErrorKind::MemoryLimit});
  }
  if (options_.timeout_seconds > 0 && seconds() >= options_.timeout_seconds) {
    fail({fmt::format("not finished after {} seconds", options_.timeout_seconds),
          "raise it with `--timeout SECONDS`", ErrorKind::Limit});
  }
  return !stopped();
}

void Allowance::foresee(uint64_t work, uint64_t done, uint64_t all) {
  constexpr double kFar = 4;
  if (rest_after_ < most_work_) return;
  const double times = static_cast<double>(all) / static_cast<double>(done);
  const bool far = static_cast<double>(work) * times > kFar * static_cast<double>(most_work_);
  too_many_ |= far && seconds() * times >= kFar * least_seconds_;
}

uint64_t Allowance::most_rows() const {
  constexpr uint64_t kMostMadeRows = 10'000'000;  // as a fresh run has it
  return options_.max_rows > 0 ? options_.max_rows : kMostMadeRows;
}

void Allowance::count_rows(uint64_t rows, bool makes_values, std::string_view help) {
  made_rows_ += rows;
  if (options_.max_rows == 0 && !makes_values) return;
  if (made_rows_ <= most_rows()) return;
  fail({fmt::format("more than {} rows were derived", most_rows()), std::string(help),
        ErrorKind::Limit});
}

void Allowance::fail(Error error) {
  if (!error_) error_ = std::move(error);
}

// ---- what every step does ----

inline uint8_t Runner::mask(const Step& step) const {
  if (step.own) return step.before ? sight_.own_before : sight_.own_after;
  return step.before ? sight_.before : sight_.after;
}

inline bool Runner::use(const std::vector<ColumnUse>& uses, const uint64_t* cells) {
  for (const ColumnUse& use : uses) {
    const uint64_t cell = cells[use.column];
    switch (use.kind) {
      case ColumnUse::Kind::Set:
        registers_[use.reg] = cell;
        break;
      case ColumnUse::Kind::Check:
        if (registers_[use.reg] != cell) return false;
        break;
      case ColumnUse::Kind::Constant:
        if (use.cell != cell) return false;
        break;
    }
  }
  return true;
}

// False where it has no value, so that no row has it.
inline bool Runner::read(const Operand& operand, uint64_t& cell) {
  switch (operand.kind) {
    case Operand::Kind::Register:
      cell = registers_[operand.reg];
      return true;
    case Operand::Kind::Constant:
      cell = operand.cell;
      return true;
    case Operand::Kind::Computed: {
      const std::optional<Value> value = value_of(*operand.term);
      if (value) cell = cells_.cell(operand.type, *value);
      return value.has_value();
    }
  }
  XLOG_UNREACHABLE("all operands are covered");
}

inline bool Runner::key_of(const Step& step) {
  if (key_.size() < step.key.size()) key_.resize(step.key.size());
  uint64_t* cell = key_.data();
  for (const Operand& operand : step.key) {
    if (!read(operand, *cell++)) return false;
  }
  return true;
}

inline void Runner::emit(const Step& step, uint32_t newest) {
  const size_t before = out_->cells.size();
  for (const Operand& operand : step.key) {
    uint64_t cell = 0;
    if (!read(operand, cell)) return out_->cells.resize(before);
    out_->cells.push_back(cell);
  }
  ++instances_;
  out_->newest.push_back(newest);
  out_->signs.push_back(sign_);
  ++out_->count;
}

// ---- one version ----

void Runner::set_up(const Version& version, const Sight& sight, Emitted& out) {
  version_ = &version;
  sight_ = sight;
  out_ = &out;
  if (registers_.size() < version.registers) registers_.resize(version.registers);
  stop_ = allowance_->stopped();
}

void Runner::run(uint32_t row, int8_t sign) {
  sign_ = sign;
  const Table& table = tables_[version_->table];
  tick();
  if (stop_ || !use(version_->start, table.row(row))) return;
  go(0, version_->own && table.supported() ? table.stamp(row) : 0);
}

void Runner::run_all(const Version& version, const Sight& sight, Emitted& out) {
  set_up(version, sight, out);
  sign_ = 1;
  if (!stop_) go(0, 0);
}

void Runner::go(size_t s, uint32_t newest) {
  const Step& step = version_->steps[s];
  switch (step.kind) {
    case StepKind::Emit:
      return emit(step, newest);
    case StepKind::Find:
    case StepKind::Probe:
    case StepKind::Scan:
      return rows(step, s, newest);
    case StepKind::Absent: {
      if (key_of(step)) {
        const Table& table = tables_[step.table];
        const uint32_t r = table.find(key_.data());
        if (r != kNoRow && (table.flags(r) & mask(step)) != 0) return;
      }
      return go(s + 1, newest);
    }
    case StepKind::Compare:
      if (compare(step)) go(s + 1, newest);
      return;
    case StepKind::NoValue:
      if (!value_of(step.left)) go(s + 1, newest);
      return;
    case StepKind::HasValue:
      if (value_of(step.left)) go(s + 1, newest);
      return;
    case StepKind::Match:
      return match(step, s, newest);
    case StepKind::Builtin:
      return builtin(step, s, newest);
  }
}

void Runner::rows(const Step& step, size_t s, uint32_t newest) {
  const Table& table = tables_[step.table];
  const uint8_t wanted = mask(step);
  const bool stamped = step.own && table.supported();
  const auto try_row = [&](uint32_t r) {
    tick();
    if ((table.flags(r) & wanted) != wanted || !use(step.uses, table.row(r))) return;
    go(s + 1, stamped ? std::max(newest, table.stamp(r)) : newest);
  };
  if (step.kind == StepKind::Scan) {
    for (uint32_t r = 0; r < table.end() && !stop_; ++r) try_row(r);
    return;
  }
  if (!key_of(step)) return;
  if (step.kind == StepKind::Find) {
    const uint32_t r = table.find(key_.data());
    if (r != kNoRow) try_row(r);
    return;
  }
  constexpr size_t kAhead = 8;
  const std::span<const uint32_t> found = table.rows_with(step.index, key_.data());
  for (size_t i = 0; i < found.size() && !stop_; ++i) {
    if (i + kAhead < found.size()) table.prefetch(found[i + kAhead]);
    try_row(found[i]);
  }
}

bool Runner::compare(const Step& step) {
  const auto is_plain = [](const Operand& operand) {
    return operand.kind != Operand::Kind::Computed && lang::is_integer(operand.type);
  };
  if (is_plain(step.left) && is_plain(step.right) && step.left.type == step.right.type) {
    const auto cell = [&](const Operand& o) {
      return o.kind == Operand::Kind::Register ? registers_[o.reg] : o.cell;
    };
    // Signed numbers in the order of unsigned ones.
    const uint64_t flip =
        lang::type_class(step.left.type) == lang::TypeClass::Signed ? uint64_t{1} << 63 : 0;
    const uint64_t a = cell(step.left) ^ flip, b = cell(step.right) ^ flip;
    switch (step.op) {
      case lang::CompareOp::Eq:
        return a == b;
      case lang::CompareOp::Ne:
        return a != b;
      case lang::CompareOp::Lt:
        return a < b;
      case lang::CompareOp::Le:
        return a <= b;
      case lang::CompareOp::Gt:
        return a > b;
      case lang::CompareOp::Ge:
        return a >= b;
    }
  }
  const std::optional<Value> a = value_of(step.left), b = value_of(step.right);
  return a && b && lang::compare_values(step.op, *a, *b, names_);
}

void Runner::match(const Step& step, size_t s, uint32_t newest) {
  const std::optional<Value> value = value_of(step.left);
  if (!value) return;
  if (step.pattern->kind == TermKind::Variable) {
    const VarId v = step.pattern->var;
    const uint64_t cell = cells_.cell(version_->rule->variables[v.index].type.kind, *value);
    if (step.binds.empty() && registers_[v.index] != cell) return;
    registers_[v.index] = cell;
    return go(s + 1, newest);
  }
  oracle::Bindings bindings(version_->rule->variables.size());
  for (VarId v : step.reads) bindings.bind(v, value_of(v));
  const bool fits = oracle::match_pattern(*step.pattern, *value, bindings, names_,
                                          [&](const Term& term) { return value_of(term); });
  if (!fits) return;
  for (VarId v : step.binds) {
    registers_[v.index] = cells_.cell(version_->rule->variables[v.index].type.kind, bindings[v]);
  }
  go(s + 1, newest);
}

void Runner::builtin(const Step& step, size_t s, uint32_t newest) {
  const lang::Literal& literal = *step.literal;
  std::vector<std::optional<Value>> args;
  for (size_t i = 0; i < literal.args.size(); ++i) {
    args.push_back(step.given[i] ? value_of(literal.args[i]) : std::nullopt);
  }
  if (literal.builtin == lang::BuiltinId::Between && !args[2] &&
      lang::compare(*args[0], *args[1], names_) < 0 &&
      args[1]->bits - args[0]->bits > allowance_->most_rows()) {
    allowance_->fail({fmt::format("the interval {}..{} has more than {} values",
                                  lang::to_source(*args[0], names_),
                                  lang::to_source(*args[1], names_), allowance_->most_rows()),
                      "raise it with `--max-rows N`, or take a smaller interval",
                      ErrorKind::Limit});
    stop_ = true;
    return;
  }
  const std::vector<lang::Variable>& variables = version_->rule->variables;
  oracle::Bindings bindings(variables.size());
  for (VarId v : step.reads) bindings.bind(v, value_of(v));
  bool found = false;
  oracle::solve_builtin(literal.builtin, args, names_, [&](std::span<const Value> row) {
    tick();
    if (stop_) return;
    const size_t mark = bindings.mark();
    bool fits = true;
    for (size_t i = 0; i < row.size() && fits; ++i) {
      fits = oracle::match_argument(literal.args[i], row[i], bindings, names_,
                                    [&](const Term& term) { return value_of(term); });
    }
    found |= fits;
    if (fits && literal.nots == 0) {
      for (VarId v : step.binds) {
        registers_[v.index] = cells_.cell(variables[v.index].type.kind, bindings[v]);
      }
      go(s + 1, newest);
    }
    bindings.undo(mark);
  });
  if (literal.nots == 1 && !found) go(s + 1, newest);
}

// ---- values ----

Value Runner::value_of(VarId v) const {
  return cells_.value(version_->rule->variables[v.index].type.kind, registers_[v.index]);
}

std::optional<Value> Runner::value_of(const Operand& operand) {
  switch (operand.kind) {
    case Operand::Kind::Register:
      return cells_.value(operand.type, registers_[operand.reg]);
    case Operand::Kind::Constant:
      return cells_.value(operand.type, operand.cell);
    case Operand::Kind::Computed:
      return value_of(*operand.term);
  }
  XLOG_UNREACHABLE("all operands are covered");
}

std::optional<Value> Runner::value_of(const Term& term) {
  if (term.kind == TermKind::Variable) return value_of(term.var);
  if (term.kind == TermKind::Constant) return term.value;
  const bool simple = term.kind == TermKind::Arith && term.op != lang::ArithOp::Cast &&
                      term.op != lang::ArithOp::If && term.args.size() <= 2;
  if (!simple) {
    return lang::evaluate(
        term, [&](VarId v) { return value_of(v); }, names_);
  }
  Value operands[2];
  for (size_t i = 0; i < term.args.size(); ++i) {
    const std::optional<Value> value = value_of(term.args[i]);
    if (!value) return std::nullopt;
    operands[i] = *value;
  }
  return lang::evaluate(term.op, term.type, std::span(operands, term.args.size()));
}

}  // namespace xlog::incremental
