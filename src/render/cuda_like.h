// What CUDA C++ and the languages made after it say alike. Such a language starts from this record
// and adds where it differs; hip.cc shows how little that is.
#pragma once

#include "render/c_family.h"

namespace xlog::render {

inline constexpr OpText kCudaLikeOps[] = {
    {kernel::Op::MulHi, kernel::Type::U64, "__umul64hi({0}, {1})"},
    {kernel::Op::MulHi, kernel::Type::I64, "__mul64hi({0}, {1})"},
    {kernel::Op::Popc, kernel::Type::U32, "(u32)__popc({0})"},
    {kernel::Op::Popc, kernel::Type::U64, "(u32)__popcll({0})"},
    {kernel::Op::Ctz, kernel::Type::U32, "(u32)__popc(~{0} & ({0} - 1))"},
    {kernel::Op::Ctz, kernel::Type::U64, "(u32)__popcll(~{0} & ({0} - 1))"},
    {kernel::Op::Floor, kernel::Type::F32, "floorf({0})"},
    {kernel::Op::Floor, kernel::Type::F64, "floor({0})"},
    {kernel::Op::Bitcast, kernel::Type::F32, "__uint_as_float({0})"},
    {kernel::Op::Bitcast, kernel::Type::F64, "__longlong_as_double((i64){0})"},
    {kernel::Op::Bitcast, kernel::Type::U32, "__float_as_uint({0})"},
    {kernel::Op::Bitcast, kernel::Type::U64, "(u64)__double_as_longlong({0})"},
};

inline constexpr AtomicTexts kCudaLikeAtomics = {
    "atomicAdd({0}, {1})",  "atomicMin({0}, {1})",      "atomicMax({0}, {1})",
    "atomicAnd({0}, {1})",  "atomicOr({0}, {1})",       "atomicXor({0}, {1})",
    "atomicExch({0}, {1})", "atomicCAS({0}, {1}, {2})",
};

inline constexpr Language kCudaLike = {
    .kernel_head = "extern \"C\" __global__ __launch_bounds__({0}) void",
    .local = "__shared__ ",
    .restrict_word = "__restrict__",
    .instance = "(u64)blockIdx.x * blockDim.x + threadIdx.x",
    .group = "blockIdx.x",
    .lane = "threadIdx.x",
    .barrier = "__syncthreads();",
    .unroll = "#pragma unroll",
    .shared_ops = kCudaLikeOps,
    .atomic32 = kCudaLikeAtomics,
    .atomic64 = kCudaLikeAtomics,
};

}  // namespace xlog::render
