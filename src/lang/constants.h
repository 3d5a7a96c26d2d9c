// `#const name = value.` and `-D name=value`: every plain name equal to a constant's, in any term
// or expression, becomes the value. A file sees its own constants and those of the modules it
// imports, theirs included.
#pragma once

#include "lang/load.h"

namespace xlog::lang {

// Replaces constants in all units, fact tables included. Reports unknown -D names, circles,
// duplicates and values that are no constants.
void apply_constants(LinkedModules& modules, Session& session, const LoadOptions& options);

}  // namespace xlog::lang
