#include "kernel/facts.h"

#include <algorithm>
#include <bit>

#include "base/check.h"

namespace xlog::kernel {

namespace {

struct Range {
  Wide min, max;
};

Range range_of(Type type) {
  const Wide all = Wide{mask_of(type)};
  if (is_signed(type)) return {-(all >> 1) - 1, all >> 1};
  return {0, all};
}

bool fits(Type type, Wide min, Wide max) {
  const Range range = range_of(type);
  return range.min <= min && max <= range.max;
}

// Bits that a number of 0 .. max may have.
uint64_t bits_up_to(Wide max) {
  const auto value = static_cast<uint64_t>(max);
  return value == 0 ? 0 : ~uint64_t{0} >> std::countl_zero(value);
}

// Interval and bits of one value tell on each other.
Fact refined(Type type, Fact fact) {
  if (fact.min >= 0) {
    fact.zeros |= ~bits_up_to(fact.max);
    const Wide most = Wide{~fact.zeros & mask_of(type)};
    fact.max = std::min(fact.max, most);
    fact.min = std::max(fact.min, Wide{fact.ones});
  }
  if (fact.min == fact.max) {
    const uint64_t bits = static_cast<uint64_t>(fact.min) & mask_of(type);
    fact.ones = bits;
    fact.zeros = ~bits;
  }
  return fact;
}

Fact with_bits(Type type, uint64_t zeros, uint64_t ones) {
  Fact fact = Fact::any(type);
  fact.zeros |= zeros;
  fact.ones |= ones;
  const uint64_t sign = (mask_of(type) >> 1) + 1;
  if (is_signed(type) && (fact.zeros & sign) != 0) fact.min = 0;
  if (is_signed(type) && (fact.ones & sign) != 0) fact.max = -1;
  return refined(type, fact);
}

int trailing_zeros(const Fact& fact) { return std::countr_one(fact.zeros); }

uint64_t low_bits(int count) { return count >= 64 ? ~uint64_t{0} : (uint64_t{1} << count) - 1; }

// The values of both.
Fact both(Type type, const Fact& a, const Fact& b) {
  Fact fact{std::max(a.min, b.min), std::min(a.max, b.max), a.zeros | b.zeros, a.ones | b.ones};
  return refined(type, fact);
}

Fact sum(Type type, Wide min, Wide max, int zeros) {
  const Fact low = with_bits(type, low_bits(zeros), 0);
  return fits(type, min, max) ? both(type, Fact::between(type, min, max), low) : low;
}

Fact product(Type type, const Fact& a, const Fact& b) {
  const int zeros = std::min(64, trailing_zeros(a) + trailing_zeros(b));
  if (std::max({a.max, b.max, -a.min, -b.min}) > Wide{UINT32_MAX}) {
    // Only small factors: the product of two wide ones leaves the type anyway, but for 0 and 1.
    return with_bits(type, low_bits(zeros), 0);
  }
  const auto [min, max] = std::minmax({a.min * b.min, a.min * b.max, a.max * b.min, a.max * b.max});
  return sum(type, min, max, zeros);
}

Fact high_product(Type type, const Fact& a, const Fact& b) {
  if (a.min < 0 || b.min < 0) return Fact::any(type);
  using Unsigned = unsigned __int128;
  const uint32_t width = bits_of(type);
  return Fact::between(type, static_cast<Wide>((Unsigned(a.min) * Unsigned(b.min)) >> width),
                       static_cast<Wide>((Unsigned(a.max) * Unsigned(b.max)) >> width));
}

Fact quotient(Type type, const Fact& a, const Fact& b) {
  if (a.min < 0 || b.min < 0) return Fact::any(type);
  if (b.min == 0) return Fact::between(type, 0, a.max);  // x/0 = 0
  return Fact::between(type, a.min / b.max, a.max / b.min);
}

Fact remainder(Type type, const Fact& a, const Fact& b) {
  if (b.min <= 0) return a.min >= 0 && b.min == 0 ? Fact::between(type, 0, a.max) : Fact::any(type);
  const Wide most = b.max - 1;
  if (a.min >= 0) return Fact::between(type, 0, std::min(a.max, most));
  return Fact::between(type, std::max(a.min, -most), std::max(Wide{0}, std::min(a.max, most)));
}

Fact shifted_left(Type type, const Fact& a, const Fact& amount) {
  if (amount.min < 0 || amount.max >= Wide{bits_of(type)}) return Fact::any(type);
  const int least = static_cast<int>(amount.min), most = static_cast<int>(amount.max);
  const int zeros = std::min(64, trailing_zeros(a) + least);
  uint64_t known_zeros = low_bits(zeros), known_ones = 0;
  if (least == most) {
    known_zeros |= a.zeros << least;
    known_ones = (a.ones << least) & mask_of(type);
  }
  Fact fact = with_bits(type, known_zeros, known_ones);
  if (a.min < 0 || a.max > Wide{mask_of(type)} >> most) return fact;
  if (!fits(type, 0, a.max << most)) return fact;
  return both(type, fact, Fact::between(type, a.min << least, a.max << most));
}

Fact shifted_right(Type type, const Fact& a, const Fact& amount) {
  if (amount.min < 0 || amount.max >= Wide{bits_of(type)}) {
    return a.min >= 0 ? Fact::between(type, 0, a.max) : Fact::any(type);
  }
  const int least = static_cast<int>(amount.min), most = static_cast<int>(amount.max);
  Fact fact = Fact::between(type, a.min >= 0 ? a.min >> most : a.min >> least,
                            a.max >= 0 ? a.max >> least : a.max >> most);
  if (least == most && a.min >= 0) {
    fact.zeros |= (a.zeros >> least) | ~(~uint64_t{0} >> least);
    fact.ones |= a.ones >> least;
  }
  return refined(type, fact);
}

Fact either(Type type, const Fact& a, const Fact& b) {
  Fact fact{std::min(a.min, b.min), std::max(a.max, b.max), a.zeros & b.zeros, a.ones & b.ones};
  return refined(type, fact);
}

Fact bitwise(Op op, Type type, const Fact& a, const Fact& b) {
  if (op == Op::And) {
    Fact fact = with_bits(type, a.zeros | b.zeros, a.ones & b.ones);
    if (a.min >= 0) fact.max = std::min(fact.max, a.max);
    if (b.min >= 0) fact.max = std::min(fact.max, b.max);
    return refined(type, fact);
  }
  if (op == Op::Or) {
    Fact fact = with_bits(type, a.zeros & b.zeros, a.ones | b.ones);
    if (a.min >= 0 && b.min >= 0) fact.min = std::max({fact.min, a.min, b.min});
    return refined(type, fact);
  }
  return with_bits(type, (a.zeros & b.zeros) | (a.ones & b.ones),
                   (a.zeros & b.ones) | (a.ones & b.zeros));
}

Fact bit_count(Op op, Type from, const Fact& a) {
  const Wide width = bits_of(from);
  if (op == Op::Popc) {
    return Fact::between(Type::U32, std::popcount(a.ones), std::popcount(~a.zeros & mask_of(from)));
  }
  if (op == Op::Clz) {
    if (a.max < 0) return Fact::exactly(Scalar::u32(0));
    if (a.min < 0) return Fact::between(Type::U32, 0, width);
    auto leading = [&](Wide value) {
      return width - static_cast<Wide>(std::bit_width(static_cast<uint64_t>(value)));
    };
    return Fact::between(Type::U32, leading(a.max), leading(a.min));
  }
  const Wide least = std::min<Wide>(width, trailing_zeros(a));
  if (a.ones != 0) return Fact::between(Type::U32, least, std::countr_zero(a.ones));
  const bool never_zero = a.min > 0 || a.max < 0;
  return Fact::between(Type::U32, std::min(least, never_zero ? width - 1 : width),
                       never_zero ? width - 1 : width);
}

Fact converted(Type from, Type to, const Fact& a) {
  if (!in_domain(Domain::Bits, from)) return Fact::any(to);
  if (to == Type::Bool) {
    if (a.min > 0 || a.max < 0 || a.ones != 0) return Fact::exactly(Scalar::boolean(true));
    return a.max == 0 && a.min == 0 ? Fact::exactly(Scalar::boolean(false)) : Fact::any(to);
  }
  if (fits(to, a.min, a.max)) {
    Fact fact = Fact::between(to, a.min, a.max);
    // Within the narrower width both have the same bits.
    const uint64_t common = mask_of(from) & mask_of(to);
    fact.zeros |= a.zeros & common;
    fact.ones |= a.ones & common;
    return refined(to, fact);
  }
  const uint64_t common = mask_of(from) & mask_of(to);
  return with_bits(to, a.zeros & common, a.ones & common);
}

}  // namespace

Wide number_of(Scalar value) {
  if (is_signed(value.type)) return value.as_i64();
  return Wide{value.bits};
}

Fact Fact::any(Type type) {
  if (!in_domain(Domain::Bits, type)) return {};
  const Range range = range_of(type);
  return {range.min, range.max, ~mask_of(type), 0};
}

Fact Fact::exactly(Scalar value) {
  if (!in_domain(Domain::Bits, value.type)) return {};
  return {number_of(value), number_of(value), ~value.bits, value.bits};
}

Fact Fact::between(Type type, Wide min, Wide max) {
  Fact fact = any(type);
  fact.min = std::max(fact.min, min);
  fact.max = std::min(fact.max, max);
  // An empty interval: code that never runs. Say nothing rather than something odd.
  if (fact.min > fact.max) return any(type);
  return refined(type, fact);
}

Facts::Facts(const Graph& graph, Id kernel) : graph_(graph) {
  if (!kernel.valid()) return;
  group_ = graph.kernel_info(kernel).group;
  collect_loops(graph.body(kernel));
}

void Facts::collect_loops(Id block) {
  for (Id effect : graph_.operands(block)) {
    const Op op = graph_.op(effect);
    if (is_loop(op)) {
      const uint32_t tag = graph_.tag(effect);
      if (tag >= loops_.size()) loops_.resize(tag + 1);
      const bool counted = op == Op::For;
      loops_[tag] = {counted ? graph_.operand(effect, 0) : Id{},
                     graph_.operand(effect, counted ? 1 : 0)};
    }
    for (Id operand : graph_.operands(effect)) {
      if (graph_.op(operand) == Op::Block) collect_loops(operand);
    }
  }
}

const Fact& Facts::of(Id root) {
  if (root.index < done_.size() && done_[root.index]) return known_[root.index];
  if (known_.size() < graph_.size()) {
    known_.resize(graph_.size() + graph_.size() / 2);
    done_.resize(known_.size());
  }
  std::vector<Id>& stack = stack_;
  stack.assign(1, root);
  while (!stack.empty()) {
    const Id id = stack.back();
    if (done_[id.index]) {
      stack.pop_back();
      continue;
    }
    bool ready = true;
    auto need = [&](Id operand) {
      if (done_[operand.index]) return;
      stack.push_back(operand);
      ready = false;
    };
    const Op op = graph_.op(id);
    if (is_arithmetic(op) || op == Op::Grid || op == Op::Group) {
      for (Id operand : graph_.operands(id)) need(operand);
    } else if (op == Op::Arg && graph_.arg_index(id) == 0) {
      const uint32_t tag = graph_.tag(id);
      if (tag < loops_.size() && loops_[tag].high.valid()) {
        need(loops_[tag].high);
        if (loops_[tag].low.valid()) need(loops_[tag].low);
      }
    }
    if (!ready) continue;
    stack.pop_back();
    known_[id.index] = compute(id);
    done_[id.index] = true;
  }
  return known_[root.index];
}

Fact Facts::loop_counter(Id arg) {
  const uint32_t tag = graph_.tag(arg);
  if (tag >= loops_.size() || !loops_[tag].high.valid()) return Fact::any(Type::U32);
  const Limits& limits = loops_[tag];
  const Wide low = limits.low.valid() ? known_[limits.low.index].min : Wide{0};
  return Fact::between(Type::U32, low, known_[limits.high.index].max - 1);
}

void Facts::set_limits(Id loop, Id low, Id high) { loops_[graph_.tag(loop)] = {low, high}; }

Fact Facts::compute(Id id) {
  const Op op = graph_.op(id);
  const Type type = graph_.type(id);
  if (!in_domain(Domain::Bits, type)) return {};
  switch (op) {
    case Op::Const:
      return Fact::exactly(graph_.value(id));
    case Op::Grid:
    case Op::Group:
      return Fact::between(type, 0, operand(id, 0).max - 1);
    case Op::Lane:
      return group_ == 0 ? Fact::any(type) : Fact::between(type, 0, Wide{group_} - 1);
    case Op::Arg:
      return graph_.arg_index(id) == 0 && type == Type::U32 ? loop_counter(id) : Fact::any(type);
    case Op::Cast:
      return converted(graph_.type(graph_.operand(id, 0)), type, operand(id, 0));
    case Op::Select:
      return either(type, operand(id, 1), operand(id, 2));
    case Op::Popc:
    case Op::Clz:
    case Op::Ctz:
      return bit_count(op, graph_.type(graph_.operand(id, 0)), operand(id, 0));
    default:
      break;
  }
  if (!is_arithmetic(op) || graph_.operands(id).size() != 2 ||
      !in_domain(Domain::Bits, graph_.type(graph_.operand(id, 0)))) {
    return Fact::any(type);
  }
  const Fact& a = operand(id, 0);
  const Fact& b = operand(id, 1);
  switch (op) {
    case Op::Add:
      return sum(type, a.min + b.min, a.max + b.max,
                 std::min(trailing_zeros(a), trailing_zeros(b)));
    case Op::Sub:
      return sum(type, a.min - b.max, a.max - b.min,
                 std::min(trailing_zeros(a), trailing_zeros(b)));
    case Op::Mul:
      return product(type, a, b);
    case Op::MulHi:
      return high_product(type, a, b);
    case Op::Div:
      return quotient(type, a, b);
    case Op::Rem:
      return remainder(type, a, b);
    case Op::Min:
      return Fact::between(type, std::min(a.min, b.min), std::min(a.max, b.max));
    case Op::Max:
      return Fact::between(type, std::max(a.min, b.min), std::max(a.max, b.max));
    case Op::And:
    case Op::Or:
    case Op::Xor:
      return bitwise(op, type, a, b);
    case Op::Shl:
      return shifted_left(type, a, b);
    case Op::Shr:
      return shifted_right(type, a, b);
    default:
      return Fact::any(type);
  }
}

}  // namespace xlog::kernel
