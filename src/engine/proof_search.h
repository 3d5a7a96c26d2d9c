// The search behind engine/proof.h: which facts and instances lie above a goal, and their ranks.
#pragma once

#include <unordered_map>
#include <vector>

#include "engine/instances.h"

namespace xlog::engine {

class ProofSearch {
 public:
  static constexpr uint32_t kNone = UINT32_MAX;

  ProofSearch(const lang::Program& program, Tables& tables, Instances& instances,
              lang::Names& names, Budget& budget)
      : program_(program), tables_(tables), instances_(instances), names_(names), budget_(budget) {}

  // A row that holds, as the search met it.
  struct Fact {
    lang::PredId pred;
    uint32_t row = 0;
    uint32_t rank = kNone;            // 0: stated
    uint32_t first_instance = kNone;  // that derives it
    uint32_t first_use = kNone;       // in children_
  };

  // Finds a proof of least height; the goal's number. kNone when the budget stopped it.
  uint32_t run(lang::PredId pred, uint32_t row);

  const Fact& fact(uint32_t id) const { return facts_[id]; }

  // The instance of least rank that derives a fact: the first by rule, then by rows in canonical
  // order. By body literal the fact that it uses, or kNone.
  struct Choice {
    uint32_t rule = 0;
    std::vector<uint32_t> facts;
  };
  Choice choose(uint32_t fact) const;

 private:
  struct Instance {
    uint32_t fact = 0;  // that it derives
    uint32_t rule = 0;
    uint32_t first_child = 0, child_count = 0;
    uint32_t next = kNone;  // of the same fact
  };
  struct Child {
    uint32_t fact = 0;
    uint32_t instance = 0;
    uint32_t next_use = kNone;  // of the same fact
  };

  uint32_t intern(lang::PredId pred, uint32_t row, std::vector<uint32_t>& level);
  void expand(uint32_t fact, std::vector<uint32_t>& level);
  void add_instance(uint32_t fact, uint32_t rule, const std::vector<uint32_t>& children);
  bool derives_by_aggregate(uint32_t rule, const std::vector<lang::Value>& row);
  void rank(uint32_t instance);
  uint32_t rank_of(const Instance& instance) const;
  bool is_before(const Instance& a, const Instance& b) const;

  const lang::Program& program_;
  Tables& tables_;
  Instances& instances_;
  lang::Names& names_;
  Budget& budget_;
  std::unordered_map<uint64_t, uint32_t> ids_;  // never iterated
  std::vector<Fact> facts_;
  std::vector<Instance> found_;
  std::vector<Child> children_;
};

// The rows that an aggregate in the head of a rule folds for one group, and the result.
struct HeadFold {
  std::optional<std::vector<lang::Value>> result;  // by aggregate
  uint64_t rows = 0;
};
HeadFold fold_head(const lang::Program& program, uint32_t rule, Instances& instances,
                   Bindings& bindings, lang::Names& names, const Instances::Visit& each);

}  // namespace xlog::engine
