// The surface syntax of a file, for `xlog explain --stage ast`: as program text, as a JSON tree,
// and that tree for Graphviz.
#pragma once

#include <string>

#include "lang/load.h"
#include "lang/parser.h"
#include "logic/analysis.h"

namespace xlog::cli {

// The module must have been parsed with bulk_facts = false.
std::string explain_ast(const lang::Module& module, const lang::Session& session,
                        logic::ExplainFormat format);

}  // namespace xlog::cli
