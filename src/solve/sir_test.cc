#include "solve/sir.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "base/sanitized.h"

namespace xlog::solve {
namespace {

using Random = std::mt19937_64;

uint64_t below(Random& random, uint64_t n) { return random() % n; }

Literal random_literal(Random& random, int32_t variables) {
  const auto v = static_cast<Literal>(1 + below(random, static_cast<uint64_t>(variables)));
  return below(random, 2) == 0 ? v : -v;
}

std::vector<Literal> random_literals(Random& random, int32_t variables) {
  std::vector<Literal> literals(below(random, 5));
  for (Literal& literal : literals) literal = random_literal(random, variables);
  return literals;
}

std::vector<Atom> random_atoms(Random& random, int32_t atoms) {
  std::vector<Atom> list = random_literals(random, atoms);
  for (Atom& atom : list) atom = variable_of(atom);
  return list;
}

std::string random_text(Random& random) {
  std::string text;
  for (uint64_t i = below(random, 8); i > 0; --i) {
    switch (below(random, 4)) {
      case 0:
        text += static_cast<char>(below(random, 256));
        break;
      case 1:
        text += "\"\\#\n"[below(random, 4)];
        break;
      case 2:
        text += "\u00e9";
        break;
      default:
        text += static_cast<char>('a' + below(random, 26));
    }
  }
  return text;
}

Cnf random_cnf(Random& random, int32_t variables) {
  Cnf cnf;
  cnf.need_variables(static_cast<int32_t>(below(random, static_cast<uint64_t>(variables) + 1)));
  for (uint64_t i = below(random, 6); i > 0; --i) cnf.add(random_literals(random, variables));
  return cnf;
}

WeightedCnf random_weighted(Random& random, int32_t variables) {
  WeightedCnf formula{random_cnf(random, variables), random_cnf(random, variables), {}};
  for (size_t i = 0; i < formula.soft.size(); ++i) {
    formula.weights.push_back(random() >> (5 + below(random, 59)));
  }
  return formula;
}

std::vector<WeightedLiteral> random_sum(Random& random, int32_t atoms, bool negative) {
  std::vector<WeightedLiteral> items;
  for (const Literal literal : random_literals(random, atoms)) {
    auto weight = static_cast<int64_t>(1 + (random() >> (4 + below(random, 59))));
    if (negative && below(random, 2) == 0) weight = -weight;
    items.push_back({literal, weight});
  }
  return items;
}

GroundProgram random_program(Random& random, int32_t atoms) {
  GroundProgram program;
  program.need_atoms(atoms);
  for (uint64_t i = below(random, 8); i > 0; --i) {
    const HeadKind kind = below(random, 2) == 0 ? HeadKind::Choice : HeadKind::Disjunction;
    const std::vector<Atom> head = random_atoms(random, atoms);
    if (below(random, 3) != 0) {
      program.add_rule(kind, head, random_literals(random, atoms));
      continue;
    }
    std::vector<Literal> body;
    std::vector<int64_t> weights;
    for (const WeightedLiteral& item : random_sum(random, atoms, false)) {
      body.push_back(item.literal);
      weights.push_back(item.weight);
    }
    program.add_weight_rule(kind, head, static_cast<int64_t>(random()), body, weights);
  }
  for (uint64_t i = below(random, 3); i > 0; --i) {
    program.minimize.push_back({static_cast<int64_t>(random()), random_sum(random, atoms, true)});
  }
  for (uint64_t i = below(random, 3); i > 0; --i) {
    program.externals.push_back(
        {variable_of(random_literal(random, atoms)), static_cast<ExternalValue>(below(random, 4))});
  }
  for (uint64_t i = below(random, 4); i > 0; --i) {
    program.shown.push_back({random_text(random), random_literals(random, atoms)});
  }
  if (below(random, 2) == 0) program.projection = random_atoms(random, atoms);
  program.assumptions = random_literals(random, atoms);
  return program;
}

SirJob random_job(Random& random) {
  SirJob job;
  const int32_t variables =
      below(random, 10) == 0 ? kMostAtoms : static_cast<int32_t>(1 + below(random, 9));
  const uint64_t kind = below(random, 3);
  if (kind == 0) job.problem = random_cnf(random, variables);
  if (kind == 1) job.problem = random_weighted(random, variables);
  if (kind == 2) job.problem = random_program(random, variables);
  if (kind != 2) job.assumptions = random_literals(random, variables);
  if (below(random, 2) == 0) job.limits.conflicts = random() >> below(random, 64);
  if (below(random, 2) == 0) job.limits.time = std::chrono::milliseconds(below(random, 100'000));
  if (below(random, 2) == 0) job.limits.memory_bytes = random() >> below(random, 64);
  do {
    job.answer = static_cast<SirAnswer>(below(random, 1 + static_cast<size_t>(SirAnswer::Proof)));
  } while (!info_of(job.answer).of_kind[kind]);
  if (job.answer == SirAnswer::Models) job.models = below(random, 5);
  return job;
}

TEST(Sir, PrinterAndParserAreInverse) {
  for (uint64_t seed = 0; seed < 20'000 / kPartOfWork; ++seed) {
    Random random(seed);
    const SirJob job = random_job(random);
    const std::string text = print_sir(job);
    SCOPED_TRACE(testing::Message() << "seed " << seed << "\n" << text);
    Result<SirJob> again = parse_sir(text, "printed");
    ASSERT_TRUE(again.ok()) << again.error().text();
    ASSERT_TRUE(*again == job);
    ASSERT_EQ(print_sir(*again), text);
  }
}

TEST(Sir, ReadsWhatPeopleWrite) {
  const Result<SirJob> sat = parse_sir(
      "# a job\r\n\n  sir 1 sat\r\nclause 1 -2 # two literals\nclause\n\tassume -1\n"
      "limit seconds 2.5\nlimit memory 2G\nreturn core",
      "a.sir");
  ASSERT_TRUE(sat.ok()) << sat.error().text();
  EXPECT_EQ(print_sir(*sat),
            "sir 1 sat\nvariables 2\nclause 1 -2\nclause\nassume -1\nlimit seconds 2.500\n"
            "limit memory 2147483648\nreturn core\n");

  const Result<SirJob> stable = parse_sir(
      "sir 1 stable\nchoice 1 2\nrule 3 4 <- 1 -2\nrule <- sum 2 1=1 -2=3\nrule 5\n"
      "minimize 0 3=-1\nshow \"a # b\" 3\nproject\nassume 9\nreturn models 0\n",
      "b.sir");
  ASSERT_TRUE(stable.ok()) << stable.error().text();
  const auto& program = std::get<GroundProgram>(stable->problem);
  EXPECT_EQ(program.atoms(), 9);
  ASSERT_EQ(program.rules(), 4u);
  EXPECT_EQ(program.rule(0).head_kind, HeadKind::Choice);
  EXPECT_TRUE(program.rule(2).weighted);
  EXPECT_EQ(program.rule(2).bound, 2);
  EXPECT_EQ(program.name(3), "a # b");
  EXPECT_EQ(program.assumptions, std::vector<Literal>{9});
  EXPECT_TRUE(program.projection && program.projection->empty());
}

TEST(Sir, ErrorsNameTheirLine) {
  const struct {
    std::string_view text;
    std::string_view error;
  } cases[] = {
      {"", "f:1: a job without its first line"},
      {"clause 1\n", "f:1: this is no first line of a job"},
      {"sir 2 sat\n", "f:1: this is no first line of a job"},
      {"sir 1 sat\nclaus 1\n", "f:2: a sat job has no statement `claus`"},
      {"sir 1 sat\nsoft 1 1\n", "f:2: a sat job has no statement `soft`"},
      {"sir 1 sat\n\n# c\nclause 1 x\n", "f:4: `x` is no literal"},
      {"sir 1 sat\nclause 1 0\n", "f:2: `0` is no literal"},
      {"sir 1 sat\nclause -2147483648\n", "f:2: `-2147483648` is no literal"},
      {"sir 1 sat\nclause 1 <- 2\n", "f:2: nothing more was expected, but here is `<-`"},
      {"sir 1 sat\nvariables 99999999999\n",
       "f:2: expected the number of variables, but here is `99999999999`"},
      {"sir 1 sat\nvariables\n",
       "f:2: expected the number of variables, but here is the end of the line"},
      {"sir 1 maxsat\nsoft 18446744073709551616 1\n",
       "f:2: expected a weight, but here is `18446744073709551616`"},
      {"sir 1 maxsat\nsoft 18446744073709551615 1\nsoft 1 2\n",
       "f:3: the sum of the weights does not fit in 64 bits"},
      {"sir 1 maxsat\nreturn proof\n", "f:2: a maxsat job cannot return `proof`"},
      {"sir 1 sat\nreturn model\nreturn model\n", "f:3: what to return is said twice"},
      {"sir 1 sat\nlimit seconds 1.2345\n", "f:2: expected seconds, but here is `1.2345`"},
      {"sir 1 sat\nlimit seconds -1\n", "f:2: expected seconds, but here is `-1`"},
      {"sir 1 sat\nlimit conflicts 1\nlimit conflicts 1\n",
       "f:3: expected a limit not given before, but here is `conflicts`"},
      {"sir 1 sat\nlimit memory many\n", "f:2: expected a size, but here is `many`"},
      {"sir 1 stable\nrule\n", "f:2: a rule without head and body"},
      {"sir 1 stable\nrule -1\n", "f:2: `-1` is no atom"},
      {"sir 1 stable\nrule 1 <- sum 1 2\n", "f:2: expected literals with weights, but here is `2`"},
      {"sir 1 stable\nrule 1 <- sum 1 2=0\n", "f:2: weights in a body are positive"},
      {"sir 1 stable\nrule 1 <- sum 1 2=9223372036854775807 3=1\n",
       "f:2: the sum of the weights does not fit in 63 bits"},
      {"sir 1 stable\nrule 600000000\n", "f:2: `600000000` is no literal"},
      {"sir 1 stable\nexternal 1 maybe\n", "f:2: expected a value, but here is `maybe`"},
      {"sir 1 stable\nshow a 1\n", "f:2: expected a text in quotes, but here is `a`"},
      {"sir 1 stable\nshow \"a 1\n", "f:2: a string without its closing quote"},
      {"sir 1 stable\nshow \"\\n\" 1\n", "f:2: an unknown escape in a string"},
  };
  for (const auto& [text, error] : cases) {
    SCOPED_TRACE(text);
    const Result<SirJob> job = parse_sir(text, "f");
    ASSERT_FALSE(job.ok());
    EXPECT_EQ(job.error().message, error);
  }
  EXPECT_THAT(parse_sir("sir 1 sat\nclaus 1\n", "f").error().help, "did you mean `clause`?");
}

TEST(Sir, LimitsCountFromNow) {
  SirLimits limits;
  EXPECT_FALSE(limits.from(std::chrono::steady_clock::now()).deadline.has_value());
  limits.time = std::chrono::hours(1);
  limits.conflicts = 5;
  EXPECT_GT(*limits.from(std::chrono::steady_clock::now()).deadline,
            std::chrono::steady_clock::now());
  EXPECT_EQ(limits.from(std::chrono::steady_clock::now()).conflicts, 5u);
}

}  // namespace
}  // namespace xlog::solve
