// What intervals and known bits (facts.h) allow.
#pragma once

#include "kernel/rules.h"

namespace xlog::kernel {

// clang-format off
inline constexpr Rule kFactsRules[] = {
    rule("exact", "*", "!exact"),
    rule("lt-always", "(lt ?x:int ?y)", "true", "(lt (max ?x) (min ?y))"),
    rule("lt-never", "(lt ?x:int ?y)", "false", "(ge (min ?x) (max ?y))"),
    rule("eq-apart", "(eq ?x:int ?y)", "false", "(lt (max ?x) (min ?y))"),
    rule("eq-bits-apart", "(eq ?x:int ?y)", "false",
         "(ne (or (and (zeros ?x) (ones ?y)) (and (ones ?x) (zeros ?y))) 0)"),
    rule("lt-at-most-zero", "(lt 0 ?x:int)", "(cast:bool ?x)", "(eq (min ?x) 0)"),
    rule("lt-signed-as-bool", "(lt ?x:signed 1)", "(eq ?x 0)", "(eq (min ?x) 0)"),
    rule("min-below", "(min ?x:int ?y)", "?x", "(le (max ?x) (min ?y))"),
    rule("max-above", "(max ?x:int ?y)", "?x", "(ge (min ?x) (max ?y))"),
    rule("and-has-mask", "(and ?x:int #c)", "?x",
         "(eq (or (zeros ?x) (bits #c)) (sub (shl 1 64) 1))"),
    rule("and-apart", "(and ?x:int ?y)", "0", "(eq (or (zeros ?x) (zeros ?y)) (sub (shl 1 64) 1))"),
    rule("and-narrows", "(and (or ?x:int ?y) #c)", "(and ?x #c)",
         "(eq (and (bits #c) (zeros ?y)) (bits #c))"),
    rule("or-has-bits", "(or ?x:int #c)", "?x", "(eq (and (ones ?x) (bits #c)) (bits #c))"),
    rule("xor-apart", "(xor (or ?x:int ?y) ?y)", "?x",
         "(eq (or (zeros ?x) (zeros ?y)) (sub (shl 1 64) 1))"),
    rule("div-small", "(div ?x:int ?y)", "0", "(and (ge (min ?x) 0) (lt (max ?x) (min ?y)))"),
    rule("rem-small", "(rem ?x:int ?y)", "?x", "(and (ge (min ?x) 0) (lt (max ?x) (min ?y)))"),
    rule("div-signed-pow2", "(div ?x:signed #c)", "(shr ?x (ctz #c))",
         "(and (ge (min ?x) 0) (and (eq (popc #c) 1) (gt #c 0)))"),
    rule("rem-signed-pow2", "(rem ?x:signed #c)", "(and ?x (sub #c 1))",
         "(and (ge (min ?x) 0) (and (eq (popc #c) 1) (gt #c 0)))"),
    rule("shr-out", "(shr ?x:int #c)", "0",
         "(and (and (ge (min ?x) 0) (lt (bits #c) (width ?x))) (lt (max ?x) (shl 1 (bits #c))))"),
    rule("shr-shl-fits", "(shr (shl ?x:int #c) #c)", "?x",
         "(and (and (ge (min ?x) 0) (lt (bits #c) (width ?x)))"
         " (lt (shl (max ?x) (bits #c)) (shl 1 (sub (width ?x) 1))))"),
    rule("shl-shr-exact", "(shl (shr ?x:int #c) #c)", "?x",
         "(and (lt (bits #c) (width ?x))"
         " (eq (and (zeros ?x) (sub (shl 1 (bits #c)) 1)) (sub (shl 1 (bits #c)) 1)))"),
    rule("cast-fits", "(cast:int ?y=(cast:int ?x:int))", "(cast:?_ ?x)",
         "(and (ge (min ?x) 0) (lt (max ?x) (shl 1 (sub (width ?y) 1))))"),
    rule("cast-fits-bool", "(cast:bool (cast:int ?x:int))", "(cast:bool ?x)",
         "(and (ge (min ?x) 0) (lt (max ?x) 128))"),
    rule("cast-of-to-bool", "(cast:int (cast:bool ?x:int))", "(cast:?_ ?x)",
         "(and (ge (min ?x) 0) (le (max ?x) 1))"),
    rule("eq-one-bit", "(eq ?x:int 1)", "(cast:bool ?x)", "(and (ge (min ?x) 0) (le (max ?x) 1))"),
    rule("popc-bit", "(popc ?x)", "(cast:u32 ?x)", "(and (ge (min ?x) 0) (le (max ?x) 1))"),
};
// clang-format on

}  // namespace xlog::kernel
