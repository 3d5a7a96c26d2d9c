// Recursion: a row is there as long as some instance derives it whose rows of its own component
// were all born before it. Besides its weight a row keeps the number of those instances, its
// support, and a birth stamp. What loses its last support dies, although others born later may
// still derive it: if so its weight tells, and it is born again. So rows that support each other in
// a circle die together, and no backward search is needed.
//
//   losses   take the instances of rows that go away from weights and supports; what is left
//            without support goes next, until nothing does
//   gains    rows that came, and dead ones that something living still derives, then rounds over
//            what is new, counting
//
// After every batch: the rows are the least fixpoint, weights and supports are exact, and every row
// has support.
#include <algorithm>

#include "base/check.h"
#include "incremental/kept.h"

namespace xlog::incremental {

using lang::PredId;

class SupportUpdate {
 public:
  SupportUpdate(Kept& kept, Kept::Part& part, bool building)
      : kept_(kept), part_(part), building_(building) {
    delta_.resize(kept.fact_tables_.size());
  }

  Work run() {
    if (!building_) co_await lose();
    if (!stopped()) co_await gain();
    if (!stopped()) co_await settle();
  }

 private:
  bool stopped() const { return kept_.allowance_->stopped(); }
  Table& table(uint32_t t) { return kept_.tables_[t]; }

  // ---- rounds ----

  // Runs all versions over what changed outside, in the first round, and inside. `take` gets what
  // they emit.
  template <typename Take>
  Work round(bool first, bool gains, const Sight& sight, const Take& take) {
    for (Version& version : part_.versions) {
      if (!version.delta) {
        if (!building_ || !first) continue;
        kept_.runner_.run_all(version, {kNew, kNew}, kept_.emitted_);
        take_all(version, gains, take);
        co_await kept_.rest_if_tired();
        continue;
      }
      if (building_ && !version.has_rows) continue;
      const std::vector<uint32_t>& rows =
          version.own ? delta_[version.table] : kept_.changed_[version.table];
      if (rows.empty() || (!version.own && !first) || !kept_.can_match(version, sight)) continue;
      kept_.ensure_indexes(version);
      // Of a negated predicate what comes takes away.
      const uint8_t wanted = gains != version.negative ? kNew : kOld;
      const uint64_t work_before = kept_.runner_.work();
      uint64_t done = 0;
      kept_.runner_.set_up(version, sight, kept_.emitted_);
      for (const uint32_t row : rows) {
        ++done;
        const uint8_t state = table(version.table).flags(row) & (kOld | kNew);
        if (!version.own && state != wanted) continue;
        kept_.runner_.run(row, gains ? 1 : -1);
        if (kept_.emitted_.count >= kMostEmitted) take_all(version, gains, take);
        kept_.allowance_->look_ahead(kept_.runner_.work() - work_before, done, rows.size());
        if (stopped()) co_return;
        co_await kept_.rest_if_tired();
      }
      take_all(version, gains, take);
    }
  }

  template <typename Take>
  void take_all(const Version& version, bool gains, const Take& take) {
    const uint32_t t = part_.rules[version.kept_rule].table;
    Emitted& emitted = kept_.emitted_;
    table(t).find_each(emitted.cells.data(), emitted.count, gains,
                       [&](size_t i, uint32_t row) { take(t, row, emitted.newest[i]); });
    emitted.clear();
  }

  bool has_delta() const {
    for (const PredId pred : part_.predicates) {
      if (!delta_[pred.index].empty()) return true;
    }
    return false;
  }

  // Rows whose state changes from `from` to `to`; the list stays.
  void set_delta(uint8_t state) {
    for (const PredId pred : part_.predicates) {
      for (const uint32_t row : delta_[pred.index]) table(pred.index).set_state(row, state);
    }
  }

  void next_delta(std::vector<std::vector<uint32_t>>& next) {
    for (const PredId pred : part_.predicates) {
      delta_[pred.index].swap(next[pred.index]);
      next[pred.index].clear();
    }
  }

  // The last rows that were born: what they derive lies together in memory, and soon they are done.
  void take_delta(std::vector<std::vector<uint32_t>>& born) {
    for (const PredId pred : part_.predicates) {
      std::vector<uint32_t>& all = born[pred.index];
      std::vector<uint32_t>& delta = delta_[pred.index];
      const size_t first = all.size() - std::min(all.size(), kMostInARound);
      delta.assign(all.begin() + static_cast<ptrdiff_t>(first), all.end());
      all.resize(first);
    }
  }

  // ---- losses ----

  Work lose() {
    std::vector<std::vector<uint32_t>> dying(delta_.size());
    dead_.resize(delta_.size());
    const auto take = [&](uint32_t t, uint32_t row, uint32_t newest) {
      Table& rows = table(t);
      XLOG_CHECK(row != kNoRow && rows.weight(row) > 0,
                 "an instance is lost whose head was never there");
      kept_.touch(t, row);
      rows.set_weight(row, rows.weight(row) - 1);
      if ((rows.flags(row) & kNew) == 0 || newest >= rows.stamp(row)) return;
      const uint32_t support = rows.support(row);
      XLOG_CHECK(support > 0, "support that was never counted");
      rows.set_support(row, support - 1);
      if (support == 1) dying[t].push_back(row);
    };
    for_each_fact(false,
                  [&](uint32_t t, const uint64_t* cells) { take(t, table(t).find(cells), 0); });
    Sight sight{kOld | kNew, kOld};
    for (bool first = true;; first = false) {
      next_delta(dying);
      set_delta(kOld);
      if (!first && !has_delta()) break;
      co_await round(first, false, sight, take);
      if (stopped()) co_return;
      set_delta(0);
      for (const PredId pred : part_.predicates) {
        std::vector<uint32_t>& rows = dead_[pred.index];
        rows.insert(rows.end(), delta_[pred.index].begin(), delta_[pred.index].end());
      }
      sight = {kOld | kNew, kOld | kNew};
    }
  }

  // ---- gains ----

  Work gain() {
    std::vector<std::vector<uint32_t>> born(delta_.size());
    for (uint32_t t = 0; t < dead_.size(); ++t) {
      for (const uint32_t row : dead_[t]) {
        if (table(t).weight(row) == 0) continue;
        bear(t, row);
        table(t).set_support(row, static_cast<uint32_t>(table(t).weight(row)));
        born[t].push_back(row);
      }
    }
    const auto take = [&](uint32_t t, uint32_t row, uint32_t newest) {
      Table& rows = table(t);
      kept_.touch(t, row);
      if ((rows.flags(row) & (kNew | kPending)) == 0) {
        bear(t, row);
        rows.set_support(row, 0);
        born[t].push_back(row);
      }
      rows.set_weight(row, kept_.support_of(rows.weight(row) + 1));
      // No more than the weight.
      if (newest < rows.stamp(row)) rows.set_support(row, rows.support(row) + 1);
    };
    for_each_fact(true, [&](uint32_t t, const uint64_t* cells) {
      const uint32_t row = table(t).find(cells);
      take(t, row == kNoRow ? table(t).add(cells) : row, 0);
    });
    Sight sight{kNew, kOld | kNew};
    for (bool first = true;; first = false) {
      take_delta(born);
      for (const PredId pred : part_.predicates) {
        for (const uint32_t row : delta_[pred.index]) table(pred.index).clear_flag(row, kPending);
        kept_.allowance_->count_rows(delta_[pred.index].size(), part_.makes_values);
      }
      set_delta(kNew);
      if (!first && !has_delta()) break;
      co_await round(first, true, sight, take);
      if (stopped()) co_return;
      set_delta(kOld | kNew);
      sight = {kNew, kNew};
    }
  }

  void bear(uint32_t t, uint32_t row) {
    table(t).set_stamp(row, kept_.next_stamp());
    table(t).set_flag(row, kPending);
  }

  // Facts of the component's own predicates that come or go.
  template <typename Visit>
  void for_each_fact(bool coming, const Visit& visit) {
    for (const PredId pred : part_.predicates) {
      const Table& facts = table(kept_.fact_tables_[pred.index]);
      for (const uint32_t fact : kept_.fact_events_[pred.index]) {
        const bool comes = (facts.flags(fact) & kNew) != 0;
        if (comes == coming) visit(pred.index, facts.row(fact));
      }
    }
  }

  Work settle() {
    for (const PredId pred : part_.predicates) co_await kept_.settle_resting(pred.index);
  }

  static constexpr size_t kMostEmitted = 4096;
  static constexpr size_t kMostInARound = 4096;

  Kept& kept_;
  Kept::Part& part_;
  bool building_;
  std::vector<std::vector<uint32_t>> delta_;  // by predicate: the rows of this round
  std::vector<std::vector<uint32_t>> dead_;   // by predicate
};

Work Kept::update_supported(Part& part, bool building) {
  SupportUpdate update(*this, part, building);
  co_await update.run();
}

}  // namespace xlog::incremental
