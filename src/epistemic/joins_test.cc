// Ground programs by joins against those of the reference, up to the numbers of atoms.
#include "epistemic/joins.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <random>
#include <string>

#include "base/sanitized.h"
#include "device/pool.h"
#include "oracle/report.h"

namespace xlog::epistemic {
namespace {

using oracle::GroundBody;
using oracle::GroundKind;
using oracle::GroundLiteral;
using oracle::Instantiation;

// Open programs over facts n/1 and e/2. Variables are X, Y and Z; those of negated literals and of
// heads are bound by the first literals.
class Generator {
 public:
  explicit Generator(uint32_t seed) : random_(seed) {}

  std::string run() {
    std::string text;
    for (uint32_t i = 0; i < 2 + pick(4); ++i) text += fmt::format("n({}).\n", pick(5));
    for (uint32_t i = 0; i < 2 + pick(6); ++i)
      text += fmt::format("e({}, {}).\n", pick(5), pick(5));
    if (pick(3) == 0) text += fmt::format("p({}).\n", pick(5));
    text += "{ p(X) } :- n(X).\n{ q(X, Y) : e(X, Y) } :- n(X).\nr(X) :- p(X).\n";
    for (uint32_t i = 0; i < 2 + pick(5); ++i) text += rule();
    if (pick(2) == 0) text += one_per_group();
    return text + "?- p(X).\n?- q(X, Y).\n?- r(X).\n";
  }

 private:
  uint32_t pick(uint32_t n) { return static_cast<uint32_t>(random_() % n); }
  std::string one_of(std::initializer_list<const char*> list) {
    return list.begin()[pick(static_cast<uint32_t>(list.size()))];
  }
  std::string variable() { return one_of({"X", "Y"}); }
  std::string argument() { return pick(6) == 0 ? std::to_string(pick(5)) : variable(); }
  std::string atom() {
    if (pick(2) == 0) return fmt::format("{}({})", one_of({"n", "p", "r"}), argument());
    return fmt::format("{}({}, {})", one_of({"e", "q"}), argument(), argument());
  }
  std::string literal() {
    switch (pick(9)) {
      case 0:
        return fmt::format("X {} Y", one_of({"<", "!=", "=", "<="}));
      case 1:
        return fmt::format("6 / {} > {}", variable(), variable());
      case 2:
        return fmt::format("{} q({}, _)", one_of({"not", "know", "not possible", "not know"}),
                           variable());
      case 3:
        return atom();
      default:
        return fmt::format(
            "{} {}", one_of({"not", "not not", "know", "possible", "not know", "not possible"}),
            atom());
    }
  }
  std::string rule() {
    std::string body = one_of({"e(X, Y)", "n(X), n(Y)", "q(X, Y)", "q(X, Z), q(Z, Y)",
                               "p(X), q(X, Y)", "e(X, X), Y = X", "n(X), Y = X / 2",
                               "q(Y, X), know r(X)", "know q(X, Y)", "p(X), e(Z, X), r(Y)"});
    for (uint32_t i = pick(3); i > 0; --i) body += ", " + literal();
    const std::string head =
        one_of({"p(X)", "p(Y)", "r(X)", "q(Y, X)", "q(X, Y)", "p(X) ; r(Y)", "{ q(X, Y) }",
                "1 { q(X, V) : e(X, V), not r(V) } 2", "r(2)", "", "{ p(V) : q(V, Y) }"});
    return fmt::format("{} :- {}.\n", head, body);
  }

  // That both halves of a body say the same, or nearly so.
  std::string one_per_group() {
    std::string body = one_of(
        {"q(X, Z), q(Y, Z)", "p(X), p(Y)", "q(Z, X), q(Z, Y)", "r(X), r(Y), e(Z, Z)",
         "q(X, 1), q(Y, 1)", "q(X, _), q(Y, _)", "q(X, Z), q(Y, W)", "q(X, Z), q(Y, 2)",
         "q(X, Z), n(X), q(Y, Z), n(Y), not r(Z)", "e(X, Z), e(Y, Z), not q(X, Z), not q(Y, Z)",
         "know q(X, Z), know q(Y, Z)", "q(X, Z), q(Z, W), q(Y, Z), q(Z, V)",
         "n(X), n(Y), possible p(X), possible p(Y), X > 1, Y > 1"});
    body += fmt::format(", X {} Y", one_of({"<", "!=", ">", "<="}));
    if (pick(4) == 0) body += ", " + literal();
    return fmt::format(":- {}.\n", body);
  }

  std::mt19937 random_;
};

// Rules, bounds and rows as sorted lines, atoms by their names.
class Lines {
 public:
  Lines(const Instantiation& made, const oracle::Context& context)
      : made_(made), context_(context) {}

  std::vector<std::string> run() {
    for (const auto rule : made_.ground.rules) {
      std::vector<std::string> heads;
      for (const oracle::AtomId a : rule.heads) heads.push_back(name(a));
      std::ranges::sort(heads);
      lines_.push_back(fmt::format("{} {} {} :- {}", rule.source, static_cast<int>(rule.kind),
                                   fmt::join(heads, ";"), body(rule.body)));
    }
    for (const auto& bound : made_.ground.bounds) {
      if (context_.program.rules[bound.source].head_kind == lang::HeadKind::None) {
        add_pairs(bound);
        continue;
      }
      std::vector<std::string> elements;
      for (const auto& element : bound.elements) {
        elements.push_back(name(element.atom) + ":" + body(element.condition));
      }
      std::ranges::sort(elements);
      lines_.push_back(fmt::format("{} {}..{} {} :- {}", bound.source, bound.lower, bound.upper,
                                   fmt::join(elements, ";"), body(bound.body)));
    }
    for (uint32_t p = 0; p < made_.database.relations.size(); ++p) {
      const oracle::Relation& relation = made_.database.relations[p];
      for (size_t r = 0; r < relation.size(); ++r) {
        lines_.push_back("row " + oracle::atom_text({p}, relation.row(r), context_));
      }
    }
    lines_.push_back(fmt::format("{} without a value", context_.valueless.size()));
    if (made_.violation) lines_.push_back("violation " + made_.violation->instance);
    std::ranges::sort(lines_);
    // A pair is a rule for each of its orders, or one.
    lines_.erase(std::ranges::unique(lines_).begin(), lines_.end());
    return lines_;
  }

 private:
  // The rules that a bound stands for: at most one value of a group.
  void add_pairs(const oracle::GroundBound& bound) {
    EXPECT_EQ(bound.upper, 1);
    for (const auto& a : bound.elements) {
      for (const auto& b : bound.elements) {
        if (a.atom == b.atom) continue;
        std::vector<GroundLiteral> both = a.condition;
        both.insert(both.end(), b.condition.begin(), b.condition.end());
        lines_.push_back(fmt::format("{} {}  :- {}", bound.source,
                                     static_cast<int>(oracle::GroundHead::Constraint), body(both)));
      }
    }
  }

  std::string name(oracle::AtomId a) const {
    const auto& atom = made_.database.atoms[a];
    if (atom.pred.valid()) {
      return oracle::atom_text(atom.pred, made_.database.relations[atom.pred.index].row(atom.row),
                               context_);
    }
    for (const auto& [members, id] : made_.database.unions) {
      if (id != a) continue;
      std::vector<std::string> names;
      for (const oracle::AtomId member : members) names.push_back(name(member));
      std::ranges::sort(names);
      return fmt::format("one of {}", fmt::join(names, " "));
    }
    return "?";
  }
  std::string body(GroundBody literals) const {
    std::vector<std::string> texts;
    for (const GroundLiteral& l : literals) {
      texts.push_back(fmt::format("{}/{} {}", static_cast<int>(l.kind), static_cast<int>(l.modal),
                                  name(l.index)));
    }
    std::ranges::sort(texts);
    texts.erase(std::ranges::unique(texts).begin(), texts.end());
    return fmt::format("{}", fmt::join(texts, ", "));
  }

  const Instantiation& made_;
  const oracle::Context& context_;
  std::vector<std::string> lines_;
};

// Everything there is, with the numbers of atoms and rows.
std::vector<std::string> all_of(const Instantiation& made, const oracle::Context& context) {
  std::vector<std::string> lines;
  const auto body = [](GroundBody literals) {
    std::string text;
    for (const GroundLiteral& l : literals) {
      text +=
          fmt::format(" {}/{}/{}", static_cast<int>(l.kind), static_cast<int>(l.modal), l.index);
    }
    return text;
  };
  for (const auto rule : made.ground.rules) {
    lines.push_back(fmt::format("{} {} {} :-{}", rule.source, static_cast<int>(rule.kind),
                                fmt::join(rule.heads, ";"), body(rule.body)));
  }
  for (const auto& bound : made.ground.bounds) {
    lines.push_back(
        fmt::format("{} {}..{} :-{}", bound.source, bound.lower, bound.upper, body(bound.body)));
    for (const auto& element : bound.elements) {
      lines.push_back(fmt::format("  {} :{}", element.atom, body(element.condition)));
    }
  }
  for (uint32_t p = 0; p < made.database.relations.size(); ++p) {
    const oracle::Relation& relation = made.database.relations[p];
    for (size_t r = 0; r < relation.size(); ++r) {
      lines.push_back("row " + oracle::atom_text({p}, relation.row(r), context));
    }
  }
  for (const auto& atom : made.database.atoms) {
    lines.push_back(fmt::format("atom {} {}", atom.pred.index, atom.row));
  }
  lines.push_back(
      fmt::format("{} without a value, {} rows", context.valueless.size(), context.rows));
  if (made.violation) lines.push_back("violation " + made.violation->instance);
  return lines;
}

// Calls `compare` with two contexts for the same program, for each random one that can be grounded.
void for_random_programs(
    const std::function<void(oracle::Context& expected, oracle::Context& own)>& compare) {
  uint64_t compared = 0;
  for (uint32_t seed = 0; seed < 3000 / kPartOfWork; ++seed) {
    const std::string text = Generator(seed).run();
    SCOPED_TRACE(fmt::format("seed {}\n{}", seed, text));
    lang::Session session;
    auto program = lang::load(*session.sources.add("test.xlog", "", text), session);
    if (!program || session.diagnostics.has_errors()) continue;
    auto analysis = logic::analyze(*program, session);
    if (!analysis) continue;
    const logic::AnswerOptions options;
    oracle::Context expected(*program, *analysis, session, options);
    oracle::Context own(*program, *analysis, session, options);
    compare(expected, own);
    if (testing::Test::HasFatalFailure()) return;
    ++compared;
  }
  EXPECT_GT(compared, 2000u / kPartOfWork);
}

TEST(Joins, InBulkGiveTheSameNumbersAsOneByOne) {
  device::Pool pool(3);
  const Parallel parallel = [&](uint32_t n, uint32_t grain, const Piece& piece) {
    pool.parallel_for(n, grain, piece);
  };
  const BulkSizes never{.few_rows = SIZE_MAX};
  const BulkSizes tiny{.few_rows = 0, .instances_of_walk = 2, .instances_at_once = 7};
  for_random_programs([&](oracle::Context& expected_context, oracle::Context& own_context) {
    const Instantiation expected = instantiate_by_joins(expected_context, in_turn, never);
    const Instantiation own = instantiate_by_joins(own_context, parallel, tiny);
    ASSERT_EQ(all_of(own, own_context), all_of(expected, expected_context));
  });
}

// A limit that is reached inside a thread ends the work, and says which.
TEST(Joins, InBulkKeepTheLimits) {
  device::Pool pool(3);
  const Parallel parallel = [&](uint32_t n, uint32_t grain, const Piece& piece) {
    pool.parallel_for(n, grain, piece);
  };
  lang::Session session;
  auto program = lang::load(
      *session.sources.add("test.xlog", "",
                           "n(1..400). { a(X) } :- n(X). b(X, Y) :- a(X), a(Y). ?- b(X, Y)."),
      session);
  ASSERT_TRUE(program);
  auto analysis = logic::analyze(*program, session);
  ASSERT_TRUE(analysis);
  const auto message = [&](const logic::AnswerOptions& options) -> std::string {
    oracle::Context context(*program, *analysis, session, options);
    try {
      instantiate_by_joins(context, parallel, {.few_rows = 0, .instances_of_walk = 1000});
    } catch (const oracle::LimitExceeded& limit) {
      return limit.message;
    }
    return "";
  };
  EXPECT_EQ(message({}), "");
  logic::AnswerOptions few_rows;
  few_rows.max_rows = 5000;
  EXPECT_NE(message(few_rows).find("5000 rows"), std::string::npos) << message(few_rows);
  std::atomic<bool> stop = true;
  logic::AnswerOptions interrupted;
  interrupted.interrupt = &stop;
  EXPECT_EQ(message(interrupted), logic::kInterrupted);
}

TEST(Joins, GroundAsTheReferenceDoes) {
  uint64_t rules = 0;
  for_random_programs([&](oracle::Context& expected_context, oracle::Context& own_context) {
    const Instantiation expected = oracle::instantiate(expected_context);
    const Instantiation own = instantiate_by_joins(own_context);
    ASSERT_EQ(Lines(own, own_context).run(), Lines(expected, expected_context).run());
    EXPECT_EQ(own.ground.atom_count, expected.ground.atom_count);
    rules += expected.ground.rules.size();
  });
  EXPECT_GT(rules, 50'000u / kPartOfWork);
}

}  // namespace
}  // namespace xlog::epistemic
