// Cheaper forms of multiplication and division by constants. They make expressions larger, so they
// run once, after everything that might make the division go away.
#pragma once

#include "kernel/rules.h"

namespace xlog::kernel {

// clang-format off
inline constexpr Rule kStrengthRules[] = {
    rule("mul-pow2", "(mul ?x:int #c)", "(shl ?x (ctz #c))", "(eq (popc #c) 1)"),
    rule("div-constant", "(div ?x:int #c)", "!divide"),
    rule("rem-constant", "(rem ?x:int #c)", "!remainder"),
};
// clang-format on

}  // namespace xlog::kernel
