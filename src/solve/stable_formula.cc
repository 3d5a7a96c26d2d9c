#include "solve/stable_formula.h"

#include "base/check.h"
#include "solve/completion.h"

namespace xlog::solve {
namespace {

class FormulaSink final : public CompletionSink {
 public:
  explicit FormulaSink(CountFormula& formula) : formula_(formula) {}
  int32_t new_variable(bool) override { return formula_.new_variable(); }
  void add(std::span<const Literal> clause) override { formula_.clauses.add(clause); }
  void add_weighted_sum(Literal holds, int64_t bound, std::vector<WeightedLiteral> terms) override {
    formula_.add_sum(holds, bound, std::move(terms));
  }

 private:
  CountFormula& formula_;
};

// An atom may be derived only where it holds, and then is where a support holds whose atoms are.
void add_copies(const std::vector<LoopAtom>& atoms, CountFormula& formula) {
  std::vector<int32_t> copies;
  for (const LoopAtom& atom : atoms) {
    copies.push_back(formula.new_derived_variable(atom.literal));
  }
  std::vector<Literal> clause;
  for (size_t a = 0; a < atoms.size(); ++a) {
    for (const LoopSupport& support : atoms[a].supports) {
      // A choice supports an atom that need not hold.
      clause.assign({copies[a], -atoms[a].literal, -support.literal});
      for (const uint32_t needed : support.needs) clause.push_back(-copies[needed]);
      formula.clauses.add(clause);
    }
  }
}

}  // namespace

std::optional<StableFormula> stable_formula(const GroundProgram& program) {
  Result<std::optional<GroundProgram>> spelled_out = without_recursive_weights(program);
  if (!spelled_out.ok()) return std::nullopt;
  const GroundProgram& plain = *spelled_out ? **spelled_out : program;
  StableFormula result;
  FormulaSink sink(result.formula);
  const std::vector<bool> no_externals(static_cast<size_t>(plain.atoms()) + 1, false);
  Completion completion = complete(plain, no_externals, sink);
  if (!completion.head_cycles.empty()) return std::nullopt;
  add_copies(completion.loop_atoms, result.formula);
  result.literals = std::move(completion.literals);
  result.literals.resize(static_cast<size_t>(program.atoms()) + 1);
  return result;
}

}  // namespace xlog::solve
