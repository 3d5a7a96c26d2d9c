#include "engine/placement.h"

#include <fmt/format.h>

#include <algorithm>

#include "engine/plain_rules.h"
#include "logic/components.h"
#include "logic/memory_report.h"
#include "oracle/instantiate.h"
#include "plan/estimate.h"
#include "plan/relational.h"

namespace xlog::engine {

namespace {

using lang::Literal;
using lang::LiteralKind;
using lang::PredId;
using lang::Rule;
using lang::Term;

// What a rule without recursion takes, about, with its share of what is done for each relation.
constexpr uint64_t kLaunchesOfRule = 8;

// Division by zero, and floats that are no integers.
bool may_have_no_value(const Term& term) {
  const bool partial = term.kind == lang::TermKind::Arith &&
                       (term.op == lang::ArithOp::Div || term.op == lang::ArithOp::Mod ||
                        term.op == lang::ArithOp::Cast);
  return (partial && lang::is_integer(term.type.kind)) ||
         std::ranges::any_of(term.args, may_have_no_value);
}

bool may_have_no_value(const Literal& literal) {
  const auto in = [](const auto& parts) {
    return std::ranges::any_of(parts, [](const auto& part) { return may_have_no_value(part); });
  };
  return in(literal.args) || may_have_no_value(literal.lhs) || may_have_no_value(literal.rhs) ||
         in(literal.body);
}

// Anywhere in it.
bool may_have_no_value(const Rule& rule) {
  const auto in = [](const auto& parts) {
    return std::ranges::any_of(parts, [](const auto& part) { return may_have_no_value(part); });
  };
  return in(rule.body) ||
         std::ranges::any_of(rule.head, [&](const auto& head) { return in(head.condition); }) ||
         std::ranges::any_of(rule.aggregates,
                             [](const auto& a) { return may_have_no_value(a.value); }) ||
         (rule.lower && may_have_no_value(*rule.lower)) ||
         (rule.upper && may_have_no_value(*rule.upper));
}

class Placing {
 public:
  Placing(const lang::Program& program, const logic::Analysis& analysis,
          const plan::Prepared& prepared, const logic::AnswerOptions& options,
          const lang::Names& names, OpenComponents open)
      : program_(program),
        analysis_(analysis),
        prepared_(prepared),
        options_(options),
        names_(names) {
    if (options.well_founded || analysis.determined || open == OpenComponents::Left) return;
    if (open == OpenComponents::WherePays) {
      placed_.open_rows = expected_open_rows();
      placed_.too_few = *placed_.open_rows < kRowsOfLaunch * kLaunchesOfRule * open_rules();
    }
    bounds_open_ = !placed_.too_few;
    if (bounds_open_) find_counted();
  }

  Placements run() {
    for (uint32_t c = 0; c < analysis_.components.size(); ++c) {
      const bool settled = oracle::is_settled(analysis_.components[c], options_);
      if (!settled && !options_.well_founded) {
        place_open(c);
        continue;
      }
      placed_.alternates.push_back(!settled);
      std::string reason = obstacle(c, settled);
      if (reason.empty()) reason = obstacle_below(c);
      placed_.components.push_back({c, reason.empty(), reason});
      if (!reason.empty()) leave(c, std::move(reason));
    }
    for (uint32_t r : analysis_.constraints) {
      const auto copy = prepared_.constraints.find(r);
      const Rule& rule = program_.rules[copy == prepared_.constraints.end() ? r : copy->second];
      const bool fits = !plan::why_not_relational(program_, rule) && over_estimates(rule).empty() &&
                        !(reads_estimates(rule) && has_partial_arithmetic(rule));
      placed_.all_on_device &= fits;
    }
    if (options_.well_founded && !placed_.all_on_device) leave_what_the_reference_needs();
    if (placed_.too_few) leave_few_facts();
    return std::move(placed_);
  }

 private:
  void leave(uint32_t c, std::string reason) {
    placed_.components[c] = {c, false, std::move(reason), placed_.components[c].open};
    placed_.alternates[c] = false;
    placed_.all_on_device = false;
  }

  // Whether a predicate of a component that is evaluated by estimates, or may yet be.
  bool is_estimated(PredId pred) const {
    return placed_.alternates[analysis_.component_of[pred.index]];
  }

  // Why the rules of a component cannot run on the device; "" when they can.
  std::string obstacle(uint32_t c, bool settled) const {
    const logic::Component& component = analysis_.components[c];
    if (auto reason = plan::why_not_relational(program_, component)) return *reason;
    for (uint32_t r : component.rules) {
      const Rule& rule = program_.rules[r];
      if (settled) break;
      if (std::string reason = over_estimates(rule); !reason.empty()) return reason;
    }
    const bool partial = std::ranges::any_of(
        component.rules, [&](uint32_t r) { return has_partial_arithmetic(program_.rules[r]); });
    if (!settled && partial && reads_estimates(c)) {
      // Which of its instances count is a matter of all rows that the reference thinks of.
      return "arithmetic that may have no value, over rows that may be undefined";
    }
    return "";
  }

  // ---- components that differ between worlds ----

  void place_open(uint32_t c) {
    const logic::Component& component = analysis_.components[c];
    std::string reason = component.reason.empty() ? "it is not determined" : component.reason;
    placed_.all_on_device = false;
    placed_.alternates.push_back(bounds_open_);
    if (bounds_open_) {
      std::string unbounded = why_not_bounded(c);
      if (unbounded.empty()) unbounded = obstacle_below(c);
      placed_.alternates[c] = unbounded.empty();
      if (!unbounded.empty()) reason += "; no bounds before that: " + unbounded;
    }
    placed_.components.push_back({c, false, std::move(reason), true, placed_.alternates[c]});
  }

  uint64_t open_rules() const {
    uint64_t rules = 0;
    for (const logic::Component& component : analysis_.components) {
      if (!oracle::is_settled(component, options_)) rules += component.rules.size();
    }
    return rules;
  }

  // In all components that differ between worlds.
  uint64_t expected_open_rows() const {
    plan::Estimates estimates(program_, analysis_);
    uint64_t rows = 0;
    for (uint32_t c = 0; c < analysis_.components.size(); ++c) {
      estimates.begin(c);
      estimates.finish(c);
      if (oracle::is_settled(analysis_.components[c], options_)) continue;
      for (PredId pred : analysis_.components[c].predicates) rows += estimates[pred].rows;
    }
    return rows;
  }

  std::string why_not_bounded(uint32_t c) const {
    if (counted_[c]) return "arithmetic that may have no value";
    for (PredId pred : analysis_.components[c].predicates) {
      if (auto reason = plan::why_not_relational(program_[pred])) return *reason;
    }
    for (uint32_t r : analysis_.components[c].rules) {
      for (const PlainRule& plain : plain_rules(program_.rules[r])) {
        if (auto reason = plan::why_not_relational(program_, plain.rule)) return *reason;
        if (std::string over = aggregate_over_estimates(plain.rule); !over.empty()) return over;
      }
    }
    return "";
  }

  std::string aggregate_over_estimates(const Rule& rule) const {
    std::optional<PredId> over;
    logic::for_each_predicate(rule.body, [&](const Literal& literal, const Literal* folded) {
      const bool folds = folded != nullptr || !rule.aggregates.empty();
      if (folds && !over && is_estimated(literal.pred)) over = literal.pred;
    });
    if (!over) return "";
    return fmt::format("an aggregate over {}, which may have undefined rows",
                       lang::predicate_signature(program_[*over], names_));
  }

  // Instances whose arithmetic has no value are counted over all rows that the reference thinks of:
  // rules with such arithmetic, and whatever open rows they read, directly or not, are its own.
  void find_counted() {
    counted_.assign(analysis_.components.size(), false);
    for (const Rule& rule : program_.rules) {
      if (!may_have_no_value(rule)) continue;
      for (const lang::HeadElement& head : rule.head) count_over(head.pred);
      logic::for_each_predicate(
          rule.body, [&](const Literal& literal, const Literal*) { count_over(literal.pred); });
    }
  }

  void count_over(PredId pred) {
    const uint32_t c = analysis_.component_of[pred.index];
    if (counted_[c] || oracle::is_settled(analysis_.components[c], options_)) return;
    counted_[c] = true;
    for (PredId member : analysis_.components[c].predicates) {
      for (const logic::Edge& edge : logic::edges_to(analysis_.edges, member)) {
        count_over(edge.from);
      }
    }
  }

  // Why the two estimates do not bound the body of a rule.
  std::string over_estimates(const Rule& rule) const {
    if (std::string over = aggregate_over_estimates(rule); !over.empty()) return over;
    for (const Literal& literal : rule.body) {
      if (literal.kind != LiteralKind::Atom || !is_estimated(literal.pred)) continue;
      const std::string name = lang::predicate_signature(program_[literal.pred], names_);
      if (literal.modal != lang::Modal::None) {
        return fmt::format("a modal literal over {}, which may have undefined rows", name);
      }
      if (literal.nots == 2) {
        return fmt::format("`not not` over {}, which may have undefined rows", name);
      }
    }
    return "";
  }

  bool reads_estimates(const Rule& rule) const {
    return std::ranges::any_of(rule.body, [&](const Literal& literal) {
      return literal.kind == LiteralKind::Atom && is_estimated(literal.pred);
    });
  }

  // Of components below it.
  bool reads_estimates(uint32_t c) const {
    for (PredId pred : analysis_.components[c].predicates) {
      for (const logic::Edge& edge : logic::edges_to(analysis_.edges, pred)) {
        const bool below = analysis_.component_of[edge.from.index] != c;
        if (below && is_estimated(edge.from)) return true;
      }
    }
    return false;
  }

  static bool has_partial_arithmetic(const Rule& rule) {
    const auto is_partial = [](const Literal& literal) {
      return literal.kind == LiteralKind::Compare &&
             (may_have_no_value(literal.lhs) || may_have_no_value(literal.rhs));
    };
    return std::ranges::any_of(rule.body, is_partial) ||
           std::ranges::any_of(rule.aggregates,
                               [](const auto& a) { return may_have_no_value(a.value); });
  }

  std::string obstacle_below(uint32_t c) const {
    for (PredId pred : analysis_.components[c].predicates) {
      for (const logic::Edge& edge : logic::edges_to(analysis_.edges, pred)) {
        const uint32_t below = analysis_.component_of[edge.from.index];
        if (below == c || placed_.components[below].on_device) continue;
        if (placed_.components[below].bounded) continue;
        return fmt::format("it reads {}", lang::predicate_signature(program_[edge.from], names_));
      }
    }
    return "";
  }

  // Whoever searches for worlds has the facts at hand.
  void leave_few_facts() {
    for (uint32_t c = 0; c < analysis_.components.size(); ++c) {
      const logic::Component& component = analysis_.components[c];
      if (!placed_.components[c].on_device || !component.rules.empty()) continue;
      const lang::FactTable* facts = program_[component.predicates.front()].facts.get();
      const bool is_read = std::ranges::any_of(analysis_.edges, [&](const logic::Edge& edge) {
        return analysis_.component_of[edge.from.index] == c &&
               placed_.components[analysis_.component_of[edge.to.index]].on_device;
      });
      if (is_read || (facts != nullptr && facts->rows > kRowsOfLaunch)) continue;
      leave(c, "few facts, and nothing on the device reads them");
    }
  }

  // The reference evaluator takes over rows that are settled, and instantiates what is not.
  void leave_what_the_reference_needs() {
    for (uint32_t r : analysis_.constraints) {
      logic::for_each_predicate(
          program_.rules[r].body, [&](const Literal& literal, const Literal*) {
            if (is_estimated(literal.pred)) {
              leave(analysis_.component_of[literal.pred.index],
                    "a constraint reads it that the reference evaluator judges");
            }
          });
    }
    while (leave_neighbours()) continue;
  }

  // An estimate neither reads what the reference evaluates nor is read by it. Whether one was left.
  bool leave_neighbours() {
    bool changed = false;
    for (const logic::Edge& edge : analysis_.edges) {
      const uint32_t below = analysis_.component_of[edge.from.index];
      const uint32_t above = analysis_.component_of[edge.to.index];
      if (is_estimated(edge.from) && !placed_.components[above].on_device) {
        leave(below, fmt::format("{} reads it, which is not evaluated on the device",
                                 logic::relation_name(edge.to, program_, names_)));
        changed = true;
      } else if (is_estimated(edge.to) && !placed_.components[below].on_device) {
        leave(above,
              fmt::format("it reads {}", lang::predicate_signature(program_[edge.from], names_)));
        changed = true;
      }
    }
    return changed;
  }

  const lang::Program& program_;
  const logic::Analysis& analysis_;
  const plan::Prepared& prepared_;
  const logic::AnswerOptions& options_;
  const lang::Names& names_;
  bool bounds_open_ = false;
  std::vector<bool> counted_;  // by component: what W0903 counts depends on all its rows
  Placements placed_;
};

}  // namespace

Placements place_components(const lang::Program& program, const logic::Analysis& analysis,
                            const plan::Prepared& prepared, const logic::AnswerOptions& options,
                            const lang::Names& names, OpenComponents open) {
  return Placing(program, analysis, prepared, options, names, open).run();
}

}  // namespace xlog::engine
