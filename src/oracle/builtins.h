// Built-in predicates over lists and terms, one definition for every way of calling them.
#pragma once

#include <functional>
#include <optional>
#include <span>

#include "lang/program.h"
#include "lang/value.h"

namespace xlog::oracle {

using lang::Value;

// Calls `emit` with a full row of argument values for each solution, given the arguments that are
// bound (the analysis made sure that one of the built-in's modes fits). A bound argument may be
// given back with another value; the caller compares. Not for findall and maplist, which need
// relations.
void solve_builtin(lang::BuiltinId builtin, std::span<const std::optional<Value>> args,
                   lang::Names& names, const std::function<void(std::span<const Value>)>& emit);

}  // namespace xlog::oracle
