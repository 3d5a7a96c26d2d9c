// Builds kernels in C++ so that they read like the loops they are.
//
//   KernelBuilder k(graph, "bucket");
//   Value n = k.val(Type::U32, "n");
//   Buffer key = k.in(Type::U32, "key"), out = k.out(Type::U32, "out");
//   Value i = k.grid(n);
//   Value h = key[i];
//   h = (h ^ (h >> 16)) * 0x85ebca6b;
//   k.store(out, i, h & 1023);
//   Id kernel = k.finish();
//
// Numbers on the right of an operator take the type of the left side. A type error is a broken
// promise of the caller and aborts; text from users goes through text.h.
#pragma once

#include <functional>
#include <initializer_list>
#include <string_view>
#include <utility>
#include <vector>

#include "kernel/graph.h"

namespace xlog::kernel {

class Builder;

struct Value {
  Builder* builder = nullptr;
  Id id;

  Type type() const;
};

// A buffer parameter or array. `b[i]` loads, at the place where it is written.
struct Buffer {
  Builder* builder = nullptr;
  Id id;

  Value operator[](Value index) const;
  Value operator[](uint32_t index) const;
  Type type() const;
};

using Values = std::vector<Value>;

class Builder {
 public:
  explicit Builder(Graph& graph) : graph_(&graph) { blocks_.emplace_back(); }
  Builder(const Builder&) = delete;
  Builder& operator=(const Builder&) = delete;

  Graph& graph() { return *graph_; }

  // ---- values ----
  Value constant(Scalar value) { return wrap(graph_->constant(value)); }
  Value number(Type type, int64_t v) { return constant(Scalar::of(type, v)); }
  Value u32(uint32_t v) { return constant(Scalar::u32(v)); }
  Value boolean(bool v) { return constant(Scalar::boolean(v)); }
  Value make(Op op, std::initializer_list<Value> operands);
  Value cast(Type to, Value v) { return wrap(graph_->cast(to, v.id)); }
  Value bitcast(Type to, Value v) { return wrap(graph_->bitcast(to, v.id)); }
  Value select(Value condition, Value a, Value b) { return make(Op::Select, {condition, a, b}); }
  Value min(Value a, Value b) { return make(Op::Min, {a, b}); }
  Value max(Value a, Value b) { return make(Op::Max, {a, b}); }
  Value mulhi(Value a, Value b) { return make(Op::MulHi, {a, b}); }
  Value popc(Value a) { return make(Op::Popc, {a}); }
  Value clz(Value a) { return make(Op::Clz, {a}); }
  Value ctz(Value a) { return make(Op::Ctz, {a}); }
  Value len(Buffer b) { return wrap(graph_->make(Op::Len, {b.id})); }
  Value name(Value v, std::string_view text);  // for the text form

  // ---- memory ----
  Buffer local(Type type, uint32_t elements) { return array(type, elements, Space::Local); }
  Buffer private_array(Type type, uint32_t elements) {
    return array(type, elements, Space::Private);
  }
  Value load(Buffer b, Value index);
  void store(Buffer b, Value index, Value v);
  void prefetch(Buffer b, Value index);
  Value atomic(Fold fold, Buffer b, Value index, Value v);
  Value cas(Buffer b, Value index, Value expected, Value desired);
  void barrier();
  void check(uint32_t code, Value condition);
  Value gscan(Fold fold, Value v);
  Value greduce(Fold fold, Value v);

  // ---- control ----
  // Runs body for lo <= j < hi; the body takes and returns the carried values; the last ones come
  // back.
  Values for_range(Value lo, Value hi, Values inits,
                   const std::function<Values(Value j, const Values& carried)>& body);
  void for_range(Value lo, Value hi, const std::function<void(Value j)>& body);
  // Runs body while `go`, at most `bound` times; the body returns the next `go` and carried values.
  Values loop(Value bound, Value go, Values inits,
              const std::function<std::pair<Value, Values>(Value t, const Values& carried)>& body);
  void if_then(Value condition, const std::function<void()>& then_body,
               const std::function<void()>& else_body = {});

  // Appends an effect to the block that is open.
  Id append(Id effect);
  Value wrap(Id id) { return {this, id}; }
  Buffer wrap_buffer(Id id) { return {this, id}; }
  // The effects that `body` appends, as a Block of their own.
  Id block_of(const std::function<void()>& body);

 protected:
  Graph* graph_;
  std::vector<std::vector<Id>> blocks_;

 private:
  Buffer array(Type type, uint32_t elements, Space space);
  Values carried_args(uint32_t tag, const Values& inits);
  Values results_of(Id loop, const Values& inits);
};

class KernelBuilder : public Builder {
 public:
  // group: lanes of a group; 0 makes a grid kernel.
  KernelBuilder(Graph& graph, std::string_view name, uint32_t group = 0)
      : Builder(graph), info_{std::string(name), group} {}

  Value val(Type type, std::string_view name);
  Buffer in(Type type, std::string_view name) { return buffer(type, Mode::In, name); }
  Buffer out(Type type, std::string_view name) { return buffer(type, Mode::Out, name); }
  Buffer own(Type type, std::string_view name) { return buffer(type, Mode::Own, name); }
  Buffer acc(Type type, std::string_view name) { return buffer(type, Mode::Acc, name); }
  Buffer race(Type type, std::string_view name) { return buffer(type, Mode::Race, name); }
  Buffer buffer(Type type, Mode mode, std::string_view name);

  Value grid(Value n) { return make(Op::Grid, {n}); }
  Value group(Value n) { return make(Op::Group, {n}); }
  Value lane() { return make(Op::Lane, {}); }

  Id finish();

 private:
  Id parameter(Type type, Mode mode, std::string_view name);

  KernelInfo info_;
  std::vector<Id> params_;
};

// Operators: both sides have one type; a plain number takes the type of the other side.
#define XLOG_KERNEL_OPERATOR(symbol, op)                                                 \
  inline Value operator symbol(Value a, Value b) { return a.builder->make(op, {a, b}); } \
  inline Value operator symbol(Value a, int64_t b) {                                     \
    return a.builder->make(op, {a, a.builder->number(a.type(), b)});                     \
  }
XLOG_KERNEL_OPERATOR(+, Op::Add)
XLOG_KERNEL_OPERATOR(-, Op::Sub)
XLOG_KERNEL_OPERATOR(*, Op::Mul)
XLOG_KERNEL_OPERATOR(/, Op::Div)
XLOG_KERNEL_OPERATOR(%, Op::Rem)
XLOG_KERNEL_OPERATOR(&, Op::And)
XLOG_KERNEL_OPERATOR(|, Op::Or)
XLOG_KERNEL_OPERATOR(^, Op::Xor)
XLOG_KERNEL_OPERATOR(<<, Op::Shl)
XLOG_KERNEL_OPERATOR(>>, Op::Shr)
XLOG_KERNEL_OPERATOR(==, Op::Eq)
XLOG_KERNEL_OPERATOR(<, Op::Lt)
#undef XLOG_KERNEL_OPERATOR

Value operator!(Value a);  // of a bool
inline Value operator!=(Value a, Value b) { return !(a == b); }
inline Value operator!=(Value a, int64_t b) { return !(a == b); }
// On floats `a <= b` is `not (b < a)` only without NaN; so it is (a < b) or (a == b).
Value operator<=(Value a, Value b);
inline Value operator>(Value a, Value b) { return b < a; }
inline Value operator>=(Value a, Value b) { return b <= a; }

}  // namespace xlog::kernel
