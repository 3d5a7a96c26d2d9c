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

  void run() {
    if (!building_) lose();
    if (!stopped()) gain();
    if (!stopped()) settle();
  }

 private:
  bool stopped() const { return kept_.allowance_->stopped(); }
  Table& table(uint32_t t) { return kept_.tables_[t]; }

  // ---- rounds ----

  // Runs all versions over what changed outside, in the first round, and inside. `take` gets what
  // they emit.
  template <typename Take>
  void round(bool first, bool gains, const Sight& sight, const Take& take) {
    for (Version& version : part_.versions) {
      if (!version.delta) {
        if (!building_ || !first) continue;
        kept_.runner_.run_all(version, {kNew, kNew}, kept_.emitted_);
        take_all(version, take);
        continue;
      }
      if (building_ && !version.has_rows) continue;
      const std::vector<uint32_t>& rows =
          version.own ? delta_[version.table] : kept_.changed_[version.table];
      if (rows.empty() || (!version.own && !first) || !kept_.can_match(version, sight)) continue;
      kept_.ensure_indexes(version);
      // Of a negated predicate what comes takes away.
      const uint8_t wanted = gains != version.negative ? kNew : kOld;
      for (const uint32_t row : rows) {
        const uint8_t state = table(version.table).flags(row) & (kOld | kNew);
        if (!version.own && state != wanted) continue;
        kept_.runner_.run(version, sight, row, gains ? 1 : -1, kept_.emitted_);
        if (kept_.emitted_.count >= kMostEmitted) take_all(version, take);
        if (stopped()) return;
      }
      take_all(version, take);
    }
  }

  template <typename Take>
  void take_all(const Version& version, const Take& take) {
    constexpr size_t kAhead = 8;
    const uint32_t t = part_.rules[version.kept_rule].table;
    Emitted& emitted = kept_.emitted_;
    const uint32_t arity = table(t).arity();
    const uint64_t* cells = emitted.cells.data();
    for (size_t i = 0; i < emitted.count; ++i, cells += arity) {
      if (i + 2 * kAhead < emitted.count) {
        table(t).prefetch_slot(cells + 2 * kAhead * arity);
        table(t).prefetch_row(cells + kAhead * arity);
      }
      take(t, cells, emitted.newest[i]);
    }
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

  // ---- losses ----

  void lose() {
    std::vector<std::vector<uint32_t>> dying(delta_.size());
    dead_.resize(delta_.size());
    const auto take = [&](uint32_t t, uint32_t row, uint32_t newest) {
      Table& rows = table(t);
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
      round(first, false, sight, [&](uint32_t t, const uint64_t* cells, uint32_t newest) {
        const uint32_t row = table(t).find(cells);
        XLOG_CHECK(row != kNoRow, "an instance is lost whose head was never there");
        take(t, row, newest);
      });
      if (stopped()) return;
      set_delta(0);
      for (const PredId pred : part_.predicates) {
        std::vector<uint32_t>& rows = dead_[pred.index];
        rows.insert(rows.end(), delta_[pred.index].begin(), delta_[pred.index].end());
      }
      sight = {kOld | kNew, kOld | kNew};
    }
  }

  // ---- gains ----

  void gain() {
    std::vector<std::vector<uint32_t>> born(delta_.size());
    for (uint32_t t = 0; t < dead_.size(); ++t) {
      for (const uint32_t row : dead_[t]) {
        if (table(t).weight(row) == 0) continue;
        bear(t, row);
        table(t).set_support(row, supports(table(t).weight(row)));
        born[t].push_back(row);
      }
    }
    const auto take = [&](uint32_t t, const uint64_t* cells, uint32_t newest) {
      Table& rows = table(t);
      uint32_t row = rows.find(cells);
      if (row == kNoRow) row = rows.add(cells);
      kept_.touch(t, row);
      if ((rows.flags(row) & (kNew | kPending)) == 0) {
        bear(t, row);
        rows.set_support(row, 0);
        born[t].push_back(row);
      }
      rows.set_weight(row, rows.weight(row) + 1);
      if (newest < rows.stamp(row)) {
        rows.set_support(row, supports(rows.support(row) + int64_t{1}));
      }
    };
    for_each_fact(true, [&](uint32_t t, const uint64_t* cells) { take(t, cells, 0); });
    Sight sight{kNew, kOld | kNew};
    for (bool first = true;; first = false) {
      next_delta(born);
      for (const PredId pred : part_.predicates) {
        for (const uint32_t row : delta_[pred.index]) table(pred.index).clear_flag(row, kPending);
        kept_.allowance_->count_rows(delta_[pred.index].size(), part_.makes_values);
      }
      set_delta(kNew);
      if (!first && !has_delta()) break;
      round(first, true, sight, take);
      if (stopped()) return;
      set_delta(kOld | kNew);
      sight = {kNew, kNew};
    }
  }

  void bear(uint32_t t, uint32_t row) {
    if (kept_.clock_ == UINT32_MAX - 1) {
      kept_.allowance_->fail({"more rows were born than 32 bits can count",
                              "open the program again", ErrorKind::Limit});
    } else {
      ++kept_.clock_;
    }
    table(t).set_stamp(row, kept_.clock_);
    table(t).set_flag(row, kPending);
  }

  uint32_t supports(int64_t count) {
    if (count < UINT32_MAX) return static_cast<uint32_t>(count);
    kept_.allowance_->fail(
        {"a row has more derivations than 32 bits can count", "", ErrorKind::Limit});
    return UINT32_MAX;
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

  void settle() {
    for (const PredId pred : part_.predicates) {
      for (const uint32_t row : kept_.touched_[pred.index]) {
        const bool lives = (table(pred.index).flags(row) & kNew) != 0;
        XLOG_CHECK(lives == (table(pred.index).weight(row) > 0), "what lives has derivations");
      }
      kept_.settle(pred.index);
    }
  }

  static constexpr size_t kMostEmitted = 4096;

  Kept& kept_;
  Kept::Part& part_;
  bool building_;
  std::vector<std::vector<uint32_t>> delta_;  // by predicate: the rows of this round
  std::vector<std::vector<uint32_t>> dead_;   // by predicate
};

void Kept::update_supported(Part& part, bool building) {
  SupportUpdate(*this, part, building).run();
}

}  // namespace xlog::incremental
