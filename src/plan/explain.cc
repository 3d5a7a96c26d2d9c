#include "plan/explain.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "logic/components.h"
#include "logic/needed.h"
#include "plan/build.h"
#include "plan/estimate.h"
#include "plan/relational.h"

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

class Explainer {
 public:
  Explainer(const lang::Program& program, const logic::Analysis& analysis, const Prepared& prepared,
            const lang::Session& session)
      : program_(program),
        analysis_(analysis),
        prepared_(prepared),
        session_(session),
        needed_(needed(program, analysis, prepared)),
        estimates_(program, analysis),
        statistics_(estimates_.statistics()) {}

  std::string run() {
    std::vector<std::tuple<uint32_t, std::string, std::string>> shown;  // header, rules
    for (uint32_t c = 0; c < analysis_.components.size(); ++c) {
      estimates_.begin(c);
      std::string rules = rules_of(c);
      estimates_.finish(c);
      const bool matters = program_.queries.empty() ||
                           std::ranges::any_of(analysis_.components[c].predicates,
                                               [&](PredId pred) { return needed_[pred.index]; });
      if (matters) shown.emplace_back(c, header(c), std::move(rules));
    }
    std::string constraints;
    for (uint32_t constraint : analysis_.constraints) {
      const auto copy = prepared_.constraints.find(constraint);
      const uint32_t r = copy == prepared_.constraints.end() ? constraint : copy->second;
      constraints += fmt::format("constraint\n  {}\n{}", source(r), pipelines(r, UINT32_MAX));
    }
    // Which columns were counted is known now.
    std::string text;
    for (const auto& [c, header, rules] : shown) {
      text += header;
      text += degrees_of(c);
      text += rules;
    }
    return text + constraints;
  }

 private:
  // What copies of constraints read that take helpers is known to nobody else.
  static std::vector<bool> needed(const lang::Program& program, logic::Analysis analysis,
                                  const Prepared& prepared) {
    for (const auto& [constraint, copy] : prepared.constraints) {
      analysis.constraints.push_back(copy);
    }
    return logic::needed_for_answers(program, analysis);
  }

  std::string source(uint32_t rule) const {
    return lang::to_source(program_.rules[rule], program_, session_.names);
  }

  // The relations and how many rows they have, or are taken to have.
  std::string header(uint32_t c) const {
    const logic::Component& component = analysis_.components[c];
    std::string names;
    for (PredId pred : component.predicates) {
      names += fmt::format("{}{}, {}", names.empty() ? "" : "; ",
                           lang::predicate_signature(program_[pred], session_.names), size(pred));
    }
    return fmt::format("component {}: {}{}\n", c, names, component.recursive ? "; in rounds" : "");
  }

  std::string degrees_of(uint32_t c) const {
    std::string text;
    for (PredId pred : analysis_.components[c].predicates) {
      for (const auto& [column, degrees] : estimates_.degrees(pred)) {
        text += fmt::format("  column {} of {}: {}\n", column + 1,
                            lang::predicate_name(program_[pred], session_.names), to_text(degrees));
      }
    }
    return text;
  }

  std::string size(PredId pred) const {
    const uint64_t rows = estimates_[pred].rows;
    const std::string count = fmt::format("{} row{}", rows, rows == 1 ? "" : "s");
    if (estimates_.is_host_table(pred)) return "filled by the host";
    if (estimates_.is_unknown(pred)) return fmt::format("no rows yet, taken for {}", count);
    return program_[pred].rules.empty() ? count : "about " + count;
  }

  std::string rules_of(uint32_t c) const {
    const logic::Component& component = analysis_.components[c];
    std::string text;
    for (uint32_t r : component.rules) {
      text += fmt::format("  {}\n", source(r));
      if (component.klass != logic::ComponentClass::Determined) {
        text += fmt::format("    no pipeline: {}\n",
                            component.reason.empty() ? "not determined" : component.reason);
      } else {
        text += pipelines(r, c);
      }
    }
    return text;
  }

  // One for each literal that reads the component, else one for all rows.
  std::string pipelines(uint32_t r, uint32_t c) const {
    const lang::Rule& rule = program_.rules[r];
    if (const auto reason = why_not_relational(program_, rule)) {
      return fmt::format("    no pipeline: {}\n", *reason);
    }
    const auto inside = [&](PredId pred) { return analysis_.component_of[pred.index] == c; };
    std::vector<std::optional<uint32_t>> versions;
    for (uint32_t i = 0; i < rule.body.size(); ++i) {
      const lang::Literal& literal = rule.body[i];
      if (literal.kind == lang::LiteralKind::Atom && inside(literal.pred)) versions.emplace_back(i);
    }
    if (versions.empty()) versions.emplace_back();
    std::string text;
    for (const std::optional<uint32_t>& delta : versions) {
      if (delta) text += fmt::format("    for new rows of literal {}:\n", *delta + 1);
      const Pipeline pipeline = build_pipeline(program_, r, {delta, inside}, statistics_);
      text += indented(to_text(pipeline, program_, session_.names, Show::Estimates),
                       delta ? "      " : "    ");
    }
    return text;
  }

  const lang::Program& program_;
  const logic::Analysis& analysis_;
  const Prepared& prepared_;
  const lang::Session& session_;
  const std::vector<bool> needed_;
  Estimates estimates_;
  StatisticsOf statistics_;
};

}  // namespace

std::string explain(const lang::Program& program, const logic::Analysis& analysis,
                    const Prepared& prepared, const lang::Session& session) {
  return Explainer(program, analysis, prepared, session).run();
}

}  // namespace xlog::plan
