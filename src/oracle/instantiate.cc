#include "oracle/instantiate.h"

#include <algorithm>
#include <functional>
#include <map>
#include <new>
#include <span>

#include "base/check.h"
#include "logic/order.h"
#include "oracle/best_rows.h"
#include "oracle/evaluate.h"
#include "oracle/given.h"
#include "oracle/open_results.h"
#include "oracle/report.h"

namespace xlog::oracle {

namespace {

using lang::HeadElement;
using lang::HeadKind;
using lang::Literal;
using lang::LiteralKind;
using lang::Modal;
using lang::PredId;
using lang::Rule;
using lang::Term;

std::vector<GroundLiteral> join(GroundBody a, GroundBody b) {
  std::vector<GroundLiteral> both(a.begin(), a.end());
  both.insert(both.end(), b.begin(), b.end());
  return both;
}

// One group of a rule with aggregates in its head: the solutions that share the other head columns.
struct Group {
  Tuple head;  // dummies in the aggregate columns
  std::shared_ptr<AggregateInput> input;
};

constexpr uint32_t kRowsAtATime = 1 << 14;  // by one thread

class Instantiator {
 public:
  explicit Instantiator(Context& context) : context_(context), given_(context) {
    const size_t n = context_.program.predicates.size();
    out_.database.relations.resize(n);
    out_.database.row_atoms.resize(n);
    out_.database.states.assign(n, PredicateState::Settled);
    out_.database.certain.assign(n, 0);
  }

  Instantiation run() {
    for (uint32_t c = 0; c < context_.analysis.components.size(); ++c) {
      const logic::Component& component = context_.analysis.components[c];
      const bool settled = is_settled(component, context_.options);
      context_.begin_round(c, 0);
      context_.rule.reset();
      if (given_.is_bounded(c)) {
        for (PredId p : component.predicates) load_bounds(p);
        ground_component(component);
        continue;
      }
      for (PredId p : component.predicates) {
        out_.database.states[p.index] = settled ? PredicateState::Settled : PredicateState::Open;
        if (!given_.is_done(c)) load_facts(p);
      }
      if (given_.is_done(c)) {
        for (PredId p : component.predicates) {
          if (given_.is_read(p)) append(p, context_.preset->rows(p));
        }
        continue;
      }
      if (has_best(component)) {
        grow_best(c);
      } else {
        grow(c);
      }
      if (!settled) ground_component(component);
    }
    for (uint32_t rule : context_.analysis.constraints) ground_constraint(rule);
    out_.ground.atom_count = static_cast<uint32_t>(out_.database.atoms.size());
    return std::move(out_);
  }

  // With what this round has derived so far.
  std::optional<logic::RelationSize> largest() const {
    std::optional<logic::RelationSize> largest = largest_relation(out_.database, context_);
    for (const Derived::Rows& rows : derived_.of_predicates) {
      const uint64_t bytes = rows.values.size() * sizeof(Value);
      if (rows.count == 0 || (largest && largest->bytes >= bytes)) continue;
      largest = {logic::relation_name(rows.pred, context_.program, context_.session.names),
                 rows.count, bytes};
    }
    return largest;
  }

 private:
  const Rule& rule_at(uint32_t index) const { return context_.program.rules[index]; }
  const logic::RuleOrder& order_at(uint32_t index) const { return context_.analysis.orders[index]; }
  Relation& relation(PredId p) { return out_.database.relations[p.index]; }

  bool insert(PredId p, std::span<const Value> tuple) {
    if (!relation(p).insert(tuple)) return false;
    context_.count_row();
    return true;
  }

  const Parallel& parallel() const {
    static const Parallel serial = in_turn;
    return context_.shortcut != nullptr ? context_.shortcut->parallel : serial;
  }

  static void write_rows(const lang::FactTable& table, size_t lo, size_t hi, Value* to) {
    for (size_t row = lo; row < hi; ++row) {
      for (const lang::FactColumn& column : table.columns) *to++ = column.at(row);
    }
  }

  // Whether there was a new tuple.
  bool insert_derived() {
    bool changed = false;
    for (const Derived::Rows& rows : derived_.of_predicates) {
      changed |= insert_all(rows.pred, std::span(rows.values), rows.count) > 0;
    }
    return changed;
  }

  size_t insert_all(PredId p, std::span<const Value> values, size_t count) {
    constexpr size_t kFew = 32;
    const size_t arity = context_.program[p].arity;
    size_t inserted = 0;
    if (count > kFew) {
      inserted = relation(p).insert_all(values, arity, count, parallel());
      context_.count_rows(inserted);
    } else {
      for (size_t i = 0; i < count; ++i) {
        inserted += insert(p, values.subspan(i * arity, arity)) ? 1 : 0;
      }
    }
    return inserted;
  }

  // Rows that are not there yet.
  void append(PredId p, const lang::FactTable& table) {
    if (table.rows == 0) return;
    const size_t arity = table.columns.size();
    Value* to = relation(p).extend(arity, table.rows);
    parallel()(static_cast<uint32_t>(table.rows), kRowsAtATime,
               [&](uint32_t lo, uint32_t hi) { write_rows(table, lo, hi, to + lo * arity); });
    context_.count_rows(table.rows);
  }

  // Where nothing is left open of a predicate, it is as good as settled.
  void load_bounds(PredId p) {
    const Preset::Bounded rows = context_.preset->bounded_rows(p, given_.are_certain_rows_read(p));
    append(p, rows.certain);
    append(p, rows.open);
    const bool settled = rows.open.rows == 0;
    out_.database.states[p.index] = settled ? PredicateState::Settled : PredicateState::Open;
    out_.database.certain[p.index] = rows.certain.rows;
  }

  void load_facts(PredId p) {
    const lang::FactTable* facts = context_.program[p].facts.get();
    if (facts == nullptr) return;
    constexpr size_t kRowsAtOnce = 1 << 20;
    const size_t arity = facts->columns.size();
    std::vector<Value> values;
    for (size_t begin = 0; begin < facts->rows; begin += kRowsAtOnce) {
      const auto rows = static_cast<uint32_t>(std::min(kRowsAtOnce, facts->rows - begin));
      values.resize(arity * rows);
      parallel()(rows, kRowsAtATime, [&](uint32_t lo, uint32_t hi) {
        write_rows(*facts, begin + lo, begin + hi, values.data() + lo * arity);
      });
      insert_all(p, values, rows);
    }
    if (out_.database.states[p.index] == PredicateState::Settled) return;
    for (size_t row = 0; row < relation(p).size(); ++row) {
      out_.ground.rules.add(GroundHead::Normal, {out_.database.atom(p, row)}, {}, UINT32_MAX);
    }
  }

  // ---- rows: semi-naive rounds ----

  void grow(uint32_t component_index) {
    const logic::Component& component = context_.analysis.components[component_index];
    auto inside = [&](PredId p) {
      return context_.analysis.component_of[p.index] == component_index;
    };
    std::map<PredId, std::pair<size_t, size_t>> delta;  // rows that the last round added
    for (bool first = true;; first = false) {
      context_.begin_round(component_index, context_.round + 1);
      derived_ = {};
      for (uint32_t r : component.rules) {
        const Rule& rule = rule_at(r);
        if (first || reads_inside_other_than_positively(rule, inside)) {
          derive(r, component_index, std::nullopt);
          continue;
        }
        for (uint32_t i = 0; i < rule.body.size(); ++i) {
          const Literal& literal = rule.body[i];
          if (literal.kind != LiteralKind::Atom || !inside(literal.pred)) continue;
          const bool drives = literal.modal == Modal::None
                                  ? literal.nots == 0
                                  : logic::binds_in_turn(rule, order_at(r).body, i);
          if (!drives) continue;
          const auto [begin, end] = delta[literal.pred];
          if (begin == end) continue;
          derive(r, component_index, Matcher::Delta{i, begin, end});
        }
      }
      for (PredId p : component.predicates) delta[p].first = relation(p).size();
      const bool changed = insert_derived();
      for (PredId p : component.predicates) delta[p].second = relation(p).size();
      if (!changed) break;
    }
    derived_ = {};
  }

  // ---- rows: minima and maxima inside their own recursion ----

  const std::optional<logic::Best>& best_of(PredId p) const {
    return context_.analysis.best[p.index];
  }
  bool has_best(const logic::Component& component) const {
    return std::ranges::any_of(component.predicates,
                               [&](PredId p) { return best_of(p).has_value(); });
  }

  // All candidates from the rows that are there; the best of them and of those rows are the next
  // rows, until that changes nothing.
  void grow_best(uint32_t component_index) {
    const logic::Component& component = context_.analysis.components[component_index];
    for (PredId p : component.predicates) {
      if (best_of(p)) keep_best(relation(p), *best_of(p), {}, context_);
    }
    for (bool changed = true; changed;) {
      context_.begin_round(component_index, context_.round + 1);
      derived_ = {};
      for (uint32_t r : component.rules) derive(r, component_index, std::nullopt);
      changed = false;
      for (const Derived::Rows& rows : derived_.of_predicates) {
        if (!best_of(rows.pred)) {
          changed |= insert_all(rows.pred, std::span(rows.values), rows.count) > 0;
          continue;
        }
        std::vector<Tuple> candidates(rows.count);
        const size_t arity = context_.program[rows.pred].arity;
        for (size_t i = 0; i < rows.count; ++i) {
          const auto row = std::span(rows.values).subspan(i * arity, arity);
          candidates[i].assign(row.begin(), row.end());
        }
        changed |=
            keep_best(relation(rows.pred), *best_of(rows.pred), std::move(candidates), context_);
      }
    }
    derived_ = {};
  }

  // Rounds over the new rows of positive literals are not enough when the component is also read in
  // the condition of a choice, or through a modal literal that its rows decide (a least fixpoint
  // over `know p`). Where the component is open such a literal is taken as possible, whether its
  // row is there or not, unless it binds.
  bool reads_inside_other_than_positively(const Rule& rule,
                                          const std::function<bool(PredId)>& inside) const {
    const auto any = [&](const Literal& l) {
      return l.kind == LiteralKind::Atom && inside(l.pred);
    };
    const auto other = [&](const Literal& l) {
      return any(l) && (l.modal != Modal::None || l.nots != 0) &&
             out_.database.states[l.pred.index] == PredicateState::Settled;
    };
    if (std::any_of(rule.body.begin(), rule.body.end(), other)) return true;
    return std::any_of(rule.head.begin(), rule.head.end(), [&](const HeadElement& element) {
      return std::any_of(element.condition.begin(), element.condition.end(), any);
    });
  }

  void derive(uint32_t r, uint32_t component, const std::optional<Matcher::Delta>& delta) {
    const Rule& rule = rule_at(r);
    context_.rule = r;
    if (context_.shortcut != nullptr && context_.shortcut->derive) {
      if (context_.shortcut->derive({r, delta, out_.database, component}, derived_)) return;
    }
    Matcher matcher(context_, out_.database, nullptr);
    matcher.set_component(component);
    if (delta) matcher.set_delta(delta->literal, delta->first, delta->last);
    if (!rule.aggregates.empty()) {
      for (const Group& group : groups_of(r, matcher)) {
        for (const std::vector<Value>& result : results_of(group)) {
          add_derived(rule.head[0].pred, with_aggregates(rule, group.head, result));
        }
      }
      return;
    }
    Bindings bindings(rule.variables.size());
    matcher.solve(r, rule.body, order_at(r).body, bindings, [&](const Bindings&, const auto&) {
      for (size_t e = 0; e < rule.head.size(); ++e) {
        for_each_condition(r, e, matcher, bindings, [&](const auto&) {
          if (find_head(rule.head[e], matcher, bindings)) add_derived(rule.head[e].pred, head_);
        });
      }
    });
  }

  // Rows that wait for the end of a round count as soon as they surely are too many. Looking which
  // of them are new takes time for each, so they have to double before the next look. Of minima and
  // maxima most are never kept.
  void add_derived(PredId pred, std::span<const Value> tuple) {
    Derived::Rows& rows = derived_.add(pred, tuple);
    const uint64_t left = context_.most_rows() - std::min(context_.rows, context_.most_rows());
    if (rows.count <= left || rows.count <= 2 * rows.known_new || best_of(pred)) return;
    rows.keep_new(relation(pred), tuple.size());
    if (rows.count > left) context_.count_rows(rows.count);
  }

  // ---- ground rules ----

  void ground_component(const logic::Component& component) {
    for (uint32_t r : component.rules) {
      if (can_matter(rule_at(r))) ground_rule(r);
    }
  }

  // Not where all heads are settled; but the bounds of a choice are a constraint.
  bool can_matter(const Rule& rule) const {
    return rule.lower || rule.upper || std::ranges::any_of(rule.head, [&](const auto& element) {
             return out_.database.states[element.pred.index] == PredicateState::Open;
           });
  }

  void add(GroundHead kind, std::span<const AtomId> heads, GroundBody body, uint32_t source) {
    context_.count_row();
    out_.ground.rules.add(kind, heads, body, source);
  }

  size_t row_of(PredId p, const Tuple& tuple) {
    const std::optional<size_t> row = relation(p).find(tuple);
    XLOG_CHECK(row.has_value(), "an instance whose head was not among the rows that may hold");
    return *row;
  }

  Shortcut::Grounding ground_all(uint32_t r) {
    if (context_.shortcut == nullptr || !context_.shortcut->ground) {
      return Shortcut::Grounding::NotDone;
    }
    return context_.shortcut->ground({r, std::nullopt, out_.database, std::nullopt}, out_.ground);
  }

  void ground_rule(uint32_t r) {
    const Rule& rule = rule_at(r);
    context_.rule = r;
    if (ground_all(r) != Shortcut::Grounding::NotDone) return;
    Matcher matcher(context_, out_.database, &out_.ground);
    if (!rule.aggregates.empty()) {
      for (const Group& group : groups_of(r, matcher)) {
        for (const std::vector<Value>& result : results_of(group)) {
          const PredId pred = rule.head[0].pred;
          const size_t row = row_of(pred, with_aggregates(rule, group.head, result));
          if (out_.database.is_certain(pred, row)) continue;
          const AtomId head = out_.database.atom(pred, row);
          const GroundLiteral body = matcher.open_aggregate(group.input, result);
          add(GroundHead::Normal, std::span(&head, 1), std::span(&body, 1), r);
        }
      }
      return;
    }
    Bindings bindings(rule.variables.size());
    std::vector<AtomId> heads;
    matcher.solve(r, rule.body, order_at(r).body, bindings,
                  [&](const Bindings&, const std::vector<GroundLiteral>& body) {
                    if (rule.head_kind == HeadKind::Choice)
                      return ground_choice(r, matcher, bindings, body);
                    find_heads(rule, matcher, bindings, heads);
                    if (heads.empty()) return;
                    add(heads.size() == 1 ? GroundHead::Normal : GroundHead::Disjunction, heads,
                        body, r);
                  });
  }

  // The atoms of an instance, none where all are certain. Where some are not, the others stay:
  // bounds are what they are for the whole rule.
  void find_heads(const Rule& rule, Matcher& matcher, const Bindings& bindings,
                  std::vector<AtomId>& heads) {
    std::vector<std::pair<PredId, size_t>> rows;
    for (const HeadElement& element : rule.head) {
      if (!find_head(element, matcher, bindings)) continue;
      rows.emplace_back(element.pred, row_of(element.pred, head_));
    }
    heads.clear();
    if (std::ranges::all_of(
            rows, [&](const auto& at) { return out_.database.is_certain(at.first, at.second); })) {
      return;
    }
    for (const auto& [pred, row] : rows) {
      heads.push_back(out_.database.atom(pred, row, out_.ground));
    }
    std::sort(heads.begin(), heads.end());
    heads.erase(std::unique(heads.begin(), heads.end()), heads.end());
  }

  void ground_choice(uint32_t r, Matcher& matcher, Bindings& bindings,
                     const std::vector<GroundLiteral>& body) {
    const Rule& rule = rule_at(r);
    GroundBound bound;
    bound.body = body;
    bound.source = r;
    const bool is_bounded = rule.lower || rule.upper;
    for (size_t e = 0; e < rule.head.size(); ++e) {
      for_each_condition(r, e, matcher, bindings, [&](const std::vector<GroundLiteral>& condition) {
        if (!find_head(rule.head[e], matcher, bindings)) return;
        const PredId pred = rule.head[e].pred;
        const size_t row = row_of(pred, head_);
        const bool is_open = !out_.database.is_certain(pred, row);
        if (!is_open && !is_bounded) return;
        const AtomId head = out_.database.atom(pred, row, out_.ground);
        if (is_open) add(GroundHead::Choice, std::span(&head, 1), join(body, condition), r);
        if (!is_bounded) return;
        const GroundLiteral chosen{GroundKind::Pos, Modal::None, head};
        bound.elements.push_back({head, join(std::span(&chosen, is_open ? 1 : 0), condition)});
      });
    }
    if (rule.lower) bound.lower = bound_value(*rule.lower, matcher, bindings);
    if (rule.upper) bound.upper = bound_value(*rule.upper, matcher, bindings);
    if (is_bounded) out_.ground.bounds.push_back(std::move(bound));
  }

  static int64_t bound_value(const Term& term, Matcher& matcher, const Bindings& bindings) {
    const std::optional<Value> value = matcher.value_of(term, bindings);
    if (!value) return 0;
    if (value->kind == lang::TypeKind::U64 && value->bits > INT64_MAX) return INT64_MAX;
    return value->as_signed();
  }

  // A rule without head atoms: a constraint, or a choice among nothing, which only its bounds can
  // violate.
  void ground_constraint(uint32_t r) {
    const Rule& rule = rule_at(r);
    context_.rule = r;
    const Shortcut::Grounding grounding = ground_all(r);
    if (grounding == Shortcut::Grounding::Done) return;
    Matcher matcher(context_, out_.database, &out_.ground);
    Bindings bindings(rule.variables.size());
    matcher.solve(
        r, rule.body, order_at(r).body, bindings,
        [&](const Bindings&, const std::vector<GroundLiteral>& body) {
          if (grounding == Shortcut::Grounding::DoneWithEmptyBodies) {
            if (body.empty()) note_violation(r, bindings);
            return;
          }
          if (rule.head_kind == HeadKind::Choice) {
            const bool too_few = rule.lower && bound_value(*rule.lower, matcher, bindings) > 0;
            const bool too_many = rule.upper && bound_value(*rule.upper, matcher, bindings) < 0;
            if (!too_few && !too_many) return;
          }
          if (body.empty()) note_violation(r, bindings);
          add(GroundHead::Constraint, {}, body, r);
        });
  }

  // Of the first constraint that is violated, the least instance: it does not depend on the order
  // of evaluation.
  void note_violation(uint32_t r, const Bindings& bindings) {
    const Rule& rule = rule_at(r);
    std::vector<Value> values;
    for (uint32_t v = 0; v < rule.variables.size(); ++v) {
      const lang::Variable& variable = rule.variables[v];
      if (!variable.anonymous && bindings.bound({v})) values.push_back(bindings[{v}]);
    }
    if (out_.violation) {
      if (out_.violation->rule != r) return;
      const bool less = std::ranges::lexicographical_compare(
          values, violating_, [&](const Value& a, const Value& b) {
            return lang::compare(a, b, context_.names()) < 0;
          });
      if (!less) return;
    }
    violating_ = std::move(values);
    out_.violation = {r, instance_text(rule, bindings, context_)};
  }

  // ---- heads ----

  // The tuple of a head becomes head_; false where its arithmetic has no value.
  bool find_head(const HeadElement& element, Matcher& matcher, const Bindings& bindings) {
    head_.clear();
    for (const Term& arg : element.args) {
      const std::optional<Value> value = matcher.value_of(arg, bindings);
      if (!value) return false;
      head_.push_back(*value);
    }
    return true;
  }

  void for_each_condition(uint32_t r, size_t element, Matcher& matcher, Bindings& bindings,
                          const std::function<void(const std::vector<GroundLiteral>&)>& visit) {
    const Rule& rule = rule_at(r);
    if (rule.head_kind != HeadKind::Choice) return visit({});
    matcher.solve(
        r, rule.head[element].condition, order_at(r).conditions[element], bindings,
        [&](const Bindings&, const std::vector<GroundLiteral>& condition) { visit(condition); });
  }

  std::vector<Group> groups_of(uint32_t r, Matcher& matcher) {
    const Rule& rule = rule_at(r);
    std::map<Key, size_t> by_key;
    std::vector<Group> groups;
    Bindings bindings(rule.variables.size());
    matcher.solve(r, rule.body, order_at(r).body, bindings,
                  [&](const Bindings&, const std::vector<GroundLiteral>& condition) {
                    const bool has_head = find_head(rule.head[0], matcher, bindings);
                    std::vector<Value> values;
                    for (const lang::HeadAggregate& aggregate : rule.aggregates) {
                      std::optional<Value> value = Value::u64(0);
                      if (aggregate.has_value) value = matcher.value_of(aggregate.value, bindings);
                      if (!value) return;
                      values.push_back(*value);
                      if (has_head) head_[aggregate.column] = Value{};
                    }
                    if (!has_head) return;
                    auto [it, is_new] = by_key.try_emplace(key_of(head_), groups.size());
                    if (is_new) groups.push_back(new_group(rule, head_));
                    groups[it->second].input->elements.push_back({std::move(values), condition});
                  });
    return groups;
  }

  std::vector<std::vector<Value>> results_of(const Group& group) {
    return open_results(*group.input, context_.names()).values;
  }

  Group new_group(const Rule& rule, Tuple head) {
    Group group{std::move(head), std::make_shared<AggregateInput>()};
    group.input->nonempty = true;
    group.input->span = rule.head_span;
    for (const lang::HeadAggregate& aggregate : rule.aggregates) {
      const lang::Type& result = context_.program[rule.head[0].pred].columns[aggregate.column].type;
      group.input->folds.push_back({fold_kind(aggregate.fn), result});
    }
    return group;
  }

  static Tuple with_aggregates(const Rule& rule, Tuple head, const std::vector<Value>& result) {
    for (size_t i = 0; i < rule.aggregates.size(); ++i) head[rule.aggregates[i].column] = result[i];
    return head;
  }

  Context& context_;
  const Given given_;
  Instantiation out_;
  Derived derived_;               // by the rules of this round
  Tuple head_;                    // of the instance at hand
  std::vector<Value> violating_;  // the variables of the violation
};

}  // namespace

bool is_settled(const logic::Component& component, const logic::AnswerOptions& options) {
  if (component.klass == logic::ComponentClass::Determined) return true;
  return component.klass == logic::ComponentClass::PositiveModalCycle &&
         (options.mode == logic::Mode::Faeel || options.well_founded);
}

Instantiation instantiate(Context& context) {
  Instantiator instantiator(context);
  context.largest = [&] { return instantiator.largest(); };
  try {
    Instantiation made = instantiator.run();
    context.largest = nullptr;
    return made;
  } catch (const std::bad_alloc&) {
    context.out_of_memory(0, "");
  }
}

std::optional<logic::RelationSize> largest_relation(const Database& database,
                                                    const Context& context) {
  std::optional<logic::RelationSize> largest;
  for (uint32_t p = 0; p < database.relations.size(); ++p) {
    const Relation& relation = database.relations[p];
    if (relation.size() == 0 || (largest && relation.bytes() <= largest->bytes)) continue;
    largest = {logic::relation_name({p}, context.program, context.session.names), relation.size(),
               relation.bytes()};
  }
  return largest;
}

}  // namespace xlog::oracle
