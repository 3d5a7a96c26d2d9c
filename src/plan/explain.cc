#include "plan/explain.h"

#include <fmt/format.h>

#include "logic/components.h"
#include "plan/build.h"

namespace xlog::plan {

namespace {

std::string indented(const std::string& text, std::string_view by) {
  std::string out;
  size_t at = 0;
  while (at < text.size()) {
    const size_t end = std::min(text.find('\n', at), text.size() - 1);
    out += fmt::format("{}{}", by, text.substr(at, end + 1 - at));
    at = end + 1;
  }
  return out;
}

}  // namespace

std::string explain(const lang::Program& program, const logic::Analysis& analysis,
                    const lang::Session& session) {
  std::string text;
  // What is not in the program yet, rows of input and of rules, is taken for much.
  constexpr uint64_t kUnknownRows = 1'000'000;
  const auto statistics = [&](PredId pred) {
    const lang::Predicate& predicate = program[pred];
    if (!predicate.rules.empty() || predicate.facts == nullptr) {
      return Statistics{kUnknownRows, {}};
    }
    return Statistics{predicate.facts->rows, {}};
  };
  for (uint32_t c = 0; c < analysis.components.size(); ++c) {
    const logic::Component& component = analysis.components[c];
    if (component.rules.empty()) continue;
    std::string names;
    for (PredId pred : component.predicates) {
      names += fmt::format("{}{}", names.empty() ? "" : ", ",
                           lang::predicate_signature(program[pred], session.names));
    }
    text += fmt::format("component {}: {}{}\n", c, names, component.recursive ? ", in rounds" : "");
    const auto inside = [&](PredId pred) { return analysis.component_of[pred.index] == c; };
    for (uint32_t r : component.rules) {
      const lang::Rule& rule = program.rules[r];
      text += fmt::format("  {}\n", lang::to_source(rule, program, session.names));
      if (component.klass != logic::ComponentClass::Determined) {
        text += fmt::format("    no pipeline: {}\n",
                            component.reason.empty() ? "not determined" : component.reason);
        continue;
      }
      if (const auto reason = why_not_relational(program, rule)) {
        text += fmt::format("    no pipeline: {}\n", *reason);
        continue;
      }
      std::vector<std::optional<uint32_t>> versions;
      for (uint32_t i = 0; i < rule.body.size(); ++i) {
        const lang::Literal& literal = rule.body[i];
        if (literal.kind == lang::LiteralKind::Atom && inside(literal.pred))
          versions.emplace_back(i);
      }
      if (versions.empty()) versions.emplace_back();
      for (const std::optional<uint32_t>& delta : versions) {
        const Pipeline pipeline = build_pipeline(program, r, {delta, inside}, statistics);
        if (delta) {
          text += fmt::format("    for new rows of literal {}:\n", *delta + 1);
          text += indented(to_text(pipeline, program, session.names), "      ");
        } else {
          text += indented(to_text(pipeline, program, session.names), "    ");
        }
      }
    }
  }
  return text;
}

}  // namespace xlog::plan
