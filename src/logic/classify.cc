#include "logic/classify.h"

#include <fmt/format.h>

#include <optional>

#include "logic/components.h"

namespace xlog::logic {

using lang::HeadKind;
using lang::Program;
using lang::Rule;

std::string_view spelling(ComponentClass klass) {
  switch (klass) {
    case ComponentClass::Determined:
      return "determined";
    case ComponentClass::PositiveModalCycle:
      return "positive modal cycle";
    case ComponentClass::Undetermined:
      return "undetermined";
  }
  return "";
}

namespace {

struct Classifier {
  const Program& program;
  const lang::Session& session;
  const Analysis& analysis;

  std::string rule_reason(std::string_view what, const Rule& rule) const {
    return fmt::format("{} at {}", what, place_text(rule.span, session.sources));
  }

  // A rule that leaves its heads open by itself.
  std::optional<std::string> open_rule(const Component& component) const {
    for (const uint32_t index : component.rules) {
      const Rule& rule = program.rules[index];
      if (rule.annotated) return rule_reason("probabilistic rule", rule);
      if (rule.learnable) return rule_reason("learnable rule", rule);
      if (rule.head_kind == HeadKind::Choice) return rule_reason("choice in rule", rule);
      if (rule.head.size() > 1) return rule_reason("disjunction in rule", rule);
    }
    return std::nullopt;
  }

  std::optional<std::string> neural_predicate(const Component& component) const {
    for (const PredId pred : component.predicates) {
      if (program[pred].neural) return "neural predicate";
    }
    return std::nullopt;
  }

  bool inside(const Edge& edge) const {
    return analysis.component_of[edge.from.index] == analysis.component_of[edge.to.index];
  }

  // Every edge inside a component lies on a cycle.
  template <typename Kinds>
  std::optional<std::string> cycle(const Component& component, std::string_view name,
                                   Kinds kinds) const {
    for (const PredId pred : component.predicates) {
      for (const Edge& edge : edges_to(analysis.edges, pred)) {
        if (!inside(edge) || !kinds(edge.kind)) continue;
        return fmt::format("{}: {}", name, spell_cycle(program, analysis, edge, session.names));
      }
    }
    return std::nullopt;
  }

  std::optional<std::string> depends_on(const Component& component, ComponentClass klass) const {
    for (const PredId pred : component.predicates) {
      for (const Edge& edge : edges_to(analysis.edges, pred)) {
        if (inside(edge)) continue;
        if (analysis.components[analysis.component_of[edge.from.index]].klass != klass) continue;
        return "depends on " + predicate_signature(program[edge.from], session.names);
      }
    }
    return std::nullopt;
  }

  std::optional<std::string> undetermined(const Component& component) const {
    if (auto reason = open_rule(component)) return reason;
    if (auto reason = neural_predicate(component)) return reason;
    if (auto reason = cycle(component, "cycle through negation", [](EdgeKind kind) {
          return kind == EdgeKind::Negative || kind == EdgeKind::ModalNegative;
        })) {
      return reason;
    }
    return depends_on(component, ComponentClass::Undetermined);
  }

  // What merely depends on such a cycle is not determined either: under g91 the cycle can have
  // several views.
  std::optional<std::string> positive_modal_cycle(const Component& component) const {
    if (auto reason = cycle(component, "cycle through a modal literal",
                            [](EdgeKind kind) { return kind == EdgeKind::ModalPositive; })) {
      return reason;
    }
    return depends_on(component, ComponentClass::PositiveModalCycle);
  }
};

}  // namespace

void classify_components(const Program& program, const lang::Session& session, Analysis& analysis) {
  const Classifier classifier{program, session, analysis};
  analysis.determined = true;
  for (Component& component : analysis.components) {
    component.klass = ComponentClass::Determined;
    component.reason.clear();
    if (auto reason = classifier.undetermined(component)) {
      component.klass = ComponentClass::Undetermined;
      component.reason = *reason;
    } else if (auto modal_reason = classifier.positive_modal_cycle(component)) {
      component.klass = ComponentClass::PositiveModalCycle;
      component.reason = *modal_reason;
    }
    if (component.klass != ComponentClass::Determined) analysis.determined = false;
  }
}

}  // namespace xlog::logic
