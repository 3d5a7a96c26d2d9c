// CUDA C++ as NVRTC takes it: no headers.
#include <fmt/format.h>

#include "render/cuda_like.h"

namespace xlog::render {

using kernel::Fold;
using kernel::Op;
using kernel::Type;

namespace {

constexpr OpText kOps[] = {
    {Op::Clz, Type::U32, "(u32)__clz((i32){0})"},
    {Op::Clz, Type::U64, "(u32)__clzll((i64){0})"},
    // The _rn forms round correctly and are never contracted, whatever the compiler's flags.
    {Op::Add, Type::F32, "__fadd_rn({0}, {1})"},
    {Op::Add, Type::F64, "__dadd_rn({0}, {1})"},
    {Op::Sub, Type::F32, "__fsub_rn({0}, {1})"},
    {Op::Sub, Type::F64, "__dsub_rn({0}, {1})"},
    {Op::Mul, Type::F32, "__fmul_rn({0}, {1})"},
    {Op::Mul, Type::F64, "__dmul_rn({0}, {1})"},
    {Op::Div, Type::F32, "__fdiv_rn({0}, {1})"},
    {Op::Div, Type::F64, "__ddiv_rn({0}, {1})"},
    {Op::Fma, Type::F32, "__fmaf_rn({0}, {1}, {2})"},
    {Op::Fma, Type::F64, "__fma_rn({0}, {1}, {2})"},
    {Op::Sqrt, Type::F32, "__fsqrt_rn({0})"},
    {Op::Sqrt, Type::F64, "__dsqrt_rn({0})"},
};

std::string collective(Op op, Fold fold, Type type, uint32_t group);

constexpr Language kLanguage = [] {
  Language language = kCudaLike;
  language.ops = kOps;
  language.collective = collective;
  return language;
}();

// Each warp folds by shuffles (Hillis and Steele for a scan, a tree for a reduction), writes its
// total to shared memory, and after a barrier every lane folds the totals it needs: at most 31
// broadcast reads. The last warp may be short; `active` keeps its lanes from reading beyond it. The
// second barrier lets the next call use the totals again. A collective orders memory as a barrier
// does; shuffles do not, hence the __syncwarp where a group is one warp.
constexpr std::string_view kScan = R"(
static __device__ __forceinline__ {type} group_scan_{fold}_{type}({type} value) {{
  const u32 lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const u32 active = {group} - warp * 32 < 32 ? {group} - warp * 32 : 32;
  const u32 mask = 0xffffffffu >> (32 - active);
  {type} sum = value;
#pragma unroll
  for (u32 step = 1; step < 32; step *= 2) {{
    const {type} before = ({type})__shfl_up_sync(mask, ({word})sum, step);
    if (lane >= step) sum = {fold_before_sum};
  }}
  {type} result = ({type})__shfl_up_sync(mask, ({word})sum, 1);
  if (lane == 0) result = {identity};
  if ({warps} > 1) {{
    __shared__ {type} totals[{warps}];
    if (lane == active - 1) totals[warp] = sum;
    __syncthreads();
    for (u32 k = 0; k < warp; ++k) {{
      const {type} before = totals[k];
      result = {fold_before_result};
    }}
    __syncthreads();
  }} else {{
    __syncwarp(mask);
  }}
  return result;
}}
)";

constexpr std::string_view kReduce = R"(
static __device__ __forceinline__ {type} group_reduce_{fold}_{type}({type} value) {{
  const u32 lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const u32 active = {group} - warp * 32 < 32 ? {group} - warp * 32 : 32;
  const u32 mask = 0xffffffffu >> (32 - active);
  {type} sum = value;
#pragma unroll
  for (u32 step = 16; step > 0; step /= 2) {{
    const {type} before = ({type})__shfl_down_sync(mask, ({word})sum, step);
    if (lane + step < active) sum = {fold_before_sum};
  }}
  if ({warps} == 1) {{
    __syncwarp(mask);
    return ({type})__shfl_sync(mask, ({word})sum, 0);
  }}
  __shared__ {type} totals[{warps}];
  if (lane == 0) totals[warp] = sum;
  __syncthreads();
  {type} result = totals[0];
#pragma unroll
  for (u32 k = 1; k < {warps}; ++k) {{
    const {type} before = totals[k];
    result = {fold_before_result};
  }}
  __syncthreads();
  return result;
}}
)";

std::string fold_text(Fold fold, Type type, std::string into) {
  const std::string values[] = {"before", std::move(into)};
  return expression(kLanguage, *step_of(fold), type, type, values);
}

std::string collective(Op op, Fold fold, Type type, uint32_t group) {
  using fmt::arg;
  return fmt::format(fmt::runtime(op == Op::GScan ? kScan : kReduce), arg("type", spelling(type)),
                     arg("fold", spelling(fold)), arg("group", fmt::format("{}u", group)),
                     arg("warps", fmt::format("{}u", (group + 31) / 32)),
                     arg("word", spelling(type == Type::U8 ? Type::U32 : type)),
                     arg("identity", literal(kLanguage, fold_identity(fold, type))),
                     arg("fold_before_sum", fold_text(fold, type, "sum")),
                     arg("fold_before_result", fold_text(fold, type, "result")));
}

}  // namespace

// A block has 48 KiB of shared memory. Each fold of each type has its own totals of up to 32 warps:
// all of them (6 folds, scanned and reduced, of types of 1, 4, 8, 4 and 8 bytes) take 9600 bytes.
// CUDA gives a thread 512 KiB at most; a part is left to what the compiler spills.
const kernel::Target kCuda = {.name = "cuda",
                              .groups = true,
                              .collectives = true,
                              .max_local_bytes = 48 * 1024 - 9600,
                              .max_private_bytes = 448 * 1024};

std::string render_cuda(const kernel::Graph& graph, const kernel::Lowered& lowered) {
  return render_c_family(kLanguage, graph, lowered);
}

}  // namespace xlog::render
