#include "solve/walk_formula.h"

#include <algorithm>

#include "base/check.h"

namespace xlog::solve {

namespace {

enum class Known : uint8_t { No, True, False };

uint32_t code_of(Literal literal) {
  return 2 * static_cast<uint32_t>(variable_of(literal)) + (literal < 0 ? 1 : 0);
}

// Where each literal occurs, the clauses of a literal in order.
void index_occurrences(const std::vector<uint32_t>& clause_starts,
                       const std::vector<uint32_t>& literals, uint32_t codes,
                       std::vector<uint32_t>& starts, std::vector<uint32_t>& occurrences) {
  starts.assign(size_t{codes} + 1, 0);
  for (const uint32_t literal : literals) ++starts[literal + 1];
  for (size_t code = 1; code < starts.size(); ++code) starts[code] += starts[code - 1];
  occurrences.resize(literals.size());
  std::vector<uint32_t> next(starts.begin(), starts.end() - 1);
  for (uint32_t c = 0; c + 1 < clause_starts.size(); ++c) {
    for (uint32_t l = clause_starts[c]; l < clause_starts[c + 1]; ++l) {
      occurrences[next[literals[l]]++] = c;
    }
  }
}

class Simplifier {
 public:
  Simplifier(const Cnf& cnf, std::span<const Literal> assumptions);
  WalkFormula run();

 private:
  void learn(uint32_t literal);
  bool propagate();
  Known known(uint32_t literal) const {
    const Known variable = known_[literal / 2];
    if (variable == Known::No || literal % 2 == 0) return variable;
    return variable == Known::True ? Known::False : Known::True;
  }

  int32_t variables_;
  // Each literal once in a clause, and no clause with a literal and its negation.
  std::vector<uint32_t> clause_starts_ = {0};
  std::vector<uint32_t> literals_;
  std::vector<Known> known_;  // of each variable
  std::vector<uint32_t> units_;
  bool contradiction_ = false;
};

Simplifier::Simplifier(const Cnf& cnf, std::span<const Literal> assumptions)
    : variables_(cnf.variables()) {
  for (const Literal literal : assumptions) {
    variables_ = std::max(variables_, variable_of(literal));
  }
  known_.assign(static_cast<size_t>(variables_) + 1, Known::No);
  XLOG_CHECK(cnf.literals() < UINT32_MAX, "local search counts literals in 32 bits");
  literals_.reserve(cnf.literals());
  std::vector<uint32_t> clause;
  for (size_t c = 0; c < cnf.size(); ++c) {
    clause.clear();
    for (const Literal literal : cnf[c]) clause.push_back(code_of(literal));
    std::ranges::sort(clause);
    const auto repeated = std::ranges::unique(clause);
    clause.erase(repeated.begin(), repeated.end());
    const auto opposite = [](uint32_t a, uint32_t b) { return (a ^ b) == 1; };
    if (std::ranges::adjacent_find(clause, opposite) != clause.end()) continue;
    if (clause.empty()) contradiction_ = true;
    if (clause.size() == 1) learn(clause[0]);
    literals_.insert(literals_.end(), clause.begin(), clause.end());
    clause_starts_.push_back(static_cast<uint32_t>(literals_.size()));
  }
  for (const Literal literal : assumptions) learn(code_of(literal));
}

void Simplifier::learn(uint32_t literal) {
  if (known(literal) == Known::False) contradiction_ = true;
  if (known(literal) != Known::No) return;
  known_[literal / 2] = literal % 2 == 0 ? Known::True : Known::False;
  units_.push_back(literal);
}

// Whether there is no contradiction.
bool Simplifier::propagate() {
  if (contradiction_ || units_.empty()) return !contradiction_;
  std::vector<uint32_t> starts;
  std::vector<uint32_t> occurrences;
  index_occurrences(clause_starts_, literals_, 2 * static_cast<uint32_t>(variables_) + 2, starts,
                    occurrences);
  std::vector<uint32_t> left;  // literals of each clause that are not known to be false
  for (size_t c = 0; c + 1 < clause_starts_.size(); ++c) {
    left.push_back(clause_starts_[c + 1] - clause_starts_[c]);
  }
  for (size_t u = 0; u < units_.size() && !contradiction_; ++u) {
    const uint32_t is_false = units_[u] ^ 1;
    for (uint32_t o = starts[is_false]; o < starts[is_false + 1]; ++o) {
      const uint32_t c = occurrences[o];
      if (--left[c] != 1) continue;
      // The one that is left may be false already, and only not be propagated yet.
      uint32_t open = UINT32_MAX;
      bool holds = false;
      for (uint32_t l = clause_starts_[c]; l < clause_starts_[c + 1]; ++l) {
        holds = holds || known(literals_[l]) == Known::True;
        if (known(literals_[l]) == Known::No) open = literals_[l];
      }
      if (holds) continue;
      if (open == UINT32_MAX) {
        contradiction_ = true;
      } else {
        learn(open);
      }
    }
  }
  return !contradiction_;
}

WalkFormula Simplifier::run() {
  WalkFormula formula;
  formula.fixed = Model(variables_);
  formula.clause_starts.push_back(0);
  if (!propagate()) {
    formula.contradiction = true;
    return formula;
  }
  for (int32_t v = 1; v <= variables_; ++v) {
    if (known_[static_cast<size_t>(v)] == Known::True) formula.fixed.set(v);
  }
  constexpr uint32_t kNone = UINT32_MAX;
  std::vector<uint32_t> number(known_.size(), kNone);
  for (size_t c = 0; c + 1 < clause_starts_.size(); ++c) {
    const std::span clause =
        std::span(literals_).subspan(clause_starts_[c], clause_starts_[c + 1] - clause_starts_[c]);
    const auto holds = [&](uint32_t literal) { return known(literal) == Known::True; };
    if (std::ranges::any_of(clause, holds)) continue;
    for (const uint32_t literal : clause) {
      if (known(literal) == Known::False) continue;
      uint32_t& variable = number[literal / 2];
      if (variable == kNone) {
        variable = formula.variables();
        formula.original.push_back(static_cast<int32_t>(literal / 2));
      }
      formula.literals.push_back(2 * variable + literal % 2);
    }
    const uint32_t length =
        static_cast<uint32_t>(formula.literals.size()) - formula.clause_starts.back();
    formula.longest = std::max(formula.longest, length);
    formula.clause_starts.push_back(static_cast<uint32_t>(formula.literals.size()));
  }
  index_occurrences(formula.clause_starts, formula.literals, 2 * formula.variables(),
                    formula.occurrence_starts, formula.occurrences);
  return formula;
}

}  // namespace

WalkFormula walk_formula(const Cnf& cnf, std::span<const Literal> assumptions) {
  return Simplifier(cnf, assumptions).run();
}

}  // namespace xlog::solve
