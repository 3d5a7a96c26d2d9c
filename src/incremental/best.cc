// Minima and maxima inside their own recursion. Every instance over the rows that are there gives a
// candidate; candidates are counted, and of those with the same key, which are the other columns,
// the best one is a row. As with other recursion (supported.cc) a row has a birth stamp and the
// number of the instances for its value that are older: what loses the last of them dies, so that
// rows on a circle do not keep each other's old values alive.
//
//   losses   instances of what went away, and of rows that die, until no more do
//   gains    new candidates; the best of a key without a row is born, one that is better than its
//            row replaces it, which dies with all that rests on it
//
// Keys wait in the order of their best candidates. Where steps do not improve a value, as with
// distances, each is then born once (Ramalingam, Reps: An incremental algorithm for a
// generalization of the shortest-path problem, 1996); any order is right. Predicates without a best
// column that take part have all their columns as key.
//
// A better value may rest on the very row that it replaces: in m(min(X)) :- m(V), n(X) all values
// of n do so on the first one. From where that is met, rows that were replaced stay behind the best
// ones and go on giving instances. They give nothing better, and they hold what rests on them.
#include <algorithm>
#include <functional>
#include <queue>

#include "base/check.h"
#include "incremental/kept.h"
#include "logic/monotone.h"

namespace xlog::incremental {

class BestUpdate {
 public:
  BestUpdate(Kept& kept, Kept::Part& part, bool building)
      : kept_(kept),
        part_(part),
        building_(building),
        waiting_([this](const Waiting& a, const Waiting& b) { return is_later(a, b); }) {
    for (const Kept::BestTable& best : part.best) {
      shown_indexes_.push_back(table(best.pred).index(best.key));
      row_indexes_.push_back(table(best.rows).index(best.key));
      candidate_indexes_.push_back(table(best.candidates).index(best.key));
    }
  }

  Work run() {
    if (!building_) {
      for_each_fact(false, [&](uint32_t b, const uint64_t* cells) { lose(b, cells, 0); });
      co_await read_changes(false, {kOld | kNew, kOld});
      if (stopped()) co_return;
      co_await bury({kOld | kNew, kOld | kNew});
      if (stopped()) co_return;
    }
    for_each_fact(true, [&](uint32_t b, const uint64_t* cells) { gain(b, cells, 0); });
    co_await read_changes(true, {kNew, kOld | kNew});
    while (!waiting_.empty() && !stopped()) co_await bear_next();
    if (stopped()) co_return;
    for (const auto& [b, row] : changed_) show_best(b, table(part_.best[b].rows).row(row));
    clean_up();
    for (const Kept::BestTable& best : part_.best) co_await kept_.settle_resting(best.pred);
  }

 private:
  // A candidate whose key has no row, or a worse one.
  struct Waiting {
    uint32_t best;  // number of the predicate in part.best
    uint32_t candidate;
  };
  static constexpr Sight kNow{kNew, kNew};
  // So that an order in which rows replace each other many times comes to an end.
  static constexpr uint64_t kMostReplaced = 1'000'000;

  bool stopped() const { return kept_.allowance_->stopped(); }
  Table& table(uint32_t t) { return kept_.tables_[t]; }
  const Table& table(uint32_t t) const { return kept_.tables_[t]; }

  // ---- order ----

  lang::Value value(const Kept::BestTable& best, const uint64_t* cells) const {
    return kept_.cells_.value(best.kind, cells[*best.column]);
  }

  bool is_better(const Kept::BestTable& best, const uint64_t* a, const uint64_t* b) const {
    if (!best.column) return false;
    const auto order = lang::compare(value(best, a), value(best, b), kept_.session_.names);
    return best.least ? order < 0 : order > 0;
  }

  // Without a value first; values are compared where they are folded alike.
  bool is_later(const Waiting& a, const Waiting& b) const {
    const Kept::BestTable& x = part_.best[a.best];
    const Kept::BestTable& y = part_.best[b.best];
    if (x.group != y.group) return x.group > y.group;
    if (x.column) {
      const uint64_t* left = table(x.candidates).row(a.candidate);
      const uint64_t* right = table(y.candidates).row(b.candidate);
      const auto order = lang::compare(value(x, left), value(y, right), kept_.session_.names);
      if (order != 0) return x.least ? order > 0 : order < 0;
    }
    return std::pair(a.best, a.candidate) > std::pair(b.best, b.candidate);
  }

  // ---- instances that come and go ----

  // All instances with a row of another component that changed.
  Work read_changes(bool gains, Sight sight) {
    for (Version& version : part_.versions) {
      if (!version.delta) {
        if (!building_ || !gains) continue;
        kept_.runner_.run_all(version, kNow, kept_.emitted_);
        take_emitted(version, gains);
        co_await kept_.rest_if_tired();
        continue;
      }
      if (version.own || (building_ && !version.has_rows)) continue;
      const std::vector<uint32_t>& rows = kept_.changed_[version.table];
      if (rows.empty() || !kept_.can_match(version, sight)) continue;
      kept_.ensure_indexes(version);
      // Of a negated predicate what comes takes away.
      const uint8_t wanted = gains != version.negative ? kNew : kOld;
      const uint64_t work_before = kept_.runner_.work();
      uint64_t done = 0;
      kept_.runner_.set_up(version, sight, kept_.emitted_);
      for (const uint32_t row : rows) {
        ++done;
        if ((table(version.table).flags(row) & (kOld | kNew)) != wanted) continue;
        kept_.runner_.run(row, gains ? 1 : -1);
        take_emitted(version, gains);
        kept_.allowance_->look_ahead(kept_.runner_.work() - work_before, done, rows.size());
        if (stopped()) co_return;
        co_await kept_.rest_if_tired();
      }
    }
  }

  // All instances with a row of this component, which is about to come or to go.
  void read_row(uint32_t b, uint32_t row, bool gains, const Sight& sight) {
    for (Version& version : part_.versions) {
      if (!version.delta || !version.own || version.table != part_.best[b].rows) continue;
      if (!kept_.can_match(version, sight)) continue;
      kept_.ensure_indexes(version);
      kept_.runner_.set_up(version, sight, kept_.emitted_);
      kept_.runner_.run(row, gains ? 1 : -1);
      take_emitted(version, gains);
    }
  }

  void take_emitted(const Version& version, bool gains) {
    Emitted& emitted = kept_.emitted_;
    const uint32_t target = part_.rules[version.kept_rule].table;
    uint32_t b = 0;
    while (part_.best[b].candidates != target) ++b;
    const uint32_t arity = table(target).arity();
    const uint64_t* cells = emitted.cells.data();
    for (size_t i = 0; i < emitted.count; ++i, cells += arity) {
      if (gains) {
        gain(b, cells, emitted.newest[i]);
      } else {
        lose(b, cells, emitted.newest[i]);
      }
    }
    emitted.clear();
  }

  void lose(uint32_t b, const uint64_t* cells, uint32_t newest) {
    Table& candidates = table(part_.best[b].candidates);
    const uint32_t candidate = candidates.find(cells);
    XLOG_CHECK(candidate != kNoRow && candidates.weight(candidate) > 0,
               "an instance is lost that was never there");
    candidates.set_weight(candidate, candidates.weight(candidate) - 1);
    if (candidates.weight(candidate) == 0 && (candidates.flags(candidate) & kPending) == 0) {
      candidates.set_flag(candidate, kPending);
      spent_.emplace_back(b, candidate);
    }
    Table& rows = table(part_.best[b].rows);
    const uint32_t row = rows.find(cells);
    if (row == kNoRow || (rows.flags(row) & kNew) == 0 || newest >= rows.stamp(row)) return;
    const uint32_t support = rows.support(row);
    XLOG_CHECK(support > 0, "support that was never counted");
    rows.set_support(row, support - 1);
    if (support == 1) dying_.emplace_back(b, row);
  }

  void gain(uint32_t b, const uint64_t* cells, uint32_t newest) {
    const Kept::BestTable& best = part_.best[b];
    Table& candidates = table(best.candidates);
    uint32_t candidate = candidates.find(cells);
    if (candidate == kNoRow) {
      candidate = candidates.add(cells);
      candidates.set_state(candidate, kOld | kNew);
    }
    candidates.set_weight(candidate, candidates.weight(candidate) + 1);
    Table& rows = table(best.rows);
    const uint32_t row = rows.find(cells);
    if (row != kNoRow && (rows.flags(row) & kNew) != 0) {
      if (newest >= rows.stamp(row)) return;
      rows.set_support(row, kept_.support_of(rows.support(row) + int64_t{1}));
    } else if (candidates.weight(candidate) == 1 && is_wanted(b, cells)) {
      waiting_.push({b, candidate});
    }
  }

  // The best row of a key, if one is there.
  uint32_t best_row(uint32_t b, const uint64_t* cells) {
    const Kept::BestTable& best = part_.best[b];
    const Table& rows = table(best.rows);
    uint32_t found = kNoRow;
    for (const uint32_t row : rows.rows_with(row_indexes_[b], key(b, cells))) {
      if ((rows.flags(row) & kNew) == 0) continue;
      if (found == kNoRow || is_better(best, rows.row(row), rows.row(found))) found = row;
    }
    return found;
  }

  // Whether its key has no row, or a worse one.
  bool is_wanted(uint32_t b, const uint64_t* cells) {
    const uint32_t row = best_row(b, cells);
    const Kept::BestTable& best = part_.best[b];
    return row == kNoRow || is_better(best, cells, table(best.rows).row(row));
  }

  const uint64_t* key(uint32_t b, const uint64_t* cells) {
    key_.clear();
    for (const uint32_t column : part_.best[b].key) key_.push_back(cells[column]);
    return key_.data();
  }

  // ---- rows that come and go ----

  // The rows in dying_ and all that rests on them; their keys wait with what is left to them.
  Work bury(Sight sight) {
    std::vector<std::pair<uint32_t, uint32_t>> dead;
    while (!dying_.empty() && !stopped()) {
      const auto [b, row] = dying_.back();
      dying_.pop_back();
      dead.emplace_back(b, row);
      Table& rows = table(part_.best[b].rows);
      rows.set_state(row, kOld);
      read_row(b, row, false, sight);
      rows.set_state(row, 0);
      changed_.emplace_back(b, row);
      co_await kept_.rest_if_tired();
    }
    for (const auto& [b, row] : dead) wait_for_best(b, table(part_.best[b].rows).row(row));
  }

  void wait_for_best(uint32_t b, const uint64_t* cells) {
    const Kept::BestTable& best = part_.best[b];
    const Table& candidates = table(best.candidates);
    uint32_t found = kNoRow;
    for (const uint32_t c : candidates.rows_with(candidate_indexes_[b], key(b, cells))) {
      kept_.runner_.add_work(1);
      if (candidates.weight(c) == 0) continue;
      if (found == kNoRow || is_better(best, candidates.row(c), candidates.row(found))) found = c;
    }
    if (found != kNoRow && is_wanted(b, candidates.row(found))) waiting_.push({b, found});
  }

  Work bear_next() {
    const auto [b, candidate] = waiting_.top();
    waiting_.pop();
    const Kept::BestTable& best = part_.best[b];
    Table& candidates = table(best.candidates);
    const std::vector<uint64_t> cells(candidates.row(candidate),
                                      candidates.row(candidate) + candidates.arity());
    if (candidates.weight(candidate) == 0) {
      wait_for_best(b, cells.data());
      co_return;
    }
    if (!is_wanted(b, cells.data())) co_return;
    const uint32_t before = best_row(b, cells.data());
    if (before != kNoRow && !part_.keeps_worse) {
      dying_.emplace_back(b, before);
      co_await bury(kNow);
      if (stopped()) co_return;
      const bool rested_on_it = candidates.weight(candidate) == 0;
      part_.keeps_worse = rested_on_it || ++replaced_ > kMostReplaced;
      if (rested_on_it) co_return;  // what is left waits
    }
    Table& rows = table(best.rows);
    uint32_t row = rows.find(cells.data());
    if (row == kNoRow) row = rows.add(cells.data());
    rows.set_stamp(row, kept_.next_stamp());
    rows.set_support(row, kept_.support_of(candidates.weight(candidate)));
    kept_.allowance_->count_rows(1, part_.makes_values, logic::kNoBestHelp);
    rows.set_state(row, kNew);
    read_row(b, row, true, kNow);
    rows.set_state(row, kOld | kNew);
    changed_.emplace_back(b, row);
    co_await kept_.rest_if_tired();
  }

  // ---- what others see ----

  void show_best(uint32_t b, const uint64_t* cells) {
    const Kept::BestTable& best = part_.best[b];
    const uint32_t row = best_row(b, cells);
    const uint64_t* wanted = row == kNoRow ? nullptr : table(best.rows).row(row);
    Table& shown = table(best.pred);
    bool is_shown = false;
    for (const uint32_t r : shown.rows_with(shown_indexes_[b], key(b, cells))) {
      if (shown.weight(r) == 0) continue;
      const bool same =
          wanted != nullptr && std::equal(wanted, wanted + shown.arity(), shown.row(r));
      if (!same) kept_.add_weight(best.pred, r, -1);
      is_shown |= same;
    }
    if (wanted == nullptr || is_shown) return;
    uint32_t r = shown.find(wanted);
    if (r == kNoRow) r = shown.add(wanted);
    kept_.add_weight(best.pred, r, 1);
  }

  void clean_up() {
    for (const auto& [b, candidate] : spent_) {
      Table& candidates = table(part_.best[b].candidates);
      candidates.clear_flag(candidate, kPending);
      if (candidates.weight(candidate) == 0) candidates.remove(candidate);
    }
    for (const auto& [b, row] : changed_) {
      Table& rows = table(part_.best[b].rows);
      if (rows.is_used(row) && (rows.flags(row) & kNew) == 0) rows.remove(row);
    }
  }

  // Facts of the component's own predicates that come or go.
  template <typename Visit>
  void for_each_fact(bool coming, const Visit& visit) {
    for (uint32_t b = 0; b < part_.best.size(); ++b) {
      const uint32_t pred = part_.best[b].pred;
      const Table& facts = table(kept_.fact_tables_[pred]);
      for (const uint32_t fact : kept_.fact_events_[pred]) {
        const bool comes = (facts.flags(fact) & kNew) != 0;
        if (comes == coming) visit(b, facts.row(fact));
      }
    }
  }

  Kept& kept_;
  Kept::Part& part_;
  bool building_;
  // Indexes by key, of each in part.best.
  std::vector<uint32_t> shown_indexes_, row_indexes_, candidate_indexes_;
  std::priority_queue<Waiting, std::vector<Waiting>,
                      std::function<bool(const Waiting&, const Waiting&)>>
      waiting_;
  std::vector<std::pair<uint32_t, uint32_t>> dying_;    // number in part.best, row
  std::vector<std::pair<uint32_t, uint32_t>> spent_;    // candidates that had no instance any more
  std::vector<std::pair<uint32_t, uint32_t>> changed_;  // rows that were born or died
  uint64_t replaced_ = 0;
  std::vector<uint64_t> key_;
};

Work Kept::update_best(Part& part, bool building) {
  BestUpdate update(*this, part, building);
  co_await update.run();
}

}  // namespace xlog::incremental
