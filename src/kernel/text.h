// The text form of kernels and plans. Printer and parser are inverse: parse(print(k)) is the same
// kernel, and print(parse(text)) is a fixed point. docs/kernel.md describes the grammar:
//
//   kernel probe(n: u32, key: in u32, start: in u32, hits: out u32) {
//     i = grid n
//     k = load key i
//     s = add i 1:u32
//     lo = load start i
//     hi = load start s
//     c = for j lo hi carry a 0:u32 {
//       ...
//       yield a1
//     }
//     store hits i c
//   }
//
// A group kernel says how many lanes: `kernel tile group 256 (n: u32, ...)`, and uses `group n` and
// `lane`. A while loop: `r = loop t 32:u32 while go carry p q { ... yield go1 p1 }` (t counts, 32
// is the bound). Ops with a fold name it: `atomic.add b i v`, `gscan.add v`, `scan.max x`. Arrays:
// `a = alloc local u32 256`. A result that nobody uses may be called `_`. Sugar that is read and
// never printed: ne le gt ge not neg, bare numbers (the type of the other operand), nested operands
// in parentheses.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "kernel/graph.h"

namespace xlog::kernel {

// The kernels and plans of a text, in order. An error names `file:line:column`, shows the line and
// says what was expected. Also checks types and names (every use after its definition), so that
// what comes back is well formed; modes and the rest are the verifier's (verify.h).
Result<std::vector<Id>> parse(Graph& graph, std::string_view text, std::string_view file);

// One kernel or plan; before a plan, the kernels it launches, so that the text stands by itself.
// Unnamed nodes get names v0, v1, ... in order; names that clash get a number.
std::string print(const Graph& graph, Id kernel_or_plan);

// The same without any name a person gave: equal kernels print equal texts. For cache keys.
std::string print_canonical(const Graph& graph, Id kernel_or_plan);

}  // namespace xlog::kernel
