// C for the compiler of this machine (gcc or clang): the way to a CPU that has no LLVM library.
#include "render/c_family.h"

namespace xlog::render {

using kernel::Op;
using kernel::Type;

namespace {

constexpr OpText kOps[] = {
    {Op::MulHi, Type::U64, "(u64)((unsigned __int128){0} * {1} >> 64)"},
    {Op::MulHi, Type::I64, "(i64)((__int128){0} * {1} >> 64)"},
    {Op::Popc, Type::U32, "(u32)__builtin_popcount({0})"},
    {Op::Popc, Type::U64, "(u32)__builtin_popcountll({0})"},
    {Op::Clz, Type::U32, "({0} == 0 ? 32u : (u32)__builtin_clz({0}))"},
    {Op::Clz, Type::U64, "({0} == 0 ? 64u : (u32)__builtin_clzll({0}))"},
    {Op::Ctz, Type::U32, "({0} == 0 ? 32u : (u32)__builtin_ctz({0}))"},
    {Op::Ctz, Type::U64, "({0} == 0 ? 64u : (u32)__builtin_ctzll({0}))"},
    {Op::Fma, Type::F32, "__builtin_fmaf({0}, {1}, {2})"},
    {Op::Fma, Type::F64, "__builtin_fma({0}, {1}, {2})"},
    {Op::Sqrt, Type::F32, "__builtin_sqrtf({0})"},
    {Op::Sqrt, Type::F64, "__builtin_sqrt({0})"},
    {Op::Floor, Type::F32, "__builtin_floorf({0})"},
    {Op::Floor, Type::F64, "__builtin_floor({0})"},
    {Op::Bitcast, Type::F32, "((union {{ u32 bits; f32 number; }}){{.bits = {0}}}).number"},
    {Op::Bitcast, Type::F64, "((union {{ u64 bits; f64 number; }}){{.bits = {0}}}).number"},
    {Op::Bitcast, Type::U32, "((union {{ u32 bits; f32 number; }}){{.number = {0}}}).bits"},
    {Op::Bitcast, Type::U64, "((union {{ u64 bits; f64 number; }}){{.number = {0}}}).bits"},
};

constexpr AtomicTexts kAtomics = {
    "__atomic_fetch_add({0}, {1}, __ATOMIC_RELAXED)",
    "({{ __auto_type old = __atomic_load_n({0}, __ATOMIC_RELAXED); while ({1} < old && "
    "!__atomic_compare_exchange_n({0}, &old, {1}, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED)); old; "
    "}})",
    "({{ __auto_type old = __atomic_load_n({0}, __ATOMIC_RELAXED); while ({1} > old && "
    "!__atomic_compare_exchange_n({0}, &old, {1}, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED)); old; "
    "}})",
    "__atomic_fetch_and({0}, {1}, __ATOMIC_RELAXED)",
    "__atomic_fetch_or({0}, {1}, __ATOMIC_RELAXED)",
    "__atomic_fetch_xor({0}, {1}, __ATOMIC_RELAXED)",
    "__atomic_exchange_n({0}, {1}, __ATOMIC_RELAXED)",
    "({{ __auto_type old = {1}; __atomic_compare_exchange_n({0}, &old, {2}, 0, __ATOMIC_RELAXED, "
    "__ATOMIC_RELAXED); old; }})",
};

constexpr Language kLanguage = {
    .prologue = "#pragma STDC FP_CONTRACT OFF\ntypedef _Bool bool;\n",
    .restrict_word = "restrict",
    .ops = kOps,
    .atomic32 = kAtomics,
    .atomic64 = kAtomics,
    .runs_ranges = true,
};

}  // namespace

// Arrays lie on the stack, of which a thread has 8 MiB at most places.
const kernel::Target kC = {.name = "c", .prefetch = true, .max_private_bytes = 1024 * 1024};

std::string render_c(const kernel::Graph& graph, const kernel::Lowered& lowered) {
  return render_c_family(kLanguage, graph, lowered);
}

}  // namespace xlog::render
