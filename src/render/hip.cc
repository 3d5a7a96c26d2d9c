// HIP, for AMD GPUs through hipRTC: CUDA's words, and what it says otherwise.
#include "render/cuda_like.h"

namespace xlog::render {

using kernel::Op;
using kernel::Type;

namespace {

constexpr OpText kOps[] = {
    {Op::Clz, Type::U32, "({0} == 0 ? 32u : (u32)__clz({0}))"},
    {Op::Clz, Type::U64, "({0} == 0 ? 64u : (u32)__clzll({0}))"},
    {Op::Fma, Type::F32, "fmaf({0}, {1}, {2})"},
    {Op::Fma, Type::F64, "fma({0}, {1}, {2})"},
    // Division and sqrtf round correctly unless a compiler flag says otherwise; __fsqrt_rn may not.
    {Op::Sqrt, Type::F32, "sqrtf({0})"},
    {Op::Sqrt, Type::F64, "sqrt({0})"},
};

constexpr Language kLanguage = [] {
  Language language = kCudaLike;
  language.prologue = "#pragma clang fp contract(off)\n";
  language.ops = kOps;
  return language;
}();

}  // namespace

// The hardware counts up to 8 MiB for the 64 lanes of a wave: 128 KiB each.
const kernel::Target kHip = {.name = "hip", .groups = true, .max_private_bytes = 112 * 1024};

std::string render_hip(const kernel::Graph& graph, const kernel::Lowered& lowered) {
  return render_c_family(kLanguage, graph, lowered);
}

}  // namespace xlog::render
