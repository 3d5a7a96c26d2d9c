#include "kernel/zset_rules.h"

#include <fmt/format.h>

#include <array>
#include <map>
#include <optional>
#include <string>

#include "base/check.h"

namespace xlog::kernel {

namespace {

constexpr ZSetRule kRules[] = {
    // Linear: the change of the result is the op on the change.
    {"delta-plus", "(delta (plus ?a ?b))", "(plus (delta ?a) (delta ?b))"},
    {"delta-negate", "(delta (negate ?a))", "(negate (delta ?a))"},
    {"delta-flatmap", "(delta (flatmap@f ?a))", "(flatmap@f (delta ?a))"},
    // Bilinear: both sides may change.
    {"delta-join", "(delta (join@j ?a ?b))",
     "(plus (plus (join@j (delta ?a) (prev ?b)) (join@j (prev ?a) (delta ?b)))"
     " (join@j (delta ?a) (delta ?b)))"},
    // Neither: look at the rows or keys that changed, as they were and as they are.
    {"delta-distinct", "(delta (distinct ?a))", "(distinct_delta (prev ?a) (delta ?a))"},
    {"delta-aggregate", "(delta (aggregate@g ?a))", "(aggregate_delta@g (prev ?a) (delta ?a))"},
    // What a query gave before is the query over what its inputs were.
    {"prev-plus", "(prev (plus ?a ?b))", "(plus (prev ?a) (prev ?b))"},
    {"prev-negate", "(prev (negate ?a))", "(negate (prev ?a))"},
    {"prev-flatmap", "(prev (flatmap@f ?a))", "(flatmap@f (prev ?a))"},
    {"prev-join", "(prev (join@j ?a ?b))", "(join@j (prev ?a) (prev ?b))"},
    {"prev-distinct", "(prev (distinct ?a))", "(distinct (prev ?a))"},
    {"prev-aggregate", "(prev (aggregate@g ?a))", "(aggregate@g (prev ?a))"},
};

// A side of a rule, read.
struct Term {
  std::string name;  // of a variable; empty for an op
  Op op{};
  std::string attributes;  // "j" of join@j
  std::vector<Term> operands;
};

class TermReader {
 public:
  explicit TermReader(std::string_view text) : text_(text) {}

  Term read() {
    Term term = next();
    XLOG_CHECK(text_.empty(), "text after the end of a rule");
    return term;
  }

 private:
  Term next() {
    Term term;
    if (take('?')) {
      term.name = word();
    } else {
      XLOG_CHECK(take('('), "a rule has ?names and (ops)");
      const auto op = find_op(word());
      XLOG_CHECK(op && info(*op).tier == Tier::Relation, "a rule has ops of Z-sets");
      term.op = *op;
      if (take('@')) term.attributes = word();
      while (!take(')')) term.operands.push_back(next());
      // The body of a flatmap is one of its attributes.
      const int count = term.op == Op::FlatMap ? 1 : info(term.op).operands;
      XLOG_CHECK(static_cast<size_t>(count) == term.operands.size(), "wrong number of operands");
    }
    while (!text_.empty() && text_[0] == ' ') text_.remove_prefix(1);
    return term;
  }
  bool take(char c) {
    while (!text_.empty() && text_[0] == ' ') text_.remove_prefix(1);
    if (text_.empty() || text_[0] != c) return false;
    text_.remove_prefix(1);
    return true;
  }
  std::string word() {
    size_t n = 0;
    while (n < text_.size() && (text_[n] == '_' || (text_[n] >= 'a' && text_[n] <= 'z'))) ++n;
    XLOG_CHECK(n > 0, "a word is missing in a rule");
    std::string w(text_.substr(0, n));
    text_.remove_prefix(n);
    return w;
  }

  std::string_view text_;
};

struct ReadRule {
  const ZSetRule* rule;
  Term left, right;
};

const std::vector<ReadRule>& read_rules() {
  static const std::vector<ReadRule> rules = [] {
    std::vector<ReadRule> all;
    for (const ZSetRule& rule : kRules) {
      all.push_back({&rule, TermReader(rule.left).read(), TermReader(rule.right).read()});
    }
    return all;
  }();
  return rules;
}

// What a match bound: Z-sets by name, and the nodes whose attributes have a name.
struct Bindings {
  std::map<std::string, Id> relations;
  std::map<std::string, Id> attributes;
};

class Deriver {
 public:
  Deriver(const ZSets& zsets, const std::set<Id>& kept, std::vector<ZSetRewrite>* log)
      : graph_(zsets.graph()), kept_(kept), log_(log) {}

  // The node with delta and prev pushed down. Every rule moves them strictly towards the inputs.
  Id normal(Id node) {
    if (auto known = normal_.find(node); known != normal_.end()) return known->second;
    const Id result = rewrite(node);
    normal_[node] = result;
    return result;
  }

 private:
  Id rewrite(Id node) {
    const Op op = graph_.op(node);
    if (op == Op::Prev && kept_.contains(graph_.operand(node, 0))) return node;
    if (op == Op::Delta || op == Op::Prev) {
      for (const ReadRule& rule : read_rules()) {
        Bindings bound;
        if (!match(rule.left, node, bound)) continue;
        const Id made = build(rule.right, bound);
        if (log_ != nullptr) log_->push_back({rule.rule->name, node, made});
        return normal(made);
      }
      return node;
    }
    std::vector<Id> operands;
    for (Id operand : graph_.operands(node)) {
      operands.push_back(graph_.op(operand) == Op::Block ? operand : normal(operand));
    }
    return graph_.with_operands(node, operands);
  }

  bool match(const Term& term, Id node, Bindings& bound) const {
    if (!term.name.empty()) {
      auto [entry, is_new] = bound.relations.try_emplace(term.name, node);
      return is_new || entry->second == node;
    }
    if (graph_.op(node) != term.op) return false;
    if (!term.attributes.empty()) bound.attributes[term.attributes] = node;
    const auto operands = relations(graph_, node);
    for (size_t k = 0; k < operands.size(); ++k) {
      if (!match(term.operands[k], operands[k], bound)) return false;
    }
    return true;
  }

  Id build(const Term& term, const Bindings& bound) {
    if (!term.name.empty()) return bound.relations.at(term.name);
    std::vector<Id> operands;
    for (const Term& operand : term.operands) operands.push_back(build(operand, bound));
    if (term.attributes.empty()) return graph_.make(term.op, operands);
    const Id like = bound.attributes.at(term.attributes);
    if (term.op == Op::FlatMap) operands.push_back(graph_.body(like));
    return graph_.add(term.op, Type::Void, graph_[like].flags, graph_[like].imm, operands);
  }

  Graph& graph_;
  const std::set<Id>& kept_;
  std::vector<ZSetRewrite>* log_;
  std::map<Id, Id> normal_;
};

}  // namespace

std::span<const ZSetRule> zset_rules() { return kRules; }

Id incremental(const ZSets& zsets, Id query, const std::set<Id>& kept,
               std::vector<ZSetRewrite>* log) {
  return Deriver(zsets, kept, log).normal(zsets.graph().make(Op::Delta, {query}));
}

std::set<Id> worth_keeping(const ZSets& zsets, Id query) {
  const Graph& graph = zsets.graph();
  std::set<Id> kept;
  for (Id operand : relations(graph, query)) {
    const Op op = graph.op(query);
    const bool looks_back = op == Op::Join || op == Op::Distinct || op == Op::Aggregate;
    if (looks_back && graph.op(operand) != Op::Input) kept.insert(operand);
    kept.merge(worth_keeping(zsets, operand));
  }
  return kept;
}

}  // namespace xlog::kernel
