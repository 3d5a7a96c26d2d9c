// How all instances of a rule are found at once: where its body and the conditions of its choice
// need no more than joins, and its terms no more than arithmetic.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "epistemic/body_plan.h"
#include "oracle/context.h"
#include "oracle/matcher.h"

namespace xlog::epistemic {

struct BulkPlan {
  static constexpr uint32_t kNone = UINT32_MAX;

  // What an open literal adds to the bodies of ground rules, but for the atom.
  struct Slot {
    lang::PredId pred;
    oracle::GroundKind kind = oracle::GroundKind::Pos;
    lang::Modal modal = lang::Modal::None;
  };
  // The body, or what follows it: the condition of an element of a choice.
  struct Track {
    BodyPlan body;
    std::vector<uint32_t> slots;  // by step; kNone: rows decide it
  };
  // A form that ground rules have.
  struct Shape {
    oracle::GroundHead kind = oracle::GroundHead::Normal;
    std::vector<uint32_t> heads;  // elements of the rule's head
    std::vector<uint32_t> slots;
  };

  const lang::Rule* rule = nullptr;
  std::unique_ptr<const lang::Rule> own_rule = nullptr;  // where it is none of the program
  bool is_choice = false;
  Track body;
  std::vector<Track> conditions;  // of a choice: by element
  std::vector<Slot> slots;
  std::vector<Shape> shapes;  // of a choice: by element; else one
  // By element of the head: which of several streams has its rows. Elements of one predicate share
  // one, so that its rows keep their order.
  std::vector<uint32_t> stream_of;
  uint32_t streams = 0;
};

// Nothing where one of them needs more, or the first literal is not one whose rows are all walked.
std::optional<BulkPlan> plan_in_bulk(const oracle::RuleTask& task, const oracle::Context& context);

// The same where the instances are known by the values of these variables, which stand in the rows
// of a first literal, and only the rows of atoms have to be found. `element`: of a choice.
BulkPlan plan_over_instances(const oracle::RuleTask& task, const oracle::Context& context,
                             uint32_t element, const std::vector<lang::VarId>& variables);

}  // namespace xlog::epistemic
