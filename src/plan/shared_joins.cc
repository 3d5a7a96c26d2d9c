#include "plan/shared_joins.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <set>

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

constexpr size_t kMostAtoms = 4;           // of a shared join
constexpr size_t kMostPipelines = 20'000;  // that are built to find out what pays
constexpr double kLeastSaving = 100'000;   // bindings; a helper costs launches and their kernels
constexpr double kGain = 1.25;             // times cheaper at least: estimates are rough
constexpr size_t kMostDeclined = 5;        // that people are told of
constexpr uint32_t kHelperComponent = UINT32_MAX;

// The same literals in one rule. Variables are numbered as they are met, so that literals of two
// rules are the same where their texts with these numbers are.
struct Occurrence {
  uint32_t rule = 0;
  std::vector<uint32_t> literals;  // as they were met; of a candidate in order
  std::vector<VarId> variables;    // by number
};

struct Candidate {
  std::vector<Occurrence> occurrences;
  double apart = 0, shared = 0;

  double saving() const { return apart - shared; }
};

class JoinSharing {
 public:
  JoinSharing(lang::Program& program, const logic::Analysis& analysis, lang::Session& session,
              Sharing sharing)
      : program_(program), analysis_(analysis), session_(session), sharing_(sharing) {
    Estimates estimates(program, analysis);
    for (uint32_t c = 0; c < analysis.components.size(); ++c) {
      estimates.begin(c);
      take_over(estimates, c, begun_);
      estimates.finish(c);
      take_over(estimates, c, finished_);
    }
    for (uint32_t p = 0; p < program.predicates.size(); ++p) {
      is_table_.push_back(estimates.is_host_table({p}));
    }
    component_of_rule_.assign(program.rules.size(), kHelperComponent);
    may_share_.assign(program.rules.size(), false);
    const std::vector<bool> needed = logic::needed_for_answers(program, analysis);
    for (uint32_t c = 0; c < analysis.components.size(); ++c) {
      const logic::Component& component = analysis.components[c];
      const bool fine = component.klass == logic::ComponentClass::Determined &&
                        !why_not_relational(program, component) &&
                        std::ranges::none_of(component.predicates, [&](PredId pred) {
                          return analysis.best[pred.index].has_value();
                        });
      for (uint32_t r : component.rules) {
        component_of_rule_[r] = c;
        const bool matters = program.queries.empty() || needed[program.rules[r].head[0].pred.index];
        may_share_[r] = fine && matters && std::ranges::none_of(program.rules[r].body, computes);
      }
    }
  }

  std::vector<SharedJoin> run() {
    for (bool changed = true; changed;) {
      std::vector<Candidate> found = search();
      std::ranges::stable_sort(found, std::greater{}, &Candidate::saving);
      std::set<uint32_t> touched;  // rules
      changed = false;
      declined_.clear();
      for (const Candidate& candidate : found) {
        const bool is_stale = std::ranges::any_of(
            candidate.occurrences,
            [&](const Occurrence& occurrence) { return touched.contains(occurrence.rule); });
        if (is_stale) continue;  // comes again, as the rules are now
        if (!pays(candidate)) {
          decline(candidate);
          continue;
        }
        for (const Occurrence& occurrence : candidate.occurrences) touched.insert(occurrence.rule);
        share(candidate);
        changed = true;
      }
    }
    shared_.insert(shared_.end(), declined_.begin(), declined_.end());
    return std::move(shared_);
  }

 private:
  void take_over(const Estimates& estimates, uint32_t c, std::vector<Statistics>& to) const {
    to.resize(program_.predicates.size());
    for (PredId pred : analysis_.components[c].predicates) to[pred.index] = estimates[pred];
  }

  uint32_t component_of(PredId pred) const {
    return pred.index < analysis_.component_of.size() ? analysis_.component_of[pred.index]
                                                      : kHelperComponent;
  }

  // ---- what joins there are ----

  bool is_anonymous(const Rule& rule, const Term& term) const {
    return term.kind == TermKind::Variable && rule.variables[term.var.index].anonymous;
  }

  // Whether this literal of a rule may be a part of something shared.
  bool can_share(uint32_t r, const Literal& literal) const {
    const Rule& rule = program_.rules[r];
    if (literal.kind == LiteralKind::Compare) return literal.op != lang::CompareOp::Eq;
    if (literal.kind != LiteralKind::Atom || literal.nots != 0) return false;
    if (literal.modal != lang::Modal::None) return false;
    const bool grows = component_of(literal.pred) == component_of_rule_[r] &&
                       component_of_rule_[r] != kHelperComponent;
    if (grows || (literal.pred.index < is_table_.size() && is_table_[literal.pred.index])) {
      return false;
    }
    return std::ranges::all_of(literal.args, [&](const Term& arg) {
      // Rows that a `_` tells apart count where somebody counts solutions.
      return is_simple(arg) && (rule.aggregates.empty() || !is_anonymous(rule, arg));
    });
  }

  // Adds a literal; gives its text with numbers for variables.
  std::string add(Occurrence& occurrence, uint32_t i) const {
    const Rule& rule = program_.rules[occurrence.rule];
    const Literal& literal = rule.body[i];
    auto text_of = [&](const Term& term) -> std::string {
      if (term.kind == TermKind::Constant) {
        return fmt::format("{}:{}", static_cast<int>(term.value.kind), term.value.bits);
      }
      if (is_anonymous(rule, term)) return "_";
      auto known = std::ranges::find(occurrence.variables, term.var);
      const auto number = known - occurrence.variables.begin();
      if (known == occurrence.variables.end()) occurrence.variables.push_back(term.var);
      return fmt::format("v{}", number);
    };
    occurrence.literals.push_back(i);
    if (literal.kind == LiteralKind::Compare) {
      const std::string lhs = text_of(literal.lhs);
      return fmt::format("{} {} {}", lhs, static_cast<int>(literal.op), text_of(literal.rhs));
    }
    std::string text = fmt::format("{}", literal.pred.index);
    for (const Term& arg : literal.args) text += " " + text_of(arg);
    return text;
  }

  // Whether a literal hangs together with those of an occurrence.
  bool hangs_together(const Occurrence& occurrence, const Literal& literal) const {
    std::vector<VarId> variables;
    lang::collect_variables(literal, variables);
    const auto is_known = [&](VarId v) {
      return std::ranges::find(occurrence.variables, v) != occurrence.variables.end();
    };
    return literal.kind == LiteralKind::Compare ? std::ranges::all_of(variables, is_known)
                                                : std::ranges::any_of(variables, is_known);
  }

  using Groups = std::map<std::string, std::vector<Occurrence>>;

  std::vector<Candidate> search() {
    Groups groups;
    for (uint32_t r = 0; r < program_.rules.size(); ++r) {
      for (uint32_t i = 0; may_share_[r] && i < program_.rules[r].body.size(); ++i) {
        const Literal& literal = program_.rules[r].body[i];
        if (literal.kind != LiteralKind::Atom || !can_share(r, literal)) continue;
        Occurrence occurrence{r, {}, {}};
        const std::string key = add(occurrence, i);
        groups[key].push_back(std::move(occurrence));
      }
    }
    seen_.clear();
    found_.clear();
    pipelines_.clear();
    for (const auto& [key, occurrences] : groups) grow(occurrences, 1);
    return std::move(found_);
  }

  void grow(const std::vector<Occurrence>& group, size_t atoms) {
    if (built_ > kMostPipelines) return;
    Groups larger;
    for (const Occurrence& occurrence : group) {
      const Rule& rule = program_.rules[occurrence.rule];
      for (uint32_t i = 0; i < rule.body.size(); ++i) {
        const Literal& literal = rule.body[i];
        const bool is_there =
            std::ranges::find(occurrence.literals, i) != occurrence.literals.end();
        if (is_there || (literal.kind == LiteralKind::Atom && atoms == kMostAtoms)) continue;
        if (!can_share(occurrence.rule, literal) || !hangs_together(occurrence, literal)) continue;
        Occurrence extended = occurrence;
        const std::string key = add(extended, i);
        larger[key].push_back(std::move(extended));
      }
    }
    for (const auto& [key, occurrences] : larger) {
      std::vector<Occurrence> apart = disjoint(occurrences);
      if (evaluations(apart) < 2 || !seen_.insert(identity(apart)).second) continue;
      for (Occurrence& occurrence : apart) std::ranges::sort(occurrence.literals);
      consider(apart);
      const Occurrence& first = occurrences.front();
      const bool atom =
          program_.rules[first.rule].body[first.literals.back()].kind == LiteralKind::Atom;
      grow(occurrences, atoms + (atom ? 1 : 0));
    }
  }

  // Those that have no literal in common, the first ones first.
  static std::vector<Occurrence> disjoint(const std::vector<Occurrence>& occurrences) {
    std::set<std::pair<uint32_t, uint32_t>> taken;
    std::vector<Occurrence> kept;
    for (const Occurrence& occurrence : occurrences) {
      const bool overlaps = std::ranges::any_of(occurrence.literals, [&](uint32_t i) {
        return taken.contains({occurrence.rule, i});
      });
      if (overlaps) continue;
      for (uint32_t i : occurrence.literals) taken.insert({occurrence.rule, i});
      kept.push_back(occurrence);
    }
    return kept;
  }

  static std::set<std::pair<uint32_t, uint32_t>> identity(const std::vector<Occurrence>& group) {
    std::set<std::pair<uint32_t, uint32_t>> literals;
    for (const Occurrence& occurrence : group) {
      for (uint32_t i : occurrence.literals) literals.insert({occurrence.rule, i});
    }
    return literals;
  }

  // The literals that see new rows, one for each version of a rule; one nothing where it has one.
  std::vector<std::optional<uint32_t>> versions(uint32_t r, const Rule& rule) const {
    std::vector<std::optional<uint32_t>> deltas;
    for (uint32_t i = 0; i < rule.body.size(); ++i) {
      const Literal& literal = rule.body[i];
      const bool grows = literal.kind == LiteralKind::Atom &&
                         component_of_rule_[r] != kHelperComponent &&
                         component_of(literal.pred) == component_of_rule_[r];
      if (grows) deltas.emplace_back(i);
    }
    if (deltas.empty()) deltas.emplace_back();
    return deltas;
  }

  size_t evaluations(const std::vector<Occurrence>& group) const {
    size_t count = 0;
    for (const Occurrence& occurrence : group) {
      count += versions(occurrence.rule, program_.rules[occurrence.rule]).size();
    }
    return count;
  }

  // ---- whether it pays ----

  // What a rule is expected to cost, in all its versions.
  struct RuleCost {
    double cost = 0;
    double solutions = 0;
    bool looks_up = false;  // the helper
  };

  StatisticsOf statistics(uint32_t component) const {
    return [this, component](PredId pred) {
      return (component_of(pred) == component ? begun_ : finished_)[pred.index];
    };
  }

  std::vector<Pipeline> build(uint32_t r) {
    const uint32_t component = component_of_rule_[r];
    const auto grows = [&](PredId pred) { return component_of(pred) == component; };
    std::vector<Pipeline> made;
    for (const auto& delta : versions(r, program_.rules[r])) {
      made.push_back(build_pipeline(program_, r, {delta, grows}, statistics(component)));
    }
    built_ += made.size();
    return made;
  }

  // Of a rule as it is, while candidates are looked at.
  const std::vector<Pipeline>& pipelines(uint32_t r) {
    auto known = pipelines_.find(r);
    if (known == pipelines_.end()) known = pipelines_.emplace(r, build(r)).first;
    return known->second;
  }

  RuleCost cost_of(uint32_t r, const std::vector<Pipeline>& versions,
                   std::optional<PredId> helper = {}) const {
    RuleCost sum;
    for (const Pipeline& pipeline : versions) {
      const Cost cost = plan::cost_of(pipeline, statistics(component_of_rule_[r]));
      sum.cost += cost.cost;
      sum.solutions += cost.solutions;
      for (const Step& step : pipeline.steps) {
        for (const Step* atom : atoms_of(step)) {
          sum.looks_up |= helper && atom->pred == *helper && !key_columns(*atom).empty();
        }
      }
    }
    return sum;
  }

  // Makes the change, looks at its cost, and takes it back.
  void consider(const std::vector<Occurrence>& occurrences) {
    const bool breaks = std::ranges::any_of(occurrences, [&](const Occurrence& occurrence) {
      return breaks_meet(program_.rules[occurrence.rule], occurrence.literals,
                         pipelines(occurrence.rule));
    });
    if (breaks) return;
    if (needed_variables(occurrences).empty()) return;
    Candidate candidate;
    candidate.occurrences = occurrences;
    const std::set<uint32_t> rules = rules_of(candidate);
    for (uint32_t r : rules) candidate.apart += cost_of(r, pipelines(r)).cost;
    if (sharing_ == Sharing::WherePays && candidate.apart < kLeastSaving) return;
    std::vector<Rule> before;
    for (uint32_t r : rules) before.push_back(program_.rules[r]);
    const PredId helper = rewrite(candidate);
    const uint32_t once = static_cast<uint32_t>(program_.rules.size() - 1);
    candidate.shared = cost_of(once, build(once)).cost;
    bool looks_up = false;
    for (uint32_t r : rules) {
      const RuleCost cost = cost_of(r, build(r), helper);
      candidate.shared += cost.cost;
      looks_up |= cost.looks_up;
    }
    // An index has to be made.
    constexpr double kSort = 4;
    if (looks_up) {
      candidate.shared += kSort * static_cast<double>(finished_[helper.index].rows);
    }
    take_back();
    size_t at = 0;
    for (uint32_t r : rules) program_.rules[r] = std::move(before[at++]);
    found_.push_back(std::move(candidate));
  }

  bool pays(const Candidate& candidate) const {
    if (sharing_ == Sharing::Everywhere) return true;
    return candidate.saving() >= kLeastSaving && candidate.apart >= kGain * candidate.shared;
  }

  // ---- rewriting ----

  static std::set<uint32_t> rules_of(const Candidate& candidate) {
    std::set<uint32_t> rules;
    for (const Occurrence& occurrence : candidate.occurrences) rules.insert(occurrence.rule);
    return rules;
  }

  // The numbers of variables that some rule uses outside of the join.
  std::vector<size_t> needed_variables(const std::vector<Occurrence>& occurrences) const {
    std::set<size_t> needed;
    for (const Occurrence& occurrence : occurrences) {
      const Rule& rule = program_.rules[occurrence.rule];
      std::vector<VarId> outside;
      for (uint32_t i = 0; i < rule.body.size(); ++i) {
        const bool inside = std::ranges::find(occurrence.literals, i) != occurrence.literals.end();
        if (!inside) lang::collect_variables(rule.body[i], outside);
      }
      for (const Term& arg : rule.head[0].args) lang::collect_variables(arg, outside);
      for (size_t v = 0; v < occurrence.variables.size(); ++v) {
        const bool used = std::ranges::find(outside, occurrence.variables[v]) != outside.end();
        // Every solution counts for an aggregate.
        if (used || !rule.aggregates.empty()) needed.insert(v);
      }
    }
    return {needed.begin(), needed.end()};
  }

  static JoinPlace place_of(const Occurrence& occurrence, const std::vector<size_t>& needed) {
    JoinPlace place{occurrence.literals, {}};
    for (size_t v : needed) place.columns.push_back(occurrence.variables[v]);
    return place;
  }

  // Adds the helper with its rule, and has the other rules read it.
  PredId rewrite(const Candidate& candidate) {
    const std::vector<size_t> needed = needed_variables(candidate.occurrences);
    const Occurrence& first = candidate.occurrences.front();
    const PredId pred =
        add_helper(program_, session_, "__xlog_shared_", first.rule, place_of(first, needed));
    std::map<uint32_t, std::vector<JoinPlace>> places;  // by rule
    for (const Occurrence& occurrence : candidate.occurrences) {
      places[occurrence.rule].push_back(place_of(occurrence, needed));
    }
    for (const auto& [rule, joins] : places) read_helper(program_.rules[rule], pred, joins);
    component_of_rule_.push_back(kHelperComponent);
    may_share_.push_back(true);
    begun_.emplace_back();
    const uint32_t r = static_cast<uint32_t>(program_.rules.size() - 1);
    const double solutions = cost_of(r, build(r)).solutions;
    finished_.push_back(expected_rows(program_.rules[r], solutions, statistics(kHelperComponent)));
    return pred;
  }

  void take_back() {
    remove_last_helper(program_);
    component_of_rule_.pop_back();
    may_share_.pop_back();
    begun_.pop_back();
    finished_.pop_back();
  }

  void share(const Candidate& candidate) {
    SharedJoin told = describe(candidate);
    const PredId pred = rewrite(candidate);
    told.helper = helper_text(program_, pred, session_.names);
    shared_.push_back(std::move(told));
  }

  void decline(const Candidate& candidate) {
    if (declined_.size() == kMostDeclined) return;
    declined_.push_back(describe(candidate));
  }

  SharedJoin describe(const Candidate& candidate) const {
    SharedJoin told;
    const Occurrence& first = candidate.occurrences.front();
    told.join = join_text(program_, program_.rules[first.rule], first.literals, session_.names);
    told.rules = static_cast<uint32_t>(rules_of(candidate).size());
    told.apart = candidate.apart;
    told.shared = candidate.shared;
    return told;
  }

  lang::Program& program_;
  const logic::Analysis& analysis_;
  lang::Session& session_;
  const Sharing sharing_;
  // By predicate, of components when they begin and when they are finished. What recursion will
  // add is not known: nothing is shared for its sake.
  std::vector<Statistics> begun_, finished_;
  std::vector<bool> is_table_;               // by predicate
  std::vector<uint32_t> component_of_rule_;  // by rule
  std::vector<bool> may_share_;              // by rule
  std::set<std::set<std::pair<uint32_t, uint32_t>>> seen_;
  std::vector<Candidate> found_;
  std::map<uint32_t, std::vector<Pipeline>> pipelines_;  // by rule
  size_t built_ = 0;
  std::vector<SharedJoin> shared_, declined_;
};

}  // namespace

std::vector<SharedJoin> share_joins(lang::Program& program, const logic::Analysis& analysis,
                                    lang::Session& session, Sharing sharing) {
  return JoinSharing(program, analysis, session, sharing).run();
}

std::string to_text(const std::vector<SharedJoin>& joins) {
  std::string text;
  for (const SharedJoin& join : joins) {
    const std::string rules = fmt::format("{} rule{}", join.rules, join.rules == 1 ? "" : "s");
    text +=
        join.helper.empty()
            ? fmt::format("not shared: {}\n  of {}: cost {:.0f}, a helper would make it {:.0f}\n",
                          join.join, rules, join.apart, join.shared)
            : fmt::format("shared: {} for {}\n  of {}: cost {:.0f} instead of {:.0f}\n",
                          join.helper, join.join, rules, join.shared, join.apart);
  }
  return text;
}

}  // namespace xlog::plan
