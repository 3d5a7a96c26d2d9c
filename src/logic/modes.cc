#include "logic/modes.h"

namespace xlog::logic {
namespace {

constexpr Mode kModes[] = {Mode::Faeel, Mode::G91, Mode::Faeel19};

}  // namespace

std::optional<Mode> find_mode(std::string_view text) {
  for (const Mode mode : kModes) {
    if (spelling(mode) == text) return mode;
  }
  return std::nullopt;
}

std::vector<std::string> mode_names() {
  std::vector<std::string> names;
  for (const Mode mode : kModes) names.emplace_back(spelling(mode));
  return names;
}

bool needs_foundation(lang::Modal modal, Mode mode) {
  if (modal == lang::Modal::Know) return mode != Mode::G91;
  if (modal == lang::Modal::Possible) return mode == Mode::Faeel;
  return false;
}

bool follows_derivation(lang::Modal modal, const lang::Pragmas& pragmas) {
  if (pragmas.semantics == "well_founded") return needs_foundation(modal, Mode::Faeel);
  return needs_foundation(modal, find_mode(pragmas.epistemic_mode).value_or(Mode::Faeel));
}

void override_pragmas(lang::Pragmas& pragmas, std::optional<Mode> mode,
                      std::optional<bool> well_founded) {
  if (mode) pragmas.epistemic_mode = spelling(*mode);
  if (well_founded) pragmas.semantics = *well_founded ? "well_founded" : "stable";
}

AnswerOptions with_pragmas(AnswerOptions options, std::optional<Mode> mode,
                           std::optional<bool> well_founded, const lang::Pragmas& pragmas) {
  options.mode = mode ? *mode : find_mode(pragmas.epistemic_mode).value_or(Mode::Faeel);
  options.well_founded = well_founded.value_or(pragmas.semantics == "well_founded");
  return options;
}

}  // namespace xlog::logic
