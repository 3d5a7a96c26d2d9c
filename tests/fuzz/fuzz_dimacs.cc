// Any bytes go through the readers of formulas and proofs without a crash. A formula that was read
// is the same after writing and reading it again.

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "solve/dimacs.h"
#include "solve/rup.h"
#include "solve/simplify.h"

namespace {

namespace solve = xlog::solve;

void require(bool condition, const char* what, std::string_view text) {
  if (condition) return;
  std::fprintf(stderr, "%s:\n%.*s\n", what, static_cast<int>(text.size()), text.data());
  std::abort();
}

template <typename T>
bool has_message(const xlog::Result<T>& result) {
  return result.ok() || (result.error().message.starts_with("f:") && !result.error().help.empty());
}

void check_weighted(const solve::WeightedCnf& cnf) {
  const std::string text = solve::weighted_cnf_text(cnf);
  const auto again = solve::read_weighted_cnf(text, "f");
  require(again.ok() && again->soft == cnf.soft && again->weights == cnf.weights,
          "the form of 2022 is not read back", text);
  require(solve::weighted_cnf_text(*again) == text, "writing is no fixed point", text);
  const auto old = solve::old_weighted_cnf_text(cnf);
  if (!old.ok()) return;
  const auto same = solve::read_weighted_cnf(*old, "f");
  require(same.ok() && *same == cnf, "the form with a header is not read back", *old);
}

// Three clauses that need some steps to be refuted; tables go by the largest variable of a proof.
void check_as_proof(std::string_view text) {
  solve::Cnf cnf;
  cnf.add({1, 2});
  cnf.add({1, -2});
  cnf.add({-1, 2});
  const auto checked = solve::check_proof(cnf, text, "f");
  require(!checked.ok(), "a proof that a formula with a model has none", text);
  require(has_message(checked), "an error without a place or a way out", text);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto cnf = solve::read_cnf(text, "f");
  require(has_message(cnf), "an error without a place or a way out", text);
  if (cnf.ok()) {
    const auto again = solve::read_cnf(solve::cnf_text(*cnf), "f");
    require(again.ok() && *again == *cnf, "a formula is not read back", text);
    const solve::Simplified small = solve::simplify(*cnf);
    require(small.formula.size() <= cnf->size() + 1, "simplifying adds clauses", text);
  }
  const auto weighted = solve::read_weighted_cnf(text, "f");
  require(has_message(weighted), "an error without a place or a way out", text);
  if (weighted.ok()) check_weighted(*weighted);
  check_as_proof(text);
  return 0;
}
