// Independent parts of a ground program. Atoms that no rule, constraint or bound mentions together
// do not influence each other: the worlds and the world views of the whole are the products of
// those of the parts.
#pragma once

#include <vector>

#include "oracle/ground.h"

namespace xlog::oracle {

struct Part {
  std::vector<AtomId> atoms;  // local number -> atom of the whole program, ascending
  GroundProgram program;      // over local numbers
};

// Parts in order of their smallest atom. Rules and bounds that mention no atom are left out: see
// contradiction().
std::vector<Part> independent_parts(const GroundProgram& program);

// A constraint or bound without open atoms that is violated, so that there is no world at all.
bool contradiction(const GroundProgram& program, lang::Names& names);

}  // namespace xlog::oracle
