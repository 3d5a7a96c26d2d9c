#include "logic/components.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace xlog::logic {

using lang::HeadElement;
using lang::HeadKind;
using lang::Literal;
using lang::LiteralKind;
using lang::Modal;
using lang::Program;
using lang::Rule;

std::string_view spelling(EdgeKind kind) {
  switch (kind) {
    case EdgeKind::Positive:
      return "positive";
    case EdgeKind::Negative:
      return "negative";
    case EdgeKind::Aggregate:
      return "aggregate";
    case EdgeKind::ModalPositive:
      return "modal positive";
    case EdgeKind::ModalNegative:
      return "modal negative";
  }
  return "";
}

// ---- Edges ----

namespace {

// Nesting of aggregates is limited by the parser, so recursion is safe.
void visit_literal(const Literal& literal, const Literal* in_aggregate,
                   const VisitPredicate& visit) {
  switch (literal.kind) {
    case LiteralKind::Atom:
      visit(literal, in_aggregate);
      return;
    case LiteralKind::Compare:
      return;
    case LiteralKind::Builtin:
      if (literal.pred.valid()) visit(literal, in_aggregate != nullptr ? in_aggregate : &literal);
      break;
    case LiteralKind::Aggregate:
      break;
  }
  for (const Literal& inner : literal.body) {
    visit_literal(inner, in_aggregate != nullptr ? in_aggregate : &literal, visit);
  }
}

EdgeKind kind_of(const Literal& literal) {
  switch (literal.modal) {
    case Modal::None:
      return literal.nots == 0 ? EdgeKind::Positive : EdgeKind::Negative;
    case Modal::Know:
    case Modal::Possible:
      return EdgeKind::ModalPositive;
    case Modal::NotKnow:
    case Modal::NotPossible:
    case Modal::NotKnowNot:
    case Modal::NotPossibleNot:
      return EdgeKind::ModalNegative;
  }
  return EdgeKind::Positive;
}

void add_body_edges(const std::vector<Literal>& body, const Rule& rule, uint32_t rule_index,
                    PredId head, std::vector<Edge>& edges) {
  for_each_predicate(body, [&](const Literal& literal, const Literal* in_aggregate) {
    const bool complete = in_aggregate != nullptr || !rule.aggregates.empty();
    const EdgeKind kind = complete ? EdgeKind::Aggregate : kind_of(literal);
    edges.push_back({literal.pred, head, kind, rule_index, literal.span});
  });
}

}  // namespace

void for_each_predicate(const std::vector<Literal>& body, const VisitPredicate& visit) {
  for (const Literal& literal : body) visit_literal(literal, nullptr, visit);
}

std::vector<Edge> dependency_edges(const Program& program) {
  std::vector<Edge> edges;
  for (uint32_t index = 0; index < program.rules.size(); ++index) {
    const Rule& rule = program.rules[index];
    for (const HeadElement& element : rule.head) {
      add_body_edges(rule.body, rule, index, element.pred, edges);
      add_body_edges(element.condition, rule, index, element.pred, edges);
    }
  }
  const auto key = [](const Edge& e) { return std::tuple(e.to, e.from, e.kind, e.rule); };
  std::stable_sort(edges.begin(), edges.end(),
                   [&](const Edge& a, const Edge& b) { return key(a) < key(b); });
  edges.erase(std::unique(edges.begin(), edges.end(),
                          [&](const Edge& a, const Edge& b) { return key(a) == key(b); }),
              edges.end());
  return edges;
}

EdgeRange edges_to(const std::vector<Edge>& edges, PredId to) {
  const auto first = std::lower_bound(edges.begin(), edges.end(), to,
                                      [](const Edge& e, PredId pred) { return e.to < pred; });
  const auto last = std::upper_bound(first, edges.end(), to,
                                     [](PredId pred, const Edge& e) { return pred < e.to; });
  return {first, last};
}

// ---- Strongly connected components ----

namespace {

// Who each predicate depends on, in compressed rows.
struct Arcs {
  std::vector<uint32_t> first;  // by predicate, and the end
  std::vector<uint32_t> target;
};

Arcs dependency_arcs(const Program& program, const std::vector<Edge>& edges) {
  std::vector<std::pair<uint32_t, uint32_t>> pairs;
  pairs.reserve(edges.size());
  for (const Edge& edge : edges) pairs.emplace_back(edge.to.index, edge.from.index);
  // The heads of one rule are tied: a star both ways keeps that linear.
  for (const Rule& rule : program.rules) {
    for (size_t i = 1; i < rule.head.size(); ++i) {
      pairs.emplace_back(rule.head[0].pred.index, rule.head[i].pred.index);
      pairs.emplace_back(rule.head[i].pred.index, rule.head[0].pred.index);
    }
  }
  std::sort(pairs.begin(), pairs.end());
  pairs.erase(std::unique(pairs.begin(), pairs.end()), pairs.end());

  Arcs arcs;
  arcs.first.assign(program.predicates.size() + 1, 0);
  arcs.target.reserve(pairs.size());
  for (const auto& [from, to] : pairs) {
    ++arcs.first[from + 1];
    arcs.target.push_back(to);
  }
  for (size_t i = 1; i < arcs.first.size(); ++i) arcs.first[i] += arcs.first[i - 1];
  return arcs;
}

// Tarjan's algorithm (Depth-first search and linear graph algorithms, 1972) with its own stack,
// because chains of dependencies can be as long as the program. A component is complete only after
// everything it depends on, which is the order that the evaluators want.
struct Tarjan {
  static constexpr uint32_t kUnseen = UINT32_MAX;

  struct Frame {
    uint32_t node;
    uint32_t next_arc;
  };

  const Arcs& arcs;
  std::vector<uint32_t>& component_of;
  uint32_t component_count = 0;
  uint32_t counter = 0;
  std::vector<uint32_t> number, low;
  std::vector<uint32_t> open;  // nodes whose component is not complete yet
  std::vector<Frame> stack;

  Tarjan(const Arcs& graph, std::vector<uint32_t>& out) : arcs(graph), component_of(out) {
    const size_t nodes = arcs.first.size() - 1;
    number.assign(nodes, kUnseen);
    low.assign(nodes, 0);
    component_of.assign(nodes, kUnseen);
    for (uint32_t node = 0; node < nodes; ++node) {
      if (number[node] == kUnseen) search_from(node);
    }
  }

  void enter(uint32_t node) {
    number[node] = low[node] = counter++;
    open.push_back(node);
    stack.push_back({node, arcs.first[node]});
  }

  void search_from(uint32_t root) {
    enter(root);
    while (!stack.empty()) {
      Frame& frame = stack.back();
      const uint32_t node = frame.node;
      if (frame.next_arc < arcs.first[node + 1]) {
        const uint32_t target = arcs.target[frame.next_arc++];
        if (number[target] == kUnseen) {
          enter(target);  // invalidates frame
        } else if (component_of[target] == kUnseen) {
          low[node] = std::min(low[node], number[target]);
        }
        continue;
      }
      leave(node);
    }
  }

  void leave(uint32_t node) {
    stack.pop_back();
    if (!stack.empty()) low[stack.back().node] = std::min(low[stack.back().node], low[node]);
    if (low[node] != number[node]) return;
    uint32_t member;
    do {
      member = open.back();
      open.pop_back();
      component_of[member] = component_count;
    } while (member != node);
    ++component_count;
  }
};

void collect_members(const Program& program, Analysis& analysis) {
  for (uint32_t pred = 0; pred < program.predicates.size(); ++pred) {
    analysis.components[analysis.component_of[pred]].predicates.push_back(PredId{pred});
  }
  for (uint32_t index = 0; index < program.rules.size(); ++index) {
    const Rule& rule = program.rules[index];
    if (rule.head_kind == HeadKind::None || rule.head.empty()) {
      analysis.constraints.push_back(index);
    } else {
      analysis.components[analysis.component_of[rule.head[0].pred.index]].rules.push_back(index);
    }
  }
}

// Components stand in dependency order, so the strata below are final when a component's turn
// comes.
void assign_strata(Analysis& analysis) {
  for (uint32_t index = 0; index < analysis.components.size(); ++index) {
    Component& component = analysis.components[index];
    for (const PredId pred : component.predicates) {
      for (const Edge& edge : edges_to(analysis.edges, pred)) {
        const uint32_t below = analysis.component_of[edge.from.index];
        if (below == index) {
          component.recursive = true;
          continue;
        }
        const uint32_t step = edge.kind == EdgeKind::Positive ? 0 : 1;
        component.stratum = std::max(component.stratum, analysis.components[below].stratum + step);
      }
    }
  }
}

}  // namespace

void find_components(const Program& program, Analysis& analysis) {
  const Arcs arcs = dependency_arcs(program, analysis.edges);
  const Tarjan tarjan(arcs, analysis.component_of);
  analysis.components.assign(tarjan.component_count, {});
  analysis.constraints.clear();
  collect_members(program, analysis);
  assign_strata(analysis);
}

}  // namespace xlog::logic
