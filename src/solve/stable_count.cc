// How many stable models there are: of the formula that says the same, where there is one.
#include "solve/count_by_parts.h"
#include "solve/stable_formula.h"
#include "solve/stable_models.h"

namespace xlog::solve {

ModelCount StableModels::count(const Limits& limits) const {
  // All that is fixed from outside becomes part of one program.
  GroundProgram program;
  program.need_atoms(program_.atoms());
  for (size_t r = 0; r < program_.rules(); ++r) program.add_rule(program_.rule(r));
  for (Atom a = 1; a <= program_.atoms(); ++a) {
    if (!given_[static_cast<size_t>(a)]) continue;
    const ExternalValue value = external_values_[static_cast<size_t>(a)];
    if (value == ExternalValue::Free) program.add_rule(HeadKind::Choice, {a}, {});
    if (value == ExternalValue::True) program.add_rule(HeadKind::Disjunction, {a}, {});
  }
  const auto forbid_body = [&](std::span<const Literal> body) {
    program.add_rule(HeadKind::Disjunction, std::span<const Atom>(), body);
  };
  for (const std::vector<Literal>& body : forbidden_) forbid_body(body);
  for (const std::vector<Literal>* list : {&program_.assumptions, &assumptions_}) {
    for (const Literal l : *list) {
      const Literal other = -l;
      forbid_body(std::span(&other, 1));
    }
  }

  if (const std::optional<StableFormula> plain = stable_formula(program)) {
    return count_models(plain->formula, limits);
  }
  return count_by_parts(std::move(program), options_, limits);
}

}  // namespace xlog::solve
