// `xlog explain --stage components`: the components in the order of evaluation, with their class
// and what they depend on.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "logic/components.h"
#include "logic/explain.h"

namespace xlog::logic {

using Json = nlohmann::ordered_json;
using lang::Program;

namespace {

// One entry for all rules that make the same dependency.
struct Dependency {
  PredId from, to;
  EdgeKind kind;
  Span span;     // the first literal
  size_t count;  // of rules
};

std::vector<Dependency> dependencies_of(const Component& component, const Analysis& analysis) {
  std::vector<Dependency> found;
  for (const PredId pred : component.predicates) {
    for (const Edge& edge : edges_to(analysis.edges, pred)) {
      const bool again = !found.empty() && found.back().to == edge.to &&
                         found.back().from == edge.from && found.back().kind == edge.kind;
      if (again) {
        ++found.back().count;
      } else {
        found.push_back({edge.from, edge.to, edge.kind, edge.span, 1});
      }
    }
  }
  return found;
}

struct Explainer {
  const Program& program;
  const Analysis& analysis;
  const lang::Session& session;

  std::string name(PredId pred) const { return predicate_signature(program[pred], session.names); }
  std::string rule_text(uint32_t rule) const {
    return to_source(program.rules[rule], program, session.names);
  }
  std::string rule_place(uint32_t rule) const {
    return place_text(program.rules[rule].span, session.sources);
  }

  std::string heading(size_t index) const {
    const Component& component = analysis.components[index];
    return fmt::format("component {}: {}, stratum {}{}", index, spelling(component.klass),
                       component.stratum, component.recursive ? ", recursive" : "");
  }

  std::string text() const {
    std::string out;
    for (size_t i = 0; i < analysis.components.size(); ++i) {
      const Component& component = analysis.components[i];
      out += heading(i) + "\n";
      if (!component.reason.empty()) out += "  because: " + component.reason + "\n";
      out += "  predicates:";
      for (const PredId pred : component.predicates) out += " " + name(pred);
      out += '\n';
      for (const uint32_t rule : component.rules) {
        out += fmt::format("  rule at {}: {}\n", rule_place(rule), rule_text(rule));
      }
      for (const Dependency& d : dependencies_of(component, analysis)) {
        out += fmt::format("  {} <- {}  {} (component {})\n", name(d.to), name(d.from),
                           spelling(d.kind), analysis.component_of[d.from.index]);
      }
    }
    if (!analysis.constraints.empty()) out += "constraints\n";
    for (const uint32_t rule : analysis.constraints) {
      out += fmt::format("  rule at {}: {}\n", rule_place(rule), rule_text(rule));
    }
    out += analysis.determined ? "one world: every component is determined\n"
                               : "not every component is determined\n";
    return out;
  }

  Json rules_json(const std::vector<uint32_t>& rules) const {
    Json json = Json::array();
    for (const uint32_t rule : rules) {
      Json entry;
      entry["at"] = rule_place(rule);
      entry["text"] = rule_text(rule);
      json.push_back(std::move(entry));
    }
    return json;
  }

  Json component_json(size_t index) const {
    const Component& component = analysis.components[index];
    Json json;
    json["index"] = index;
    json["class"] = spelling(component.klass);
    json["reason"] = component.reason.empty() ? Json() : Json(component.reason);
    json["stratum"] = component.stratum;
    json["recursive"] = component.recursive;
    json["predicates"] = Json::array();
    for (const PredId pred : component.predicates) json["predicates"].push_back(name(pred));
    json["rules"] = rules_json(component.rules);
    json["edges"] = Json::array();
    for (const Dependency& d : dependencies_of(component, analysis)) {
      Json edge;
      edge["from"] = name(d.from);
      edge["to"] = name(d.to);
      edge["kind"] = spelling(d.kind);
      edge["component"] = analysis.component_of[d.from.index];
      edge["at"] = place_text(d.span, session.sources);
      edge["rules"] = d.count;
      json["edges"].push_back(std::move(edge));
    }
    return json;
  }

  Json json() const {
    Json all;
    all["stage"] = "components";
    all["determined"] = analysis.determined;
    all["modal"] = analysis.has_modal;
    all["components"] = Json::array();
    for (size_t i = 0; i < analysis.components.size(); ++i)
      all["components"].push_back(component_json(i));
    all["constraints"] = rules_json(analysis.constraints);
    return all;
  }

  std::string dot() const {
    std::string out = "digraph components {\n  rankdir=BT;\n  node [shape=box];\n";
    for (size_t i = 0; i < analysis.components.size(); ++i) {
      out += fmt::format("  subgraph cluster_{} {{\n    label=\"{}\";\n", i, dot_text(heading(i)));
      for (const PredId pred : analysis.components[i].predicates) {
        out += fmt::format("    p{} [label=\"{}\"];\n", pred.index, dot_text(name(pred)));
      }
      out += "  }\n";
    }
    for (const Component& component : analysis.components) {
      for (const Dependency& d : dependencies_of(component, analysis)) {
        out += fmt::format("  p{} -> p{} [style={}, tooltip=\"{}\"];\n", d.from.index, d.to.index,
                           dot_style(d.kind), spelling(d.kind));
      }
    }
    return out + "}\n";
  }
};

}  // namespace

std::string explain_components(const Program& program, const Analysis& analysis,
                               const lang::Session& session, ExplainFormat format) {
  const Explainer explainer{program, analysis, session};
  switch (format) {
    case ExplainFormat::Text:
      return explainer.text();
    case ExplainFormat::Json:
      return explainer.json().dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
    case ExplainFormat::Dot:
      return explainer.dot();
  }
  return "";
}

}  // namespace xlog::logic
