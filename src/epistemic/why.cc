#include "epistemic/why.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <map>
#include <set>

#include "base/check.h"
#include "engine/proof_print.h"
#include "epistemic/failed_rules.h"
#include "epistemic/over_views.h"
#include "epistemic/rule_instances.h"
#include "epistemic/scope.h"
#include "epistemic/shown_worlds.h"
#include "oracle/report.h"

namespace xlog::epistemic {

using lang::Modal;
using lang::Value;
using oracle::AtomId;
using oracle::GroundHead;
using oracle::GroundKind;
using oracle::GroundLiteral;
using oracle::GroundRule;
using oracle::Truth;

namespace {

constexpr size_t kMostNodes = 300;
constexpr uint32_t kMostDepth = 40;
constexpr size_t kMostCases = 3;
constexpr uint64_t kMostTried = 10'000;  // instances of a rule, to find the one that is meant

std::string in_all(const mpz_class& worlds) {
  if (worlds == 1) return "in every world";
  return fmt::format("in all {} worlds", logic::short_text(worlds));
}

class Explainer {
 public:
  explicit Explainer(Findings& findings)
      : findings_(findings),
        views_(findings.view_count()),
        rules_(findings.instance().ground),
        instances_(findings),
        worlds_(findings),
        failed_rules_(findings, instances_, worlds_) {}

  // A view of the atom's cluster with the status that is to be explained.
  RowWhy row(AtomId atom, WhyQuestion question) {
    row_ = {};
    memo_.clear();
    scopes_.clear();
    row_.fact = findings_.text(atom);
    const ClusterCounts counts = cluster_counts(findings_, atom);
    row_.known_in = share_of(views_, counts.known, counts.views);
    row_.possible_in = share_of(views_, counts.possible, counts.views);
    const uint32_t view = choose_view(atom, question);
    row_.status = findings_.status(atom, view);
    cluster_ = Units::kNone;
    if (!findings_.decided(atom)) {
      cluster_ = findings_.cluster_of(atom);
      row_.worlds = unit_view(atom, view).worlds;
    }
    Scope& every = scopes_.emplace_back(findings_, rules_, view, cluster_);
    switch (row_.status) {
      case AtomStatus::Always:
        atom_node(atom, every, 0);
        break;
      case AtomStatus::Sometimes:
        explain_possible(atom, question, view);
        break;
      case AtomStatus::Never:
        row_.failed = failed_rules_.explain(atom, every);
        break;
    }
    return std::move(row_);
  }

  // Of a row that no instance of a rule has.
  RowWhy missing(lang::PredId pred, const std::vector<std::optional<Value>>& values,
                 std::string text) {
    row_ = {};
    row_.fact = std::move(text);
    row_.failed = failed_rules_.explain_missing(pred, values);
    return std::move(row_);
  }

 private:
  // A node or a failed instance.
  template <typename Named>
  void name_rule(uint32_t r, Named& named) const {
    const oracle::Context& context = findings_.context();
    named.rule = engine::rule_text(context.program.rules[r], context.program, context.session);
    named.rule_span = context.program.rules[r].span;
  }

  uint32_t choose_view(AtomId atom, WhyQuestion question) const {
    if (findings_.decided(atom)) return 0;
    using enum AtomStatus;
    const std::vector<AtomStatus> wanted = question == WhyQuestion::Why
                                               ? std::vector{Always, Sometimes}
                                               : std::vector{Never, Sometimes};
    const uint32_t views = findings_.views().views_of(findings_.cluster_of(atom));
    for (const AtomStatus status : wanted) {
      for (uint32_t v = 0; v < views; ++v) {
        if (findings_.status(atom, v) == status) return v;
      }
    }
    return 0;
  }

  const View& unit_view(AtomId atom, uint32_t view) const {
    return findings_.views().view(findings_.views().units().unit_of(atom), view);
  }

  // ---- what holds in some worlds ----

  void explain_possible(AtomId atom, WhyQuestion question, uint32_t view) {
    const std::optional<std::vector<AtomId>> with = worlds_.find(atom, true, view);
    const std::optional<std::vector<AtomId>> without = worlds_.find(atom, false, view);
    XLOG_CHECK(with && without, "an atom of some worlds");
    row_.with = worlds_.shown(*with, view);
    row_.without = worlds_.shown(*without, view);
    const uint32_t unit = findings_.views().units().unit_of(atom);
    if (question == WhyQuestion::Why) {
      atom_node(atom, scopes_.emplace_back(findings_, rules_, view, cluster_, unit, *with), 0);
    } else {
      row_.failed = failed_rules_.explain(
          atom, scopes_.emplace_back(findings_, rules_, view, cluster_, unit, *without));
    }
  }

  // ---- what holds ----

  uint32_t add(WhyKind kind, std::string text, std::string note = "") {
    WhyNode& node = row_.nodes.emplace_back();
    node.kind = kind;
    node.text = std::move(text);
    node.note = std::move(note);
    return static_cast<uint32_t>(row_.nodes.size() - 1);
  }

  bool is_full(uint32_t depth) const {
    return row_.nodes.size() >= kMostNodes || depth >= kMostDepth;
  }

  // Of an atom that holds in the scope.
  uint32_t atom_node(AtomId atom, Scope& scope, uint32_t depth) {
    const oracle::Database::Atom& at = findings_.instance().database.atoms[atom];
    if (!at.pred.valid()) return member_node(atom, scope, depth);
    const std::string text = findings_.text(atom);
    if (!memo_.insert({&scope, atom}).second) return add(WhyKind::Again, text, "shown above");
    if (is_full(depth)) return add(WhyKind::Cut, text, "not shown: ask for it by itself");
    const std::optional<uint32_t> rule = scope.founding_rule(atom);
    if (!rule) return cases_node(atom, scope, depth);
    return rule_node(atom, *rule, scope, depth);
  }

  // One of several atoms holds: the first of those that do in the whole scope.
  uint32_t member_node(AtomId atom, Scope& scope, uint32_t depth) {
    for (const uint32_t r : rules_[atom]) {
      const GroundRule rule = findings_.instance().ground.rules[r];
      if (rule.body.size() == 1 && scope.truth(rule.body[0]) == Truth::True) {
        return atom_node(rule.body[0].index, scope, depth);
      }
    }
    return add(WhyKind::Condition, findings_.text(atom), "a different one in different worlds");
  }

  uint32_t rule_node(AtomId atom, uint32_t ground_rule, Scope& scope, uint32_t depth) {
    const GroundRule rule = findings_.instance().ground.rules[ground_rule];
    const std::string text = findings_.text(atom);
    if (rule.source == UINT32_MAX) return fact_node(atom, text);
    const bool is_free = rule.kind == GroundHead::Choice || rule.heads.size() > 1;
    const uint32_t id = add(is_free ? WhyKind::Chosen : WhyKind::Derived, text,
                            rule.kind == GroundHead::Choice ? "chosen" : "");
    name_rule(rule.source, row_.nodes[id]);
    const oracle::Database::Atom& at = findings_.instance().database.atoms[atom];
    const std::string key = remaining_key(rule.body, findings_.instance().ground);
    std::optional<RuleInstance> meant;
    uint64_t tried = 0;
    instances_.for_each(rule.source, at.pred, row_of(atom), [&](const RuleInstance& instance) {
      if (!meant || instance.remaining == key) meant = instance;
      return instance.remaining != key && ++tried < kMostTried;
    });
    if (!meant) return id;
    std::vector<uint32_t> children;
    for (const InstanceLiteral& literal : meant->body) {
      children.push_back(literal_node(literal, scope, depth + 1));
    }
    row_.nodes[id].children = std::move(children);
    return id;
  }

  std::span<const Value> row_of(AtomId atom) const {
    const oracle::Database& database = findings_.instance().database;
    const oracle::Database::Atom& at = database.atoms[atom];
    return database.relations[at.pred.index].row(at.row);
  }

  uint32_t fact_node(AtomId atom, const std::string& text) {
    const uint32_t id = add(WhyKind::Fact, text);
    const oracle::Database::Atom& at = findings_.instance().database.atoms[atom];
    const auto& facts = findings_.context().program[at.pred].facts;
    // Facts are the first rows of an open predicate, in their order.
    if (facts != nullptr && at.row < facts->rows) {
      row_.nodes[id].span = lang::fact_span(*facts, at.row, findings_.context().session.sources);
    }
    return id;
  }

  // In every world, by different rules in different ones.
  uint32_t cases_node(AtomId atom, Scope& scope, uint32_t depth) {
    const uint32_t view = scope.cluster_view();
    const uint32_t id = add(WhyKind::Cases, findings_.text(atom));
    if (scope.is_one_world() || findings_.decided(atom)) return id;
    row_.nodes[id].note = in_all(unit_view(atom, view).worlds);
    const uint32_t unit = findings_.views().units().unit_of(atom);
    std::vector<uint32_t> children;
    std::set<uint32_t> used;
    for (const uint32_t r : rules_[atom]) {
      if (children.size() == kMostCases || is_full(depth)) break;
      const GroundRule rule = findings_.instance().ground.rules[r];
      std::vector<ExampleWorlds::Wish> wishes = {{atom, true}};
      bool may_hold = true;
      for (const GroundLiteral& literal : rule.body) {
        may_hold &= scope.truth(literal) != Truth::False;
        if (scope.truth(literal) != Truth::Unknown || literal.kind == GroundKind::Aggregate) {
          continue;
        }
        wishes.emplace_back(literal.index, literal.kind != GroundKind::Neg);
      }
      for (const AtomId other : rule.heads) {
        if (other != atom && !findings_.decided(other)) wishes.emplace_back(other, false);
      }
      if (!may_hold) continue;
      const auto found = worlds_.of(atom, view).find(wishes);
      if (!found) continue;
      Scope& one = scopes_.emplace_back(findings_, rules_, view, cluster_, unit, *found);
      const uint32_t child = rule_node(atom, r, one, depth + 1);
      row_.nodes[child].world = worlds_.shown(*found, view);
      children.push_back(child);
    }
    row_.nodes[id].children = std::move(children);
    return id;
  }

  uint32_t literal_node(const InstanceLiteral& literal, Scope& scope, uint32_t depth) {
    const bool is_atom = literal.literal->kind == lang::LiteralKind::Atom;
    if (!is_atom) return add(WhyKind::Condition, literal.text);
    if (!literal.open) return settled_node(literal);
    switch (literal.open->kind) {
      case GroundKind::Pos:
      case GroundKind::NotNot:
        return atom_node(literal.open->index, scope, depth);
      case GroundKind::Neg:
        return add(WhyKind::Absent, literal.text,
                   scope.is_one_world() ? "not in this world" : "in no world");
      case GroundKind::Modal:
        return modal_node(literal, scope, depth);
      case GroundKind::Aggregate:
        break;
    }
    return add(WhyKind::Condition, literal.text);
  }

  // Over rows that are the same in all worlds.
  uint32_t settled_node(const InstanceLiteral& literal) {
    const bool has_row = !literal.row.empty() || literal.literal->args.empty();
    const Modal modal = literal.literal->modal;
    const bool is_negated = modal == Modal::None
                                ? literal.literal->nots == 1
                                : modal == Modal::NotKnow || modal == Modal::NotPossible;
    if (is_negated) return add(WhyKind::Absent, literal.text, "no such row");
    const uint32_t id = add(WhyKind::Determined, literal.text);
    const lang::PredId pred = literal.literal->pred;
    const oracle::Database& database = findings_.instance().database;
    const bool is_settled = database.states[pred.index] == oracle::PredicateState::Settled;
    if (has_row && is_settled) {
      row_.nodes[id].pred = pred;
      row_.nodes[id].row = literal.row;
    }
    return id;
  }

  uint32_t modal_node(const InstanceLiteral& literal, Scope& scope, uint32_t depth) {
    const AtomId atom = literal.open->index;
    const uint32_t view = scope.cluster_view();
    const AtomStatus status = findings_.status(atom, view);
    const uint32_t id = add(WhyKind::Modal, literal.text);
    const auto worlds = [&] {
      return findings_.decided(atom) ? mpz_class(1) : unit_view(atom, view).worlds;
    };
    if (status == AtomStatus::Never) {
      row_.nodes[id].note = "in no world";
      return id;
    }
    if (status == AtomStatus::Always) {
      row_.nodes[id].note = findings_.decided(atom) ? "in every world" : in_all(worlds());
      Scope& every = scopes_.front();
      const uint32_t child = atom_node(atom, every, depth + 1);
      row_.nodes[id].children.push_back(child);
      return id;
    }
    const bool wants_it = !is_negated(literal.open->modal);
    row_.nodes[id].note = wants_it ? "in some world" : "not in every world";
    if (const auto found = worlds_.find(atom, wants_it, view))
      row_.nodes[id].world = worlds_.shown(*found, view);
    return id;
  }

  Findings& findings_;
  mpz_class views_;
  RulesByHead rules_;
  RuleInstances instances_;
  ShownWorlds worlds_;
  FailedRules failed_rules_;
  RowWhy row_;
  uint32_t cluster_ = Units::kNone;
  std::deque<Scope> scopes_;  // every world of the view first
  std::set<std::pair<const Scope*, AtomId>> memo_;
};

// ---- rows that fit the goal ----

struct Candidate {
  std::vector<Value> values;
  AtomId atom;
  bool answers;  // what is asked
};

std::vector<Candidate> fitting_rows(const Findings& findings, WhyQuestion question) {
  oracle::Context& context = findings.context();
  const lang::Goal& goal = *context.program.goal;
  std::vector<Candidate> rows;
  oracle::Bindings bindings(goal.variables.size());
  oracle::for_each_row(
      findings.instance().database, goal.pred,
      [&](std::span<const Value> tuple, std::optional<AtomId> atom) {
        context.tick();
        const size_t mark = bindings.mark();
        bool fits = atom.has_value();
        for (size_t c = 0; c < tuple.size() && fits; ++c) {
          fits = oracle::match_pattern(
              goal.args[c], tuple[c], bindings, context.names(),
              [](const lang::Term&) -> std::optional<Value> { return std::nullopt; });
        }
        bindings.undo(mark);
        if (!fits) return;
        const ClusterCounts counts = cluster_counts(findings, *atom);
        rows.push_back(
            {{tuple.begin(), tuple.end()},
             *atom,
             question == WhyQuestion::Why ? counts.possible > 0 : counts.known < counts.views});
      });
  std::ranges::sort(rows, [&](const Candidate& a, const Candidate& b) {
    return std::ranges::lexicographical_compare(
        a.values, b.values,
        [&](const Value& x, const Value& y) { return lang::compare(x, y, context.names()) < 0; });
  });
  return rows;
}

}  // namespace

std::string_view spelling(WhyKind kind) {
  switch (kind) {
    case WhyKind::Derived:
      return "derived";
    case WhyKind::Chosen:
      return "chosen";
    case WhyKind::Cases:
      return "cases";
    case WhyKind::Fact:
      return "fact";
    case WhyKind::Determined:
      return "determined";
    case WhyKind::Modal:
      return "modal";
    case WhyKind::Absent:
      return "absent";
    case WhyKind::Condition:
      return "condition";
    case WhyKind::Again:
      return "again";
    case WhyKind::Cut:
      return "cut";
  }
  return "";
}

WorldsWhy explain_rows(Findings& findings, WhyQuestion question, uint64_t limit) {
  WorldsWhy why;
  why.views = findings.view_count();
  const lang::Goal& goal = *findings.context().program.goal;
  Explainer explainer(findings);
  std::vector<Candidate> rows = fitting_rows(findings, question);
  why.matches = static_cast<uint64_t>(std::ranges::count_if(rows, &Candidate::answers));
  why.answered = why.matches > 0 || (question == WhyQuestion::WhyNot && rows.empty());
  if (rows.empty()) {
    std::vector<std::optional<Value>> values;
    for (const lang::Term& arg : goal.args) {
      values.push_back(arg.kind == lang::TermKind::Constant ? std::optional(arg.value)
                                                            : std::nullopt);
    }
    why.rows.push_back(explainer.missing(goal.pred, values, goal.text));
    return why;
  }
  if (why.answered) std::erase_if(rows, [](const Candidate& row) { return !row.answers; });
  const size_t shown = why.answered ? std::min<size_t>(rows.size(), limit) : 1;
  for (size_t i = 0; i < shown; ++i) why.rows.push_back(explainer.row(rows[i].atom, question));
  return why;
}

}  // namespace xlog::epistemic
