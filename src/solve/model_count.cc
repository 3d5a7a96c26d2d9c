#include "solve/model_count.h"

#include "solve/count_search.h"

namespace xlog::solve {
namespace {

struct NumberTally {
  using Branch = mpz_class;
  using Value = mpz_class;

  static Value none() { return 0; }
  static bool is_none(const Value& value) { return value == 0; }
  static Branch begin(std::span<const Literal>, std::span<const int32_t> free) {
    return mpz_class(1) << free.size();
  }
  static void include(Branch& branch, const Value& value) { branch *= value; }
  static Value either(const Branch* a, const Branch* b) {
    if (a == nullptr) return b == nullptr ? Value(0) : *b;
    return b == nullptr ? *a : Value(*a + *b);
  }
  static size_t bytes(const Value& value) {
    return static_cast<size_t>(value.get_mpz_t()->_mp_alloc) * sizeof(mp_limb_t);
  }
};

}  // namespace

ModelCount count_models(const CountFormula& formula, const Limits& limits,
                        const CountOptions& options) {
  NumberTally tally;
  CountSearch<NumberTally> search(formula, {}, tally, options, limits);
  ModelCount result;
  const std::optional<mpz_class> models = search.run();
  result.decisions = search.decisions();
  result.conflicts = search.conflicts();
  if (!models) {
    result.outcome = search.outcome();
    return result;
  }
  result.models = *models;
  result.outcome = *models == 0 ? Outcome::Unsat : Outcome::Sat;
  return result;
}

}  // namespace xlog::solve
