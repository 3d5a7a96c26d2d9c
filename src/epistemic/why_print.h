// Explanations of rows with several worlds as text, JSON and Graphviz. docs/world_views.md
// describes the forms.
#pragma once

#include <string>

#include "epistemic/why.h"

namespace xlog::epistemic {

std::string why_text(const WorldsWhy& why, WhyQuestion question, const SourceMap& sources);
std::string why_json(const WorldsWhy& why, WhyQuestion question, const std::string& goal,
                     const SourceMap& sources);
std::string why_dot(const WorldsWhy& why, WhyQuestion question, const SourceMap& sources);

}  // namespace xlog::epistemic
