// The rows of a program, kept current as facts come and go: component by component, each from the
// net change of what it reads. Facts are kept always; the rest is built when it is first needed, as
// if all facts had come in one batch.
//
//   Kept kept(...);
//   Result<NetChange> change = kept.net_change(batch);   an error: nothing has changed
//   kept.change_facts(*change);                          or drop_change()
//   if (kept.update(allowance).ok()) ... kept.changed(table) ...
//   else kept.forget();                                  only facts are left, as the batch has them
//   kept.finish();                                       perhaps after restore_facts()
//
// Building takes long: it can rest, and go on with the next batch (behind.h).
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "device/device.h"
#include "device/pool.h"
#include "incremental/cells.h"
#include "incremental/groups.h"
#include "incremental/kept_program.h"
#include "incremental/maintained.h"
#include "incremental/runner.h"
#include "incremental/table.h"
#include "incremental/work.h"
#include "lang/load.h"

namespace xlog::incremental {

// What a batch does to facts, each once. From net_change() to change_facts() or drop_change() rows
// that come are in their table too, in no state.
struct NetChange {
  struct Row {
    uint32_t row;        // of the predicate's facts
    int64_t before, by;  // its weight, and what is added
  };
  struct Part {
    uint32_t pred;
    LargeVector<Row> rows;
    size_t unchanged = 0;  // of these: nothing is added in the end
  };
  std::vector<Part> parts;  // by predicate
  uint64_t size = 0;        // rows that change
};

class Kept {
 public:
  Kept(const KeptProgram& program, lang::Session& session, const logic::AnswerOptions& options,
       device::Device* device);

  // ---- facts ----

  void load_facts(const lang::Program& source);
  void copy_facts(const Kept& other);  // of the same program
  Result<NetChange> net_change(std::span<const FactChanges> batch);
  void change_facts(const NetChange& change);
  void drop_change(const NetChange& change);    // instead
  void restore_facts(const NetChange& change);  // after a failure, before finish()
  const Table& facts(lang::PredId pred) const { return tables_[fact_tables_[pred.index]]; }
  std::vector<lang::Value> fact_values(lang::PredId pred, uint32_t row) const;
  FactChanges facts_and_weights(lang::PredId pred) const;  // in canonical order
  std::unique_ptr<lang::FactTable> fact_table(lang::PredId pred) const;
  uint64_t fact_rows() const;

  // ---- rows ----

  bool built() const { return built_; }
  // Works the change of facts in. An error, or too much for the allowance: forget() is due.
  Status update(Allowance& allowance, Effort& effort);
  // The same as work that can rest, finish() too, and building, which is both with all facts at
  // once. Each time it goes on it does so with an allowance; status() is not ok where it ended with
  // an error.
  void begin(Allowance& allowance);
  Work build(std::vector<uint64_t> expected = {});
  Work update_resting();
  Work finish_resting();
  Status status() const;
  // For those who go on with what changed: their work counts as its own.
  Allowance& allowance() { return *allowance_; }
  bool step() { return runner_.step(); }  // false: stop
  void add_work(uint64_t steps) { runner_.add_work(steps); }
  Rest rest_if_tired() const { return rest_if(runner_.work() >= allowance_->rest_after()); }
  // Rows of a predicate or another table that came (kNew) or went (kOld) in this batch.
  const std::vector<uint32_t>& changed(uint32_t table) const { return changed_[table]; }
  const std::vector<uint32_t>& changed_facts(lang::PredId pred) const {
    return changed_[fact_tables_[pred.index]];
  }
  void finish();  // the batch: what went is gone
  void forget();  // everything but facts, which change_facts() may have changed
  // All that another one of the same program has becomes this one's, and the other way round.
  void swap(Kept& other);

  const Table& table(uint32_t table) const { return tables_[table]; }
  Table& table(uint32_t table) { return tables_[table]; }
  Cells& cells() { return cells_; }
  std::vector<lang::Value> values(lang::PredId pred, uint32_t row) const;
  // What an element of a fold gives to it, by result.
  std::vector<lang::Value> folded_values(const OpenFold& fold, uint32_t element) const;
  std::unique_ptr<lang::FactTable> rows(lang::PredId pred) const;
  // So many rows have been born since all was counted that birth stamps run short, or that most are
  // of no use.
  bool is_worn() const;
  uint64_t violations() const;  // constraints that are violated
  std::optional<uint32_t> first_violated() const;
  bool violations_changed() const;
  // Instances of arithmetic without a value; those of constraints are met again by who judges them.
  uint64_t valueless(bool with_constraints) const;
  Span valueless_span() const;
  bool valueless_changed() const;

  // Counts everything again from the rows that are there; "" or what is wrong. For tests.
  std::string check();
  // All rows with their weights, in order.
  std::vector<std::string> digest() const;

 private:
  struct BestTable {  // a predicate of a component with minima or maxima (best.cc)
    // Tables: what others read; the rows that rules of the component read; what they give.
    uint32_t pred = 0, rows = 0, candidates = 0;
    std::optional<uint32_t> column;  // that is folded
    bool least = false;
    lang::TypeKind kind{};      // of that column
    std::vector<uint32_t> key;  // the other columns
    uint32_t group = 0;         // the same where values are folded alike; 0: without
  };
  struct Part {  // a component, or the constraints
    KeptKind kind = KeptKind::Counted;
    std::vector<lang::PredId> predicates;
    std::vector<KeptRule> rules;
    std::vector<Version> versions;  // of all rules but `after`
    std::vector<Version> after;     // of terms without values
    std::vector<KeptRule> after_rules;
    std::vector<uint32_t> reads;  // predicates of other components
    std::vector<BestTable> best;
    bool keeps_worse = false;  // rows stay when better ones replace them (best.cc)
    bool makes_values = false;
    std::string name, reason;
  };

  template <typename ValueAt, typename Visit>
  void find_facts(lang::PredId pred, size_t count, const ValueAt& value_at, const Visit& visit);
  Status find_rows(const FactChanges& facts, NetChange& change);
  Status check_weights(NetChange::Part& part) const;
  std::unique_ptr<lang::FactTable> to_facts(const Table& table, lang::PredId pred) const;

  uint32_t add_table(uint32_t arity, bool supported = false);
  void make_parts();
  void add_best_tables(Part& part);
  static void read_best_rows(Version& version, const Part& part);
  void add_rule(Part& part, uint32_t rule, uint32_t component);
  void add_valueless_rules(Part& part, uint32_t rule);
  void add_valueless_rule(Part& part, uint32_t rule, const std::vector<uint32_t>& literals,
                          const lang::Term& term,
                          const std::vector<const lang::Term*>& valued = {});

  bool is_touched(const Part& part) const;
  Work update_parts(Effort& effort);
  Work update(Part& part, bool building);
  Work update_counted(Part& part, bool building);
  Work count(std::vector<Version>& versions, const std::vector<KeptRule>& rules, bool building);
  Work update_supported(Part& part, bool building);
  Work update_best(Part& part, bool building);
  Work update_results(Part& part);
  std::optional<std::set<std::vector<uint64_t>>> results_of(const OpenFold& fold, bool only_certain,
                                                            const uint64_t* group);
  uint32_t next_stamp();
  uint32_t support_of(int64_t instances);
  Status recompute(Part& part);
  void take_emitted(const KeptRule& rule);
  void add_weight(uint32_t table, uint32_t row, int64_t by);
  void touch(uint32_t t, uint32_t row) {
    Table& table = tables_[t];
    const uint8_t flags = table.flags(row);
    if ((flags & kTouched) != 0) return;
    table.set_flag(row, (flags & kOld) != 0 ? kTouched | kWasThere : kTouched);
    touched_[t].push_back(row);
  }
  void settle(uint32_t table);
  Work settle_resting(uint32_t table);
  void settle_row(uint32_t table, uint32_t row);
  void finish_row(uint32_t table, uint32_t row);
  void end_batch();
  void add_fact_events(const Part& part);

  bool can_match(const Version& version, const Sight& sight) const;
  void ensure_indexes(Version& version);
  Work make_indexes(Version& version);

  friend class SupportUpdate;
  friend class BestUpdate;
  friend class Recheck;

  std::vector<lang::Value> values_of(const Table& table, lang::PredId pred, uint32_t row) const;

  const KeptProgram& program_;
  lang::Session& session_;
  const logic::AnswerOptions& options_;
  device::Device* device_;
  device::Pool pool_{0};  // its threads start with the first batch that is large enough
  Cells cells_;
  std::vector<Table> tables_;
  std::vector<uint32_t> fact_tables_;               // by predicate
  std::vector<std::vector<uint32_t>> changed_;      // by table
  std::vector<std::vector<uint32_t>> touched_;      // by table, while a component is updated
  std::vector<std::vector<uint32_t>> fact_events_;  // by predicate: rows of its fact table
  std::vector<uint32_t> changed_tables_;            // where changed_ may be not empty
  std::vector<Part> parts_;
  std::map<uint32_t, Groups> groups_;  // by table of a bag
  struct Valueless {
    uint32_t table;
    Span span;
    bool in_constraint;
  };
  std::vector<Valueless> valueless_;
  std::vector<uint32_t> violation_tables_;
  std::map<std::pair<std::pair<uint32_t, uint32_t>, std::vector<lang::TypeKind>>, uint32_t>
      valueless_tables_;
  Runner runner_;
  Emitted emitted_;
  Allowance* allowance_ = nullptr;
  uint32_t clock_ = 0;
  uint32_t index_epoch_ = 1;
  bool built_ = false;
};

}  // namespace xlog::incremental
