// `xlog explain --stage eir`: the program in modal normal form. Every modal literal is in one of
// six forms; the form says whether a world view must found the atom (SEMANTICS section 3): in faeel
// `know p` and `possible p`, in faeel19 `know p` alone, in g91 nothing.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "logic/answer.h"
#include "logic/components.h"
#include "logic/explain.h"

namespace xlog::logic {

using Json = nlohmann::ordered_json;
using lang::HeadElement;
using lang::Literal;
using lang::Modal;
using lang::Program;
using lang::Rule;

namespace {

constexpr Mode kModes[] = {Mode::G91, Mode::Faeel, Mode::Faeel19};

bool is_positive(Modal modal) { return modal == Modal::Know || modal == Modal::Possible; }

// A constraint supports nothing, so nothing in it needs to be founded.
bool must_be_founded(const Rule& rule, Modal modal, Mode mode) {
  if (rule.head.empty()) return false;
  switch (mode) {
    case Mode::G91:
      return false;
    case Mode::Faeel:
      return is_positive(modal);
    case Mode::Faeel19:
      return modal == Modal::Know;
  }
  return false;
}

std::vector<const Literal*> modal_literals(const Rule& rule) {
  std::vector<const Literal*> found;
  const auto add = [&](const Literal& literal, const Literal*) {
    if (literal.modal != Modal::None) found.push_back(&literal);
  };
  for_each_predicate(rule.body, add);
  for (const HeadElement& element : rule.head) for_each_predicate(element.condition, add);
  return found;
}

// "founded in faeel, faeel19".
std::string founded_text(const Rule& rule, Modal modal) {
  std::string modes;
  for (const Mode mode : kModes) {
    if (!must_be_founded(rule, modal, mode)) continue;
    modes += (modes.empty() ? "" : ", ") + std::string(spelling(mode));
  }
  return modes.empty() ? "never needs foundedness" : "must be founded in " + modes;
}

// What the engine does with a component.
std::string_view evaluation(const Component& component) {
  switch (component.klass) {
    case ComponentClass::Determined:
      return "relational plan; know p = possible p = p";
    case ComponentClass::PositiveModalCycle:
      return "least fixpoint in faeel; in g91, and in faeel19 through `possible`, world views are "
             "searched";
    case ComponentClass::Undetermined:
      return "made ground over what may hold, then world views are searched (--stage units)";
  }
  return "";
}

struct Explainer {
  const Program& program;
  const Analysis& analysis;
  const lang::Session& session;

  // A query, or the rule in normal form.
  std::string rule_text(const Rule& rule) const {
    for (const lang::Query& query : program.queries) {
      const bool is_query = rule.head.size() == 1 && rule.head[0].pred == query.pred;
      if (is_query && program[query.pred].helper) return fmt::format("?- {}.", query.text);
    }
    return to_source(rule, program, session.names);
  }

  // The predicates that a person knows.
  std::vector<std::string> names_of(const Component& component) const {
    std::vector<std::string> names;
    for (const PredId pred : component.predicates) {
      if (!program[pred].helper) names.push_back(predicate_signature(program[pred], session.names));
    }
    return names;
  }

  // "know may/2", each once.
  std::vector<std::string> questions() const {
    std::vector<std::string> asked;
    for (const Rule& rule : program.rules) {
      for (const Literal* literal : modal_literals(rule)) {
        std::string question =
            fmt::format("{} {}", spelling(literal->modal),
                        predicate_signature(program[literal->pred], session.names));
        if (std::ranges::find(asked, question) == asked.end()) asked.push_back(std::move(question));
      }
    }
    return asked;
  }

  std::string rule_lines(const Rule& rule) const {
    std::string out = "  " + rule_text(rule) + "\n";
    for (const Literal* literal : modal_literals(rule)) {
      out += fmt::format(
          "      {}: {}, {}, {}\n", to_source(*literal, rule, program, session.names),
          spelling(literal->modal), is_positive(literal->modal) ? "positive" : "negative",
          founded_text(rule, literal->modal));
    }
    return out;
  }

  std::string text() const {
    std::string out;
    if (!questions().empty()) {
      out += fmt::format("questions: {}\n", fmt::join(questions(), ", "));
    }
    for (size_t i = 0; i < analysis.components.size(); ++i) {
      const Component& component = analysis.components[i];
      if (component.rules.empty()) continue;
      const std::vector<std::string> names = names_of(component);
      out += fmt::format("component {}{}{}: {}\n  -- {}\n", i, names.empty() ? "" : ", ",
                         fmt::join(names, ", "), spelling(component.klass), evaluation(component));
      for (const uint32_t rule : component.rules) out += rule_lines(program.rules[rule]);
    }
    if (!analysis.constraints.empty()) out += "constraints\n";
    for (const uint32_t rule : analysis.constraints) out += rule_lines(program.rules[rule]);
    return out;
  }

  Json rule_json(const Rule& rule) const {
    Json json;
    json["at"] = place_text(rule.span, session.sources);
    json["text"] = rule_text(rule);
    json["modal"] = Json::array();
    for (const Literal* literal : modal_literals(rule)) {
      Json entry;
      entry["literal"] = to_source(*literal, rule, program, session.names);
      entry["predicate"] = predicate_signature(program[literal->pred], session.names);
      entry["form"] = spelling(literal->modal);
      entry["polarity"] = is_positive(literal->modal) ? "positive" : "negative";
      for (const Mode mode : kModes) {
        entry["founded"][std::string(spelling(mode))] = must_be_founded(rule, literal->modal, mode);
      }
      json["modal"].push_back(std::move(entry));
    }
    return json;
  }

  Json json() const {
    Json all;
    all["stage"] = "eir";
    all["modal"] = analysis.has_modal;
    all["questions"] = questions();
    all["components"] = Json::array();
    for (size_t i = 0; i < analysis.components.size(); ++i) {
      const Component& component = analysis.components[i];
      if (component.rules.empty()) continue;
      Json entry;
      entry["index"] = i;
      entry["predicates"] = names_of(component);
      entry["class"] = spelling(component.klass);
      entry["evaluation"] = evaluation(component);
      entry["rules"] = Json::array();
      for (const uint32_t rule : component.rules)
        entry["rules"].push_back(rule_json(program.rules[rule]));
      all["components"].push_back(std::move(entry));
    }
    all["constraints"] = Json::array();
    for (const uint32_t rule : analysis.constraints) {
      all["constraints"].push_back(rule_json(program.rules[rule]));
    }
    return all;
  }

  // Rules are boxes inside their component; predicates feed rules and rules feed predicates.
  std::string rule_dot(uint32_t index) const {
    return fmt::format("    r{} [shape=box, label=\"{}\"];\n", index,
                       dot_text(rule_text(program.rules[index])));
  }

  std::string rule_edges_dot(uint32_t index) const {
    const Rule& rule = program.rules[index];
    std::string out;
    const auto add = [&](const Literal& literal, const Literal*) {
      if (literal.modal != Modal::None) {
        out += fmt::format("  p{} -> r{} [style=dotted, label=\"{}\"];\n", literal.pred.index,
                           index, spelling(literal.modal));
      } else {
        out += fmt::format("  p{} -> r{} [style={}];\n", literal.pred.index, index,
                           literal.nots == 0 ? "solid" : "dashed");
      }
    };
    for_each_predicate(rule.body, add);
    for (const HeadElement& element : rule.head) {
      for_each_predicate(element.condition, add);
      out += fmt::format("  r{} -> p{};\n", index, element.pred.index);
    }
    return out;
  }

  std::string dot() const {
    std::string out = "digraph eir {\n  rankdir=BT;\n";
    for (size_t i = 0; i < analysis.components.size(); ++i) {
      const Component& component = analysis.components[i];
      out += fmt::format("  subgraph cluster_{} {{\n    label=\"component {}: {}\";\n", i, i,
                         spelling(component.klass));
      for (const PredId pred : component.predicates) {
        out += fmt::format("    p{} [label=\"{}\"];\n", pred.index,
                           dot_text(predicate_signature(program[pred], session.names)));
      }
      for (const uint32_t rule : component.rules) out += rule_dot(rule);
      out += "  }\n";
    }
    for (const uint32_t rule : analysis.constraints) out += rule_dot(rule);
    for (uint32_t rule = 0; rule < program.rules.size(); ++rule) out += rule_edges_dot(rule);
    return out + "}\n";
  }
};

}  // namespace

std::string explain_eir(const Program& program, const Analysis& analysis,
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
