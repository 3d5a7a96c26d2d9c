#include "epistemic/bulk_walk.h"

#include <algorithm>

#include "base/check.h"
#include "lang/arith.h"

namespace xlog::epistemic {

using lang::Literal;
using lang::Term;
using lang::TermKind;
using lang::Value;
using lang::VarId;
using oracle::Relation;

namespace {

constexpr uint64_t kStepsPerLook = 1 << 14;

}  // namespace

BulkWalk::BulkWalk(const BulkPlan& plan, const Places& places, const oracle::RuleTask& task,
                   lang::Names& names, BulkLimits& limits, BulkFound& found)
    : plan_(plan),
      task_(task),
      names_(names),
      limits_(limits),
      found_(found),
      values_(plan.rule->variables.size()),
      rows_(plan.slots.size(), BulkPlan::kNone),
      body_(track_over(places.body, 0)) {
  for (uint32_t e = 0; e < places.conditions.size(); ++e) {
    conditions_.push_back(track_over(places.conditions[e], e));
  }
  if (task.growing) {
    found.heads.resize(plan.streams);
    return;
  }
  for (const lang::HeadElement& element : plan.rule->head) {
    head_finders_.emplace_back(task.database.relations[element.pred.index]);
  }
}

BulkWalk::Track BulkWalk::track_over(const std::vector<Place>& places, uint32_t shape) const {
  Track track;
  track.places = &places;
  track.shape = shape;
  for (const Place& place : places) {
    track.keys.emplace_back(place.step->known.size());
    track.finders.emplace_back(*place.relation);
  }
  return track;
}

void BulkWalk::run(size_t first, size_t last) {
  const Place& place = body_.places->front();
  for (size_t row = std::max(first, place.first); row < std::min(last, place.last); ++row) {
    if (stopped_) return;
    try_row(body_, 0, row);
  }
  limits_.go_on(made_);
}

bool BulkWalk::may_go_on() {
  if (stopped_) return false;
  if (++steps_ % kStepsPerLook != 0) return true;
  stopped_ = !limits_.go_on(std::exchange(made_, 0));
  return !stopped_;
}

void BulkWalk::go_on(Track& track, size_t position) {
  if (position == track.places->size()) return end(track);
  const BodyStep& step = *(*track.places)[position].step;
  if (!step.is_atom()) return compare(track, position);
  std::vector<Value>& key = track.keys[position];
  for (size_t k = 0; k < key.size(); ++k) {
    const Term& term = *step.known[k].term;
    key[k] = term.kind == TermKind::Variable ? values_[term.var.index] : term.value;
  }
  return step.is_positive() ? join(track, position) : test(track, position);
}

// ---- positive atoms ----

void BulkWalk::join(Track& track, size_t position) {
  const Place& place = (*track.places)[position];
  const std::vector<Value>& key = track.keys[position];
  if (place.index != nullptr) {
    for (uint32_t row = place.index->first(key); row != Relation::Index::kNone;
         row = place.index->next(row)) {
      if (row >= place.first && row < place.last) try_row(track, position, row);
      if (stopped_) return;
    }
  } else if (key.size() < place.step->literal->args.size()) {
    for (size_t row = place.first; row < place.last && !stopped_; ++row) {
      try_row(track, position, row);
    }
  } else {
    const std::optional<size_t> row = track.finders[position].find(key);
    if (row && *row >= place.first && *row < place.last) return try_row(track, position, *row);
    if (!place.holds) return;
    rows_[place.slot] = BulkPlan::kNone;
    go_on(track, position + 1);
  }
}

void BulkWalk::try_row(Track& track, size_t position, size_t row) {
  if (!may_go_on()) return;
  const Place& place = (*track.places)[position];
  const std::span<const Value> values = place.relation->row(row);
  for (const auto& [column, variable] : place.step->bound) {
    values_[variable.index] = values[column];
  }
  for (const auto& [column, variable] : place.step->equals) {
    if (values_[variable.index] != values[column]) return;
  }
  if (place.slot != BulkPlan::kNone) {
    const bool is_open = row >= place.certain;
    rows_[place.slot] = is_open ? static_cast<uint32_t>(row) : BulkPlan::kNone;
    if (is_open) meet(place.step->literal->pred, row);
  }
  go_on(track, position + 1);
}

// Rows get their atoms in the order in which they are met, whether an instance comes of it or not.
void BulkWalk::meet(lang::PredId pred, size_t row) {
  if (task_.growing) return;
  const std::vector<oracle::AtomId>& atoms = task_.database.row_atoms[pred.index];
  if (row < atoms.size() && atoms[row] != BulkPlan::kNone) return;
  found_.met.push_back(uint64_t{pred.index} << 32 | row);
}

// ---- negated and modal atoms, whose variables are bound ----

void BulkWalk::test(Track& track, size_t position) {
  const Place& place = (*track.places)[position];
  const std::optional<size_t> row = track.finders[position].find(track.keys[position]);
  const bool is_negative = place.step->is_negative();
  if (place.slot == BulkPlan::kNone) {
    if (row.has_value() != is_negative) go_on(track, position + 1);
    return;
  }
  if (!row && !place.may_come && !is_negative && !place.holds) return;
  if (row && *row < place.certain) {
    if (is_negative) return;
    rows_[place.slot] = BulkPlan::kNone;
    return go_on(track, position + 1);
  }
  rows_[place.slot] = row ? static_cast<uint32_t>(*row) : BulkPlan::kNone;
  if (row) meet(place.step->literal->pred, *row);
  go_on(track, position + 1);
}

// ---- comparisons ----

void BulkWalk::compare(Track& track, size_t position) {
  const BodyStep& step = *(*track.places)[position].step;
  if (step.assigned) {
    const std::optional<Value> value = value_of(*step.value);
    if (!value) return;
    values_[step.assigned->index] = *value;
    return go_on(track, position + 1);
  }
  const Literal& literal = *step.literal;
  const std::optional<Value> a = value_of(literal.lhs);
  const std::optional<Value> b = value_of(literal.rhs);
  if (a && b && lang::compare_values(literal.op, *a, *b, names_)) go_on(track, position + 1);
}

std::optional<Value> BulkWalk::value_of(const Term& term) {
  if (term.kind == TermKind::Variable) return values_[term.var.index];
  if (term.kind == TermKind::Constant) return term.value;
  const std::optional<Value> value = lang::evaluate(
      term, [&](VarId v) { return values_[v.index]; }, names_);
  if (value) return value;
  std::vector<VarId> variables;
  lang::collect_variables(term, variables);
  auto& key = found_.valueless.emplace_back(&term, 0).second;
  for (const VarId v : variables) {
    key.emplace_back(static_cast<uint8_t>(values_[v.index].kind), values_[v.index].bits);
  }
  return std::nullopt;
}

// ---- solutions ----

void BulkWalk::end(const Track& track) {
  if (plan_.is_choice && &track == &body_) {
    for (Track& condition : conditions_) go_on(condition, 0);
    return;
  }
  if (!task_.growing) return make_rule(track.shape);
  if (plan_.is_choice) return derive(track.shape);
  for (uint32_t e = 0; e < plan_.rule->head.size(); ++e) derive(e);
}

bool BulkWalk::find_head(uint32_t element) {
  head_.clear();
  for (const Term& arg : plan_.rule->head[element].args) {
    const std::optional<Value> value = value_of(arg);
    if (!value) return false;
    head_.push_back(*value);
  }
  return true;
}

void BulkWalk::derive(uint32_t element) {
  if (!find_head(element)) return;
  BulkFound::Heads& heads = found_.heads[plan_.stream_of[element]];
  ++heads.count;
  std::copy(head_.begin(), head_.end(), heads.values.extend(head_.size()));
}

// Whether the head has the atom of one before it.
bool BulkWalk::is_repeated(const BulkPlan::Shape& shape, size_t head, const uint32_t* rows) const {
  const std::vector<lang::HeadElement>& elements = plan_.rule->head;
  for (size_t h = 0; h < head; ++h) {
    const bool same_predicate = elements[shape.heads[h]].pred == elements[shape.heads[head]].pred;
    if (same_predicate && rows[h] == rows[head]) return true;
  }
  return false;
}

// The rows of the heads. False where none of them is open: then the instance says nothing.
bool BulkWalk::find_heads(const BulkPlan::Shape& shape, uint32_t* rows) {
  bool has_open = shape.heads.empty();
  for (size_t h = 0; h < shape.heads.size(); ++h) {
    const uint32_t e = shape.heads[h];
    rows[h] = BulkPlan::kNone;
    if (!find_head(e)) continue;
    const std::optional<size_t> row = head_finders_[e].find(head_);
    XLOG_CHECK(row.has_value(), "an instance whose head was not among the rows that may hold");
    rows[h] = static_cast<uint32_t>(*row);
    has_open |= !task_.database.is_certain(plan_.rule->head[e].pred, *row);
  }
  return has_open;
}

void BulkWalk::make_rule(uint32_t shape_index) {
  const BulkPlan::Shape& shape = plan_.shapes[shape_index];
  const size_t begin = found_.words.size();
  uint32_t* word = found_.words.extend(1 + shape.heads.size() + shape.slots.size());
  *word++ = shape_index;
  if (!find_heads(shape, word)) return found_.words.truncate(begin);
  uint64_t heads = 0;
  for (size_t h = 0; h < shape.heads.size(); ++h) {
    if (word[h] == BulkPlan::kNone) continue;
    meet(plan_.rule->head[shape.heads[h]].pred, word[h]);
    if (!is_repeated(shape, h, word)) ++heads;
  }
  word += shape.heads.size();
  uint64_t literals = 0;
  for (const uint32_t slot : shape.slots) {
    *word++ = rows_[slot];
    if (rows_[slot] != BulkPlan::kNone) ++literals;
  }
  found_.extent += {1, heads, literals};
  found_.has_empty_bodies |= literals == 0;
  ++made_;
}

}  // namespace xlog::epistemic
