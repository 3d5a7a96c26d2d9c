// The dependency graph of a program and its strongly connected components.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "logic/analysis.h"

namespace xlog::logic {

// Calls `visit` with every literal that mentions a predicate, those inside aggregates, findall and
// maplist included. `in_aggregate` is the outermost aggregate, findall or maplist around the
// literal (for maplist the literal itself), or null.
using VisitPredicate =
    std::function<void(const lang::Literal& literal, const lang::Literal* in_aggregate)>;
void for_each_predicate(const std::vector<lang::Literal>& body, const VisitPredicate& visit);

// All edges, sorted by (to, from, kind, rule). A predicate that a rule mentions several times in
// the same way gives one edge, at its first literal.
std::vector<Edge> dependency_edges(const lang::Program& program);

// Fills components (without their class), component_of and constraints from analysis.edges. The
// heads of one rule always share a component.
void find_components(const lang::Program& program, Analysis& analysis);

// The edges of `edges` that lead to `to`.
struct EdgeRange {
  std::vector<Edge>::const_iterator first, last;
  auto begin() const { return first; }
  auto end() const { return last; }
};
EdgeRange edges_to(const std::vector<Edge>& edges, PredId to);

// A step of a cycle: `pred` depends on the next one because of `edge`, or, when edge is null,
// because both stand in one head of rule `rule`.
struct CycleStep {
  PredId pred;
  const Edge* edge = nullptr;
  uint32_t rule = 0;
};

// The shortest way from `start` down its dependencies to `goal` inside their common component;
// empty when they are the same predicate. The last step is the one that reaches `goal`.
std::vector<CycleStep> shortest_path(const lang::Program& program, const Analysis& analysis,
                                     PredId start, PredId goal);

// "p <- not q <- p": a shortest cycle that starts with `edge`.
std::string spell_cycle(const lang::Program& program, const Analysis& analysis, const Edge& edge,
                        const lang::Names& names);

// Reports aggregates (AggregateInCycle), findall and maplist (MetaInCycle) over a predicate of
// their own recursion; minima and maxima of analysis.best have a check of their own (monotone.h).
void report_aggregate_cycles(const lang::Program& program, const Analysis& analysis,
                             lang::Session& session);

// "3:1", or "file:3:1" outside the first file; "?" when the span names no place.
std::string place_text(Span span, const SourceMap& sources);

}  // namespace xlog::logic
