// Ops and their static facts, from the table op.def.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "kernel/type.h"

namespace xlog::kernel {

enum class Op : uint8_t {
#define XLOG_OP(name, text, tier, operands, domain, result, effect, meaning) name,
#include "kernel/op.def"
#undef XLOG_OP
};

enum class Tier : uint8_t { Kernel, Plan, Relation };
enum class Domain : uint8_t { Any, Num, Int, Bits, Float };
enum class ResultRule : uint8_t { Same, Bool, Count, Pick, Given, Elem, Index, None };
enum class Effect : uint8_t { Pure, Effect };

constexpr int kMany = -1;

struct OpInfo {
  std::string_view text;
  Tier tier;
  int operands;  // kMany: any number
  Domain domain;
  ResultRule result;
  Effect effect;
  std::string_view meaning;
};

inline constexpr OpInfo kOps[] = {
#define XLOG_OP(name, text, tier, operands, domain, result, effect, meaning) \
  {text, Tier::tier, operands, Domain::domain, ResultRule::result, Effect::effect, meaning},
#include "kernel/op.def"
#undef XLOG_OP
};

constexpr int kOpCount = sizeof(kOps) / sizeof(kOps[0]);

constexpr const OpInfo& info(Op op) { return kOps[static_cast<int>(op)]; }
constexpr std::string_view spelling(Op op) { return info(op).text; }
constexpr bool is_effect(Op op) { return info(op).effect == Effect::Effect; }
// Scalar computation: pure, and a function of its operands' values alone.
constexpr bool is_arithmetic(Op op) { return op >= Op::Add && op <= Op::Log2; }

// Plan ops that lowering turns into kernels and launches.
constexpr bool is_skeleton(Op op) {
  switch (op) {
    case Op::Map:
    case Op::Expand:
    case Op::Scan:
    case Op::Reduce:
    case Op::Sort:
    case Op::Segment:
    case Op::Partition:
    case Op::Merge:
      return true;
    default:
      return false;
  }
}
constexpr bool is_loop(Op op) { return op == Op::For || op == Op::Loop; }
// Ops whose results are Proj nodes; a Reduce is its one result itself.
constexpr bool has_results(Op op) { return is_loop(op) || (is_skeleton(op) && op != Op::Reduce); }

constexpr std::optional<Op> find_op(std::string_view text) {
  for (int i = 0; i < kOpCount; ++i) {
    if (kOps[i].text == text) return static_cast<Op>(i);
  }
  return std::nullopt;
}

constexpr bool in_domain(Domain domain, Type type) {
  switch (domain) {
    case Domain::Any:
      return type != Type::Void;
    case Domain::Num:
      return is_int(type) || is_float(type);
    case Domain::Int:
      return is_int(type);
    case Domain::Bits:
      return is_int(type) || is_bool(type);
    case Domain::Float:
      return is_float(type);
  }
  return false;
}

// What Atomic, GScan, GReduce, Scan, Reduce, Segment and Aggregate fold with. All but Exch are
// associative and commutative on integers.
enum class Fold : uint8_t { Add, Min, Max, And, Or, Xor, Exch };

constexpr std::string_view spelling(Fold fold) {
  constexpr std::string_view names[] = {"add", "min", "max", "and", "or", "xor", "exch"};
  return names[static_cast<int>(fold)];
}

constexpr std::optional<Fold> find_fold(std::string_view text) {
  for (int i = 0; i <= static_cast<int>(Fold::Exch); ++i) {
    if (spelling(static_cast<Fold>(i)) == text) return static_cast<Fold>(i);
  }
  return std::nullopt;
}

// The arithmetic op that does one step of the fold; Exch has none.
constexpr std::optional<Op> step_of(Fold fold) {
  constexpr Op ops[] = {Op::Add, Op::Min, Op::Max, Op::And, Op::Or, Op::Xor};
  if (fold == Fold::Exch) return std::nullopt;
  return ops[static_cast<int>(fold)];
}

// What a kernel may do with a parameter. The modes are promises: with only val, in, out and own a
// kernel is a function of its inputs, whatever the schedule.
enum class Mode : uint8_t {
  Val,   // a scalar
  In,    // Load; nobody writes it in this launch
  Out,   // Store; each index at most once in a launch, never loaded
  Own,   // Load and Store; each index touched by one instance (one group, in a group kernel) only
  Acc,   // Atomic on integers, results unused: order-free
  Race,  // anything; the rows that come out of it are a bag
};

constexpr std::string_view spelling(Mode mode) {
  constexpr std::string_view names[] = {"val", "in", "out", "own", "acc", "race"};
  return names[static_cast<int>(mode)];
}

constexpr std::optional<Mode> find_mode(std::string_view text) {
  for (int i = 0; i <= static_cast<int>(Mode::Race); ++i) {
    if (spelling(static_cast<Mode>(i)) == text) return static_cast<Mode>(i);
  }
  return std::nullopt;
}

enum class Space : uint8_t { Local, Private };  // of an Alloc

constexpr std::string_view spelling(Space space) {
  return space == Space::Local ? "local" : "private";
}

// Codes of Check: small numbers, one status word each.
constexpr uint32_t kCheckCodes = 16;
constexpr uint32_t kCheckBound = 0;     // a Loop reached its bound
constexpr uint32_t kCheckOverflow = 1;  // a weight or count does not fit
constexpr uint32_t kCheckFull = 2;      // a table or buffer has no room left
constexpr uint32_t kCheckIndex = 3;     // an index outside its range
constexpr uint32_t kCheckLength = 4;    // columns of unequal length, or a length that does not fit

}  // namespace xlog::kernel
