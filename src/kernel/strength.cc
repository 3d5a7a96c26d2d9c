// Division by constants without division, after Granlund and Montgomery, "Division by invariant
// integers using multiplication" (1994), and Warren, "Hacker's Delight", chapter 10.
#include <bit>

#include "kernel/rules.h"
#include "kernel/rules_facts.h"
#include "kernel/rules_simplify.h"
#include "kernel/rules_strength.h"

namespace xlog::kernel {

namespace {

using Unsigned = unsigned __int128;

// n / d for unsigned n <= most: multiply by m = ceil(2^(width+shift) / d) and keep the high half.
// Exact while the error m*d - 2^(width+shift), taken n times, stays below 2^(width+shift).
Id divide_unsigned(Rewriter& rewriter, Id n, uint64_t d, uint64_t most) {
  const Type type = rewriter.graph().type(n);
  const uint32_t width = bits_of(type);
  auto number = [&](uint64_t v) { return rewriter.graph().constant({type, v}); };
  const uint32_t log = static_cast<uint32_t>(std::bit_width(d - 1));  // ceil(log2 d)
  for (uint32_t shift = 0; shift < log; ++shift) {
    const Unsigned power = Unsigned{1} << (width + shift);
    const Unsigned m = (power + d - 1) / d;
    if (m >> width != 0) break;
    if ((m * d - power) * most >= power) continue;
    const Id high = rewriter.make(Op::MulHi, {n, number(static_cast<uint64_t>(m))});
    return rewriter.make(Op::Shr, {high, number(shift)});
  }
  // m has one bit more than the type: n*m = n*2^width + n*(m - 2^width), halved before it
  // overflows.
  const Unsigned power = Unsigned{1} << width;
  const auto m = static_cast<uint64_t>((power * ((Unsigned{1} << log) - d)) / d + 1);
  const Id high = rewriter.make(Op::MulHi, {n, number(m)});
  const Id rest = rewriter.make(Op::Shr, {rewriter.make(Op::Sub, {n, high}), number(1)});
  return rewriter.make(Op::Shr, {rewriter.make(Op::Add, {rest, high}), number(log - 1)});
}

// All ones for a negative number, else zero.
Id sign_mask(Rewriter& rewriter, Id n) {
  const Type type = rewriter.graph().type(n);
  return rewriter.make(Op::Shr, {n, rewriter.number(type, bits_of(type) - 1)});
}

// Truncating n / d for signed n; d is the divisor's magnitude, at least 2.
Id divide_signed(Rewriter& rewriter, Id n, uint64_t d) {
  const Type type = rewriter.graph().type(n);
  const uint32_t width = bits_of(type);
  auto number = [&](uint64_t v) { return rewriter.graph().constant({type, v & mask_of(type)}); };
  if (std::has_single_bit(d)) {
    // A negative number is rounded up by d - 1 first.
    const Id up = rewriter.make(Op::And, {sign_mask(rewriter, n), number(d - 1)});
    return rewriter.make(Op::Shr, {rewriter.make(Op::Add, {n, up}),
                                   number(static_cast<uint64_t>(std::countr_zero(d)))});
  }
  // The least power p with 2^p > nc * (d - 2^p mod d), nc the greatest multiple of d, less one,
  // that the type holds.
  const Unsigned half = Unsigned{1} << (width - 1);
  const Unsigned nc = half - 1 - half % d;
  uint32_t p = width;
  auto falls_short = [&] {
    const Unsigned power = Unsigned{1} << p;
    return power <= nc * (d - power % d);
  };
  while (falls_short()) ++p;
  const Unsigned power = Unsigned{1} << p;
  const Unsigned m = (power + d - power % d) / d;
  Id q = rewriter.make(Op::MulHi, {n, number(static_cast<uint64_t>(m))});
  if (m >= half) q = rewriter.make(Op::Add, {q, n});  // m - 2^width was multiplied
  q = rewriter.make(Op::Shr, {q, number(p - width)});
  return rewriter.make(Op::Sub, {q, sign_mask(rewriter, n)});
}

uint64_t magnitude(Scalar divisor) {
  const Wide value = number_of(divisor);
  return static_cast<uint64_t>(value < 0 ? -value : value);
}

// n over the magnitude of the divisor.
Id divide(Rewriter& rewriter, Id n, Scalar divisor) {
  if (is_signed(divisor.type)) return divide_signed(rewriter, n, magnitude(divisor));
  return divide_unsigned(rewriter, n, divisor.bits,
                         static_cast<uint64_t>(rewriter.facts()->of(n).max));
}

// 0, 1, -1 and unsigned powers of two have rules of their own.
bool needs_steps(Scalar divisor) {
  const Wide value = number_of(divisor);
  if (value >= -1 && value <= 1) return false;
  return is_signed(divisor.type) || !std::has_single_bit(divisor.bits);
}

// Divisions that these rules take away count first: a remainder uses its operand twice.
Weight strength_measure(const Graph& graph, Id node) {
  const Op op = graph.op(node);
  const bool by_constant = (op == Op::Div || op == Op::Rem) && is_int(graph.type(node)) &&
                           graph.is_const(graph.operand(node, 1));
  const Weight rest = simplify_measure(graph, node);
  // Ranks and order together: one step of rank outweighs the order of a few nodes.
  return {by_constant ? 1 : 0, rest[0], rest[1], rest[2] * 16 + rest[3]};
}

}  // namespace

Id divide_code(Rewriter& rewriter, Id node, std::span<const Id> names) {
  const Scalar divisor = rewriter.graph().value(names[1]);
  if (!needs_steps(divisor)) return node;
  const Id q = divide(rewriter, names[0], divisor);
  if (number_of(divisor) > 0) return q;
  return rewriter.make(Op::Sub, {rewriter.number(divisor.type, 0), q});
}

Id remainder_code(Rewriter& rewriter, Id node, std::span<const Id> names) {
  const Scalar divisor = rewriter.graph().value(names[1]);
  if (!needs_steps(divisor)) return node;
  // The sign of the divisor does not matter.
  const Id by =
      rewriter.graph().constant({divisor.type, magnitude(divisor) & mask_of(divisor.type)});
  const Id whole = rewriter.make(Op::Mul, {divide(rewriter, names[0], divisor), by});
  return rewriter.make(Op::Sub, {names[0], whole});
}

const RuleSet& strength_rules() {
  static const RuleSet rules("strength", {kSimplifyRules, kFactsRules, kStrengthRules},
                             strength_measure);
  return rules;
}

Id reduce_strength(PassContext& context, Id kernel) {
  Facts facts(context.graph, kernel);
  return Rewriter(context, strength_rules(), &facts).run(kernel);
}

}  // namespace xlog::kernel
