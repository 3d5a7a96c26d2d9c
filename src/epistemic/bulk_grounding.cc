#include "epistemic/bulk_grounding.h"

#include <algorithm>
#include <numeric>

namespace xlog::epistemic {

using oracle::AtomId;
using oracle::GroundHead;
using oracle::GroundLiteral;
using oracle::GroundProgram;
using oracle::GroundRules;
using oracle::Relation;
using oracle::RuleTask;
using Grounding = oracle::Shortcut::Grounding;

namespace {

constexpr uint32_t kRowsAtATime = 1 << 14;  // by one thread

// How many instances there are for a row of the first literal, if keys are all alike.
double instances_of_row(const std::vector<BulkWalk::Place>& places, size_t from) {
  double product = 1;
  for (size_t i = from; i < places.size(); ++i) {
    const BodyStep& step = *places[i].step;
    if (!step.is_atom() || !step.is_positive()) continue;
    const auto rows = static_cast<double>(places[i].relation->size());
    if (places[i].index != nullptr) {
      product *= std::max(1.0, rows / static_cast<double>(places[i].index->keys()));
    } else if (step.columns.empty()) {
      product *= std::max(1.0, rows);
    }
  }
  return product;
}

// Reads the rules that walks found, with atoms for rows.
class RuleReader {
 public:
  RuleReader(const BulkPlan& plan, const oracle::Database& database)
      : plan_(plan), database_(database) {}

  // Calls `visit` with the kind, the heads in increasing order and the body of each.
  template <typename Visit>
  void for_each(const BulkFound& found, const Visit& visit) {
    for (const uint32_t* word = found.words.begin(); word != found.words.end();) {
      const BulkPlan::Shape& shape = plan_.shapes[*word++];
      heads_.clear();
      body_.clear();
      for (const uint32_t e : shape.heads) {
        const uint32_t row = *word++;
        if (row != BulkPlan::kNone) heads_.push_back(atom(plan_.rule->head[e].pred, row));
      }
      for (const uint32_t s : shape.slots) {
        const uint32_t row = *word++;
        const BulkPlan::Slot& slot = plan_.slots[s];
        if (row != BulkPlan::kNone) body_.push_back({slot.kind, slot.modal, atom(slot.pred, row)});
      }
      GroundHead kind = shape.kind;
      if (heads_.size() > 1) {
        std::ranges::sort(heads_);
        heads_.erase(std::ranges::unique(heads_).begin(), heads_.end());
        if (heads_.size() > 1) kind = GroundHead::Disjunction;
      }
      visit(kind, heads_, body_);
    }
  }

 private:
  AtomId atom(lang::PredId pred, uint32_t row) const {
    return database_.row_atoms[pred.index][row];
  }

  const BulkPlan& plan_;
  const oracle::Database& database_;
  std::vector<AtomId> heads_;
  std::vector<GroundLiteral> body_;
};

}  // namespace

const BulkPlan* BulkGrounding::plan_of(const RuleTask& task) {
  const uint32_t delta = task.delta ? task.delta->literal : BulkPlan::kNone;
  const auto [found, is_new] =
      plans_.try_emplace({task.rule, delta, task.growing.has_value()}, std::nullopt);
  if (is_new) found->second = plan_in_bulk(task, context_);
  if (!found->second) return nullptr;
  const BodyStep& first = found->second->body.body.steps.front();
  const bool is_delta = task.delta && task.delta->literal == first.index;
  const size_t rows = is_delta ? task.delta->last - task.delta->first
                               : task.database.relations[first.literal->pred.index].size();
  return rows < sizes_.few_rows ? nullptr : &*found->second;
}

BulkWalk::Places BulkGrounding::places_of(const BulkPlan& plan, const RuleTask& task) {
  BulkWalk::Places places;
  places.body = places_of(plan.body, task, true);
  for (const BulkPlan::Track& track : plan.conditions) {
    places.conditions.push_back(places_of(track, task, false));
  }
  if (task.growing) return places;
  for (const lang::HeadElement& element : plan.rule->head) {
    task.database.relations[element.pred.index].prepare_finders(parallel_);
  }
  return places;
}

std::vector<BulkWalk::Place> BulkGrounding::places_of(const BulkPlan::Track& track,
                                                      const RuleTask& task, bool is_body) {
  static const Relation no_rows;
  std::vector<BulkWalk::Place> places;
  for (size_t i = 0; i < track.body.steps.size(); ++i) {
    const BodyStep& step = track.body.steps[i];
    BulkWalk::Place& place = places.emplace_back();
    place.step = &step;
    place.slot = track.slots[i];
    place.relation = &no_rows;
    if (!step.is_atom() || !step.literal->pred.valid()) continue;
    const lang::PredId pred = step.literal->pred;
    Relation& relation = task.database.relations[pred.index];
    place.relation = &relation;
    place.may_come = task.growing && context_.analysis.component_of[pred.index] == *task.growing;
    place.last = relation.size();
    place.certain = task.database.certain[pred.index];
    if (is_body && task.delta && task.delta->literal == step.index) {
      place.first = task.delta->first;
      place.last = task.delta->last;
    }
    if (step.needs_index()) {
      place.index = &relation.index(step.columns);
    } else if (step.columns.size() == step.literal->args.size()) {
      relation.prepare_finders(parallel_);  // also where there are no columns
    }
  }
  return places;
}

template <typename Take>
void BulkGrounding::walk(const BulkPlan& plan, const RuleTask& task, const Take& take) {
  walk(plan, places_of(plan, task), task, take);
}

template <typename Take>
void BulkGrounding::walk(const BulkPlan& plan, const BulkWalk::Places& places, const RuleTask& task,
                         const Take& take) {
  double each = instances_of_row(places.body, 1);
  double conditions = 0;
  for (const auto& condition : places.conditions) conditions += instances_of_row(condition, 0);
  if (plan.is_choice) each *= std::max(1.0, conditions);
  const auto rows_for = [&](double instances) {
    return static_cast<size_t>(std::clamp(instances / each, 1.0, 1e9));
  };
  const size_t of_walk = rows_for(sizes_.instances_of_walk);
  const size_t at_once = std::max(of_walk, rows_for(sizes_.instances_at_once));
  const BulkWalk::Place& first = places.body.front();
  for (size_t begin = first.first; begin < first.last; begin += at_once) {
    context_.check_all_limits();
    const size_t end = std::min(first.last, begin + at_once);
    std::vector<BulkFound> found((end - begin + of_walk - 1) / of_walk);
    BulkLimits limits(context_);
    parallel_(static_cast<uint32_t>(found.size()), 1, [&](uint32_t lo, uint32_t hi) {
      for (uint32_t i = lo; i < hi; ++i) {
        const size_t from = begin + i * of_walk;
        BulkWalk(plan, places, task, context_.names(), limits, found[i])
            .run(from, std::min(end, from + of_walk));
      }
    });
    limits.throw_if_reached(context_);
    note_valueless(task.rule, found);
    take(found);
  }
}

void BulkGrounding::note_valueless(uint32_t rule, const std::vector<BulkFound>& found) {
  for (const BulkFound& one : found) {
    for (const auto& [term, key] : one.valueless) {
      if (context_.valueless.empty()) context_.valueless_span = term->span;
      context_.valueless.insert({rule, key});
    }
  }
}

bool BulkGrounding::derive(const RuleTask& task, oracle::Derived& derived) {
  const BulkPlan* plan = plan_of(task);
  if (plan == nullptr) return false;
  walk(*plan, task, [&](const std::vector<BulkFound>& found) {
    for (uint32_t e = 0; e < plan->rule->head.size(); ++e) {
      const uint32_t stream = plan->stream_of[e];
      if (std::ranges::find(plan->stream_of, stream) - plan->stream_of.begin() < e) continue;
      oracle::Derived::Rows& rows = derived.of(plan->rule->head[e].pred);
      std::vector<size_t> at;
      size_t values = 0;
      for (const BulkFound& one : found) {
        at.push_back(values);
        values += one.heads[stream].values.size();
        rows.count += one.heads[stream].count;
      }
      lang::Value* to = rows.values.extend(values);
      parallel_(static_cast<uint32_t>(found.size()), 1, [&](uint32_t lo, uint32_t hi) {
        for (uint32_t i = lo; i < hi; ++i) {
          std::ranges::copy(found[i].heads[stream].values, to + at[i]);
        }
      });
    }
  });
  return true;
}

bool BulkGrounding::add_found(const BulkPlan& plan, const RuleTask& task,
                              const std::vector<BulkFound>& found, GroundProgram& ground) {
  for (const BulkFound& one : found) {
    for (const uint64_t met : one.met) {
      task.database.atom({static_cast<uint32_t>(met >> 32)}, static_cast<uint32_t>(met), ground);
    }
  }
  add_rules(plan, task, found, ground);
  return std::ranges::any_of(found, &BulkFound::has_empty_bodies);
}

Grounding BulkGrounding::ground(const RuleTask& task, GroundProgram& ground) {
  if (const std::optional<Grounding> known = ground_known(task, ground)) return *known;
  const BulkPlan* plan = plan_of(task);
  if (plan == nullptr) return Grounding::NotDone;
  bool has_empty_bodies = false;
  walk(*plan, task, [&](const std::vector<BulkFound>& found) {
    has_empty_bodies |= add_found(*plan, task, found, ground);
  });
  return has_empty_bodies ? Grounding::DoneWithEmptyBodies : Grounding::Done;
}

// ---- instances that were found before ----

namespace {

// Sorts rows by the values of a column and leaves equal ones in their order: by counting where the
// numbers of the values are not much larger than there are rows.
void sort_by(const lang::FactColumn& column, std::vector<uint32_t>& rows) {
  std::vector<lang::Value> values(rows.size());
  uint64_t greatest = 0;
  bool is_mixed = false;  // kinds of values, whose numbers may be the same
  for (size_t i = 0; i < rows.size(); ++i) {
    values[i] = column.at(static_cast<uint32_t>(i));
    greatest = std::max(greatest, values[i].bits);
    is_mixed |= values[i].kind != values[0].kind;
  }
  constexpr uint64_t kMuchLarger = 8;
  if (is_mixed || greatest / kMuchLarger > rows.size()) {
    std::ranges::stable_sort(rows, [&](uint32_t a, uint32_t b) {
      return std::pair(values[a].bits, values[a].kind) < std::pair(values[b].bits, values[b].kind);
    });
    return;
  }
  std::vector<uint32_t> begin(greatest + 2, 0);
  for (const lang::Value& value : values) ++begin[value.bits + 1];
  std::partial_sum(begin.begin(), begin.end(), begin.begin());
  std::vector<uint32_t> sorted(rows.size());
  for (const uint32_t row : rows) sorted[begin[values[row].bits]++] = row;
  rows = std::move(sorted);
}

// The numbers of rows in the order of their values, which does not depend on the device that found
// them.
std::vector<uint32_t> in_order(const lang::FactTable& table) {
  std::vector<uint32_t> rows(table.rows);
  std::iota(rows.begin(), rows.end(), 0);
  for (auto column = table.columns.rbegin(); column != table.columns.rend(); ++column) {
    sort_by(*column, rows);
  }
  return rows;
}

}  // namespace

std::optional<Grounding> BulkGrounding::ground_known(const RuleTask& task, GroundProgram& ground) {
  const oracle::Preset* preset = context_.preset;
  if (preset == nullptr || preset->has_instances.empty()) return std::nullopt;
  if (!preset->has_instances[task.rule]) return std::nullopt;
  std::vector<oracle::Preset::Instances> known = preset->instances(task.rule);
  bool has_empty_bodies = false;
  for (uint32_t element = 0; element < known.size(); ++element) {
    has_empty_bodies |= ground_known(element, known[element], task, ground);
    known[element].rows = {};
  }
  return has_empty_bodies ? Grounding::DoneWithEmptyBodies : Grounding::Done;
}

bool BulkGrounding::ground_known(uint32_t element, const oracle::Preset::Instances& instances,
                                 const RuleTask& task, GroundProgram& ground) {
  const BulkPlan plan = plan_over_instances(task, context_, element, instances.variables);
  const std::vector<uint32_t> order = in_order(instances.rows);
  BulkWalk::Places places = places_of(plan, task);
  for (BulkWalk::Place& place : places.body) place.holds = place.slot != BulkPlan::kNone;
  const size_t arity = instances.variables.size();
  bool has_empty_bodies = false;
  for (size_t begin = 0; begin < order.size(); begin += sizes_.known_at_once) {
    const auto rows = static_cast<uint32_t>(std::min(sizes_.known_at_once, order.size() - begin));
    Relation values;
    lang::Value* to = values.extend(arity, rows);
    parallel_(rows, kRowsAtATime, [&](uint32_t lo, uint32_t hi) {
      for (uint32_t r = lo; r < hi; ++r) {
        for (size_t c = 0; c < arity; ++c) {
          to[r * arity + c] = instances.rows.columns[c].at(order[begin + r]);
        }
      }
    });
    places.body.front().relation = &values;
    places.body.front().last = rows;
    walk(plan, places, task, [&](const std::vector<BulkFound>& found) {
      has_empty_bodies |= add_found(plan, task, found, ground);
    });
  }
  return has_empty_bodies;
}

void BulkGrounding::add_rules(const BulkPlan& plan, const RuleTask& task,
                              const std::vector<BulkFound>& found, GroundProgram& ground) {
  std::vector<GroundRules::Extent> from;
  GroundRules::Extent all;
  GroundRules::Extent at = ground.rules.extent();
  for (const BulkFound& one : found) {
    from.push_back(at);
    at += one.extent;
    all += one.extent;
  }
  context_.count_rows(all.rules);
  ground.rules.extend(all);
  parallel_(static_cast<uint32_t>(found.size()), 1, [&](uint32_t lo, uint32_t hi) {
    RuleReader reader(plan, task.database);
    for (uint32_t i = lo; i < hi; ++i) {
      GroundRules::Writer writer(ground.rules, from[i]);
      reader.for_each(found[i], [&](GroundHead kind, const auto& heads, const auto& body) {
        for (const AtomId head : heads) writer.add_head(head);
        for (const GroundLiteral& literal : body) writer.add_literal(literal);
        writer.end_rule(kind, task.rule);
      });
    }
  });
}

}  // namespace xlog::epistemic
