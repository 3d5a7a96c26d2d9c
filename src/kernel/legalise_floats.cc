// Floats by ops that mean the same everywhere: Exp2 and Log2 as their steps, Min and Max as
// comparisons, NaNs made canonical on their bits. Devices differ in the NaNs they make and in what
// their optimisers assume of floats; integer ops on the bits leave them no freedom.
#include <vector>

#include "kernel/pass.h"
#include "kernel/rebuild.h"
#include "kernel/transcendental.h"

namespace xlog::kernel {

namespace {

class BasicFloats {
 public:
  explicit BasicFloats(Graph& graph) : graph_(graph) {}

  // The steps of transcendental.h as nodes.
  using Value = Id;
  template <typename... Operands>
  Id op(Op op, Operands... operands) {
    const Id list[] = {operands...};
    if constexpr (sizeof...(operands) == 2) {
      if (op == Op::Min || op == Op::Max) return min_max(op, list[0], list[1]);
    }
    return graph_.make(op, list);
  }
  Id constant(Scalar value) { return graph_.constant(value); }
  Id cast(Type to, Id value) { return graph_.cast(to, value); }
  Id bits(Type to, Id value) { return graph_.bitcast(to, value, true); }

  // As scalar.cc defines them: the operand that is not NaN; of equal numbers, which differ only as
  // zeros, the or of the bits is the lesser and the and the greater.
  Id min_max(Op op, Id a, Id b) {
    const Type type = graph_.type(a);
    if (!is_float(type)) return graph_.make(op, {a, b});
    if (is_plain(a)) std::swap(a, b);
    if (is_plain(b)) {
      const Id nearer = op == Op::Min ? less(a, b) : less(b, a);  // false for NaN, which takes b
      return graph_.make(Op::Select, {nearer, a, b});
    }
    const Type word = bits_type(type);
    const Id merged = graph_.make(op == Op::Min ? Op::Or : Op::And, {bits(word, a), bits(word, b)});
    const Id a_is_number = graph_.make(Op::Eq, {a, a});
    const Id take_b = op == Op::Min ? less(b, a) : less(a, b);
    const Id of_numbers = graph_.make(Op::Select, {take_b, b, a});
    const Id unequal = graph_.make(Op::Select, {a_is_number, of_numbers, b});
    return graph_.make(Op::Select, {graph_.make(Op::Eq, {a, b}), bits(type, merged), unequal});
  }

  // The bits of a float, those of the canonical NaN for every NaN.
  Id canonical_bits(Id value) {
    const Type type = graph_.type(value), word = bits_type(type);
    if (graph_.is_const(value)) {
      return constant({word, canonical(graph_.value(value)).bits});
    }
    const Id raw = bits(word, value);
    if (is_canonical(value, kLook)) return raw;
    const uint64_t sign = (mask_of(word) >> 1) + 1;
    const uint64_t infinity = graph_infinity(type);
    const Id magnitude = graph_.make(Op::And, {raw, constant({word, sign - 1})});
    const Id is_nan = graph_.make(Op::Lt, {constant({word, infinity}), magnitude});
    return graph_.make(Op::Select, {is_nan, constant({word, canonical_nan(type).bits}), raw});
  }

  Id canonical_float(Id value) {
    const Type type = graph_.type(value);
    if (graph_.is_const(value)) return constant(canonical(graph_.value(value)));
    if (is_canonical(value, kLook)) return value;
    const Id made = bits(type, canonical_bits(value));
    if (made_.size() <= made.index) made_.resize(made.index + 1, false);
    made_[made.index] = true;
    return made;
  }

 private:
  static constexpr int kLook = 8;  // how far a proof looks into selects

  static uint64_t graph_infinity(Type type) {
    return type == Type::F32 ? Scalar::f32(INFINITY).bits : Scalar::f64(INFINITY).bits;
  }

  Id less(Id a, Id b) { return graph_.make(Op::Lt, {a, b}); }

  // A constant number other than zero: equal to another float only with the same bits.
  bool is_plain(Id id) const {
    if (!graph_.is_const(id)) return false;
    const Scalar value = graph_.value(id);
    return !value.is_nan() && value.as_f64() != 0;
  }

  // Whether the value is known to be no NaN but the canonical one. Arithmetic is not: a device
  // chooses the NaN it makes.
  bool is_canonical(Id id, int look) const {
    if (id.index < made_.size() && made_[id.index]) return true;
    switch (graph_.op(id)) {
      case Op::Const:
        return canonical(graph_.value(id)) == graph_.value(id);
      case Op::Cast:
        return !is_float(graph_.type(graph_.operand(id, 0)));
      case Op::Select:
        return look > 0 && is_canonical(graph_.operand(id, 1), look - 1) &&
               is_canonical(graph_.operand(id, 2), look - 1);
      default:
        return false;
    }
  }

  Graph& graph_;
  std::vector<bool> made_;  // by Id: canonical because canonical_float made it
};

// Only what leaves the kernel is canonical: arrays keep any NaN, since loads from them meet this
// pass again before their value leaves.
bool leaves_kernel(const Graph& graph, Id node) {
  const Op op = graph.op(node);
  if (op != Op::Store && op != Op::Atomic) return false;
  return is_float(graph.type(graph.operand(node, 2))) &&
         graph.op(graph.operand(node, 0)) == Op::Param;
}

}  // namespace

Id floats_to_basic(PassContext& context, Id kernel) {
  Graph& graph = context.graph;
  BasicFloats basic(graph);
  auto rewrite = [&](Id node) {
    const auto operands = graph.operands(node);
    switch (graph.op(node)) {
      case Op::Exp2:
        return exp2_steps(basic, graph.type(node), operands[0]);
      case Op::Log2:
        return log2_steps(basic, graph.type(node), operands[0]);
      case Op::Min:
      case Op::Max:
        return basic.min_max(graph.op(node), operands[0], operands[1]);
      case Op::Bitcast: {
        if (graph.is_raw(node)) return node;
        const Type from = graph.type(operands[0]);
        const Id bits = is_float(from) ? basic.canonical_bits(operands[0]) : operands[0];
        return graph.type(bits) == graph.type(node) ? bits : basic.bits(graph.type(node), bits);
      }
      default:
        return node;
    }
  };
  Rebuild again(graph);
  again.pure = [&](Id node, Id original) {
    const Id made = rewrite(node);
    if (made != node) context.note("float op as basic ops", original, made);
    return made;
  };
  again.effect = [&](Id node, Id original, std::vector<Id>& out) {
    if (leaves_kernel(graph, node)) {
      const auto old = graph.operands(node);
      const Id operands[] = {old[0], old[1], basic.canonical_float(old[2])};
      const Id made = graph.with_operands(node, operands);
      if (made != node) context.note("canonical NaN", original, made);
      node = made;
    }
    out.push_back(node);
    return node;
  };
  return again.run(kernel);
}

}  // namespace xlog::kernel
