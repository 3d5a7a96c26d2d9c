// The class of each component: how many outcomes it can have (DESIGN section 6).
#pragma once

#include "logic/analysis.h"

namespace xlog::logic {

// Fills klass and reason of every component and analysis.determined.
void classify_components(const lang::Program& program, const lang::Session& session,
                         Analysis& analysis);

}  // namespace xlog::logic
