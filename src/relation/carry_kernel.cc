#include "relation/carry_kernel.h"

#include <algorithm>

namespace xlog::relation {

using plan::ColumnUse;
using plan::Step;
using plan::StepKind;

namespace {

bool is_plain(const lang::Term& term) {
  return term.kind == lang::TermKind::Variable || term.kind == lang::TermKind::Constant;
}

// Whether a step looks rows up or compares, and computes nothing.
bool only_looks(const Step& step) {
  switch (step.kind) {
    case StepKind::Match:
    case StepKind::Exists:
    case StepKind::Absent:
    case StepKind::Meet:
      return true;
    case StepKind::Filter:
      return is_plain(step.lhs) && is_plain(step.rhs);
    case StepKind::Let:
    case StepKind::Range:
    case StepKind::Host:
      return false;
  }
  return false;
}

void collect(const Step& step, std::vector<lang::VarId>& variables) {
  for (const plan::ColumnArg& column : step.columns) {
    if (column.use != ColumnUse::Ignore) lang::collect_variables(column.term, variables);
  }
  if (step.kind == StepKind::Filter) {
    lang::collect_variables(step.lhs, variables);
    lang::collect_variables(step.rhs, variables);
  }
  for (const Step& member : step.members) collect(member, variables);
}

}  // namespace

std::vector<uint32_t> carried_columns(const plan::Pipeline& pipeline,
                                      const std::vector<lang::Term>& head, lang::PredId into) {
  const std::optional<size_t> driver = driver_of(pipeline);
  if (!driver || !std::ranges::all_of(pipeline.steps, only_looks)) return {};
  if (!std::ranges::all_of(head, is_plain)) return {};
  const Step& step = pipeline.steps[*driver];
  const bool drives = step.pred == into && step.part == plan::Part::New;
  if (!drives || asks_set(pipeline, into) || looks_up(pipeline, into)) return {};
  std::vector<lang::VarId> used;  // each variable once for each place
  for (const Step& any : pipeline.steps) collect(any, used);
  for (const lang::Term& term : head) lang::collect_variables(term, used);
  std::vector<uint32_t> carried;
  for (uint32_t c = 0; c < head.size(); ++c) {
    if (step.columns[c].use != ColumnUse::Bind) continue;
    if (head[c].kind != lang::TermKind::Variable || head[c].var != step.columns[c].term.var) {
      continue;
    }
    // In the driver and in the head.
    if (std::ranges::count(used, head[c].var) == 2) carried.push_back(c);
  }
  return carried.size() < head.size() ? carried : std::vector<uint32_t>{};
}

std::vector<uint32_t> carried_columns(const std::vector<CarriedRule>& rules, lang::PredId into) {
  std::vector<uint32_t> common = carried_columns(rules[0].pipeline, rules[0].head, into);
  for (const CarriedRule& rule : rules) {
    const std::vector<uint32_t> own = carried_columns(rule.pipeline, rule.head, into);
    std::erase_if(common, [&](uint32_t c) { return std::ranges::find(own, c) == own.end(); });
  }
  return common;
}

NodeCode::NodeCode(kernel::KernelBuilder& k, const lang::Program& program,
                   const std::vector<CarriedRule>& rules, size_t carried,
                   const RelationOf& relation_of, lang::PredId into, kernel::Mode mode)
    : k_(k), rules_(rules), set_{into, {}} {
  const Relation& relation = relation_of(into);
  moving_ = relation.set_shape().order;
  moving_.resize(moving_.size() - carried);
  set_.set = declare_set(k_, relation.set_shape(), relation.types(), mode);
  for (const CarriedRule& rule : rules) {
    code_.push_back(
        std::make_unique<PipelineCode>(k_, program, rule.pipeline, relation_of, rule.marks, set_));
  }
}

void NodeCode::begin(Value instance) {
  for (const std::unique_ptr<PipelineCode>& code : code_) code->begin(instance);
}

void NodeCode::end() {
  for (const std::unique_ptr<PipelineCode>& code : code_) code->end();
}

void NodeCode::follow(Value node, const std::function<void(uint32_t rule, Value node)>& found) {
  const Values from = row(node);
  for (uint32_t r = 0; r < rules_.size(); ++r) {
    // Nothing is computed that could have no value.
    code_[r]->run(
        from,
        {[&](const Slots& slots) { found(r, of_head(rules_[r].head, slots)); }, [] {}, [] {}, {}});
  }
}

// What the steps see of a node: of the carried columns nothing.
Values NodeCode::row(Value node) {
  Values row(rules_[0].head.size(), k_.u32(0));
  Value rest = node;
  for (size_t p = moving_.size() - 1; p > 0; --p) {
    const Value size = k_.cast(Type::U32, set_.set.sizes[moving_[p]]);
    row[moving_[p]] = rest % size;
    rest = rest / size;
  }
  row[moving_[0]] = rest;
  return row;
}

Value NodeCode::of_head(const std::vector<lang::Term>& head, const Slots& slots) {
  Value node = term_code(k_, head[moving_[0]], slots).value;
  for (size_t p = 1; p < moving_.size(); ++p) {
    node = node * k_.cast(Type::U32, set_.set.sizes[moving_[p]]) +
           term_code(k_, head[moving_[p]], slots).value;
  }
  return node;
}

// ---- the order ----

OrderKernel::OrderKernel(kernel::Graph& graph, const lang::Program& program,
                         const std::vector<CarriedRule>& rules, size_t carried,
                         const RelationOf& relation_of, lang::PredId into)
    : k_(graph, "carry_order") {
  nodes_ = k_.val(Type::U32, "nodes");
  most_ = k_.val(Type::U32, "most");
  state_ = k_.own(Type::U32, "state");
  kept_ = k_.own(Type::U32, "kept");
  code_.emplace(k_, program, rules, carried, relation_of, into, kernel::Mode::In);
}

Value OrderKernel::at(OrderColumn column, Value node) {
  return kept_[nodes_ * static_cast<uint32_t>(column) + node];
}

void OrderKernel::keep(OrderColumn column, Value node, Value value) {
  k_.store(kept_, nodes_ * static_cast<uint32_t>(column) + node, value);
}

kernel::Id OrderKernel::build() {
  const Value instance = k_.grid(k_.u32(1));
  now_ = k_.private_array(Type::U32, kOrderState);
  for (uint32_t i = 0; i < kOrderState; ++i) k_.store(now_, k_.u32(i), state_[instance + i]);
  code_->begin(instance);
  k_.loop(most_, now_[kOrdered] < nodes_, {},
          [&](Value t, const Values&) -> std::pair<Value, Values> {
            const Value top = now_[kTop];
            k_.if_then(
                top == 0,
                [&] {
                  const Value root = now_[kRoot];
                  k_.store(now_, k_.u32(kRoot), root + 1);
                  find(root);
                },
                [&] {
                  const Value node = top - 1;
                  k_.if_then(
                      at(OrderColumn::Visit, node) == static_cast<uint32_t>(Visit::Waiting),
                      [&] { visit(node); }, [&] { place(node); });
                });
            return {(now_[kOrdered] < nodes_) & (t + 1 < most_), {}};
          });
  code_->end();
  for (uint32_t i = 0; i < kOrderState; ++i) k_.store(state_, instance + i, now_[i]);
  return k_.finish();
}

// Links are node numbers and one more; 0 is none.
void OrderKernel::find(Value node) {
  const Value zero = k_.u32(0);
  const Value visit = at(OrderColumn::Visit, node);
  const Value waits = visit == static_cast<uint32_t>(Visit::Waiting);
  const Value top = now_[kTop];
  const Value self = node + 1;
  const Value moves = (waits & (top != self)) | (visit == static_cast<uint32_t>(Visit::Unseen));
  k_.if_then(moves, [&] {
    k_.if_then(waits, [&] {
      const Value above = at(OrderColumn::Above, node), below = at(OrderColumn::Below, node);
      keep(OrderColumn::Below, above - 1, below);
      k_.if_then(below != 0, [&] { keep(OrderColumn::Above, below - 1, above); });
    });
    keep(OrderColumn::Visit, node, k_.u32(static_cast<uint32_t>(Visit::Waiting)));
    keep(OrderColumn::Above, node, zero);
    keep(OrderColumn::Below, node, top);
    k_.if_then(top != 0, [&] { keep(OrderColumn::Above, top - 1, self); });
    k_.store(now_, k_.u32(kTop), self);
  });
}

void OrderKernel::visit(Value node) {
  keep(OrderColumn::Visit, node, k_.u32(static_cast<uint32_t>(Visit::Open)));
  code_->follow(node, [&](uint32_t, Value next) { find(next); });
}

void OrderKernel::place(Value node) {
  keep(OrderColumn::Visit, node, k_.u32(static_cast<uint32_t>(Visit::Done)));
  const Value below = at(OrderColumn::Below, node);
  k_.store(now_, k_.u32(kTop), below);
  const Value placed = now_[kOrdered] + 1;
  k_.store(now_, k_.u32(kOrdered), placed);
  const Value place = nodes_ - placed;
  keep(OrderColumn::Node, place, node);
  keep(OrderColumn::Place, node, place);
}

// ---- the rows ----

CarryKernel::CarryKernel(kernel::Graph& graph, const lang::Program& program,
                         const std::vector<CarriedRule>& rules, size_t carried,
                         const RelationOf& relation_of, lang::PredId into)
    : k_(graph, "carry"), width_(block_state(rules.size())) {
  blocks_ = k_.val(Type::U32, "blocks");
  first_block_ = k_.val(Type::U32, "first_block");
  nodes_ = k_.val(Type::U32, "nodes");
  line_ = k_.val(Type::U32, "line");
  most_ = k_.val(Type::U32, "most");
  state_ = k_.own(Type::U32, "state");
  order_ = k_.in(Type::U32, "order");
  grown_ = k_.own(Type::U32, "grown");
  code_.emplace(k_, program, rules, carried, relation_of, into, kernel::Mode::Own);
  zero_ = k_.u32(0);
}

kernel::Id CarryKernel::build() {
  instance_ = k_.grid(blocks_);
  in_line_ = (first_block_ + instance_) * kBlockWords;
  now_ = k_.private_array(Type::U32, width_);
  moves_ = k_.private_array(Type::U32, kBlockWords);
  const Value state = instance_ * width_;
  for (uint32_t i = 0; i < width_; ++i) {
    k_.store(now_, k_.u32(i), i < kAdded ? state_[state + i] : zero_);
  }
  code_->begin(instance_);
  k_.if_then(now_[kSeeded] == 0, [&] { seed(); });
  k_.loop(most_, zero_ < now_[kGrown], {}, [&](Value t, const Values&) -> std::pair<Value, Values> {
    step();
    return {(zero_ < now_[kGrown]) & (t + 1 < most_), {}};
  });
  code_->end();
  for (uint32_t i = 0; i < width_; ++i) k_.store(state_, state + i, now_[i]);
  return k_.finish();
}

Value CarryKernel::grown_word(Value place) {
  return instance_ * ((nodes_ + (kWordBits - 1)) / kWordBits) + place / kWordBits;
}

void CarryKernel::grow(Value node) {
  const Value place = order_[nodes_ * static_cast<uint32_t>(OrderColumn::Place) + node];
  const Value word = grown_word(place);
  const Value bit = k_.u32(1) << (place % kWordBits);
  const Value before = grown_[word];
  k_.store(grown_, word, before | bit);
  k_.store(now_, k_.u32(kGrown), now_[kGrown] + k_.select((before & bit) == 0, k_.u32(1), zero_));
}

void CarryKernel::seed() {
  k_.store(now_, k_.u32(kSeeded), k_.u32(1));
  k_.for_range(zero_, nodes_, [&](Value node) {
    const Value from = node * line_ + in_line_;
    const Values any = k_.for_range(zero_, k_.u32(kBlockWords), {zero_},
                                    [&](Value w, const Values& carried) -> Values {
                                      return {carried[0] | code_->cells()[from + w]};
                                    });
    k_.if_then(any[0] != 0, [&] { grow(node); });
  });
}

// Takes the next node of this word of places that has grown, or goes to the next word.
void CarryKernel::step() {
  const Value place = now_[kPlace];
  const Value word = grown_word(place);
  const Value bits = grown_[word];
  const Value ahead = bits & (k_.u32(UINT32_MAX) << (place % kWordBits));
  const Value first = place - place % kWordBits;
  const Value found = first + k_.ctz(ahead);
  const Value next = k_.select(ahead == 0, first + kWordBits, found + 1);
  k_.store(now_, k_.u32(kPlace), k_.select(next < nodes_, next, zero_));
  k_.if_then(ahead != 0, [&] {
    k_.store(grown_, word, bits ^ (k_.u32(1) << (found % kWordBits)));
    k_.store(now_, k_.u32(kGrown), now_[kGrown] - 1);
    take(order_[nodes_ * static_cast<uint32_t>(OrderColumn::Node) + found]);
  });
}

// All of a node's block goes through the rule: what went before is found where it went.
void CarryKernel::take(Value node) {
  const Value from = node * line_ + in_line_;
  k_.for_range(zero_, k_.u32(kBlockWords),
               [&](Value w) { k_.store(moves_, w, code_->cells()[from + w]); });
  code_->follow(node, [&](uint32_t rule, Value next) { give(rule, next); });
}

void CarryKernel::give(uint32_t rule, Value node) {
  const Value to = node * line_ + in_line_;
  const Value block = k_.u32(kBlockWords);
  const auto comes = [&](Value w) { return moves_[w] & (code_->cells()[to + w] ^ UINT32_MAX); };
  const Values any = k_.for_range(
      zero_, block, {zero_},
      [&](Value w, const Values& carried) -> Values { return {carried[0] | comes(w)}; });
  k_.if_then(any[0] != 0, [&] {
    const Values added =
        k_.for_range(zero_, block, {zero_}, [&](Value w, const Values& carried) -> Values {
          const Value fresh = comes(w);
          k_.store(code_->cells(), to + w, code_->cells()[to + w] | fresh);
          return {carried[0] + k_.popc(fresh)};
        });
    k_.store(now_, k_.u32(kAdded + rule), now_[kAdded + rule] + added[0]);
    grow(node);
  });
}

}  // namespace xlog::relation
