#include "plan/recursive_joins.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "logic/needed.h"
#include "plan/cost.h"
#include "plan/estimate.h"
#include "plan/helper_rule.h"
#include "plan/relational.h"

namespace xlog::plan {

using lang::Literal;
using lang::LiteralKind;
using lang::Rule;
using lang::TermKind;

namespace {

constexpr size_t kMostAtoms = 8;          // of a rule whose joins are looked at
constexpr double kLeastSaving = 100'000;  // bindings; a helper costs launches and their kernels
constexpr double kGain = 1.25;            // times cheaper at least: estimates are rough
constexpr double kSort = 4;               // a row that goes into an index

// Sets how many rows the lookups of a version of a rule find in all its rounds, on average. Values
// of the side with fewer of them are taken to be among those of the other, so that a lookup by one
// of many values finds nothing for most of them (Selinger et al., "Access path selection in a
// relational database management system", 1979). Of g literals that grow at the same pace, each is
// the last to bring its row to one in g of the instances, and its version finds these.
void expect_rows_of_all_rounds(Pipeline& pipeline, const StatisticsOf& statistics,
                               const std::function<bool(PredId)>& grows) {
  std::map<uint32_t, double> values;  // by variable: how many it has
  double growing = 0;
  for (Step& step : pipeline.steps) {
    if (step.kind != StepKind::Match) continue;
    const Statistics known = statistics(step.pred);
    step.rows = static_cast<double>(known.rows);
    for (size_t c = 0; c < step.columns.size(); ++c) {
      const ColumnArg& column = step.columns[c];
      if (column.use == ColumnUse::Ignore) continue;
      const double distinct = std::max<double>(
          1, static_cast<double>(c < known.distinct.size() ? known.distinct[c] : known.rows));
      const bool named = column.term.kind == TermKind::Variable;
      double& bound = values[named ? column.term.var.index : UINT32_MAX];
      if (column.use == ColumnUse::Bind) {
        bound = distinct;
        continue;
      }
      step.rows /= named ? std::max(distinct, bound) : distinct;
      if (named) bound = std::min(distinct, std::max(bound, 1.0));
    }
    if (!grows(step.pred)) continue;
    ++growing;
    if (growing > 1) step.rows *= (growing - 1) / growing;
  }
}

class JoinKeeping {
 public:
  JoinKeeping(lang::Program& program, const logic::Analysis& analysis, lang::Session& session,
              Sharing sharing)
      : program_(program), session_(session), sharing_(sharing) {
    Estimates estimates(program, analysis);
    for (uint32_t c = 0; c < analysis.components.size(); ++c) {
      estimates.begin(c);
      estimates.finish(c);
    }
    const std::vector<bool> needed = logic::needed_for_answers(program, analysis);
    component_of_ = analysis.component_of;
    component_of_rule_.resize(program.rules.size());
    for (uint32_t p = 0; p < program.predicates.size(); ++p) {
      const bool recursive = analysis.components[component_of_[p]].recursive;
      known_.push_back(recursive ? much_of(estimates[{p}]) : estimates[{p}]);
      is_table_.push_back(estimates.is_host_table({p}));
    }
    for (uint32_t c = 0; c < analysis.components.size(); ++c) {
      const logic::Component& component = analysis.components[c];
      for (uint32_t r : component.rules) component_of_rule_[r] = c;
      const bool fine =
          component.recursive && component.klass == logic::ComponentClass::Determined &&
          !why_not_relational(program, component) &&
          std::ranges::none_of(component.predicates,
                               [&](PredId pred) { return analysis.best[pred.index].has_value(); });
      for (uint32_t r : component.rules) {
        const Rule& rule = program.rules[r];
        const bool matters = program.queries.empty() || needed[rule.head[0].pred.index];
        if (fine && matters && std::ranges::none_of(rule.body, computes)) rules_.push_back(r);
      }
    }
  }

  std::vector<KeptJoin> run() {
    // What is made is looked at in turn.
    for (size_t i = 0; i < rules_.size(); ++i) {
      while (improve(rules_[i])) continue;
    }
    return std::move(told_);
  }

 private:
  struct Candidate {
    JoinPlace place;
    double kept = 0;  // what it all costs then
  };

  // It matters where a recursion has many rows: a lookup finds several.
  static Statistics much_of(Statistics known) {
    constexpr double kFound = 8;
    double room = 1, values = 1;
    for (uint64_t distinct : known.distinct) {
      room *= static_cast<double>(distinct);
      values = std::max(values, static_cast<double>(distinct));
    }
    const double rows = std::min(room, kFound * values);
    known.rows = std::max(known.rows, static_cast<uint64_t>(rows));
    return known;
  }

  StatisticsOf statistics() const {
    return [this](PredId pred) { return known_[pred.index]; };
  }

  bool grows(uint32_t r, const Literal& literal) const {
    return literal.kind == LiteralKind::Atom && literal.nots == 0 &&
           component_of_[literal.pred.index] == component_of_rule_[r];
  }

  // ---- what joins there are ----

  bool can_keep(const Literal& literal) const {
    return literal.kind == LiteralKind::Atom && literal.nots == 0 &&
           literal.modal == lang::Modal::None && !is_table_[literal.pred.index] &&
           std::ranges::all_of(literal.args, is_simple);
  }

  // Whether atoms hang together by their variables.
  static bool hang_together(const Rule& rule, const std::vector<uint32_t>& atoms) {
    std::vector<VarId> known;
    std::vector<uint32_t> left = atoms;
    while (!left.empty()) {
      const auto next = std::ranges::find_if(left, [&](uint32_t i) {
        std::vector<VarId> variables;
        lang::collect_variables(rule.body[i], variables);
        return known.empty() || std::ranges::find_first_of(variables, known) != variables.end();
      });
      if (next == left.end()) return false;
      lang::collect_variables(rule.body[*next], known);
      left.erase(next);
    }
    return true;
  }

  // The join of some atoms, with the comparisons of what they bind.
  std::optional<JoinPlace> place_of(const Rule& rule, const std::vector<uint32_t>& atoms) const {
    JoinPlace place;
    std::vector<VarId> inside, outside;
    for (uint32_t i : atoms) lang::collect_variables(rule.body[i], inside);
    const auto is_bound = [&](VarId v) { return std::ranges::find(inside, v) != inside.end(); };
    for (uint32_t i = 0; i < rule.body.size(); ++i) {
      std::vector<VarId> variables;
      lang::collect_variables(rule.body[i], variables);
      const bool compares = rule.body[i].kind == LiteralKind::Compare &&
                            rule.body[i].op != lang::CompareOp::Eq &&
                            std::ranges::all_of(variables, is_bound);
      if (compares || std::ranges::find(atoms, i) != atoms.end()) {
        place.literals.push_back(i);
      } else {
        outside.insert(outside.end(), variables.begin(), variables.end());
      }
    }
    for (const Term& arg : rule.head[0].args) lang::collect_variables(arg, outside);
    for (VarId v : inside) {
      const bool used = std::ranges::find(outside, v) != outside.end();
      const bool there = std::ranges::find(place.columns, v) != place.columns.end();
      if (used && !there) place.columns.push_back(v);
    }
    if (place.columns.empty()) return std::nullopt;
    return place;
  }

  // Of the atoms at least two, some of which grow, and not all that do.
  std::vector<JoinPlace> places(uint32_t r) const {
    const Rule& rule = program_.rules[r];
    std::vector<uint32_t> atoms;
    size_t growing = 0;
    for (uint32_t i = 0; i < rule.body.size(); ++i) {
      if (can_keep(rule.body[i])) atoms.push_back(i);
      if (grows(r, rule.body[i])) ++growing;
    }
    std::vector<JoinPlace> found;
    if (growing < 2 || atoms.size() < 3 || atoms.size() > kMostAtoms) return found;
    for (uint32_t set = 1; set < (1u << atoms.size()); ++set) {
      std::vector<uint32_t> chosen;
      size_t grow = 0;
      for (size_t a = 0; a < atoms.size(); ++a) {
        if ((set >> a & 1) == 0) continue;
        chosen.push_back(atoms[a]);
        if (grows(r, rule.body[atoms[a]])) ++grow;
      }
      if (chosen.size() < 2 || grow == 0 || grow == growing) continue;
      if (!hang_together(rule, chosen)) continue;
      if (std::optional<JoinPlace> place = place_of(rule, chosen)) {
        found.push_back(std::move(*place));
      }
    }
    return found;
  }

  // ---- whether it pays ----

  // Whether its rows have more columns than any atom of it: they take memory, and are many.
  static bool is_wide(const Rule& rule, const JoinPlace& place) {
    return std::ranges::all_of(place.literals, [&](uint32_t i) {
      return rule.body[i].args.size() < place.columns.size();
    });
  }

  std::vector<Pipeline> versions(uint32_t r) const {
    const Rule& rule = program_.rules[r];
    const auto inside = [&](PredId pred) {
      return component_of_[pred.index] == component_of_rule_[r];
    };
    std::vector<Pipeline> made;
    for (uint32_t i = 0; i < rule.body.size(); ++i) {
      if (!grows(r, rule.body[i])) continue;
      made.push_back(build_pipeline(program_, r, {i, inside}, statistics()));
      expect_rows_of_all_rounds(made.back(), statistics(), inside);
    }
    return made;
  }

  Cost cost_of(const std::vector<Pipeline>& versions) const {
    Cost sum;
    for (const Pipeline& pipeline : versions) {
      const Cost cost = plan::cost_of(pipeline, statistics());
      sum.cost += cost.cost;
      sum.solutions += cost.solutions;
    }
    return sum;
  }

  // Makes the helper of a join, and gives what it costs.
  double rewrite(uint32_t r, const JoinPlace& place) {
    const PredId helper = add_helper(program_, session_, "__xlog_joined_", r, place);
    const uint32_t made = static_cast<uint32_t>(program_.rules.size() - 1);
    component_of_.push_back(component_of_rule_[r]);
    component_of_rule_.push_back(component_of_rule_[r]);
    is_table_.push_back(false);
    known_.emplace_back();
    const Cost cost = cost_of(versions(made));
    known_.back() = expected_rows(program_.rules[made], cost.solutions, statistics());
    read_helper(program_.rules[r], helper, {place});
    return cost.cost + kSort * static_cast<double>(known_.back().rows);
  }

  void take_back(uint32_t r, Rule before) {
    remove_last_helper(program_);
    component_of_.pop_back();
    component_of_rule_.pop_back();
    is_table_.pop_back();
    known_.pop_back();
    program_.rules[r] = std::move(before);
  }

  bool pays(double apart, double kept) const {
    if (sharing_ == Sharing::Everywhere) return true;
    return apart - kept >= kLeastSaving && apart >= kGain * kept;
  }

  // Gives the best join of a rule a helper, where that pays.
  bool improve(uint32_t r) {
    std::vector<JoinPlace> found = places(r);
    if (found.empty()) return false;
    const std::vector<Pipeline> now = versions(r);
    const double apart = cost_of(now).cost;
    std::optional<Candidate> best;
    for (JoinPlace& place : found) {
      if (breaks_meet(program_.rules[r], place.literals, now)) continue;
      if (sharing_ != Sharing::Everywhere && is_wide(program_.rules[r], place)) continue;
      Rule before = program_.rules[r];
      double kept = rewrite(r, place);
      kept += cost_of(versions(r)).cost;
      take_back(r, std::move(before));
      if (!best || kept < best->kept) best = Candidate{std::move(place), kept};
    }
    if (!best) return false;
    KeptJoin& told = told_.emplace_back();
    told.join = join_text(program_, program_.rules[r], best->place.literals, session_.names);
    told.apart = apart;
    told.kept = best->kept;
    if (!pays(apart, best->kept)) return false;
    rewrite(r, best->place);
    const PredId helper = program_.rules.back().head[0].pred;
    told.helper = helper_text(program_, helper, session_.names);
    rules_.push_back(static_cast<uint32_t>(program_.rules.size() - 1));
    return true;
  }

  lang::Program& program_;
  lang::Session& session_;
  const Sharing sharing_;
  std::vector<uint32_t> component_of_;       // by predicate
  std::vector<uint32_t> component_of_rule_;  // by rule
  std::vector<bool> is_table_;               // by predicate
  std::vector<Statistics> known_;            // the same, of what is finished
  std::vector<uint32_t> rules_;              // that may be rewritten
  std::vector<KeptJoin> told_;
};

}  // namespace

std::vector<KeptJoin> keep_joins(lang::Program& program, const logic::Analysis& analysis,
                                 lang::Session& session, Sharing sharing) {
  return JoinKeeping(program, analysis, session, sharing).run();
}

std::string to_text(const std::vector<KeptJoin>& joins) {
  std::string text;
  for (const KeptJoin& join : joins) {
    text += join.helper.empty()
                ? fmt::format("not kept: {}\n  cost {:.0f}, a helper would make it {:.0f}\n",
                              join.join, join.apart, join.kept)
                : fmt::format("kept: {} for {}\n  cost {:.0f} instead of {:.0f}\n", join.helper,
                              join.join, join.kept, join.apart);
  }
  return text;
}

}  // namespace xlog::plan
