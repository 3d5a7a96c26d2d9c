// HIP, for AMD GPUs through hipRTC. All that a new C-like target needs: words, texts, a record.
#include "render/c_family.h"

namespace xlog::render {

using kernel::Op;
using kernel::Type;

namespace {

constexpr std::string_view kPrologue = R"(#pragma clang fp contract(off)
typedef unsigned char u8;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef int i32;
typedef long long i64;
typedef float f32;
)";

constexpr OpText kOps[] = {
    {Op::MulHi, Type::U64, "__umul64hi({0}, {1})"},
    {Op::MulHi, Type::I64, "__mul64hi({0}, {1})"},
    {Op::Popc, Type::U32, "(u32)__popc({0})"},
    {Op::Popc, Type::U64, "(u32)__popcll({0})"},
    {Op::Clz, Type::U32, "({0} == 0 ? 32u : (u32)__clz({0}))"},
    {Op::Clz, Type::U64, "({0} == 0 ? 64u : (u32)__clzll({0}))"},
    {Op::Ctz, Type::U32, "(u32)__popc(~{0} & ({0} - 1))"},
    {Op::Ctz, Type::U64, "(u32)__popcll(~{0} & ({0} - 1))"},
    {Op::Fma, Type::F32, "fmaf({0}, {1}, {2})"},
    {Op::Fma, Type::F64, "fma({0}, {1}, {2})"},
    // Division and sqrtf round correctly unless a compiler flag says otherwise; __fsqrt_rn may not.
    {Op::Sqrt, Type::F32, "sqrtf({0})"},
    {Op::Sqrt, Type::F64, "sqrt({0})"},
    {Op::Floor, Type::F32, "floorf({0})"},
    {Op::Floor, Type::F64, "floor({0})"},
    {Op::Bitcast, Type::F32, "__uint_as_float({0})"},
    {Op::Bitcast, Type::F64, "__longlong_as_double((i64){0})"},
    {Op::Bitcast, Type::U32, "__float_as_uint({0})"},
    {Op::Bitcast, Type::U64, "(u64)__double_as_longlong({0})"},
};

constexpr AtomicTexts kAtomics = {
    "atomicAdd({0}, {1})",  "atomicMin({0}, {1})",      "atomicMax({0}, {1})",
    "atomicAnd({0}, {1})",  "atomicOr({0}, {1})",       "atomicXor({0}, {1})",
    "atomicExch({0}, {1})", "atomicCAS({0}, {1}, {2})",
};

constexpr Language kLanguage = {
    .prologue = kPrologue,
    .f64_prologue = "typedef double f64;\n",
    .kernel_head = "extern \"C\" __global__ __launch_bounds__({0}) void",
    .local = "__shared__ ",
    .restrict_word = "__restrict__",
    .instance = "(u64)blockIdx.x * blockDim.x + threadIdx.x",
    .group = "blockIdx.x",
    .lane = "threadIdx.x",
    .barrier = "__syncthreads();",
    .unroll = "#pragma unroll",
    .ops = kOps,
    .atomic32 = kAtomics,
    .atomic64 = kAtomics,
};

}  // namespace

// The hardware counts up to 8 MiB for the 64 lanes of a wave: 128 KiB each.
const kernel::Target kHip = {.name = "hip", .groups = true, .max_private_bytes = 112 * 1024};

std::string render_hip(const kernel::Graph& graph, const kernel::Lowered& lowered) {
  return render_c_family(kLanguage, graph, lowered);
}

}  // namespace xlog::render
