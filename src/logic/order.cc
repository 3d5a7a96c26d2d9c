#include "logic/order.h"

#include <algorithm>
#include <queue>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "base/check.h"
#include "logic/binding.h"
#include "logic/safety.h"

namespace xlog::logic {

using lang::HeadElement;
using lang::HeadKind;
using lang::Literal;
using lang::LiteralKind;
using lang::Rule;
using lang::Term;
using lang::TermKind;
using lang::VarId;

namespace {

// Best first. Ranks only improve while variables get bound, so the best literal can be taken at
// once.
enum class Rank : uint8_t {
  Filter,       // everything it names is bound
  Computes,     // an equation, built-in or aggregate that binds
  Connected,    // an atom with a bound or constant argument
  Unconnected,  // any other atom
  Believed,     // a modal literal over the rule's own recursion: rather a test than a source
  Late,         // an equation that would choose the bits of a float that another literal can bring
  NotReady,
};

// Which variables of the rule have a value. Nested bodies bind on top and undo.
struct BoundSet {
  std::vector<bool> has_value;
  std::vector<VarId> trail;

  explicit BoundSet(size_t variables) : has_value(variables, false) {}
  bool contains(VarId var) const { return has_value[var.index]; }
  void add(VarId var) {
    has_value[var.index] = true;
    trail.push_back(var);
  }
  void undo_to(size_t mark) {
    for (; trail.size() > mark; trail.pop_back()) has_value[trail.back().index] = false;
  }
};

void sort_unique(std::vector<VarId>& variables) {
  std::sort(variables.begin(), variables.end());
  variables.erase(std::unique(variables.begin(), variables.end()), variables.end());
}

// The literals of one body that wait, and what each waits for. Every variable is looked at once
// when it becomes bound, so ordering n literals takes O(n log n).
class Agenda {
 public:
  Agenda(const std::vector<Literal>& body, const Scope& scope, BoundSet& bound) : bound_(bound) {
    items_.resize(body.size());
    std::vector<Binding> bindings;
    bindings.reserve(body.size());
    for (const Literal& literal : body) bindings.push_back(binding_of(literal, scope));
    mark_floats(scope.rule, bindings);
    for (uint32_t i = 0; i < body.size(); ++i) add(i, std::move(bindings[i]));
    std::sort(watches_.begin(), watches_.end(), [](const Watch& a, const Watch& b) {
      return std::tuple(a.var, a.literal, a.way) < std::tuple(b.var, b.literal, b.way);
    });
    for (uint32_t i = 0; i < body.size(); ++i) offer(i);
  }

  // Takes the best literal that is ready; false when none is.
  bool take(uint32_t& literal) {
    while (!ready_.empty()) {
      const auto [rank, index] = ready_.top();
      ready_.pop();
      Item& item = items_[index];
      if (item.done || item.rank != rank) continue;  // it was offered again with a better rank
      item.done = true;
      literal = index;
      return true;
    }
    return false;
  }

  void bind_outputs_of(uint32_t literal) {
    for (const VarId var : items_[literal].outputs) {
      if (!bound_.contains(var)) bind(var);
    }
  }

  bool done(uint32_t literal) const { return items_[literal].done; }

 private:
  static constexpr uint32_t kNames = UINT32_MAX;

  struct Item {
    Rank rank = Rank::NotReady;
    bool done = false;
    bool ready = false;
    bool generates = false;
    bool believes = false;
    bool compares = false;
    bool connected = false;
    uint32_t names_missing = 0;
    std::vector<VarId> outputs;
  };
  struct Watch {
    VarId var;
    uint32_t literal;
    uint32_t way;  // index into missing_, or kNames for the item's names_missing
  };
  using Entry = std::pair<Rank, uint32_t>;

  void add(uint32_t literal, Binding binding) {
    Item& item = items_[literal];
    item.generates = binding.generates;
    item.believes = binding.believes;
    item.compares = binding.compares;
    item.connected = binding.anchored;
    for (std::vector<VarId>& way : binding.ways) {
      const auto index = static_cast<uint32_t>(missing_.size());
      missing_.push_back(watch(literal, index, way));
      if (missing_[index] == 0) item.ready = true;
    }
    item.names_missing = watch(literal, kNames, binding.names);
    if (item.names_missing < binding.names.size()) item.connected = true;
    item.outputs = std::move(binding.outputs);
  }

  // `X = 0.0` holds for -0.0 too, so an equation must not choose the bits of a float that an atom,
  // an aggregate or a built-in brings: it waits until that is bound, and then tests or binds the
  // other side.
  void mark_floats(const Rule& rule, const std::vector<Binding>& bindings) {
    brought_float_.assign(rule.variables.size(), false);
    for (const Binding& binding : bindings) {
      if (binding.compares) continue;
      for (const VarId var : binding.outputs) {
        brought_float_[var.index] = lang::is_float(rule.variables[var.index].type.kind);
      }
    }
  }

  bool chooses_float(const Item& item) const {
    return item.compares && std::any_of(item.outputs.begin(), item.outputs.end(), [&](VarId var) {
             return brought_float_[var.index] && !bound_.contains(var);
           });
  }

  // Watches the variables that are still free and returns how many they are.
  uint32_t watch(uint32_t literal, uint32_t way, std::vector<VarId>& variables) {
    sort_unique(variables);
    uint32_t missing = 0;
    for (const VarId var : variables) {
      if (bound_.contains(var)) continue;
      watches_.push_back({var, literal, way});
      ++missing;
    }
    return missing;
  }

  void bind(VarId var) {
    bound_.add(var);
    auto it = std::lower_bound(watches_.begin(), watches_.end(), var,
                               [](const Watch& watch, VarId v) { return watch.var < v; });
    for (; it != watches_.end() && it->var == var; ++it) {
      Item& item = items_[it->literal];
      item.connected = true;
      if (it->way == kNames) {
        --item.names_missing;
      } else if (--missing_[it->way] == 0) {
        item.ready = true;
      }
      offer(it->literal);
    }
  }

  void offer(uint32_t literal) {
    Item& item = items_[literal];
    if (item.done || !item.ready) return;
    const Rank rank = item.names_missing == 0 ? Rank::Filter
                      : chooses_float(item)   ? Rank::Late
                      : !item.generates       ? Rank::Computes
                      : item.believes         ? Rank::Believed
                      : item.connected        ? Rank::Connected
                                              : Rank::Unconnected;
    if (rank >= item.rank) return;
    item.rank = rank;
    ready_.push({rank, literal});
  }

  BoundSet& bound_;
  std::vector<Item> items_;
  std::vector<bool>
      brought_float_;  // by variable: a float that something else than an equation can bind
  std::vector<uint32_t> missing_;  // by way: how many of its variables are free
  std::vector<Watch> watches_;     // sorted by variable
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> ready_;
};

class RuleOrderer {
 public:
  // Without a session nothing is reported.
  RuleOrderer(const lang::Program& program, const Rule& rule,
              const std::vector<uint32_t>& component_of, lang::Session* session)
      : rule_(rule),
        session_(session),
        scope_{program, rule, component_of, visible_in_body(rule)},
        bound_(rule.variables.size()),
        excused_(rule.variables.size(), false) {}

  BoundSet& bound() { return bound_; }

  RuleOrder order() {
    RuleOrder result;
    result.body = order_body(rule_.body);
    if (rule_.head_kind == HeadKind::Choice) {
      result.conditions.resize(rule_.head.size());
      for (size_t i = 0; i < rule_.head.size(); ++i) {
        const size_t mark = bound_.trail.size();
        result.conditions[i] = order_body(rule_.head[i].condition);
        check_head(rule_.head[i]);
        bound_.undo_to(mark);
      }
      for (const auto* bound : {&rule_.lower, &rule_.upper}) {
        if (*bound) require(**bound, (*bound)->span, "the bound of the choice");
      }
    } else {
      for (const HeadElement& element : rule_.head) check_head(element);
    }
    for (const lang::HeadAggregate& aggregate : rule_.aggregates) {
      if (aggregate.has_value)
        require(aggregate.value, rule_.head_span, "the aggregate in the head");
    }
    return result;
  }

  BodyOrder order_body(const std::vector<Literal>& body) {
    check_assignments(body);
    BodyOrder order;
    order.sequence.reserve(body.size());
    order.nested.resize(body.size());
    Agenda agenda(body, scope_, bound_);
    uint32_t index;
    while (agenda.take(index)) {
      order.sequence.push_back(index);
      if (has_braces(body[index])) order.nested[index] = order_inside(body[index]);
      agenda.bind_outputs_of(index);
    }
    if (order.sequence.size() < body.size()) finish_stuck(body, agenda, order);
    return order;
  }

 private:
  // ---- Scopes ----

  void show(const std::vector<VarId>& variables, bool visible) {
    for (const VarId var : variables) scope_.visible[var.index] += visible ? 1 : UINT32_MAX;
  }

  // The body of an aggregate or findall whose grouping variables are bound. What it binds is local
  // to it. Recursion goes as deep as the parser lets braces nest.
  BodyOrder order_inside(const Literal& literal) {
    const size_t mark = bound_.trail.size();
    std::vector<VarId> inside;
    collect_inside(literal, inside);
    show(inside, true);
    BodyOrder order = order_body(literal.body);
    if (const Term* collected = collected_term(literal)) {
      require(*collected, literal.span,
              literal.kind == LiteralKind::Aggregate ? "the aggregate" : "the template");
    }
    show(inside, false);
    bound_.undo_to(mark);
    return order;
  }

  // ---- Checks ----

  void require(const Term& term, Span at, std::string_view needed_by) {
    if (session_ == nullptr) return;
    std::vector<VarId> variables;
    collect_variables(term, variables);
    for (const VarId var : variables) {
      if (bound_.contains(var) || excused_[var.index]) continue;
      excused_[var.index] = true;
      report_unbound(scope_, var, at, needed_by, *session_);
    }
  }

  void check_head(const HeadElement& element) {
    if (session_ == nullptr) return;
    std::vector<VarId> variables;
    for (const Term& arg : element.args) collect_variables(arg, variables);
    for (const VarId var : variables) {
      if (!rule_.variables[var.index].anonymous) continue;
      report_anonymous_head(element.span, rule_.variables[var.index].span, *session_);
      excused_[var.index] = true;
    }
    for (const Term& arg : element.args) require(arg, element.span, "the head");
  }

  // `X is e` wants an X that is fresh where it stands: no earlier atom, no other `is` and nothing
  // outside the body may bind it. What comes later may name it and then tests the value.
  void check_assignments(const std::vector<Literal>& body) {
    const auto assigns = [](const Literal& literal) {
      return literal.kind == LiteralKind::Compare && literal.is_assignment &&
             literal.lhs.kind == TermKind::Variable;
    };
    if (session_ == nullptr || std::none_of(body.begin(), body.end(), assigns)) return;

    std::unordered_map<uint32_t, uint32_t> atom_of, assignment_of;  // variable to the first literal
    for (uint32_t i = 0; i < body.size(); ++i) {
      const Literal& literal = body[i];
      if (assigns(literal)) assignment_of.emplace(literal.lhs.var.index, i);
      if (literal.kind != LiteralKind::Atom) continue;
      std::vector<VarId> variables;
      collect_bound_by(literal, variables);
      for (const VarId var : variables) atom_of.emplace(var.index, i);
    }
    for (uint32_t i = 0; i < body.size(); ++i) {
      if (!assigns(body[i])) continue;
      const VarId target = body[i].lhs.var;
      if (bound_.contains(target)) {
        report_assigned_twice(scope_, body[i], nullptr, *session_);
      } else if (const auto atom = atom_of.find(target.index);
                 atom != atom_of.end() && atom->second < i) {
        report_assigned_twice(scope_, body[i], &body[atom->second], *session_);
      } else if (const uint32_t first = assignment_of.at(target.index); first != i) {
        report_assigned_twice(scope_, body[i], &body[first], *session_);
      }
    }
  }

  // ---- Literals that are never ready ----

  // The variables that keep a literal waiting: of the ways it could be evaluated, the one that
  // lacks least.
  std::vector<VarId> blockers(const Binding& binding) const {
    std::vector<VarId> fewest;
    bool first = true;
    for (std::vector<VarId> way : binding.ways) {
      std::erase_if(way, [&](VarId var) { return bound_.contains(var); });
      sort_unique(way);
      if (!first && way.size() >= fewest.size()) continue;
      fewest = std::move(way);
      first = false;
    }
    return fewest;
  }

  void finish_stuck(const std::vector<Literal>& body, const Agenda& agenda, BodyOrder& order) {
    XLOG_CHECK(session_ != nullptr, "a body that was safe cannot be ordered");
    std::vector<uint32_t> stuck;
    std::vector<Binding> bindings;
    std::unordered_map<uint32_t, uint32_t>
        could_bind;  // variable to how many stuck literals would bind it
    for (uint32_t i = 0; i < body.size(); ++i) {
      if (agenda.done(i)) continue;
      stuck.push_back(i);
      order.sequence.push_back(i);
      Binding& binding = bindings.emplace_back(binding_of(body[i], scope_));
      sort_unique(binding.outputs);
      for (const VarId var : binding.outputs) ++could_bind[var.index];
    }
    // A variable that another stuck literal would bind is no cause. If every one is such, the
    // literals wait in a circle.
    const bool reported = report_stuck(body, stuck, bindings, could_bind, false);
    if (!reported) report_stuck(body, stuck, bindings, could_bind, true);
    for (const Binding& binding : bindings) {
      for (const VarId var : binding.outputs) excused_[var.index] = true;
    }
  }

  bool report_stuck(const std::vector<Literal>& body, const std::vector<uint32_t>& stuck,
                    const std::vector<Binding>& bindings,
                    const std::unordered_map<uint32_t, uint32_t>& could_bind, bool circular) {
    bool reported = false;
    for (size_t i = 0; i < stuck.size(); ++i) {
      const std::vector<VarId>& outputs = bindings[i].outputs;
      for (const VarId var : blockers(bindings[i])) {
        const auto found = could_bind.find(var.index);
        const uint32_t binders = found == could_bind.end() ? 0 : found->second;
        const bool own = std::binary_search(outputs.begin(), outputs.end(), var);
        if (!circular && binders > (own ? 1u : 0u)) continue;
        reported = true;
        if (excused_[var.index]) continue;
        excused_[var.index] = true;
        report_blocked(scope_, body[stuck[i]], var, circular, *session_);
      }
    }
    return reported;
  }

  const Rule& rule_;
  lang::Session* session_;
  Scope scope_;
  BoundSet bound_;
  std::vector<bool> excused_;  // by variable: reported already, or bound if something else were
};

}  // namespace

RuleOrder order_rule(const lang::Program& program, uint32_t rule,
                     const std::vector<uint32_t>& component_of, lang::Session& session) {
  return RuleOrderer(program, program.rules[rule], component_of, &session).order();
}

BodyOrder order_body_given(const lang::Program& program, const Rule& rule,
                           const std::vector<uint32_t>& component_of,
                           const std::vector<VarId>& bound) {
  RuleOrderer orderer(program, rule, component_of, nullptr);
  for (const VarId var : bound) {
    if (!orderer.bound().contains(var)) orderer.bound().add(var);
  }
  return orderer.order_body(rule.body);
}

bool binds_in_turn(const Rule& rule, const BodyOrder& order, uint32_t literal) {
  std::vector<VarId> bound, named;
  for (const uint32_t i : order.sequence) {
    if (i == literal) break;
    collect_bound_by(rule.body[i], bound);
  }
  collect_variables(rule.body[literal], named);
  return std::ranges::any_of(named, [&](VarId var) {
    return !rule.variables[var.index].anonymous && std::ranges::find(bound, var) == bound.end();
  });
}

}  // namespace xlog::logic
