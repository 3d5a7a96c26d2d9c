// Judges proofs without the code that finds them: instances by the reference evaluator's matcher,
// least heights by deriving round by round.
#pragma once

#include <fmt/format.h>

#include <map>
#include <string>
#include <vector>

#include "engine/proof.h"
#include "oracle/aggregates.h"
#include "oracle/context.h"
#include "oracle/evaluate.h"
#include "oracle/matcher.h"

namespace xlog::engine {

class ProofChecker {
 public:
  ProofChecker(const lang::Program& program, const logic::Analysis& analysis,
               lang::Session& session, const logic::AnswerOptions& options,
               std::vector<oracle::Relation> final_rows)
      : program_(program),
        analysis_(analysis),
        session_(session),
        context_(program, analysis, session, options),
        predicates_(program.predicates.size()) {
    database_.relations = std::move(final_rows);
    // For each predicate a second one with the rows that have a rank so far.
    database_.relations.resize(2 * predicates_);
    database_.states.assign(2 * predicates_, oracle::PredicateState::Settled);
    database_.certain.assign(2 * predicates_, 0);
    database_.row_atoms.resize(2 * predicates_);
    heights_.resize(predicates_);
    find_heights();
  }

  // Rows of a predicate by the reference evaluator.
  std::vector<oracle::Tuple> rows(lang::PredId pred) const {
    const oracle::Relation& relation = database_.relations[pred.index];
    std::vector<oracle::Tuple> tuples;
    for (size_t r = 0; r < relation.size(); ++r) {
      tuples.emplace_back(relation.row(r).begin(), relation.row(r).end());
    }
    return tuples;
  }

  // What is wrong with a proof, or "".
  std::string check(const Proof& proof) {
    for (const ProofNode& node : proof.nodes) {
      const bool is_fact = node.kind == ProofKind::Derived || node.kind == ProofKind::Fact ||
                           node.kind == ProofKind::Input;
      if (!is_fact) continue;
      const auto height = heights_[node.pred.index].find(key_of(node.values));
      if (height == heights_[node.pred.index].end()) return node.text + " does not hold";
      if (height->second != node.height) {
        return fmt::format("{} has a proof of height {}, not {}", node.text, height->second,
                           node.height);
      }
      if ((node.height == 0) != (node.kind != ProofKind::Derived)) {
        return node.text + " is stated or not";
      }
      if (node.kind != ProofKind::Derived) continue;
      const std::string wrong = check_instance(proof, node);
      if (!wrong.empty()) return node.text + ": " + wrong;
    }
    return "";
  }

 private:
  using Key = std::vector<std::pair<uint8_t, uint64_t>>;
  static Key key_of(const std::vector<lang::Value>& values) {
    Key key;
    for (const lang::Value& v : values) key.push_back({static_cast<uint8_t>(v.kind), v.bits});
    return key;
  }

  // ---- instances ----

  std::string check_instance(const Proof& proof, const ProofNode& node) {
    const lang::Rule& rule = program_.rules[node.rule];
    if (rule.head.size() != 1 || rule.head[0].pred != node.pred) return "the wrong rule";
    if (!rule.aggregates.empty()) {
      if (node.children.size() != 1) return "an aggregate has one child";
      const ProofNode& child = proof.nodes[node.children[0]];
      if (child.kind != ProofKind::Aggregate) return "the child is no aggregate";
      const auto counts = groups_[node.rule].find(key_of(node.values));
      if (counts == groups_[node.rule].end()) return "no such group";
      return counts->second == child.rows ? "" : "the group has another size";
    }
    if (node.children.size() != rule.body.size()) return "the body has other literals";
    uint32_t highest = 0;
    for (size_t i = 0; i < rule.body.size(); ++i) {
      const ProofNode& child = proof.nodes[node.children[i]];
      const lang::Literal& literal = rule.body[i];
      if (!wants_row(literal)) {
        if (child.kind != leaf_kind(literal)) return "a leaf of the wrong kind: " + child.text;
        continue;
      }
      highest = std::max(highest, child.height);
      if (child.height >= node.height) return "a proof that goes in a circle";
      if (child.pred != literal.pred || !fits(literal, child, node)) {
        return "not a row of the body: " + child.text;
      }
    }
    if (highest + 1 != node.height) return "the height is not that of the children";
    return is_solution(node) ? "" : "not an instance of the rule";
  }

  static ProofKind leaf_kind(const lang::Literal& literal) {
    switch (literal.kind) {
      case lang::LiteralKind::Atom:
        return ProofKind::Absent;
      case lang::LiteralKind::Compare:
        return ProofKind::Compare;
      case lang::LiteralKind::Aggregate:
        return ProofKind::Aggregate;
      case lang::LiteralKind::Builtin:
        return literal.builtin == lang::BuiltinId::Findall ? ProofKind::Aggregate
                                                           : ProofKind::Builtin;
    }
    return ProofKind::Builtin;
  }

  oracle::Bindings bindings_of(const ProofNode& node) const {
    oracle::Bindings bindings(node.bindings.size());
    for (uint32_t v = 0; v < node.bindings.size(); ++v) {
      if (node.bindings[v]) bindings.bind({v}, *node.bindings[v]);
    }
    return bindings;
  }

  bool fits(const lang::Literal& literal, const ProofNode& child, const ProofNode& node) {
    const oracle::Bindings bindings = bindings_of(node);
    oracle::Matcher matcher(context_, database_, nullptr);
    for (size_t c = 0; c < literal.args.size(); ++c) {
      if (matcher.value_of(literal.args[c], bindings) != child.values[c]) return false;
    }
    return true;
  }

  // Whether the evaluation of the rule finds these bindings and this head.
  bool is_solution(const ProofNode& node) {
    const lang::Rule& rule = program_.rules[node.rule];
    oracle::Matcher matcher(context_, database_, nullptr);
    oracle::Bindings bindings(rule.variables.size());
    bool found = false;
    matcher.solve(node.rule, rule.body, analysis_.orders[node.rule].body, bindings,
                  [&](const oracle::Bindings& solution, const auto&) {
                    bool same = true;
                    for (uint32_t v = 0; v < rule.variables.size(); ++v) {
                      if (solution.bound({v})) same &= solution[{v}] == node.bindings[v];
                    }
                    for (size_t c = 0; c < rule.head[0].args.size(); ++c) {
                      same &= matcher.value_of(rule.head[0].args[c], solution) == node.values[c];
                    }
                    found |= same;
                  });
    return found;
  }

  // ---- heights ----

  // Round by round: what follows from rows of height below k in one step has height at most k.
  void find_heights() {
    for (uint32_t p = 0; p < predicates_; ++p) {
      const lang::FactTable* facts = program_.predicates[p].facts.get();
      for (size_t row = 0; facts != nullptr && row < facts->rows; ++row) {
        oracle::Tuple tuple;
        for (const lang::FactColumn& column : facts->columns) tuple.push_back(column.at(row));
        note({p}, std::move(tuple), 0);
      }
    }
    fold_heads();
    for (uint32_t round = 1;; ++round) {
      std::vector<std::pair<lang::PredId, oracle::Tuple>> derived;
      for (uint32_t r = 0; r < program_.rules.size(); ++r) derive(r, derived);
      if (round == 1) {
        for (const auto& [pred, tuple] : folded_) derived.push_back({pred, tuple});
      }
      bool any = false;
      for (auto& [pred, tuple] : derived) any |= note(pred, std::move(tuple), round);
      if (!any) return;
    }
  }

  bool note(lang::PredId pred, oracle::Tuple tuple, uint32_t height) {
    const bool is_new = heights_[pred.index].try_emplace(key_of(tuple), height).second;
    if (is_new) database_.relations[predicates_ + pred.index].insert(std::move(tuple));
    return is_new;
  }

  void derive(uint32_t r, std::vector<std::pair<lang::PredId, oracle::Tuple>>& derived) {
    const lang::Rule& rule = program_.rules[r];
    if (rule.head.size() != 1 || !rule.aggregates.empty()) return;
    std::vector<lang::Literal> body = rule.body;
    for (lang::Literal& literal : body) {
      if (wants_row(literal)) literal.pred.index += static_cast<uint32_t>(predicates_);
    }
    oracle::Matcher matcher(context_, database_, nullptr);
    oracle::Bindings bindings(rule.variables.size());
    matcher.solve(r, body, analysis_.orders[r].body, bindings,
                  [&](const oracle::Bindings& solution, const auto&) {
                    oracle::Tuple tuple;
                    for (const lang::Term& arg : rule.head[0].args) {
                      const auto value = matcher.value_of(arg, solution);
                      if (!value) return;
                      tuple.push_back(*value);
                    }
                    derived.push_back({rule.head[0].pred, std::move(tuple)});
                  });
  }

  // Rows of rules with aggregates in their heads, and how many solutions each folds.
  void fold_heads() {
    for (uint32_t r = 0; r < program_.rules.size(); ++r) {
      const lang::Rule& rule = program_.rules[r];
      if (rule.aggregates.empty()) continue;
      struct Group {
        oracle::Tuple head;
        std::vector<std::vector<lang::Value>> values;
      };
      std::map<Key, Group> groups;
      oracle::Matcher matcher(context_, database_, nullptr);
      oracle::Bindings bindings(rule.variables.size());
      matcher.solve(r, rule.body, analysis_.orders[r].body, bindings,
                    [&](const oracle::Bindings& solution, const auto&) {
                      std::vector<lang::Value> values;
                      for (const lang::HeadAggregate& aggregate : rule.aggregates) {
                        std::optional<lang::Value> value = lang::Value::u64(0);
                        if (aggregate.has_value) {
                          value = matcher.value_of(aggregate.value, solution);
                        }
                        if (!value) return;
                        values.push_back(*value);
                      }
                      oracle::Tuple head;
                      for (const lang::Term& arg : rule.head[0].args) {
                        head.push_back(*matcher.value_of(arg, solution));
                      }
                      Group& group = groups[key_of(head)];
                      group.head = head;
                      group.values.push_back(values);
                    });
      for (auto& [key, group] : groups) {
        for (size_t i = 0; i < rule.aggregates.size(); ++i) {
          const uint32_t column = rule.aggregates[i].column;
          std::vector<lang::Value> values;
          for (const auto& row : group.values) values.push_back(row[i]);
          group.head[column] =
              *oracle::fold_values({oracle::fold_kind(rule.aggregates[i].fn),
                                    program_[rule.head[0].pred].columns[column].type},
                                   std::move(values), session_.names);
        }
        groups_[r][key_of(group.head)] = group.values.size();
        folded_.push_back({rule.head[0].pred, group.head});
      }
    }
  }

  const lang::Program& program_;
  const logic::Analysis& analysis_;
  lang::Session& session_;
  oracle::Context context_;
  size_t predicates_;
  oracle::Database database_;
  std::vector<std::map<Key, uint32_t>> heights_;  // by predicate
  std::map<uint32_t, std::map<Key, uint64_t>> groups_;
  std::vector<std::pair<lang::PredId, oracle::Tuple>> folded_;
};

}  // namespace xlog::engine
