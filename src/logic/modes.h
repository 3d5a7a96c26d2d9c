// The epistemic modes by name, as a pragma, an option or an embedding program gives them.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lang/pragmas.h"
#include "logic/answer.h"

namespace xlog::logic {

std::optional<Mode> find_mode(std::string_view spelling);
std::vector<std::string> mode_names();

// `options` with the mode and the semantics that were asked for, or else those of the pragmas.
AnswerOptions with_pragmas(AnswerOptions options, std::optional<Mode> mode,
                           std::optional<bool> well_founded, const lang::Pragmas& pragmas);

}  // namespace xlog::logic
