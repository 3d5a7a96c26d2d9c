#include "engine/placement.h"

#include <fmt/format.h>

#include <algorithm>

#include "logic/components.h"
#include "logic/memory_report.h"
#include "oracle/instantiate.h"
#include "plan/relational.h"

namespace xlog::engine {

namespace {

using lang::Literal;
using lang::LiteralKind;
using lang::PredId;
using lang::Rule;
using lang::Term;

// Division by zero, and floats that are no integers.
bool may_have_no_value(const Term& term) {
  const bool partial = term.kind == lang::TermKind::Arith &&
                       (term.op == lang::ArithOp::Div || term.op == lang::ArithOp::Mod ||
                        term.op == lang::ArithOp::Cast);
  return (partial && lang::is_integer(term.type.kind)) ||
         std::ranges::any_of(term.args, may_have_no_value);
}

class Placing {
 public:
  Placing(const lang::Program& program, const logic::Analysis& analysis,
          const plan::Prepared& prepared, const logic::AnswerOptions& options,
          const lang::Names& names)
      : program_(program),
        analysis_(analysis),
        prepared_(prepared),
        options_(options),
        names_(names) {}

  Placements run() {
    for (uint32_t c = 0; c < analysis_.components.size(); ++c) {
      const bool settled = oracle::is_settled(analysis_.components[c], options_);
      placed_.alternates.push_back(!settled && options_.well_founded);
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
    if (!placed_.all_on_device) leave_what_the_reference_needs();
    return std::move(placed_);
  }

 private:
  void leave(uint32_t c, std::string reason) {
    placed_.components[c] = {c, false, std::move(reason)};
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
    if (!settled && !options_.well_founded) {
      return component.reason.empty() ? "it is not determined" : component.reason;
    }
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

  // Why the two estimates do not bound the body of a rule.
  std::string over_estimates(const Rule& rule) const {
    for (const Literal& literal : rule.body) {
      if (literal.kind != LiteralKind::Atom || !is_estimated(literal.pred)) continue;
      const std::string name = lang::predicate_signature(program_[literal.pred], names_);
      if (!rule.aggregates.empty()) {
        return fmt::format("an aggregate over {}, which may have undefined rows", name);
      }
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
           std::ranges::any_of(rule.aggregates, may_have_no_value, &lang::HeadAggregate::value);
  }

  std::string obstacle_below(uint32_t c) const {
    for (PredId pred : analysis_.components[c].predicates) {
      for (const logic::Edge& edge : logic::edges_to(analysis_.edges, pred)) {
        const uint32_t below = analysis_.component_of[edge.from.index];
        if (below == c || placed_.components[below].on_device) continue;
        return fmt::format("it reads {}", lang::predicate_signature(program_[edge.from], names_));
      }
    }
    return "";
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
  Placements placed_;
};

}  // namespace

Placements place_components(const lang::Program& program, const logic::Analysis& analysis,
                            const plan::Prepared& prepared, const logic::AnswerOptions& options,
                            const lang::Names& names) {
  return Placing(program, analysis, prepared, options, names).run();
}

}  // namespace xlog::engine
