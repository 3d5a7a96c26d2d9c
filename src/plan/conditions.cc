#include "plan/conditions.h"

#include <fmt/format.h>

#include <algorithm>

#include "plan/estimate.h"
#include "plan/helper_rule.h"
#include "plan/relational.h"

namespace xlog::plan {

using lang::Literal;
using lang::LiteralKind;
using lang::Rule;

namespace {

constexpr double kLeastPairs = 100'000;  // solutions that meet; a helper costs launches

bool is_plain(const Literal& literal) {
  if (literal.modal != lang::Modal::None) return false;
  if (literal.kind == LiteralKind::Compare) return !computes(literal);
  return literal.kind == LiteralKind::Atom && std::ranges::all_of(literal.args, is_simple);
}

class Conditions {
 public:
  Conditions(lang::Program& program, const logic::Analysis& analysis, lang::Session& session,
             Sharing sharing)
      : program_(program),
        session_(session),
        sharing_(sharing),
        component_of_(analysis.component_of) {
    Estimates estimates(program, analysis);
    for (uint32_t c = 0; c < analysis.components.size(); ++c) {
      estimates.begin(c);
      estimates.finish(c);
    }
    for (uint32_t p = 0; p < program.predicates.size(); ++p) {
      rows_.push_back(static_cast<double>(estimates[{p}].rows));
    }
    for (const logic::Component& component : analysis.components) {
      if (component.klass != logic::ComponentClass::Determined) continue;
      if (why_not_relational(program, component)) continue;
      rules_.insert(rules_.end(), component.rules.begin(), component.rules.end());
    }
  }

  std::vector<Condition> run() {
    for (const uint32_t r : rules_) {
      while (separate_one(r)) continue;
    }
    return std::move(made_);
  }

 private:
  using Part = std::vector<uint32_t>;  // literals, in order

  // Literals that hang together by their variables. The first part is that of the head.
  static std::vector<Part> parts_of(const Rule& rule) {
    constexpr uint32_t kHead = 0;
    std::vector<VarId> variables;
    for (const Term& arg : rule.head[0].args) lang::collect_variables(arg, variables);
    std::vector<std::pair<VarId, uint32_t>> owner;
    for (const VarId v : variables) owner.emplace_back(v, kHead);
    std::vector<uint32_t> part(rule.body.size());
    for (uint32_t i = 0; i < rule.body.size(); ++i) {
      part[i] = i + 1;
      variables.clear();
      lang::collect_variables(rule.body[i], variables);
      for (const VarId v : variables) {
        const auto known = std::ranges::find(owner, v, &std::pair<VarId, uint32_t>::first);
        if (known == owner.end()) {
          owner.emplace_back(v, part[i]);
          continue;
        }
        const uint32_t from = std::max(known->second, part[i]);
        const uint32_t to = std::min(known->second, part[i]);
        std::ranges::replace(part, from, to);
        for (auto& [other, place] : owner) place = place == from ? to : place;
      }
    }
    std::vector<Part> parts(rule.body.size() + 1);
    for (uint32_t i = 0; i < rule.body.size(); ++i) parts[part[i]].push_back(i);
    return parts;
  }

  static bool is_positive(const Literal& literal) {
    return literal.kind == LiteralKind::Atom && literal.nots == 0;
  }

  // The most rows that one of its atoms has; 0: it says nothing about rows.
  double rows_of(const Rule& rule, const Part& part) const {
    double most = 0;
    for (const uint32_t i : part) {
      if (is_positive(rule.body[i])) most = std::max(most, rows_[rule.body[i].pred.index]);
    }
    return most;
  }

  // Whether its rows are looked at one by one as it stands: a variable with a name is bound there,
  // or new rows come in each round.
  bool is_walked(uint32_t r, const Part& part) const {
    const Rule& rule = program_.rules[r];
    const uint32_t component = component_of_[rule.head[0].pred.index];
    std::vector<VarId> variables;
    for (const uint32_t i : part) lang::collect_variables(rule.body[i], variables);
    const auto is_named = [&](VarId v) { return !rule.variables[v.index].anonymous; };
    const auto grows = [&](uint32_t i) {
      return is_positive(rule.body[i]) && component_of_[rule.body[i].pred.index] == component;
    };
    return std::ranges::any_of(variables, is_named) ||
           (!variables.empty() && std::ranges::any_of(part, grows));
  }

  bool separate_one(uint32_t r) {
    const Rule& rule = program_.rules[r];
    if (rule.head.size() != 1 || !rule.aggregates.empty()) return false;
    if (!std::ranges::all_of(rule.body, is_plain)) return false;
    const std::vector<Part> parts = parts_of(rule);
    for (size_t p = 1; p < parts.size(); ++p) {
      const double rows = rows_of(rule, parts[p]);
      if (rows == 0 || !is_walked(r, parts[p])) continue;
      double others = 0;  // solutions that each of its rows would meet
      for (size_t q = 0; q < parts.size(); ++q) {
        const double theirs = q == p ? 0 : rows_of(rule, parts[q]);
        if (theirs > 0) others = std::max(others, 1.0) * theirs;
      }
      if (others == 0 || (sharing_ != Sharing::Everywhere && rows * others < kLeastPairs)) continue;
      const JoinPlace place{parts[p], {}};
      made_.push_back({join_text(program_, rule, place.literals, session_.names), {}});
      const PredId helper = add_helper(program_, session_, "__xlog_some_", r, place);
      read_helper(program_.rules[r], helper, {place});
      made_.back().helper = lang::predicate_name(program_[helper], session_.names);
      rows_.push_back(0);  // one, which nobody walks over
      component_of_.push_back(UINT32_MAX);
      return true;
    }
    return false;
  }

  lang::Program& program_;
  lang::Session& session_;
  const Sharing sharing_;
  std::vector<uint32_t> component_of_;  // by predicate
  std::vector<double> rows_;            // the same, about
  std::vector<uint32_t> rules_;         // that may be rewritten
  std::vector<Condition> made_;
};

}  // namespace

std::vector<Condition> separate_conditions(lang::Program& program, const logic::Analysis& analysis,
                                           lang::Session& session, Sharing sharing) {
  return Conditions(program, analysis, session, sharing).run();
}

std::string to_text(const std::vector<Condition>& conditions) {
  std::string text;
  for (const Condition& condition : conditions) {
    text += fmt::format("asked once: {} for {}\n", condition.helper, condition.literals);
  }
  return text;
}

}  // namespace xlog::plan
