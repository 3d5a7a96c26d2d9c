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

AnswerOptions with_pragmas(AnswerOptions options, std::optional<Mode> mode,
                           std::optional<bool> well_founded, const lang::Pragmas& pragmas) {
  options.mode = mode ? *mode : find_mode(pragmas.epistemic_mode).value_or(Mode::Faeel);
  options.well_founded = well_founded.value_or(pragmas.semantics == "well_founded");
  return options;
}

}  // namespace xlog::logic
