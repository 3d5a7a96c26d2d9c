// Tries every rule of every list against the definition of the ops (scalar.h): random instances of
// its pattern in every type that it admits, random values for what its names stand for.
#include "kernel/rules.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "base/sanitized.h"
#include "kernel/random_expression.h"
#include "kernel/rules_facts.h"
#include "kernel/rules_simplify.h"
#include "kernel/rules_strength.h"

namespace xlog::kernel {
namespace {

constexpr uint64_t kSeed = 20240611;
constexpr int kBindings = 2000 / int{kPartOfWork};  // for each rule and type
constexpr int kAttempts = 12000;                    // instances, for each type

// Makes instances of a pattern: types that fit, constants, expressions for the rest.
class Instances {
 public:
  Instances(Graph& graph, Random& random, RandomExpressions& expressions, const Rule& rule)
      : graph_(graph), random_(random), expressions_(expressions), rule_(rule) {}

  // Invalid where the types that were drawn do not fit. `focus` is tried first where a type is
  // free.
  Id make(Type focus) {
    focus_ = focus;
    names_ = {};
    if (rule_.any_root) return any_node();
    const Term* at = rule_.left.data();
    Id made;
    return term(at, Type::Void, made) ? made : Id{};
  }

  // Of what the first name stands for.
  Type type() const { return names_[1].valid() ? graph_.type(names_[1]) : focus_; }

 private:
  Id any_node() {
    std::vector<Id> pool;
    const bool constant = random_.below(2) == 0;
    for (int k = 0; k < 3; ++k) {
      pool.push_back(constant ? expressions_.constant(focus_) : expressions_.leaf(focus_));
    }
    pool.push_back(constant ? expressions_.constant(Type::Bool) : expressions_.leaf(Type::Bool));
    const Id made = expressions_.node(pool);
    return is_arithmetic(graph_.op(made)) ? made : Id{};
  }

  bool pick(TypeSet allowed, Domain domain, Type wanted, Type& type) {
    auto fits = [&](Type t) { return allowed.has(t) && in_domain(domain, t); };
    if (wanted != Type::Void) {
      type = wanted;
    } else if (fits(focus_) && random_.below(4) != 0) {
      type = focus_;
    } else {
      do {
        type = kValueTypes[random_.below(kValueTypes.size())];
      } while (!fits(type));
    }
    return fits(type);
  }

  bool term(const Term*& at, Type wanted, Id& made) {
    const Term& here = *at++;
    if (here.kind == TermKind::Apply) {
      if (!apply(here, at, wanted, made)) return false;
    } else {
      if (here.name != kNoName && names_[here.name].valid()) {
        made = names_[here.name];
        return wanted == Type::Void || graph_.type(made) == wanted;
      }
      Type type;
      if (!pick(here.types, Domain::Any, wanted, type)) return false;
      switch (here.kind) {
        case TermKind::Any:
          made = random_.below(8) == 0 ? expressions_.constant(type) : expressions_.leaf(type);
          break;
        case TermKind::Constant:
          made = expressions_.constant(type);
          break;
        default:
          made = literal(here, type);
      }
    }
    if (here.name != kNoName) names_[here.name] = made;
    return true;
  }

  Id literal(const Term& here, Type type) {
    const uint64_t top = (mask_of(type) >> 1) + 1;
    if (here.kind == TermKind::NegativeZero) return graph_.constant({type, top});
    if (here.kind == TermKind::Number) return graph_.constant(Scalar::of(type, here.number));
    const bool least = here.kind == TermKind::Smallest;
    return graph_.constant(
        {type, is_signed(type) ? (least ? top : top - 1) : (least ? 0 : mask_of(type))});
  }

  bool apply(const Term& here, const Term*& at, Type wanted, Id& made) {
    const OpInfo& facts = info(here.op);
    Type type = wanted, operand = Type::Void;
    switch (facts.result) {
      case ResultRule::Bool:
        type = Type::Bool;
        if (!pick(kAllTypes, facts.domain, Type::Void, operand)) return false;
        break;
      case ResultRule::Count:
        type = Type::U32;
        if (!pick(kAllTypes, facts.domain, Type::Void, operand)) return false;
        break;
      case ResultRule::Given:
        if (!pick(here.types, Domain::Any, wanted, type)) return false;
        break;
      default:
        if (!pick(here.types, facts.domain, wanted, type)) return false;
        operand = type;
    }
    if ((wanted != Type::Void && wanted != type) || !here.types.has(type)) return false;
    Id operands[3];
    for (int k = 0; k < here.count; ++k) {
      const bool condition = facts.result == ResultRule::Pick && k == 0;
      if (!term(at, condition ? Type::Bool : operand, operands[k])) return false;
    }
    const std::span<const Id> list(operands, here.count);
    if (facts.result == ResultRule::Given) {
      const Type from = graph_.type(operands[0]);
      if (from == type || !cast_problem(here.op, from, type).empty()) return false;
      made = here.op == Op::Cast ? graph_.cast(type, operands[0])
                                 : graph_.bitcast(type, operands[0], random_.below(2) == 0);
      return true;
    }
    if (!type_problem(graph_, here.op, list).empty()) return false;
    made = graph_.make(here.op, list);
    return true;
  }

  Graph& graph_;
  Random& random_;
  RandomExpressions& expressions_;
  const Rule& rule_;
  Type focus_ = Type::U32;
  std::array<Id, Rule::kMostNames> names_{};
};

// Weighs nothing, and so checks nothing: a rule by itself meets nodes that its set never shows it.
class SingleRule {
 public:
  explicit SingleRule(const Rule& rule) : rules_("one rule", {std::span(&rule, 1)}, nullptr) {}

  // Pairs (before, after) for one type, each with other parameters.
  void check(const Rule& rule, Type focus, std::map<Type, int>& tried) {
    Random random(kSeed + static_cast<uint64_t>(focus));
    int bindings = 0, fitting = 0;
    for (int attempt = 0; attempt < kAttempts && bindings < kBindings; ++attempt) {
      Graph graph;
      RandomExpressions expressions(graph, random);
      Instances instances(graph, random, expressions, rule);
      const Id before = instances.make(focus);
      if (attempt == 300 && fitting == 0) return;  // the rule does not admit the type
      if (!before.valid() || instances.type() != focus) continue;
      ++fitting;
      Facts facts(graph);
      const Target target;
      PassContext context{graph, target, nullptr, {}, 0, {}};
      Rewriter rewriter(context, rules_, &facts);
      const Id after = rewriter.apply_once(before);
      if (after == before) continue;
      // Rules that rarely match get more values for each instance.
      const int values = attempt < 1000 ? 20 : 400;
      for (int k = 0; k < values; ++k) {
        expressions.draw();
        ASSERT_EQ(to_text(canonical(expressions.value(before))),
                  to_text(canonical(expressions.value(after))))
            << rule.name << ": " << describe(graph, before) << " -> " << describe(graph, after)
            << "\nseed " << kSeed << ", type " << spelling(focus);
      }
      bindings += values;
    }
    if (bindings > 0) tried[focus] = bindings;
  }

 private:
  RuleSet rules_;
};

void check_rules(std::span<const Rule> rules) {
  for (const Rule& rule : rules) {
    std::map<Type, int> tried;
    SingleRule single(rule);
    for (Type type : kValueTypes) single.check(rule, type, tried);
    EXPECT_FALSE(tried.empty()) << rule.name << " never matched anything";
    for (const auto& [type, bindings] : tried) {
      EXPECT_GE(bindings, kBindings) << rule.name << " hardly ever matches " << spelling(type);
    }
  }
}

TEST(Rules, SimplifyRulesKeepEveryValue) { check_rules(kSimplifyRules); }
TEST(Rules, FactsRulesKeepEveryValue) { check_rules(kFactsRules); }
TEST(Rules, StrengthRulesKeepEveryValue) { check_rules(kStrengthRules); }

TEST(Rules, NamesAreDistinct) {
  std::set<std::string_view> names;
  for (const Rule* rule : strength_rules().rules()) {
    EXPECT_TRUE(names.insert(rule->name).second) << rule->name << " occurs twice";
  }
  EXPECT_GE(names.size(), 120u);
}

// Whole sets on expressions full of their patterns: the measure falls with every firing (debug
// builds abort otherwise), values stay, and a second run changes nothing.
void check_set(const RuleSet& set, uint64_t seed) {
  Random random(seed);
  for (int round = 0; round < 2000 / int{kPartOfWork}; ++round) {
    Graph graph;
    RandomExpressions expressions(graph, random);
    std::vector<Id> pool;
    for (int k = 0; k < 6; ++k) {
      const Type type = kValueTypes[random.below(kValueTypes.size())];
      pool.push_back(expressions.leaf(type));
      pool.push_back(expressions.constant(type));
    }
    const auto rules = set.rules();
    for (int k = 0; k < 12; ++k) {
      const Rule& rule = *rules[random.below(rules.size())];
      const Type type = kValueTypes[random.below(kValueTypes.size())];
      const Id made = Instances(graph, random, expressions, rule).make(type);
      if (made.valid()) pool.push_back(made);
      pool.push_back(expressions.node(pool));
    }
    const Target target;
    PassContext context{graph, target, nullptr, {}, 0, {}};
    Facts facts(graph);
    std::vector<Id> normal(graph.size());
    Rewriter rewriter(context, set, &facts);
    const uint32_t size = graph.size();
    for (uint32_t k = 0; k < size; ++k) {
      const Id id{k};
      std::vector<Id> operands;
      for (Id operand : graph.operands(id)) operands.push_back(normal[operand.index]);
      normal[k] = rewriter.normal(graph.with_operands(id, operands));
    }
    for (int k = 0; k < 10; ++k) {
      expressions.draw();
      for (Id id : pool) {
        const Id after = normal[id.index];
        ASSERT_EQ(to_text(canonical(expressions.value(id))),
                  to_text(canonical(expressions.value(after))))
            << set.name() << ": " << describe(graph, id) << " -> " << describe(graph, after)
            << "\nseed " << seed << ", round " << round;
      }
    }
  }
}

TEST(RuleSets, SimplifyKeepsValues) { check_set(simplify_rules(), kSeed); }
TEST(RuleSets, FactsKeepValues) { check_set(facts_rules(), kSeed + 1); }
TEST(RuleSets, StrengthKeepsValues) { check_set(strength_rules(), kSeed + 2); }

// Every small divisor, and the edges, over every u8 and many wider numbers.
TEST(Rules, DivisionByConstantsIsExact) {
  Random random(kSeed);
  for (Type type : {Type::U8, Type::U32, Type::U64, Type::I32, Type::I64}) {
    for (int d = 0; d < 600; ++d) {
      Graph graph;
      const Id n = graph.parameter(0, type, Mode::Val);
      const Scalar divisor = d < 300 ? Scalar::of(type, d - 40) : random_value(random, type);
      const Target target;
      PassContext context{graph, target, nullptr, {}, 0, {}};
      Facts facts(graph);
      Rewriter rewriter(context, strength_rules(), &facts);
      for (Op op : {Op::Div, Op::Rem}) {
        const Id before = graph.make(op, {n, graph.constant(divisor)});
        const Id after = rewriter.normal(before);
        EXPECT_NE(graph.op(after), op) << describe(graph, before);
        RandomExpressions expressions(graph, random);
        ASSERT_EQ(expressions.parameter(type), n);
        for (int k = 0; k < 100; ++k) {
          expressions.draw();
          ASSERT_EQ(to_text(expressions.value(before)), to_text(expressions.value(after)))
              << describe(graph, before) << " of " << to_text(expressions.value(n));
        }
      }
    }
  }
}

}  // namespace
}  // namespace xlog::kernel
