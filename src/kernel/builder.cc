#include "kernel/builder.h"

#include "base/check.h"

namespace xlog::kernel {

Type Value::type() const { return builder->graph().type(id); }
Type Buffer::type() const { return builder->graph().type(id); }
Value Buffer::operator[](Value index) const { return builder->load(*this, index); }
Value Buffer::operator[](uint32_t index) const { return builder->load(*this, builder->u32(index)); }

Value Builder::make(Op op, std::initializer_list<Value> operands) {
  std::vector<Id> ids;
  for (Value v : operands) ids.push_back(v.id);
  const std::string problem = type_problem(*graph_, op, ids);
  XLOG_CHECK(problem.empty(), problem);
  return wrap(graph_->make(op, ids));
}

Value Builder::name(Value v, std::string_view text) {
  graph_->set_name(v.id, text);
  return v;
}

Id Builder::append(Id effect) {
  blocks_.back().push_back(effect);
  return effect;
}

Buffer Builder::array(Type type, uint32_t elements, Space space) {
  return wrap_buffer(append(graph_->alloc(type, elements, space)));
}

Value Builder::load(Buffer b, Value index) {
  Value loaded = make(Op::Load, {wrap(b.id), index});
  append(loaded.id);
  return loaded;
}

void Builder::store(Buffer b, Value index, Value v) {
  append(make(Op::Store, {wrap(b.id), index, v}).id);
}

void Builder::prefetch(Buffer b, Value index) {
  append(make(Op::Prefetch, {wrap(b.id), index}).id);
}

Value Builder::atomic(Fold fold, Buffer b, Value index, Value v) {
  const Id operands[] = {b.id, index.id, v.id};
  const std::string problem = type_problem(*graph_, Op::Atomic, operands);
  XLOG_CHECK(problem.empty(), problem);
  return wrap(append(graph_->fold_node(Op::Atomic, fold, operands)));
}

Value Builder::cas(Buffer b, Value index, Value expected, Value desired) {
  Value old = make(Op::Cas, {wrap(b.id), index, expected, desired});
  append(old.id);
  return old;
}

void Builder::barrier() { append(graph_->make(Op::Barrier, {})); }

void Builder::check(uint32_t code, Value condition) {
  XLOG_CHECK(code < kCheckCodes, "there is no such check code");
  append(graph_->check(code, condition.id));
}

Value Builder::gscan(Fold fold, Value v) {
  return wrap(append(graph_->fold_node(Op::GScan, fold, std::span(&v.id, 1))));
}

Value Builder::greduce(Fold fold, Value v) {
  return wrap(append(graph_->fold_node(Op::GReduce, fold, std::span(&v.id, 1))));
}

Id Builder::block_of(const std::function<void()>& body) {
  blocks_.emplace_back();
  body();
  Id block = graph_->block(blocks_.back());
  blocks_.pop_back();
  return block;
}

Values Builder::carried_args(uint32_t tag, const Values& inits) {
  Values args;
  for (const Value& init : inits) {
    args.push_back(wrap(graph_->arg(tag, static_cast<uint32_t>(args.size()) + 1, init.type())));
  }
  return args;
}

Values Builder::results_of(Id loop, const Values& inits) {
  Values results;
  for (const Value& init : inits) {
    results.push_back(wrap(graph_->proj(loop, static_cast<uint32_t>(results.size()), init.type())));
  }
  return results;
}

Values Builder::for_range(Value lo, Value hi, Values inits,
                          const std::function<Values(Value, const Values&)>& body) {
  const uint32_t tag = graph_->new_tag();
  Id block = block_of([&] {
    Values next = body(wrap(graph_->arg(tag, 0, Type::U32)), carried_args(tag, inits));
    XLOG_CHECK(next.size() == inits.size(), "a loop body returns as many values as it carries");
    std::vector<Id> ids;
    for (Value v : next) ids.push_back(v.id);
    if (!ids.empty()) append(graph_->make(Op::Yield, ids));
  });
  std::vector<Id> operands = {lo.id, hi.id};
  for (Value v : inits) operands.push_back(v.id);
  operands.push_back(block);
  return results_of(append(graph_->loop(Op::For, tag, operands)), inits);
}

void Builder::for_range(Value lo, Value hi, const std::function<void(Value)>& body) {
  for_range(lo, hi, {}, [&](Value j, const Values&) {
    body(j);
    return Values{};
  });
}

Values Builder::loop(Value bound, Value go, Values inits,
                     const std::function<std::pair<Value, Values>(Value, const Values&)>& body) {
  const uint32_t tag = graph_->new_tag();
  Id block = block_of([&] {
    auto [again, next] = body(wrap(graph_->arg(tag, 0, Type::U32)), carried_args(tag, inits));
    XLOG_CHECK(next.size() == inits.size(), "a loop body returns as many values as it carries");
    std::vector<Id> ids = {again.id};
    for (Value v : next) ids.push_back(v.id);
    append(graph_->make(Op::Yield, ids));
  });
  std::vector<Id> operands = {bound.id, go.id};
  for (Value v : inits) operands.push_back(v.id);
  operands.push_back(block);
  return results_of(append(graph_->loop(Op::Loop, tag, operands)), inits);
}

void Builder::if_then(Value condition, const std::function<void()>& then_body,
                      const std::function<void()>& else_body) {
  std::vector<Id> operands = {condition.id, block_of(then_body)};
  if (else_body) operands.push_back(block_of(else_body));
  append(graph_->make(Op::If, operands));
}

Value operator!(Value a) { return a ^ a.builder->boolean(true); }

Value operator<=(Value a, Value b) {
  if (is_float(a.type())) return (a < b) | (a == b);
  return !(b < a);
}

Id KernelBuilder::parameter(Type type, Mode mode, std::string_view name) {
  Id id = graph_->parameter(static_cast<uint32_t>(params_.size()), type, mode);
  graph_->set_name(id, name);
  info_.param_names.emplace_back(name);
  params_.push_back(id);
  return id;
}

Value KernelBuilder::val(Type type, std::string_view name) {
  return wrap(parameter(type, Mode::Val, name));
}

Buffer KernelBuilder::buffer(Type type, Mode mode, std::string_view name) {
  return wrap_buffer(parameter(type, mode, name));
}

Id KernelBuilder::finish() {
  XLOG_CHECK(blocks_.size() == 1, "a block of the kernel is still open");
  return graph_->kernel(info_, graph_->block(blocks_.back()), params_);
}

}  // namespace xlog::kernel
