// Counting: the weight of a row is the number of rule instances that derive it, and a change of
// what a rule reads changes the weights by the instances that come and go. An instance with several
// changed rows is met once, at the last of them in the order of the body: literals before it see
// the rows that there are, those after it the rows that there were (Gupta, Mumick, Subrahmanian:
// Maintaining views incrementally, 1993).
#include "base/check.h"
#include "incremental/kept.h"

namespace xlog::incremental {

namespace {

constexpr size_t kMostEmitted = 4096;

}  // namespace

Work Kept::update_counted(Part& part, bool building) {
  co_await count(part.versions, part.rules, building);
  if (allowance_->stopped()) co_return;
  add_fact_events(part);
  for (const KeptRule& rule : part.rules) {
    if (rule.target != RuleTarget::Bag) continue;
    Groups& groups = groups_.at(rule.table);
    const uint32_t head = program_.program.rules[rule.rule].head[0].pred.index;
    Table& table = tables_[head];
    const auto find = [&](const uint64_t* cells) {
      const uint32_t row = table.find(cells);
      return row == kNoRow ? table.add(cells) : row;
    };
    const auto replace = [&](const uint64_t* before, const uint64_t* after) {
      if (before != nullptr) add_weight(head, find(before), -1);
      if (after != nullptr) add_weight(head, find(after), 1);
    };
    while (!groups.fold_touched(tables_[rule.table], cells_, session_.names, replace)) {
      constexpr uint64_t kWorkPerPart = 1'024;
      runner_.add_work(kWorkPerPart);
      co_await rest_if_tired();
    }
    co_await settle_resting(rule.table);
  }
  for (const KeptRule& rule : part.rules) {
    if (rule.target == RuleTarget::Violations) settle(rule.table);
  }
  for (const lang::PredId pred : part.predicates) co_await settle_resting(pred.index);
}

Work Kept::count(std::vector<Version>& versions, const std::vector<KeptRule>& rules,
                 bool building) {
  const Sight sight{kNew, kOld};
  for (Version& version : versions) {
    const KeptRule& rule = rules[version.kept_rule];
    if (!version.delta) {
      if (!building) continue;
      runner_.run_all(version, {kNew, kNew}, emitted_);
      take_emitted(rule);
      co_await rest_if_tired();
      continue;
    }
    // The instances of a rule without plain atoms are then found all at once.
    if (building && !version.has_rows) continue;
    if (changed_[version.table].empty() || !can_match(version, sight)) continue;
    ensure_indexes(version);
    const uint64_t work_before = runner_.work();
    uint64_t rows = 0;
    runner_.set_up(version, sight, emitted_);
    for (const uint32_t row : changed_[version.table]) {
      const bool came = (tables_[version.table].flags(row) & kNew) != 0;
      runner_.run(row, came == version.negative ? -1 : 1);
      if (emitted_.count >= kMostEmitted) take_emitted(rule);
      allowance_->look_ahead(runner_.work() - work_before, ++rows, changed_[version.table].size());
      if (allowance_->stopped()) co_return;
      co_await rest_if_tired();
    }
    take_emitted(rule);
  }
}

void Kept::take_emitted(const KeptRule& rule) {
  Table& table = tables_[rule.table];
  const auto sign = [&](size_t i) { return emitted_.signs[i] > 0 ? int64_t{1} : int64_t{-1}; };
  bool summed = false;
  if (rule.target == RuleTarget::Bag) {
    Groups& groups = groups_.at(rule.table);
    const uint64_t* cells = emitted_.cells.data();
    for (size_t i = 0; i < emitted_.count; ++i, cells += table.arity()) {
      groups.add(cells, sign(i), cells_, session_.names);
    }
    summed = groups.is_linear();
  }
  if (!summed) {
    table.find_each(emitted_.cells.data(), emitted_.count, true,
                    [&](size_t i, uint32_t row) { add_weight(rule.table, row, sign(i)); });
  }
  emitted_.clear();
}

void Kept::add_weight(uint32_t t, uint32_t row, int64_t by) {
  int64_t weight = tables_[t].weight(row);
  if (__builtin_add_overflow(weight, by, &weight)) {
    allowance_->fail({"a row has more derivations than 64 bits can count", "", ErrorKind::Limit});
  }
  tables_[t].set_weight(row, weight);
  touch(t, row);
}

// A fact is one more derivation, however often it was stated.
void Kept::add_fact_events(const Part& part) {
  for (const lang::PredId pred : part.predicates) {
    const Table& facts = tables_[fact_tables_[pred.index]];
    Table& table = tables_[pred.index];
    for (const uint32_t fact : fact_events_[pred.index]) {
      uint32_t row = table.find(facts.row(fact));
      if (row == kNoRow) row = table.add(facts.row(fact));
      add_weight(pred.index, row, (facts.flags(fact) & kNew) != 0 ? 1 : -1);
    }
  }
}

// Rows whose weight has changed: which of them came and which went.
void Kept::settle_row(uint32_t t, uint32_t row) {
  Table& table = tables_[t];
  const int64_t weight = table.weight(row);
  const bool was = (table.flags(row) & kWasThere) != 0;
  const bool is = weight > 0;
  XLOG_CHECK(weight >= 0, "a row with fewer than no derivations");
  table.clear_flag(row, kTouched | kWasThere);
  table.set_state(row, static_cast<uint8_t>((was ? kOld : 0) | (is ? kNew : 0)));
  if (!was && !is) {
    table.remove(row);
  } else if (was != is) {
    changed_[t].push_back(row);
  }
}

void Kept::settle(uint32_t t) {
  for (const uint32_t row : touched_[t]) settle_row(t, row);
  touched_[t].clear();
  if (!changed_[t].empty()) changed_tables_.push_back(t);
}

Work Kept::settle_resting(uint32_t t) {
  for (const uint32_t row : touched_[t]) {
    settle_row(t, row);
    runner_.add_work(1);
    co_await rest_if_tired();
  }
  touched_[t].clear();
  if (!changed_[t].empty()) changed_tables_.push_back(t);
}

// ---- before a version runs ----

// Whether the tables of its plain atoms have rows to see.
bool Kept::can_match(const Version& version, const Sight& sight) const {
  for (const Step& step : version.steps) {
    const bool reads =
        step.kind == StepKind::Find || step.kind == StepKind::Probe || step.kind == StepKind::Scan;
    if (!reads) continue;
    const uint8_t mask = step.own ? (step.before ? sight.own_before : sight.own_after)
                                  : (step.before ? sight.before : sight.after);
    const Table& table = tables_[step.table];
    if ((mask & kOld) != 0 && table.old_rows() == 0) return false;
    if ((mask & kNew) != 0 && table.new_rows() == 0) return false;
  }
  return true;
}

// As ensure_indexes(), where there are many rows.
Work Kept::make_indexes(Version& version) {
  for (const Step& step : version.steps) {
    if (step.kind != StepKind::Probe) continue;
    Table& table = tables_[step.table];
    if (table.has_index(step.columns)) continue;
    const uint32_t index = table.add_index(step.columns);
    for (uint32_t r = 0; r < table.end(); ++r) {
      if (table.is_used(r)) table.link(index, r);
      runner_.add_work(1);
      co_await rest_if_tired();
    }
  }
  ensure_indexes(version);
}

void Kept::ensure_indexes(Version& version) {
  if (version.index_epoch == index_epoch_) return;
  version.index_epoch = index_epoch_;
  for (Step& step : version.steps) {
    if (step.kind != StepKind::Probe) continue;
    runner_.add_work(tables_[step.table].new_rows());
    step.index = tables_[step.table].index(step.columns);
  }
}

}  // namespace xlog::incremental
