// The emitter behind every C-like language. A language is data: the words and texts in which it
// differs from plain C; c.cc, opencl.cc, cuda.cc and hip.cc are such records and nothing more.
//
// Values print as one declaration each (`const u32 v7 = ...;`) over operands that are names or
// literals, so a text may use an operand twice. Signed arithmetic goes through unsigned types and
// every shift, division and float cast is written out: no rendered kernel has undefined behaviour,
// whatever its data.
#pragma once

#include <array>
#include <span>
#include <string>
#include <string_view>

#include "kernel/passes.h"
#include "kernel/target.h"

namespace xlog::render {

extern const kernel::Target kC, kOpenCl, kCuda, kHip;
std::string render_c(const kernel::Graph& graph, const kernel::Lowered& lowered);
std::string render_opencl(const kernel::Graph& graph, const kernel::Lowered& lowered);
std::string render_cuda(const kernel::Graph& graph, const kernel::Lowered& lowered);
std::string render_hip(const kernel::Graph& graph, const kernel::Lowered& lowered);

// How a language says an op that C has no operator for, or says differently. {0}, {1}, {2} are the
// operands. Bits are counted on unsigned types only; a Bitcast row is named by its result.
struct OpText {
  kernel::Op op;
  kernel::Type type;  // of the first operand; of the result, for Bitcast
  std::string_view text;
};

// Texts for Add, Min, Max, And, Or, Xor, Exch (in the order of Fold), then compare-and-swap. {0} is
// the pointer, {1} the value (for the last: expected, {2} desired). Min and Max see signed types;
// all others see the unsigned type of the same width.
using AtomicTexts = std::array<std::string_view, 8>;

inline constexpr std::string_view kLaneZero = "lane_zero";

inline constexpr std::string_view kCTypes = R"(typedef unsigned char u8;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef int i32;
typedef long long i64;
typedef float f32;
)";

struct Language {
  // ---- before the kernel ----
  std::string_view prologue = {};    // pragmas; the type bool where the language has none
  std::string_view types = kCTypes;  // u8 u32 u64 i32 i64 f32
  std::string_view f64_prologue = "typedef double f64;\n";  // only where f64 is used
  std::string_view atomic64_prologue = {};                  // only where 64-bit atomics are used

  // ---- the kernel itself ----
  // What stands before the name; {0} is the size of a work group.
  std::string_view kernel_head = {};
  std::string_view global = {};  // of pointers to buffers, with a blank: "__global "
  std::string_view local = {};   // of arrays that a group shares, with a blank: "__shared__ "
  std::string_view local_pointer = {};  // of pointers to them; "" where pointers know no spaces
  std::string_view restrict_word = {};
  std::string_view instance = {};  // u64, of a grid kernel
  std::string_view group = {};     // u32
  std::string_view lane = {};      // u32
  std::string_view barrier = {};   // a statement
  std::string_view unroll = {};    // a line before a short loop; "": leave it to the compiler
  // Statements that define kLaneZero, a u32 that is 0 and that a compiler has to think different in
  // each lane; "": not wanted. See Emitter::per_lane.
  std::string_view lane_zero = {};

  // ---- inside it ----
  std::span<const OpText> ops = {};
  std::span<const OpText> shared_ops = {};  // with other languages; those of `ops` go first
  AtomicTexts atomic32 = {}, atomic64 = {};
  // The definition of `group_<op>_<fold>_<type>(value)`, one for each that a kernel uses. nullptr:
  // the target has no collectives.
  std::string (*collective)(kernel::Op op, kernel::Fold fold, kernel::Type type,
                            uint32_t group) = nullptr;

  // A CPU runs a range of instances in a loop; the fields for instances and groups are unused.
  bool runs_ranges = false;
};

std::string render_c_family(const Language& language, const kernel::Graph& graph,
                            const kernel::Lowered& lowered);

// ---- c_family_ops.cc ----

// A value of the type, exactly. NaN and infinity go through their bits.
std::string literal(const Language& language, kernel::Scalar value);
// An arithmetic op over operand texts that are names or literals. `from` is the type of the first
// operand that is not a condition, `to` the result's.
std::string expression(const Language& language, kernel::Op op, kernel::Type from, kernel::Type to,
                       std::span<const std::string> operands);

}  // namespace xlog::render
