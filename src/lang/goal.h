// An atom that somebody asks about from outside the program, as `xlog why 'reach(1, X)'` does. It
// goes through lowering as the last query of the main file, so that constants, functions and
// imports mean in it what they mean in the program. It takes no part in type inference: its
// constants are converted to the types that the program gives the columns.
//
//   parse, add_goal, link, lower, take_goal, infer_types, type_goal          (lang/load.cc)
#pragma once

#include <string>

#include "lang/load.h"
#include "lang/program.h"

namespace xlog::lang {

// Reads `text` as a source of its own and appends it to the statements of `main`. False on errors.
bool add_goal(const std::string& text, Module& main, Session& session);
// Moves the last query to Program::goal. False when it is more than an atom.
bool take_goal(Program& program, Session& session);
// Types the arguments. Reports what does not fit its column.
void type_goal(Program& program, Session& session);

// Whether a place lies in the text of a goal.
bool is_in_goal(Span span, const SourceMap& sources);

}  // namespace xlog::lang
