// Exact counts of models: families of formulas and ground programs of growing size. Seconds are CPU
// time of counting, with turning a program into a formula, and of compiling; a family ends with the
// first size that takes more than the limit.
//
//   bench_count [filter] [seconds]     10 seconds unless told

#include <fmt/format.h>

#include <cstdlib>
#include <ctime>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "generate_formulas.h"
#include "solve/compile.h"
#include "solve/model_count.h"
#include "solve/stable_formula.h"

namespace {

namespace solve = xlog::solve;
using solve::Atom;
using solve::CountFormula;
using solve::GroundProgram;
using solve::HeadKind;
using solve::Literal;

constexpr uint64_t kSeed = 1;

struct Family {
  std::string name;
  std::vector<int32_t> sizes;
  std::function<CountFormula(int32_t)> make;
};

CountFormula random_clauses(int32_t variables, double clauses_a_variable) {
  CountFormula formula;
  formula.clauses = bench::random_3sat(variables, clauses_a_variable, kSeed);
  return formula;
}

// Clauses whose variables lie near each other on a circle.
CountFormula ring(int32_t variables, int32_t reach) {
  bench::FormulaRandom random(kSeed);
  CountFormula formula;
  formula.clauses.need_variables(variables);
  for (int32_t c = 0; c < 2 * variables; ++c) {
    const int32_t start = random.below(variables);
    std::vector<Literal> clause;
    while (clause.size() < 3) {
      const Literal v = 1 + (start + random.below(reach)) % variables;
      const auto same = [&](Literal l) { return solve::variable_of(l) == v; };
      if (std::ranges::none_of(clause, same)) clause.push_back(random.below(2) == 0 ? v : -v);
    }
    formula.clauses.add(clause);
  }
  return formula;
}

CountFormula formula_of(const GroundProgram& program) {
  return std::move(solve::stable_formula(program)->formula);
}

// One of so many random terms of three literals holds.
CountFormula any_term(int32_t variables, int32_t terms) {
  bench::FormulaRandom random(kSeed);
  GroundProgram program;
  const Atom any = variables + 1;
  for (Atom a = 1; a <= variables; ++a) program.add_rule(HeadKind::Choice, {a}, {});
  for (int32_t t = 0; t < terms; ++t) {
    program.add_rule(
        HeadKind::Disjunction, {any},
        {random.literal(variables), random.literal(variables), random.literal(variables)});
  }
  program.add_rule(HeadKind::Disjunction, {}, {-any});
  return formula_of(program);
}

// Any number of rows but half of them, with an atom for each number.
CountFormula counted_rows(int32_t rows) {
  GroundProgram program;
  std::vector<Literal> all;
  for (Atom a = 1; a <= rows; ++a) {
    program.add_rule(HeadKind::Choice, {a}, {});
    all.push_back(a);
  }
  const std::vector<int64_t> ones(all.size(), 1);
  std::vector<Atom> reached;
  for (int64_t k = 0; k <= rows; ++k) {
    reached.push_back(program.new_atom());
    program.add_weight_rule(HeadKind::Disjunction, std::span(&reached.back(), 1), k, all, ones);
  }
  const auto half = static_cast<size_t>(rows / 2);
  program.add_rule(HeadKind::Disjunction, {}, {reached[half], -reached[half + 1]});
  return formula_of(program);
}

// Sets of n random weights that weigh half of all.
CountFormula subset_sums(int32_t items) {
  bench::FormulaRandom random(kSeed);
  GroundProgram program;
  std::vector<Literal> all;
  std::vector<int64_t> weights;
  int64_t total = 0;
  for (Atom a = 1; a <= items; ++a) {
    program.add_rule(HeadKind::Choice, {a}, {});
    all.push_back(a);
    weights.push_back(1 + random.below(50));
    total += weights.back();
  }
  const Atom enough = items + 1, too_much = items + 2;
  program.add_weight_rule(HeadKind::Disjunction, std::vector<Atom>{enough}, total / 2, all,
                          weights);
  program.add_weight_rule(HeadKind::Disjunction, std::vector<Atom>{too_much}, total / 2 + 1, all,
                          weights);
  program.add_rule(HeadKind::Disjunction, {}, {-enough});
  program.add_rule(HeadKind::Disjunction, {}, {too_much});
  return formula_of(program);
}

// Which edges of a random graph are there, so that everything is reached from the first node, over
// edges in both directions: one positive cycle.
CountFormula connected(int32_t nodes) {
  bench::FormulaRandom random(kSeed);
  GroundProgram program;
  program.need_atoms(nodes);
  program.add_rule(HeadKind::Disjunction, {1}, {});
  const auto add_edge = [&](Atom a, Atom b) {
    const Atom edge = program.new_atom();
    program.add_rule(HeadKind::Choice, {edge}, {});
    program.add_rule(HeadKind::Disjunction, {a}, {b, edge});
    program.add_rule(HeadKind::Disjunction, {b}, {a, edge});
  };
  for (Atom a = 2; a <= nodes; ++a) {
    add_edge(a, a - 1);
    const Atom b = 1 + random.below(a - 1);
    if (a > 2 && b != a - 1) add_edge(a, b);
    program.add_rule(HeadKind::Disjunction, {}, {-a});
  }
  return formula_of(program);
}

// Colours of the cells of a strip five cells wide, different from those beside.
CountFormula coloured_strip(int32_t length) {
  constexpr int32_t kWidth = 5, kColours = 3;
  CountFormula formula;
  const auto cell = [&](int32_t x, int32_t y, int32_t colour) {
    return (x * kWidth + y) * kColours + colour + 1;
  };
  for (int32_t x = 0; x < length; ++x) {
    for (int32_t y = 0; y < kWidth; ++y) {
      std::vector<Literal> some;
      for (int32_t c = 0; c < kColours; ++c) {
        some.push_back(cell(x, y, c));
        for (int32_t d = 0; d < c; ++d) formula.clauses.add({-cell(x, y, c), -cell(x, y, d)});
        if (x > 0) formula.clauses.add({-cell(x, y, c), -cell(x - 1, y, c)});
        if (y > 0) formula.clauses.add({-cell(x, y, c), -cell(x, y - 1, c)});
      }
      formula.clauses.add(some);
    }
  }
  return formula;
}

std::vector<Family> families() {
  return {
      {"3-CNF, 1.5 clauses a variable, variables",
       {40, 50, 60, 70, 80, 90, 100},
       [](int32_t n) { return random_clauses(n, 1.5); }},
      {"3-CNF, 3 clauses a variable, variables",
       {50, 75, 100, 125, 150, 175, 200},
       [](int32_t n) { return random_clauses(n, 3); }},
      {"3-CNF on a ring, 12 near, variables",
       {100, 200, 400, 800, 1600, 3200},
       [](int32_t n) { return ring(n, 12); }},
      {"coloured strip, cells", {10, 20, 40, 80, 160, 320}, coloured_strip},
      {"any of 3n terms, variables",
       {20, 30, 40, 50, 60},
       [](int32_t n) { return any_term(n, 3 * n); }},
      {"any number but n/2 of n rows, rows", {50, 100, 200, 400, 800}, counted_rows},
      {"subset sums, items", {25, 50, 100, 200, 400}, subset_sums},
      {"connected subgraphs, nodes", {10, 15, 20, 25, 30, 40}, connected},
  };
}

double cpu_seconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

// Ends what takes longer, by the processor's time: the machine may be busy.
class Clock {
 public:
  explicit Clock(double most) : end_(cpu_seconds() + most) {
    limits_.interrupt = &over_;
    limits_.progress = [this] { over_ = cpu_seconds() > end_; };
  }
  const solve::Limits& limits() const { return limits_; }
  double seconds() const { return cpu_seconds() - begin_; }

 private:
  const double begin_ = cpu_seconds();
  const double end_;
  solve::Interrupt over_ = false;
  solve::Limits limits_;
};

std::string short_number(const mpz_class& number) {
  const std::string digits = number.get_str();
  if (digits.size() <= 9) return digits;
  return fmt::format("{}.{}e{}", digits[0], digits.substr(1, 2), digits.size() - 1);
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view filter = argc > 1 ? argv[1] : "";
  const int limit = argc > 2 ? std::atoi(argv[2]) : 10;
  fmt::print("{:<40} {:>6} {:>9} {:>10} {:>10} {:>10}  {}\n", "", "size", "count, s", "decisions",
             "circuit, s", "edges", "models");
  for (const Family& family : families()) {
    if (family.name.find(filter) == std::string::npos) continue;
    for (const int32_t size : family.sizes) {
      const Clock counting(limit);
      const CountFormula formula = family.make(size);
      const solve::ModelCount counted = count_models(formula, counting.limits());
      const double seconds = counting.seconds();
      if (counted.outcome != solve::Outcome::Sat) {
        fmt::print("{:<40} {:>6} {:>9}\n", family.name, size, "too long");
        break;
      }
      const Clock compiling(limit);
      const solve::Compiled compiled = compile(formula, {}, compiling.limits());
      const bool is_compiled = compiled.outcome == solve::Outcome::Sat;
      fmt::print("{:<40} {:>6} {:>9.2f} {:>10} {:>10} {:>10}  {}\n", family.name, size, seconds,
                 counted.decisions,
                 is_compiled ? fmt::format("{:.2f}", compiling.seconds()) : "too long",
                 compiled.circuit.edges(), short_number(counted.models));
      std::fflush(stdout);
    }
  }
  return 0;
}
