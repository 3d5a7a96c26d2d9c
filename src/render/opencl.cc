// OpenCL C 1.2, the version that every vendor's driver and PoCL take.
#include "render/c_family.h"
#include "render/renderer.h"

namespace xlog::render {

using kernel::Op;
using kernel::Type;

namespace {

constexpr std::string_view kTypes = R"(typedef uchar u8;
typedef uint u32;
typedef ulong u64;
typedef int i32;
typedef long i64;
typedef float f32;
)";

constexpr std::string_view kF64Prologue = R"(#pragma OPENCL EXTENSION cl_khr_fp64 : enable
typedef double f64;
)";

constexpr std::string_view kAtomic64Prologue =
    R"(#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable
#pragma OPENCL EXTENSION cl_khr_int64_extended_atomics : enable
)";

constexpr OpText kOps[] = {
    {Op::MulHi, Type::U64, "mul_hi({0}, {1})"},
    {Op::MulHi, Type::I64, "mul_hi({0}, {1})"},
    {Op::Popc, Type::U32, "popcount({0})"},
    {Op::Popc, Type::U64, "(u32)popcount({0})"},
    {Op::Clz, Type::U32, "clz({0})"},
    {Op::Clz, Type::U64, "(u32)clz({0})"},
    // The ones below the lowest one; all of them for 0. OpenCL C 1.2 has no ctz.
    {Op::Ctz, Type::U32, "popcount(~{0} & ({0} - 1))"},
    {Op::Ctz, Type::U64, "(u32)popcount(~{0} & ({0} - 1))"},
    {Op::Fma, Type::F32, "fma({0}, {1}, {2})"},
    {Op::Fma, Type::F64, "fma({0}, {1}, {2})"},
    {Op::Sqrt, Type::F32, "sqrt({0})"},
    {Op::Sqrt, Type::F64, "sqrt({0})"},
    {Op::Floor, Type::F32, "floor({0})"},
    {Op::Floor, Type::F64, "floor({0})"},
    {Op::Bitcast, Type::F32, "as_float({0})"},
    {Op::Bitcast, Type::F64, "as_double({0})"},
    {Op::Bitcast, Type::U32, "as_uint({0})"},
    {Op::Bitcast, Type::U64, "as_ulong({0})"},
};

constexpr AtomicTexts kAtomic32 = {
    "atomic_add({0}, {1})",  "atomic_min({0}, {1})",          "atomic_max({0}, {1})",
    "atomic_and({0}, {1})",  "atomic_or({0}, {1})",           "atomic_xor({0}, {1})",
    "atomic_xchg({0}, {1})", "atomic_cmpxchg({0}, {1}, {2})",
};

constexpr AtomicTexts kAtomic64 = {
    "atom_add({0}, {1})",  "atom_min({0}, {1})",          "atom_max({0}, {1})",
    "atom_and({0}, {1})",  "atom_or({0}, {1})",           "atom_xor({0}, {1})",
    "atom_xchg({0}, {1})", "atom_cmpxchg({0}, {1}, {2})",
};

constexpr Language kLanguage = {
    .prologue = "#pragma OPENCL FP_CONTRACT OFF\n",
    .types = kTypes,
    .f64_prologue = kF64Prologue,
    .atomic64_prologue = kAtomic64Prologue,
    .kernel_head = "__kernel __attribute__((reqd_work_group_size({0}, 1, 1))) void",
    .global = "__global ",
    .local = "__local ",
    .local_pointer = "__local ",
    .restrict_word = "restrict",
    .instance = "get_global_id(0)",
    .group = "get_group_id(0)",
    .lane = "get_local_id(0)",
    .barrier = "barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);",
    .unroll = "#pragma unroll",
    .lane_zero = "volatile u32 own_lane = get_local_id(0); const u32 lane_zero = own_lane >> 31;",
    .ops = kOps,
    .atomic32 = kAtomic32,
    .atomic64 = kAtomic64,
};

}  // namespace

// A driver for CPUs keeps the private arrays of all lanes of a group on one thread's stack, of
// which there are 8 MiB at most places.
const kernel::Target kOpenCl = {.name = "opencl",
                                .groups = true,
                                .max_group = 256,
                                .max_local_bytes = 32 * 1024,
                                .max_private_bytes = 4 * 1024 * 1024,
                                .lanes_of_thread = kGridGroup};

std::string render_opencl(const kernel::Graph& graph, const kernel::Lowered& lowered) {
  return render_c_family(kLanguage, graph, lowered);
}

}  // namespace xlog::render
