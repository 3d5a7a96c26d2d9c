#include "epistemic/explain_units.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "epistemic/translate.h"
#include "logic/answer.h"
#include "logic/explain.h"

namespace xlog::epistemic {

using Json = nlohmann::ordered_json;
using logic::counted;
using oracle::AtomId;
using oracle::GroundKind;
using oracle::GroundLiteral;

namespace {

constexpr size_t kMostKinds = 100;
constexpr size_t kMostAtoms = 12;
constexpr size_t kMostViews = 10;

// Units that look the same.
struct Kind {
  uint32_t first = 0;  // unit
  uint64_t units = 0;
  uint64_t atoms = 0, rules = 0;
  std::vector<std::string> some_atoms;
  std::set<std::string> asks_itself, asks_below;  // the first of them
  std::set<uint32_t> below;                       // kinds, by their first unit
  const WorldViews::Decision* decision = nullptr;
};

class Report {
 public:
  explicit Report(const Findings& findings) : findings_(findings) {
    if (!findings.has_search()) return;
    const WorldViews& views = findings.views();
    const Units& units = views.units();
    std::map<const WorldViews::Decision*, size_t> place;
    for (uint32_t u = 0; u < units.size(); ++u) {
      const WorldViews::Decision* decision = views.decision_of(u);
      if (decision == nullptr) {
        ++not_looked_at_;
        continue;
      }
      const auto [it, is_new] = place.try_emplace(decision, kinds_.size());
      if (is_new) kinds_.push_back(describe(u, decision));
      ++kinds_[it->second].units;
    }
    std::ranges::sort(kinds_, {}, &Kind::first);
  }

  std::string text() const {
    const Trace& trace = findings_.trace();
    std::string out =
        fmt::format("ground: {}, {}\nopen after the well-founded bounds: {}, {}\n",
                    counted(trace.ground_atoms, "atom"), counted(trace.ground_rules, "rule"),
                    counted(trace.open_atoms, "atom"), counted(trace.open_rules, "rule"));
    if (!findings_.has_search()) {
      return out + "a constraint is violated whatever the guesses: nothing was searched\n";
    }
    out += fmt::format("{} in {}, the largest with {}; {} solved, {} equal to one of these\n",
                       counted(trace.units, "unit"), counted(trace.search.clusters, "cluster"),
                       counted(trace.largest_unit, "atom"), counted(trace.search.units, "unit"),
                       trace.search.reused);
    for (size_t k = 0; k < std::min(kinds_.size(), kMostKinds); ++k) out += "\n" + text(kinds_[k]);
    if (kinds_.size() > kMostKinds) {
      out += fmt::format("\nand {} more kinds of units\n", kinds_.size() - kMostKinds);
    }
    if (not_looked_at_ > 0) {
      out += fmt::format("\n{} not looked at: a unit has no world view\n",
                         counted(not_looked_at_, "unit"));
    }
    return out;
  }

  Json json() const {
    const Trace& trace = findings_.trace();
    Json all;
    all["stage"] = "units";
    all["ground"] = {{"atoms", trace.ground_atoms}, {"rules", trace.ground_rules}};
    all["open"] = {{"atoms", trace.open_atoms}, {"rules", trace.open_rules}};
    all["searched"] = findings_.has_search();
    all["units"] = trace.units;
    all["clusters"] = trace.search.clusters;
    all["largest_unit_atoms"] = trace.largest_unit;
    all["units_solved"] = trace.search.units;
    all["units_reused"] = trace.search.reused;
    all["units_not_looked_at"] = not_looked_at_;
    all["kinds"] = Json::array();
    for (size_t k = 0; k < std::min(kinds_.size(), kMostKinds); ++k) {
      all["kinds"].push_back(json(kinds_[k]));
    }
    all["kinds_left_out"] = kinds_.size() - std::min(kinds_.size(), kMostKinds);
    return all;
  }

  std::string dot() const {
    std::string out = "digraph units {\n  rankdir=BT;\n  node [shape=box];\n";
    const size_t shown = std::min(kinds_.size(), kMostKinds);
    std::set<uint32_t> there;
    for (size_t k = 0; k < shown; ++k) {
      const Kind& kind = kinds_[k];
      there.insert(kind.first);
      out += fmt::format("  u{} [label=\"{}\"];\n", kind.first, logic::dot_text(text(kind)));
    }
    for (size_t k = 0; k < shown; ++k) {
      for (const uint32_t below : kinds_[k].below) {
        if (!there.contains(below)) continue;
        out += fmt::format("  u{} -> u{} [style=dotted];\n", below, kinds_[k].first);
      }
    }
    return out + "}\n";
  }

 private:
  Kind describe(uint32_t unit, const WorldViews::Decision* decision) const {
    const WorldViews& views = findings_.views();
    const Units& units = views.units();
    Kind kind;
    kind.first = unit;
    kind.atoms = units.atoms(unit).size();
    kind.rules = units.rules(unit).size() + units.bounds(unit).size();
    kind.decision = decision;
    for (const AtomId atom : units.atoms(unit)) {
      if (kind.some_atoms.size() == kMostAtoms) break;
      if (findings_.is_shown(atom)) kind.some_atoms.push_back(findings_.text(atom));
    }
    const auto look_at = [&](const GroundLiteral& literal) {
      if (literal.kind != GroundKind::Modal) return;
      const uint32_t asked = units.unit_of(literal.index);
      std::set<std::string>& to = asked == unit ? kind.asks_itself : kind.asks_below;
      if (to.size() < kMostAtoms) {
        to.insert(
            fmt::format("{} {}", lang::spelling(literal.modal), findings_.text(literal.index)));
      }
      const WorldViews::Decision* below = views.decision_of(asked);
      if (asked != unit && below != nullptr) kind.below.insert(below->unit);
    };
    for (const uint32_t r : units.rules(unit)) {
      for (const GroundLiteral& literal : findings_.open().rules[r].body) look_at(literal);
    }
    return kind;
  }

  static std::vector<std::pair<std::string_view, uint64_t>> rejections(const SearchCounts& counts) {
    return {{"not known", counts.not_known},
            {"not possible", counts.not_possible},
            {"known or possible against the guess", counts.not_open},
            {"unfounded", counts.unfounded}};
  }

  static std::string text(const Kind& kind) {
    const Solution& solution = kind.decision->solution;
    const SearchCounts& counts = kind.decision->counts;
    std::string out = fmt::format(
        "{}: {}, {}\n",
        kind.units == 1 ? std::string("1 unit") : fmt::format("{} equal units", kind.units),
        counted(kind.atoms, "atom"), counted(kind.rules, "rule"));
    out += fmt::format("  atoms      {}{}\n", fmt::join(kind.some_atoms, ", "),
                       kind.atoms > kind.some_atoms.size() ? ", ..." : "");
    if (!kind.asks_below.empty()) {
      out += fmt::format("  asks below {}\n", fmt::join(kind.asks_below, ", "));
    }
    if (kind.asks_itself.empty()) {
      out += "  decided    without guesses: nothing asks about its own atoms\n";
    } else {
      out += fmt::format("  asks       {}\n", fmt::join(kind.asks_itself, ", "));
      out += fmt::format("  decided    {}, {} accepted",
                         counts.candidates == 1 ? std::string("1 guess")
                                                : fmt::format("{} guesses", counts.candidates),
                         counts.accepted);
      for (const auto& [reason, number] : rejections(counts)) {
        if (number > 0) out += fmt::format(", {} {}", number, reason);
      }
      out += '\n';
    }
    out += fmt::format("  views      {}", counted(solution.views.size(), "world view"));
    for (size_t v = 0; v < std::min(solution.views.size(), kMostViews); ++v) {
      out += fmt::format("{}{}", v == 0 ? " with " : ", ",
                         logic::short_text(solution.views[v].worlds));
    }
    if (solution.views.size() > kMostViews) out += ", ...";
    if (!solution.views.empty()) {
      const bool is_one = solution.views.size() == 1 && solution.views[0].worlds == 1;
      out += is_one ? " world" : " worlds";
    }
    return out + "\n";
  }

  static Json json(const Kind& kind) {
    const SearchCounts& counts = kind.decision->counts;
    Json entry;
    entry["units"] = kind.units;
    entry["atoms"] = kind.atoms;
    entry["rules"] = kind.rules;
    entry["some_atoms"] = kind.some_atoms;
    entry["asks"] = kind.asks_itself;
    entry["asks_below"] = kind.asks_below;
    entry["solver_calls"] = counts.solver_calls;
    entry["guesses"] = counts.candidates;
    entry["accepted"] = counts.accepted;
    entry["not_known"] = counts.not_known;
    entry["not_possible"] = counts.not_possible;
    entry["not_open"] = counts.not_open;
    entry["unfounded"] = counts.unfounded;
    entry["world_views"] = kind.decision->solution.views.size();
    entry["world_counts"] = Json::array();
    for (const View& view : kind.decision->solution.views) {
      if (entry["world_counts"].size() == kMostViews) break;
      entry["world_counts"].push_back(view.worlds.get_str());
    }
    return entry;
  }

  const Findings& findings_;
  std::vector<Kind> kinds_;
  uint64_t not_looked_at_ = 0;
};

}  // namespace

std::string explain_units(const Findings& findings, logic::ExplainFormat format) {
  const Report report(findings);
  switch (format) {
    case logic::ExplainFormat::Text:
      return report.text();
    case logic::ExplainFormat::Json:
      return report.json().dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
    case logic::ExplainFormat::Dot:
      return report.dot();
  }
  return "";
}

}  // namespace xlog::epistemic
