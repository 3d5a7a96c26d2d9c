#include "incremental/kept.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/check.h"

namespace xlog::incremental {

using lang::PredId;
using lang::Value;

Kept::Kept(const KeptProgram& program, lang::Session& session, const logic::AnswerOptions& options,
           device::Device* device)
    : program_(program),
      session_(session),
      options_(options),
      device_(device),
      runner_(tables_, cells_, session.names) {
  const logic::Analysis& analysis = program.analysis;
  const size_t predicates = program.program.predicates.size();
  for (uint32_t p = 0; p < predicates; ++p) {
    const KeptKind kind = program.kinds[analysis.component_of[p]];
    add_table(program.program.predicates[p].arity, kind == KeptKind::Supported);
  }
  for (uint32_t p = 0; p < predicates; ++p) {
    const KeptKind kind = program.kinds[analysis.component_of[p]];
    const lang::Predicate& predicate = program.program.predicates[p];
    // What is stated of another one is that one's; helpers have no facts of their own.
    const bool apart = kind != KeptKind::Open && (!predicate.rules.empty() || predicate.helper);
    const auto stated = program.worlds.stated.find({p});
    fact_tables_.push_back(stated != program.worlds.stated.end() ? stated->second.index
                           : apart                               ? add_table(predicate.arity)
                                                                 : p);
  }
  fact_events_.resize(predicates);
  make_parts();
}

uint32_t Kept::add_table(uint32_t arity, bool supported) {
  tables_.emplace_back(arity, supported);
  changed_.emplace_back();
  touched_.emplace_back();
  return static_cast<uint32_t>(tables_.size() - 1);
}

std::vector<Value> Kept::values_of(const Table& table, PredId pred, uint32_t row) const {
  std::vector<Value> values;
  const lang::Predicate& predicate = program_.program[pred];
  for (uint32_t c = 0; c < predicate.arity; ++c) {
    values.push_back(cells_.value(predicate.columns[c].type.kind, table.row(row)[c]));
  }
  return values;
}

std::vector<Value> Kept::values(PredId pred, uint32_t row) const {
  return values_of(tables_[pred.index], pred, row);
}

std::vector<Value> Kept::fact_values(PredId pred, uint32_t row) const {
  return values_of(facts(pred), pred, row);
}

// ---- batches ----

void Kept::begin(Allowance& allowance) {
  allowance_ = &allowance;
  runner_.begin(allowance);
}

Work Kept::build(std::vector<uint64_t> expected) {
  XLOG_CHECK(!built_, "built once");
  for (uint32_t p = 0; p < expected.size(); ++p) {
    if (fact_tables_[p] == p) continue;
    constexpr uint64_t kWorkPerPart = 4'096;
    changed_[p].reserve(expected[p]);
    touched_[p].reserve(expected[p]);
    while (!tables_[p].make_room(expected[p])) {
      runner_.add_work(kWorkPerPart);
      co_await rest_if_tired();
    }
  }
  // Those of what is derived grow with it.
  for (const auto& [t, groups] : groups_) groups.index(tables_[t]);
  for (Part& part : parts_) {
    for (auto* versions : {&part.versions, &part.after}) {
      for (Version& version : *versions) co_await make_indexes(version);
    }
  }
  for (uint32_t p = 0; p < fact_tables_.size(); ++p) {
    const uint32_t t = fact_tables_[p];
    Table& table = tables_[t];
    for (uint32_t r = 0; r < table.end(); ++r) {
      if (!table.is_used(r)) continue;
      table.set_state(r, kNew);
      changed_[t].push_back(r);
      if (t != p) fact_events_[p].push_back(r);
    }
    runner_.add_work(changed_[t].size());
    if (!changed_[t].empty()) changed_tables_.push_back(t);
    co_await rest_if_tired();
  }
  built_ = true;
  for (Part& part : parts_) {
    co_await update(part, true);
    if (allowance_->stopped()) co_return;
  }
  co_await finish_resting();
}

Status Kept::update(Allowance& allowance, Effort& effort) {
  begin(allowance);
  Work work = update_parts(effort);
  const bool done = work.go_on();
  XLOG_CHECK(done, "an allowance without rests");
  return status();
}

Work Kept::update_resting() {
  Effort effort;
  co_await update_parts(effort);
}

Work Kept::update_parts(Effort& effort) {
  XLOG_CHECK(built_, "kept from the first batch on");
  for (Part& part : parts_) {
    if (!is_touched(part)) continue;
    ++effort.components;
    if (part.kind == KeptKind::Recomputed) {
      ++effort.recomputed;
      effort.reasons.push_back(fmt::format("{}: {}", part.name, part.reason));
    }
    co_await update(part, false);
    if (allowance_->stopped()) co_return;
    effort.instances = runner_.instances();
  }
}

bool Kept::is_touched(const Part& part) const {
  return std::ranges::any_of(part.reads, [&](uint32_t t) { return !changed_[t].empty(); }) ||
         std::ranges::any_of(part.predicates,
                             [&](PredId pred) { return !fact_events_[pred.index].empty(); });
}

Work Kept::update(Part& part, bool building) {
  switch (part.kind) {
    case KeptKind::Counted:
      co_await update_counted(part, building);
      break;
    case KeptKind::Supported:
      co_await update_supported(part, building);
      break;
    case KeptKind::Best:
      co_await update_best(part, building);
      break;
    case KeptKind::Results:
      co_await update_results(part);
      break;
    case KeptKind::Recomputed:
      if (Status done = recompute(part); !done.ok()) allowance_->fail(done.error());
      break;
    case KeptKind::Open:
      break;
  }
  if (part.after.empty() || allowance_->stopped()) co_return;
  co_await count(part.after, part.after_rules, building);
  for (const KeptRule& rule : part.after_rules) settle(rule.table);
}

uint32_t Kept::next_stamp() {
  if (clock_ == UINT32_MAX - 1) {
    allowance_->fail(
        {"more rows were born than 32 bits can count", "open the program again", ErrorKind::Limit});
  } else {
    ++clock_;
  }
  return clock_;
}

uint32_t Kept::support_of(int64_t instances) {
  if (instances < UINT32_MAX) return static_cast<uint32_t>(instances);
  allowance_->fail({"a row has more derivations than 32 bits can count", "", ErrorKind::Limit});
  return UINT32_MAX;
}

Status Kept::status() const {
  if (allowance_->error()) return *allowance_->error();
  if (allowance_->too_many()) return Error{"the batch changes too much", ""};
  return Done{};
}

void Kept::finish_row(uint32_t t, uint32_t row) {
  Table& table = tables_[t];
  if (!table.is_used(row)) return;
  if ((table.flags(row) & kNew) != 0) {
    table.set_state(row, kOld | kNew);
  } else {
    table.remove(row);
  }
}

void Kept::finish() {
  for (const uint32_t t : changed_tables_) {
    Table& table = tables_[t];
    std::vector<uint32_t>& rows = changed_[t];
    constexpr size_t kAhead = 16;
    size_t gone = 0;
    for (size_t i = 0; i < rows.size(); ++i) {
      if (i + kAhead < rows.size()) table.prefetch(rows[i + kAhead]);
      const uint32_t row = rows[i];
      const uint8_t flags = table.flags(row);
      if ((flags & kNew) != 0) table.set_state(row, kOld | kNew);
      if ((flags & (kOld | kNew)) != kOld) continue;
      table.set_state(row, 0);  // so that it is not met again
      rows[gone++] = row;
    }
    table.remove_all({rows.data(), gone});
    rows.clear();
  }
  end_batch();
}

Work Kept::finish_resting() {
  for (const uint32_t t : changed_tables_) {
    for (const uint32_t row : changed_[t]) {
      finish_row(t, row);
      runner_.add_work(1);
      co_await rest_if_tired();
    }
    changed_[t].clear();
  }
  end_batch();
}

void Kept::end_batch() {
  changed_tables_.clear();
  for (auto& events : fact_events_) events.clear();
}

void Kept::forget() {
  std::vector<bool> is_fact_table(tables_.size(), false);
  for (const uint32_t t : fact_tables_) is_fact_table[t] = true;
  for (uint32_t t = 0; t < tables_.size(); ++t) {
    if (is_fact_table[t]) continue;
    tables_[t] = Table(tables_[t].arity(), tables_[t].supported());
    changed_[t].clear();
  }
  for (auto& rows : touched_) rows.clear();
  for (auto& [table, groups] : groups_) groups.clear();
  for (Part& part : parts_) part.keeps_worse = false;
  emitted_.clear();
  clock_ = 0;
  ++index_epoch_;
  built_ = false;
}

bool Kept::is_worn() const {
  constexpr uint64_t kFew = 1'000;
  if (clock_ > UINT32_MAX / 4 * 3) return true;
  return std::ranges::any_of(parts_, [&](const Part& part) {
    return std::ranges::any_of(part.best, [&](const BestTable& best) {
      return tables_[best.rows].new_rows() > 2 * tables_[best.pred].new_rows() + kFew;
    });
  });
}

void Kept::swap(Kept& other) {
  // What counts refers to the tables by number, and to the program, which is the same.
  std::swap(cells_, other.cells_);
  tables_.swap(other.tables_);
  fact_tables_.swap(other.fact_tables_);
  changed_.swap(other.changed_);
  touched_.swap(other.touched_);
  fact_events_.swap(other.fact_events_);
  changed_tables_.swap(other.changed_tables_);
  parts_.swap(other.parts_);
  groups_.swap(other.groups_);
  valueless_.swap(other.valueless_);
  violation_tables_.swap(other.violation_tables_);
  valueless_tables_.swap(other.valueless_tables_);
  std::swap(emitted_, other.emitted_);
  std::swap(clock_, other.clock_);
  std::swap(index_epoch_, other.index_epoch_);
  std::swap(built_, other.built_);
}

// ---- what is reported ----

uint64_t Kept::violations() const {
  return static_cast<uint64_t>(std::ranges::count_if(
      violation_tables_, [&](uint32_t t) { return tables_[t].new_rows() > 0; }));
}

std::optional<uint32_t> Kept::first_violated() const {
  for (size_t i = 0; i < violation_tables_.size(); ++i) {
    if (tables_[violation_tables_[i]].new_rows() > 0) return program_.constraints[i];
  }
  return std::nullopt;
}

bool Kept::violations_changed() const {
  return std::ranges::any_of(violation_tables_, [&](uint32_t t) { return !changed_[t].empty(); });
}

uint64_t Kept::valueless(bool with_constraints) const {
  uint64_t count = 0;
  for (const Valueless& kept : valueless_) {
    if (with_constraints || !kept.in_constraint) count += tables_[kept.table].new_rows();
  }
  return count;
}

bool Kept::valueless_changed() const {
  return std::ranges::any_of(valueless_,
                             [&](const Valueless& kept) { return !changed_[kept.table].empty(); });
}

Span Kept::valueless_span() const {
  for (const Valueless& kept : valueless_) {
    if (tables_[kept.table].new_rows() > 0) return kept.span;
  }
  return {};
}

}  // namespace xlog::incremental
