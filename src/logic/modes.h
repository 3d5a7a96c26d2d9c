// The epistemic modes by name, as a pragma, an option or an embedding program gives them.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lang/pragmas.h"
#include "lang/program.h"
#include "logic/answer.h"

namespace xlog::logic {

std::optional<Mode> find_mode(std::string_view spelling);
std::vector<std::string> mode_names();

// Whether a positive modal literal must be founded in this mode: its atom has to be derived before
// it supports anything.
bool needs_foundation(lang::Modal modal, Mode mode);

// The same for a program: under the well-founded semantics such a literal reads its atom.
bool follows_derivation(lang::Modal modal, const lang::Pragmas& pragmas);

// What was asked for takes the place of the program's own pragmas.
void override_pragmas(lang::Pragmas& pragmas, std::optional<Mode> mode,
                      std::optional<bool> well_founded);

// `options` with the mode and the semantics that were asked for, or else those of the pragmas.
AnswerOptions with_pragmas(AnswerOptions options, std::optional<Mode> mode,
                           std::optional<bool> well_founded, const lang::Pragmas& pragmas);

}  // namespace xlog::logic
