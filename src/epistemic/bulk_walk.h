// The instances of a rule over some of the rows of its first literal, as numbers of rows: one of
// several walks that go on at once. They are found in the order in which oracle/matcher.h finds
// them.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "base/column.h"
#include "epistemic/bulk_limits.h"
#include "epistemic/bulk_plan.h"
#include "oracle/matcher.h"

namespace xlog::epistemic {

// What a walk finds.
struct BulkFound {
  // Of ground rules: the number of the shape, the rows of the heads and of the open literals;
  // kNone: there is none.
  Column<uint32_t> words;
  oracle::GroundRules::Extent extent;  // of these rules
  bool has_empty_bodies = false;
  // Open rows that had no atom yet, as they were met, some of them more than once: predicate << 32
  // | row.
  Column<uint64_t> met;
  // Of what is derived: values of heads, by stream.
  struct Heads {
    size_t count = 0;
    Column<lang::Value> values;
  };
  std::vector<Heads> heads;
  // Arithmetic without a value, and those of its variables.
  std::vector<std::pair<const lang::Term*, std::vector<std::pair<uint8_t, uint64_t>>>> valueless;
};

class BulkWalk {
 public:
  // The place of each literal, prepared once for all walks of a task: relations have what finders
  // need.
  struct Place {
    const BodyStep* step = nullptr;
    uint32_t slot = BulkPlan::kNone;
    const oracle::Relation* relation = nullptr;  // of a comparison: one without rows
    const oracle::Relation::Index* index = nullptr;
    bool may_come = false;       // a row that is not there yet
    bool holds = false;          // of a known instance: a row that is not there decides it
    size_t first = 0, last = 0;  // the rows that it sees
    size_t certain = 0;          // so many rows decide it, the first ones
  };
  struct Places {
    std::vector<Place> body;
    std::vector<std::vector<Place>> conditions;
  };

  // Rules are made of the instances, unless the task's relations grow: then heads are derived.
  BulkWalk(const BulkPlan& plan, const Places& places, const oracle::RuleTask& task,
           lang::Names& names, BulkLimits& limits, BulkFound& found);

  // Over these rows of the first literal.
  void run(size_t first, size_t last);

 private:
  struct Track {
    const std::vector<Place>* places = nullptr;
    uint32_t shape = 0;
    std::vector<std::vector<lang::Value>> keys;  // by place
    std::vector<oracle::Relation::Finder> finders;
  };

  Track track_over(const std::vector<Place>& places, uint32_t shape) const;
  void go_on(Track& track, size_t position);
  void join(Track& track, size_t position);
  void try_row(Track& track, size_t position, size_t row);
  void test(Track& track, size_t position);
  void compare(Track& track, size_t position);
  void end(const Track& track);
  void derive(uint32_t element);
  void make_rule(uint32_t shape);
  bool is_repeated(const BulkPlan::Shape& shape, size_t head, const uint32_t* rows) const;
  bool find_head(uint32_t element);
  bool find_heads(const BulkPlan::Shape& shape, uint32_t* rows);
  void meet(lang::PredId pred, size_t row);
  std::optional<lang::Value> value_of(const lang::Term& term);
  bool may_go_on();

  const BulkPlan& plan_;
  const oracle::RuleTask& task_;
  lang::Names& names_;  // nothing is added to it
  BulkLimits& limits_;
  BulkFound& found_;
  std::vector<lang::Value> values_;  // by variable
  std::vector<uint32_t> rows_;       // by slot
  Track body_;
  std::vector<Track> conditions_;
  std::vector<oracle::Relation::Finder> head_finders_;
  oracle::Tuple head_;
  uint64_t steps_ = 0, made_ = 0;
  bool stopped_ = false;
};

}  // namespace xlog::epistemic
