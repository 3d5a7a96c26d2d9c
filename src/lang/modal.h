// The chain of `not`, `know` and `possible` before an atom, collapsed to one of the forms of
// program.h.
#pragma once

#include <cstdint>
#include <span>

#include "lang/ast.h"
#include "lang/program.h"

namespace xlog::lang {

struct CollapsedPrefix {
  Modal modal = Modal::None;
  uint8_t nots = 0;  // 0, 1 or 2; 0 when modal
};

// The operator next to the atom decides, because what is known or possible is the same in every
// world of a view, so outer operators change nothing. Negations move outward by parity; one right
// before the atom turns `know` into `possible` and back. A chain with negations of even number
// keeps its truth value but not its need to be founded, which is why `not know not p` is not folded
// to `possible p`, nor `not not p` to `p`.
CollapsedPrefix collapse(std::span<const ast::PrefixOp> prefix);

}  // namespace xlog::lang
