// What is said to the user about variables that nothing binds.
#pragma once

#include "logic/binding.h"

namespace xlog::logic {

// `var` keeps `literal` from being evaluated. `circular`: some literal would bind it, but waits
// itself.
void report_blocked(const Scope& scope, const lang::Literal& literal, lang::VarId var,
                    bool circular, lang::Session& session);

// `var` is needed at `needed_at` ("the head", "the aggregate's value", ...) and the body does not
// bind it.
void report_unbound(const Scope& scope, lang::VarId var, Span needed_at, std::string_view needed_by,
                    lang::Session& session);

// The target of `is` gets a value elsewhere too; `other` is that literal, or null when it has one
// before the body starts.
void report_assigned_twice(const Scope& scope, const lang::Literal& assignment,
                           const lang::Literal* other, lang::Session& session);

// `_` in a head.
void report_anonymous_head(Span head, Span variable, lang::Session& session);

}  // namespace xlog::logic
