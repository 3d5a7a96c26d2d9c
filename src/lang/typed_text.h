// Source text in which some constants say of which type they are: `5:u32`. Where nothing else in a
// term does, it could not be read back (plan/rir.h).
#pragma once

#include <set>
#include <string>

#include "lang/program.h"

namespace xlog::lang {

using TypedConstants = std::set<const Term*>;

std::string to_source(const Term& term, const Rule& rule, const Program& program,
                      const Names& names, const TypedConstants& typed);
std::string to_source(const Rule& rule, const Program& program, const Names& names,
                      const TypedConstants& typed);

}  // namespace xlog::lang
