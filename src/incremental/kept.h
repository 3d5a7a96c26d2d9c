// The rows of a program, kept current as facts come and go: component by component, each from the
// net change of what it reads. Facts are kept always; the rest is built when it is first needed, as
// if all facts had come in one batch.
//
//   Kept kept(...);
//   Result<NetChange> change = kept.net_change(batch);   validates, changes nothing
//   kept.change_facts(*change);
//   if (kept.update(allowance).ok()) ... kept.changed(table) ... ; kept.finish();
//   else kept.forget();                                  only facts are left
#pragma once

#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "device/device.h"
#include "incremental/cells.h"
#include "incremental/groups.h"
#include "incremental/kept_program.h"
#include "incremental/maintained.h"
#include "incremental/runner.h"
#include "incremental/table.h"
#include "lang/load.h"

namespace xlog::incremental {

// What a batch does to facts, each once.
struct NetChange {
  struct Item {
    uint32_t pred;
    uint32_t row;  // of `rows` for that predicate, whose weight is what is added
  };
  std::map<uint32_t, Table> rows;  // by predicate
  std::vector<Item> items;
  uint64_t size() const { return items.size(); }
};

class Kept {
 public:
  Kept(const KeptProgram& program, lang::Session& session, const logic::AnswerOptions& options,
       device::Device* device);

  // ---- facts ----

  void load_facts(const lang::Program& source);
  Result<NetChange> net_change(std::span<const FactChanges> batch);
  void change_facts(const NetChange& change);
  void restore_facts(const NetChange& change);  // the opposite, after a failure
  const Table& facts(lang::PredId pred) const { return tables_[fact_tables_[pred.index]]; }
  std::vector<lang::Value> fact_values(lang::PredId pred, uint32_t row) const;
  std::unique_ptr<lang::FactTable> fact_table(lang::PredId pred) const;
  uint64_t fact_rows() const;

  // ---- rows ----

  bool built() const { return built_; }
  Status build(Allowance& allowance);
  // Works the change of facts in. An error, or too much for the allowance: forget() is due.
  Status update(Allowance& allowance, Effort& effort);
  // Rows of a predicate or another table that came (kNew) or went (kOld) in this batch.
  const std::vector<uint32_t>& changed(uint32_t table) const { return changed_[table]; }
  const std::vector<uint32_t>& changed_facts(lang::PredId pred) const {
    return changed_[fact_tables_[pred.index]];
  }
  void finish();  // the batch: what went is gone
  void forget();  // everything but facts

  const Table& table(uint32_t table) const { return tables_[table]; }
  Table& table(uint32_t table) { return tables_[table]; }
  Cells& cells() { return cells_; }
  std::vector<lang::Value> values(lang::PredId pred, uint32_t row) const;
  std::unique_ptr<lang::FactTable> rows(lang::PredId pred) const;
  // So many rows have been born since all was counted that birth stamps run short.
  bool is_worn() const { return clock_ > UINT32_MAX / 4 * 3; }
  uint64_t violations() const;  // constraints that are violated
  std::optional<uint32_t> first_violated() const;
  bool violations_changed() const;
  // Instances of arithmetic without a value; those of constraints are met again by who judges them.
  uint64_t valueless(bool with_constraints) const;
  Span valueless_span() const;
  bool valueless_changed() const;

  // Counts everything again from the rows that are there; "" or what is wrong. For tests.
  std::string check();

 private:
  struct Part {  // a component, or the constraints
    KeptKind kind = KeptKind::Counted;
    std::vector<lang::PredId> predicates;
    std::vector<KeptRule> rules;
    std::vector<Version> versions;  // of all rules but `after`
    std::vector<Version> after;     // of terms without values
    std::vector<KeptRule> after_rules;
    std::vector<uint32_t> reads;  // predicates of other components
    bool makes_values = false;
    std::string name, reason;
  };

  uint32_t add_table(uint32_t arity, bool supported = false);
  void make_parts();
  void add_rule(Part& part, uint32_t rule, uint32_t component);
  void add_valueless_rules(Part& part, uint32_t rule);
  void add_valueless_rule(Part& part, uint32_t rule, const std::vector<uint32_t>& literals,
                          const lang::Term& term);

  bool is_touched(const Part& part) const;
  Status update(Part& part, bool building);
  void update_counted(Part& part, bool building);
  void count(std::vector<Version>& versions, const std::vector<KeptRule>& rules, bool building);
  void update_supported(Part& part, bool building);
  Status recompute(Part& part);
  void take_emitted(const KeptRule& rule);
  void add_weight(uint32_t table, uint32_t row, int64_t by);
  void touch(uint32_t table, uint32_t row);
  void settle(uint32_t table);
  void add_fact_events(const Part& part);
  Status status() const;

  bool can_match(const Version& version, const Sight& sight) const;
  void ensure_indexes(Version& version);

  friend class SupportUpdate;
  friend class Recheck;

  std::vector<lang::Value> values_of(const Table& table, lang::PredId pred, uint32_t row) const;

  const KeptProgram& program_;
  lang::Session& session_;
  const logic::AnswerOptions& options_;
  device::Device* device_;
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
