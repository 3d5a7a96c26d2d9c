// `xlog explain --stage units`: what is left of a program when it is ground and bounded, the units
// that it splits into, and how each was decided.
#pragma once

#include <string>

#include "epistemic/findings.h"
#include "logic/analysis.h"

namespace xlog::epistemic {

// The ground rules were kept or not; views may be missing where there is none.
std::string explain_units(const Findings& findings, logic::ExplainFormat format);

}  // namespace xlog::epistemic
