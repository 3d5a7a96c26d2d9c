#include "engine/open_instances.h"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "logic/components.h"
#include "logic/one_per_group.h"
#include "plan/cost.h"
#include "plan/relational.h"

namespace xlog::engine {

using lang::Literal;
using lang::LiteralKind;
using lang::PredId;
using lang::Rule;
using lang::Term;
using lang::TermKind;

namespace {

// What it costs the host to go on with a binding, in bindings that a device walks, and what it
// costs to fetch an instance, put it into order and look up its atoms.
constexpr double kWalk = 8;
constexpr double kFetch = 48;
constexpr double kLoad = 0.25;   // of a binding on the host: a row that only a walk needs there
constexpr double kLaunches = 8;  // a rule takes, about
constexpr double kSurely = 2;    // estimates are what they are

// One solution whatever `_` stands for: an atom that says that one of several holds.
bool has_union(const Rule& rule, const Literal& literal) {
  const bool is_plain = literal.modal == lang::Modal::None && literal.nots == 0;
  return !is_plain && std::ranges::any_of(literal.args, [&](const Term& arg) {
    return arg.kind == TermKind::Variable && rule.variables[arg.var.index].anonymous;
  });
}

}  // namespace

bool OpenInstances::has_open(PredId pred) const {
  const uint32_t component = analysis_.component_of[pred.index];
  return estimates_.alternates(component) && alternation_.has_undefined(component) &&
         database_[estimates_.open(pred)].rows() > 0;
}

// A head that is open; a literal of a constraint that is.
bool OpenInstances::can_matter(const Rule& rule) const {
  if (rule.head.empty()) {
    return std::ranges::any_of(rule.body, [&](const Literal& literal) {
      return literal.kind == LiteralKind::Atom && has_open(literal.pred);
    });
  }
  return std::ranges::any_of(rule.head, [&](const auto& head) { return has_open(head.pred); });
}

bool OpenInstances::folds_open(const Rule& rule) const {
  bool folds = false;
  logic::for_each_predicate(rule.body, [&](const Literal& literal, const Literal* folded) {
    folds |= folded != nullptr && has_open(literal.pred);
  });
  return folds;
}

// Whether the engine can find the instances of a rule over the bounds of what it reads: not those
// of a choice with bounds, which counts what its elements are, of what is folded, and of `_` that
// stands for one of several open atoms.
bool OpenInstances::can_find(uint32_t index) const {
  const Rule& rule = program_.rules[index];
  if (rule.lower || rule.upper || !rule.aggregates.empty()) return false;
  std::vector<PlainRule> plain = plain_rules(rule);
  if (plain.empty()) plain.emplace_back().rule = rule;
  return std::ranges::all_of(plain, [&](const PlainRule& one) {
    return !plan::why_not_relational(program_, one.rule) && !folds_open(one.rule) &&
           std::ranges::none_of(one.rule.body, [&](const Literal& literal) {
             return literal.kind == LiteralKind::Atom && has_open(literal.pred) &&
                    has_union(one.rule, literal);
           });
  });
}

plan::Statistics OpenInstances::statistics(PredId pred) {
  // The device's trouble shows in what follows.
  Result<plan::Statistics> known = database_.statistics(pred);
  return known.ok() ? *known : plan::Statistics{};
}

// The bindings that the literals of a body have one after another, as oracle/matcher.h takes them,
// where values are spread evenly, and the rows that it has to have on the host.
double OpenInstances::cost_of_walk(uint32_t index) {
  const Rule& rule = program_.rules[index];
  const auto possible = [&](PredId pred) {
    return estimates_.alternates(pred) ? estimates_.possible(pred) : pred;
  };
  std::vector<bool> bound(rule.variables.size(), false);
  double bindings = 1, cost = 0;
  for (const lang::HeadElement& head : rule.head) {
    cost += static_cast<double>(database_[possible(head.pred)].rows()) * kLoad;
  }
  const auto walk = [&](const std::vector<Literal>& body, const std::vector<uint32_t>& sequence) {
    for (const uint32_t i : sequence) {
      const Literal& literal = body[i];
      if (literal.kind == LiteralKind::Atom && !is_negative(literal)) {
        const plan::Statistics known = statistics(possible(literal.pred));
        const double rows = std::max(1.0, static_cast<double>(known.rows));
        cost += rows * kLoad;
        double keys = 1, bound_columns = 0;
        for (size_t c = 0; c < literal.args.size(); ++c) {
          const Term& arg = literal.args[c];
          if (arg.kind == TermKind::Variable && !bound[arg.var.index]) continue;
          ++bound_columns;
          if (!known.distinct.empty()) keys *= static_cast<double>(known.distinct[c]);
        }
        if (known.distinct.empty() && bound_columns > 0) {
          keys = std::pow(rows, bound_columns / static_cast<double>(literal.args.size()));
        }
        bindings *= rows / std::clamp(keys, 1.0, rows);
      }
      if (literal.kind != LiteralKind::Compare) cost += bindings;
      std::vector<lang::VarId> variables;
      lang::collect_variables(literal, variables);
      for (const lang::VarId v : variables) bound[v.index] = true;
    }
  };
  walk(rule.body, analysis_.orders[index].body.sequence);
  const double of_body = bindings;
  for (size_t e = 0; e < rule.head.size() && rule.head_kind == lang::HeadKind::Choice; ++e) {
    bindings = of_body;
    walk(rule.head[e].condition, analysis_.orders[index].conditions[e].sequence);
  }
  return cost;
}

bool OpenInstances::pays(uint32_t rule, const std::vector<Estimates::Instances>& instances) {
  const plan::StatisticsOf statistics_of = [this](PredId pred) { return statistics(pred); };
  double cost = 0;
  for (const Estimates::Instances& one : instances) {
    for (const uint32_t r : estimates_.analysis().components[one.component].rules) {
      const plan::Cost of_rule =
          plan::cost_of(plan::build_pipeline(program_, r, {}, statistics_of), statistics_of);
      cost += of_rule.cost + of_rule.solutions * kFetch + kLaunches * kRowsOfLaunch * kWalk;
    }
  }
  return cost * kSurely < cost_of_walk(rule) * kWalk;
}

Status OpenInstances::consider(uint32_t rule, OpenComponents open) {
  if (!can_matter(program_.rules[rule])) return Done{};
  ++figures_.left;
  if (!can_find(rule)) return Done{};
  const std::vector<Estimates::Instances> instances = estimates_.add_instances(
      rule, [this](PredId pred) { return has_open(pred); }, database_.names());
  if (open == OpenComponents::WherePays && !pays(rule, instances)) return Done{};
  --figures_.left;
  ++figures_.rules;
  return find(rule, instances);
}

Status OpenInstances::find(uint32_t rule, const std::vector<Estimates::Instances>& instances) {
  for (const Estimates::Instances& one : instances) {
    Rules::Kept kept;
    kept.counts_valueless = false;
    ComponentRun run;
    if (Status bounded = domains_.bound(one.component); !bounded.ok()) return bounded;
    if (Status done = rules_.grow(one.component, kept, run); !done.ok()) return done;
    const PredId pred = estimates_.analysis().components[one.component].predicates.front();
    Result<Rows> rows = database_.columns(pred);
    if (!rows.ok()) return rows.error();
    rules_.clear(one.component, kept);
    figures_.instances += rows->count;
    oracle::Preset::Instances& found = found_[rule].emplace_back();
    found.variables = one.variables;
    found.rows.rows = rows->count;
    found.rows.columns = std::move(rows->columns);
  }
  return Done{};
}

Status OpenInstances::find_all(const std::vector<Placement>& placements, OpenComponents open) {
  const bool any = std::ranges::any_of(placements, &Placement::bounded);
  if (!any || open == OpenComponents::Left || open == OpenComponents::Bounded) return Done{};
  const auto begin = std::chrono::steady_clock::now();
  const device::Counters before = device_.counters();
  const auto is_here = [&](PredId pred) {
    const Placement& placement = placements[analysis_.component_of[pred.index]];
    return placement.on_device || placement.bounded;
  };
  for (const Placement& placement : placements) {
    if (!placement.bounded) continue;
    for (const uint32_t r : analysis_.components[placement.component].rules) {
      if (Status done = consider(r, open); !done.ok()) return done;
    }
  }
  for (const uint32_t r : analysis_.constraints) {
    const std::vector<Literal>& body = program_.rules[r].body;
    const bool all_here = std::ranges::all_of(body, [&](const Literal& literal) {
      return literal.kind != LiteralKind::Atom || is_here(literal.pred);
    });
    // All pairs of rows are not asked for where one bound says the same of them.
    if (!all_here || logic::one_per_group(program_, r, analysis_.component_of)) continue;
    if (Status done = consider(r, open); !done.ok()) return done;
  }
  const device::Counters after = device_.counters();
  figures_.launches = after.launches - before.launches;
  figures_.bytes_from_device = after.bytes_from_device - before.bytes_from_device;
  figures_.seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return Done{};
}

std::vector<bool> OpenInstances::rules() const {
  std::vector<bool> has(program_.rules.size(), false);
  for (const auto& [rule, instances] : found_) has[rule] = true;
  return has;
}

std::vector<oracle::Preset::Instances> OpenInstances::take(uint32_t rule) {
  return std::move(found_.extract(rule).mapped());
}

}  // namespace xlog::engine
