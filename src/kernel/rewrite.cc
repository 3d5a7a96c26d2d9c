#include "kernel/rewrite.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <map>

#include "base/check.h"
#include "kernel/rebuild.h"

namespace xlog::kernel {

namespace {

constexpr int kFiringsPerNode = 64;
constexpr uint64_t kFiringsPerPassNode = 16;
constexpr uint64_t kLeastFiringsPerPass = 4096;
constexpr size_t kTraceLength = 32;

bool is_constant_term(const Term& term) {
  return term.kind != TermKind::Apply && term.kind != TermKind::Any;
}

// Where the pattern after the one at `at` starts.
size_t after_term(std::span<const Term> terms, size_t at) {
  size_t end = at + 1;
  for (int k = 0; k < terms[at].count; ++k) end = after_term(terms, end);
  return end;
}

bool same_terms(std::span<const Term> a, std::span<const Term> b) {
  auto same = [](const Term& x, const Term& y) {
    return x.kind == y.kind && x.op == y.op && x.name == y.name && x.types.mask == y.types.mask &&
           x.number == y.number;
  };
  return std::ranges::equal(a, b, same);
}

// The patterns that come from swapping operands of commutative ops. Constants stand on the right
// in normal form, so operands one of which is constant keep their order.
void commuted(std::vector<Term> terms, size_t from, std::vector<std::vector<Term>>& out) {
  for (size_t at = from; at < terms.size(); ++at) {
    if (terms[at].kind != TermKind::Apply || !is_commutative(terms[at].op)) continue;
    const size_t first = at + 1;
    const size_t second = after_term(terms, first);
    const size_t end = after_term(terms, second);
    if (is_constant_term(terms[first]) || is_constant_term(terms[second])) continue;
    commuted(terms, at + 1, out);
    std::rotate(terms.begin() + static_cast<long>(first), terms.begin() + static_cast<long>(second),
                terms.begin() + static_cast<long>(end));
    commuted(std::move(terms), at + 1, out);
    return;
  }
  for (const auto& known : out) {
    if (same_terms(known, terms)) return;
  }
  out.push_back(std::move(terms));
}

int16_t needed_op(const Term& term) {
  if (term.kind == TermKind::Apply) return static_cast<int16_t>(term.op);
  return is_constant_term(term) ? static_cast<int16_t>(Op::Const) : int16_t{-1};
}

Scalar literal(const Term& term, Type type) {
  const uint64_t top = (mask_of(type) >> 1) + 1;
  switch (term.kind) {
    case TermKind::NegativeZero:
      return {type, top};
    case TermKind::Smallest:
      return {type, is_signed(type) ? top : 0};
    case TermKind::Greatest:
      return {type, is_signed(type) ? top - 1 : mask_of(type)};
    default:
      return Scalar::of(type, term.number);
  }
}

}  // namespace

RuleSet::RuleSet(std::string_view name, std::initializer_list<std::span<const Rule>> lists,
                 Measure counts)
    : name_(name), measure_(counts) {
  for (std::span<const Rule> list : lists) {
    for (const Rule& rule : list) add(rule);
  }
}

void RuleSet::add(const Rule& rule) {
  rules_.push_back(&rule);
  needs_facts_ = needs_facts_ || rule.needs_facts;
  if (rule.any_root) {
    for (int op = 0; op < kOpCount; ++op) {
      if (is_arithmetic(static_cast<Op>(op))) by_op_[op].push_back({&rule, 0, -1, -1});
    }
    return;
  }
  std::vector<std::vector<Term>> variants;
  commuted({rule.left.begin(), rule.left.begin() + rule.left_size}, 0, variants);
  for (const auto& terms : variants) {
    Candidate candidate{&rule, static_cast<uint32_t>(terms_.size()), needed_op(terms[1]), -1};
    if (terms[0].count > 1) candidate.second = needed_op(terms[after_term(terms, 1)]);
    terms_.insert(terms_.end(), terms.begin(), terms.end());
    by_op_[static_cast<int>(terms[0].op)].push_back(candidate);
  }
}

Rewriter::Rewriter(PassContext& context, const RuleSet& rules, Facts* facts)
    : context_(context),
      rules_(rules),
      facts_(facts),
      fuel_(std::max(kLeastFiringsPerPass, context.graph.size() * kFiringsPerPassNode)) {
  XLOG_CHECK(facts != nullptr || !rules.needs_facts(), "these rules ask for facts");
}

Id Rewriter::run(Id kernel) {
  Rebuild again(graph());
  again.pure = [this](Id node, Id original) {
    const Id made = normal(node);
    if (made != node) keep_name(original, made);
    return made;
  };
  if (facts_ != nullptr) {
    again.before = [&](Id effect, std::vector<Id>&, Id&) {
      const Op op = graph().op(effect);
      if (op == Op::For) {
        facts_->set_limits(effect, again(graph().operand(effect, 0)),
                           again(graph().operand(effect, 1)));
      } else if (op == Op::Loop) {
        facts_->set_limits(effect, Id{}, again(graph().operand(effect, 0)));
      }
      return false;
    };
  }
  return again.run(kernel);
}

// What a person called a value goes on to the value that takes its place.
void Rewriter::keep_name(Id from, Id to) {
  if (!is_arithmetic(graph().op(to)) || !graph().name(to).empty()) return;
  if (std::string_view name = graph().name(from); !name.empty()) {
    graph().set_name(to, std::string(name));
  }
}

Id Rewriter::normal(Id node) {
  if (!is_arithmetic(graph().op(node))) return node;
  if (node.index < normal_.size() && normal_[node.index].valid()) return normal_[node.index];
  Id at = node;
  for (int firings = 0;; ++firings) {
    const Id next = apply_once(at);
    if (next == at) break;
    if (firings == kFiringsPerNode) out_of_fuel("one node");
    at = next;
    if (!is_arithmetic(graph().op(at))) break;
    if (at.index < normal_.size() && normal_[at.index].valid()) {
      at = normal_[at.index];
      break;
    }
  }
  if (normal_.size() < graph().size()) normal_.resize(graph().size() + graph().size() / 2);
  normal_[at.index] = at;
  normal_[node.index] = at;
  return at;
}

Id Rewriter::apply_once(Id node) {
  const Node& root = graph()[node];
  const auto first = static_cast<int16_t>(graph().op(root.src[0]));
  const auto second = static_cast<int16_t>(root.count > 1 ? graph().op(root.src[1]) : Op::Kernel);
  for (const RuleSet::Candidate& candidate : rules_.candidates(root.op)) {
    if (candidate.first >= 0 && candidate.first != first) continue;
    if (candidate.second >= 0 && candidate.second != second) continue;
    const Rule& rule = *candidate.rule;
    Names names;
    names[0] = node;
    if (!rule.any_root) {
      const Term* at = rules_.terms(candidate);
      if (!match(at, node, names)) continue;
      if (rule.guard_size != 0 && !holds(rule, names)) continue;
    }
    const Id after = build(rule, names);
    if (after == node) continue;
    fired(rule, node, after);
    return after;
  }
  return node;
}

bool Rewriter::match(const Term*& at, Id node, Names& names) const {
  const Term& term = *at++;
  const Node& there = context_.graph[node];
  if (!term.types.has(there.type)) return false;
  switch (term.kind) {
    case TermKind::Apply:
      if (there.op != term.op) return false;
      break;
    case TermKind::Any:
      break;
    case TermKind::Constant:
      if (there.op != Op::Const) return false;
      break;
    default:
      return there.op == Op::Const && context_.graph.value(node) == literal(term, there.type);
  }
  if (term.name != kNoName) {
    Id& bound = names[term.name];
    if (bound.valid() && bound != node) return false;
    bound = node;
  }
  for (int k = 0; k < term.count; ++k) {
    if (!match(at, there.src[k], names)) return false;
  }
  return true;
}

bool Rewriter::holds(const Rule& rule, const Names& names) {
  const GuardTerm* at = rule.condition.data();
  return guard_value(rule, at, names) != 0;
}

Wide Rewriter::guard_value(const Rule& rule, const GuardTerm*& at, const Names& names) {
  const GuardTerm& term = *at++;
  const Id named = term.name != kNoName ? names[term.name] : Id{};
  auto count = [&](Op op) {
    const Scalar value = graph().value(named);
    return Wide{evaluate(op, std::span(&value, 1)).bits};
  };
  switch (term.op) {
    case GuardOp::Number:
      return term.number;
    case GuardOp::Value:
      return number_of(graph().value(named));
    case GuardOp::Bits:
      return graph().value(named).bits;
    case GuardOp::Popc:
      return count(Op::Popc);
    case GuardOp::Clz:
      return count(Op::Clz);
    case GuardOp::Ctz:
      return count(Op::Ctz);
    case GuardOp::Width:
      return bits_of(graph().type(named));
    case GuardOp::Type:
      return static_cast<int>(graph().type(named));
    case GuardOp::Min:
      return facts_->of(named).min;
    case GuardOp::Max:
      return facts_->of(named).max;
    case GuardOp::Zeros:
      return facts_->of(named).zeros;
    case GuardOp::Ones:
      return facts_->of(named).ones;
    default:
      break;
  }
  const Wide a = guard_value(rule, at, names);
  const Wide b = guard_value(rule, at, names);
  switch (term.op) {
    case GuardOp::Eq:
      return a == b;
    case GuardOp::Ne:
      return a != b;
    case GuardOp::Lt:
      return a < b;
    case GuardOp::Le:
      return a <= b;
    case GuardOp::Gt:
      return a > b;
    case GuardOp::Ge:
      return a >= b;
    case GuardOp::Add:
      return a + b;
    case GuardOp::Sub:
      return a - b;
    case GuardOp::Mul: {
      Wide product = 0;
      constexpr Wide kHuge = Wide{1} << 126;
      return __builtin_mul_overflow(a, b, &product) ? ((a < 0) == (b < 0) ? kHuge : -kHuge)
                                                    : product;
    }
    case GuardOp::And:
      return a & b;
    case GuardOp::Or:
      return a | b;
    case GuardOp::Xor:
      return a ^ b;
    case GuardOp::Shl:
      return b < 0 || b > 64 ? Wide{0} : a << static_cast<int>(b);
    case GuardOp::Shr:
      return b < 0 || b > 64 ? Wide{0} : a >> static_cast<int>(b);
    default:
      XLOG_UNREACHABLE("a condition that nobody computes");
  }
}

Id Rewriter::build(const Rule& rule, Names& names) {
  if (rule.code != nullptr) {
    return rule.code(*this, names[0], std::span(names).subspan(1));
  }
  const Term* at = rule.right.data();
  const Type type = graph().type(names[0]);
  const Id made = build_term(at, names, type, true);
  if (rule.right[0].computed && graph().type(made) != type) {
    return graph().constant(kernel::cast(type, graph().value(made)));
  }
  return made;
}

// The type of a result's part as far as it follows from names; Void for bare numbers.
Type Rewriter::term_type(const Term* at, const Names& names) const {
  if (at->name != kNoName) return context_.graph.type(names[at->name]);
  if (at->kind != TermKind::Apply) return at->types.single() ? at->types.first() : Type::Void;
  switch (info(at->op).result) {
    case ResultRule::Bool:
      return Type::Bool;
    case ResultRule::Count:
      return Type::U32;
    case ResultRule::Given:
      return at->like != kNoName ? context_.graph.type(names[at->like]) : at->types.first();
    default:
      break;
  }
  const bool pick = info(at->op).result == ResultRule::Pick;
  const Term* operand = at + 1;
  for (int k = 0; k < at->count; ++k) {
    if (k > 0 || !pick) {
      if (Type type = term_type(operand, names); type != Type::Void && !operand->computed) {
        return type;
      }
    }
    operand += after_term(std::span(operand, Rule::kMostTerms), 0);
  }
  return Type::Void;
}

// `type` is what the place asks for, Void where only the operands can say.
Id Rewriter::build_term(const Term*& at, const Names& names, Type type, bool is_root) {
  const Term& term = *at++;
  if (term.kind != TermKind::Apply) {
    if (term.name != kNoName) {
      return names[term.name];
    }
    if (term.types.single()) type = term.types.first();
    XLOG_CHECK(type != Type::Void, "a number in a rule whose type nobody says");
    return graph().constant(literal(term, type));
  }
  const ResultRule result = info(term.op).result;
  Type wanted = term_type(&term, names);  // of the operands
  if (result == ResultRule::Bool || result == ResultRule::Count) {
    wanted = Type::Void;
    const Term* operand = at;
    for (int k = 0; k < term.count && wanted == Type::Void; ++k) {
      wanted = term_type(operand, names);
      operand += after_term(std::span(operand, Rule::kMostTerms), 0);
    }
  } else if (result == ResultRule::Given) {
    wanted = Type::Void;
  } else if (wanted == Type::Void) {
    wanted = type;
  }
  Id operands[3];
  for (int k = 0; k < term.count; ++k) {
    const bool condition = result == ResultRule::Pick && k == 0;
    const Type place = condition ? Type::Bool : wanted;
    const bool computed = at->computed;
    operands[k] = build_term(at, names, place, false);
    // Computed constants (a bit count, say) take the type that their place asks for.
    if (computed && place != Type::Void && graph().type(operands[k]) != place) {
      operands[k] = graph().constant(kernel::cast(place, graph().value(operands[k])));
    }
  }
  const std::span<const Id> list(operands, term.count);
  Id made;
  if (term.op == Op::Cast) {
    made = graph().cast(term.like != kNoName ? graph().type(names[term.like]) : term.types.first(),
                        operands[0]);
  } else {
    made = graph().make(term.op, list);
  }
  if (term.computed) return graph().constant(fold_constants(graph(), made));
  return is_root ? made : normal(made);
}

void Rewriter::fired(const Rule& rule, Id before, Id after) {
  context_.note(rule.name, before, after);
  if (trace_.size() == kTraceLength) trace_.erase(trace_.begin());
  trace_.push_back({&rule, before, after});
  if (--fuel_ == 0) out_of_fuel("a pass");
  XLOG_CHECK(graph().type(before) == graph().type(after),
             fmt::format("rule {} changes a type: {} -> {}", rule.name, describe(graph(), before),
                         describe(graph(), after)));
#ifndef NDEBUG
  if (rules_.measure() == nullptr) return;
  const Weight change = measure_change(graph(), rules_.measure(), before, after);
  XLOG_CHECK(change < Weight{},
             fmt::format("rule {} of {} does not lower the measure: {} -> {}", rule.name,
                         rules_.name(), describe(graph(), before), describe(graph(), after)));
#endif
}

void Rewriter::out_of_fuel(std::string_view what) const {
  std::string text =
      fmt::format("{}: out of fuel for {}; the last rules were\n", rules_.name(), what);
  for (const Firing& firing : trace_) {
    text +=
        fmt::format("  {}: {} -> {}\n", firing.rule->name, describe(context_.graph, firing.before),
                    describe(context_.graph, firing.after));
  }
  XLOG_UNREACHABLE(text);
}

// Walks both expressions from the top, larger ids first; where they meet their counts cancel, so
// only the part that differs is seen.
Weight measure_change(const Graph& graph, Measure measure, Id before, Id after) {
  std::map<uint32_t, int64_t, std::greater<>> uses;
  --uses[before.index];
  ++uses[after.index];
  Weight change{};
  while (!uses.empty()) {
    const auto [index, times] = *uses.begin();
    uses.erase(uses.begin());
    if (times == 0) continue;
    const Weight weight = measure(graph, Id{index});
    for (size_t k = 0; k < weight.size(); ++k) change[k] += times * weight[k];
    if (!is_arithmetic(graph.op(Id{index}))) continue;
    for (Id operand : graph.operands(Id{index})) uses[operand.index] += times;
  }
  return change;
}

namespace {
void describe_to(const Graph& graph, Id node, int depth, std::string& text) {
  if (graph.is_const(node)) {
    text += to_text(graph.value(node));
    return;
  }
  const std::string_view name = graph.name(node);
  if (!is_arithmetic(graph.op(node)) || depth == 0) {
    text += fmt::format("%{}{}{}:{}", node.index, name.empty() ? "" : ".", name,
                        spelling(graph.type(node)));
    return;
  }
  text += fmt::format("({}", spelling(graph.op(node)));
  if (info(graph.op(node)).result == ResultRule::Given) {
    text += fmt::format(":{}", spelling(graph.type(node)));
  }
  for (Id operand : graph.operands(node)) {
    text += ' ';
    describe_to(graph, operand, depth - 1, text);
  }
  text += ')';
}
}  // namespace

std::string describe(const Graph& graph, Id node) {
  std::string text;
  describe_to(graph, node, 4, text);
  return text;
}

Scalar fold_constants(const Graph& graph, Id node) {
  const auto list = graph.operands(node);
  if (graph.op(node) == Op::Cast) return cast(graph.type(node), graph.value(list[0]));
  if (graph.op(node) == Op::Bitcast) {
    return bitcast(graph.type(node), graph.value(list[0]), graph.is_raw(node));
  }
  Scalar values[3];
  for (size_t k = 0; k < list.size(); ++k) values[k] = graph.value(list[k]);
  // A NaN's payload is nobody's business and depends on the machine.
  return canonical(evaluate(graph.op(node), std::span(values, list.size())));
}

}  // namespace xlog::kernel
