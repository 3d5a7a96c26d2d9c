// Applies rules to pure nodes. Rules are tried in the order of their lists, the first that matches
// wins, and what it makes is rewritten as it is made; the outcome depends on the graph and the
// rules alone. Each set of rules declares a measure; in debug builds a firing that does not lower
// it aborts, and in all builds fuel bounds the firings.
//
//   Rewriter rewriter(context, simplify_rules());
//   kernel = rewriter.run(kernel);
#pragma once

#include <array>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kernel/facts.h"
#include "kernel/graph.h"
#include "kernel/pass.h"
#include "kernel/rule.h"

namespace xlog::kernel {

// What one node adds to the measure of an expression; compared first entry first. The measure of an
// expression counts a shared node once for each use.
using Weight = std::array<int64_t, 4>;
using Measure = Weight (*)(const Graph& graph, Id node);

class RuleSet {
 public:
  // Without a measure nothing but fuel stops the rules: for tests of single ones.
  RuleSet(std::string_view name, std::initializer_list<std::span<const Rule>> lists,
          Measure counts);

  // A rule with the operands of its commutative ops in one of their orders.
  struct Candidate {
    const Rule* rule;
    uint32_t left;          // where its pattern starts in `terms`
    int16_t first, second;  // ops that the first operands must have, or -1
  };

  std::string_view name() const { return name_; }
  Measure measure() const { return measure_; }
  std::span<const Candidate> candidates(Op op) const { return by_op_[static_cast<int>(op)]; }
  const Term* terms(const Candidate& candidate) const { return &terms_[candidate.left]; }
  bool needs_facts() const { return needs_facts_; }
  std::span<const Rule* const> rules() const { return rules_; }

 private:
  void add(const Rule& rule);

  std::string_view name_;
  Measure measure_;
  bool needs_facts_ = false;
  std::vector<const Rule*> rules_;
  std::vector<Term> terms_;
  std::array<std::vector<Candidate>, kOpCount> by_op_;
};

class Rewriter {
 public:
  Rewriter(PassContext& context, const RuleSet& rules, Facts* facts = nullptr);

  // The kernel with every pure node in normal form.
  Id run(Id kernel);
  // The normal form of a node whose operands are in normal form.
  Id normal(Id node);

  // For rules that are code: make a node in normal form.
  Graph& graph() { return context_.graph; }
  Facts* facts() { return facts_; }
  Id make(Op op, std::initializer_list<Id> operands) { return normal(graph().make(op, operands)); }
  Id cast(Type to, Id value) { return normal(graph().cast(to, value)); }
  Id number(Type type, int64_t v) { return graph().constant(Scalar::of(type, v)); }

  // What the first rule that fits makes of a node; the node itself where none does.
  Id apply_once(Id node);

 private:
  using Names = std::array<Id, Rule::kMostNames>;

  bool match(const Term*& at, Id node, Names& names) const;
  bool holds(const Rule& rule, const Names& names);
  Wide guard_value(const Rule& rule, const GuardTerm*& at, const Names& names);
  Id build(const Rule& rule, Names& names);
  Id build_term(const Term*& at, const Names& names, Type type, bool is_root);
  Type term_type(const Term* at, const Names& names) const;
  void keep_name(Id from, Id to);
  void fired(const Rule& rule, Id before, Id after);
  [[noreturn]] void out_of_fuel(std::string_view what) const;

  struct Firing {
    const Rule* rule;
    Id before, after;
  };

  PassContext& context_;
  const RuleSet& rules_;
  Facts* facts_;
  std::vector<Id> normal_;  // by Id
  uint64_t fuel_;           // firings left
  std::vector<Firing> trace_;
};

// How the measure changes from one expression to the other: negative in its first entry that is not
// zero means that `after` is smaller.
Weight measure_change(const Graph& graph, Measure measure, Id before, Id after);

// An expression as text, for messages: "(add (load) 1:u32)", to a depth of four.
std::string describe(const Graph& graph, Id node);

// The value of an arithmetic op over constants.
Scalar fold_constants(const Graph& graph, Id node);

}  // namespace xlog::kernel
